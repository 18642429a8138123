/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of rows that an accumulator sums. With landmarks these are F = CT, C = κ(rows, landmarks), and T is an upper triangle
 * unless the kernel is indefinite: then C is multiplied in place, with half of the operations of the general projector.
 */
#include <cblas.h>
#include <string.h>

#include "accumulate/accumulator.h"
#include "core/memory.h"
#include "kernel/tile/cross.h"

static int is_upper_triangle(int64_t n, const double *a)
{
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (a[i * n + j] != 0)
                return 0;
    return 1;
}

static int suits(const kfe_accumulator *a)
{
    const kfe_model *map = a->map;

    return map->projector == KFE_PROJECT_KERNEL && map->kernels.count == 1 && map->rows == map->dim &&
           !map->offset && strcmp(kfe_i_device_wanted(a->ctx), "cpu") == 0 &&
           is_upper_triangle(map->dim, map->coefficients);
}

/* out (rows × m) = weight·κ(view, support)·T */
static kfe_status multiply(kfe_context *ctx, const kfe_model *map, const kfe_i_table *view, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = &map->kernels.items[0];
    const kfe_i_table *support = &map->views[kernel->view].support;
    kfe_i_points supports = {0};
    kfe_i_points points = {0};

    KFE_TRY(kfe_i_table_new_dense(ctx, view->rows, map->dim, out));
    KFE_TRY(kfe_i_points_prepare(ctx, kernel, support, NULL, &supports));
    KFE_TRY(kfe_i_points_prepare(ctx, kernel, view, &supports, &points));
    KFE_TRY(kfe_i_cross_block(ctx, kernel, (kfe_i_range){&points, 0, view->rows},
                              (kfe_i_range){&supports, 0, support->rows}, out->values, out->stride));
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (blasint)view->rows,
                (blasint)map->dim, kernel->common.weight, map->coefficients, (blasint)map->dim, out->values,
                (blasint)out->stride);
cleanup:
    kfe_i_points_free(&supports);
    kfe_i_points_free(&points);
    return status;
}

kfe_status kfe_i_accumulator_columns(const kfe_accumulator *a, const kfe_data *rows, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table *scaled = NULL;

    if (!suits(a))
        return kfe_i_model_features(a->ctx, a->map, rows, out);
    KFE_ALLOC_ZERO(a->ctx, scaled, a->map->view_count);
    KFE_TRY(kfe_i_model_scale(a->ctx, a->map, rows, scaled));
    KFE_TRY(multiply(a->ctx, a->map, &scaled[a->map->kernels.items[0].view], out));
cleanup:
    for (int v = 0; scaled && v < a->map->view_count; v++)
        kfe_i_table_free(&scaled[v]);
    kfe_i_free(a->ctx, scaled);
    return status;
}
