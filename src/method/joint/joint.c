/* SPDX-License-Identifier: Apache-2.0 */
/* Learning features and SVMs together, by the closed form or the paper's alternation (joint.h has both);
 * svm-joint, usvm-joint and svm-mkl use it. */
#include "method/joint/joint.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"

/* Directions whose λ is a smaller share of the largest one are dropped: their features would be noise. */
#define KFE_LEAST_SHARE 1e-8
/* The share of the accepted gap that the SVMs may use up. */
#define KFE_SVM_SHARE 0.1
/* The shares of the accepted gap that the SVMs of the closed form may use up, and that a feature must explain to
 * be kept. A feature that explains less usually changes the objective by less than the gap, and its direction
 * depends on how exactly the SVMs were solved; where the gap stays open without it, it is taken back. The first share is small because features move with the square root of the
 * gap. */
#define KFE_CLOSED_FORM_SHARE 1e-5
#define KFE_FEATURE_SHARE 0.1
/* The accepted gap for that purpose where none is given (settled=0). */
#define KFE_USUAL_GAP 1e-4
/* Below this relative gap there is no warning: rounding may allow no better. */
#define KFE_QUIET_GAP 1e-6

/* Features and the SVMs on them. */
typedef struct found {
    int64_t dim;
    double *coefficients, *features; /* n × dim */
    double *weights, *offset;        /* of the SVMs: n × count, count; only kept for the best */
    double objective;
} found;

/* What finding features for A needs. */
typedef struct workspace {
    double *b, *image, *h, *values, *vectors;
    kfe_i_eigen_work *eigen;
} workspace;

typedef struct joint {
    kfe_context *ctx;
    const kfe_i_joint_method *method;
    const kfe_i_joint_settings *settings;
    int64_t n, most; /* most: columns that A may have */
    kfe_i_onevsrest svms;
    workspace work;
    found now, best;
    double *given; /* A, n × classes: where the alternation starts, or the solution of the closed form */
    double *upper, *lower; /* by iteration */
    double bound;          /* the largest lower bound */
    double explained;      /* Σ λ of the current features */
    int64_t iterations;    /* of the alternation, or 1 */
    int64_t closed_form_iterations;
    double least_value; /* features with a smaller λ are dropped */
} joint;

/* ---- the state ---- */

static void found_free(kfe_context *ctx, found *f)
{
    kfe_i_free(ctx, f->coefficients);
    kfe_i_free(ctx, f->features);
    kfe_i_free(ctx, f->weights);
    kfe_i_free(ctx, f->offset);
}

static void joint_free(joint *s)
{
    kfe_i_onevsrest_free(&s->svms);
    kfe_i_eigen_work_free(s->work.eigen);
    kfe_i_free(s->ctx, s->work.b);
    kfe_i_free(s->ctx, s->work.image);
    kfe_i_free(s->ctx, s->work.h);
    kfe_i_free(s->ctx, s->work.values);
    kfe_i_free(s->ctx, s->work.vectors);
    found_free(s->ctx, &s->now);
    found_free(s->ctx, &s->best);
    kfe_i_free(s->ctx, s->given);
    kfe_i_free(s->ctx, s->upper);
    kfe_i_free(s->ctx, s->lower);
}

static kfe_status open_work(joint *s)
{
    kfe_status status = KFE_OK;
    workspace *w = &s->work;

    KFE_TRY(kfe_i_eigen_work_new(s->ctx, s->most, &w->eigen));
    KFE_ALLOC(s->ctx, w->b, s->n * s->most);
    KFE_ALLOC(s->ctx, w->image, s->n * s->most);
    KFE_ALLOC(s->ctx, w->h, s->most * s->most);
    KFE_ALLOC(s->ctx, w->values, s->most);
    KFE_ALLOC(s->ctx, w->vectors, s->most * s->most);
cleanup:
    return status;
}

static kfe_status joint_open(joint *s, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t block = s->n * s->most;

    KFE_TRY(kfe_i_onevsrest_open(s->ctx, target, s->most, s->settings->c, s->settings->stop, &s->svms));
    KFE_TRY(kfe_i_onevsrest_carry(&s->svms, s->method->roots));
    KFE_TRY(open_work(s));
    KFE_ALLOC(s->ctx, s->now.coefficients, block);
    KFE_ALLOC(s->ctx, s->now.features, block);
    KFE_ALLOC(s->ctx, s->best.coefficients, block);
    KFE_ALLOC(s->ctx, s->best.features, block);
    KFE_ALLOC(s->ctx, s->best.weights, block);
    KFE_ALLOC(s->ctx, s->best.offset, s->svms.count);
    KFE_ALLOC(s->ctx, s->given, block);
    KFE_ALLOC(s->ctx, s->upper, s->settings->max_iterations);
    KFE_ALLOC(s->ctx, s->lower, s->settings->max_iterations);
cleanup:
    return status;
}

/* ---- features ---- */

/* How many features: those asked for, of those above rounding. */
static kfe_status choose_dim(joint *s, const double *a, int64_t m)
{
    const double *values = s->work.values;
    double norm = cblas_dnrm2((blasint)(s->n * m), a, 1);
    double rounding = fmin(s->method->rounding, 1e-2) * norm * norm;
    /* the closed form has a limit of its own, far above what rounding usually does to one eigenvalue */
    double least = fmax(KFE_LEAST_SHARE * values[0], s->least_value > 0 ? s->least_value : rounding);
    int64_t rank = 0;

    while (rank < m && values[0] > rounding && (values[rank] > least || (rank == 0 && s->least_value > 0)))
        rank++;
    if (rank == 0 && values[m - 1] < -least)
        return kfe_i_fail(s->ctx, KFE_ENUMERIC,
                          "%s: the kernel is not positive definite: where the classes differ, all directions "
                          "have a negative length; use kernels such as rbf or poly",
                          s->method->name);
    if (rank == 0)
        return kfe_i_fail(s->ctx, KFE_EINPUT,
                          "%s: the kernel says nothing about the classes: their dependence is zero up to "
                          "rounding",
                          s->method->name);
    s->now.dim = s->settings->dim > 0 && s->settings->dim < rank ? s->settings->dim : rank;
    return KFE_OK;
}

/* out (n × dim) = block (n × m) · VΛ^(−1/2) */
static void combine(const joint *s, int64_t m, const double *block, double *out)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->n, (blasint)s->now.dim, (blasint)m, 1,
                block, (blasint)m, s->work.vectors, (blasint)m, 0, out, (blasint)s->now.dim);
}

/* The features of A (n × m) from B, GB and H in the workspace; H is overwritten. */
static kfe_status make_features(joint *s, const double *a, int64_t m)
{
    kfe_status status = KFE_OK;
    workspace *w = &s->work;

    KFE_TRY(kfe_i_symmetric_eigen_with(s->ctx, m, w->h, m, w->values, w->vectors, w->eigen));
    KFE_TRY(choose_dim(s, a, m));
    s->explained = 0;
    for (int64_t j = 0; j < s->now.dim; j++) {
        s->explained += w->values[j];
        cblas_dscal((blasint)m, 1 / sqrt(w->values[j]), w->vectors + j, (blasint)m);
    }
    combine(s, m, w->b, s->now.coefficients);
    combine(s, m, w->image, s->now.features);
cleanup:
    return status;
}

/* The best features for A (n × m). */
static kfe_status find_features(joint *s, const double *a, int64_t m)
{
    kfe_status status = KFE_OK;
    workspace *w = &s->work;

    KFE_TRY(s->method->find(s->method->user, a, m, w->b, w->image, w->h));
    KFE_TRY(make_features(s, a, m));
cleanup:
    return status;
}

/* ---- SVMs ---- */

static void keep_best(joint *s)
{
    size_t bytes = (size_t)(s->n * s->now.dim) * sizeof *s->now.features;

    s->best.objective = s->now.objective;
    s->best.dim = s->now.dim;
    memcpy(s->best.coefficients, s->now.coefficients, bytes);
    memcpy(s->best.features, s->now.features, bytes);
    memcpy(s->best.weights, s->svms.weights, (size_t)(s->n * s->svms.count) * sizeof *s->best.weights);
    memcpy(s->best.offset, s->svms.offset, (size_t)s->svms.count * sizeof *s->best.offset);
    if (s->method->keep)
        s->method->keep(s->method->user);
}

/* The SVMs on the current features; both are kept if their cost is the lowest so far. */
static kfe_status solve_svms(joint *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *gram = kfe_i_onevsrest_gram(&s->svms, s->now.dim, s->now.features);

    s->svms.newton = 1; /* the features are few */
    KFE_TRY(kfe_i_onevsrest_solve_until(&s->svms, gram, KFE_SVM_SHARE * s->settings->settled));
    s->now.objective = s->svms.objective + s->svms.gap;
    if (s->iterations == 0 || s->now.objective < s->best.objective)
        keep_best(s);
cleanup:
    return status;
}

static void record(joint *s, double upper, double lower)
{
    s->upper[s->iterations] = upper;
    s->lower[s->iterations] = lower;
    s->bound = s->iterations == 0 ? lower : fmax(s->bound, lower);
    s->iterations++;
}

static double relative_gap(const joint *s)
{
    return fmax(0, s->best.objective - s->bound) / fmax(fabs(s->best.objective), DBL_MIN);
}

/* ---- the closed form ---- */

/* The SVMs on K, and the features of their solution. */
static kfe_status solve_closed_form(joint *s, double *bound)
{
    kfe_status status = KFE_OK;
    kfe_i_joint_certificate certificate = {0};

    KFE_TRY(s->method->solve(s->method->user, &s->svms, KFE_CLOSED_FORM_SHARE * s->settings->settled,
                             &certificate));
    *bound = certificate.bound;
    s->closed_form_iterations = certificate.iterations;
    s->least_value = KFE_FEATURE_SHARE * s->svms.objective *
                     (s->settings->settled > 0 ? s->settings->settled : KFE_USUAL_GAP);
    memcpy(s->given, s->svms.weights, (size_t)(s->n * s->svms.count) * sizeof *s->given);
    KFE_TRY(find_features(s, s->given, s->svms.count));
cleanup:
    return status;
}

static int has_fewer_features(const joint *s)
{
    return s->settings->dim > 0 && s->settings->dim < s->svms.count;
}

/* ---- the alternation ---- */

/* L = Y(YᵀY)^(−1/2): the features of largest dependence on the labels. */
static kfe_status start_from_labels(joint *s, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t c = target->class_count;
    double *sizes = NULL;

    KFE_ALLOC(s->ctx, sizes, c);
    kfe_i_target_class_masses(target, sizes);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t g = 0; g < c; g++)
            s->given[i * c + g] =
                target->codes[i] == g ? sqrt(kfe_i_weight_of(target, i)) / sqrt(sizes[g]) : 0;
    KFE_TRY(find_features(s, s->given, c));
cleanup:
    kfe_i_free(s->ctx, sizes);
    return status;
}

/* The bounds have met, or the objective no longer changes. */
static int has_settled(const joint *s)
{
    int64_t last = s->iterations - 1;
    double allowed = s->settings->settled * fabs(s->upper[last]);

    return relative_gap(s) <= s->settings->settled ||
           (last > 0 && fabs(s->upper[last] - s->upper[last - 1]) <= allowed);
}

static void list_found(found *f, int64_t n, int64_t most, int64_t count, kfe_i_loop *loop)
{
    KFE_LOOP_VALUE(loop, f->dim);
    KFE_LOOP_VALUE(loop, f->objective);
    KFE_LOOP_ARRAY(loop, f->coefficients, n * most);
    KFE_LOOP_ARRAY(loop, f->features, n * most);
    KFE_LOOP_ARRAY(loop, f->weights, n * most);
    KFE_LOOP_ARRAY(loop, f->offset, count);
}

/* What the alternation needs to go on. A method with state of its own (`keep`) starts anew. */
static void list_state(joint *s, kfe_i_loop *loop)
{
    kfe_i_loop_begin(s->ctx, "alternation", 0, loop);
    if (s->method->keep)
        loop->number = -1;
    list_found(&s->now, s->n, s->most, s->svms.count, loop);
    list_found(&s->best, s->n, s->most, s->svms.count, loop);
    kfe_i_onevsrest_list_state(&s->svms, loop);
    KFE_LOOP_ARRAY(loop, s->upper, s->settings->max_iterations);
    KFE_LOOP_ARRAY(loop, s->lower, s->settings->max_iterations);
    KFE_LOOP_VALUE(loop, s->bound);
    KFE_LOOP_VALUE(loop, s->explained);
    KFE_LOOP_VALUE(loop, s->iterations);
}

static kfe_status alternate(joint *s)
{
    kfe_status status = KFE_OK;
    int64_t most = s->settings->max_iterations;
    int restored = 0;
    kfe_i_loop loop;

    list_state(s, &loop);
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    while (s->iterations < most) {
        KFE_TRY(kfe_i_progress(s->ctx, "alternation", s->iterations, most));
        KFE_TRY(solve_svms(s));
        KFE_TRY(find_features(s, s->svms.weights, s->svms.count));
        record(s, s->now.objective, s->svms.alpha_sum - 0.5 * s->explained);
        if (has_settled(s))
            break;
        KFE_TRY(kfe_i_loop_save(&loop));
    }
cleanup:
    return status;
}

/* ---- the solution ---- */

static void warn_of_gap(const joint *s)
{
    double gap = relative_gap(s);

    if (gap <= fmax(s->settings->settled, KFE_QUIET_GAP) ||
        (s->settings->step == KFE_STEP_PLAIN && s->settings->max_iterations == 1))
        return;
    if (has_fewer_features(s))
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: the objective is %.2g above its bound, relative to the objective; with fewer features "
                  "than SVMs the optimum is not guaranteed",
                  s->method->name, gap);
    else if (s->settings->step == KFE_STEP_PLAIN)
        kfe_i_log(
            s->ctx, KFE_LOG_WARNING,
            "%s: after %lld iterations the objective is %.2g above its bound, relative to the objective; "
            "{step=exact} finds the optimum",
            s->method->name, (long long)s->iterations, gap);
    else
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: the objective is %.2g above its bound, relative to the objective; use more "
                  "regularisation, or raise {settled} if that is accurate enough",
                  s->method->name, gap);
}

static kfe_status make_predictor(joint *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *signs = NULL;

    memcpy(s->svms.weights, s->best.weights, (size_t)(s->n * s->svms.count) * sizeof *s->best.weights);
    memcpy(s->svms.offset, s->best.offset, (size_t)s->svms.count * sizeof *s->best.offset);
    KFE_ALLOC(s->ctx, signs, s->best.dim);
    KFE_TRY(kfe_i_onevsrest_predictor(&s->svms, s->best.dim, s->best.features, &out->predictor));
    KFE_TRY(kfe_i_solution_take_signs(out, signs));
    for (int64_t j = 0; j < s->best.dim; j++)
        for (int64_t m = 0; m < out->predictor.outputs; m++)
            out->predictor.weights[j * out->predictor.outputs + m] *= signs[j];
cleanup:
    kfe_i_free(s->ctx, signs);
    return status;
}

static kfe_status add_records(const joint *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int is_exact = s->settings->step == KFE_STEP_EXACT;
    double iterations = (double)(is_exact ? s->closed_form_iterations : s->iterations);
    double gap = relative_gap(s);

    KFE_TRY(kfe_i_solution_record(out, "upper-bound", s->upper, s->iterations));
    KFE_TRY(kfe_i_solution_record(out, "lower-bound", s->lower, s->iterations));
    KFE_TRY(kfe_i_solution_record(out, "objective", &s->best.objective, 1));
    KFE_TRY(kfe_i_solution_record(out, "bound", &s->bound, 1));
    KFE_TRY(kfe_i_solution_record(out, "gap", &gap, 1));
    KFE_TRY(kfe_i_solution_record(out, "iterations", &iterations, 1));
    KFE_TRY(kfe_i_solution_record(out, "svm-c", &s->settings->c, 1));
cleanup:
    return status;
}

static kfe_status make_solution(joint *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t dim = s->best.dim;

    if (s->settings->dim > dim)
        kfe_i_clamp_dim(s->ctx, s->method->name, s->settings->dim, dim, "the SVMs need no more");
    KFE_TRY(kfe_i_solution_begin(s->ctx, KFE_SOLUTION_DUAL, s->n, dim, out));
    memcpy(out->coefficients, s->best.coefficients, (size_t)(s->n * dim) * sizeof *out->coefficients);
    KFE_TRY(make_predictor(s, out));
    KFE_TRY(add_records(s, out));
    warn_of_gap(s);
cleanup:
    return status;
}

/* The features of the closed form once more, with those that explain little. */
static kfe_status take_small_features(joint *s)
{
    kfe_status status = KFE_OK;

    s->least_value = 0;
    KFE_TRY(find_features(s, s->given, s->svms.count));
    KFE_TRY(solve_svms(s));
    s->upper[0] = s->best.objective;
cleanup:
    return status;
}

static kfe_status search(joint *s, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    double bound = 0;

    if (s->settings->step == KFE_STEP_PLAIN) {
        KFE_TRY(start_from_labels(s, target));
        return alternate(s);
    }
    KFE_TRY(solve_closed_form(s, &bound));
    if (has_fewer_features(s)) /* they explain less, which raises the bound */
        bound = fmax(bound, s->svms.alpha_sum - 0.5 * s->explained);
    KFE_TRY(solve_svms(s));
    record(s, s->now.objective, bound);
    if (relative_gap(s) > s->settings->settled && !has_fewer_features(s) && s->now.dim < s->svms.count)
        KFE_TRY(take_small_features(s));
cleanup:
    return status;
}

kfe_status kfe_i_joint_fit(kfe_context *ctx, const kfe_i_joint_method *method, const kfe_i_target *target,
                           const kfe_i_joint_settings *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    joint s = {
        .ctx = ctx, .method = method, .settings = settings, .n = target->rows, .most = target->class_count};

    KFE_TRY(joint_open(&s, target));
    KFE_TRY(search(&s, target));
    KFE_TRY(make_solution(&s, out));
cleanup:
    joint_free(&s);
    return status;
}
