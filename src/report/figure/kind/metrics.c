/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `metrics`, a table: every metric of the predictions and its standard error, as `evaluate` gives them. */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { MOST_METRICS = 40 };

static kfe_status measure(kfe_context *ctx, const kfe_i_outcome *outcome, const char **names, double *values,
                          double *errors, int64_t *count)
{
    const kfe_i_metric *metric;

    *count = 0;
    for (int i = 0; (metric = kfe_i_metric_at(i)) && *count < MOST_METRICS; i++) {
        double value = NAN;
        double variance = NAN;
        int lacks_scores = (metric->needs_scores || metric->needs_probabilities) && !outcome->scores;
        if (metric->task != outcome->task || lacks_scores)
            continue;
        kfe_status status = kfe_i_metric_measure(ctx, metric, outcome, &value, &variance);
        if (kfe_i_is_lack(status) || status == KFE_ECANCEL)
            return status;
        if (status != KFE_OK || isnan(value)) /* not defined for these predictions */
            continue;
        names[*count] = metric->name;
        errors[*count] = sqrt(variance / (double)outcome->rows);
        values[(*count)++] = value;
    }
    return KFE_OK;
}

/* The mean of prediction minus target, and the standard deviation of these residuals about it, as pool.h has them. */
static void add_residuals(const kfe_i_outcome *outcome, const char **names, double *values, double *errors,
                          int64_t *count)
{
    double mass = kfe_i_outcome_mass(outcome);
    double bias = 0;
    double variance = 0;

    for (int64_t j = 0; j < outcome->cols; j++) {
        double sum = 0;
        double squares = 0;
        for (int64_t i = 0; i < outcome->rows; i++) {
            int64_t at = i * outcome->cols + j;
            double residual = outcome->predicted_values[at] - outcome->truth_values[at];
            sum += kfe_i_outcome_weight(outcome, i) * residual;
            squares += kfe_i_outcome_weight(outcome, i) * residual * residual;
        }
        bias += sum / mass / (double)outcome->cols;
        variance += fmax(0, squares - sum * sum / mass) / (mass - 1) / (double)outcome->cols;
    }
    names[*count] = "bias";
    errors[*count] = mass > 1 ? sqrt(variance / mass) : NAN;
    values[(*count)++] = bias;
    names[*count] = "SEP";
    errors[*count] = NAN;
    values[(*count)++] = mass > 1 ? sqrt(variance) : NAN;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = kfe_i_source_judged(source);
    const char *names[MOST_METRICS + 2];
    double values[MOST_METRICS + 2];
    double errors[MOST_METRICS + 2];

    if (!set)
        return KFE_OK;
    KFE_TRY(measure(ctx, &set->outcome, names, values, errors, &out->rows));
    if (set->outcome.task == KFE_TASK_REAL)
        add_residuals(&set->outcome, names, values, errors, &out->rows);
    KFE_TRY(kfe_i_figure_labels(out, "metric", names));
    KFE_TRY(kfe_i_figure_copy(out, "value", values));
    KFE_TRY(kfe_i_figure_copy(out, "standard error", errors));
    kfe_i_text_printf(&out->caption, "Predictions of %lld %s examples%s.", (long long)set->rows, set->name,
                      set->weights ? ", counted by their weights" : "");
    if (set->outcome.task == KFE_TASK_REAL)
        kfe_i_text_puts(&out->caption, " Bias and SEP are the mean and the standard deviation of prediction "
                                       "minus target.");
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_metrics = {
    .name = "metrics",
    .title = "Metrics",
    .section = "Quality",
    .summary = "every metric of the predictions, as a table",
    .needs = "a model that predicts, and labelled data; or results with held-out predictions",
    .draw = draw,
};
