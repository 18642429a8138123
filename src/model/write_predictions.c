/* SPDX-License-Identifier: Apache-2.0 */
/* Writes predictions to a file, whole or in parts: the label or values of each row first, then its scores. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "data/write/writer.h"
#include "model/diagnose.h"

static kfe_status check_shapes(kfe_context *ctx, const kfe_model *model, const kfe_matrix *predictions,
                               const kfe_matrix *scores)
{
    int64_t expected = model->predictor.classes ? 1 : model->predictor.outputs;

    if (!model->learner)
        return kfe_i_fail(ctx, KFE_EINVAL, "the model has no learner, so these are not its predictions");
    if (predictions->cols != expected)
        return kfe_i_fail(ctx, KFE_EINVAL, "predictions of this model have %lld columns, not %lld",
                          (long long)expected, (long long)predictions->cols);
    if (scores && (scores->rows != predictions->rows || scores->cols != model->predictor.outputs))
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "scores of these predictions have %lld rows and %lld columns, not %lld and %lld",
                          (long long)predictions->rows, (long long)model->predictor.outputs,
                          (long long)scores->rows, (long long)scores->cols);
    return KFE_OK;
}

static kfe_status fill_codes(kfe_context *ctx, const kfe_matrix *predictions, kfe_i_target *target)
{
    for (int64_t i = 0; i < predictions->rows; i++) {
        double code = predictions->values[i * predictions->stride];
        if (!(code >= 0 && code < (double)target->class_count && code == floor(code)))
            return kfe_i_fail(ctx, KFE_EINVAL, "row %lld: %g is not the number of a class", (long long)i + 1,
                              code);
        target->codes[i] = (int32_t)code;
    }
    return KFE_OK;
}

/* The predictions as a target, whose names stay the model's. */
static kfe_status make_target(kfe_context *ctx, const kfe_model *model, const kfe_matrix *predictions,
                              kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    int64_t rows = predictions->rows;

    *out = (kfe_i_target){.ctx = ctx, .task = model->target.task, .rows = rows};
    if (model->predictor.classes) {
        out->class_count = model->target.class_count;
        out->names = model->target.class_names;
        KFE_ALLOC(ctx, out->codes, rows);
        return fill_codes(ctx, predictions, out);
    }
    out->cols = predictions->cols;
    KFE_ALLOC(ctx, out->values, rows * out->cols);
    for (int64_t i = 0; i < rows; i++)
        memcpy(out->values + i * out->cols, predictions->values + i * predictions->stride,
               (size_t)out->cols * sizeof *out->values);
cleanup:
    return status;
}

/* The classes that output `index` decides between: one alone, one and its rival, or one and all after it. */
static void find_sides(const kfe_i_predictor *predictor, int64_t index, int64_t *first, int64_t *second)
{
    *first = index;
    *second = -1;
    if (predictor->decision != KFE_DECIDE_PAIRS)
        return;
    *first = 0;
    for (int64_t rivals = predictor->classes - 1; index >= rivals; rivals--) {
        index -= rivals;
        (*first)++;
    }
    *second = *first + 1 + index;
}

/* "a", "a : b", "a : later" or, for real targets, the number of the target. */
static void add_output_name(const kfe_model *model, int64_t index, kfe_i_text *text)
{
    int64_t first;
    int64_t second;

    if (!model->predictor.classes) {
        kfe_i_text_printf(text, "%lld", (long long)index + 1);
        return;
    }
    find_sides(&model->predictor, index, &first, &second);
    kfe_i_text_puts(text, model->target.class_names[first]);
    if (second >= 0)
        kfe_i_text_printf(text, " : %s", model->target.class_names[second]);
    else if (model->predictor.decision == KFE_DECIDE_CHAIN)
        kfe_i_text_puts(text, " : later");
}

kfe_status kfe_i_output_name(kfe_context *ctx, const kfe_model *model, int64_t index, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    if (!model->predictor.classes)
        kfe_i_text_puts(&text, "target ");
    add_output_name(model, index, &text);
    return kfe_i_text_take(&text, out);
}

static kfe_status name_score(kfe_context *ctx, const kfe_model *model, int64_t index, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_puts(&text, model->predictor.classes ? "score " : "score");
    add_output_name(model, index, &text);
    return kfe_i_text_take(&text, out);
}

/* Gives the name of a column after the label or value. */
typedef kfe_status (*name_fn)(kfe_context *ctx, const kfe_model *model, int64_t index, char **out);

static kfe_status name_probability(kfe_context *ctx, const kfe_model *model, int64_t index, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_printf(&text, "probability %s", model->target.class_names[index]);
    return kfe_i_text_take(&text, out);
}

/* Writes predictions with further columns (NULL: none). */
static kfe_status put_predictions(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                  const kfe_data *data, const kfe_matrix *predictions,
                                  const kfe_matrix *scores, name_fn name)
{
    kfe_status status = KFE_OK;
    kfe_i_written what = {.ctx = ctx, .target_first = 1, .name_prefix = "score"};
    kfe_i_target target = {0};
    char **names = NULL;

    if (data && kfe_data_rows(data) != predictions->rows)
        KFE_FAIL(ctx, KFE_EINVAL, "%lld predictions do not fit data of %lld rows",
                 (long long)predictions->rows, (long long)kfe_data_rows(data));
    kfe_i_written_set_ids(&what, data);
    KFE_TRY(make_target(ctx, model, predictions, &target));
    what.target = &target;
    what.target_name = model->predictor.classes ? "label" : "value";
    what.mark_whole = !model->predictor.classes; /* whatever the values of the other rows */
    /* without scores, no columns, but memory to point at */
    what.table =
        (kfe_i_table){.kind = KFE_TABLE_DENSE, .rows = predictions->rows, .values = predictions->values};
    if (scores) {
        what.table.cols = scores->cols;
        what.table.stride = scores->stride;
        what.table.values = scores->values;
        KFE_ALLOC_ZERO(ctx, names, scores->cols);
        what.column_names = names;
    }
    for (int64_t j = 0; scores && j < scores->cols; j++)
        KFE_TRY(name(ctx, model, j, &names[j]));
    KFE_TRY(kfe_i_output_put(output, &what));
cleanup:
    kfe_i_strings_free(ctx, what.table.cols, names);
    kfe_i_free(ctx, target.codes);
    kfe_i_free(ctx, target.values);
    return status;
}

kfe_status kfe_output_predictions(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                  const kfe_data *data, const kfe_matrix *predictions,
                                  const kfe_matrix *scores)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_output_check(ctx, output));
    KFE_TRY(check_shapes(ctx, model, predictions, scores));
    KFE_TRY(put_predictions(ctx, output, model, data, predictions, scores, name_score));
cleanup:
    return status;
}

kfe_status kfe_output_probabilities(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                    const kfe_data *data, const kfe_matrix *predictions,
                                    const kfe_matrix *probabilities)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_output_check(ctx, output));
    KFE_TRY(check_shapes(ctx, model, predictions, NULL));
    if (probabilities->rows != predictions->rows || probabilities->cols != model->predictor.classes)
        KFE_FAIL(ctx, KFE_EINVAL, "probabilities of these predictions have %lld rows and %lld columns",
                 (long long)predictions->rows, (long long)model->predictor.classes);
    KFE_TRY(put_predictions(ctx, output, model, data, predictions, probabilities, name_probability));
cleanup:
    return status;
}

/* "low", "high", with the number of the target if there are several; of classes "set NAME". */
static kfe_status name_interval(kfe_context *ctx, const kfe_model *model, int64_t index, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    if (model->predictor.classes)
        kfe_i_text_printf(&text, "set %s", model->target.class_names[index]);
    else
        kfe_i_text_puts(&text, index % 2 ? "high" : "low");
    if (!model->predictor.classes && model->predictor.outputs > 1)
        kfe_i_text_printf(&text, " %lld", (long long)index / 2 + 1);
    return kfe_i_text_take(&text, out);
}

kfe_status kfe_output_intervals(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                const kfe_data *data, const kfe_matrix *predictions,
                                const kfe_matrix *intervals)
{
    kfe_status status = KFE_OK;
    int64_t cols = model->predictor.classes ? model->predictor.classes : 2 * model->predictor.outputs;

    KFE_TRY(kfe_i_output_check(ctx, output));
    KFE_TRY(check_shapes(ctx, model, predictions, NULL));
    if (intervals->rows != predictions->rows || intervals->cols != cols)
        KFE_FAIL(ctx, KFE_EINVAL, "intervals of these predictions have %lld rows and %lld columns",
                 (long long)predictions->rows, (long long)cols);
    KFE_TRY(put_predictions(ctx, output, model, data, predictions, intervals, name_interval));
cleanup:
    return status;
}

static kfe_status name_diagnostic(kfe_context *ctx, const kfe_model *model, int64_t index, char **out)
{
    kfe_status status = KFE_OK;

    (void)model;
    KFE_STRDUP(ctx, *out, kfe_i_diagnostic_names[index]);
cleanup:
    return status;
}

kfe_status kfe_output_diagnostics(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                  const kfe_data *data, const kfe_matrix *predictions,
                                  const kfe_matrix *diagnostics)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_output_check(ctx, output));
    KFE_TRY(check_shapes(ctx, model, predictions, NULL));
    if (diagnostics->rows != predictions->rows || diagnostics->cols != KFE_DIAGNOSTICS)
        KFE_FAIL(ctx, KFE_EINVAL, "diagnostics of these predictions have %lld rows and %lld columns",
                 (long long)diagnostics->rows, (long long)diagnostics->cols);
    KFE_TRY(put_predictions(ctx, output, model, data, predictions, diagnostics, name_diagnostic));
cleanup:
    return status;
}

kfe_status kfe_predictions_write(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                 const kfe_matrix *predictions, const kfe_matrix *scores, const char *path)
{
    kfe_status status = KFE_OK;
    kfe_output *output = NULL;

    KFE_TRY(kfe_output_open(ctx, path, &output));
    KFE_TRY(kfe_output_predictions(ctx, output, model, data, predictions, scores));
    KFE_TRY(kfe_output_commit(ctx, output));
cleanup:
    kfe_output_free(output);
    return status;
}
