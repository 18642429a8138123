/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibration inside a fit: the whole spec (scaling, method and learner) is fitted on k − 1 of k folds of the training data,
 * and its outputs on the fold that was left out teach the curves (learn/calibration.h). The model itself is the one of all
 * rows. Costs k further fits. Tables of few different rows with mixed classes need none: new rows are rows that the model has seen,
 * so its own outputs teach the curves. Called by kfe_fit; kfe_predict_probabilities is here too.
 */
#include "model/calibrate.h"

#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "model/left_out.h"

enum { FOLDS = 5 };

kfe_status kfe_i_calibration_check(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train)
{
    if (!kfe_spec_predicts(spec))
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "{calibration} is for models that predict classes; give {learner}, or leave it out");
    if (train->target.task != KFE_TASK_CLASSES)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "{calibration} is for classes, not for real targets; leave it out");
    return KFE_OK;
}

static kfe_status leave_out(kfe_i_left_out *job, int64_t fold, int64_t width, double *all)
{
    kfe_status status = KFE_OK;
    kfe_model *model = NULL;
    double *outputs = NULL;

    KFE_TRY(kfe_i_left_out_fit(job, fold, &model, &outputs));
    if (model->predictor.outputs != width)
        KFE_FAIL(job->ctx, KFE_EINPUT,
                 "{calibration}: a fold lacks a class; give more examples of each class");
    for (int64_t i = 0; i < job->left_count; i++)
        memcpy(all + job->left[i] * width, outputs + i * width, (size_t)width * sizeof *all);
cleanup:
    kfe_i_free(job->ctx, outputs);
    kfe_model_free(model);
    return status;
}

/* Outputs for all rows, of fits that did not see them. */
static kfe_status held_out_outputs(kfe_i_left_out *job, int64_t width, double *all)
{
    kfe_status status = KFE_OK;

    if (job->folds < 2)
        KFE_FAIL(
            job->ctx, KFE_EINPUT,
            "{calibration} leaves examples out, so every class needs at least two that differ; one has %lld",
            (long long)job->folds);
    for (int64_t fold = 0; fold < job->folds; fold++) {
        KFE_TRY(kfe_i_progress(job->ctx, "calibrating", fold, job->folds));
        KFE_TRY(leave_out(job, fold, width, all));
    }
cleanup:
    return status;
}

kfe_status kfe_i_calibrate(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model *model)
{
    kfe_status status = KFE_OK;
    kfe_i_left_out job = {0};
    double *outputs = NULL;
    int64_t width = model->predictor.outputs;

    KFE_TRY(kfe_i_left_out_begin(ctx, spec, train, FOLDS, KFE_STREAM_CALIBRATION, &job));
    KFE_ALLOC_ZERO(ctx, outputs, train->target.rows * width);
    KFE_TRY(job.mixed ? kfe_i_model_outputs(ctx, model, train, outputs)
                      : held_out_outputs(&job, width, outputs));
    if (spec->fit.calibration == KFE_CALIBRATION_AUTO)
        KFE_TRY(kfe_i_calibration_learn_shared(ctx, &model->predictor, &train->target, outputs,
                                               &model->calibration));
    else
        KFE_TRY(kfe_i_calibration_learn(ctx, kfe_i_spec_calibration(spec), &model->predictor, &train->target,
                                        outputs, &model->calibration));
cleanup:
    kfe_i_free(ctx, outputs);
    kfe_i_left_out_free(&job);
    return status;
}

/* ---- probabilities ---- */

kfe_status kfe_i_model_probabilities(kfe_context *ctx, const kfe_model *model, int64_t rows,
                                     const double *outputs, double *probabilities)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &model->predictor;
    double *work = NULL;

    KFE_ALLOC(ctx, work, 2 * predictor->classes * predictor->classes);
    for (int64_t i = 0; i < rows; i++)
        kfe_i_calibration_apply(&model->calibration, predictor, outputs + i * predictor->outputs, work,
                                probabilities + i * predictor->classes);
cleanup:
    kfe_i_free(ctx, work);
    return status;
}

const char *kfe_model_calibration(const kfe_model *model)
{
    static const char *const names[] = {NULL, "platt", "isotonic"};
    return names[model->calibration.kind];
}

kfe_status kfe_predict_probabilities(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                     kfe_matrix *predictions, kfe_matrix *probabilities)
{
    kfe_status status = KFE_OK;
    kfe_matrix outputs = {0};

    memset(predictions, 0, sizeof *predictions);
    memset(probabilities, 0, sizeof *probabilities);
    KFE_TRY(kfe_i_model_check_learner(ctx, model));
    if (model->calibration.kind == KFE_CALIBRATION_NONE)
        KFE_FAIL(
            ctx, KFE_EINVAL,
            "the model gives no probabilities; fit it with {calibration=platt} or {calibration=isotonic}");
    KFE_TRY(kfe_predict(ctx, model, data, predictions, &outputs));
    probabilities->rows = outputs.rows;
    probabilities->cols = probabilities->stride = model->predictor.classes;
    KFE_ALLOC(ctx, probabilities->values, outputs.rows * model->predictor.classes);
    probabilities->owner = ctx;
    KFE_TRY(kfe_i_model_probabilities(ctx, model, outputs.rows, outputs.values, probabilities->values));
cleanup:
    kfe_matrix_free(&outputs);
    if (status != KFE_OK) {
        kfe_matrix_free(predictions);
        kfe_matrix_free(probabilities);
    }
    return status;
}
