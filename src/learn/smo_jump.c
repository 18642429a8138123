/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps: Newton steps on the coefficients inside their boxes, between the pairs of smo.c. With β = y·α and I
 * those inside, the objective's minimum along yᵀα = 0 with everything else held is at β_I + d,
 *   G_II d + λe = r_I,   eᵀd = 0,
 * found by a Cholesky factorisation of G_II + ridge·I. The step goes there, or as far as the first bound;
 * what is at a bound is out, and the rest goes on. The ridge lets G_II be singular: where more are inside
 * than the kernel has dimensions, d leads along directions in which the objective is linear, to a bound.
 * Every step lowers the objective, whatever the ridge, and is as long as the parabola along d says.
 *
 * Kernels of few dimensions have few coefficients inside, and pairs, which trade one coefficient for another,
 * need very many steps to balance them; a jump of k does it in k³/3 + k·n operations.
 */
#include <cblas.h>
#include <math.h>

#include "core/memory.h"
#include "learn/smo_inside.h"

enum { MOST_INSIDE = 128 };
/* Jumps take about as long as the pairs between them, of which there are at least so many. */
enum { PAIRS_AT_LEAST = 2, OPERATIONS_PER_PAIR = 64 };
/* Of the largest diagonal entry of G_II. */
#define KFE_JUMP_RIDGE 1e-10

kfe_status kfe_i_smo_jump_open(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;

    KFE_GROW(s->ctx, s->work->jump, s->work->jump_count, (MOST_INSIDE + 3) * MOST_INSIDE);
    s->jump_work = s->work->jump;
    s->jump_index = (int64_t *)(s->jump_work + (MOST_INSIDE + 2) * MOST_INSIDE);
cleanup:
    return status;
}

/* How many are inside; 0 if they are too many. */
static int64_t find_inside(kfe_i_smo_state *s)
{
    int64_t k = 0;

    for (int64_t a = 0; a < s->active_count; a++) {
        int64_t t = s->active[a];
        if (s->moves[t] != (MAY_GO_UP | MAY_GO_DOWN))
            continue;
        if (k == MOST_INSIDE)
            return 0;
        s->jump_index[k++] = t;
    }
    return k;
}

int kfe_i_smo_can_jump(kfe_i_smo_state *s)
{
    return find_inside(s) > 0;
}

/* Lower Cholesky factor in place of the lower half of a (k × k); 0 if it has none. */
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
        KFE_TRY(kfe_i_smo_read_row(s, s->jump_index[i], s->row_of_i, &row));
        for (int64_t j = 0; j <= i; j++)
            square[i * k + j] = row[s->jump_index[j]];
        largest = fmax(largest, square[i * k + i]);
    }
    *ridge = KFE_JUMP_RIDGE * largest;
    for (int64_t i = 0; i < k; i++)
        square[i * k + i] += *ridge;
cleanup:
    return status;
}

/* d, and how far to go along it for the least objective; 0: nowhere. */
static double find_direction(const kfe_i_smo_state *s, int64_t k, double *square, double ridge, double *d)
{
    double *ones = d + k;
    double slope = 0;
    double length = 0;
    double total[2] = {0, 0};

    if (!factorise(k, square))
        return 0;
    for (int64_t i = 0; i < k; i++) {
        d[i] = s->residual[s->jump_index[i]];
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
        slope += d[i] * s->residual[s->jump_index[i]];
        length += d[i] * d[i];
    }
    if (!(slope > 0) || !isfinite(length))
        return 0;
    return slope > ridge * length ? slope / (slope - ridge * length) : INFINITY;
}

/* The longest step that stays in all boxes, and whose box ends it. */
static double longest_step(const kfe_i_smo_state *s, int64_t k, const double *d, int64_t *first)
{
    double longest = INFINITY;

    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->jump_index[i];
        double change = s->sign[t] * d[i];
        double space = change > 0 ? s->upper[t] - s->alpha[t] : s->alpha[t];
        if (change != 0 && space / fabs(change) < longest) {
            longest = space / fabs(change);
            *first = i;
        }
    }
    return longest;
}

/* d becomes the coefficients after the step. */
static void go_along(const kfe_i_smo_state *s, int64_t k, double *d, double step, int64_t at_bound)
{
    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->jump_index[i];
        double change = s->sign[t] * d[i];
        if (i == at_bound)
            d[i] = change > 0 ? s->upper[t] : 0;
        else
            d[i] = kfe_i_smo_clip(s->alpha[t] + step * change, s->upper[t]);
    }
}

/* What rounding made of yᵀα goes to the one with most room. */
static void rebalance(const kfe_i_smo_state *s, int64_t k, double *after)
{
    double left = 0;
    double most = 0;
    int64_t roomiest = 0;

    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->jump_index[i];
        double room = fmin(after[i], s->upper[t] - after[i]);
        left += s->sign[t] * (after[i] - s->alpha[t]);
        roomiest = room > most ? i : roomiest;
        most = fmax(most, room);
    }
    int64_t t = s->jump_index[roomiest];
    after[roomiest] = kfe_i_smo_clip(after[roomiest] - s->sign[t] * left, s->upper[t]);
}

static kfe_status take_over(kfe_i_smo_state *s, int64_t k, const double *after)
{
    kfe_status status = KFE_OK;
    const double *row = NULL;

    for (int64_t i = 0; i < k; i++) {
        int64_t t = s->jump_index[i];
        double change = s->sign[t] * (after[i] - s->alpha[t]);
        if (change == 0)
            continue;
        s->alpha[t] = after[i];
        kfe_i_smo_note_moves(s, t);
        KFE_TRY(kfe_i_smo_read_row(s, t, s->row_of_i, &row));
        for (int64_t a = 0; a < s->active_count; a++)
            s->residual[s->active[a]] -= change * row[s->active[a]];
    }
    s->iterations++;
    s->since_exact += k;
cleanup:
    return status;
}

kfe_status kfe_i_smo_jump(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;
    int64_t k = 0;
    int64_t operations = 0;

    while ((k = find_inside(s)) >= 2) {
        double *d = s->jump_work + k * k;
        double ridge = 0;
        int64_t at_bound = -1;
        operations += k * k * k / 3 + k * s->active_count;
        KFE_TRY(read_square(s, k, s->jump_work, &ridge));
        double best = find_direction(s, k, s->jump_work, ridge, d);
        if (best == 0)
            break;
        double longest = longest_step(s, k, d, &at_bound);
        if (isinf(best) && isinf(longest))
            break;
        go_along(s, k, d, fmin(best, longest), best < longest ? -1 : at_bound);
        rebalance(s, k, d);
        KFE_TRY(take_over(s, k, d));
        if (best < longest)
            break;
    }
    s->until_jump = PAIRS_AT_LEAST + operations / (OPERATIONS_PER_PAIR * s->active_count + 1);
cleanup:
    return status;
}
