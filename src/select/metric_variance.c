/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a metric, and the variance of what one row contributes to it, so that √(variance/rows) is the standard error of the metric
 * on a sample of rows (the delta method). Called where predictions are measured; used by results through estimate.c. With ψ_i
 * the derivative of the metric by the share of row i and weights w_i,
 *
 *     variance = n Σ w_i² ψ_i² / (Σ w_i)²
 *
 *     means over rows     ψ = ℓ_i − metric, with ℓ_i the loss of row i: for accuracy p, the variance is p(1 − p)
 *     balanced-accuracy   ψ = (right_i − recall of its class) / (classes · share of its class)
 *     rmse                ψ = (mean squared error of row i − rmse²) / (2 rmse)
 *     r2                  ψ = ((1 − r2) d_i² − e_i²) / mean of d², with residual e_i and d_i = y_i − ȳ; the mean over columns
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "select/metric.h"

kfe_status kfe_i_balanced_influence(kfe_context *ctx, const kfe_i_outcome *outcome, double *psi)
{
    kfe_status status = KFE_OK;
    double mass = kfe_i_outcome_mass(outcome);
    double *all = NULL;
    double *right = NULL;
    double classes = 0;

    KFE_ALLOC_ZERO(ctx, all, outcome->classes);
    KFE_ALLOC_ZERO(ctx, right, outcome->classes);
    for (int64_t i = 0; i < outcome->rows; i++) {
        int32_t g = outcome->truth[i];
        all[g] += kfe_i_outcome_weight(outcome, i);
        right[g] += g == outcome->predicted[i] ? kfe_i_outcome_weight(outcome, i) : 0;
    }
    for (int64_t g = 0; g < outcome->classes; g++)
        classes += all[g] > 0;
    for (int64_t i = 0; i < outcome->rows; i++) {
        int32_t g = outcome->truth[i];
        double is_right = g == outcome->predicted[i];
        psi[i] = all[g] > 0 ? (is_right - right[g] / all[g]) * mass / (classes * all[g]) : 0;
    }
cleanup:
    kfe_i_free(ctx, all);
    kfe_i_free(ctx, right);
    return status;
}

/* ---- real targets ---- */

static double deviation(const kfe_i_outcome *outcome, int64_t row, int64_t col)
{
    int64_t place = row * outcome->cols + col;
    return outcome->predicted_values[place] - outcome->truth_values[place];
}

/* Adds the part of one column. */
static void add_r2_influence(const kfe_i_outcome *outcome, int64_t col, double *psi)
{
    const double *truth = outcome->truth_values + col;
    double mass = kfe_i_outcome_mass(outcome);
    double mean = 0;
    double total = 0;
    double residual = 0;

    for (int64_t i = 0; i < outcome->rows; i++)
        mean += kfe_i_outcome_weight(outcome, i) / mass * truth[i * outcome->cols];
    for (int64_t i = 0; i < outcome->rows; i++) {
        double d = truth[i * outcome->cols] - mean;
        double e = deviation(outcome, i, col);
        total += kfe_i_outcome_weight(outcome, i) / mass * d * d;
        residual += kfe_i_outcome_weight(outcome, i) / mass * e * e;
    }
    for (int64_t i = 0; i < outcome->rows; i++) {
        double d = truth[i * outcome->cols] - mean;
        double e = deviation(outcome, i, col);
        psi[i] += (residual / total * d * d - e * e) / (total * (double)outcome->cols);
    }
}

kfe_status kfe_i_r2_influence(kfe_context *ctx, const kfe_i_outcome *outcome, double *psi)
{
    (void)ctx;
    memset(psi, 0, (size_t)outcome->rows * sizeof *psi);
    for (int64_t j = 0; j < outcome->cols; j++)
        add_r2_influence(outcome, j, psi);
    return KFE_OK;
}

/* ---- all metrics ---- */

/* losses[rows] becomes their influence on the value. */
static void find_mean(const kfe_i_metric *metric, const kfe_i_outcome *outcome, double *losses, double *value)
{
    double mass = kfe_i_outcome_mass(outcome);
    double sum = 0;

    for (int64_t i = 0; i < outcome->rows; i++) {
        losses[i] = metric->loss(outcome, i);
        sum += kfe_i_outcome_weight(outcome, i) * losses[i];
    }
    double mean = mass > 0 ? sum / mass : (double)NAN;
    *value = metric->is_root ? sqrt(mean) : mean;
    for (int64_t i = 0; i < outcome->rows; i++) {
        losses[i] -= mean;
        if (metric->is_root)
            losses[i] = *value > 0 ? losses[i] / (2 * *value) : 0;
    }
}

static double variance_of(const kfe_i_outcome *outcome, const double *psi)
{
    double mass = kfe_i_outcome_mass(outcome);
    double sum = 0;

    for (int64_t i = 0; i < outcome->rows; i++) {
        double share = kfe_i_outcome_weight(outcome, i) / mass;
        sum += share * share * psi[i] * psi[i];
    }
    return (double)outcome->rows * sum;
}

kfe_status kfe_i_metric_measure(kfe_context *ctx, const kfe_i_metric *metric, const kfe_i_outcome *outcome,
                                double *value, double *variance)
{
    kfe_status status = KFE_OK;
    kfe_i_outcome judged = *outcome;
    int knows = metric->loss || (variance && metric->influence);
    double *probabilities = NULL;
    double *psi = NULL;

    if (variance)
        *variance = NAN;
    if (metric->needs_probabilities && !judged.probabilities) {
        KFE_ALLOC(ctx, probabilities, outcome->rows * outcome->classes);
        KFE_TRY(kfe_i_outcome_probabilities(ctx, outcome, probabilities));
        judged.probabilities = probabilities;
    }
    if (knows)
        KFE_ALLOC(ctx, psi, outcome->rows);
    if (metric->loss)
        find_mean(metric, &judged, psi, value);
    else
        KFE_TRY(metric->value(ctx, &judged, value));
    if (!variance || !knows || isnan(*value))
        goto cleanup;
    if (!metric->loss)
        KFE_TRY(metric->influence(ctx, &judged, psi));
    *variance = variance_of(&judged, psi);
cleanup:
    kfe_i_free(ctx, probabilities);
    kfe_i_free(ctx, psi);
    return status;
}
