/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling of views and kernels with all their numbers; used by fit.c and by the search (select/sweep.c). */
#include "model/prepare.h"

/* Kernels square the values: beyond this, overflow would look like data that does not vary. */
#define LARGEST_VALUE 1e150

static kfe_status check_magnitude(kfe_context *ctx, const kfe_i_view *view, const kfe_i_table *scaled)
{
    int64_t row = 0;
    int64_t col = 0;

    if (!kfe_i_table_find_beyond(scaled, LARGEST_VALUE, &row, &col))
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "%s: row %lld, column %lld is too large to compute with (beyond %g); write the column in "
        "another unit, or remove it",
        kfe_i_view_shown(view), (long long)row + 1, (long long)col + 1, LARGEST_VALUE);
}

static int depends_on_geometry(const kfe_i_kernel_def *def)
{
    int on_numbers =
        def->base == KFE_BASE_DOT || def->base == KFE_BASE_DISTANCE || def->base == KFE_BASE_COORDINATE;

    return on_numbers && !(def->flags & KFE_HAS_NONNEGATIVE);
}

int kfe_i_auto_scales_view(const kfe_i_kernel_list *kernels, const kfe_data *data, int view)
{
    if (data->views[view].table.kind != KFE_TABLE_DENSE)
        return 0;
    for (int64_t m = 0; m < kernels->count; m++)
        if (kernels->items[m].view == view && !depends_on_geometry(kernels->items[m].def))
            return 0;
    return 1;
}

kfe_status kfe_i_log_auto_scaling(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    double ratio = 1;

    for (int v = 0; v < data->view_count; v++) {
        if (!kfe_i_auto_scales_view(kernels, data, v))
            continue;
        KFE_TRY(kfe_i_spread_ratio(ctx, &data->views[v].table, NULL, kfe_data_rows(data), &ratio));
        if (ratio > KFE_SCALE_RATIO)
            kfe_i_log(
                ctx, KFE_LOG_NOTICE,
                "%s: the standard deviations of the columns differ by a factor of %.3g, so the columns are "
                "standardised; {scale=none} leaves them as they are",
                kfe_i_view_shown(&data->views[v]), ratio);
    }
cleanup:
    return status;
}

/* The scaling of one view, where the kind may still be `auto`. */
static kfe_i_scale_kind kind_for_view(int kind, const kfe_i_kernel_list *kernels, const kfe_data *data,
                                      int view)
{
    if (data->views[view].table.kind == KFE_TABLE_TEXT)
        return KFE_SCALE_NONE;
    if (kind == KFE_SCALE_AUTO && !kfe_i_auto_scales_view(kernels, data, view))
        return KFE_SCALE_NONE;
    return (kfe_i_scale_kind)kind;
}

kfe_status kfe_i_scale_views(kfe_context *ctx, int kind, const kfe_i_kernel_list *kernels,
                             const kfe_data *train, const kfe_data *data, kfe_i_scaler *scalers,
                             kfe_i_table *scaled)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < data->view_count; v++) {
        const kfe_i_table *table = &data->views[v].table;
        KFE_TRY(kfe_i_fill_scaler_learn(ctx, kind_for_view(kind, kernels, train, v), &train->views[v].table,
                                        &train->views[v].gaps, &scalers[v]));
        KFE_TRY(kfe_i_fill_scaler_apply(ctx, &scalers[v], table, &data->views[v].gaps, &scaled[v]));
        KFE_TRY(check_magnitude(ctx, &data->views[v], &scaled[v]));
    }
cleanup:
    return status;
}

kfe_status kfe_i_resolve_kernels(kfe_context *ctx, const kfe_data *train, const kfe_i_table *scaled,
                                 kfe_i_kernel_list *kernels)
{
    for (int64_t m = 0; m < kernels->count; m++) {
        kfe_i_kernel *kernel = &kernels->items[m];
        kfe_status status = kfe_i_kernel_prepare(ctx, kernel, &scaled[kernel->view]);
        if (status != KFE_OK)
            return kfe_i_fail_prefix(ctx, status, kfe_i_view_shown(&train->views[kernel->view]));
    }
    return KFE_OK;
}
