/* SPDX-License-Identifier: Apache-2.0 */
/* Some rows of a data set as a data set of their own: the public call. */
#include "core/memory.h"
#include "data/data.h"

static kfe_status check_rows(kfe_context *ctx, const kfe_data *data, int64_t count, const int64_t *rows)
{
    int64_t n = kfe_data_rows(data);

    if (count < 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "no rows are listed");
    for (int64_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= n)
            return kfe_i_fail(ctx, KFE_EINVAL, "there is no row %lld; the rows are 0 to %lld",
                              (long long)rows[i], (long long)n - 1);
    return KFE_OK;
}

kfe_status kfe_data_take(kfe_context *ctx, const kfe_data *data, int64_t count, const int64_t *rows,
                         kfe_data **out)
{
    kfe_status status = KFE_OK;
    int32_t *old_codes = NULL;
    kfe_data *part = NULL;

    *out = NULL;
    KFE_TRY(check_rows(ctx, data, count, rows));
    KFE_ALLOC(ctx, old_codes, data->target.class_count + 1);
    KFE_TRY(kfe_i_data_gather(ctx, data, rows, count, &part));
    for (int v = 0; v < data->view_count; v++) {
        KFE_TRY(kfe_i_view_copy_columns(ctx, &data->views[v], &part->views[v]));
        part->views[v].lent_names = NULL; /* the caller may free the data first */
    }
    KFE_TRY(kfe_i_division_copy(ctx, &data->division, &part->division));
    if (part->target.task == KFE_TASK_CLASSES)
        kfe_i_target_compact(&part->target, old_codes);
    *out = part;
    part = NULL;
cleanup:
    kfe_data_free(part);
    kfe_i_free(ctx, old_codes);
    return status;
}
