/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton steps of the SMO solver (smo.c) on its free coefficients, between the pairs. With β = y·α and I the free
 * coefficients, the minimum of the objective along yᵀα = 0, all others held fixed, is at β_I + d,
 *     G_II d + λe = r_I,   eᵀd = 0,
 * found by a Cholesky factorisation of G_II + ridge·I. The step goes there, or as far as the first bound; the
 * coefficient at that bound leaves I, and the rest goes on. The ridge allows a singular G_II: where more coefficients
 * are free than the kernel has dimensions, d leads along directions in which the objective is linear, to a bound.
 * Every step lowers the objective, whatever the ridge, and is as long as the parabola along d says.
 *
 * Kernels of few dimensions have few free coefficients, and pairs, which trade one coefficient for another, need very
 * many steps to balance them; a Newton step on k of them takes k³/3 + k·n operations.
 */
#include <cblas.h>
#include <math.h>

#include "core/memory.h"
#include "learn/smo/smo_internal.h"

enum { MOST_FREE = 128 };
/* Pairs between Newton steps take about as long as the steps; at least so many are made. */
enum { PAIRS_AT_LEAST = 2, OPERATIONS_PER_PAIR = 64 };
/* The ridge, relative to the largest diagonal entry of G_II. */
#define KFE_NEWTON_RIDGE 1e-10

kfe_status kfe_i_smo_newton_open(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;

    KFE_GROW(s->ctx, s->work->newton, s->work->newton_count, (MOST_FREE + 3) * MOST_FREE);
    s->newton.values = s->work->newton;
    s->newton.index = (int64_t *)(s->newton.values + (MOST_FREE + 2) * MOST_FREE);
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
        if (k == MOST_FREE)
            return 0;
        s->newton.index[k++] = t;
    }
    return k;
}

int kfe_i_smo_newton_applies(kfe_i_smo_state *s)
{
    return find_free(s) > 0;
}

/* Replaces the lower half of a (k × k) by its Cholesky factor; returns 0 if it has none. */
static int factorise(int64_t k, double *a)
{
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) {
            double left = a[i * k + j];
            for (int64_t l = 0; l < j; l++)
                left -= a[i * k + l] * a[j * k + l];
            if (j < i)
                a[i * k + j] = left / a[j * k + j];
            else if (left > 0)
                a[i * k + i] = sqrt(left);
            else
                return 0;
        }
    return 1;
}

static void solve_factored(int64_t k, const double *lower, double *x)
{
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)k, lower, (blasint)k, x, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (blasint)k, lower, (blasint)k, x, 1);
}

static kfe_status read_square(kfe_i_smo_state *s, int64_t k, double *square, double *ridge)
{
    kfe_status status = KFE_OK;
    const double *row = NULL;
    double largest = 0;

    for (int64_t i = 0; i < k; i++) {
        KFE_TRY(kfe_i_smo_read_row(s, s->newton.index[i], s->rows.first, &row));
        for (int64_t j = 0; j <= i; j++)
            square[i * k + j] = row[s->newton.index[j]];
        largest = fmax(largest, square[i * k + i]);
    }
    *ridge = KFE_NEWTON_RIDGE * largest;
    for (int64_t i = 0; i < k; i++)
        square[i * k + i] += *ridge;
cleanup:
    return status;
}

/* Finds d, and returns the step along it to the least objective; 0: d does not lower it. */
static double find_direction(const kfe_i_smo_state *s, int64_t k, double *square, double ridge, double *d)
{
    double *ones = d + k;
    double slope = 0;
    double length = 0;
    double total[2] = {0, 0};

    if (!factorise(k, square))
        return 0;
    for (int64_t i = 0; i < k; i++) {
        d[i] = s->residual[s->newton.index[i]];
        ones[i] = 1;
    }
    solve_factored(k, square, d);
    solve_factored(k, square, ones);
    for (int64_t i = 0; i < k; i++) {
        total[0] += d[i];
        total[1] += ones[i];
    }
    for (int64_t i = 0; i < k; i++) {
        d[i] -= total[0] / total[1] * ones[i];
        slope += d[i] * s->residual[s->newton.index[i]];
        length += d[i] * d[i];
    }
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

static kfe_status set_coefficients(kfe_i_smo_state *s, int64_t k, const double *after)
{
    kfe_status status = KFE_OK;
    const double *row = NULL;

    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->newton.index[i];
        double change = s->sign[t] * (after[i] - s->alpha[t]);
        if (change == 0)
            continue;
        s->alpha[t] = after[i];
        kfe_i_smo_update_moves(s, t);
        KFE_TRY(kfe_i_smo_read_row(s, t, s->rows.first, &row));
        for (int64_t a = 0; a < s->active_count; a++)
            s->residual[s->active[a]] -= change * row[s->active[a]];
    }
    s->done.iterations++;
    s->done.since_exact += k;
cleanup:
    return status;
}

kfe_status kfe_i_smo_newton(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;
    int64_t k = 0;
    int64_t operations = 0;

    while ((k = find_free(s)) >= 2) {
        double *d = s->newton.values + k * k;
        double ridge = 0;
        int64_t at_bound = -1;
        operations += k * k * k / 3 + k * s->active_count;
        KFE_TRY(read_square(s, k, s->newton.values, &ridge));
        double best = find_direction(s, k, s->newton.values, ridge, d);
        if (best == 0)
            break;
        double longest = longest_step(s, k, d, &at_bound);
        if (isinf(best) && isinf(longest))
            break;
        take_step(s, k, d, fmin(best, longest), best < longest ? -1 : at_bound);
        rebalance(s, k, d);
        KFE_TRY(set_coefficients(s, k, d));
        if (best < longest)
            break;
    }
    s->newton.pairs_left = PAIRS_AT_LEAST + operations / (OPERATIONS_PER_PAIR * s->active_count + 1);
cleanup:
    return status;
}
