/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits that keep groups of rows together: the rows of a group are all in the training part or all in the test part.
 * Called by kfe_i_splits_make. The random order of the groups is that of their numbers or, of rows with keys, of what they contain.
 *
 * Folds: groups are dealt from the largest to the smallest, equal sizes in random order, each to the fold where it
 * raises Σ_c (share of class c in the fold)² least. That balances the sizes of the folds and, if stratified, each class.
 * Random: groups in random order are for training until it has its share of rows.
 * Leave-group-out: one split for each group, in the order of their numbers.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "data/rows/distinct.h"
#include "select/splits.h"

typedef struct grouping {
    kfe_context *ctx;
    const kfe_i_protocol *protocol;
    const kfe_i_split_rows *from;
    int64_t count, *rows;      /* row numbers, increasing */
    int64_t groups, *group_of; /* group of each position */
    int64_t *names;            /* the user's number of each group, increasing */
    int64_t classes;
    double *members;  /* groups × classes */
    double *totals;   /* classes */
    int64_t *order;   /* groups, as they are dealt */
    int64_t *part;    /* of each group */
    int64_t *part_of; /* of each position */
} grouping;

static void name_groups(grouping *g, const kfe_i_split_rows *from)
{
    for (int64_t i = 0; i < g->count; i++)
        g->names[i] = from->groups[g->rows[i]];
    kfe_i_sort_rows(g->names, g->count);
    for (int64_t i = 0; i < g->count; i++)
        if (g->groups == 0 || g->names[i] != g->names[g->groups - 1])
            g->names[g->groups++] = g->names[i];
    for (int64_t i = 0; i < g->count; i++)
        g->group_of[i] = kfe_i_find_row(g->names, g->groups, from->groups[g->rows[i]]);
}

static void count_members(grouping *g, const kfe_i_target *target)
{
    for (int64_t i = 0; i < g->count; i++) {
        int64_t c = g->classes > 1 ? target->codes[g->rows[i]] : 0;
        double weight = g->from->keys && target ? kfe_i_weight_of(target, g->rows[i]) : 1;
        g->members[g->group_of[i] * g->classes + c] += weight;
        g->totals[c] += weight;
    }
}

static kfe_status begin(grouping *g, const kfe_i_split_rows *from)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = from->target;
    int by_class =
        g->protocol->stratified && target && target->task == KFE_TASK_CLASSES && target->class_count > 1;

    g->from = from;
    g->count = from->subset ? from->subset_count : from->rows;
    g->classes = by_class ? target->class_count : 1;
    KFE_ALLOC(g->ctx, g->rows, g->count);
    KFE_ALLOC(g->ctx, g->names, g->count);
    KFE_ALLOC(g->ctx, g->group_of, g->count);
    KFE_ALLOC(g->ctx, g->part_of, g->count);
    for (int64_t i = 0; i < g->count; i++)
        g->rows[i] = from->subset ? from->subset[i] : i;
    kfe_i_sort_rows(g->rows, g->count);
    name_groups(g, from);
    KFE_ALLOC_ZERO(g->ctx, g->members, g->groups * g->classes);
    KFE_ALLOC_ZERO(g->ctx, g->totals, g->classes);
    KFE_ALLOC(g->ctx, g->order, g->groups);
    KFE_ALLOC_ZERO(g->ctx, g->part, g->groups);
    count_members(g, target);
cleanup:
    return status;
}

static void end(grouping *g)
{
    kfe_i_free(g->ctx, g->rows);
    kfe_i_free(g->ctx, g->names);
    kfe_i_free(g->ctx, g->group_of);
    kfe_i_free(g->ctx, g->members);
    kfe_i_free(g->ctx, g->totals);
    kfe_i_free(g->ctx, g->order);
    kfe_i_free(g->ctx, g->part);
    kfe_i_free(g->ctx, g->part_of);
}

static double size_of(const grouping *g, int64_t group)
{
    double size = 0;

    for (int64_t c = 0; c < g->classes; c++)
        size += g->members[group * g->classes + c];
    return size;
}

/* Orders the groups by the smallest number that their rows have in a random order that the keys decide. */
static kfe_status shuffle_by_content(grouping *g, uint64_t purpose, int64_t repeat)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct distinct = {0};
    kfe_i_sorted *items = NULL;

    KFE_ALLOC(g->ctx, items, g->groups);
    KFE_TRY(kfe_i_distinct_make(g->ctx, g->from->rows, g->from->keys, kfe_i_split_stream(purpose, repeat),
                                &distinct));
    for (int64_t i = 0; i < g->groups; i++)
        items[i] = (kfe_i_sorted){.value = -(double)distinct.count, .index = i};
    for (int64_t i = 0; i < g->count; i++) {
        double value = -(double)distinct.of[g->rows[i]];
        kfe_i_sorted *item = &items[g->group_of[i]];
        item->value = value > item->value ? value : item->value;
    }
    kfe_i_sort_falling(items, g->groups);
    for (int64_t i = 0; i < g->groups; i++)
        g->order[i] = items[i].index;
cleanup:
    kfe_i_free(g->ctx, items);
    kfe_i_distinct_free(&distinct);
    return status;
}

static kfe_status shuffle(grouping *g, uint64_t purpose, int64_t repeat)
{
    kfe_i_rng rng;

    if (g->from->keys)
        return shuffle_by_content(g, purpose, repeat);
    kfe_i_split_rng(g->ctx, purpose, repeat, &rng);
    for (int64_t i = 0; i < g->groups; i++)
        g->order[i] = i;
    kfe_i_rng_shuffle(&rng, g->order, g->groups);
    return KFE_OK;
}

/* Insertion sort keeps the random order of groups of one size. */
static void largest_first(grouping *g)
{
    for (int64_t i = 1; i < g->groups; i++) {
        int64_t moved = g->order[i];
        int64_t j = i;
        for (; j > 0 && size_of(g, g->order[j - 1]) < size_of(g, moved); j--)
            g->order[j] = g->order[j - 1];
        g->order[j] = moved;
    }
}

/* Groups of `test_part` are for testing, all others for training. */
static kfe_status add(const grouping *g, int64_t repeat, int64_t fold, int64_t test_part, kfe_i_splits *out)
{
    const kfe_i_parts parts = {g->count, g->rows, g->part_of};

    for (int64_t i = 0; i < g->count; i++)
        g->part_of[i] = g->part[g->group_of[i]];
    return kfe_i_splits_add_part(out, &parts, test_part, repeat, fold);
}

/* How much the sum of squared shares grows if the group joins the fold. */
static double cost_of(const grouping *g, const double *counts, int64_t group)
{
    double cost = 0;

    for (int64_t c = 0; c < g->classes; c++) {
        double own = g->members[group * g->classes + c];
        if (g->totals[c] > 0)
            cost += own * (own + 2 * counts[c]) / (g->totals[c] * g->totals[c]);
    }
    return cost;
}

static void deal(grouping *g, int64_t folds, double *counts)
{
    memset(counts, 0, (size_t)(folds * g->classes) * sizeof *counts);
    for (int64_t i = 0; i < g->groups; i++) {
        int64_t group = g->order[i];
        int64_t best = 0;
        for (int64_t f = 1; f < folds; f++)
            if (cost_of(g, counts + f * g->classes, group) < cost_of(g, counts + best * g->classes, group))
                best = f;
        g->part[group] = best;
        for (int64_t c = 0; c < g->classes; c++)
            counts[best * g->classes + c] += g->members[group * g->classes + c];
    }
}

static kfe_status make_folds(grouping *g, uint64_t purpose, int64_t folds, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    double *counts = NULL;

    KFE_ALLOC(g->ctx, counts, folds * g->classes);
    for (int64_t repeat = 0; repeat < g->protocol->repeats; repeat++) {
        KFE_TRY(shuffle(g, purpose, repeat));
        largest_first(g);
        deal(g, folds, counts);
        for (int64_t fold = 0; fold < folds; fold++)
            KFE_TRY(add(g, repeat, fold, fold, out));
    }
cleanup:
    kfe_i_free(g->ctx, counts);
    return status;
}

static kfe_status make_random(grouping *g, uint64_t purpose, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    double size = g->protocol->train_size;
    double wanted = size < 1 ? size * (double)g->count : size;

    for (int64_t repeat = 0; repeat < g->protocol->repeats; repeat++) {
        double taken = 0;
        KFE_TRY(shuffle(g, purpose, repeat));
        for (int64_t i = 0; i < g->groups; i++) { /* one group at least on each side */
            int trains = i == 0 || (i + 1 < g->groups && taken + size_of(g, g->order[i]) / 2 <= wanted);
            g->part[g->order[i]] = !trains;
            taken += trains ? size_of(g, g->order[i]) : 0;
        }
        KFE_TRY(add(g, repeat, 0, 1, out));
    }
cleanup:
    return status;
}

static kfe_status make_each(grouping *g, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;

    for (int64_t group = 0; group < g->groups; group++)
        g->part[group] = group;
    for (int64_t group = 0; group < g->groups; group++)
        KFE_TRY(add(g, 0, group, group, out));
cleanup:
    return status;
}

kfe_status kfe_i_group_splits_make(kfe_context *ctx, const kfe_i_protocol *protocol,
                                   const kfe_i_split_rows *from, uint64_t purpose, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    grouping g = {.ctx = ctx, .protocol = protocol};
    int64_t folds = protocol->folds;

    KFE_TRY(begin(&g, from));
    if ((from->subset || from->or_fewer) && folds > g.groups)
        folds = g.groups; /* also in the training part of a split: as many folds as there are groups left */
    if (g.groups < 2 || (protocol->kind == KFE_SPLIT_FOLDS && g.groups < folds))
        KFE_FAIL(ctx, KFE_EINPUT, "%lld groups cannot be divided into %lld parts; use fewer {folds}",
                 (long long)g.groups, (long long)(folds < 2 ? 2 : folds));
    if (protocol->kind == KFE_SPLIT_FOLDS)
        KFE_TRY(make_folds(&g, purpose, folds, out));
    else if (protocol->kind == KFE_SPLIT_RANDOM)
        KFE_TRY(make_random(&g, purpose, out));
    else
        KFE_TRY(make_each(&g, out));
cleanup:
    end(&g);
    return status;
}
