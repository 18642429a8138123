/* SPDX-License-Identifier: Apache-2.0 */
/* Row panels shared among threads, with looks at the cancel callback in between. */
#ifndef KFE_KERNEL_PANELS_H
#define KFE_KERNEL_PANELS_H

#include "core/context.h"

typedef void (*kfe_i_panel_fn)(const void *job, int64_t row, int thread);

/* Who does which panel: fixed where threads sum on their own, so that the same number of them gives the same
 * bits; whoever is free where every panel has an output of its own, which then depends on nothing. */
typedef enum kfe_i_sharing { KFE_SHARE_FIXED, KFE_SHARE_FREE } kfe_i_sharing;

/* Calls run(job, first row, thread) for all panels of `side` rows. */
kfe_status kfe_i_each_panel(kfe_context *ctx, const char *stage, int threads, int64_t rows, int64_t side,
                            kfe_i_sharing sharing, kfe_i_panel_fn run, const void *job);

#endif
