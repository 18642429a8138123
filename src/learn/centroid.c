/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner centroid: nearest class mean. With the class means c_g and the mean m of all examples,
 *   ½‖z − m‖² − ½‖z − c_g‖² = (c_g − m)ᵀz − ((c_g − m)ᵀm + ½‖c_g − m‖²)
 * is linear in z and largest for the nearest c_g. Distances are measured from m, not from the origin, to keep rounding
 * errors small.
 *
 * Time and memory O(n·(d + c)).
 */
#include "core/memory.h"
#include "learn/learner.h"
#include "linalg/linalg.h"

/* Column g of `averages` times the examples is the mean of class g. */
static void fill_averages(const kfe_i_target *target, const double *counts, double *averages)
{
    for (int64_t i = 0; i < target->rows; i++)
        averages[i * target->class_count + target->codes[i]] =
            kfe_i_weight_of(target, i) / counts[target->codes[i]];
}

/* Replaces the class means in the weights by their differences from the overall mean, and sets the offsets. shares[g]: of the
 * examples in class g. */
static void measure_from_mean(const double *shares, kfe_i_predictor *predictor)
{
    int64_t c = predictor->outputs;

    for (int64_t j = 0; j < predictor->dim; j++) {
        double *means = predictor->weights + j * c;
        double overall = 0;
        for (int64_t g = 0; g < c; g++)
            overall += means[g] * shares[g];
        for (int64_t g = 0; g < c; g++) {
            means[g] -= overall;
            predictor->offset[g] += means[g] * (overall + means[g] / 2);
        }
    }
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t c = target->class_count;
    double *counts = NULL; /* members of the classes, by weight */
    double *averages = NULL;
    double *shares = NULL;

    (void)settings;
    KFE_TRY(kfe_i_predictor_begin(ctx, KFE_PREDICTOR_LINEAR, KFE_DECIDE_LARGEST, features->cols, c,
                                  features->cols, out));
    out->classes = c;
    KFE_ALLOC(ctx, counts, c);
    KFE_ALLOC_ZERO(ctx, averages, features->rows * c);
    kfe_i_target_class_masses(target, counts);
    fill_averages(target, counts, averages);
    KFE_TRY(kfe_i_table_transpose_times(ctx, features, averages, c, out->weights));
    KFE_ALLOC(ctx, shares, c);
    for (int64_t g = 0; g < c; g++)
        shares[g] = counts[g] / kfe_i_target_mass(target, target->rows);
    measure_from_mean(shares, out);
cleanup:
    kfe_i_free(ctx, counts);
    kfe_i_free(ctx, shares);
    kfe_i_free(ctx, averages);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sums *sums, const void *settings,
                           kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t c = sums->classes;
    double *shares = NULL;

    (void)settings;
    KFE_TRY(
        kfe_i_predictor_begin(ctx, KFE_PREDICTOR_LINEAR, KFE_DECIDE_LARGEST, sums->cols, c, sums->cols, out));
    out->classes = c;
    KFE_ALLOC(ctx, shares, c);
    for (int64_t g = 0; g < c; g++) {
        shares[g] = sums->class_rows[g] / sums->rows;
        for (int64_t j = 0; j < sums->cols; j++)
            out->weights[j * c + g] = sums->class_means[g * sums->cols + j];
    }
    measure_from_mean(shares, out);
cleanup:
    kfe_i_free(ctx, shares);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

const kfe_i_learner kfe_i_learner_centroid = {
    .name = "centroid",
    .summary = "nearest class mean",
    .reference = "Park & Park (2002)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_SPARSE | KFE_HAS_SAMPLE_WEIGHTS,
    .fit = fit,
    .fit_sums = fit_sums,
};
