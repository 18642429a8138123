/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Held-out predictions of real targets, pooled over the splits. With residuals e = ŷ − y, weights w, M = Σw, and ȳ the mean of the
 * held-out targets, of each target column:
 *
 *     rmse    √(Σwe²/M), RMSECV                       r2    1 − Σwe² / Σw(y − ȳ)², Q²
 *     bias    Σwe/M                                   sep   √(Σw(e − bias)²/(M − 1))
 *
 * Over several columns: the root of the mean of rmse² and sep², the mean of r2 and bias. The mean of rmse over test parts of one row would
 * be the mean absolute error, and r2 of one row is not defined. Cells keep Σwe and Σwe², so that nothing is predicted twice.
 *
 * Standard errors are those of estimate.c with the linear part g_s of what split s contributes: √(k/(k − 1) Σg_s²) √(1 + k·n_test/n_train)
 * over k splits, where g_s = (E_s − m_s·rmse²)/(2·rmse·M) for rmse and (E/T)·T_s/T − E_s/T for r2 (E, T: sums of e² and (y − ȳ)²). For
 * a mean over equal parts this is the corrected resampled error. An estimate has the larger of this error and its own.
 */
#include "select/pool.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

/* ---- the truth ---- */

static double mean_of(const kfe_i_target *target, int64_t column)
{
    double mass = 0;
    double sum = 0;

    for (int64_t i = 0; i < target->rows; i++) {
        mass += kfe_i_weight_of(target, i);
        sum += kfe_i_weight_of(target, i) * target->values[i * target->cols + column];
    }
    return sum / mass;
}

static void add_truth(const kfe_i_target *target, const kfe_i_split *split, int64_t column, double mean,
                      double out[2])
{
    for (int64_t i = 0; i < split->test_count; i++) {
        int64_t row = split->test[i];
        double y = target->values[row * target->cols + column] - mean;
        out[0] += kfe_i_weight_of(target, row) * y;
        out[1] += kfe_i_weight_of(target, row) * y * y;
    }
}

kfe_status kfe_i_held_out_make(kfe_context *ctx, const kfe_i_target *target, const kfe_i_splits *splits,
                               kfe_i_held_out *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_held_out){.ctx = ctx, .splits = splits->count};
    if (target->task != KFE_TASK_REAL)
        return KFE_OK;
    out->cols = target->cols;
    KFE_ALLOC_ZERO(ctx, out->mass, out->splits);
    KFE_ALLOC_ZERO(ctx, out->sums, out->splits * out->cols * 2);
    for (int64_t s = 0; s < out->splits; s++)
        for (int64_t i = 0; i < splits->items[s].test_count; i++)
            out->mass[s] += kfe_i_weight_of(target, splits->items[s].test[i]);
    for (int64_t j = 0; j < out->cols; j++) {
        double mean = mean_of(target, j);
        for (int64_t s = 0; s < out->splits; s++)
            add_truth(target, &splits->items[s], j, mean, out->sums + 2 * (s * out->cols + j));
    }
cleanup:
    return status;
}

void kfe_i_held_out_free(kfe_i_held_out *held_out)
{
    if (!held_out->ctx)
        return;
    kfe_i_free(held_out->ctx, held_out->mass);
    kfe_i_free(held_out->ctx, held_out->sums);
    memset(held_out, 0, sizeof *held_out);
}

/* ---- sums over splits ---- */

/* What is pooled, and one split of it. */
typedef struct pool {
    const kfe_i_held_out *held_out;
    const kfe_i_cells *cells;
    kfe_i_pick pick;
} pool;

typedef struct part {
    double mass, y, y2, e, e2;
} part;

/* Returns 0 if the split has no predictions, or is another owner's. */
static int part_of(const pool *p, int64_t split, int64_t column, part *out)
{
    const kfe_i_held_out *h = p->held_out;
    int64_t setting = p->pick.chosen ? p->pick.chosen[split] : p->pick.setting;
    const double *errors =
        p->cells->residuals + 2 * ((split * p->cells->settings + setting) * h->cols + column);
    const double *truth = h->sums + 2 * (split * h->cols + column);

    if ((p->pick.owner_of && p->pick.owner_of[split] != p->pick.owner) || isnan(errors[1]))
        return 0;
    *out = (part){h->mass[split], truth[0], truth[1], errors[0], errors[1]};
    return 1;
}

static part sum_parts(const pool *p, int64_t column, int64_t *count)
{
    part sum = {0};
    part one;

    *count = 0;
    for (int64_t s = 0; s < p->held_out->splits; s++)
        if (part_of(p, s, column, &one)) {
            sum.mass += one.mass;
            sum.y += one.y;
            sum.y2 += one.y2;
            sum.e += one.e;
            sum.e2 += one.e2;
            ++*count;
        }
    return sum;
}

/* Of one column. */
typedef struct column_errors {
    part sum;
    double mean, spread; /* ȳ, and Σw(y − ȳ)² */
} column_errors;

static column_errors errors_of(const pool *p, int64_t column, int64_t *count)
{
    column_errors c = {.sum = sum_parts(p, column, count)};

    c.mean = c.sum.y / c.sum.mass;
    c.spread = c.sum.y2 - c.sum.y * c.mean;
    return c;
}

/* √Σg_s² of rmse² over all columns [first, end), whose sum is `total`; g as in the head of the file. */
static double error_of_squares(const pool *p, int64_t first, int64_t end, double total)
{
    double sum = 0;
    part one = {0};

    for (int64_t s = 0; s < p->held_out->splits; s++) {
        double squares = 0;
        int has = 1;
        for (int64_t j = first; j < end; j++) {
            has = has && part_of(p, s, j, &one);
            squares += one.e2;
        }
        double g = has ? squares - one.mass * total : 0;
        sum += g * g;
    }
    return sqrt(sum);
}

/* √Σg_s² of r2 of one column. */
static double error_of_share(const pool *p, int64_t column, const column_errors *c)
{
    double share = c->sum.e2 / c->spread;
    double sum = 0;
    part one;

    for (int64_t s = 0; s < p->held_out->splits; s++)
        if (part_of(p, s, column, &one)) {
            double spread = one.y2 - 2 * c->mean * one.y + c->mean * c->mean * one.mass;
            double g = (share * spread - one.e2) / c->spread;
            sum += g * g;
        }
    return sqrt(sum);
}

/* Of several columns, r2 has the mean of their errors, which is at most too large. */
static void find_errors(const pool *p, int64_t first, int64_t end, double factor, kfe_i_pooled *out)
{
    int64_t splits = 0;
    double cols = (double)(end - first);
    double total = cols * out->rmse * out->rmse;

    out->rmse_error = out->rmse > 0 ? factor * error_of_squares(p, first, end, total) /
                                          (2 * cols * out->rmse * out->predictions)
                                    : 0;
    out->r2_error = 0;
    for (int64_t j = first; j < end; j++) {
        column_errors c = errors_of(p, j, &splits);
        out->r2_error += factor * error_of_share(p, j, &c) / cols;
    }
}

kfe_i_pooled kfe_i_pool(const kfe_i_held_out *held_out, const kfe_i_cells *cells, kfe_i_pick pick,
                        const kfe_i_extent *extent, int64_t column)
{
    const pool p = {held_out, cells, pick};
    kfe_i_pooled out = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    int64_t first = column < 0 ? 0 : column;
    int64_t end = column < 0 ? held_out->cols : column + 1;
    double cols = (double)(end - first);
    int64_t splits = 0;
    double squares[2] = {0, 0};
    double means[2] = {0, 0};

    for (int64_t j = first; j < end; j++) {
        column_errors c = errors_of(&p, j, &splits);
        if (splits == 0)
            return out;
        out.predictions = c.sum.mass;
        squares[0] += c.sum.e2 / c.sum.mass;
        squares[1] += fmax(0, c.sum.e2 - c.sum.e * c.sum.e / c.sum.mass) / (c.sum.mass - 1);
        means[0] += c.sum.e / c.sum.mass;
        means[1] += c.spread > 0 ? 1 - c.sum.e2 / c.spread : (double)NAN;
    }
    if (cols == 0)
        return out;
    out.rmse = sqrt(squares[0] / cols);
    out.sep = out.predictions > 1 ? sqrt(squares[1] / cols) : (double)NAN;
    out.bias = means[0] / cols;
    out.r2 = means[1] / cols;
    double k = (double)splits;
    if (splits > 1 && extent)
        find_errors(&p, first, end, sqrt(k / (k - 1) * (1 + k * extent->test_share)), &out);
    return out;
}

void kfe_i_estimate_pool(const kfe_i_metric *metric, const kfe_i_pooled *pooled, kfe_i_estimate *estimate)
{
    if (metric->pooled == KFE_POOLED_NOT || isnan(pooled->rmse))
        return;
    int is_rmse = metric->pooled == KFE_POOLED_RMSE;
    double by_splits = is_rmse ? pooled->rmse_error : pooled->r2_error;

    estimate->mean = is_rmse ? pooled->rmse : pooled->r2;
    estimate->error = fmax(estimate->error, by_splits); /* fmax passes over NaN */
}
