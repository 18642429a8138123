/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cross.h"

#include <cblas.h>
#include <omp.h>

#include "core/memory.h"
#include "kernel/tile.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Panels of rows between two looks at the cancel callback: a fraction of a second of work. */
static int64_t panels_per_round(int threads)
{
    return 16 * (int64_t)threads;
}

/* One panel of rows against all of b; `own` is this thread's tile and scratch. */
static void panel_times(const kfe_i_kernel *kernel, const kfe_i_points *a, int64_t row, int64_t rows,
                        const kfe_i_points *b, double weight, const double *v, int64_t k, double *out,
                        double *own)
{
    for (int64_t col = 0; col < b->table.rows; col += KFE_TILE_COLS) {
        int64_t cols = least(KFE_TILE_COLS, b->table.rows - col);
        kfe_i_tile_eval(kernel, a, row, rows, b, col, cols, own, KFE_TILE_COLS,
                        own + KFE_TILE_ROWS * KFE_TILE_COLS);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)k, (blasint)cols,
                    weight, own, KFE_TILE_COLS, v + col * k, (blasint)k, 1, out + row * k, (blasint)k);
    }
}

kfe_status kfe_i_cross_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                             const kfe_i_points *b, double weight, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    int threads = kfe_i_tile_threads(ctx, kernel);
    int64_t own = KFE_TILE_ROWS * KFE_TILE_COLS + kfe_i_tile_scratch(a, b);
    int64_t panels = (a->table.rows + KFE_TILE_ROWS - 1) / KFE_TILE_ROWS;
    double *work = NULL;

    KFE_ALLOC_ZERO(ctx, work, own * threads);
    for (int64_t first = 0; first < panels; first += panels_per_round(threads)) {
        int64_t last = least(panels, first + panels_per_round(threads));
        KFE_TRY(kfe_i_checkpoint(ctx, "multiplying with the kernel", first, panels));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (int64_t panel = first; panel < last; panel++) {
            int64_t row = panel * KFE_TILE_ROWS;
            panel_times(kernel, a, row, least(KFE_TILE_ROWS, a->table.rows - row), b, weight, v, k, out,
                        work + own * omp_get_thread_num());
        }
    }
cleanup:
    kfe_i_free(ctx, work);
    return status;
}

kfe_status kfe_i_cross_block(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a, int64_t row,
                             int64_t rows, const kfe_i_points *b, int64_t col, int64_t cols, double *out,
                             int64_t stride)
{
    kfe_status status = KFE_OK;
    int threads = kfe_i_tile_threads(ctx, kernel);
    int64_t own = kfe_i_tile_scratch(a, b);
    int64_t panels = (rows + KFE_TILE_ROWS - 1) / KFE_TILE_ROWS;
    double *work = NULL;

    KFE_ALLOC_ZERO(ctx, work, own * threads);
    for (int64_t first = 0; first < panels; first += panels_per_round(threads)) {
        int64_t last = least(panels, first + panels_per_round(threads));
        KFE_TRY(kfe_i_checkpoint(ctx, "computing the kernel", first, panels));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (int64_t panel = first; panel < last; panel++) {
            int64_t i = panel * KFE_TILE_ROWS;
            for (int64_t j = 0; j < cols; j += KFE_TILE_COLS)
                kfe_i_tile_eval(kernel, a, row + i, least(KFE_TILE_ROWS, rows - i), b, col + j,
                                least(KFE_TILE_COLS, cols - j), out + i * stride + j, stride,
                                work + own * omp_get_thread_num());
        }
    }
cleanup:
    kfe_i_free(ctx, work);
    return status;
}
