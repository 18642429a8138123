/* SPDX-License-Identifier: Apache-2.0 */
/* The threaded loop over panels of rows, which every evaluation of kernels goes through. */
#include "kernel/tile/panels.h"

#include <math.h>
#include <omp.h>

#include "core/context.h"

/* Panels per thread between two calls of the cancel callback: a fraction of a second of work. */
enum { BATCH = 16 };

/* No thread is woken that would have no panel. */
static int useful_threads(const kfe_i_panels *panels, int64_t count)
{
    return count < panels->threads ? (int)count : panels->threads;
}

/* Runs the panels of the turns from `first` to `last` − 1. */
static void run_batch(const kfe_i_panels *panels, kfe_i_share share, int64_t first, int64_t last,
                      kfe_i_panel_fn run, const void *job)
{
    int64_t side = panels->side;
    int saved = kfe_i_enter_order(0);

    if (panels->sharing == KFE_SHARE_FREE) {
        /* In a triangle the last panels are the longest; starting with them balances the threads. */
#pragma omp parallel for num_threads(useful_threads(panels, last - first)) schedule(dynamic, 1)
        for (int64_t turn = last - 1; turn >= first; turn--)
            run(job, kfe_i_dealt(share, turn) * side, omp_get_thread_num());
        kfe_i_leave_order(saved);
        return;
    }
    /* The longest first, forwards and backwards in turn: all threads get about as many entries of a triangle. */
    int threads = useful_threads(panels, last - first);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        kfe_i_share own = {t, threads};
        for (int64_t i = 0; i < kfe_i_dealt_count(own, last - first); i++)
            run(job, kfe_i_dealt(share, last - 1 - kfe_i_dealt(own, i)) * side, t);
    }
    kfe_i_leave_order(saved);
}

kfe_status kfe_i_each_dealt_panel(kfe_context *ctx, const kfe_i_panels *panels, kfe_i_share share,
                                  kfe_i_panel_fn run, const void *job)
{
    int64_t count = kfe_i_dealt_count(share, (panels->rows + panels->side - 1) / panels->side);
    int64_t batch = BATCH * (int64_t)panels->threads;

    for (int64_t first = 0; first < count; first += batch) {
        kfe_status status = kfe_i_progress(ctx, panels->stage, first, count);
        if (status != KFE_OK)
            return status;
        run_batch(panels, share, first, first + batch < count ? first + batch : count, run, job);
    }
    return KFE_OK;
}

kfe_status kfe_i_each_panel(kfe_context *ctx, const kfe_i_panels *panels, kfe_i_panel_fn run, const void *job)
{
    return kfe_i_each_dealt_panel(ctx, panels, (kfe_i_share){0, 1}, run, job);
}

int64_t kfe_i_triangle_tiles(int64_t rows, int64_t side)
{
    int64_t panels = (rows + side - 1) / side;
    return panels * (panels + 1) / 2;
}

void kfe_i_triangle_tile(int64_t index, int64_t side, int64_t *row, int64_t *col)
{
    int64_t panel = (int64_t)((sqrt(8.0 * (double)index + 1) - 1) / 2);

    while (panel * (panel + 1) / 2 > index) /* the root may be rounded */
        panel--;
    while ((panel + 1) * (panel + 2) / 2 <= index)
        panel++;
    *row = panel * side;
    *col = (index - panel * (panel + 1) / 2) * side;
}
