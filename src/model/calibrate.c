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
#include "data/rows/distinct.h"
#include "model/arrange.h"
#include "model/fit.h"

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

/* ---- folds ---- */

static int64_t smallest_class(const kfe_i_target *target, const int64_t *counts)
{
    int64_t least = target->rows;

    for (int64_t g = 0; g < target->class_count; g++)
        least = counts[g] < least ? counts[g] : least;
    return least;
}

/* Members of each class that differ; `order` has equal rows side by side. */
static void count_distinct(const kfe_i_target *target, const kfe_i_distinct *distinct, const int64_t *order,
                           int64_t *counts)
{
    for (int64_t g = 0; g < target->class_count; g++) {
        int64_t before = -1;
        for (int64_t i = 0; i < target->rows; i++) {
            if (target->codes[order[i]] != g)
                continue;
            counts[g] += distinct->of[order[i]] != before;
            before = distinct->of[order[i]];
        }
    }
}

/* Rare classes first, so that their rows lie in different folds; equal ones in the order in which they first come among the rows in
 * `order`, whatever their names. */
static void order_classes(const kfe_i_target *target, const int64_t *order, const int64_t *counts,
                          int64_t *classes)
{
    int64_t known = 0;

    for (int64_t i = 0; i < target->rows && known < target->class_count; i++) {
        int64_t code = target->codes[order[i]];
        int64_t at = 0;
        while (at < known && classes[at] != code)
            at++;
        if (at < known)
            continue;
        for (known++; at > 0 && counts[classes[at - 1]] > counts[code]; at--)
            classes[at] = classes[at - 1];
        classes[at] = code;
    }
    for (; known < target->class_count; known++)
        classes[known] = -1; /* has no members */
}

/* Deals the rows of each class out to the folds in `order`, equal rows together whatever their classes. Every class begins where the one
 * before it ended, so that the folds have equal sizes. `dealt`: room for the fold of each distinct row. */
static void deal_rows(const kfe_i_target *target, const kfe_i_distinct *distinct, const int64_t *order,
                      const int64_t *classes, int64_t folds, int64_t *dealt, int64_t *fold_of)
{
    int64_t next = 0;

    for (int64_t c = 0; c < distinct->count; c++)
        dealt[c] = -1;
    for (int64_t g = 0; g < target->class_count; g++)
        for (int64_t i = 0; i < target->rows; i++) {
            int64_t content = distinct->of[order[i]];
            if (target->codes[order[i]] != classes[g])
                continue;
            if (dealt[content] < 0)
                dealt[content] = next++ % folds;
            fold_of[order[i]] = dealt[content];
        }
}

/* Whether more than half of the weight lies on rows that occur with several classes. `order` has equal rows side by side. */
static int has_mixed_rows(const kfe_i_target *target, const kfe_i_distinct *distinct, const int64_t *order)
{
    double all = 0;
    double mixed = 0;

    for (int64_t i = 0, end = 0; i < target->rows; i = end) {
        double weight = 0;
        int several = 0;
        for (end = i; end < target->rows && distinct->of[order[end]] == distinct->of[order[i]]; end++) {
            weight += target->weights ? target->weights[order[end]] : 1;
            several |= target->codes[order[end]] != target->codes[order[i]];
        }
        all += weight;
        mixed += several ? weight : 0;
    }
    return mixed > all / 2;
}

/* The rows of a group go where its first row, in random order, was dealt. */
static void deal_groups(const kfe_data *data, const int64_t *order, int64_t folds, int64_t *fold_of)
{
    int64_t rows = data->target.rows;
    int64_t next = 0;

    for (int64_t i = 0; i < rows; i++)
        fold_of[i] = -1;
    for (int64_t i = 0; i < rows; i++) {
        if (fold_of[order[i]] >= 0)
            continue;
        for (int64_t j = 0; j < rows; j++)
            if (data->groups[j] == data->groups[order[i]])
                fold_of[j] = next % folds;
        next++;
    }
}

/* By the content of the rows: neither their order nor that of the classes matters. *folds is 0 where the model's own outputs do. */
static kfe_status make_folds(kfe_context *ctx, const kfe_data *train, int64_t **fold_of, int64_t *folds)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    const kfe_i_target *target = &train->target;
    int64_t *counts = NULL;
    int64_t *order = NULL;
    int64_t *classes = NULL;
    int64_t *dealt = NULL;
    kfe_i_row_key *keys = NULL;
    kfe_i_distinct distinct = {0};

    KFE_TAKE_ZERO(&memory, counts, target->class_count);
    KFE_TAKE(&memory, classes, target->class_count);
    KFE_TAKE(&memory, order, target->rows);
    KFE_ALLOC(ctx, *fold_of, target->rows);
    KFE_TRY(kfe_i_data_row_keys(ctx, train, &keys));
    KFE_TRY(kfe_i_distinct_make(ctx, target->rows, keys, KFE_STREAM_CALIBRATION, &distinct));
    KFE_TRY(kfe_i_distinct_order(&distinct, order));
    *folds = 0;
    if (!train->groups && has_mixed_rows(target, &distinct, order))
        goto cleanup;
    count_distinct(target, &distinct, order, counts);
    order_classes(target, order, counts, classes);
    KFE_TAKE(&memory, dealt, distinct.count);
    *folds = smallest_class(target, counts) < FOLDS ? smallest_class(target, counts) : FOLDS;
    if (*folds < 2)
        KFE_FAIL(
            ctx, KFE_EINPUT,
            "{calibration} leaves examples out, so every class needs at least two that differ; one has %lld",
            (long long)*folds);
    if (train->groups)
        deal_groups(train, order, *folds, *fold_of);
    else
        deal_rows(target, &distinct, order, classes, *folds, dealt, *fold_of);
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_free(ctx, keys);
    kfe_i_arena_free(&memory);
    return status;
}

/* ---- one fold ---- */

kfe_status kfe_i_gather_fold(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                             kfe_i_row_list rows, kfe_i_row_list columns, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;
    kfe_i_table picked = {0};

    kfe_i_kernel_list_init(ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(ctx, spec, data, &kernels));
    KFE_TRY(kfe_i_data_gather(ctx, data, rows.items, rows.count, out));
    for (int v = 0; v < data->view_count; v++)
        if (kfe_i_kernel_list_given(&kernels, v) > 0) {
            KFE_TRY(kfe_i_table_columns(ctx, &(*out)->views[v].table, columns.items, columns.count, &picked));
            kfe_i_table_free(&(*out)->views[v].table);
            (*out)->views[v].table = picked;
        }
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

/* What the folds of one calibration share. */
typedef struct calibrating {
    kfe_context *ctx;
    const kfe_spec *spec;
    const kfe_data *train;
    const kfe_i_predictor *predictor; /* of the model of all rows */
    const int64_t *fold_of;
    int64_t *kept, *left; /* row numbers, room for all rows each */
    double *outputs;      /* rows × predictor->outputs */
} calibrating;

static void scatter(const calibrating *job, const double *some, int64_t count)
{
    int64_t width = job->predictor->outputs;

    for (int64_t i = 0; i < count; i++)
        memcpy(job->outputs + job->left[i] * width, some + i * width, (size_t)width * sizeof *some);
}

static kfe_status leave_out(calibrating *job, int64_t fold)
{
    kfe_status status = KFE_OK;
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    kfe_model *model = NULL;
    double *outputs = NULL;
    int64_t kept = 0;
    int64_t left = 0;

    for (int64_t i = 0; i < job->train->target.rows; i++)
        if (job->fold_of[i] == fold)
            job->left[left++] = i;
        else
            job->kept[kept++] = i;
    KFE_TRY(kfe_i_gather_fold(job->ctx, job->spec, job->train, (kfe_i_row_list){job->kept, kept},
                              (kfe_i_row_list){job->kept, kept}, &train));
    KFE_TRY(kfe_i_gather_fold(job->ctx, job->spec, job->train, (kfe_i_row_list){job->left, left},
                              (kfe_i_row_list){job->kept, kept}, &test));
    KFE_TRY(kfe_i_fit_model(job->ctx, job->spec, train, &model));
    if (model->predictor.outputs != job->predictor->outputs)
        KFE_FAIL(job->ctx, KFE_EINPUT,
                 "{calibration}: a fold lacks a class; give more examples of each class");
    KFE_ALLOC(job->ctx, outputs, left * model->predictor.outputs);
    KFE_TRY(kfe_i_model_outputs(job->ctx, model, test, outputs));
    scatter(job, outputs, left);
cleanup:
    kfe_i_free(job->ctx, outputs);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(test);
    return status;
}

kfe_status kfe_i_calibrate(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model *model)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    int64_t rows = train->target.rows;
    int64_t *fold_of = NULL;
    int64_t folds = 0;
    calibrating job = {.ctx = ctx, .spec = spec, .train = train, .predictor = &model->predictor};

    KFE_TRY(make_folds(ctx, train, &fold_of, &folds));
    job.fold_of = fold_of;
    KFE_TAKE(&memory, job.kept, rows);
    KFE_TAKE(&memory, job.left, rows);
    KFE_TAKE_ZERO(&memory, job.outputs, rows * model->predictor.outputs);
    if (folds == 0)
        KFE_TRY(kfe_i_model_outputs(ctx, model, train, job.outputs));
    for (int64_t fold = 0; fold < folds; fold++) {
        KFE_TRY(kfe_i_progress(ctx, "calibrating", fold, folds));
        KFE_TRY(leave_out(&job, fold));
    }
    KFE_TRY(kfe_i_calibration_learn(ctx, (kfe_i_calibration_kind)spec->fit.calibration, &model->predictor,
                                    &train->target, job.outputs, &model->calibration));
cleanup:
    kfe_i_free(ctx, fold_of);
    kfe_i_arena_free(&memory);
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
