/* SPDX-License-Identifier: Apache-2.0 */
/* Run a loop over panels of rows on several threads; the cancel callback is asked between batches of panels. */
#ifndef KFE_KERNEL_TILE_PANELS_H
#define KFE_KERNEL_TILE_PANELS_H

#include "core/context.h"
#include "core/share.h"

typedef void (*kfe_i_panel_fn)(const void *job, int64_t row, int thread);

/* Which thread runs which panel.
 *   FIXED: panels are dealt to threads, forwards and backwards. For threads that keep sums of their own: the same number of
 *          threads then gives the same bits.
 *   FREE:  the next panel goes to the next free thread. For panels that write to places of their own. */
typedef enum kfe_i_sharing { KFE_SHARE_FIXED, KFE_SHARE_FREE } kfe_i_sharing;

typedef struct kfe_i_panels {
    const char *stage; /* for progress messages */
    int threads;
    int64_t rows; /* of all panels together */
    int64_t side; /* rows of one panel */
    kfe_i_sharing sharing;
} kfe_i_panels;

/* Calls run(job, first row, thread) for every panel. */
kfe_status kfe_i_each_panel(kfe_context *ctx, const kfe_i_panels *panels, kfe_i_panel_fn run,
                            const void *job);
/* The same for those panels that a process of a cluster is dealt. */
kfe_status kfe_i_each_dealt_panel(kfe_context *ctx, const kfe_i_panels *panels, kfe_i_share share,
                                  kfe_i_panel_fn run, const void *job);

/* Tiles of the lower triangle, row after row: how many there are, and where one of them lies. As many tiles are as much work, so that they
 * divide a triangle over threads more evenly than panels. */
int64_t kfe_i_triangle_tiles(int64_t rows, int64_t side);
void kfe_i_triangle_tile(int64_t index, int64_t side, int64_t *row, int64_t *col);

#endif
