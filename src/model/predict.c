/* SPDX-License-Identifier: Apache-2.0 */
/* Applies a model to new data: kfe_transform, kfe_predict and kfe_class_scores. */
#include <string.h>

#include "core/memory.h"
#include "model/arrange.h"
#include "model/model.h"

static kfe_status new_matrix(kfe_context *ctx, int64_t rows, int64_t cols, kfe_matrix *out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, out->values, rows * cols);
    out->owner = ctx;
    out->rows = rows;
    out->cols = out->stride = cols;
cleanup:
    return status;
}

kfe_status kfe_transform(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    kfe_data arranged = {0};
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    memset(out, 0, sizeof *out);
    KFE_TRY(kfe_i_arrange(ctx, model, data, &arranged));
    KFE_TRY(new_matrix(ctx, kfe_data_rows(data), model->dim, out));
    KFE_TRY(kfe_i_model_project(ctx, model, &arranged, out->values));
cleanup:
    kfe_i_arrange_free(&arranged);
    if (status != KFE_OK)
        kfe_matrix_free(out);
    kfe_i_threads_leave(saved_threads);
    return status;
}

kfe_status kfe_i_model_check_learner(kfe_context *ctx, const kfe_model *model)
{
    if (model->learner)
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EINVAL,
        "the model gives features only and cannot predict; fit it with {learner}, such as {learner=knn}");
}

kfe_status kfe_predict(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                       kfe_matrix *predictions, kfe_matrix *scores)
{
    kfe_status status = KFE_OK;
    kfe_matrix outputs = {0};
    kfe_data arranged = {0};
    int64_t rows = kfe_data_rows(data);
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    memset(predictions, 0, sizeof *predictions);
    if (scores)
        memset(scores, 0, sizeof *scores);
    KFE_TRY(kfe_i_model_check_learner(ctx, model));
    KFE_TRY(kfe_i_arrange(ctx, model, data, &arranged));
    KFE_TRY(new_matrix(ctx, rows, model->predictor.outputs, &outputs));
    KFE_TRY(new_matrix(ctx, rows, model->predictor.classes ? 1 : model->predictor.outputs, predictions));
    KFE_TRY(kfe_i_model_outputs(ctx, model, &arranged, outputs.values));
    kfe_i_predictor_answers(&model->predictor, outputs.values, rows, predictions->values);
    if (scores) {
        *scores = outputs;
        memset(&outputs, 0, sizeof outputs);
    }
cleanup:
    kfe_i_arrange_free(&arranged);
    kfe_matrix_free(&outputs);
    if (status != KFE_OK)
        kfe_matrix_free(predictions);
    kfe_i_threads_leave(saved_threads);
    return status;
}

kfe_status kfe_class_scores(kfe_context *ctx, const kfe_model *model, const kfe_matrix *scores,
                            kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &model->predictor;

    memset(out, 0, sizeof *out);
    KFE_TRY(kfe_i_model_check_learner(ctx, model));
    if (predictor->classes == 0)
        KFE_FAIL(ctx, KFE_EINVAL, "the model predicts numbers, which have no scores per class");
    if (scores->cols != predictor->outputs)
        KFE_FAIL(ctx, KFE_EINVAL, "the scores have %lld columns, but the model gives %lld",
                 (long long)scores->cols, (long long)predictor->outputs);
    KFE_TRY(new_matrix(ctx, scores->rows, predictor->classes, out));
    for (int64_t i = 0; i < scores->rows; i++)
        kfe_i_predictor_class_scores(predictor, scores->values + i * scores->stride,
                                     out->values + i * out->stride);
cleanup:
    return status;
}
