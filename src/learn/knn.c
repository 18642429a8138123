/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner knn: k nearest neighbours. The class with most votes among the k training rows nearest to z wins; real
 * targets are averaged. Votes have equal weight or weight 1/distance; with the latter an exact match decides alone. Of
 * classes with equal votes that of the nearest row wins. Fitting keeps the rows; neighbours.c searches, neighbours_votes.c counts.
 *
 * The order of the training rows decides nothing: rows are kept in an order that their content decides, rows of equal content side by
 * side. Of rows at equal distances the one before is nearer; rows of equal content share the votes that are left for them.
 *
 * Unless given, k is the odd number up to 25 with the smallest leave-one-out error on the training rows (of 2,000 different
 * ones, if there are more), the larger of equals: one search for all k. If the whole table was given r times, k is r times that number and r
 * equal rows are left out together, so that the same rows vote as for the table given once.
 *
 * Cover & Hart, "Nearest neighbor pattern classification" (1967). Time O(n·d) per query.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/share.h"
#include "data/rows/distinct.h"
#include "learn/learner.h"
#include "learn/neighbours.h"

enum { MOST_NUMBERS = 13, MOST_QUERIES = 2000 }; /* 1, 3, … 25 */

typedef struct knn_settings {
    int64_t neighbours;
    int vote;
} knn_settings;

static const kfe_i_param rows[] = {
    KFE_INT_OR(knn_settings, neighbours, "neighbors", "auto", 1, KFE_INT_MAX, "auto", "auto=0",
               "number of rows that vote; equal rows share the votes that are left for them; auto: the odd "
               "number up to 25 with the smallest leave-one-out error on the training features"),
    KFE_CHOICE(knn_settings, vote, "vote", "uniform", "uniform|distance",
               "equal votes, or votes weighted by 1/distance; if classes tie, the nearest row decides"),
};

static int64_t clamp_neighbours(kfe_context *ctx, int64_t asked, int64_t available)
{
    if (asked <= available)
        return asked;
    kfe_i_log(ctx, KFE_LOG_WARNING, "knn: there are only %lld rows; all of them vote instead of %lld",
              (long long)available, (long long)asked);
    return available;
}

/* Whether a mean loss is as small as another but for rounding. */
static int is_as_small(double a, double b)
{
    return a <= b * (1 + 1e-9);
}

/* ---- the order of the rows ---- */

typedef struct placed {
    int64_t group, row;
    double answer; /* the place of its class among the classes by size, or its first value */
} placed;

static int compare_placed(const void *a, const void *b)
{
    const placed *x = a;
    const placed *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->answer != y->answer)
        return x->answer < y->answer ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The place of each class among the classes by size. */
static kfe_status order_classes(kfe_context *ctx, const kfe_i_target *target, int64_t **out)
{
    kfe_status status = KFE_OK;
    int64_t count = target->task == KFE_TASK_CLASSES ? target->class_count : 0;
    int64_t *sizes = NULL;

    KFE_ALLOC_ZERO(ctx, sizes, count);
    KFE_ALLOC_ZERO(ctx, *out, count);
    for (int64_t i = 0; count > 0 && i < target->rows; i++)
        sizes[target->codes[i]]++;
    for (int64_t g = 0; g < count; g++)
        for (int64_t other = 0; other < count; other++)
            (*out)[g] += sizes[other] > sizes[g] || (sizes[other] == sizes[g] && other < g);
cleanup:
    kfe_i_free(ctx, sizes);
    return status;
}

/* The rows in an order that their content decides, equal rows side by side; without keys, as they are. */
static kfe_status place_rows(kfe_context *ctx, const kfe_i_target *target, placed *order)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct distinct = {0};
    int64_t *places = NULL;

    KFE_TRY(order_classes(ctx, target, &places));
    if (target->keys)
        KFE_TRY(kfe_i_distinct_make(ctx, target->rows, target->keys, KFE_STREAM_LOO, &distinct));
    for (int64_t i = 0; i < target->rows; i++) {
        double answer = target->task == KFE_TASK_CLASSES ? (double)places[target->codes[i]]
                                                         : target->values[i * target->cols];
        order[i] = (placed){target->keys ? distinct.of[i] : i, i, answer};
    }
    qsort(order, (size_t)target->rows, sizeof *order, compare_placed);
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_free(ctx, places);
    return status;
}

/* index: as many as rows; groups->starts: one more. */
static kfe_status order_rows(kfe_context *ctx, const kfe_i_target *target, int64_t *index,
                             kfe_i_neighbour_groups *groups)
{
    kfe_status status = KFE_OK;
    placed *order = NULL;

    KFE_ALLOC(ctx, order, target->rows);
    KFE_TRY(place_rows(ctx, target, order));
    for (int64_t i = 0; i < target->rows; i++) {
        index[i] = order[i].row;
        if (i == 0 || order[i].group != order[i - 1].group)
            groups->starts[groups->count++] = i;
    }
    groups->starts[groups->count] = target->rows;
cleanup:
    kfe_i_free(ctx, order);
    return status;
}

/* Features of equal rows may differ in their last bits; all become those of the first. */
static void make_equal(const kfe_i_neighbour_groups *groups, kfe_i_table *support)
{
    if (support->kind != KFE_TABLE_DENSE || support->singles)
        return;
    for (int64_t g = 0; g < groups->count; g++) {
        const double *first = support->values + groups->starts[g] * support->stride;
        for (int64_t i = groups->starts[g] + 1; i < groups->starts[g + 1]; i++)
            memcpy(support->values + i * support->stride, first, (size_t)support->cols * sizeof *first);
    }
}

/* ---- the number of neighbours ---- */

/* k and its leave-one-out error. Of many groups a sample is left out: the first ones, which their content decides. With fewer than
 * two groups for each k to try there are fewer to choose from. */
static kfe_status choose_neighbours(kfe_context *ctx, const kfe_i_neighbour_groups *groups,
                                    kfe_i_predictor *predictor)
{
    kfe_status status = KFE_OK;
    int64_t numbers = kfe_i_least(groups->count / 2, MOST_NUMBERS);
    int64_t unit = kfe_i_neighbours_repeats(predictor, groups);
    double errors[MOST_NUMBERS];
    int64_t best = 0;

    predictor->neighbours = unit;
    if (numbers < 2)
        return KFE_OK;
    KFE_TRY(kfe_i_neighbours_leave_one_out(ctx, predictor, groups, kfe_i_least(groups->count, MOST_QUERIES),
                                           unit, numbers, errors));
    for (int64_t m = 1; m < numbers; m++)
        if (is_as_small(errors[m], errors[best]))
            best = m;
    predictor->neighbours = kfe_i_least(predictor->rows, (2 * best + 1) * unit);
    kfe_i_predictor_record(predictor, "neighbors", (double)predictor->neighbours);
    kfe_i_predictor_record(predictor, predictor->classes > 0 ? "loo-error-rate" : "loo-squared-error",
                           errors[best]);
cleanup:
    return status;
}

/* ---- the learner ---- */

/* The support rows and their answers, in the order of `index`. */
static kfe_status take_rows(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                            const int64_t *index, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t width = out->classes > 0 ? 1 : out->outputs;

    KFE_TRY(kfe_i_table_gather(ctx, features, index, features->rows, &out->support));
    KFE_ALLOC(ctx, out->answers, features->rows * width);
    for (int64_t i = 0; i < features->rows; i++)
        for (int64_t j = 0; j < width; j++)
            out->answers[i * width + j] =
                out->classes > 0 ? (double)target->codes[index[i]] : target->values[index[i] * width + j];
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const knn_settings *s = settings;
    int classes = target->task == KFE_TASK_CLASSES;
    int64_t outputs = classes ? target->class_count : target->cols;
    kfe_i_neighbour_groups groups = {0};
    int64_t *index = NULL;

    KFE_TRY(kfe_i_predictor_begin(ctx, KFE_PREDICTOR_NEIGHBOURS,
                                  classes ? KFE_DECIDE_LARGEST : KFE_DECIDE_VALUE, features->cols, outputs, 0,
                                  out));
    out->classes = classes ? target->class_count : 0;
    out->rows = features->rows;
    out->neighbours = clamp_neighbours(ctx, s->neighbours, features->rows);
    out->by_distance = s->vote;
    KFE_ALLOC(ctx, index, features->rows);
    KFE_ALLOC(ctx, groups.starts, features->rows + 1);
    KFE_TRY(order_rows(ctx, target, index, &groups));
    KFE_TRY(take_rows(ctx, features, target, index, out));
    make_equal(&groups, &out->support);
    if (s->neighbours == 0)
        KFE_TRY(choose_neighbours(ctx, &groups, out));
cleanup:
    kfe_i_free(ctx, groups.starts);
    kfe_i_free(ctx, index);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

const kfe_i_learner kfe_i_learner_knn = {
    .name = "knn",
    .summary = "k nearest neighbours",
    .reference = "Cover & Hart (1967)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE,
    .params = KFE_PARAM_TABLE(rows, knn_settings),
    .fit = fit,
};
