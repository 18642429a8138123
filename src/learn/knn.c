/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner knn: k nearest neighbours. The class with most votes among the k training rows nearest to z wins; real
 * targets are averaged. Votes have equal weight or weight 1/distance; with the latter an exact match decides alone. Of
 * rows at equal distances the lower one is nearer; of classes with equal votes the first one wins. Fitting keeps the
 * rows; neighbours.c searches.
 *
 * Unless given, k is the odd number up to 25 with the smallest leave-one-out error on the training rows (of 2,000 random
 * ones, if there are more), the larger of equals: one search for all k.
 *
 * Cover & Hart, "Nearest neighbor pattern classification" (1967). Time O(n·d) per query.
 */
#include "core/memory.h"
#include "core/rng.h"
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
               "number of rows that vote; at equal distances, earlier rows come first; auto: the odd "
               "number up to 25 with the smallest leave-one-out error on the training features"),
    KFE_CHOICE(knn_settings, vote, "vote", "uniform", "uniform|distance",
               "equal votes, or votes weighted by 1/distance; if classes tie, the first one wins"),
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

/* k and its leave-one-out error. Of many rows a sample is left out, which their content decides. With fewer than two rows for each k to try there are fewer to choose from. */
static kfe_status choose_neighbours(kfe_context *ctx, const kfe_i_row_key *keys, kfe_i_predictor *predictor)
{
    kfe_status status = KFE_OK;
    int64_t numbers = predictor->rows / 2 < MOST_NUMBERS ? predictor->rows / 2 : MOST_NUMBERS;
    int64_t count = predictor->rows < MOST_QUERIES ? predictor->rows : MOST_QUERIES;
    double errors[MOST_NUMBERS];
    int64_t *index = NULL;
    int64_t best = 0;
    kfe_i_distinct distinct = {0};

    predictor->neighbours = 1;
    if (numbers < 2)
        return KFE_OK;
    KFE_ALLOC(ctx, index, predictor->rows);
    for (int64_t i = 0; i < predictor->rows; i++)
        index[i] = i;
    if (count < predictor->rows) {
        KFE_TRY(kfe_i_distinct_make(ctx, predictor->rows, keys, KFE_STREAM_LOO, &distinct));
        KFE_TRY(kfe_i_distinct_order(&distinct, index));
    }
    KFE_TRY(kfe_i_neighbours_leave_one_out(ctx, predictor, index, count, numbers, errors));
    for (int64_t m = 1; m < numbers; m++)
        if (is_as_small(errors[m], errors[best]))
            best = m;
    predictor->neighbours = 2 * best + 1;
    kfe_i_predictor_record(predictor, "neighbors", (double)predictor->neighbours);
    kfe_i_predictor_record(predictor, predictor->classes > 0 ? "loo-error" : "loo-squared-error",
                           errors[best]);
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_free(ctx, index);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const knn_settings *s = settings;
    int classes = target->task == KFE_TASK_CLASSES;
    int64_t outputs = classes ? target->class_count : target->cols;
    int64_t answers = features->rows * (classes ? 1 : outputs);

    KFE_TRY(kfe_i_predictor_begin(ctx, KFE_PREDICTOR_NEIGHBOURS,
                                  classes ? KFE_DECIDE_LARGEST : KFE_DECIDE_VALUE, features->cols, outputs, 0,
                                  out));
    out->classes = classes ? target->class_count : 0;
    out->rows = features->rows;
    out->neighbours = clamp_neighbours(ctx, s->neighbours, features->rows);
    out->by_distance = s->vote;
    KFE_TRY(kfe_i_table_copy(ctx, features, &out->support));
    KFE_ALLOC(ctx, out->answers, answers);
    for (int64_t i = 0; i < answers; i++)
        out->answers[i] = classes ? (double)target->codes[i] : target->values[i];
    if (s->neighbours == 0)
        KFE_TRY(choose_neighbours(ctx, target->keys, out));
cleanup:
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
