/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k nearest neighbours: the class with most votes among the k training rows nearest to z, or the mean of
 * their values. Votes weigh the same or 1/distance; exact matches then decide alone. Equal distances: the
 * lower training row is nearer. Equal votes: the class listed first. Fitting keeps the rows; neighbours.c
 * searches.
 *
 * Cover & Hart, "Nearest neighbor pattern classification" (1967). Time O(n·d) per query.
 */
#include "core/memory.h"
#include "learn/learner.h"

typedef struct knn_settings {
    int64_t neighbours;
    int vote;
} knn_settings;

static const kfe_i_param rows[] = {
    KFE_INT(knn_settings, neighbours, "neighbors", "1", 1, KFE_INT_MAX,
            "how many rows vote; of rows at the same distance the first ones"),
    KFE_CHOICE(knn_settings, vote, "vote", "uniform", "uniform|distance",
               "whether votes weigh the same or 1/distance; equal votes go to the class listed first"),
};

static int64_t clamp_neighbours(kfe_context *ctx, int64_t asked, int64_t available)
{
    if (asked <= available)
        return asked;
    kfe_i_log(ctx, KFE_LOG_WARNING, "knn: there are only %lld rows, so all of them vote instead of %lld",
              (long long)available, (long long)asked);
    return available;
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
