/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warm starts of the SMO solver (smo.c): a start from the answer to a neighbouring problem.
 *
 * Feasible: the nearest point of {0 ≤ α ≤ upper, yᵀα = 0} to a start a is clip(a − λy) for the λ at which
 * yᵀclip(a − λy), which falls with λ, is zero. Bisection finds it, O(n) per step.
 *
 * Free coefficients first: after a small change the coefficients at bounds mostly stay there, and the free ones have to
 * find a new balance, which takes pairs many iterations. So the subproblem of the m free ones is solved first, on a
 * copy of its part of G; examples that violate its answer join, a few times over. Each pass reads the rows of new
 * members and of those that moved; iterations in between cost O(m). The copy takes m² numbers.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learn/smo/smo_internal.h"

/* ---- a feasible start ---- */

/* yᵀclip(α − multiplier·y), which falls with the multiplier. */
static double balance(const kfe_i_smo_state *s, double multiplier)
{
    double sum = 0;

    for (int64_t i = 0; i < s->n; i++)
        sum += s->sign[i] * kfe_i_smo_clip(s->alpha[i] - multiplier * s->sign[i], s->upper[i]);
    return sum;
}

/* The multiplier of the projection on the box and yᵀα = 0, approached from the side where yᵀα ≤ 0. */
static double projection_multiplier(const kfe_i_smo_state *s)
{
    double high = 0;

    for (int64_t i = 0; i < s->n; i++)
        high = fmax(high, s->upper[i]);
    double low = -high;
    for (;;) {
        double middle = low / 2 + high / 2;
        if (middle <= low || middle >= high)
            return high;
        if (balance(s, middle) > 0)
            low = middle;
        else
            high = middle;
    }
}

/* Gives what rounding left of yᵀα to the first examples that have room for it. */
static void absorb_imbalance(kfe_i_smo_state *s)
{
    double left = balance(s, 0);

    for (int64_t i = 0; i < s->n && left != 0; i++) {
        double before = s->alpha[i];
        s->alpha[i] = kfe_i_smo_clip(before - s->sign[i] * left, s->upper[i]);
        left += s->sign[i] * (s->alpha[i] - before);
    }
}

void kfe_i_smo_make_feasible(kfe_i_smo_state *s)
{
    double total = 0;

    for (int64_t i = 0; i < s->n; i++) {
        s->alpha[i] = kfe_i_smo_clip(s->alpha[i], s->upper[i]);
        total += s->alpha[i];
    }
    /* a previous answer may be off by this much; it is left as it is */
    if (fabs(balance(s, 0)) <= (double)s->n * DBL_EPSILON * total)
        return;
    double multiplier = projection_multiplier(s);
    for (int64_t i = 0; i < s->n; i++)
        s->alpha[i] = kfe_i_smo_clip(s->alpha[i] - multiplier * s->sign[i], s->upper[i]);
    absorb_imbalance(s);
}

/* ---- the subproblem of free coefficients ---- */

enum { MOST_PASSES = 10, SPARE_PLACES = 64 };
/* Share of the tolerance that the subproblem may use; the examples outside of it need the rest. */
#define SUBPROBLEM_SHARE 0.1
/* Share of the memory limit that the copy may take. */
#define BLOCK_SHARE 0.25

typedef struct subproblem {
    kfe_i_smo_state s;
    int64_t capacity;
    int64_t *index;        /* the example of each member */
    unsigned char *member; /* per example */
    double *sign, *upper, *before, *block;
} subproblem;

static kfe_status subproblem_open(const kfe_i_smo_state *whole, int64_t capacity, subproblem *sub)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = whole->ctx;
    kfe_i_smo_work *work = whole->work;

    sub->s.ctx = ctx;
    sub->s.rows.stride = sub->capacity = capacity;
    KFE_GROW(ctx, work->part, work->part_count, (KFE_SMO_ARRAYS + 5 + capacity) * capacity + whole->n);
    kfe_i_smo_place_arrays(&sub->s, capacity, work->part);
    sub->index = (int64_t *)(work->part + KFE_SMO_ARRAYS * capacity);
    sub->s.sign = sub->sign = work->part + (KFE_SMO_ARRAYS + 1) * capacity;
    sub->s.upper = sub->upper = sub->sign + capacity;
    sub->before = sub->upper + capacity;
    sub->s.alpha = sub->before + capacity;
    sub->s.rows.is_block = 1;
    sub->s.rows.matrix = sub->block = sub->s.alpha + capacity;
    sub->member = (unsigned char *)(sub->block + capacity * capacity);
    memset(sub->member, 0, (size_t)whole->n);
cleanup:
    return status;
}

/* Adds free examples, and those whose residual is on the wrong side of `common`, the residual of free ones. */
static void add_members(const kfe_i_smo_state *whole, subproblem *sub, double common, double slack)
{
    for (int64_t t = 0; t < whole->n && sub->s.n < sub->capacity; t++) {
        double beyond = whole->residual[t] - common;
        int violates = ((whole->moves[t] & MAY_GO_UP) && beyond > slack) ||
                       ((whole->moves[t] & MAY_GO_DOWN) && beyond < -slack);
        int is_free = whole->moves[t] == (MAY_GO_UP | MAY_GO_DOWN);
        if (sub->member[t] || !(violates || is_free))
            continue;
        sub->member[t] = 1;
        sub->index[sub->s.n++] = t;
    }
}

static void read_block(kfe_i_smo_state *whole, subproblem *sub, int64_t first)
{
    for (int64_t k = first; k < sub->s.n; k++) {
        int64_t t = sub->index[k];
        const double *row = kfe_i_smo_row(whole, t, whole->rows.first);
        for (int64_t l = 0; l < sub->s.n; l++)
            sub->block[k * sub->capacity + l] = sub->block[l * sub->capacity + k] = row[sub->index[l]];
        sub->sign[k] = whole->sign[t];
        sub->upper[k] = whole->upper[t];
        sub->s.diagonal[k] = whole->diagonal[t];
    }
}

/* Copies the coefficients of the members to the whole problem and updates all residuals. */
static void copy_back(kfe_i_smo_state *whole, const subproblem *sub)
{
    for (int64_t k = 0; k < sub->s.n; k++) {
        int64_t t = sub->index[k];
        double change = sub->s.alpha[k] - sub->before[k];
        if (change == 0)
            continue;
        whole->alpha[t] = sub->s.alpha[k];
        kfe_i_smo_update_moves(whole, t);
        cblas_daxpy((blasint)whole->n, -whole->sign[t] * change, kfe_i_smo_row(whole, t, whole->rows.first),
                    1, whole->residual, 1);
    }
}

static kfe_status solve_subproblem(kfe_i_smo_state *whole, subproblem *sub, const kfe_i_smo_options *options,
                                   int64_t limit)
{
    kfe_status status = KFE_OK;
    double violation = 0;
    kfe_i_smo_options inner = {.tolerance = SUBPROBLEM_SHARE * options->tolerance};

    for (int64_t k = 0; k < sub->s.n; k++) {
        sub->s.alpha[k] = sub->before[k] = whole->alpha[sub->index[k]];
        sub->s.residual[k] = whole->residual[sub->index[k]];
        kfe_i_smo_update_moves(&sub->s, k);
    }
    kfe_i_smo_activate_all(&sub->s);
    KFE_TRY(kfe_i_smo_iterate(&sub->s, &inner, limit, &violation));
    copy_back(whole, sub);
cleanup:
    return status;
}

static kfe_status solve_in_passes(kfe_i_smo_state *whole, subproblem *sub, const kfe_i_smo_options *options,
                                  int64_t limit)
{
    kfe_status status = KFE_OK;

    for (int pass = 0; pass < MOST_PASSES && kfe_i_smo_violation(whole) > options->tolerance; pass++) {
        int64_t first = sub->s.n;
        if (pass == 0)
            add_members(whole, sub, 0, INFINITY);
        else
            add_members(whole, sub, -kfe_i_smo_offset(&sub->s), options->tolerance / 2);
        if (sub->s.n == first)
            break;
        read_block(whole, sub, first);
        KFE_TRY(solve_subproblem(whole, sub, options, limit));
    }
    whole->done.iterations += sub->s.done.iterations;
cleanup:
    return status;
}

kfe_status kfe_i_smo_solve_free(kfe_i_smo_state *whole, const kfe_i_smo_options *options, int64_t limit)
{
    kfe_status status = KFE_OK;
    subproblem sub = {0};
    int64_t capacity = SPARE_PLACES;

    for (int64_t t = 0; t < whole->n; t++)
        capacity += whole->moves[t] == (MAY_GO_UP | MAY_GO_DOWN) ? 2 : 0;
    if (capacity == SPARE_PLACES)
        return KFE_OK;
    capacity = capacity < whole->n ? capacity : whole->n;
    if (8.0 * (double)capacity * (double)capacity > BLOCK_SHARE * (double)kfe_i_memory_left(whole->ctx))
        return KFE_OK;
    KFE_TRY(subproblem_open(whole, capacity, &sub));
    KFE_TRY(solve_in_passes(whole, &sub, options, limit));
cleanup:
    return status;
}
