/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step als, baseline by asymmetric least squares: from each row x its baseline z is subtracted, which minimises
 *
 *     Σ w_j (x_j − z_j)² + lambda Σ (z_j − 2z_{j+1} + z_{j+2})²,   w_j = asymmetry where x_j > z_j, else 1 − asymmetry.
 *
 * Weights and baseline take turns until the weights stay, or `iterations` times. The system of five diagonals is solved by LDLᵀ.
 * Eilers & Boelens (2005). Time O(d·iterations) per row.
 */
#include "data/steps/step.h"

typedef struct als_settings {
    double lambda, asymmetry;
    int64_t iterations;
} als_settings;

static const kfe_i_param rows[] = {
    KFE_REAL(als_settings, lambda, "lambda", "1e5", 1e-3, 1e12, "smoothness of the baseline"),
    KFE_REAL(als_settings, asymmetry, "asymmetry", "0.01", 1e-9, 0.5, "weight of values above the baseline"),
    KFE_INT(als_settings, iterations, "iterations", "10", 1, 1000, "maximum number of iterations"),
};

static kfe_status plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit)
{
    (void)names;
    if (fit->cols < 3)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "{prepare}: step als needs three columns or more, but there are %lld",
                          (long long)fit->cols);
    return KFE_OK;
}

/* Entry (j, j + away) of DᵀD, D taking second differences of n numbers. */
static double roughness(int64_t n, int64_t j, int away)
{
    double sum = 0;

    for (int64_t r = j - 2; r <= j; r++) { /* rows of D that touch j: 1, −2, 1 at r, r + 1, r + 2 */
        int64_t other = j + away - r;
        if (r >= 0 && r + 2 < n && other <= 2)
            sum += (j - r == 1 ? -2.0 : 1.0) * (other == 1 ? -2.0 : 1.0);
    }
    return sum;
}

/* z = (W + λDᵀD)⁻¹Wx, by LDLᵀ: d the diagonal, e and f the two below it. */
static void solve(const als_settings *s, int64_t n, const double *x, const double *weights, double *z,
                  double *d)
{
    double *e = d + n;
    double *f = e + n;

    for (int64_t j = 0; j < n; j++) {
        d[j] = weights[j] + s->lambda * roughness(n, j, 0);
        e[j] = j + 1 < n ? s->lambda * roughness(n, j, 1) : 0;
        f[j] = j + 2 < n ? s->lambda * roughness(n, j, 2) : 0;
        if (j >= 1)
            d[j] -= e[j - 1] * e[j - 1] * d[j - 1];
        if (j >= 2)
            d[j] -= f[j - 2] * f[j - 2] * d[j - 2];
        if (j >= 1)
            e[j] -= f[j - 1] * e[j - 1] * d[j - 1];
        e[j] /= d[j];
        f[j] /= d[j];
        z[j] = weights[j] * x[j] - (j >= 1 ? e[j - 1] * z[j - 1] : 0) - (j >= 2 ? f[j - 2] * z[j - 2] : 0);
    }
    for (int64_t j = n - 1; j >= 0; j--)
        z[j] = z[j] / d[j] - (j + 1 < n ? e[j] * z[j + 1] : 0) - (j + 2 < n ? f[j] * z[j + 2] : 0);
}

/* Returns how many weights changed. */
static int64_t weigh(const als_settings *s, int64_t n, const double *x, const double *z, double *weights)
{
    int64_t changed = 0;

    for (int64_t j = 0; j < n; j++) {
        double weight = x[j] > z[j] ? s->asymmetry : 1 - s->asymmetry;
        changed += weight != weights[j];
        weights[j] = weight;
    }
    return changed;
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    const als_settings *s = fit->settings;
    int64_t n = fit->cols;
    double *weights = work;
    double *z = work + n;

    for (int64_t j = 0; j < n; j++)
        weights[j] = 1;
    for (int64_t i = 0; i < s->iterations; i++) {
        solve(s, n, row, weights, z, work + 2 * n);
        if (weigh(s, n, row, z, weights) == 0)
            break;
    }
    for (int64_t j = 0; j < n; j++)
        out[j] = row[j] - z[j];
    return -1;
}

const kfe_i_row_step kfe_i_step_als = {
    .name = "als",
    .summary = "subtract the baseline of each row, found by asymmetric least squares",
    .formula = "x - baseline; Eilers & Boelens (2005)",
    .params = KFE_PARAM_TABLE(rows, als_settings),
    .work = 5,
    .plan = plan,
    .apply = apply,
};
