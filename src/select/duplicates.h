/* SPDX-License-Identifier: Apache-2.0 */
/* Fit settings that are the same only once: kernel=linear needs no fit for each gamma of a grid. Used by the sweep. */
#ifndef KFE_SELECT_DUPLICATES_H
#define KFE_SELECT_DUPLICATES_H

#include "select/cells.h"
#include "select/grid.h"

typedef struct kfe_i_duplicates {
    kfe_context *ctx;
    int64_t *first; /* of each setting: the first that is the same; NULL: no two are the same */
    /* splits × settings: `wanted` of the sweep, with duplicates replaced by the first. */
    unsigned char *wanted;
} kfe_i_duplicates;

/* `wanted` is that of kfe_i_sweep. Free it also after a failure. */
kfe_status kfe_i_duplicates_find(kfe_context *ctx, const kfe_i_grid *grid, int64_t splits,
                                 const unsigned char *wanted, kfe_i_duplicates *out);
void kfe_i_duplicates_free(kfe_i_duplicates *duplicates);
/* Copies the cells of the first settings to their duplicates that are wanted, with no seconds; clears first settings that
 * were not wanted. */
kfe_status kfe_i_duplicates_fill(const kfe_i_duplicates *duplicates, const unsigned char *wanted,
                                 kfe_i_cells *cells);

#endif
