/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step sg, Savitzky–Golay: each value becomes that of a polynomial, or its derivative, fitted to the window of columns around it. The
 * first and last half windows are taken from the polynomial of the first and last whole window, as by SciPy's savgol_filter with
 * mode="interp". Columns count as equally spaced, `delta` apart.
 *
 * With orthonormal polynomials q_k on the window, the weights of position s are Σ_k q_k^(derivative)(s) q_k.
 * Savitzky & Golay (1964); Gorry (1990). Time O(d·window) per row, memory O(window²).
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/steps/polynomial.h"
#include "data/steps/step.h"

typedef struct sg_settings {
    int64_t window, order, derivative;
    double delta;
} sg_settings;

static const kfe_i_param rows[] = {
    KFE_INT(sg_settings, window, "window", "11", 1, 999, "number of columns in the window, odd"),
    KFE_INT(sg_settings, order, "order", "2", 0, 20, "degree of the polynomial, below the window"),
    KFE_INT(sg_settings, derivative, "derivative", "0", 0, 20, "which derivative; 0: smoothed values"),
    KFE_REAL(sg_settings, delta, "delta", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "distance between neighbouring columns, for derivatives per unit of their axis"),
};

static kfe_status check(kfe_context *ctx, const sg_settings *s, int64_t cols)
{
    if (s->window % 2 == 0)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "{prepare}: the window of step sg is an odd number of columns, not %lld; use %lld",
                          (long long)s->window, (long long)s->window + 1);
    if (s->order >= s->window)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "{prepare}: step sg cannot fit a polynomial of order %lld to a window of %lld columns; "
            "take a wider window",
            (long long)s->order, (long long)s->window);
    if (s->derivative > s->order)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "{prepare}: derivative %lld of a polynomial of order %lld is zero; step sg needs an "
            "order of %lld or more",
            (long long)s->derivative, (long long)s->order, (long long)s->derivative);
    if (s->window > cols)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "{prepare}: the window of step sg has %lld columns, but a row has only %lld",
                          (long long)s->window, (long long)cols);
    return KFE_OK;
}

/* plan (window × window): row s has the weights that give position s of a window. */
static kfe_status plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;
    const sg_settings *s = fit->settings;
    int64_t w = s->window;
    int64_t terms = s->order + 1;
    double *q = NULL;
    double *slopes = NULL;

    (void)names;
    KFE_TRY(check(ctx, s, fit->cols));
    KFE_ALLOC(ctx, q, terms * w);
    KFE_ALLOC(ctx, slopes, terms * w);
    KFE_ALLOC_ZERO(ctx, fit->plan, w * w);
    KFE_TRY(kfe_i_polynomials(ctx, w, s->order, s->derivative, q, slopes));
    for (int64_t e = 0; e < w * w; e++) {
        for (int64_t k = 0; k < terms; k++)
            fit->plan[e] += slopes[k * w + e / w] * q[k * w + e % w];
        fit->plan[e] /= pow(s->delta, (double)s->derivative);
        if (!isfinite(fit->plan[e]))
            KFE_FAIL(ctx, KFE_EINVAL, "{prepare}: the delta of step sg is too small to compute with");
    }
cleanup:
    kfe_i_free(ctx, q);
    kfe_i_free(ctx, slopes);
    return status;
}

/* Where the window of column j begins, and the place of j in it. */
static int64_t window_of(int64_t cols, int64_t w, int64_t j, int64_t *place)
{
    int64_t first = j - w / 2;

    first = first < 0 ? 0 : first;
    first = first > cols - w ? cols - w : first;
    *place = j - first;
    return first;
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    int64_t w = ((const sg_settings *)fit->settings)->window;
    int64_t place;

    (void)work;
    for (int64_t j = 0; j < fit->cols; j++) {
        const double *x = row + window_of(fit->cols, w, j, &place);
        const double *weights = fit->plan + place * w;
        double sum = 0;
        for (int64_t i = 0; i < w; i++)
            sum += weights[i] * x[i];
        out[j] = sum;
    }
    return -1;
}

static void pull(const kfe_i_fitted_step *fit, const double *out, double *in)
{
    int64_t w = ((const sg_settings *)fit->settings)->window;
    int64_t place;

    memset(in, 0, (size_t)fit->cols * sizeof *in);
    for (int64_t j = 0; j < fit->cols; j++) {
        double *x = in + window_of(fit->cols, w, j, &place);
        for (int64_t i = 0; i < w; i++)
            x[i] += fit->plan[place * w + i] * out[j];
    }
}

/* The ends: a window of x times the weights of `count` places from `place` on, transposed into `weights`. */
static int64_t end_part(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t window,
                        int64_t place, int64_t count, double *weights)
{
    int64_t w = ((const sg_settings *)fit->settings)->window;

    for (int64_t i = 0; i < w; i++)
        for (int64_t s = 0; s < count; s++)
            weights[i * count + s] = fit->plan[(place + s) * w + i];
    return g->two(g->state, "MatMul", window, g->matrix(g->state, weights, w, count));
}

/* The sum of shifted copies of x, each times a weight of the middle place. */
static int64_t middle_part(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t w = ((const sg_settings *)fit->settings)->window;
    int64_t sum = -1;

    for (int64_t i = 0; i < w; i++) {
        int64_t moved = g->range(g->state, x, i, fit->cols - w + 1);
        int64_t part = g->two(g->state, "Mul", moved, g->number(g->state, fit->plan[w / 2 * w + i]));
        sum = sum < 0 ? part : g->two(g->state, "Add", sum, part);
    }
    return sum;
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t w = ((const sg_settings *)fit->settings)->window;
    int64_t half = w / 2;
    int64_t parts[3];
    double *weights;

    if (half == 0)
        return middle_part(fit, g, x);
    if (!(weights = kfe_i_alloc(fit->ctx, w * half, sizeof *weights)))
        return -1;
    parts[0] = end_part(fit, g, g->range(g->state, x, 0, w), 0, half, weights);
    parts[1] = middle_part(fit, g, x);
    parts[2] = end_part(fit, g, g->range(g->state, x, fit->cols - w, w), half + 1, half, weights);
    kfe_i_free(fit->ctx, weights);
    return g->join(g->state, parts, 3);
}

const kfe_i_row_step kfe_i_step_sg = {
    .name = "sg",
    .summary = "Savitzky-Golay: smooth each row, or take derivatives, by polynomials in a moving window",
    .formula = "least-squares polynomial in a moving window; Savitzky & Golay (1964)",
    .params = KFE_PARAM_TABLE(rows, sg_settings),
    .plan = plan,
    .apply = apply,
    .pull = pull,
    .graph = graph,
};
