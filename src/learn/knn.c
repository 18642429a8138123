/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner knn: k nearest neighbours. The class with most votes among the k training rows nearest to z wins; real
 * targets are averaged. Votes have equal weight or weight 1/distance; with the latter an exact match decides alone. Of
 * rows at equal distances the lower one is nearer; of classes with equal votes the first one wins. Fitting keeps the
 * rows; neighbours.c searches.
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
            "number of rows that vote; of rows at the same distance the first ones"),
    KFE_CHOICE(knn_settings, vote, "vote", "uniform", "uniform|distance",
               "equal votes, or votes of weight 1/distance; of classes with equal votes the first one wins"),
};

static int64_t clamp_neighbours(kfe_context *ctx, int64_t asked, int64_t available)
{
    if (asked <= available)
        return asked;
    kfe_i_log(ctx, KFE_LOG_WARNING, "knn: there are only %lld rows; all of them vote instead of %lld",
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
