/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner linear-svm: linear SVMs with squared loss,
 *     classes   minimise ½‖w‖² + Σ C_i·max(0, 1 − y_i·wᵀx_i)²,   y_i = ±1, C_i = C · weight of the class and of the example;
 *     real      minimise ½‖w‖² + Σ C_i·max(0, |y_i − wᵀx_i| − epsilon)².
 * With bias=yes every x has one more coordinate, 1, whose weight is the intercept; it is part of ‖w‖.
 * Newton's method solves them (newton.h), on a context's device where that is faster (on_device.c).
 * Records: the objective, and the norm of the gradient relative to that at w = 0, which vanishes at the optimum of this
 * smooth convex problem.
 *
 * Fan et al., "LIBLINEAR" (2008). Time: O(entries · conjugate gradient steps) per problem. Memory: 12 bytes for each entry, shared by
 * all problems of a fit.
 */
#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "learn/learner.h"
#include "learn/linear/linear_svm.h"
#include "learn/linear/newton.h"
#include "learn/svm_dual.h"

static const kfe_i_param rows[] = {
    KFE_REAL(kfe_i_linear_settings, c, "C", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "weight of the loss against the norm"),
    KFE_REAL(kfe_i_linear_settings, epsilon, "epsilon", "0.1", 0, KFE_REAL_MAX,
             "real targets: errors up to this cost nothing"),
    KFE_CLASS_WEIGHTS_ROW(kfe_i_linear_settings, class_weights),
    KFE_CHOICE(kfe_i_linear_settings, multiclass, "multiclass", "ovr", KFE_MULTICLASS_WORDS,
               "several classes: one against one, one against the rest, or a chain"),
    KFE_REAL(kfe_i_linear_settings, stop, "stop", "1e-3", KFE_REAL_POSITIVE, 1,
             "gradient at which the solver stops, relative to the gradient at the start"),
    KFE_FLAG(kfe_i_linear_settings, bias, "bias", "yes", "an intercept, which is part of the norm"),
};

typedef struct linear_job {
    kfe_i_arena arena;
    const kfe_i_linear_settings *settings;
    const kfe_i_table *features;
    const kfe_i_target *target;
    kfe_i_linear_rows all;     /* opened when a problem needs all rows */
    double *low, *high, *cost; /* of the rows of a problem */
    double *w, *wide;          /* cols of the problem's rows, and of the table: with the bias */
    kfe_i_predictor *predictor;
    kfe_i_linear_measures measures;
} linear_job;

/* ---- how close to the optimum ---- */

double kfe_i_linear_rarer_share(double positive, double count)
{
    return fmax(1, fmin(positive, count - positive)) / count;
}

void kfe_i_linear_measure(kfe_i_linear_measures *measures, double objective, double end, double start,
                          double bound)
{
    if (start > 0)
        measures->relative_gradient = fmax(measures->relative_gradient, end / start);
    measures->objective += objective;
    if (bound * start > 0)
        measures->worst_gradient = fmax(measures->worst_gradient, end / (bound * start));
}

/* Near machine precision the solver gives up a little above its tolerance. */
#define ACCEPTED_EXCESS 10

static void warn_of_gradient(kfe_context *ctx, const kfe_i_linear_settings *settings,
                             const kfe_i_linear_measures *measures)
{
    char where[96];

    if (measures->worst_gradient <= ACCEPTED_EXCESS)
        return;
    snprintf(where, sizeof where, "a gradient %.3g times as large as accepted (stop: %g)",
             measures->worst_gradient, settings->stop);
    kfe_i_svm_warn(ctx, "linear-svm", where);
}

void kfe_i_linear_finish(kfe_context *ctx, const kfe_i_linear_settings *settings,
                         const kfe_i_linear_measures *measures, kfe_i_predictor *out)
{
    kfe_i_predictor_record(out, "objective", measures->objective);
    kfe_i_predictor_record(out, "gradient", measures->relative_gradient);
    warn_of_gradient(ctx, settings, measures);
}

/* ---- one problem ---- */

void kfe_i_linear_take_weights(const kfe_i_linear_settings *settings, int64_t output, const double *w,
                               kfe_i_predictor *out)
{
    for (int64_t j = 0; j < out->dim; j++)
        out->weights[j * out->outputs + output] = w[j];
    if (settings->bias)
        out->offset[output] = -w[out->dim];
}

static kfe_status train(kfe_context *ctx, linear_job *job, kfe_i_linear_rows *x, double share, int64_t output)
{
    kfe_status status = KFE_OK;
    double bound = job->settings->stop * share;
    kfe_i_newton_problem problem = {x, {job->low, job->high, job->cost, x->count}, bound};
    kfe_i_newton_result result;

    KFE_TRY(kfe_i_newton_solve(ctx, &problem, job->w, &result));
    kfe_i_linear_rows_expand(x, job->w, job->wide);
    kfe_i_linear_take_weights(job->settings, output, job->wide, job->predictor);
    kfe_i_linear_measure(&job->measures, result.objective, result.gradient, result.start, bound);
cleanup:
    return status;
}

static kfe_status train_on_all(kfe_context *ctx, linear_job *job, double share, int64_t output)
{
    kfe_status status = KFE_OK;

    if (!job->all.ctx)
        KFE_TRY(kfe_i_linear_rows_open(ctx, job->features, job->settings->bias, job->predictor->outputs,
                                       &job->all));
    KFE_TRY(train(ctx, job, &job->all, share, output));
cleanup:
    return status;
}

static kfe_status train_on_some(kfe_context *ctx, linear_job *job, const kfe_i_binary *binary, double share)
{
    kfe_status status = KFE_OK;
    kfe_i_table table = {0};
    kfe_i_linear_rows some = {0};

    KFE_TRY(kfe_i_table_gather(ctx, job->features, binary->rows, binary->count, &table));
    KFE_TRY(kfe_i_linear_rows_open(ctx, &table, job->settings->bias, 1, &some));
    KFE_TRY(train(ctx, job, &some, share, binary->output));
cleanup:
    kfe_i_linear_rows_free(&some);
    kfe_i_table_free(&table);
    return status;
}

static kfe_status train_binary(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    linear_job *job = user;
    double positive = 0;

    for (int64_t i = 0; i < binary->count; i++) {
        int is_positive = binary->sign[i] > 0;
        double weight = is_positive ? binary->positive_weight : binary->negative_weight;
        job->low[i] = is_positive ? 1 : -INFINITY;
        job->high[i] = is_positive ? INFINITY : -1;
        job->cost[i] = job->settings->c * weight * kfe_i_weight_of(job->target, binary->rows[i]);
        positive += is_positive;
    }
    double share = kfe_i_linear_rarer_share(positive, (double)binary->count);
    if (binary->count == job->features->rows)
        return train_on_all(ctx, job, share, binary->output);
    return train_on_some(ctx, job, binary, share);
}

/* ---- all problems ---- */

static kfe_status train_classes(kfe_context *ctx, linear_job *job)
{
    kfe_status status = KFE_OK;
    double *weights = NULL;

    KFE_ALLOC(ctx, weights, job->target->class_count);
    KFE_TRY(kfe_i_class_weights(ctx, job->settings->class_weights, job->target, weights));
    KFE_TRY(kfe_i_multiclass_each(ctx, job->target, job->predictor->decision, weights, train_binary, job));
cleanup:
    kfe_i_free(ctx, weights);
    return status;
}

static kfe_status train_real(kfe_context *ctx, linear_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = job->target;

    KFE_TRY(kfe_i_class_weights(ctx, job->settings->class_weights, target, NULL));
    for (int64_t j = 0; j < target->cols; j++) {
        for (int64_t i = 0; i < target->rows; i++) {
            job->low[i] = target->values[i * target->cols + j] - job->settings->epsilon;
            job->high[i] = target->values[i * target->cols + j] + job->settings->epsilon;
            job->cost[i] = job->settings->c * kfe_i_weight_of(target, i);
        }
        KFE_TRY(train_on_all(ctx, job, 1, j));
    }
cleanup:
    return status;
}

double kfe_i_linear_largest_square(const kfe_i_table *features, int bias)
{
    double largest = 0;
    int dense = features->kind == KFE_TABLE_DENSE;

    for (int64_t i = 0; i < features->rows; i++) {
        int64_t begin = dense ? i * features->stride : features->row_start[i];
        int64_t end = dense ? begin + features->cols : features->row_start[i + 1];
        double sum = bias ? 1 : 0;
        for (int64_t p = begin; p < end; p++)
            sum += features->values[p] * features->values[p];
        largest = sum <= largest ? largest : sum;
    }
    return largest;
}

static kfe_status check_size(kfe_context *ctx, const linear_job *job)
{
    double largest = kfe_i_linear_largest_square(job->features, job->settings->bias);

    if (job->settings->c * largest <= KFE_LINEAR_CURVATURE_MOST)
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "linear-svm: the features are too large: the square of a row times {C} is %.3g, more than %g; use "
        "{scale=standard} or a smaller {C}",
        job->settings->c * largest, KFE_LINEAR_CURVATURE_MOST);
}

kfe_status kfe_i_linear_begin(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                              const kfe_i_linear_settings *s, kfe_i_predictor *out)
{
    int64_t classes = target->task == KFE_TASK_CLASSES ? target->class_count : 0;
    kfe_i_decision decision =
        classes ? kfe_i_multiclass_decision((kfe_i_multiclass)s->multiclass, classes) : KFE_DECIDE_VALUE;
    int64_t outputs = classes ? kfe_i_decision_outputs(decision, classes) : target->cols;
    kfe_status status = kfe_i_predictor_begin(ctx, KFE_PREDICTOR_LINEAR, decision, features->cols, outputs,
                                              features->cols, out);

    if (status == KFE_OK)
        out->classes = classes;
    return status;
}

static kfe_status fit_on_cpu(kfe_context *ctx, linear_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *features = job->features;

    KFE_TRY(kfe_i_linear_begin(ctx, features, job->target, job->settings, job->predictor));
    KFE_TRY(check_size(ctx, job));
    KFE_TAKE(&job->arena, job->low, features->rows);
    KFE_TAKE(&job->arena, job->high, features->rows);
    KFE_TAKE(&job->arena, job->cost, features->rows);
    KFE_TAKE(&job->arena, job->w, features->cols + 1);
    KFE_TAKE(&job->arena, job->wide, features->cols + 1);
    KFE_TRY(job->predictor->classes > 0 ? train_classes(ctx, job) : train_real(ctx, job));
    kfe_i_linear_finish(ctx, job->settings, &job->measures, job->predictor);
cleanup:
    kfe_i_linear_rows_free(&job->all);
    kfe_i_arena_free(&job->arena);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    linear_job job = {.arena = {.ctx = ctx},
                      .settings = settings,
                      .features = features,
                      .target = target,
                      .predictor = out};

    KFE_TRY(kfe_i_linear_fit_on_device(ctx, features, target, &settings, 1, out));
    if (out->outputs > 0) {
        kfe_i_log(ctx, KFE_LOG_INFO, "linear-svm: %lld problems of %lld rows were solved on %s",
                  (long long)out->outputs, (long long)features->rows, kfe_context_device(ctx));
        return KFE_OK;
    }
    KFE_TRY(fit_on_cpu(ctx, &job));
cleanup:
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

const kfe_i_learner kfe_i_learner_linear_svm = {
    .name = "linear-svm",
    .summary = "linear SVM with squared loss",
    .reference = "Mangasarian (2002); Keerthi & DeCoste (2005)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_linear_settings),
    .fit = fit,
    .fit_on_device = kfe_i_linear_fit_on_device,
};
