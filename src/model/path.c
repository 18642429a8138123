/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe_predict_path: predictions with the first 1, 2, …, k features at once. Least squares on the first j features follows
 * from the moments of the training data: W_j solves (TᵀT + l2·I)_j W = (TᵀY)_j, and the Cholesky factor of the whole
 * contains those of all its leading blocks. So all predictions are one product of the features with [W_1 W_2 … W_k].
 * Time O(k³ + n·k²) for one target, where refitting would take k fits.
 */
#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "model/model.h"

/* ---- what is needed ---- */

static int is_nested(const kfe_model *model)
{
    const kfe_i_method *method;

    for (int i = 0; (method = kfe_i_method_at(i)); i++)
        if (strcmp(method->name, model->method) == 0)
            return (method->flags & KFE_HAS_NESTING) != 0;
    return 1; /* a direction rule of the user: features are found one after the other */
}

static kfe_status check(kfe_context *ctx, const kfe_model *model)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_model_check_learner(ctx, model));
    if (strcmp(model->learner, "ls") != 0)
        KFE_FAIL(
            ctx, KFE_EUNSUPPORTED,
            "predictions for every number of features follow from least squares, but the model's learner "
            "is %s; fit it with {learner=ls}, or cross-validate over {dim}",
            model->learner);
    if (!is_nested(model))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "the features of %s change with their number; cross-validate over {dim} instead",
                 model->method);
    if (model->moments.dim == 0 || model->moments.targets != model->predictor.outputs)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "the model does not keep the moments of its training data; fit it again");
cleanup:
    return status;
}

/* The penalty of the learner, from its parameters "l2=…". */
static double penalty_of(const kfe_model *model)
{
    const char *found = strstr(model->learner_params, "l2=");
    double l2 = 0;

    if (found)
        kfe_i_parse_number(found + 3, found + 3 + strcspn(found + 3, ","), &l2);
    return l2;
}

/* ---- predictions ---- */

/* all (k × k·targets): the coefficients with the first j features in block j. */
static kfe_status all_coefficients(kfe_context *ctx, const kfe_model *model, double *all)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &model->moments;
    int64_t width = m->dim * m->targets;
    double *factor = NULL;
    double *one = NULL;

    KFE_TRY(kfe_i_moments_factor(ctx, m, penalty_of(model), &factor));
    KFE_ALLOC(ctx, one, width);
    for (int64_t count = 1; count <= m->dim; count++) {
        KFE_TRY(kfe_i_progress(ctx, "solving least squares", count, m->dim));
        kfe_i_moments_regress(m, factor, count, one);
        for (int64_t a = 0; a < m->dim; a++)
            memcpy(all + a * width + (count - 1) * m->targets, one + a * m->targets,
                   (size_t)m->targets * sizeof *all);
    }
cleanup:
    kfe_i_free(ctx, factor);
    kfe_i_free(ctx, one);
    return status;
}

/* outputs (rows × dim·targets), given the features, which lose their means. */
static kfe_status path_outputs(kfe_context *ctx, const kfe_model *model, kfe_matrix *features,
                               double *outputs)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &model->moments;
    int64_t width = m->dim * m->targets;
    double *all = NULL;

    KFE_ALLOC(ctx, all, m->dim * width);
    KFE_TRY(all_coefficients(ctx, model, all));
    for (int64_t i = 0; i < features->rows; i++) {
        for (int64_t a = 0; a < m->dim; a++)
            features->values[i * features->stride + a] -= m->feature_means[a];
        for (int64_t p = 0; p < width; p++)
            outputs[i * width + p] = m->target_means[p % m->targets];
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)features->rows, (blasint)width,
                (blasint)m->dim, 1, features->values, (blasint)features->stride, all, (blasint)width, 1,
                outputs, (blasint)width);
cleanup:
    kfe_i_free(ctx, all);
    return status;
}

kfe_status kfe_predict_path(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    kfe_matrix features = {0};
    double *outputs = NULL;
    int64_t k = model->moments.dim;
    int64_t targets = model->moments.targets;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    memset(out, 0, sizeof *out);
    KFE_TRY(check(ctx, model));
    KFE_TRY(kfe_transform(ctx, model, data, &features));
    KFE_ALLOC(ctx, outputs, features.rows * k * targets);
    KFE_TRY(path_outputs(ctx, model, &features, outputs));
    out->rows = features.rows;
    out->cols = out->stride = model->predictor.classes ? k : k * targets;
    KFE_ALLOC(ctx, out->values, out->rows * out->cols);
    out->owner = ctx;
    /* the outputs of each number of features are rows of the predictor's outputs, one after the other */
    kfe_i_predictor_answers(&model->predictor, outputs, features.rows * k, out->values);
cleanup:
    kfe_i_free(ctx, outputs);
    kfe_matrix_free(&features);
    if (status != KFE_OK)
        kfe_matrix_free(out);
    kfe_i_threads_leave(saved_threads);
    return status;
}
