/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of one SVM, and the choice of working sets, for blocks.c.
 *
 * A working set consists of the variables that violate the optimality conditions most, half of them from either side, and,
 * as ThunderSVM does (Wen et al., 2018), of variables of the working set before, whose kernel rows are at hand: free ones
 * first. It always has the most violating pair, so that every working set makes progress.
 */
#include "learn/blocks/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "learn/svm_offset.h"

/* Share of a working set that is new, if there was one before. */
#define NEW_SHARE 0.5

/* ---- opening ---- */

/* Sorts the examples by their position, and notes which are side by side. `place` has n zeros. */
static void sort_examples(kfe_i_block_problem *p, const int64_t *position, int64_t n, int64_t *place)
{
    const kfe_i_svm_dual *dual = p->dual;
    int64_t found = 0;

    for (int64_t i = 0; i < dual->count; i++)
        place[position ? position[dual->rows[i]] : dual->rows[i]] = i + 1;
    for (int64_t at = 0; at < n; at++) {
        if (place[at] == 0)
            continue;
        if (found == 0 || place[at - 1] == 0)
            p->spans[p->span_count++] = (kfe_i_span){at, 0};
        p->spans[p->span_count - 1].count++;
        p->order[found++] = place[at] - 1;
    }
}

static double clip(double value, double lowest, double highest)
{
    return fmin(fmax(value, lowest), highest);
}

/* The start, inside of its box. */
static void fill_variables(kfe_i_block_problem *p)
{
    const kfe_i_svm_dual *dual = p->dual;

    for (int64_t t = 0; t < p->variables; t++) {
        int64_t i = p->order[kfe_i_example_of(p, t)];
        double tube = t < p->examples ? dual->tube : -dual->tube;
        p->target[t] = dual->target[i] - (dual->real ? tube : 0);
        kfe_i_block_set(p, t, clip(dual->beta[i], kfe_i_lowest_of(p, t), kfe_i_highest_of(p, t)));
    }
}

/* Scales the heavier side down, so that Σβ = 0. */
static void balance(kfe_i_block_problem *p)
{
    double sum[2] = {0, 0};

    for (int64_t t = 0; t < p->variables; t++)
        sum[p->beta[t] < 0] += fabs(p->beta[t]);
    int heavy = sum[1] > sum[0];
    double factor = sum[heavy] > 0 ? sum[!heavy] / sum[heavy] : 1;
    for (int64_t t = 0; t < p->variables; t++)
        if ((p->beta[t] < 0) == heavy)
            kfe_i_block_set(p, t, p->beta[t] * factor);
}

kfe_status kfe_i_block_problem_open(kfe_context *ctx, kfe_i_svm_dual *dual, int64_t n,
                                    const int64_t *position, int64_t most, kfe_i_block_problem *out)
{
    kfe_status status = KFE_OK;
    kfe_i_block_problem *p = out;
    int64_t *place = NULL;

    *p = (kfe_i_block_problem){.dual = dual, .examples = dual->count};
    p->variables = dual->real ? 2 * dual->count : dual->count;
    KFE_ALLOC_ZERO(ctx, place, n);
    KFE_ALLOC(ctx, p->order, p->examples);
    KFE_ALLOC(ctx, p->spans, p->examples);
    KFE_ALLOC(ctx, p->target, p->variables);
    KFE_ALLOC(ctx, p->beta, p->variables);
    KFE_ALLOC_ZERO(ctx, p->values, p->examples);
    KFE_ALLOC(ctx, p->moves, p->variables);
    KFE_ALLOC_ZERO(ctx, p->chosen, p->variables);
    KFE_ALLOC(ctx, p->set, most);
    KFE_ALLOC(ctx, p->last_set, most);
    KFE_ALLOC(ctx, p->keys, most);
    KFE_ALLOC(ctx, p->change, most);
    sort_examples(p, position, n, place);
    fill_variables(p);
    balance(p);
cleanup:
    kfe_i_free(ctx, place);
    return status;
}

void kfe_i_block_problem_free(kfe_context *ctx, kfe_i_block_problem *p)
{
    kfe_i_free(ctx, p->order);
    kfe_i_free(ctx, p->spans);
    kfe_i_free(ctx, p->target);
    kfe_i_free(ctx, p->beta);
    kfe_i_free(ctx, p->values);
    kfe_i_free(ctx, p->moves);
    kfe_i_free(ctx, p->chosen);
    kfe_i_free(ctx, p->set);
    kfe_i_free(ctx, p->last_set);
    kfe_i_free(ctx, p->keys);
    kfe_i_free(ctx, p->change);
    memset(p, 0, sizeof *p);
}

/* ---- variables ---- */

static int is_positive(const kfe_i_block_problem *p, int64_t t)
{
    return p->dual->real ? t < p->examples : p->dual->target[p->order[t]] > 0;
}

int64_t kfe_i_row_of(const kfe_i_block_problem *p, int64_t variable)
{
    return p->dual->rows[p->order[kfe_i_example_of(p, variable)]];
}

static double weight_of(const kfe_i_block_problem *p, int64_t variable)
{
    return p->dual->weights ? p->dual->weights[p->order[kfe_i_example_of(p, variable)]] : 1;
}

double kfe_i_lowest_of(const kfe_i_block_problem *p, int64_t variable)
{
    return is_positive(p, variable) ? 0 : -p->dual->upper[1] * weight_of(p, variable);
}

double kfe_i_highest_of(const kfe_i_block_problem *p, int64_t variable)
{
    return is_positive(p, variable) ? p->dual->upper[0] * weight_of(p, variable) : 0;
}

static double residual_of(const kfe_i_block_problem *p, int64_t t)
{
    return p->target[t] - p->values[kfe_i_example_of(p, t)];
}

void kfe_i_block_set(kfe_i_block_problem *p, int64_t variable, double beta)
{
    int rises = beta < kfe_i_highest_of(p, variable);
    int falls = beta > kfe_i_lowest_of(p, variable);

    p->beta[variable] = beta;
    p->moves[variable] = (unsigned char)((rises ? KFE_MAY_RISE : 0) | (falls ? KFE_MAY_FALL : 0));
}

static int is_free(const kfe_i_block_problem *p, int64_t t)
{
    return p->moves[t] == (KFE_MAY_RISE | KFE_MAY_FALL);
}

double kfe_i_block_violation(kfe_i_block_problem *p)
{
    kfe_i_extremes found = {-INFINITY, INFINITY};

    for (int64_t t = 0; t < p->variables; t++) {
        double residual = residual_of(p, t);
        if ((p->moves[t] & KFE_MAY_RISE) && residual > found.highest)
            found.highest = residual;
        if ((p->moves[t] & KFE_MAY_FALL) && residual < found.lowest)
            found.lowest = residual;
    }
    p->extremes = found;
    double violation = found.highest - found.lowest;
    return violation > 0 ? violation : 0;
}

/* ---- the working set ---- */

/* The variables with the largest keys so far; the smallest of them is on top. */
typedef struct heap {
    int64_t *items;
    double *keys;
    int64_t count, most;
} heap;

static void swap_entries(heap *h, int64_t a, int64_t b)
{
    int64_t item = h->items[a];
    double key = h->keys[a];

    h->items[a] = h->items[b];
    h->keys[a] = h->keys[b];
    h->items[b] = item;
    h->keys[b] = key;
}

static void sift_down(heap *h)
{
    int64_t at = 0;

    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= h->count)
            return;
        if (child + 1 < h->count && h->keys[child + 1] < h->keys[child])
            child++;
        if (h->keys[at] <= h->keys[child])
            return;
        swap_entries(h, at, child);
        at = child;
    }
}

static void heap_add(heap *h, int64_t item, double key)
{
    if (h->count == h->most) {
        if (h->most == 0 || key <= h->keys[0])
            return;
        h->items[0] = item;
        h->keys[0] = key;
        sift_down(h);
        return;
    }
    int64_t at = h->count++;
    h->items[at] = item;
    h->keys[at] = key;
    for (; at > 0 && h->keys[at] < h->keys[(at - 1) / 2]; at = (at - 1) / 2)
        swap_entries(h, at, (at - 1) / 2);
}

/* Adds up to `most` variables with the highest residuals that may rise, or the lowest that may fall, if they are in a
 * violating pair. */
static void add_violating(kfe_i_block_problem *p, int rising, int64_t most)
{
    heap h = {p->set + p->set_count, p->keys, 0, most};
    int move = rising ? KFE_MAY_RISE : KFE_MAY_FALL;

    for (int64_t t = 0; t < p->variables; t++) {
        double residual = residual_of(p, t);
        int violates = rising ? residual > p->extremes.lowest : residual < p->extremes.highest;
        if ((p->moves[t] & move) && violates && !p->chosen[t])
            heap_add(&h, t, rising ? residual : -residual);
    }
    for (int64_t k = 0; k < h.count; k++)
        p->chosen[h.items[k]] = 1;
    p->set_count += h.count;
}

/* Adds variables of the last working set: free ones, or those at a bound. */
static void add_last(kfe_i_block_problem *p, int want_free, int64_t most)
{
    for (int64_t k = 0; k < p->last_count && p->set_count < most; k++) {
        int64_t t = p->last_set[k];
        if (p->chosen[t] || is_free(p, t) != want_free)
            continue;
        p->chosen[t] = 1;
        p->set[p->set_count++] = t;
    }
}

static int compare_variables(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void kfe_i_block_choose(kfe_i_block_problem *p, int64_t most)
{
    int64_t *swapped = p->last_set;
    int64_t fresh = p->set_count > 0 ? (int64_t)(NEW_SHARE * (double)most) : most;

    fresh = fresh < 2 ? 2 : fresh; /* the most violating pair */
    p->last_set = p->set;
    p->last_count = p->set_count;
    p->set = swapped;
    p->set_count = 0;
    add_violating(p, 1, fresh - fresh / 2);
    add_violating(p, 0, fresh / 2);
    add_last(p, 1, most);
    add_last(p, 0, most);
    for (int64_t k = 0; k < p->set_count; k++)
        p->chosen[p->set[k]] = 0;
    qsort(p->set, (size_t)p->set_count, sizeof *p->set, compare_variables); /* rows are read in their order */
}

/* ---- the answer ---- */

static double offset_of(const kfe_i_block_problem *p)
{
    kfe_i_svm_offset offset = kfe_i_svm_offset_begin();

    for (int64_t t = 0; t < p->variables; t++)
        kfe_i_svm_offset_add(&offset, residual_of(p, t), p->beta[t], kfe_i_lowest_of(p, t),
                             kfe_i_highest_of(p, t));
    return kfe_i_svm_offset_end(&offset);
}

void kfe_i_block_answer(kfe_i_block_problem *p)
{
    kfe_i_svm_dual *dual = p->dual;

    dual->violation = kfe_i_block_violation(p);
    dual->offset = offset_of(p);
    for (int64_t e = 0; e < p->examples; e++) {
        int64_t i = p->order[e];
        dual->beta[i] = p->beta[e] + (dual->real ? p->beta[e + p->examples] : 0);
        dual->values[i] = p->values[e];
    }
}
