/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows kfe_tune measures and fits on: outer splits, inner folds, and what a rung keeps of them. All go by the content of the
 * rows (data/rows/distinct.h), so that neither their order nor the names of classes change what is chosen; equal rows stay
 * together, and a row of weight 2 is as good as two equal rows where no limit counts rows. Called by tune.c and tune_search.c.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "workflow/tune.h"

static const int64_t rung_rows[KFE_TUNE_RUNGS] = {1000, 2000, 4000};
/* The first rung does not train on fewer different rows than this, unless there are fewer. */
enum { FEW_ROWS = 100, MOST_TEST_ROWS = 2000 };

/* ---- outer splits ---- */

/* Keeps the first split. */
static void keep_first(kfe_i_splits *splits)
{
    for (int64_t i = 1; i < splits->count; i++) {
        kfe_i_free(splits->ctx, splits->items[i].train);
        kfe_i_free(splits->ctx, splits->items[i].test);
        kfe_i_free(splits->ctx, splits->items[i].validation);
    }
    splits->count = splits->count > 0;
}

static kfe_status count_different(kfe_i_tune *tune, const kfe_i_row_key *keys)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &tune->data->target;
    kfe_i_distinct distinct = {0};
    unsigned char *seen = NULL;

    KFE_TRY(kfe_i_distinct_make(tune->ctx, target->rows, keys, KFE_STREAM_SPLITS, &distinct));
    KFE_ALLOC_ZERO(tune->ctx, seen, distinct.count);
    for (int64_t i = 0; i < target->rows; i++)
        if (kfe_i_weight_of(target, i) > 0 && !seen[distinct.of[i]]++)
            tune->different++;
cleanup:
    kfe_i_free(tune->ctx, seen);
    kfe_i_distinct_free(&distinct);
    return status;
}

/* The rows of a searcher; NULL subset: all rows. */
static kfe_i_split_rows rows_of(const kfe_i_tune *tune, int64_t searcher)
{
    int64_t split = tune->held_out ? searcher : searcher - 1;
    kfe_i_split_rows rows = kfe_i_split_all(tune->data);

    if (split >= 0 && split < tune->outer.count)
        rows = kfe_i_split_some(tune->data, tune->outer.items[split].train,
                                tune->outer.items[split].train_count);
    rows.given_count = 0; /* given splits are outer ones */
    return rows;
}

kfe_i_split_rows kfe_i_tune_rows(const kfe_i_tune *tune, int64_t searcher)
{
    kfe_i_split_rows rows = rows_of(tune, searcher);

    rows.keys = tune->keys[searcher];
    return rows;
}

kfe_status kfe_i_tune_outer(kfe_i_tune *tune, int64_t folds)
{
    kfe_status status = KFE_OK;
    kfe_i_split_rows all = kfe_i_split_all(tune->data);
    kfe_i_row_key *keys = NULL;
    const kfe_i_protocol protocol = {.kind = KFE_SPLIT_FOLDS, .folds = folds, .repeats = 1, .stratified = 1};

    KFE_TRY(kfe_i_data_row_keys(tune->ctx, tune->data, &keys));
    KFE_TRY(count_different(tune, keys));
    all.keys = keys;
    KFE_TRY(kfe_i_splits_make(tune->ctx, &protocol, &all, 0, &tune->outer));
    if (tune->held_out)
        keep_first(&tune->outer);
    tune->searchers = tune->held_out ? 1 : 1 + tune->outer.count;
    KFE_ALLOC_ZERO(tune->ctx, tune->keys, tune->searchers);
    for (int64_t o = 0; o < tune->searchers; o++) {
        const kfe_i_split_rows own = rows_of(tune, o);
        KFE_TRY(
            kfe_i_data_some_row_keys(tune->ctx, tune->data, own.subset, own.subset_count, &tune->keys[o]));
    }
cleanup:
    kfe_i_free(tune->ctx, keys);
    return status;
}

/* ---- limits ---- */

typedef struct placed {
    int64_t number, row; /* number: of its content */
    double target;       /* the class, or the first real target */
} placed;

static int compare_placed(const void *a, const void *b)
{
    const placed *x = a;
    const placed *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* What may still be kept of a class: different rows, and rows. */
typedef struct budget {
    int64_t different, rows;
} budget;

typedef struct limiting {
    const kfe_i_tune *tune;
    kfe_i_distinct distinct; /* rows of the searcher by their content */
    int by_class;
    int64_t count;
    placed *items;   /* room for all rows of the data */
    budget *budgets; /* of each class, or one */
} limiting;

static budget *budget_of(const limiting *l, int64_t item)
{
    return &l->budgets[l->by_class ? (int64_t)l->items[item].target : 0];
}

/* Whether an item is the first of its content and, where classes count, of its class. */
static int begins(const limiting *l, int64_t item)
{
    const placed *now = &l->items[item];

    return item == 0 || now->number != now[-1].number || (l->by_class && now->target != now[-1].target);
}

static void list_items(limiting *l, const int64_t *rows)
{
    const kfe_i_target *target = &l->tune->data->target;

    for (int64_t i = 0; i < l->count; i++)
        l->items[i] = (placed){l->distinct.of[rows[i]], rows[i],
                               target->task == KFE_TASK_CLASSES ? target->codes[rows[i]]
                                                                : target->values[rows[i] * target->cols]};
    qsort(l->items, (size_t)l->count, sizeof *l->items, compare_placed);
}

/* A class keeps its share, and at least two if it has them, so that no fit lacks a class. */
static int64_t share_of(int64_t members, int64_t most, int64_t all)
{
    int64_t share = all > 0 && all > most ? (members * most + all / 2) / all : members;
    int64_t least = members < 2 ? members : 2;

    return share < least ? least : share;
}

/* Keeps at most `most` rows, and different ones only up to `different`. Cuts through equal rows only where that leaves no choice. */
static void limit(limiting *l, int64_t different, int64_t most, int64_t *rows, int64_t *count)
{
    int64_t classes = l->by_class ? l->tune->data->target.class_count : 1;
    int64_t all = 0;
    int64_t kept = 0;
    int is_kept = 0;

    l->count = *count;
    list_items(l, rows);
    memset(l->budgets, 0, (size_t)classes * sizeof *l->budgets);
    for (int64_t i = 0; i < l->count; i++) {
        budget_of(l, i)->rows++;
        budget_of(l, i)->different += begins(l, i);
        all += begins(l, i);
    }
    for (int64_t g = 0; g < classes; g++)
        l->budgets[g] = (budget){share_of(l->budgets[g].different, different, all),
                                 share_of(l->budgets[g].rows, most, l->count)};
    for (int64_t i = 0; i < l->count; i++) {
        budget *left = budget_of(l, i);
        if (begins(l, i))
            is_kept = left->different-- > 0;
        if (is_kept && left->rows-- > 0)
            rows[kept++] = l->items[i].row;
    }
    *count = kept;
    kfe_i_sort_rows(rows, kept);
}

/* ---- inner folds ---- */

static void move_splits(kfe_i_splits *from, kfe_i_splits *to)
{
    for (int64_t i = 0; i < from->count; i++)
        to->items[to->count++] = from->items[i];
    from->count = 0;
    kfe_i_splits_free(from);
}

static int64_t different_of(limiting *l, const int64_t *rows, int64_t count)
{
    int64_t different = 0;

    l->count = count;
    list_items(l, rows);
    for (int64_t i = 0; i < count; i++)
        different += begins(l, i);
    return different;
}

/* How many different training rows of a split a rung uses. */
static int64_t most_different(int rung, int64_t different)
{
    int64_t half = different / 2 < FEW_ROWS ? FEW_ROWS : different / 2;

    return rung == 0 && half < rung_rows[0] ? half : rung_rows[rung];
}

/* The folds of one searcher. */
static kfe_status limit_folds(limiting *l, int64_t searcher, int rung, kfe_i_splits *splits)
{
    kfe_status status = KFE_OK;
    const kfe_i_tune *tune = l->tune;

    KFE_TRY(kfe_i_distinct_make(tune->ctx, tune->data->target.rows, tune->keys[searcher], KFE_STREAM_SPLITS,
                                &l->distinct));
    for (int64_t i = tune->fold_begin[searcher]; i < tune->fold_begin[searcher + 1]; i++) {
        kfe_i_split *split = &splits->items[i];
        l->by_class = l->tune->data->target.task == KFE_TASK_CLASSES;
        limit(l, most_different(rung, different_of(l, split->train, split->train_count)), rung_rows[rung],
              split->train, &split->train_count);
        l->by_class = 0;
        limit(l, MOST_TEST_ROWS, MOST_TEST_ROWS, split->test, &split->test_count);
    }
cleanup:
    kfe_i_distinct_free(&l->distinct);
    return status;
}

kfe_status kfe_i_tune_inner(kfe_i_tune *tune, int rung, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    kfe_i_protocol protocol = {
        .kind = KFE_SPLIT_FOLDS, .folds = KFE_TUNE_FOLDS, .repeats = 1, .stratified = 1};
    kfe_i_splits part = {0};
    limiting l = {.tune = tune};

    *out = (kfe_i_splits){.ctx = tune->ctx};
    KFE_ALLOC(tune->ctx, l.items, tune->data->target.rows);
    KFE_ALLOC(tune->ctx, l.budgets, tune->data->target.class_count + 1);
    KFE_GROW(tune->ctx, out->items, out->capacity, tune->searchers * KFE_TUNE_FOLDS);
    for (int64_t o = 0; o < tune->searchers; o++) {
        kfe_i_split_rows rows = kfe_i_tune_rows(tune, o);
        rows.or_fewer = 1;
        KFE_TRY(kfe_i_splits_make(tune->ctx, &protocol, &rows, 1000 + (uint64_t)o, &part));
        move_splits(&part, out);
        tune->fold_begin[o + 1] = out->count;
        KFE_TRY(limit_folds(&l, o, rung, out));
    }
cleanup:
    kfe_i_splits_free(&part);
    kfe_i_free(tune->ctx, l.items);
    kfe_i_free(tune->ctx, l.budgets);
    return status;
}
