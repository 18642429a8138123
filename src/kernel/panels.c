/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/panels.h"

#include <omp.h>

/* Panels between two looks at the cancel callback: a fraction of a second of work. */
static int64_t panels_per_round(int threads)
{
    return 16 * (int64_t)threads;
}

static void run_panels(int64_t first, int64_t last, int64_t side, int threads, kfe_i_sharing sharing,
                       kfe_i_panel_fn run, const void *job)
{
    if (sharing == KFE_SHARE_FREE) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int64_t panel = last - 1; panel >= first; panel--) /* of a triangle, the long ones first */
            run(job, panel * side, omp_get_thread_num());
    } else {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (int64_t panel = first; panel < last; panel++)
            run(job, panel * side, omp_get_thread_num());
    }
}

kfe_status kfe_i_each_panel(kfe_context *ctx, const char *stage, int threads, int64_t rows, int64_t side,
                            kfe_i_sharing sharing, kfe_i_panel_fn run, const void *job)
{
    int64_t panels = (rows + side - 1) / side;

    for (int64_t first = 0; first < panels; first += panels_per_round(threads)) {
        int64_t last =
            first + panels_per_round(threads) < panels ? first + panels_per_round(threads) : panels;
        kfe_status status = kfe_i_checkpoint(ctx, stage, first, panels);
        if (status != KFE_OK)
            return status;
        run_panels(first, last, side, threads, sharing, run, job);
    }
    return KFE_OK;
}
