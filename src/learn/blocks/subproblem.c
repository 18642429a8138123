/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequential minimal optimisation of the coefficients in a working set, for blocks.c. A pair moves by a step s,
 *     β_i += s,   β_j −= s,   residual_t −= s(K_it − K_jt),
 * where i has the largest residual r among those that may rise, and j the largest gain (r_i − r_j)²/c among those that may
 * fall, c = K_ii + K_jj − 2K_ij (Fan, Chen & Lin, 2005, WSS 2).
 *
 * The block and all arrays of 512 coefficients fit into the second-level cache; an iteration takes a fraction of a
 * microsecond.
 */
#include "learn/blocks/subproblem.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learn/blocks/loops.h"

enum { ARRAYS = 7 };

double kfe_i_subproblem_bytes(int64_t capacity)
{
    double size = (double)capacity;

    return size * (4 * size + 4 + 8 * ARRAYS);
}

kfe_status kfe_i_subproblem_new(kfe_context *ctx, int64_t capacity, kfe_i_subproblem *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_subproblem){.capacity = capacity};
    KFE_ALLOC(ctx, out->block, capacity * capacity);
    KFE_ALLOC(ctx, out->gain, capacity);
    KFE_ALLOC(ctx, out->memory, ARRAYS * capacity);
    double **arrays[ARRAYS] = {&out->beta,     &out->lowest, &out->highest, &out->residual,
                               &out->diagonal, &out->rise,   &out->fall};
    for (int a = 0; a < ARRAYS; a++)
        *arrays[a] = out->memory + a * capacity;
cleanup:
    return status;
}

void kfe_i_subproblem_free(kfe_context *ctx, kfe_i_subproblem *sub)
{
    kfe_i_free(ctx, sub->block);
    kfe_i_free(ctx, sub->gain);
    kfe_i_free(ctx, sub->memory);
    memset(sub, 0, sizeof *sub);
}

static void update_moves(kfe_i_subproblem *sub, int64_t t)
{
    sub->rise[t] = sub->beta[t] < sub->highest[t] ? 0 : -INFINITY;
    sub->fall[t] = sub->beta[t] > sub->lowest[t] ? 0 : INFINITY;
}

/* A step that takes all the room ends exactly at the bound. */
static void move(kfe_i_subproblem *sub, int64_t t, double step)
{
    double moved = sub->beta[t] + step;

    sub->beta[t] = fmin(fmax(moved, sub->lowest[t]), sub->highest[t]);
    update_moves(sub, t);
}

static double curvature(const kfe_i_subproblem *sub, int64_t i, int64_t j)
{
    double value = sub->diagonal[i] + sub->diagonal[j] - 2 * (double)sub->block[i * sub->capacity + j];
    return value > KFE_TINY_CURVATURE ? value : KFE_TINY_CURVATURE;
}

/* Moves the best pair; returns 0 if the step is below rounding. */
static int improve(kfe_i_subproblem *sub, int64_t i)
{
    const float *row = sub->block + i * sub->capacity;
    kfe_i_partner_search search = {.residual = sub->residual,
                                   .fall = sub->fall,
                                   .highest = sub->residual[i],
                                   .own = sub->diagonal[i],
                                   .row = row,
                                   .diagonal = sub->diagonal};
    int64_t j = kfe_i_find_partner(&search, sub->count, sub->gain);
    if (j < 0)
        return 0;
    double room_i = sub->highest[i] - sub->beta[i];
    double room_j = sub->beta[j] - sub->lowest[j];
    double step = (sub->residual[i] - sub->residual[j]) / curvature(sub, i, j);
    step = fmin(step, fmin(room_i, room_j));
    if (step < room_i && sub->beta[i] + step == sub->beta[i])
        return 0;
    move(sub, i, step < room_i ? step : INFINITY);
    move(sub, j, step < room_j ? -step : -INFINITY);
    kfe_i_step_residuals(sub->residual, step, row, sub->block + j * sub->capacity, sub->count);
    return 1;
}

int64_t kfe_i_subproblem_solve(kfe_i_subproblem *sub, double tolerance, int64_t limit)
{
    int64_t done = 0;

    for (int64_t t = 0; t < sub->count; t++)
        update_moves(sub, t);
    for (; done < limit; done++) {
        kfe_i_extremes found = kfe_i_find_extremes(sub->residual, sub->rise, sub->fall, sub->count);
        if (!(found.highest - found.lowest > tolerance))
            break;
        int64_t i = kfe_i_find_value(sub->residual, sub->rise, found.highest, sub->count);
        if (i >= sub->count || !improve(sub, i)) /* none: residuals that overflowed compare with nothing */
            break;
    }
    return done;
}
