/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls on metrics and significance tests: checks of the arguments, then metric.c and significance.c. */
#include <math.h>
#include <string.h>

#include "data/data.h"
#include "select/metric.h"
#include "select/significance.h"

const kfe_entry_info *kfe_metric(int index)
{
    const kfe_i_metric *row = kfe_i_metric_at(index);
    return row ? &row->entry : NULL;
}

static kfe_status check_codes(kfe_context *ctx, const char *what, int64_t rows, int64_t classes,
                              const int32_t *codes)
{
    if (!codes)
        return kfe_i_fail(ctx, KFE_EINVAL, "the %s classes are missing", what);
    for (int64_t i = 0; i < rows; i++)
        if (codes[i] < 0 || codes[i] >= classes)
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "row %lld: the %s class is number %d; the numbers are 0 to %lld",
                              (long long)i + 1, what, (int)codes[i], (long long)classes - 1);
    return KFE_OK;
}

static kfe_status check_finite(kfe_context *ctx, const char *what, int64_t count, int64_t cols,
                               const double *values)
{
    if (!values && count > 0)
        return kfe_i_fail(ctx, KFE_EINVAL, "the %s values are missing", what);
    for (int64_t p = 0; p < count; p++)
        if (!isfinite(values[p]))
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "row %lld: the %s value is not a finite number; remove that row",
                              (long long)(p / cols) + 1, what);
    return KFE_OK;
}

static kfe_status check_shape(kfe_context *ctx, int64_t rows, int64_t width, const char *unit)
{
    if (rows < 1 || width < 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "%lld rows and %lld %s: at least one of each is needed",
                          (long long)rows, (long long)width, unit);
    return KFE_OK;
}

static kfe_status check_outcome(kfe_context *ctx, const kfe_i_metric *metric, const kfe_i_outcome *outcome)
{
    kfe_status status = KFE_OK;

    KFE_TRY(check_shape(ctx, outcome->rows, outcome->classes, "classes"));
    if (outcome->classes == 2 && outcome->positive != 0 && outcome->positive != 1)
        KFE_FAIL(ctx, KFE_EINVAL, "of two classes, the positive one is number 0 or 1, not %lld",
                 (long long)outcome->positive);
    if (metric->needs_scores && !outcome->scores)
        KFE_FAIL(ctx, KFE_EINVAL, "metric %s needs scores", metric->name);
    KFE_TRY(check_codes(ctx, "true", outcome->rows, outcome->classes, outcome->truth));
    if (outcome->predicted || !metric->needs_scores)
        KFE_TRY(check_codes(ctx, "predicted", outcome->rows, outcome->classes, outcome->predicted));
cleanup:
    return status;
}

kfe_status kfe_metric_classes(kfe_context *ctx, const char *metric, int64_t rows, int64_t classes,
                              int64_t positive, const int32_t *truth, const int32_t *predicted,
                              const double *scores, double *out)
{
    return kfe_metric_weighted_classes(ctx, metric, rows, classes, positive, truth, predicted, scores, NULL,
                                       out);
}

kfe_status kfe_metric_weighted_classes(kfe_context *ctx, const char *metric, int64_t rows, int64_t classes,
                                       int64_t positive, const int32_t *truth, const int32_t *predicted,
                                       const double *scores, const double *weights, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_metric *found = NULL;
    const kfe_i_outcome outcome = {.task = KFE_TASK_CLASSES,
                                   .rows = rows,
                                   .classes = classes,
                                   .positive = classes == 2 ? positive : -1,
                                   .truth = truth,
                                   .predicted = predicted,
                                   .scores = scores,
                                   .one_vs_rest = scores != NULL,
                                   .weights = weights};

    *out = 0;
    KFE_TRY(kfe_i_metric_find(ctx, metric, KFE_TASK_CLASSES, &found));
    KFE_TRY(check_outcome(ctx, found, &outcome));
    if (weights)
        KFE_TRY(kfe_i_weights_check(ctx, rows, weights));
    KFE_TRY(found->value(ctx, &outcome, out));
cleanup:
    return status;
}

kfe_status kfe_metric_values(kfe_context *ctx, const char *metric, int64_t rows, int64_t cols,
                             const double *truth, const double *predicted, double *out)
{
    return kfe_metric_weighted_values(ctx, metric, rows, cols, truth, predicted, NULL, out);
}

kfe_status kfe_metric_weighted_values(kfe_context *ctx, const char *metric, int64_t rows, int64_t cols,
                                      const double *truth, const double *predicted, const double *weights,
                                      double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_metric *found = NULL;
    const kfe_i_outcome outcome = {.task = KFE_TASK_REAL,
                                   .rows = rows,
                                   .positive = -1,
                                   .cols = cols,
                                   .truth_values = truth,
                                   .predicted_values = predicted,
                                   .weights = weights};

    *out = 0;
    KFE_TRY(kfe_i_metric_find(ctx, metric, KFE_TASK_REAL, &found));
    KFE_TRY(check_shape(ctx, rows, cols, "columns"));
    KFE_TRY(check_finite(ctx, "true", rows * cols, cols, truth));
    KFE_TRY(check_finite(ctx, "predicted", rows * cols, cols, predicted));
    if (weights)
        KFE_TRY(kfe_i_weights_check(ctx, rows, weights));
    KFE_TRY(found->value(ctx, &outcome, out));
cleanup:
    return status;
}

kfe_status kfe_paired_test(kfe_context *ctx, int64_t count, const double *a, const double *b,
                           double test_share, double *t, double *p)
{
    kfe_status status = KFE_OK;
    kfe_i_test_result result;

    *t = *p = 0;
    if (count < 0)
        KFE_FAIL(ctx, KFE_EINVAL, "there cannot be %lld pairs", (long long)count);
    if (!(test_share >= 0 && isfinite(test_share)))
        KFE_FAIL(ctx, KFE_EINVAL, "test rows / training rows must be a number from 0 up, not %g", test_share);
    KFE_TRY(check_finite(ctx, "first", count, 1, a));
    KFE_TRY(check_finite(ctx, "second", count, 1, b));
    result = test_share > 0 ? kfe_i_corrected_t(count, a, b, test_share) : kfe_i_paired_t(count, a, b);
    *t = result.statistic;
    *p = result.p;
cleanup:
    return status;
}
