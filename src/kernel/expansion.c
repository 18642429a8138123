/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel values with support examples times coefficients: how every kernel model computes features. */
#include "kernel/expansion.h"

#include <string.h>

#include "core/memory.h"
#include "kernel/few.h"
#include "kernel/tile/cross.h"

enum { CHUNK_ROWS = 16384 };

static kfe_status expand_one(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *view,
                             const kfe_i_table *support, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_points support_points = {0};
    kfe_i_points points = {0};
    double *work = NULL;

    KFE_TRY(kfe_i_points_prepare(ctx, kernel, support, NULL, &support_points));
    for (int64_t first = 0; first < view->rows; first += CHUNK_ROWS) {
        int64_t rows = view->rows - first < CHUNK_ROWS ? view->rows - first : CHUNK_ROWS;
        kfe_i_table chunk = kfe_i_table_slice(view, first, rows);
        kfe_i_points_free(&points);
        KFE_TRY(kfe_i_points_prepare(ctx, kernel, &chunk, &support_points, &points));
        if (!work)
            KFE_ALLOC(ctx, work, kfe_i_cross_times_work(ctx, kernel, &points, &support_points));
        KFE_TRY(kfe_i_cross_times(ctx, kernel, &points, &support_points,
                                  &(kfe_i_product){kernel->common.weight, v, k, out + first * k}, work));
    }
cleanup:
    kfe_i_free(ctx, work);
    kfe_i_points_free(&points);
    kfe_i_points_free(&support_points);
    return status;
}

kfe_status kfe_i_expand(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                        const kfe_i_table *supports, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    if (kfe_i_few_suits(kernels, views, supports))
        return kfe_i_expand_few(ctx, kernels, views, supports, v, k, out);
    memset(out, 0, (size_t)(views[0].rows * k) * sizeof *out);
    for (int64_t m = 0; m < kernels->count; m++) {
        const kfe_i_kernel *kernel = &kernels->items[m];
        KFE_TRY(expand_one(ctx, kernel, &views[kernel->view], &supports[kernel->view], v, k, out));
    }
cleanup:
    return status;
}
