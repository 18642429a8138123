/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a setting. Rules other than the minimum look at the settings that differ from the best one in `dim` alone, from the fewest
 * features on, and take
 *
 *     one-se        the first whose metric is within one standard error of the best (Breiman et al. 1984)
 *     permutation   the first whose held-out errors do not differ from those of the best by a randomisation test (van der Voet 1994): with
 *                   d = its loss less that of the best for each row, p = (#{Σ±d ≥ Σd} + 1/2)/(999 + 1) over random signs is above 0.01.
 *                   The loss of a row is its squared error, or 0 or 1 for classes; weights multiply it
 *     q2            the last of those that each lower RMSECV by 5 % or more: 1 − PRESS/PRESS' ≥ 1 − 0.95² with PRESS' of the one before
 *
 * Called by assess.c.
 */
#include "select/choose.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"

/* Means of the same numbers in another order are equal, whatever rounding makes of them. */
#define KFE_MEAN_ROUNDING 1e-12

int kfe_i_is_better(const kfe_i_metric *metric, double value, double than)
{
    if (isnan(value) || isnan(than))
        return !isnan(value);
    double gain = metric->larger_is_better ? value - than : than - value;
    return gain > KFE_MEAN_ROUNDING * fmax(fabs(value), fabs(than));
}

/* A setting over some splits: how often it failed, and its mean of the first metric elsewhere, pooled if it is rmse or r2. */
typedef struct standing {
    int64_t failed;
    double mean;
} standing;

/* The splits are those of `owner`, or all (-1). */
static standing standing_of(const kfe_i_contest *on, int64_t setting, const int64_t *owner_of, int64_t owner)
{
    standing result = {0, NAN};
    const kfe_i_metric *metric = on->metric;
    const kfe_i_cells *cells = on->cells;
    const kfe_i_pick pick = {.setting = setting, .owner_of = owner >= 0 ? owner_of : NULL, .owner = owner};
    kfe_i_estimate estimate = {NAN, NAN, NAN};
    double sum = 0;
    int64_t count = 0;

    for (int64_t s = 0; s < cells->splits; s++) {
        int64_t cell = s * cells->settings + setting;
        double value = cells->values[cell * cells->metrics];
        if (owner >= 0 && owner_of[s] != owner)
            continue;
        result.failed += cells->failure_of[cell] >= 0;
        if (isnan(value))
            continue;
        sum += value;
        count++;
    }
    estimate.mean = count > 0 ? sum / (double)count : (double)NAN;
    if (metric->pooled != KFE_POOLED_NOT && cells->targets > 0) {
        kfe_i_pooled pooled = kfe_i_pool(on->held_out, cells, pick, NULL, -1);
        kfe_i_estimate_pool(metric, &pooled, &estimate);
    }
    result.mean = estimate.mean;
    return result;
}

/* The setting that failed least often, and of those the one with the best mean; of equals, the first. */
static int64_t best_setting(const kfe_i_contest *on, const int64_t *owner_of, int64_t owner)
{
    int64_t best = 0;
    standing leader = standing_of(on, 0, owner_of, owner);

    for (int64_t c = 1; c < on->cells->settings; c++) {
        standing one = standing_of(on, c, owner_of, owner);
        if (one.failed < leader.failed ||
            (one.failed == leader.failed && kfe_i_is_better(on->metric, one.mean, leader.mean))) {
            best = c;
            leader = one;
        }
    }
    return best;
}

/* ---- fewer features ---- */

/* The settings that differ from the best one in `dim` alone, by rising dim, and the splits that judge them. */
typedef struct ladder {
    kfe_context *ctx;
    const kfe_i_contest *on;
    kfe_i_pick pick;       /* of the owner's splits */
    int64_t first, splits; /* these splits */
    kfe_i_splits own;      /* borrowed */
    kfe_i_sorted *items;   /* setting and dim */
    int64_t count;
} ladder;

static int64_t dim_axis(const kfe_i_grid *grid)
{
    for (int64_t i = 0; i < grid->axis_count; i++)
        if (strcmp(grid->axes[i].name, "dim") == 0)
            return i;
    return -1;
}

/* Whether the settings agree but for one axis. */
static int differ_in(const kfe_i_grid *grid, int64_t a, int64_t b, int64_t axis)
{
    for (int64_t i = 0; i < grid->axis_count; i++)
        if (i != axis && strcmp(kfe_i_grid_value(grid, a, i), kfe_i_grid_value(grid, b, i)) != 0)
            return 0;
    return 1;
}

static kfe_status climb(ladder *l, int64_t axis, int64_t best, const int64_t *owner_of, int64_t owner)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = l->on->grid;
    double dim = 0;

    KFE_ALLOC(l->ctx, l->items, grid->count);
    for (int64_t c = 0; c < grid->count; c++) {
        const char *word = kfe_i_grid_value(grid, c, axis);
        standing one = standing_of(l->on, c, owner_of, owner);
        if (differ_in(grid, best, c, axis) && kfe_i_parse_number(word, word + strlen(word), &dim) &&
            one.failed == 0 && !isnan(one.mean))
            l->items[l->count++] = (kfe_i_sorted){.index = c, .value = -dim};
    }
    kfe_i_sort_falling(l->items, l->count);
    l->pick = (kfe_i_pick){.owner_of = owner >= 0 ? owner_of : NULL, .owner = owner};
    l->splits = l->on->cells->splits;
    if (owner < 0)
        goto cleanup;
    while (owner_of[l->first] != owner)
        l->first++;
    l->splits = 0;
    while (l->first + l->splits < l->on->cells->splits && owner_of[l->first + l->splits] == owner)
        l->splits++;
cleanup:
    l->own = (kfe_i_splits){.items = l->on->splits->items + l->first, .count = l->splits};
    return status;
}

static kfe_i_pooled pooled_of(const ladder *l, int64_t setting, const kfe_i_extent *extent)
{
    kfe_i_pick pick = l->pick;

    pick.setting = setting;
    return kfe_i_pool(l->on->held_out, l->on->cells, pick, extent, -1);
}

static kfe_i_estimate estimate_of(const ladder *l, int64_t setting, const kfe_i_extent *extent)
{
    const kfe_i_cells *cells = l->on->cells;
    int64_t cell = (l->first * cells->settings + setting) * cells->metrics;
    kfe_i_estimate estimate = kfe_i_estimate_over(extent, cells->values + cell, cells->variances + cell,
                                                  cells->settings * cells->metrics);
    kfe_i_pooled pooled = pooled_of(l, setting, extent);

    kfe_i_estimate_pool(l->on->metric, &pooled, &estimate);
    return estimate;
}

static kfe_status within_error(const ladder *l, int64_t best, int64_t *out)
{
    kfe_status status = KFE_OK;
    int larger = l->on->metric->larger_is_better;
    kfe_i_extent extent;

    KFE_TRY(kfe_i_extent_of(l->ctx, &l->own, &extent));
    const kfe_i_estimate leader = estimate_of(l, best, &extent);
    double error = fmax(leader.error, 0); /* 0 if it is not known */
    double limit = larger ? leader.mean - error : leader.mean + error;
    for (int64_t k = 0; k < l->count; k++) {
        double mean = estimate_of(l, l->items[k].index, &extent).mean;
        if (!kfe_i_is_better(l->on->metric, limit, mean)) {
            *out = l->items[k].index;
            break;
        }
    }
cleanup:
    return status;
}

static kfe_status by_gain(const ladder *l, int64_t *out)
{
    if (l->on->cells->targets == 0)
        return kfe_i_fail(l->ctx, KFE_EINVAL, "{choose=q2} is for real targets; classes have no Q2");
    for (int64_t k = 0; k < l->count; k++) {
        double before = k > 0 ? pooled_of(l, l->items[k - 1].index, NULL).rmse : (double)INFINITY;
        if (!(pooled_of(l, l->items[k].index, NULL).rmse <= KFE_Q2_GAIN * before))
            break;
        *out = l->items[k].index;
    }
    return KFE_OK;
}

/* The loss of row i of the test part of a split. */
static double loss_at(const ladder *l, int64_t split, int64_t setting, int64_t i)
{
    const kfe_i_cells *cells = l->on->cells;
    const kfe_i_target *target = &l->on->data->target;
    const double *predicted =
        cells->predictions + ((l->first + split) * cells->settings + setting) * cells->kept;
    int64_t row = l->own.items[split].test[i];
    double sum = 0;

    if (target->task == KFE_TASK_CLASSES)
        return kfe_i_weight_of(target, row) * ((int32_t)predicted[i] != target->codes[row]);
    for (int64_t j = 0; j < target->cols; j++) {
        double e = predicted[i * target->cols + j] - target->values[row * target->cols + j];
        sum += e * e;
    }
    return kfe_i_weight_of(target, row) * sum;
}

/* The probability that random signs make the difference of losses as large. */
static double flip_test(const ladder *l, int64_t setting, int64_t best, double *d)
{
    int64_t rows = 0;

    for (int64_t s = 0; s < l->splits; s++)
        for (int64_t i = 0; i < l->own.items[s].test_count; i++)
            d[rows++] = loss_at(l, s, setting, i) - loss_at(l, s, best, i);
    return kfe_i_flip_probability(l->ctx->seed, rows, d);
}

static kfe_status by_flips(const ladder *l, int64_t best, int64_t *out)
{
    kfe_status status = KFE_OK;
    double *d = NULL;
    int64_t rows = 0;

    for (int64_t s = 0; s < l->splits; s++)
        rows += l->own.items[s].test_count;
    KFE_ALLOC(l->ctx, d, rows);
    for (int64_t k = 0; k < l->count && l->items[k].index != best; k++) {
        if (flip_test(l, l->items[k].index, best, d) > KFE_FLIP_LEVEL) {
            *out = l->items[k].index;
            break;
        }
    }
cleanup:
    kfe_i_free(l->ctx, d);
    return status;
}

kfe_status kfe_i_choose(kfe_context *ctx, const kfe_i_contest *on, const int64_t *owner_of, int64_t owner,
                        int64_t *out)
{
    kfe_status status = KFE_OK;
    int64_t axis = dim_axis(on->grid);
    int64_t best = best_setting(on, owner_of, owner);
    ladder l = {.ctx = ctx, .on = on};

    *out = best;
    if (on->rule == KFE_CHOOSE_MIN)
        return KFE_OK;
    if (axis < 0 && kfe_i_spec_chooses_dim(on->grid->base)) /* by this rule, inside each fit */
        return KFE_OK;
    if (axis < 0) {
        kfe_i_log(
            ctx, KFE_LOG_WARNING,
            "{choose} is a rule for numbers of features, and the grid has none (dim): the best setting is taken");
        return KFE_OK;
    }
    KFE_TRY(climb(&l, axis, best, owner_of, owner));
    if (on->rule == KFE_CHOOSE_ONE_SE)
        KFE_TRY(within_error(&l, best, out));
    else if (on->rule == KFE_CHOOSE_PERMUTATION)
        KFE_TRY(by_flips(&l, best, out));
    else
        KFE_TRY(by_gain(&l, out));
cleanup:
    kfe_i_free(ctx, l.items);
    return status;
}
