/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conjugate-gradient search of subspace_search.h, called by skfe.c for a fit and by stopping.c on part of
 * the examples. From the top: workspace, the two kinds of lines (geodesics and straight lines), the gradient,
 * one iteration, the loop.
 */
#include "method/subspace/subspace_search.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/resume.h"
#include "linalg/basis.h"
#include "method/shared/line_search.h"

/* Iterations between two refreshes of the images KW, which accumulate rounding errors. */
enum { REFRESH_EVERY = 32 };
/* c₂ of the line search: steps this near to the best one hardly depend on rounding. */
#define KFE_CURVATURE 0.01
#define KFE_FIRST_ANGLE 0.05 /* radians: the first step of the first iteration */
#define KFE_HALF_TURN 3.14159265358979323846
/* A squared length below −KFE_NEGATIVE times the largest one is negative, and not a rounding error. */
#define KFE_NEGATIVE 1e-6
/* A slope per radian, relative to 1 + |value|, that may be rounding alone. */
#define KFE_NO_SLOPE 1e-13

/* Where the search is. All blocks are n × d. */
typedef struct search_point {
    double *w, *x; /* W and KW; straight lines: not orthonormal, the features are x·T */
    double value;
} search_point;

typedef struct search_direction {
    double *w, *x;                /* D and KD */
    double last_step, last_slope; /* of the last line search */
} search_direction;

/* A step that the line search tries. */
typedef struct search_trial {
    double *x, *velocity; /* features, and their derivative by the step */
    double *e;            /* gradient of the criterion with respect to the features */
    double *w;            /* basis, made when the step is accepted */
} search_trial;

typedef struct search_gradient {
    double *h;               /* H of subspace.h */
    double *g, *image, *old; /* gradient in the inner product of the search, its image under K, the last g */
    double length;           /* of the gradient, in feature space */
    double square, old_square; /* squared lengths of g and of old in the inner product of the search */
    double noise;              /* what rounding may make of length² = 0 */
    double steepest;           /* the largest length so far */
} search_gradient;

/* Matrices of order d. */
typedef struct search_small {
    double *q, *angles;                 /* DᵀKD = Q diag(angles²) Qᵀ */
    double *cross, *square, *whole;     /* DᵀX, DᵀKD, WᵀKW */
    double *root;                       /* T = ((W + tD)ᵀK(W + tD))^(−1/2) */
    double *a, *b, *s1, *s2, *diagonal; /* scratch */
    kfe_i_eigen_work *eigen;
} search_small;

typedef struct search_state {
    kfe_context *ctx;
    kfe_i_subspace *subspace;
    const kfe_i_criterion *criterion;
    const kfe_i_search_options *options;
    int64_t n, d, size; /* size = n·d */
    search_point point;
    search_direction direction;
    search_trial trial;
    search_gradient gradient;
    search_small small;
    double *tall_block, *square_block; /* the memory of all these */
    double rounding;                   /* what rounding makes of a zero eigenvalue of the operator */
    double most;                       /* largest squared norm of coefficients that the basis may have */
} search_state;

static double inner(const search_state *s, const double *a, const double *b)
{
    return cblas_ddot((blasint)s->size, a, 1, b, 1);
}

static double squared_norm(const search_state *s, const double *a)
{
    return inner(s, a, a);
}

/* out (d × d) = aᵀb */
static void inner_products(const search_state *s, const double *a, const double *b, double *out)
{
    kfe_i_inner_products(s->n, kfe_i_packed(a, s->d), kfe_i_packed(b, s->d), out);
}

/* out (n × d) = beta·out + alpha·a·m, where m is d × d. */
static void combine(const search_state *s, double alpha, const double *a, const double *m, double beta,
                    double *out)
{
    kfe_i_combine(s->n, alpha, kfe_i_packed(a, s->d), kfe_i_packed(m, s->d), beta, out);
}

/* ---- workspace ---- */

static kfe_status begin(search_state *s)
{
    kfe_status status = KFE_OK;
    double **tall[] = {&s->trial.w, &s->direction.w, &s->direction.x, &s->trial.x,        &s->trial.velocity,
                       &s->trial.e, &s->gradient.h,  &s->gradient.g,  &s->gradient.image, &s->gradient.old};
    double **square[] = {&s->small.q, &s->small.cross, &s->small.square, &s->small.whole, &s->small.a,
                         &s->small.b, &s->small.s1,    &s->small.s2,     &s->small.root};
    int64_t tall_count = (int64_t)(sizeof tall / sizeof *tall);
    int64_t square_count = (int64_t)(sizeof square / sizeof *square);

    s->ctx = s->subspace->ctx;
    s->n = s->subspace->rows;
    s->d = s->subspace->dim;
    s->size = s->n * s->d;
    s->point.w = s->subspace->basis;
    s->point.x = s->subspace->features;
    KFE_ALLOC_ZERO(s->ctx, s->tall_block, tall_count * s->size);
    KFE_ALLOC_ZERO(s->ctx, s->square_block, square_count * s->d * s->d + 2 * s->d);
    for (int64_t i = 0; i < tall_count; i++)
        *tall[i] = s->tall_block + i * s->size;
    for (int64_t i = 0; i < square_count; i++)
        *square[i] = s->square_block + i * s->d * s->d;
    s->small.angles = s->square_block + square_count * s->d * s->d;
    s->small.diagonal = s->small.angles + s->d;
    KFE_TRY(kfe_i_eigen_work_new(s->ctx, s->d, &s->small.eigen));
    KFE_TRY(kfe_i_gram_rounding(s->subspace->gram, &s->rounding));
    s->most = fmax(KFE_UNSURE / s->rounding, 4 * squared_norm(s, s->point.w));
cleanup:
    return status;
}

static void end(search_state *s)
{
    kfe_i_eigen_work_free(s->small.eigen);
    kfe_i_free(s->ctx, s->tall_block);
    kfe_i_free(s->ctx, s->square_block);
}

/* out = u·m1 + v·m2 */
static void blend(const search_state *s, const double *u, const double *m1, const double *v, const double *m2,
                  double *out)
{
    combine(s, 1, u, m1, 0, out);
    combine(s, 1, v, m2, 1, out);
}

/* ---- geodesics ---- */

static kfe_status prepare_geodesic(search_state *s)
{
    kfe_status status = KFE_OK;

    inner_products(s, s->direction.w, s->direction.x, s->small.square);
    for (int64_t i = 0; i < s->d; i++)
        for (int64_t j = 0; j < s->d; j++)
            s->small.a[i * s->d + j] = (s->small.square[i * s->d + j] + s->small.square[j * s->d + i]) / 2;
    KFE_TRY(kfe_i_symmetric_eigen_with(s->ctx, s->d, s->small.a, s->d, s->small.angles, s->small.q,
                                       s->small.eigen));
    double unsure =
        fmax(KFE_NEGATIVE * fabs(s->small.angles[0]), s->rounding * squared_norm(s, s->direction.w));
    if (s->small.angles[s->d - 1] < -unsure)
        return kfe_i_negative_length(s->ctx);
    for (int64_t j = 0; j < s->d; j++)
        s->small.angles[j] = sqrt(fmax(s->small.angles[j], 0));
cleanup:
    return status;
}

static double sine_over(double sigma, double t)
{
    return sigma * t > 1e-8 ? sin(sigma * t) / sigma : t;
}

/*
 * With Σ = diag(angles):
 *     a  = Q cos(Σt) Qᵀ
 *     s1 = QΣ⁻¹ sin(Σt) Qᵀ
 *     s2 = −QΣ sin(Σt) Qᵀ
 */
static void geodesic_at(search_state *s, double t)
{
    for (int64_t j = 0; j < s->d; j++)
        s->small.diagonal[j] = cos(s->small.angles[j] * t);
    kfe_i_from_spectrum(s->d, s->small.q, s->small.diagonal, s->small.b, s->small.a);
    for (int64_t j = 0; j < s->d; j++)
        s->small.diagonal[j] = sine_over(s->small.angles[j], t);
    kfe_i_from_spectrum(s->d, s->small.q, s->small.diagonal, s->small.b, s->small.s1);
    for (int64_t j = 0; j < s->d; j++)
        s->small.diagonal[j] = -s->small.angles[j] * sin(s->small.angles[j] * t);
    kfe_i_from_spectrum(s->d, s->small.q, s->small.diagonal, s->small.b, s->small.s2);
}

static kfe_status geodesic_trial(search_state *s, double t)
{
    geodesic_at(s, t);
    blend(s, s->point.x, s->small.a, s->direction.x, s->small.s1, s->trial.x);
    blend(s, s->point.x, s->small.s2, s->direction.x, s->small.a, s->trial.velocity);
    return KFE_OK;
}

/* Moves to the last trial. Returns 0, and changes nothing, if rounding would dominate the new basis. */
static int geodesic_accept(search_state *s)
{
    size_t bytes = (size_t)s->size * sizeof *s->point.w;

    blend(s, s->point.w, s->small.a, s->direction.w, s->small.s1, s->trial.w);
    if (!(squared_norm(s, s->trial.w) <= s->most))
        return 0;
    /* trial.w is the new basis; gradient.h is free until the next gradient */
    blend(s, s->point.w, s->small.s2, s->direction.w, s->small.a, s->gradient.h);
    memcpy(s->point.w, s->trial.w, bytes);
    memcpy(s->direction.w, s->gradient.h, bytes);
    memcpy(s->point.x, s->trial.x, bytes);
    memcpy(s->direction.x, s->trial.velocity, bytes);
    return 1;
}

/* ---- straight lines ---- */

static void prepare_straight(search_state *s)
{
    inner_products(s, s->direction.w, s->point.x, s->small.cross);
    inner_products(s, s->direction.w, s->direction.x, s->small.square);
    inner_products(s, s->point.w, s->point.x, s->small.whole);
}

/* root = T = ((W + tD)ᵀK(W + tD))^(−1/2) */
static kfe_status straight_root(search_state *s, double t)
{
    int64_t d = s->d;

    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            s->small.a[i * d + j] = (s->small.whole[i * d + j] + s->small.whole[j * d + i]) / 2 +
                                    t * (s->small.cross[i * d + j] + s->small.cross[j * d + i]) +
                                    t * t * (s->small.square[i * d + j] + s->small.square[j * d + i]) / 2;
    return kfe_i_inverse_root(s->ctx, d, s->small.a, s->small.diagonal, s->small.q, s->small.root,
                              s->small.eigen);
}

/* Features (X + tKD)T, and their velocity KD·T − (X + tKD)T·FᵀT with F = Dᵀ(X + tKD)T. */
static kfe_status straight_trial(search_state *s, double t)
{
    kfe_status status = KFE_OK;
    int64_t d = s->d;
    blasint order = (blasint)d;

    KFE_TRY(straight_root(s, t));
    for (int64_t i = 0; i < d * d; i++) {
        s->small.s1[i] = t * s->small.root[i];
        s->small.a[i] = s->small.cross[i] + t * s->small.square[i];
    }
    blend(s, s->point.x, s->small.root, s->direction.x, s->small.s1, s->trial.x);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, order, order, order, 1, s->small.a, order,
                s->small.root, order, 0, s->small.b, order);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, order, order, order, -1, s->small.b, order,
                s->small.root, order, 0, s->small.s2, order);
    blend(s, s->direction.x, s->small.root, s->trial.x, s->small.s2, s->trial.velocity);
cleanup:
    return status;
}

/* As geodesic_accept; the basis stays W + tD, not orthonormal. */
static int straight_accept(search_state *s, double t)
{
    blend(s, s->point.w, s->small.root, s->direction.w, s->small.s1, s->trial.w);
    if (!(squared_norm(s, s->trial.w) <= s->most))
        return 0;
    cblas_daxpy((blasint)s->size, t, s->direction.w, 1, s->point.w, 1);
    cblas_daxpy((blasint)s->size, t, s->direction.x, 1, s->point.x, 1);
    return 1;
}

/* ---- gradients ---- */

/* From trial.e, the gradient at the features of the trial: H, its length in feature space, g and its image. */
static kfe_status take_gradient(search_state *s)
{
    kfe_status status = KFE_OK;
    size_t bytes = (size_t)s->size * sizeof *s->point.w;
    const double *w = s->point.w;

    memcpy(s->gradient.old, s->gradient.g, bytes);
    s->gradient.old_square = s->gradient.square;
    if (s->options->plain) {
        combine(s, 1, s->point.w, s->small.root, 0, s->trial.w);
        w = s->trial.w;
    }
    kfe_i_subspace_gradient(s->n, s->d, w, s->trial.x, s->trial.e, s->gradient.h, s->small.a);
    KFE_TRY(kfe_i_gram_times(s->subspace->gram, s->gradient.h, s->d, s->gradient.image));
    double squared = inner(s, s->gradient.h, s->gradient.image);
    double h_squared = squared_norm(s, s->gradient.h);
    double unsure = KFE_NEGATIVE * sqrt(h_squared * squared_norm(s, s->gradient.image));
    s->gradient.noise = s->rounding * h_squared;
    if (squared < -fmax(unsure, s->gradient.noise))
        return kfe_i_negative_length(s->ctx);
    s->gradient.length = sqrt(fmax(squared, 0));
    s->gradient.square = squared;
    memcpy(s->gradient.g, s->gradient.h, bytes);
    if (s->options->plain) {
        combine(s, 1, s->gradient.image, s->small.root, 0, s->gradient.g);
        s->gradient.square = inner(s, s->gradient.g, s->gradient.g);
        KFE_TRY(kfe_i_gram_times(s->subspace->gram, s->gradient.g, s->d, s->gradient.image));
    }
cleanup:
    return status;
}

/* The block whose dot product with A is ⟨g, A⟩ in the inner product of the search. */
static const double *dual(const search_state *s)
{
    return s->options->plain ? s->gradient.g : s->gradient.image;
}

/* D ← g + βD, with β = 0 (steepest ascent) where that would not be an ascent direction. Returns the slope. */
static double choose_direction(search_state *s, int steepest)
{
    double beta = 0;
    blasint size = (blasint)s->size;

    if (!steepest && s->gradient.old_square > 0)
        beta = fmax(0, (s->gradient.square - inner(s, dual(s), s->gradient.old)) / s->gradient.old_square);
    if (beta > 0 &&
        !(s->gradient.square + beta * inner(s, dual(s), s->direction.w) > 0.01 * s->gradient.square))
        beta = 0;
    cblas_dscal(size, beta, s->direction.w, 1);
    cblas_dscal(size, beta, s->direction.x, 1);
    cblas_daxpy(size, 1, s->gradient.g, 1, s->direction.w, 1);
    cblas_daxpy(size, 1, s->gradient.image, 1, s->direction.x, 1);
    if (!s->options->plain) {
        /* a direction carried along the geodesic picks up a component inside the subspace, by rounding */
        inner_products(s, s->point.x, s->direction.w, s->small.cross);
        combine(s, -1, s->point.w, s->small.cross, 1, s->direction.w);
        combine(s, -1, s->point.x, s->small.cross, 1, s->direction.x);
    }
    return inner(s, dual(s), s->direction.w);
}

/* ---- one iteration ---- */

/* −(criterion) at step t and its slope: the line search minimises. */
static kfe_status value_at(void *state, double t, double *value, double *slope)
{
    kfe_status status = KFE_OK;
    search_state *s = state;

    KFE_TRY(s->options->plain ? straight_trial(s, t) : geodesic_trial(s, t));
    KFE_TRY(s->criterion->evaluate(s->criterion->state, s->trial.x, s->d, value, s->trial.e));
    *slope = inner(s, s->trial.e, s->trial.velocity);
    if (!isfinite(*value) || !isfinite(*slope))
        return kfe_i_fail(s->ctx, KFE_ENUMERIC,
                          "the criterion is not a number, perhaps because the data has extreme values; "
                          "try {scale=standard}");
    *value = -*value;
    *slope = -*slope;
cleanup:
    return status;
}

/* First trial: the step that would gain as much, to first order, as the last one; at the start a small angle. */
static void choose_steps(search_state *s, kfe_i_line *line)
{
    double angle = s->small.angles[0];

    if (s->options->plain) {
        blasint size = (blasint)s->size;
        angle = cblas_dnrm2(size, s->direction.w, 1) / cblas_dnrm2(size, s->point.w, 1);
        line->longest = 1e6 / angle;
    } else {
        line->longest = KFE_HALF_TURN / 2 / angle;
    }
    line->first = KFE_FIRST_ANGLE / angle;
    if (s->direction.last_step > 0 && s->direction.last_slope > 0)
        line->first = fmin(s->direction.last_step * s->direction.last_slope / -line->slope, 4 / angle);
}

/* One line search. *moved is 0 if rounding allows no step along this direction. */
static kfe_status take_step(search_state *s, int steepest, int *moved)
{
    kfe_status status = KFE_OK;
    kfe_i_step step = {0};
    kfe_i_line line = {.value = -s->point.value, .curvature = KFE_CURVATURE, .at = value_at, .state = s};

    line.slope = -choose_direction(s, steepest);
    *moved = 0;
    if (!(line.slope < 0))
        return KFE_OK;
    if (s->options->plain)
        prepare_straight(s);
    else
        KFE_TRY(prepare_geodesic(s));
    if (!s->options->plain && !(s->small.angles[0] > 0))
        return KFE_OK;
    choose_steps(s, &line);
    KFE_TRY(kfe_i_line_search(&line, &step));
    if (!(step.step > 0))
        return KFE_OK;
    *moved = s->options->plain ? straight_accept(s, step.step) : geodesic_accept(s);
    if (!*moved)
        return KFE_OK;
    s->point.value = -step.value;
    s->direction.last_step = step.step;
    s->direction.last_slope = -line.slope;
    KFE_TRY(take_gradient(s));
cleanup:
    return status;
}

/* Value and gradient at the current point; the direction starts anew. */
static kfe_status evaluate_here(search_state *s)
{
    kfe_status status = KFE_OK;

    memset(s->direction.w, 0, (size_t)s->size * sizeof *s->direction.w);
    memset(s->direction.x, 0, (size_t)s->size * sizeof *s->direction.x);
    if (s->options->plain) {
        prepare_straight(s);
        KFE_TRY(straight_root(s, 0));
        combine(s, 1, s->point.x, s->small.root, 0, s->trial.x);
    } else {
        memcpy(s->trial.x, s->point.x, (size_t)s->size * sizeof *s->point.x);
    }
    KFE_TRY(s->criterion->evaluate(s->criterion->state, s->trial.x, s->d, &s->point.value, s->trial.e));
    KFE_TRY(take_gradient(s));
cleanup:
    return status;
}

/* a (n × d) ← a·m */
static void multiply(const search_state *s, double *a, const double *m)
{
    combine(s, 1, a, m, 0, s->trial.w);
    memcpy(a, s->trial.w, (size_t)s->size * sizeof *a);
}

/* Every REFRESH_EVERY iterations: images KW from the operator, an orthonormal basis, and a fresh direction, since
 * all three accumulate rounding errors. */
static kfe_status refresh(search_state *s, int64_t iteration)
{
    kfe_status status = KFE_OK;

    if (iteration % REFRESH_EVERY != 0)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_times(s->subspace->gram, s->point.w, s->d, s->point.x));
    if (!s->options->plain) {
        prepare_straight(s);
        KFE_TRY(straight_root(s, 0));
        multiply(s, s->point.w, s->small.root);
        multiply(s, s->point.x, s->small.root);
    }
    KFE_TRY(evaluate_here(s));
cleanup:
    return status;
}

/* The tolerance is relative to the steepest slope met: where the kernel hardly tells the examples apart, the
 * first slope may be 1e-8, and 1 ten iterations later. */
static int is_stationary(search_state *s)
{
    s->gradient.steepest = fmax(s->gradient.steepest, s->gradient.length);
    return s->gradient.length <= s->options->tolerance * s->gradient.steepest ||
           s->gradient.length <= KFE_NO_SLOPE * (1 + fabs(s->point.value)) ||
           s->gradient.length * s->gradient.length <= s->gradient.noise;
}

static kfe_status observe(search_state *s, int64_t iteration)
{
    if (!s->options->observe)
        return KFE_OK;
    return s->options->observe(s->options->observer, iteration, s->options->plain ? s->trial.w : s->point.w);
}

/* What the search needs to go on. With an observer, which has state of its own, it starts anew. */
static void list_state(search_state *s, double *trace, kfe_i_search_result *out, kfe_i_loop *loop)
{
    kfe_i_loop_begin(s->ctx, "searching the subspace", 0, loop);
    if (s->options->observe)
        loop->number = -1;
    KFE_LOOP_VALUE(loop, out->iterations);
    KFE_LOOP_ARRAY(loop, trace, s->options->max_iterations + 1);
    KFE_LOOP_ARRAY(loop, s->point.w, s->size);
    KFE_LOOP_ARRAY(loop, s->point.x, s->size);
    KFE_LOOP_VALUE(loop, s->point.value);
    KFE_LOOP_ARRAY(loop, s->direction.w, s->size);
    KFE_LOOP_ARRAY(loop, s->direction.x, s->size);
    KFE_LOOP_VALUE(loop, s->direction.last_step);
    KFE_LOOP_VALUE(loop, s->direction.last_slope);
    KFE_LOOP_ARRAY(loop, s->gradient.h, s->size);
    KFE_LOOP_ARRAY(loop, s->gradient.g, s->size);
    KFE_LOOP_ARRAY(loop, s->gradient.image, s->size);
    KFE_LOOP_ARRAY(loop, s->gradient.old, s->size);
    KFE_LOOP_VALUE(loop, s->gradient.length);
    KFE_LOOP_VALUE(loop, s->gradient.square);
    KFE_LOOP_VALUE(loop, s->gradient.old_square);
    KFE_LOOP_VALUE(loop, s->gradient.noise);
    KFE_LOOP_VALUE(loop, s->gradient.steepest);
    KFE_LOOP_ARRAY(loop, s->trial.x, s->size);
    KFE_LOOP_ARRAY(loop, s->trial.e, s->size);
}

static kfe_status run(search_state *s, double *trace, kfe_i_search_result *out)
{
    kfe_status status = KFE_OK;
    int restored = 0;
    kfe_i_loop loop;

    KFE_TRY(evaluate_here(s));
    trace[0] = s->point.value;
    KFE_TRY(observe(s, 0));
    list_state(s, trace, out, &loop);
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    while (!(out->converged = is_stationary(s)) && out->iterations < s->options->max_iterations) {
        int moved = 0;
        KFE_TRY(
            kfe_i_progress(s->ctx, "searching the subspace", out->iterations, s->options->max_iterations));
        KFE_TRY(take_step(s, out->iterations == 0, &moved));
        if (!moved)
            KFE_TRY(take_step(s, 1, &moved));
        if (!moved) {
            out->converged = 1;
            break;
        }
        trace[++out->iterations] = s->point.value;
        KFE_TRY(refresh(s, out->iterations));
        KFE_TRY(observe(s, out->iterations));
        KFE_TRY(kfe_i_loop_save(&loop));
    }
    out->value = s->point.value;
    out->slope = s->gradient.length;
    out->steepest = s->gradient.steepest;
cleanup:
    return status;
}

kfe_status kfe_i_subspace_search(kfe_i_subspace *subspace, const kfe_i_criterion *criterion,
                                 const kfe_i_search_options *options, double *trace, kfe_i_search_result *out)
{
    kfe_status status = KFE_OK;
    search_state s = {.subspace = subspace, .criterion = criterion, .options = options};

    memset(out, 0, sizeof *out);
    KFE_TRY(begin(&s));
    KFE_TRY(run(&s, trace, out));
    KFE_TRY(kfe_i_subspace_refresh(subspace));
cleanup:
    end(&s);
    return status;
}
