/* SPDX-License-Identifier: Apache-2.0 */
/* Writes features, in columns that are named as the method calls them. The public calls are here. */
#include "core/memory.h"
#include "data/write/writer.h"
#include "model/model.h"

/* The names of the features: free them with kfe_i_strings_free. */
static kfe_status name_features(kfe_context *ctx, const kfe_model *model, int64_t count, char ***out)
{
    kfe_status status = KFE_OK;
    char **names = NULL;

    if (count != model->dim)
        KFE_FAIL(ctx, KFE_EINVAL, "a matrix of %lld columns does not hold the %lld features of the model",
                 (long long)count, (long long)model->dim);
    KFE_ALLOC_ZERO(ctx, names, count);
    for (int64_t j = 0; j < count; j++)
        KFE_TRY(kfe_model_feature_name(ctx, model, j, &names[j]));
    *out = names;
    names = NULL;
cleanup:
    kfe_i_strings_free(ctx, count, names);
    return status;
}

kfe_status kfe_output_features(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                               const kfe_matrix *features, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_i_written what = {.ctx = ctx};
    char **names = NULL;

    KFE_TRY(kfe_i_output_check(ctx, output));
    if (features->rows != kfe_data_rows(data))
        KFE_FAIL(ctx, KFE_EINVAL, "features of %lld rows do not fit data of %lld rows",
                 (long long)features->rows, (long long)kfe_data_rows(data));
    KFE_TRY(name_features(ctx, model, features->cols, &names));
    kfe_i_written_set_matrix(&what, features);
    what.column_names = names;
    kfe_i_written_set_ids(&what, data);
    if (kfe_i_output_begins_with_labels(output) && data->target.task != KFE_TASK_NONE)
        what.target = &data->target;
    what.mark_whole = data->target.task == KFE_TASK_REAL; /* whatever the values of the other rows */
    KFE_TRY(kfe_i_output_put(output, &what));
cleanup:
    kfe_i_strings_free(ctx, features->cols, names);
    return status;
}

kfe_status kfe_features_write(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features,
                              const kfe_data *data, const char *path)
{
    kfe_status status = KFE_OK;
    kfe_output *output = NULL;

    KFE_TRY(kfe_output_open(ctx, path, &output));
    KFE_TRY(kfe_output_features(ctx, output, model, features, data));
    KFE_TRY(kfe_output_commit(ctx, output));
cleanup:
    kfe_output_free(output);
    return status;
}
