/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest enclosing ball by moving weight between two points (Mitchell, Demyanov & Malozemov, 1974); used by
 * the radius-margin bound. With the gradient gᵢ = d_i − 2(Kβ)ᵢ, weight moves from the point of smallest to the
 * point of largest gᵢ by the best step,
 *
 *     (gᵢ − gⱼ) / (2‖φᵢ − φⱼ‖²).
 *
 * The objective is concave, so that R² ≤ objective + max gᵢ − gᵀβ: this gap ends the iterations. O(n) each.
 */
#include "method/subspace/ball.h"

#include <cblas.h>
#include <float.h>
#include <math.h>

enum { ITERATIONS_PER_POINT = 2000, LEAST_ITERATIONS = 100000 };

static double length_of(int64_t n, const double *k, const double *lengths, int64_t i)
{
    return lengths ? lengths[i] : k[i * n + i];
}

static void start_at(int64_t n, const double *k, const double *lengths, double *beta, double *gradient)
{
    double total = cblas_dasum((blasint)n, beta, 1);

    for (int64_t i = 0; i < n; i++)
        beta[i] = total > 0 ? fmax(beta[i], 0) / total : 1 / (double)n;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)n, (blasint)n, -2, k, (blasint)n, beta, 1, 0, gradient,
                1);
    for (int64_t i = 0; i < n; i++)
        gradient[i] += length_of(n, k, lengths, i);
}

/* The points to move weight to and from; returns the gap max gᵢ − gᵀβ. */
static double choose_pair(int64_t n, const double *beta, const double *gradient, int64_t *to, int64_t *from)
{
    double mean = 0;

    *to = 0;
    *from = -1;
    for (int64_t i = 0; i < n; i++) {
        mean += beta[i] * gradient[i];
        if (gradient[i] > gradient[*to])
            *to = i;
        if (beta[i] > 0 && (*from < 0 || gradient[i] < gradient[*from]))
            *from = i;
    }
    return gradient[*to] - mean;
}

static void move_weight(int64_t n, const double *k, int64_t to, int64_t from, double *beta, double *gradient)
{
    double distance = k[to * n + to] + k[from * n + from] - 2 * k[to * n + from];
    double step = distance > 0 ? (gradient[to] - gradient[from]) / (2 * distance) : beta[from];

    if (step >= beta[from])
        step = beta[from];
    beta[to] += step;
    beta[from] = step == beta[from] ? 0 : beta[from] - step;
    cblas_daxpy((blasint)n, -2 * step, k + to * n, 1, gradient, 1);
    cblas_daxpy((blasint)n, 2 * step, k + from * n, 1, gradient, 1);
}

/* Σ βᵢd_i − βᵀKβ = ½Σ βᵢ(d_i + gᵢ) */
static double objective(int64_t n, const double *k, const double *lengths, const double *beta,
                        const double *gradient)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += beta[i] * (length_of(n, k, lengths, i) + gradient[i]) / 2;
    return sum;
}

/* What rounding may change in the gap: kernel values far above R² leave it no digits, and then it proves nothing. */
static double rounding_of_gap(int64_t n, const double *k, const double *lengths)
{
    double largest = 0;

    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(length_of(n, k, lengths, i)));
    return DBL_EPSILON * largest;
}

kfe_status kfe_i_smallest_ball(kfe_context *ctx, int64_t n, const double *k, const double *lengths,
                               double tolerance, double *beta, double *work, kfe_i_ball *out)
{
    int64_t most = n * ITERATIONS_PER_POINT > LEAST_ITERATIONS ? n * ITERATIONS_PER_POINT : LEAST_ITERATIONS;
    int64_t to = 0;
    int64_t from = 0;
    double rounding = rounding_of_gap(n, k, lengths);

    start_at(n, k, lengths, beta, work);
    out->converged = 0;
    for (int64_t iteration = 0; iteration < most; iteration++) {
        double gap = choose_pair(n, beta, work, &to, &from);
        double allowed = tolerance * fmax(objective(n, k, lengths, beta, work), 0);
        out->converged = fmax(gap, rounding) <= allowed;
        if (gap <= allowed || to == from)
            break;
        move_weight(n, k, to, from, beta, work);
        if (iteration % 1024 == 1023 && kfe_i_progress(ctx, "enclosing the examples", 0, 0) != KFE_OK)
            return KFE_ECANCEL;
    }
    out->squared_radius = objective(n, k, lengths, beta, work);
    return KFE_OK;
}
