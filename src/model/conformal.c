/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals and sets of classes (learn/conformal.h) inside a fit: the whole spec (steps, scaling, method, learner, and choices such as
 * dim=auto) is fitted without each fold, and the model keeps these fits. The model itself is the one of all rows. Called by kfe_fit;
 * kfe_predict_intervals is here too.
 */
#include "model/conformal.h"

#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "model/arrange.h"
#include "model/left_out.h"

enum { SPLIT_FOLDS = 4, CROSS_FOLDS = 10 };

kfe_status kfe_i_conformal_check(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;

    kfe_i_kernel_list_init(ctx, &kernels);
    if (!kfe_spec_predicts(spec))
        KFE_FAIL(ctx, KFE_EINVAL, "{conformal} is for models that predict; give {learner}, or leave it out");
    KFE_TRY(kfe_i_spec_kernels(ctx, spec, train, &kernels));
    for (int v = 0; v < train->view_count; v++)
        if (kfe_i_kernel_list_given(&kernels, v) > 0)
            KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                     "{conformal} keeps fits on parts of the examples, which cannot read the columns of a "
                     "precomputed kernel matrix; leave it out");
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

/* ---- learning ---- */

/* Moments say how far rows are from the training data, which is asked of the whole model only. */
static kfe_status keep_model(kfe_context *ctx, kfe_model *without, kfe_i_fold_model *out)
{
    kfe_status status = KFE_OK;
    size_t size = 0;

    if (without->moments.dim > 0)
        kfe_i_moments_free(&without->moments);
    out->model = without;
    KFE_TRY(kfe_model_save_bytes(ctx, without, &out->bytes, &size));
    out->size = (int64_t)size;
cleanup:
    return status;
}

static kfe_status learn_fold(kfe_i_left_out *job, int64_t fold, const double *weights, kfe_model *model)
{
    kfe_status status = KFE_OK;
    kfe_i_conformal *c = &model->conformal;
    const kfe_i_predictor *p = NULL;
    kfe_model *without = NULL;
    double *outputs = NULL;
    double *scores = NULL;
    double *some = NULL;

    KFE_TRY(kfe_i_left_out_fit(job, fold, &without, &outputs));
    p = &without->predictor;
    if (p->outputs != model->predictor.outputs || p->classes != model->predictor.classes)
        KFE_FAIL(job->ctx, KFE_EINPUT, "{conformal}: a fold lacks a class; give more examples of each class");
    KFE_ALLOC(job->ctx, scores, job->left_count * c->columns);
    KFE_TRY(
        kfe_i_conformal_score(job->ctx, p, &job->train->target, job->left, job->left_count, outputs, scores));
    if (weights)
        KFE_ALLOC(job->ctx, some, job->left_count);
    for (int64_t i = 0; weights && i < job->left_count; i++)
        some[i] = weights[job->left[i]];
    KFE_TRY(kfe_i_conformal_add(c, fold, job->left_count, scores, some));
    kfe_model *kept = without;
    without = NULL;
    KFE_TRY(keep_model(job->ctx, kept, &model->fold_models[fold]));
cleanup:
    kfe_i_free(job->ctx, some);
    kfe_i_free(job->ctx, scores);
    kfe_i_free(job->ctx, outputs);
    kfe_model_free(without);
    return status;
}

static int64_t most_folds(kfe_i_conformal_kind kind)
{
    return kind == KFE_CONFORMAL_SPLIT ? SPLIT_FOLDS : kind == KFE_CONFORMAL_CROSS ? CROSS_FOLDS : INT64_MAX;
}

static kfe_status begin(const kfe_i_left_out *job, kfe_i_conformal_kind kind, kfe_model *model)
{
    kfe_status status = KFE_OK;
    int64_t folds = kind == KFE_CONFORMAL_SPLIT ? 1 : job->folds;
    int64_t columns = model->predictor.classes ? 1 : model->predictor.outputs;
    int64_t rows = 0;

    if (job->folds < 2)
        KFE_FAIL(
            job->ctx, KFE_EINPUT,
            "{conformal} leaves examples out, so there must be at least two that differ, of every class");
    for (int64_t i = 0; i < job->train->target.rows; i++)
        rows += job->fold_of[i] < folds;
    KFE_TRY(kfe_i_conformal_begin(job->ctx, kind, folds, rows, columns, &model->conformal));
    KFE_ALLOC_ZERO(job->ctx, model->fold_models, folds);
cleanup:
    return status;
}

kfe_status kfe_i_conformal_fit(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train,
                               const double *weights, kfe_model *model)
{
    kfe_status status = KFE_OK;
    kfe_i_conformal_kind kind = (kfe_i_conformal_kind)spec->fit.conformal;
    kfe_i_left_out job = {0};

    KFE_TRY(kfe_i_left_out_begin(ctx, spec, train, most_folds(kind), KFE_STREAM_CONFORMAL, &job));
    KFE_TRY(begin(&job, kind, model));
    for (int64_t fold = 0; fold < model->conformal.folds; fold++) {
        KFE_TRY(kfe_i_progress(ctx, "fitting without parts of the rows", fold, model->conformal.folds));
        KFE_TRY(learn_fold(&job, fold, weights, model));
    }
cleanup:
    kfe_i_left_out_free(&job);
    return status;
}

/* ---- applying ---- */

const char *kfe_model_conformal(const kfe_model *model)
{
    static const char *const names[] = {NULL, "split", "cross", "jackknife"};
    return names[model->conformal.kind];
}

typedef struct answering {
    kfe_context *ctx;
    const kfe_model *model;
    const kfe_data *data; /* its views in the model's order */
    double need;
    int64_t rows, width; /* width: outputs of a row */
    double *outputs;     /* real targets: those of all folds, fold by fold; classes: of one fold */
} answering;

/* out: two columns per target. */
static kfe_status find_intervals(answering *job, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_conformal *c = &job->model->conformal;
    int64_t block = job->rows * job->width;
    double *centres = NULL;

    KFE_ALLOC(job->ctx, centres, c->folds);
    for (int64_t k = 0; k < c->folds; k++)
        KFE_TRY(kfe_i_model_outputs(job->ctx, job->model->fold_models[k].model, job->data,
                                    job->outputs + k * block));
    for (int64_t i = 0; i < block; i++) {
        for (int64_t k = 0; k < c->folds; k++)
            centres[k] = -job->outputs[k * block + i];
        out[2 * i] = -kfe_i_conformal_bound(c, i % job->width, centres, job->need);
        for (int64_t k = 0; k < c->folds; k++)
            centres[k] = job->outputs[k * block + i];
        out[2 * i + 1] = kfe_i_conformal_bound(c, i % job->width, centres, job->need);
    }
cleanup:
    kfe_i_free(job->ctx, centres);
    return status;
}

/* out: one column per class, 1 if it is in the set. Until all folds have been asked, the weight of rows below it. */
static kfe_status find_sets(answering *job, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_conformal *c = &job->model->conformal;
    int64_t classes = job->model->predictor.classes;
    double *scores = NULL;

    KFE_ALLOC(job->ctx, scores, classes);
    memset(out, 0, (size_t)(job->rows * classes) * sizeof *out);
    for (int64_t k = 0; k < c->folds; k++) {
        const kfe_model *without = job->model->fold_models[k].model;
        KFE_TRY(kfe_i_model_outputs(job->ctx, without, job->data, job->outputs));
        for (int64_t i = 0; i < job->rows; i++) {
            kfe_i_predictor_class_scores(&without->predictor, job->outputs + i * job->width, scores);
            for (int64_t g = 0; g < classes; g++)
                out[i * classes + g] +=
                    kfe_i_conformal_below(c, k, kfe_i_conformal_margin(scores, classes, g));
        }
    }
    for (int64_t i = 0; i < job->rows * classes; i++)
        out[i] = out[i] < job->need;
cleanup:
    kfe_i_free(job->ctx, scores);
    return status;
}

static kfe_status answer(answering *job, kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    int64_t classes = job->model->predictor.classes;
    int64_t blocks = classes ? 1 : job->model->conformal.folds;

    job->width = job->model->predictor.outputs;
    KFE_TRY(
        kfe_i_check_memory(job->ctx, (double)blocks * (double)job->rows * (double)job->width * sizeof(double),
                           "the predictions of all folds", "predict fewer rows at once, or raise {memory}"));
    KFE_ALLOC(job->ctx, job->outputs, blocks * job->rows * job->width);
    out->rows = job->rows;
    out->cols = out->stride = classes ? classes : 2 * job->width;
    KFE_ALLOC(job->ctx, out->values, out->rows * out->cols);
    out->owner = job->ctx;
    KFE_TRY(classes ? find_sets(job, out->values) : find_intervals(job, out->values));
cleanup:
    kfe_i_free(job->ctx, job->outputs);
    return status;
}

kfe_status kfe_predict_intervals(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double level,
                                 kfe_matrix *predictions, kfe_matrix *intervals)
{
    kfe_status status = KFE_OK;
    kfe_data arranged = {0};
    answering job = {.ctx = ctx, .model = model, .data = &arranged, .rows = kfe_data_rows(data)};
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    memset(predictions, 0, sizeof *predictions);
    memset(intervals, 0, sizeof *intervals);
    KFE_TRY(kfe_i_model_check_learner(ctx, model));
    if (model->conformal.kind == KFE_CONFORMAL_NONE)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "the model gives no intervals; fit it with {conformal=split}, {conformal=cross} or "
                 "{conformal=jackknife}");
    KFE_TRY(kfe_i_conformal_need(ctx, &model->conformal, level, &job.need));
    KFE_TRY(kfe_predict(ctx, model, data, predictions, NULL));
    KFE_TRY(kfe_i_arrange(ctx, model, data, &arranged));
    KFE_TRY(answer(&job, intervals));
cleanup:
    kfe_i_arrange_free(&arranged);
    if (status != KFE_OK) {
        kfe_matrix_free(predictions);
        kfe_matrix_free(intervals);
    }
    kfe_i_threads_leave(saved_threads);
    return status;
}
