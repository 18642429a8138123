/* SPDX-License-Identifier: Apache-2.0 */
#include "method/joint/joint.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/linalg.h"

/* Directions whose λ is a smaller share of the largest are left out: their features would be noise. */
#define KFE_LEAST_SHARE 1e-8

/* Features, and what gives them. */
typedef struct found {
    int64_t dim;
    double *coefficients, *features; /* n × dim */
} found;

typedef struct alternation {
    kfe_context *ctx;
    const char *method;
    const kfe_i_joint_settings *settings;
    const kfe_i_subspace_step *step;
    int64_t n, most; /* most: columns that A may have */
    kfe_i_onevsrest svms;
    double *b, *image, *h, *values, *vectors;
    kfe_i_eigen_work *eigen;
    found now, best;
    double best_objective;
    double *labels;        /* n × classes: the start */
    double *upper, *lower; /* by iteration */
    int64_t iterations;
    double explained;   /* Σ λ of the features of the moment */
    double *weights;    /* n × machines: A, as far as the features follow the machines */
    double weights_sum; /* Σ eᵀα of it */
    double *change, *change_image;
} alternation;

/* ---- the state ---- */

static void alternation_free(alternation *s)
{
    kfe_i_onevsrest_free(&s->svms);
    kfe_i_eigen_work_free(s->eigen);
    kfe_i_free(s->ctx, s->b);
    kfe_i_free(s->ctx, s->image);
    kfe_i_free(s->ctx, s->h);
    kfe_i_free(s->ctx, s->values);
    kfe_i_free(s->ctx, s->vectors);
    kfe_i_free(s->ctx, s->now.coefficients);
    kfe_i_free(s->ctx, s->now.features);
    kfe_i_free(s->ctx, s->best.coefficients);
    kfe_i_free(s->ctx, s->best.features);
    kfe_i_free(s->ctx, s->labels);
    kfe_i_free(s->ctx, s->weights);
    kfe_i_free(s->ctx, s->change);
    kfe_i_free(s->ctx, s->change_image);
    kfe_i_free(s->ctx, s->upper);
    kfe_i_free(s->ctx, s->lower);
}

static kfe_status alternation_open(alternation *s, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t block = s->n * s->most;

    KFE_TRY(kfe_i_onevsrest_open(s->ctx, target, s->most, s->settings->c, s->settings->stop, &s->svms));
    KFE_TRY(kfe_i_eigen_work_new(s->ctx, s->most, &s->eigen));
    KFE_ALLOC(s->ctx, s->b, block);
    KFE_ALLOC(s->ctx, s->image, block);
    KFE_ALLOC(s->ctx, s->h, s->most * s->most);
    KFE_ALLOC(s->ctx, s->values, s->most);
    KFE_ALLOC(s->ctx, s->vectors, s->most * s->most);
    KFE_ALLOC(s->ctx, s->now.coefficients, block);
    KFE_ALLOC(s->ctx, s->now.features, block);
    KFE_ALLOC(s->ctx, s->best.coefficients, block);
    KFE_ALLOC(s->ctx, s->best.features, block);
    KFE_ALLOC(s->ctx, s->labels, block);
    KFE_ALLOC_ZERO(s->ctx, s->weights, block);
    KFE_ALLOC(s->ctx, s->change, block);
    KFE_ALLOC(s->ctx, s->change_image, block);
    KFE_ALLOC(s->ctx, s->upper, s->settings->max_iterations);
    KFE_ALLOC(s->ctx, s->lower, s->settings->max_iterations);
cleanup:
    return status;
}

/* L = Y(YᵀY)^(−1/2): the alternation starts from the features of largest dependence on the labels. */
static kfe_status start_labels(alternation *s, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t c = target->class_count;
    int64_t *sizes = NULL;

    KFE_ALLOC(s->ctx, sizes, c);
    kfe_i_target_count(target, sizes);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t g = 0; g < c; g++)
            s->labels[i * c + g] = target->codes[i] == g ? 1 / sqrt((double)sizes[g]) : 0;
cleanup:
    kfe_i_free(s->ctx, sizes);
    return status;
}

/* ---- the two steps ---- */

/* How many features: those asked for, of those above rounding. */
static kfe_status choose_dim(alternation *s, const double *a, int64_t m)
{
    double norm = cblas_dnrm2((blasint)(s->n * m), a, 1);
    double least = fmax(KFE_LEAST_SHARE * s->values[0], fmin(s->step->rounding, 1e-2) * norm * norm);
    int64_t rank = 0;

    while (rank < m && s->values[rank] > least)
        rank++;
    if (rank == 0 && s->values[m - 1] < -least)
        return kfe_i_fail(
            s->ctx, KFE_ENUMERIC,
            "%s: the kernel is not positive definite: where the classes differ, all directions have a "
            "negative length; use kernels such as rbf or poly",
            s->method);
    if (rank == 0)
        return kfe_i_fail(s->ctx, KFE_EINPUT,
                          "%s: the kernel says nothing about the classes: their dependence is zero up to "
                          "rounding",
                          s->method);
    s->now.dim = s->settings->dim > 0 && s->settings->dim < rank ? s->settings->dim : rank;
    return KFE_OK;
}

/* The best features for A (n × m). */
static kfe_status improve_features(alternation *s, const double *a, int64_t m)
{
    kfe_status status = KFE_OK;

    KFE_TRY(s->step->find(s->step->user, a, m, s->b, s->image, s->h));
    KFE_TRY(kfe_i_symmetric_eigen_with(s->ctx, m, s->h, m, s->values, s->vectors, s->eigen));
    KFE_TRY(choose_dim(s, a, m));
    s->explained = 0;
    for (int64_t j = 0; j < s->now.dim; j++) {
        s->explained += s->values[j];
        cblas_dscal((blasint)m, 1 / sqrt(s->values[j]), s->vectors + j, (blasint)m);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->n, (blasint)s->now.dim, (blasint)m, 1,
                s->b, (blasint)m, s->vectors, (blasint)m, 0, s->now.coefficients, (blasint)s->now.dim);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->n, (blasint)s->now.dim, (blasint)m, 1,
                s->image, (blasint)m, s->vectors, (blasint)m, 0, s->now.features, (blasint)s->now.dim);
cleanup:
    return status;
}

/* The machines of the moment's features; both are kept if nothing was better before. */
static kfe_status improve_svms(alternation *s)
{
    kfe_status status = KFE_OK;
    size_t bytes = (size_t)(s->n * s->now.dim) * sizeof *s->now.features;

    KFE_TRY(kfe_i_onevsrest_solve(&s->svms, s->now.dim, s->now.features));
    if (s->iterations > 0 && s->svms.objective >= s->best_objective)
        return KFE_OK;
    s->best_objective = s->svms.objective;
    s->best.dim = s->now.dim;
    memcpy(s->best.coefficients, s->now.coefficients, bytes);
    memcpy(s->best.features, s->now.features, bytes);
    kfe_i_onevsrest_keep(&s->svms);
    if (s->step->keep)
        s->step->keep(s->step->user);
cleanup:
    return status;
}

/* How far towards the new machines the lower bound rises. */
static kfe_status step_length(alternation *s, double *step)
{
    kfe_status status = KFE_OK;
    int64_t m = s->svms.count;
    blasint block = (blasint)(s->n * m);

    KFE_TRY(s->step->apply(s->step->user, s->change, m, s->change_image));
    double slope = s->svms.alpha_sum - s->weights_sum - cblas_ddot(block, s->change, 1, s->image, 1);
    double bend = cblas_ddot(block, s->change, 1, s->change_image, 1);
    *step = slope < bend ? fmax(0, slope / bend) : 1;
cleanup:
    return status;
}

/* The machines that the features are to follow. */
static kfe_status follow_svms(alternation *s)
{
    kfe_status status = KFE_OK;
    int64_t block = s->n * s->svms.count;
    double step = 1;

    for (int64_t i = 0; i < block; i++)
        s->change[i] = s->svms.weights[i] - s->weights[i];
    if (s->iterations > 0 && s->settings->step == KFE_STEP_EXACT)
        KFE_TRY(step_length(s, &step));
    cblas_daxpy((blasint)block, step, s->change, 1, s->weights, 1);
    s->weights_sum += step * (s->svms.alpha_sum - s->weights_sum);
cleanup:
    return status;
}

/* The bounds have met. Where they cannot be trusted to, since steps are plain or features fewer than
 * machines, the objective not changing has to do. */
static int has_settled(const alternation *s)
{
    int64_t last = s->iterations - 1;
    double allowed = s->settings->settled * fabs(s->upper[last]);
    int bounds_meet = s->settings->step == KFE_STEP_EXACT && s->now.dim == s->svms.count;

    return s->upper[last] - s->lower[last] <= allowed ||
           (!bounds_meet && last > 0 && fabs(s->upper[last] - s->upper[last - 1]) <= allowed);
}

static kfe_status alternate(alternation *s, int64_t classes)
{
    kfe_status status = KFE_OK;
    int64_t most = s->settings->max_iterations;

    KFE_TRY(improve_features(s, s->labels, classes));
    while (s->iterations < most) {
        KFE_TRY(kfe_i_checkpoint(s->ctx, "alternation", s->iterations, most));
        KFE_TRY(improve_svms(s));
        s->upper[s->iterations] = s->svms.objective;
        KFE_TRY(follow_svms(s));
        KFE_TRY(improve_features(s, s->weights, s->svms.count));
        s->lower[s->iterations] = s->weights_sum - 0.5 * s->explained;
        s->iterations++;
        if (has_settled(s))
            return KFE_OK;
    }
    kfe_i_log(s->ctx, most > 1 ? KFE_LOG_WARNING : KFE_LOG_INFO,
              "%s: the objective still changed after %lld alternations; the best so far is kept. Raise "
              "--max-iter or --settled",
              s->method, (long long)most);
cleanup:
    return status;
}

/* ---- the answer ---- */

static kfe_status make_solution(alternation *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t dim = s->best.dim;
    double *signs = NULL;
    double iterations = (double)s->iterations;

    if (s->settings->dim > dim)
        kfe_i_clamp_dim(s->ctx, s->method, s->settings->dim, dim, "the machines need no more");
    KFE_TRY(kfe_i_solution_begin(s->ctx, KFE_SOLUTION_DUAL, s->n, dim, out));
    KFE_ALLOC(s->ctx, signs, dim);
    memcpy(out->coefficients, s->best.coefficients, (size_t)(s->n * dim) * sizeof *out->coefficients);
    KFE_TRY(kfe_i_onevsrest_predictor(&s->svms, dim, s->best.features, &out->predictor));
    kfe_i_solution_take_signs(out, signs);
    for (int64_t j = 0; j < dim; j++)
        for (int64_t m = 0; m < out->predictor.outputs; m++)
            out->predictor.weights[j * out->predictor.outputs + m] *= signs[j];
    KFE_TRY(kfe_i_solution_record(out, "upper-bound", s->upper, s->iterations));
    KFE_TRY(kfe_i_solution_record(out, "lower-bound", s->lower, s->iterations));
    KFE_TRY(kfe_i_solution_record(out, "objective", &s->best_objective, 1));
    KFE_TRY(kfe_i_solution_record(out, "iterations", &iterations, 1));
cleanup:
    kfe_i_free(s->ctx, signs);
    return status;
}

kfe_status kfe_i_joint_fit(kfe_context *ctx, const char *method, const kfe_i_target *target,
                           const kfe_i_joint_settings *settings, const kfe_i_subspace_step *step,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    alternation s = {.ctx = ctx,
                     .method = method,
                     .settings = settings,
                     .step = step,
                     .n = target->rows,
                     .most = target->class_count};

    KFE_TRY(alternation_open(&s, target));
    KFE_TRY(start_labels(&s, target));
    KFE_TRY(alternate(&s, target->class_count));
    KFE_TRY(make_solution(&s, out));
cleanup:
    alternation_free(&s);
    return status;
}
