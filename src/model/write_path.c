/* SPDX-License-Identifier: Apache-2.0 */
/* kfe_output_path: predictions for every number of features (kfe_predict_path) as a table. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/write/writer.h"
#include "model/model.h"

static kfe_status check_shape(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                              const kfe_matrix *path)
{
    int64_t targets = model->predictor.classes ? 1 : model->predictor.outputs;

    if (!model->learner || path->cols != model->dim * targets)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "these are not the predictions of this model for every number of "
                          "features");
    if (data && kfe_data_rows(data) != path->rows)
        return kfe_i_fail(ctx, KFE_EINVAL, "%lld predictions do not fit data of %lld rows",
                          (long long)path->rows, (long long)kfe_data_rows(data));
    for (int64_t i = 0; model->predictor.classes && i < path->rows * path->cols; i++) {
        double code = path->values[i / path->cols * path->stride + i % path->cols];
        if (!(code >= 0 && code < (double)model->target.class_count && code == floor(code)))
            return kfe_i_fail(ctx, KFE_EINVAL, "row %lld: %g is not the number of a class",
                              (long long)(i / path->cols) + 1, code);
    }
    return KFE_OK;
}

/* "dim 3", or "dim 3 : 2" for the second of several targets */
static kfe_status name_columns(kfe_context *ctx, const kfe_model *model, int64_t count, char **names)
{
    kfe_status status = KFE_OK;
    int64_t targets = count / model->dim;
    kfe_i_text text;

    for (int64_t j = 0; j < count; j++) {
        kfe_i_text_init(&text, ctx);
        kfe_i_text_printf(&text, "dim %lld", (long long)(j / targets) + 1);
        if (targets > 1)
            kfe_i_text_printf(&text, " : %lld", (long long)(j % targets) + 1);
        KFE_TRY(kfe_i_text_take(&text, &names[j]));
    }
cleanup:
    return status;
}

/* Class numbers become the labels that they stand for: numbers in the table, or words for formats of text. */
static kfe_status take_labels(kfe_context *ctx, const kfe_model *model, kfe_i_written *what)
{
    kfe_i_table *table = &what->table;
    kfe_status status = KFE_OK;
    double *numbers = NULL;
    kfe_i_target target = {.task = KFE_TASK_CLASSES,
                           .class_count = model->target.class_count,
                           .names = model->target.class_names};

    if (!model->predictor.classes)
        return KFE_OK;
    KFE_TRY(kfe_i_class_numbers(ctx, &target, &numbers));
    for (int64_t i = 0; numbers && i < table->rows * table->cols; i++)
        table->values[i] = numbers[(int64_t)table->values[i]];
    if (!numbers)
        what->value_words = (const char *const *)model->target.class_names;
cleanup:
    kfe_i_free(ctx, numbers);
    return status;
}

kfe_status kfe_output_path(kfe_context *ctx, kfe_output *output, const kfe_model *model, const kfe_data *data,
                           const kfe_matrix *path)
{
    kfe_status status = KFE_OK;
    kfe_i_written what = {.ctx = ctx, .name_prefix = "dim"};
    char **names = NULL;

    KFE_TRY(kfe_i_output_check(ctx, output));
    KFE_TRY(check_shape(ctx, model, data, path));
    kfe_i_written_set_ids(&what, data);
    KFE_ALLOC_ZERO(ctx, names, path->cols);
    KFE_TRY(name_columns(ctx, model, path->cols, names));
    KFE_TRY(kfe_i_table_new_dense(ctx, path->rows, path->cols, &what.table));
    for (int64_t i = 0; i < path->rows; i++)
        memcpy(what.table.values + i * what.table.stride, path->values + i * path->stride,
               (size_t)path->cols * sizeof *path->values);
    KFE_TRY(take_labels(ctx, model, &what));
    what.column_names = names;
    KFE_TRY(kfe_i_output_put(output, &what));
cleanup:
    kfe_i_strings_free(ctx, path->cols, names);
    kfe_i_table_free(&what.table);
    return status;
}
