/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds that only the content of the rows decides, for automatic choices: neither the order of the rows nor the names of classes
 * matter, equal rows are in one fold, and a row of weight 2 counts as two equal rows. Called by kfe_i_splits_make.
 *
 * The different rows are dealt from the heaviest to the lightest, equal weights in a random order that the keys decide
 * (data/rows/distinct.h), each to the fold that has least weight of its class, and of these to the one with least weight. The class
 * of equal rows that differ in it is the heaviest one among them. Time O(n log n + n·folds).
 */
#include <stdlib.h>

#include "core/memory.h"
#include "core/sort.h"
#include "data/rows/distinct.h"
#include "select/splits.h"

/* Equal rows. */
typedef struct unit {
    int64_t number; /* in random order */
    int32_t class_of;
    double weight;
} unit;

typedef struct dealing {
    kfe_context *ctx;
    const kfe_i_split_rows *from;
    const kfe_i_protocol *protocol;
    int64_t count, *rows; /* row numbers, increasing */
    int64_t folds, classes;
    int64_t unit_count;
    unit *units;
    double *loads; /* folds × (classes + 1): the weight of each class, and of all */
    int64_t *fold_of_unit, *part;
} dealing;

static double weight_of(const dealing *d, int64_t row)
{
    return d->from->target ? kfe_i_weight_of(d->from->target, row) : 1;
}

static int32_t class_of(const dealing *d, int64_t row)
{
    return d->classes > 1 ? d->from->target->codes[row] : 0;
}

/* A row, to find its equals. */
typedef struct placed_row {
    int64_t number;
    int32_t class_of;
    double weight;
} placed_row;

static int compare_placed(const void *a, const void *b)
{
    const placed_row *x = a;
    const placed_row *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->class_of > y->class_of) - (x->class_of < y->class_of);
}

static int compare_units(const void *a, const void *b)
{
    const unit *x = a;
    const unit *y = b;

    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* sorted: by number and class. */
static void gather_units(dealing *d, const placed_row *sorted)
{
    double own = 0; /* of one class of the unit */
    double heaviest = 0;

    for (int64_t i = 0; i < d->count; i++) {
        int begins = i == 0 || sorted[i].number != sorted[i - 1].number;
        if (begins) {
            d->units[d->unit_count++] = (unit){.number = sorted[i].number, .class_of = sorted[i].class_of};
            heaviest = 0;
        }
        unit *last = &d->units[d->unit_count - 1];
        own = begins || sorted[i].class_of != sorted[i - 1].class_of ? 0 : own;
        own += sorted[i].weight;
        last->weight += sorted[i].weight;
        if (own > heaviest) {
            heaviest = own;
            last->class_of = sorted[i].class_of;
        }
    }
}

static kfe_status make_units(dealing *d, const kfe_i_distinct *distinct)
{
    kfe_status status = KFE_OK;
    placed_row *sorted = NULL;

    KFE_ALLOC(d->ctx, sorted, d->count);
    for (int64_t i = 0; i < d->count; i++)
        sorted[i] = (placed_row){distinct->of[d->rows[i]], class_of(d, d->rows[i]), weight_of(d, d->rows[i])};
    qsort(sorted, (size_t)d->count, sizeof *sorted, compare_placed);
    d->unit_count = 0;
    gather_units(d, sorted);
    qsort(d->units, (size_t)d->unit_count, sizeof *d->units, compare_units);
cleanup:
    kfe_i_free(d->ctx, sorted);
    return status;
}

/* Whether fold a has less of the class than fold b, or as much of it and less in all. */
static int is_lighter(const dealing *d, int32_t class_of, int64_t a, int64_t b)
{
    const double *first = d->loads + a * (d->classes + 1);
    const double *second = d->loads + b * (d->classes + 1);

    if (first[class_of] != second[class_of])
        return first[class_of] < second[class_of];
    return first[d->classes] < second[d->classes];
}

static void deal(dealing *d)
{
    for (int64_t i = 0; i < d->folds * (d->classes + 1); i++)
        d->loads[i] = 0;
    for (int64_t u = 0; u < d->unit_count; u++) {
        int64_t best = 0;
        for (int64_t f = 1; f < d->folds; f++)
            if (is_lighter(d, d->units[u].class_of, f, best))
                best = f;
        d->loads[best * (d->classes + 1) + d->units[u].class_of] += d->units[u].weight;
        d->loads[best * (d->classes + 1) + d->classes] += d->units[u].weight;
        d->fold_of_unit[d->units[u].number] = best;
    }
}

static kfe_status add_repeat(dealing *d, uint64_t purpose, int64_t repeat, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_parts parts = {d->count, d->rows, d->part};
    kfe_i_distinct distinct = {0};

    KFE_TRY(kfe_i_distinct_make(d->ctx, d->from->rows, d->from->keys, kfe_i_split_stream(purpose, repeat),
                                &distinct));
    KFE_TRY(make_units(d, &distinct));
    if (d->unit_count < d->folds)
        d->folds = d->unit_count;
    if (d->folds < 2 || (d->folds < d->protocol->folds && !d->from->or_fewer))
        KFE_FAIL(d->ctx, KFE_EINPUT, "%lld different rows cannot be divided into %lld folds; use fewer folds",
                 (long long)d->unit_count, (long long)d->protocol->folds);
    deal(d);
    for (int64_t i = 0; i < d->count; i++)
        d->part[i] = d->fold_of_unit[distinct.of[d->rows[i]]];
    for (int64_t fold = 0; fold < d->folds; fold++)
        KFE_TRY(kfe_i_splits_add_part(out, &parts, fold, repeat, fold));
cleanup:
    kfe_i_distinct_free(&distinct);
    return status;
}

static kfe_status warn(const dealing *d)
{
    kfe_status status = KFE_OK;
    int64_t *start = NULL;

    if (d->classes == 1)
        return KFE_OK;
    KFE_ALLOC_ZERO(d->ctx, start, d->classes + 1);
    for (int64_t i = 0; i < d->count; i++)
        start[class_of(d, d->rows[i]) + 1]++;
    for (int64_t g = 0; g < d->classes; g++)
        start[g + 1] += start[g];
    kfe_i_warn_of_small_classes(d->ctx, d->from->target, d->folds, start);
cleanup:
    kfe_i_free(d->ctx, start);
    return status;
}

kfe_status kfe_i_content_splits_make(kfe_context *ctx, const kfe_i_protocol *protocol,
                                     const kfe_i_split_rows *from, uint64_t purpose, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = from->target;
    int by_class = protocol->stratified && target && target->task == KFE_TASK_CLASSES;
    dealing d = {.ctx = ctx, .from = from, .protocol = protocol};

    d.count = from->subset ? from->subset_count : from->rows;
    d.folds = protocol->folds < d.count ? protocol->folds : d.count;
    d.classes = by_class && target->class_count > 1 ? target->class_count : 1;
    KFE_ALLOC(ctx, d.rows, d.count);
    KFE_ALLOC(ctx, d.units, d.count);
    KFE_ALLOC(ctx, d.loads, d.folds * (d.classes + 1));
    KFE_ALLOC(ctx, d.fold_of_unit, from->rows);
    KFE_ALLOC(ctx, d.part, d.count);
    for (int64_t i = 0; i < d.count; i++)
        d.rows[i] = from->subset ? from->subset[i] : i;
    kfe_i_sort_rows(d.rows, d.count);
    KFE_TRY(warn(&d));
    for (int64_t repeat = 0; repeat < protocol->repeats; repeat++)
        KFE_TRY(add_repeat(&d, purpose, repeat, out));
cleanup:
    kfe_i_free(ctx, d.rows);
    kfe_i_free(ctx, d.units);
    kfe_i_free(ctx, d.loads);
    kfe_i_free(ctx, d.fold_of_unit);
    kfe_i_free(ctx, d.part);
    return status;
}
