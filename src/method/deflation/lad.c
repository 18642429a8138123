/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least absolute deviations, the refit of blf, kblf and skblf with the loss lad.
 *
 * Neither the minimiser of Σ|y_i − f_i| nor its subgradient w need be unique: with an even number of examples the median is an
 * interval, and w_i may be anything in [−1, 1] where more residuals vanish than there are coefficients. Both are made unique by
 * a rule, not by the path of the search: the loss is rounded off to r²/2δ + δ/2 where |r| < δ (Huber), and ρ/2·‖c‖² is added, so
 * that among all minimisers the one nearest to the mean of the target is taken (classes: to zero), and of all subgradients the
 * shortest. The problem is then strictly convex. δ falls by steps of ten to 10⁻⁷ of the target's spread, and ρ is 10⁻⁷ over it.
 *
 * Each stage is Newton's method with an exact line search: along a line the derivative is piecewise linear and rises, so that a
 * safeguarded Newton iteration finds its zero. Madsen & Nielsen (1993), "A finite smoothing algorithm for linear l1
 * estimation". Time: O(nk²) per step, some five steps for each of eight values of δ.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>

#include "method/deflation/latent.h"

enum { STAGES = 8, MOST_STEPS = 100, MOST_LINE_STEPS = 200 };
#define KFE_LAD_RIDGE 1e-7
/* Promised decreases below this share of the target's total deviation end a stage. */
#define KFE_LAD_GAIN 1e-22
/* A derivative below this share of that at the start of a line search counts as zero. */
#define KFE_LINE_ZERO 1e-13

/* One target on a line f + t·along. */
typedef struct line {
    int64_t n;
    const double *y, *f, *along;
    const double *roots; /* of the weights; NULL: ones */
    double width;
    double ridge_slope, ridge_curvature; /* of ρ/2·‖c + t·step‖² */
} line;

/* The derivative at t, and its own derivative. */
static double derivative(const line *l, double t, double *curvature)
{
    double slope = l->ridge_slope + t * l->ridge_curvature;

    *curvature = l->ridge_curvature;
    for (int64_t i = 0; i < l->n; i++) {
        double r = l->y[i] - l->f[i] - t * l->along[i];
        double along = l->roots ? l->roots[i] * l->roots[i] * l->along[i] : l->along[i];
        if (fabs(r) < l->width) {
            slope -= along * r / l->width;
            *curvature += along * l->along[i] / l->width;
        } else {
            slope -= r > 0 ? along : -along;
        }
    }
    return slope;
}

/* t > 0 where the derivative vanishes; 0 if it does not fall from t = 0 on. */
static double line_minimum(const line *l)
{
    double curvature = 0;
    double start = derivative(l, 0, &curvature);
    double low = 0;
    double high = INFINITY;
    double t = 1;

    if (!(start < 0))
        return 0;
    for (int step = 0; step < MOST_LINE_STEPS; step++) {
        double slope = derivative(l, t, &curvature);
        if (fabs(slope) <= KFE_LINE_ZERO * -start)
            break;
        if (slope < 0)
            low = t;
        else
            high = t;
        double next = curvature > 0 ? t - slope / curvature : INFINITY;
        if (high == INFINITY)
            next = fmin(next, 10 * t);
        if (!(next > low && next < high)) /* steps may be as short as δ: bisect the exponent */
            next = low > 0 ? sqrt(low) * sqrt(high) : high / 1e4;
        if (next == t || !(next > 0))
            break;
        t = next;
    }
    return t;
}

/* One Newton step of target j; *taken: the share of the step, 0 at the minimum. */
static kfe_status improve(kfe_i_latent *latent, const kfe_i_deflation *d, int64_t j, double width,
                          double *gain, double *taken)
{
    kfe_status status = KFE_OK;
    int64_t used = d->count + 1;
    int64_t n = latent->examples;
    double *c = latent->coefficients + j * latent->size;
    double *f = latent->f + j * n;
    const double *step = latent->work.step;
    kfe_i_latent_ridge ridge = {KFE_LAD_RIDGE / latent->widths[j], (double)used * DBL_EPSILON};

    *taken = 0;
    KFE_TRY(kfe_i_latent_newton_step(latent, d, j, width, &ridge, gain));
    if (*gain <= KFE_LAD_GAIN * d->mass * latent->widths[j])
        goto cleanup;
    kfe_i_latent_predict(d, step, latent->work.trial);
    line l = {.n = n,
              .y = latent->y + j * n,
              .f = f,
              .along = latent->work.trial,
              .roots = d->roots,
              .width = width,
              .ridge_slope = ridge.ridge * cblas_ddot((blasint)used, c, 1, step, 1),
              .ridge_curvature = ridge.ridge * cblas_ddot((blasint)used, step, 1, step, 1)};
    *taken = line_minimum(&l);
    cblas_daxpy((blasint)used, *taken, step, 1, c, 1);
    kfe_i_latent_predict(d, c, f);
cleanup:
    return status;
}

/* Newton steps until nothing more is promised, or whole steps no longer lower the promise: rounding. */
static kfe_status minimise_rounded(kfe_i_latent *latent, const kfe_i_deflation *d, int64_t j, double width)
{
    kfe_status status = KFE_OK;
    double last_gain = INFINITY;
    double gain = 0;
    double taken = 1;

    for (int step = 0; step < MOST_STEPS && taken > 0; step++) {
        double last_taken = taken;
        KFE_TRY(improve(latent, d, j, width, &gain, &taken));
        if (step > 0 && fabs(last_taken - 1) < 1e-6 && gain > last_gain / 4)
            break;
        last_gain = gain;
    }
cleanup:
    return status;
}

kfe_status kfe_i_lad_minimise(kfe_i_latent *latent, const kfe_i_deflation *d, int64_t j, double *width)
{
    kfe_status status = KFE_OK;

    *width = latent->widths[j];
    for (int stage = 0; stage < STAGES; stage++) {
        *width = stage > 0 ? *width / 10 : *width;
        KFE_TRY(minimise_rounded(latent, d, j, *width));
    }
cleanup:
    return status;
}
