/* SPDX-License-Identifier: Apache-2.0 */
#include "method/subspace/subspace_search.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/basis.h"
#include "method/line_search.h"

enum { REFRESH_EVERY = 32 };
/* c₂ of the line search: steps this near to the best one hardly depend on rounding. */
#define KFE_CURVATURE 0.01
#define KFE_FIRST_ANGLE 0.05
#define KFE_HALF_TURN 3.14159265358979323846
/* A squared length of this share of the largest, and negative, is no rounding error. */
#define KFE_NEGATIVE 1e-6
/* A slope, per radian and to 1 + |value|, that rounding makes of none. */
#define KFE_NO_SLOPE 1e-13

typedef struct search_state {
    kfe_context *ctx;
    kfe_i_subspace *subspace;
    const kfe_i_criterion *criterion;
    const kfe_i_search_options *options;
    int64_t n, d, size; /* size = n·d */
    double value;
    /* n × d each. Plain: w and x as they are, and features xt = x·T */
    double *w, *x, *wt;
    double *d_w, *d_x;     /* D and KD */
    double *xt, *yt;       /* at a trial: features, and what makes the slope ⟨∂, yt⟩ */
    double *e;             /* gradient with respect to features */
    double *h, *g, *image; /* H; the gradient in the metric of the search and its image under K */
    double *old;           /* the gradient before */
    /* d × d each */
    double *q, *cross, *square, *whole; /* spectral basis of DᵀKD; DᵀX, DᵀKD, WᵀKW */
    double *a, *b, *s1, *s2, *root;
    double *gamma, *diagonal; /* d */
    kfe_i_eigen_work *eigen;
    double *block, *small;
    double gradient, metric, old_metric; /* length in feature space; squared lengths in the metric */
    double last_step, last_slope;
    double noise;    /* that rounding may make of gradient² */
    double steepest; /* the largest `gradient` so far */
    double rounding; /* of eigenvalues of the operator that are zero */
    double most;     /* squared length of coefficients that the basis may have */
} search_state;

static double inner(const search_state *s, const double *a, const double *b)
{
    return cblas_ddot((blasint)s->size, a, 1, b, 1);
}

static double squared_norm(const search_state *s, const double *a)
{
    return inner(s, a, a);
}

/* ---- memory ---- */

static kfe_status begin(search_state *s)
{
    kfe_status status = KFE_OK;
    double **tall[] = {&s->wt, &s->d_w, &s->d_x, &s->xt, &s->yt, &s->e, &s->h, &s->g, &s->image, &s->old};
    double **square[] = {&s->q, &s->cross, &s->square, &s->whole, &s->a, &s->b, &s->s1, &s->s2, &s->root};
    int64_t tall_count = (int64_t)(sizeof tall / sizeof *tall);
    int64_t square_count = (int64_t)(sizeof square / sizeof *square);

    s->ctx = s->subspace->ctx;
    s->n = s->subspace->rows;
    s->d = s->subspace->dim;
    s->size = s->n * s->d;
    s->w = s->subspace->basis;
    s->x = s->subspace->features;
    KFE_ALLOC_ZERO(s->ctx, s->block, tall_count * s->size);
    KFE_ALLOC_ZERO(s->ctx, s->small, square_count * s->d * s->d + 2 * s->d);
    for (int64_t i = 0; i < tall_count; i++)
        *tall[i] = s->block + i * s->size;
    for (int64_t i = 0; i < square_count; i++)
        *square[i] = s->small + i * s->d * s->d;
    s->gamma = s->small + square_count * s->d * s->d;
    s->diagonal = s->gamma + s->d;
    KFE_TRY(kfe_i_eigen_work_new(s->ctx, s->d, &s->eigen));
    KFE_TRY(kfe_i_gram_rounding(s->subspace->gram, &s->rounding));
    s->most = fmax(KFE_UNSURE / s->rounding, 4 * squared_norm(s, s->w));
cleanup:
    return status;
}

static void end(search_state *s)
{
    kfe_i_eigen_work_free(s->eigen);
    kfe_i_free(s->ctx, s->block);
    kfe_i_free(s->ctx, s->small);
}

/* out = u·m1 + v·m2 */
static void blend(const search_state *s, const double *u, const double *m1, const double *v, const double *m2,
                  double *out)
{
    kfe_i_combine(s->n, s->d, s->d, 1, u, s->d, m1, s->d, 0, out, s->d);
    kfe_i_combine(s->n, s->d, s->d, 1, v, s->d, m2, s->d, 1, out, s->d);
}

static kfe_status not_definite(search_state *s)
{
    return kfe_i_fail(
        s->ctx, KFE_ENUMERIC,
        "the kernel is not positive definite on this data; change its parameters or take another");
}

/* ---- geodesics ---- */

static kfe_status prepare_geodesic(search_state *s)
{
    kfe_status status = KFE_OK;

    kfe_i_inner_products(s->n, s->d, s->d_w, s->d, s->d, s->d_x, s->d, s->square);
    for (int64_t i = 0; i < s->d; i++)
        for (int64_t j = 0; j < s->d; j++)
            s->a[i * s->d + j] = (s->square[i * s->d + j] + s->square[j * s->d + i]) / 2;
    KFE_TRY(kfe_i_symmetric_eigen_with(s->ctx, s->d, s->a, s->d, s->gamma, s->q, s->eigen));
    double unsure = fmax(KFE_NEGATIVE * fabs(s->gamma[0]), s->rounding * squared_norm(s, s->d_w));
    if (s->gamma[s->d - 1] < -unsure)
        return not_definite(s);
    for (int64_t j = 0; j < s->d; j++)
        s->gamma[j] = sqrt(fmax(s->gamma[j], 0));
cleanup:
    return status;
}

static double sine_over(double sigma, double t)
{
    return sigma * t > 1e-8 ? sin(sigma * t) / sigma : t;
}

/* a = Q cos(Σt) Qᵀ, s1 = QΣ⁻¹ sin(Σt) Qᵀ, s2 = −QΣ sin(Σt) Qᵀ. */
static void geodesic_at(search_state *s, double t)
{
    for (int64_t j = 0; j < s->d; j++)
        s->diagonal[j] = cos(s->gamma[j] * t);
    kfe_i_from_spectrum(s->d, s->q, s->diagonal, s->b, s->a);
    for (int64_t j = 0; j < s->d; j++)
        s->diagonal[j] = sine_over(s->gamma[j], t);
    kfe_i_from_spectrum(s->d, s->q, s->diagonal, s->b, s->s1);
    for (int64_t j = 0; j < s->d; j++)
        s->diagonal[j] = -s->gamma[j] * sin(s->gamma[j] * t);
    kfe_i_from_spectrum(s->d, s->q, s->diagonal, s->b, s->s2);
}

static kfe_status geodesic_trial(search_state *s, double t)
{
    geodesic_at(s, t);
    blend(s, s->x, s->a, s->d_x, s->s1, s->xt);
    blend(s, s->x, s->s2, s->d_x, s->a, s->yt);
    return KFE_OK;
}

/* 0, and nothing is changed, if the new basis is lost in rounding; so below. */
static int geodesic_accept(search_state *s)
{
    size_t bytes = (size_t)s->size * sizeof *s->w;

    blend(s, s->w, s->a, s->d_w, s->s1, s->wt);
    if (!(squared_norm(s, s->wt) <= s->most))
        return 0;
    /* wt is the new basis; h is free until the next gradient */
    blend(s, s->w, s->s2, s->d_w, s->a, s->h);
    memcpy(s->w, s->wt, bytes);
    memcpy(s->d_w, s->h, bytes);
    memcpy(s->x, s->xt, bytes);
    memcpy(s->d_x, s->yt, bytes);
    return 1;
}

/* ---- straight lines ---- */

static void prepare_straight(search_state *s)
{
    kfe_i_inner_products(s->n, s->d, s->d_w, s->d, s->d, s->x, s->d, s->cross);
    kfe_i_inner_products(s->n, s->d, s->d_w, s->d, s->d, s->d_x, s->d, s->square);
    kfe_i_inner_products(s->n, s->d, s->w, s->d, s->d, s->x, s->d, s->whole);
}

/* root = T = ((W + tD)ᵀK(W + tD))^(−1/2) */
static kfe_status straight_root(search_state *s, double t)
{
    int64_t d = s->d;

    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            s->a[i * d + j] = (s->whole[i * d + j] + s->whole[j * d + i]) / 2 +
                              t * (s->cross[i * d + j] + s->cross[j * d + i]) +
                              t * t * (s->square[i * d + j] + s->square[j * d + i]) / 2;
    return kfe_i_inverse_root(s->ctx, d, s->a, s->diagonal, s->q, s->root, s->eigen);
}

/* xt = (X + tKD)T, yt = KD·T − xt·FᵀT with F = Dᵀ(X + tKD)T. */
static kfe_status straight_trial(search_state *s, double t)
{
    kfe_status status = KFE_OK;
    int64_t d = s->d;
    blasint order = (blasint)d;

    KFE_TRY(straight_root(s, t));
    for (int64_t i = 0; i < d * d; i++) {
        s->s1[i] = t * s->root[i];
        s->a[i] = s->cross[i] + t * s->square[i];
    }
    blend(s, s->x, s->root, s->d_x, s->s1, s->xt);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, order, order, order, 1, s->a, order, s->root,
                order, 0, s->b, order);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, order, order, order, -1, s->b, order, s->root, order,
                0, s->s2, order);
    blend(s, s->d_x, s->root, s->xt, s->s2, s->yt);
cleanup:
    return status;
}

static int straight_accept(search_state *s, double t)
{
    blend(s, s->w, s->root, s->d_w, s->s1, s->wt);
    if (!(squared_norm(s, s->wt) <= s->most))
        return 0;
    cblas_daxpy((blasint)s->size, t, s->d_w, 1, s->w, 1);
    cblas_daxpy((blasint)s->size, t, s->d_x, 1, s->x, 1);
    return 1;
}

/* ---- gradients ---- */

/* From e, the gradient at the features xt: H, its length in feature space, g and its image. */
static kfe_status take_gradient(search_state *s)
{
    kfe_status status = KFE_OK;
    size_t bytes = (size_t)s->size * sizeof *s->w;
    const double *w = s->w;

    memcpy(s->old, s->g, bytes);
    s->old_metric = s->metric;
    if (s->options->plain) {
        kfe_i_combine(s->n, s->d, s->d, 1, s->w, s->d, s->root, s->d, 0, s->wt, s->d);
        w = s->wt;
    }
    kfe_i_subspace_gradient(s->n, s->d, w, s->xt, s->e, s->h, s->a);
    KFE_TRY(kfe_i_gram_times(s->subspace->gram, s->h, s->d, s->image));
    double squared = inner(s, s->h, s->image);
    double h_squared = squared_norm(s, s->h);
    double unsure = KFE_NEGATIVE * sqrt(h_squared * squared_norm(s, s->image));
    s->noise = s->rounding * h_squared;
    if (squared < -fmax(unsure, s->noise))
        return not_definite(s);
    s->gradient = sqrt(fmax(squared, 0));
    s->metric = squared;
    memcpy(s->g, s->h, bytes);
    if (s->options->plain) {
        kfe_i_combine(s->n, s->d, s->d, 1, s->image, s->d, s->root, s->d, 0, s->g, s->d);
        s->metric = inner(s, s->g, s->g);
        KFE_TRY(kfe_i_gram_times(s->subspace->gram, s->g, s->d, s->image));
    }
cleanup:
    return status;
}

/* What ⟨g, ·⟩ in the metric of the search is the plain product with. */
static const double *dual(const search_state *s)
{
    return s->options->plain ? s->g : s->image;
}

/* D ← g + βD; 0 for β, which is steepest ascent, where that does not lead up. Returns the slope. */
static double choose_direction(search_state *s, int steepest)
{
    double beta = 0;
    blasint size = (blasint)s->size;

    if (!steepest && s->old_metric > 0)
        beta = fmax(0, (s->metric - inner(s, dual(s), s->old)) / s->old_metric);
    if (beta > 0 && !(s->metric + beta * inner(s, dual(s), s->d_w) > 0.01 * s->metric))
        beta = 0;
    cblas_dscal(size, beta, s->d_w, 1);
    cblas_dscal(size, beta, s->d_x, 1);
    cblas_daxpy(size, 1, s->g, 1, s->d_w, 1);
    cblas_daxpy(size, 1, s->image, 1, s->d_x, 1);
    if (!s->options->plain) {
        /* what was carried along leaves the directions across the subspace, by rounding */
        kfe_i_inner_products(s->n, s->d, s->x, s->d, s->d, s->d_w, s->d, s->cross);
        kfe_i_combine(s->n, s->d, s->d, -1, s->w, s->d, s->cross, s->d, 1, s->d_w, s->d);
        kfe_i_combine(s->n, s->d, s->d, -1, s->x, s->d, s->cross, s->d, 1, s->d_x, s->d);
    }
    return inner(s, dual(s), s->d_w);
}

/* ---- rounds ---- */

/* −(criterion) at step t and its slope: the line search minimises. */
static kfe_status value_at(void *state, double t, double *value, double *slope)
{
    kfe_status status = KFE_OK;
    search_state *s = state;

    KFE_TRY(s->options->plain ? straight_trial(s, t) : geodesic_trial(s, t));
    KFE_TRY(s->criterion->evaluate(s->criterion->state, s->xt, s->d, value, s->e));
    *slope = inner(s, s->e, s->yt);
    if (!isfinite(*value) || !isfinite(*slope))
        return kfe_i_fail(s->ctx, KFE_ENUMERIC,
                          "the criterion is not a number; the data may hold extreme "
                          "values: try --scale");
    *value = -*value;
    *slope = -*slope;
cleanup:
    return status;
}

/* The step that made as much of the last slope would be a good one; at first, a small angle. */
static void choose_steps(search_state *s, kfe_i_line *line)
{
    double angle = s->gamma[0];

    if (s->options->plain) {
        blasint size = (blasint)s->size;
        angle = cblas_dnrm2(size, s->d_w, 1) / cblas_dnrm2(size, s->w, 1);
        line->longest = 1e6 / angle;
    } else {
        line->longest = KFE_HALF_TURN / 2 / angle;
    }
    line->first = KFE_FIRST_ANGLE / angle;
    if (s->last_step > 0 && s->last_slope > 0)
        line->first = fmin(s->last_step * s->last_slope / -line->slope, 4 / angle);
}

/* One step uphill; *moved is 0 where rounding allows none, and the direction is then spent. */
static kfe_status climb(search_state *s, int steepest, int *moved)
{
    kfe_status status = KFE_OK;
    kfe_i_step step = {0};
    kfe_i_line line = {.value = -s->value, .curvature = KFE_CURVATURE, .at = value_at, .state = s};

    line.slope = -choose_direction(s, steepest);
    *moved = 0;
    if (!(line.slope < 0))
        return KFE_OK;
    if (s->options->plain)
        prepare_straight(s);
    else
        KFE_TRY(prepare_geodesic(s));
    if (!s->options->plain && !(s->gamma[0] > 0))
        return KFE_OK;
    choose_steps(s, &line);
    KFE_TRY(kfe_i_line_search(&line, &step));
    if (!(step.step > 0))
        return KFE_OK;
    *moved = s->options->plain ? straight_accept(s, step.step) : geodesic_accept(s);
    if (!*moved)
        return KFE_OK;
    s->value = -step.value;
    s->last_step = step.step;
    s->last_slope = -line.slope;
    KFE_TRY(take_gradient(s));
cleanup:
    return status;
}

/* Value and gradient where the subspace is. */
static kfe_status look(search_state *s)
{
    kfe_status status = KFE_OK;

    memset(s->d_w, 0, (size_t)s->size * sizeof *s->d_w);
    memset(s->d_x, 0, (size_t)s->size * sizeof *s->d_x);
    if (s->options->plain) {
        prepare_straight(s);
        KFE_TRY(straight_root(s, 0));
        kfe_i_combine(s->n, s->d, s->d, 1, s->x, s->d, s->root, s->d, 0, s->xt, s->d);
    } else {
        memcpy(s->xt, s->x, (size_t)s->size * sizeof *s->x);
    }
    KFE_TRY(s->criterion->evaluate(s->criterion->state, s->xt, s->d, &s->value, s->e));
    KFE_TRY(take_gradient(s));
cleanup:
    return status;
}

/* a (n × d) ← a·m */
static void turn(const search_state *s, double *a, const double *m)
{
    kfe_i_combine(s->n, s->d, s->d, 1, a, s->d, m, s->d, 0, s->wt, s->d);
    memcpy(a, s->wt, (size_t)s->size * sizeof *a);
}

/* Images that were moved along, and a basis that should be orthonormal, add up rounding. Now and then images
 * are measured, the basis made orthonormal, and the search begins anew from there. */
static kfe_status remeasure(search_state *s, int64_t round)
{
    kfe_status status = KFE_OK;

    if (round % REFRESH_EVERY != 0)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_times(s->subspace->gram, s->w, s->d, s->x));
    if (!s->options->plain) {
        prepare_straight(s);
        KFE_TRY(straight_root(s, 0));
        turn(s, s->w, s->root);
        turn(s, s->x, s->root);
    }
    KFE_TRY(look(s));
cleanup:
    return status;
}

/* Against the steepest slope and not a fixed one: where the examples are nearly alike to the kernel, the
 * first slope may be 1e-8, and ten rounds later it is 1. */
static int is_done(search_state *s)
{
    s->steepest = fmax(s->steepest, s->gradient);
    return s->gradient <= s->options->tolerance * s->steepest ||
           s->gradient <= KFE_NO_SLOPE * (1 + fabs(s->value)) || s->gradient * s->gradient <= s->noise;
}

static kfe_status run(search_state *s, double *trace, kfe_i_search_result *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(look(s));
    trace[0] = s->value;
    while (!(out->converged = is_done(s)) && out->rounds < s->options->max_rounds) {
        int moved = 0;
        KFE_TRY(kfe_i_checkpoint(s->ctx, "searching the subspace", out->rounds, s->options->max_rounds));
        KFE_TRY(climb(s, out->rounds == 0, &moved));
        if (!moved)
            KFE_TRY(climb(s, 1, &moved));
        if (!moved) {
            out->converged = 1;
            break;
        }
        trace[++out->rounds] = s->value;
        KFE_TRY(remeasure(s, out->rounds));
    }
    out->value = s->value;
    out->gradient = s->gradient;
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
