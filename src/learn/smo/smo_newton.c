/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton steps of the SMO solver (smo.c) on its free coefficients, between the pairs. With β = y·α and I the k free
 * coefficients, the minimum of the objective along yᵀα = 0, all others held fixed, is at β_I + d,
 *     G_II d + λe = r_I,   eᵀd = 0.
 * A reflection H with He = −√k·e₁ removes the constraint: d = H(0, x)ᵀ, where x solves
 *     (HG_IIH)₂₂ x = (Hr_I)₂
 * without the first row and column, by a Cholesky factorisation after adding ridge·I. Eliminating λ with a factor of
 * G_II itself would lose all digits in the usual case of a kernel of k − 1 dimensions: G_II is singular then, the
 * reflected system is not.
 *
 * The step goes to β_I + d, or as far as the first bound; the coefficient at that bound leaves I, and the rest goes on.
 * The ridge allows still more free coefficients: d then leads along directions in which the objective is linear, to a
 * bound. Every step lowers the objective, whatever the ridge, and is as long as the parabola along d says.
 *
 * Kernels of few dimensions have few free coefficients, and pairs, which trade one coefficient for another, need very
 * many steps to balance them; a Newton step on k of them takes k³/3 + k·n operations.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learn/smo/smo_internal.h"

/* Cholesky factors of a larger order are LAPACK's. */
enum { SMALL_FACTOR = 64 };
/* Pairs between Newton steps take about as long as the steps; at least so many are made. */
enum { PAIRS_AT_LEAST = 2, OPERATIONS_PER_PAIR = 64 };
/* The ridge, relative to the largest diagonal entry of G_II. */
#define KFE_NEWTON_RIDGE 1e-10

kfe_status kfe_i_smo_newton_open(kfe_i_smo_state *s, int64_t most, int at_once)
{
    kfe_status status = KFE_OK;

    KFE_GROW(s->ctx, s->work->newton, s->work->newton_count, (most + 3) * most);
    s->newton = (kfe_i_smo_newton_work){.values = s->work->newton, .most = most, .steps = at_once};
    s->newton.index = (int64_t *)(s->newton.values + (most + 2) * most);
cleanup:
    return status;
}

/* Lists the free coefficients and returns their number; 0 if there are too many. */
static int64_t find_free(kfe_i_smo_state *s)
{
    int64_t k = 0;

    for (int64_t a = 0; a < s->active_count; a++) {
        int64_t t = s->active[a];
        if (s->moves[t] != (MAY_GO_UP | MAY_GO_DOWN))
            continue;
        if (k == s->newton.most)
            return 0;
        s->newton.index[k++] = t;
    }
    return k;
}

int kfe_i_smo_newton_applies(kfe_i_smo_state *s)
{
    return find_free(s) > 0;
}

/* Replaces the lower half of a (k × k, rows `stride` apart) by its Cholesky factor; returns 0 if it has none. */
static int factorise(int64_t k, double *a, int64_t stride)
{
    if (k > SMALL_FACTOR) /* the lower half by rows is the upper half by columns */
        return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)k, a, (lapack_int)stride) == 0;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) {
            double left = a[i * stride + j];
            for (int64_t l = 0; l < j; l++)
                left -= a[i * stride + l] * a[j * stride + l];
            if (j < i)
                a[i * stride + j] = left / a[j * stride + j];
            else if (left > 0)
                a[i * stride + i] = sqrt(left);
            else
                return 0;
        }
    return 1;
}

/* ---- the reflection H = I − βvvᵀ with v = e + √k·e₁ and β = 1/(k + √k), which maps e to −√k·e₁ ---- */

static double beta(int64_t k)
{
    return 1 / ((double)k + sqrt((double)k));
}

/* x ← Hx */
static void reflect(int64_t k, double *x)
{
    double product = sqrt((double)k) * x[0];

    for (int64_t i = 0; i < k; i++)
        product += x[i];
    product *= beta(k);
    for (int64_t i = 0; i < k; i++)
        x[i] -= product;
    x[0] -= sqrt((double)k) * product;
}

/* The lower half of the symmetric a (k × k) becomes that of HaH = a − vwᵀ − wvᵀ, with
 *     p = β·a·v,   w = p − ½β(pᵀv)v. */
static void reflect_square(int64_t k, double *a, double *v, double *w)
{
    for (int64_t i = 0; i < k; i++)
        v[i] = i == 0 ? 1 + sqrt((double)k) : 1;
    cblas_dsymv(CblasRowMajor, CblasLower, (blasint)k, beta(k), a, (blasint)k, v, 1, 0, w, 1);
    double product = cblas_ddot((blasint)k, v, 1, w, 1);
    cblas_daxpy((blasint)k, -0.5 * beta(k) * product, v, 1, w, 1);
    cblas_dsyr2(CblasRowMajor, CblasLower, (blasint)k, -1, v, 1, w, 1, a, (blasint)k);
}

/* Returns the ridge that the square got. */
static double read_square(kfe_i_smo_state *s, int64_t k, double *square)
{
    double largest = 0;

    for (int64_t i = 0; i < k; i++) {
        const double *row = kfe_i_smo_row(s, s->newton.index[i], s->rows.first);
        for (int64_t j = 0; j <= i; j++)
            square[i * k + j] = row[s->newton.index[j]];
        largest = fmax(largest, square[i * k + i]);
    }
    for (int64_t i = 0; i < k; i++)
        square[i * k + i] += KFE_NEWTON_RIDGE * largest;
    return KFE_NEWTON_RIDGE * largest;
}

/* Finds d, and returns the step along it to the least objective; 0: d does not lower it. `work`: k doubles. */
static double find_direction(const kfe_i_smo_state *s, int64_t k, double *square, double ridge, double *d,
                             double *work)
{
    double *inner = square + k + 1; /* the square without its first row and column */
    double slope = 0;
    double length = 0;

    reflect_square(k, square, d, work);
    if (!factorise(k - 1, inner, k))
        return 0;
    for (int64_t i = 0; i < k; i++)
        work[i] = s->residual[s->newton.index[i]];
    reflect(k, work);
    d[0] = 0;
    memcpy(d + 1, work + 1, (size_t)(k - 1) * sizeof *d);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)(k - 1), inner, (blasint)k,
                d + 1, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (blasint)(k - 1), inner, (blasint)k,
                d + 1, 1);
    for (int64_t i = 1; i < k; i++) {
        slope += d[i] * work[i];
        length += d[i] * d[i];
    }
    reflect(k, d);
    if (!(slope > 0) || !isfinite(length))
        return 0;
    return slope > ridge * length ? slope / (slope - ridge * length) : INFINITY;
}

/* The longest step that stays in all boxes, and the coefficient whose box ends it. */
static double longest_step(const kfe_i_smo_state *s, int64_t k, const double *d, int64_t *first)
{
    double longest = INFINITY;

    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->newton.index[i];
        double change = s->sign[t] * d[i];
        double space = change > 0 ? s->upper[t] - s->alpha[t] : s->alpha[t];
        if (change != 0 && space / fabs(change) < longest) {
            longest = space / fabs(change);
            *first = i;
        }
    }
    return longest;
}

/* Overwrites d with the coefficients after the step. */
static void take_step(const kfe_i_smo_state *s, int64_t k, double *d, double step, int64_t at_bound)
{
    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->newton.index[i];
        double change = s->sign[t] * d[i];
        if (i == at_bound)
            d[i] = change > 0 ? s->upper[t] : 0;
        else
            d[i] = kfe_i_smo_clip(s->alpha[t] + step * change, s->upper[t]);
    }
}

/* Gives what rounding left of yᵀα to the coefficient with most room. */
static void rebalance(const kfe_i_smo_state *s, int64_t k, double *after)
{
    double left = 0;
    double most = 0;
    int64_t roomiest = 0;

    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->newton.index[i];
        double room = fmin(after[i], s->upper[t] - after[i]);
        left += s->sign[t] * (after[i] - s->alpha[t]);
        roomiest = room > most ? i : roomiest;
        most = fmax(most, room);
    }
    int64_t t = s->newton.index[roomiest];
    after[roomiest] = kfe_i_smo_clip(after[roomiest] - s->sign[t] * left, s->upper[t]);
}

static void set_coefficients(kfe_i_smo_state *s, int64_t k, const double *after)
{
    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->newton.index[i];
        double change = s->sign[t] * (after[i] - s->alpha[t]);
        if (change == 0)
            continue;
        s->alpha[t] = after[i];
        kfe_i_smo_update_moves(s, t);
        const double *row = kfe_i_smo_row(s, t, s->rows.first);
        for (int64_t a = 0; a < s->active_count; a++)
            s->residual[s->active[a]] -= change * row[s->active[a]];
    }
    s->done.iterations++;
    s->done.since_exact += k;
}

void kfe_i_smo_newton(kfe_i_smo_state *s)
{
    int64_t k = 0;
    int64_t operations = 0;

    while ((k = find_free(s)) >= 2) {
        double *d = s->newton.values + k * k;
        int64_t at_bound = -1;
        operations += k * k * k / 3 + k * s->active_count;
        double ridge = read_square(s, k, s->newton.values);
        double best = find_direction(s, k, s->newton.values, ridge, d, d + k);
        if (best == 0)
            break;
        double longest = longest_step(s, k, d, &at_bound);
        if (isinf(best) && isinf(longest))
            break;
        take_step(s, k, d, fmin(best, longest), best < longest ? -1 : at_bound);
        rebalance(s, k, d);
        set_coefficients(s, k, d);
        if (best < longest)
            break;
    }
    s->newton.pairs_left = PAIRS_AT_LEAST + operations / (OPERATIONS_PER_PAIR * s->active_count + 1);
}
