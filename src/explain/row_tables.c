/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part "diagnostics" of kfe_explain: how far examples lie from the training data (diagnostics.c), as tables.
 *
 *     limits             of each number, at the level that the user gives
 *     diagnostics        the numbers of each example
 *     accepted           of each class of the data, if the model knows none: how many rows it accepts as its own
 *     studentized        e/(s√(1 ∓ h)) of real targets, e = y − ŷ: − on the training data, + on other examples; h is the leverage and
 *                        s² = Σe²/(n − r − 1) over the training rows
 *     t2-contributions   (n − 1)(x_j − x̄_j)(RGu)_j of column j, whose sum is T²; R maps columns to features, u = Gᵀ(t − t̄)
 *     q-contributions    ±e_j² of column j, with the sign of its residual e_j; the sum of their sizes is Q
 *
 * Miller, Swanson & Heckler (1998), contribution plots. Time O(ndr).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/rows/fingerprint.h"
#include "explain/diagnostics.h"
#include "explain/explain.h"
#include "model/linear.h"

/* ---- limits ---- */

static kfe_status add_limits(kfe_i_explaining *job, const kfe_i_row_limits *limits)
{
    static const char *const names[] = {"t2",       "t2-by-moments",   "q",     "leverage",
                                        "distance", "distance-of-all", "dmodx", "studentized"};
    kfe_status status = KFE_OK;
    const double values[] = {limits->of[KFE_DIAGNOSTIC_T2],       limits->t2_by_moments,
                             limits->of[KFE_DIAGNOSTIC_Q],        limits->of[KFE_DIAGNOSTIC_LEVERAGE],
                             limits->of[KFE_DIAGNOSTIC_DISTANCE], limits->distance_of_all,
                             limits->of[KFE_DIAGNOSTIC_DMODX],    limits->studentized};
    int rows = 0;
    int single = 0;
    double *out = NULL;

    KFE_TRY(kfe_i_explain_axis(job, "diagnostic", sizeof names / sizeof *names, names, &rows));
    KFE_TRY(kfe_i_explain_axis(job, "value", 1, (const char *const[]){"limit"}, &single));
    KFE_TRY(kfe_i_explain_table(job, "limits",
                                "examples like the training data stay below these, at the given level", rows,
                                single, &out));
    memcpy(out, values, sizeof values);
cleanup:
    return status;
}

/* ---- studentized residuals ---- */

static int has_residual_targets(const kfe_i_explaining *job)
{
    const kfe_model *model = job->model;
    const kfe_i_target *target = &job->data->target;

    return target->task == KFE_TASK_REAL && model->target.task == KFE_TASK_REAL && model->learner &&
           model->predictor.kind == KFE_PREDICTOR_LINEAR && target->cols == model->predictor.outputs &&
           model->moments.targets == target->cols;
}

/* Σe² over the training rows of target t, whose outputs are Bᵀz − offset. */
static double residual_squares(const kfe_model *model, int64_t t)
{
    const kfe_i_moments *m = &model->moments;
    const double *b = model->predictor.weights + t;
    int64_t stride = model->predictor.outputs;
    double sum = m->target_squares[t];
    double bias = m->target_means[t] + (model->predictor.offset ? model->predictor.offset[t] : 0);

    for (int64_t a = 0; a < m->dim; a++) {
        double row = cblas_ddot((blasint)m->dim, m->products + a * m->dim, 1, b, (blasint)stride);
        sum += b[a * stride] * (row - 2 * m->target_cross[t * m->dim + a]);
        bias -= b[a * stride] * m->feature_means[a];
    }
    return fmax(sum, 0) + m->spread[KFE_SPREAD_MASS] * bias * bias;
}

static kfe_status add_studentized(kfe_i_explaining *job, const kfe_i_row_limits *limits, const double *values)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &job->data->target;
    uint64_t known = job->model->origin.fingerprint;
    double sign = known && known == kfe_i_data_fingerprint(job->ctx, job->data) ? -1 : 1;
    double *outputs = NULL;
    double *out = NULL;

    KFE_ALLOC(job->ctx, outputs, target->rows * target->cols);
    KFE_TRY(kfe_i_model_outputs(job->ctx, job->model, job->data, outputs));
    KFE_TRY(kfe_i_explain_table(job, "studentized",
                                "residuals of the targets over their standard deviation at the example",
                                KFE_BY_EXAMPLE, KFE_BY_TARGET, &out));
    for (int64_t t = 0; t < target->cols; t++) {
        double s = sqrt(residual_squares(job->model, t) / (limits->rows - limits->rank - 1));
        for (int64_t i = 0; i < target->rows; i++) {
            double leverage = values[i * KFE_DIAGNOSTICS + KFE_DIAGNOSTIC_LEVERAGE];
            int64_t at = i * target->cols + t;
            out[at] = (target->values[at] - outputs[at]) / (s * sqrt(fmax(1 + sign * leverage, 0)));
        }
    }
cleanup:
    kfe_i_free(job->ctx, outputs);
    return status;
}

/* ---- contributions ---- */

static void sign_squares(int64_t count, double *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] *= fabs(values[i]);
}

/* x_j − x̄_j is what the features show of the column and its residual; directions: RG(n − 1), columns × rank. */
static void fill_t2_contributions(const kfe_i_moments *m, const kfe_i_whitening *w, const double *directions,
                                  int64_t rows, const double *scores, const double *residuals, double *out)
{
    blasint r = (blasint)w->rank;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < m->cols; j++) {
            double shown = cblas_ddot(r, w->basis + j * w->rank, 1, scores + i * w->rank, 1);
            double weight = cblas_ddot(r, directions + j * w->rank, 1, scores + i * w->rank, 1);
            out[i * m->cols + j] = (shown + residuals[i * m->cols + j]) * weight;
        }
}

/* u of the rows */
static kfe_status find_scores(kfe_i_explaining *job, const kfe_i_whitening *w, double **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    int64_t rows = kfe_data_rows(job->data);
    double *features = NULL;

    KFE_ALLOC(job->ctx, features, rows * m->dim);
    KFE_ALLOC(job->ctx, *out, rows * w->rank);
    KFE_TRY(kfe_i_model_project(job->ctx, job->model, job->data, features));
    for (int64_t i = 0; i < rows; i++)
        cblas_daxpy((blasint)m->dim, -1, m->feature_means, 1, features + i * m->dim, 1);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)w->rank, (blasint)m->dim,
                1, features, (blasint)m->dim, w->map, (blasint)w->rank, 0, *out, (blasint)w->rank);
cleanup:
    kfe_i_free(job->ctx, features);
    return status;
}

static kfe_status add_t2_contributions(kfe_i_explaining *job, const double *residuals, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    kfe_i_linear_map rotations = {0};
    kfe_i_whitening w = {0};
    double *directions = NULL;
    double *scores = NULL;

    KFE_TRY(kfe_i_whiten(job->ctx, m, &w));
    if (w.rank == 0)
        goto cleanup;
    KFE_TRY(kfe_i_linear_features(job->ctx, job->model, &rotations));
    KFE_ALLOC(job->ctx, directions, m->cols * w.rank);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m->cols, (blasint)w.rank, (blasint)m->dim,
                m->spread[KFE_SPREAD_MASS] - 1, rotations.weights, (blasint)m->dim, w.map, (blasint)w.rank, 0,
                directions, (blasint)w.rank);
    KFE_TRY(find_scores(job, &w, &scores));
    fill_t2_contributions(m, &w, directions, kfe_data_rows(job->data), scores, residuals, out);
cleanup:
    kfe_i_linear_map_free(&rotations);
    kfe_i_whitening_free(&w);
    kfe_i_free(job->ctx, directions);
    kfe_i_free(job->ctx, scores);
    return status;
}

/* The residuals become contributions once those of T² are known. */
static kfe_status add_contributions(kfe_i_explaining *job, const double *residuals)
{
    kfe_status status = KFE_OK;
    int64_t numbers = kfe_data_rows(job->data) * job->model->moments.cols;
    double *out = NULL;

    KFE_TRY(kfe_i_explain_table(job, "t2-contributions",
                                "what each column adds to the T² of the example; the sum is T²",
                                KFE_BY_EXAMPLE, KFE_BY_PREPARED, &out));
    KFE_TRY(add_t2_contributions(job, residuals, out));
    KFE_TRY(kfe_i_explain_table(
        job, "q-contributions",
        "squared residual of each scaled column, with the sign of the residual; the sizes add up to Q",
        KFE_BY_EXAMPLE, KFE_BY_PREPARED, &out));
    memcpy(out, residuals, (size_t)numbers * sizeof *out);
    sign_squares(numbers, out);
cleanup:
    return status;
}

/* ---- one class ---- */

/* Of each class of the data: the weight of its rows, and the share of it within the limit of the distance. */
static void count_accepted(const kfe_i_target *target, const double *values, double limit, double *out)
{
    memset(out, 0, (size_t)(2 * target->class_count) * sizeof *out);
    for (int64_t i = 0; i < target->rows; i++) {
        double weight = kfe_i_weight_of(target, i);
        out[2 * target->codes[i]] += weight;
        if (values[i * KFE_DIAGNOSTICS + KFE_DIAGNOSTIC_DISTANCE] <= limit)
            out[2 * target->codes[i] + 1] += weight;
    }
    for (int64_t g = 0; g < target->class_count; g++)
        out[2 * g + 1] /= out[2 * g];
}

/* If the model knows no classes but the data has some: sensitivity for the class that was modelled, 1 − specificity for others. */
static kfe_status add_accepted(kfe_i_explaining *job, const kfe_i_row_limits *limits, const double *values)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &job->data->target;
    double limit = limits->of[KFE_DIAGNOSTIC_DISTANCE];
    int classes = 0;
    int names = 0;
    double *out = NULL;

    if (target->task != KFE_TASK_CLASSES || job->model->target.class_count > 0 || isnan(limit))
        return KFE_OK;
    KFE_TRY(
        kfe_i_explain_axis(job, "class", target->class_count, (const char *const *)target->names, &classes));
    KFE_TRY(kfe_i_explain_axis(job, "value", 2, (const char *const[]){"rows", "accepted"}, &names));
    KFE_TRY(kfe_i_explain_table(
        job, "accepted", "rows of each class, and the share of them whose distance is within its limit",
        classes, names, &out));
    count_accepted(target, values, limit, out);
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status add_rows(kfe_i_explaining *job, const kfe_i_row_limits *limits)
{
    kfe_status status = KFE_OK;
    int contributes = job->settings.examples && job->model->moments.cols > 0;
    int names = 0;
    double *values = NULL;
    double *residuals = NULL;

    KFE_TRY(kfe_i_explain_axis(job, "value", KFE_DIAGNOSTICS, kfe_i_diagnostic_names, &names));
    KFE_TRY(kfe_i_explain_table(
        job, "diagnostics",
        "distances of each example from the training data; outlier: T² or Q is above its limit",
        KFE_BY_EXAMPLE, names, &values));
    if (contributes)
        KFE_ALLOC(job->ctx, residuals, kfe_data_rows(job->data) * job->model->moments.cols);
    KFE_TRY(kfe_i_diagnose(job->ctx, job->model, job->data, limits, values, residuals));
    if (has_residual_targets(job))
        KFE_TRY(add_studentized(job, limits, values));
    KFE_TRY(add_accepted(job, limits, values));
    if (contributes)
        KFE_TRY(add_contributions(job, residuals));
cleanup:
    kfe_i_free(job->ctx, residuals);
    return status;
}

kfe_status kfe_i_explain_rows(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    const char *reason = kfe_i_not_diagnosed(job->model);
    kfe_i_row_limits limits;

    if (reason)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED,
                          "this model cannot compare examples with its training data: %s", reason);
    KFE_TRY(kfe_i_find_row_limits(job->ctx, job->model, job->settings.level, &limits));
    KFE_TRY(add_limits(job, &limits));
    if (!job->data)
        goto cleanup;
    if (kfe_i_no_residuals(job->model))
        kfe_i_log(job->ctx, KFE_LOG_NOTICE, "the model has no residuals of columns (q, dmodx, distance): %s",
                  kfe_i_no_residuals(job->model));
    KFE_TRY(add_rows(job, &limits));
cleanup:
    return status;
}
