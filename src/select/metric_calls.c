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

/* What metrics are computed from. */
static kfe_i_outcome outcome_of(const kfe_judged *judged)
{
    return (kfe_i_outcome){.task = judged->cols > 0 ? KFE_TASK_REAL : KFE_TASK_CLASSES,
                           .rows = judged->rows,
                           .classes = judged->classes,
                           .positive = judged->classes == 2 ? judged->positive : -1,
                           .truth = judged->truth,
                           .predicted = judged->predicted,
                           .scores = judged->scores,
                           .one_vs_rest = judged->scores != NULL,
                           .cols = judged->cols,
                           .truth_values = judged->true_values,
                           .predicted_values = judged->predicted_values,
                           .weights = judged->weights};
}

static kfe_status check_values(kfe_context *ctx, const kfe_i_outcome *outcome)
{
    kfe_status status = KFE_OK;
    int64_t count = outcome->rows * outcome->cols;

    KFE_TRY(check_shape(ctx, outcome->rows, outcome->cols, "columns"));
    KFE_TRY(check_finite(ctx, "true", count, outcome->cols, outcome->truth_values));
    KFE_TRY(check_finite(ctx, "predicted", count, outcome->cols, outcome->predicted_values));
cleanup:
    return status;
}

kfe_status kfe_metric_compute(kfe_context *ctx, const char *metric, const kfe_judged *judged, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_metric *found = NULL;

    *out = 0;
    if (judged->size != sizeof *judged) /* once the struct has grown, former sizes are accepted too */
        KFE_FAIL(ctx, KFE_EINVAL, "kfe_judged of this library has %zu bytes, but its member size is %zu",
                 sizeof *judged, judged->size);
    const kfe_i_outcome outcome = outcome_of(judged);
    KFE_TRY(kfe_i_metric_find(ctx, metric, outcome.task, &found));
    KFE_TRY(outcome.task == KFE_TASK_REAL ? check_values(ctx, &outcome)
                                          : check_outcome(ctx, found, &outcome));
    if (outcome.weights)
        KFE_TRY(kfe_i_weights_check(ctx, outcome.rows, outcome.weights));
    KFE_TRY(kfe_i_metric_measure(ctx, found, &outcome, out, NULL));
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
    result = kfe_i_paired_t(count, (kfe_i_tested){a, 1}, (kfe_i_tested){b, 1}, test_share);
    *t = result.statistic;
    *p = result.p;
cleanup:
    return status;
}
