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

kfe_status kfe_i_scale_views(kfe_context *ctx, int kind, const kfe_data *train, const kfe_data *data,
                             kfe_i_scaler *scalers, kfe_i_table *scaled)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < data->view_count; v++) {
        const kfe_i_table *table = &data->views[v].table;
        int own = table->kind == KFE_TABLE_TEXT ? KFE_SCALE_NONE : kind;
        KFE_TRY(kfe_i_scaler_learn(ctx, (kfe_i_scale_kind)own, &train->views[v].table, &scalers[v]));
        KFE_TRY(kfe_i_scaler_apply(ctx, &scalers[v], table, &scaled[v]));
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
