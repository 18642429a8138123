/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standard error of a metric over splits, for the results of cv, compare and tune. It is the larger of two:
 *
 *   corrected   s √(1/k + n_test/n_train), with s the standard deviation over the k splits. The training parts of splits
 *               of the same rows overlap, so that s/√k is too small (Nadeau & Bengio, "Inference for the generalization
 *               error", 2003).
 *   by rows     √(v/n): the n different test rows are a sample. v is the variance of what one row contributes
 *               (metric_variance.c): p(1 − p) for accuracy p, which makes this the binomial standard error. With v_i
 *               and m_i on split i of n_i rows, v = Σ n_i (v_i + (m_i − m)²) / Σ n_i and m = Σ n_i m_i / Σ n_i.
 *
 * With one split, or a metric without v, it is the other one.
 */
#include "select/estimate.h"

#include <math.h>

#include "core/memory.h"

void kfe_i_mean_sd(int64_t count, const double *values, int64_t stride, double *mean, double *sd)
{
    int64_t known = 0;
    double sum = 0;
    double squares = 0;

    for (int64_t i = 0; i < count; i++)
        if (!isnan(values[i * stride])) {
            sum += values[i * stride];
            known++;
        }
    *mean = known > 0 ? sum / (double)known : NAN;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(values[i * stride]))
            squares += (values[i * stride] - *mean) * (values[i * stride] - *mean);
    *sd = known > 1 ? sqrt(squares / (double)(known - 1)) : NAN;
}

double kfe_i_test_share(const kfe_i_splits *splits)
{
    double train = 0;
    double test = 0;

    for (int64_t s = 0; s < splits->count; s++) {
        train += (double)splits->items[s].train_count;
        test += (double)splits->items[s].test_count;
    }
    return train > 0 ? test / train : 0;
}

static int64_t rows_up_to_last(const kfe_i_splits *splits)
{
    int64_t rows = 0;

    for (int64_t s = 0; s < splits->count; s++)
        for (int64_t i = 0; i < splits->items[s].test_count; i++)
            if (splits->items[s].test[i] >= rows)
                rows = splits->items[s].test[i] + 1;
    return rows;
}

kfe_status kfe_i_extent_of(kfe_context *ctx, const kfe_i_splits *splits, kfe_i_extent *out)
{
    kfe_status status = KFE_OK;
    unsigned char *seen = NULL;

    *out = (kfe_i_extent){.count = splits->count, .test_share = kfe_i_test_share(splits), .splits = splits};
    KFE_ALLOC_ZERO(ctx, seen, rows_up_to_last(splits));
    for (int64_t s = 0; s < splits->count; s++)
        for (int64_t i = 0; i < splits->items[s].test_count; i++) {
            out->rows += !seen[splits->items[s].test[i]];
            seen[splits->items[s].test[i]] = 1;
        }
cleanup:
    kfe_i_free(ctx, seen);
    return status;
}

static double size_of(const kfe_i_extent *extent, int64_t split)
{
    return extent->splits ? (double)extent->splits->items[split].test_count : 1;
}

/* Variance of what one row contributes; NaN unless it is known on every split that has a value. */
static double row_variance(const kfe_i_extent *extent, const double *values, const double *variances,
                           int64_t stride)
{
    double mass = 0;
    double mean = 0;
    double sum = 0;

    for (int64_t s = 0; s < extent->count; s++)
        if (!isnan(values[s * stride])) {
            mass += size_of(extent, s);
            mean += size_of(extent, s) * values[s * stride];
        }
    mean /= mass;
    for (int64_t s = 0; s < extent->count; s++)
        if (!isnan(values[s * stride])) {
            double away = values[s * stride] - mean;
            sum += size_of(extent, s) * (variances[s * stride] + away * away);
        }
    return sum / mass;
}

kfe_i_estimate kfe_i_estimate_over(const kfe_i_extent *extent, const double *values, const double *variances,
                                   int64_t stride)
{
    kfe_i_estimate result;
    double known = 0;

    kfe_i_mean_sd(extent->count, values, stride, &result.mean, &result.sd);
    for (int64_t s = 0; s < extent->count; s++)
        known += !isnan(values[s * stride]);
    double rows = extent->rows * known / (double)extent->count;
    double corrected = result.sd * sqrt(1 / known + extent->test_share);
    double by_rows = sqrt(row_variance(extent, values, variances, stride) / rows);
    result.error = fmax(corrected, by_rows); /* fmax passes over NaN */
    return result;
}
