/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of probabilities, rows of the table in metric.c. With probabilities p_ig of class g for row i:
 *
 *     log-loss   −(1/n) Σ_i log p of the true class; p is kept above 10⁻¹⁵
 *     brier      (1/n) Σ_i Σ_g (p_ig − 1[g is true])², halved for two classes, as is usual
 *
 * Probabilities are those of a calibrated model, or else the scores: as they are if every row of them is a distribution
 * (votes of neighbours), otherwise their softmax. Rows count by their weights.
 */
#include <math.h>

#include "select/metric.h"

/* Whether every row of the scores is a distribution over classes. */
static int are_probabilities(const kfe_i_outcome *outcome)
{
    for (int64_t i = 0; i < outcome->rows; i++) {
        double sum = 0;
        for (int64_t g = 0; g < outcome->classes; g++) {
            double score = outcome->scores[i * outcome->classes + g];
            if (!(score >= 0))
                return 0;
            sum += score;
        }
        if (!(fabs(sum - 1) < 1e-6))
            return 0;
    }
    return 1;
}

/* Where probabilities come from. */
typedef struct source {
    const kfe_i_outcome *outcome;
    const double *given; /* rows × classes; NULL: softmax of the scores */
} source;

static kfe_status find_source(kfe_context *ctx, const kfe_i_outcome *outcome, source *out)
{
    *out = (source){.outcome = outcome, .given = outcome->probabilities};
    if (out->given)
        return KFE_OK;
    if (!outcome->scores)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "log-loss and brier need scores; use a learner that gives them, or another metric");
    if (are_probabilities(outcome))
        out->given = outcome->scores;
    return KFE_OK;
}

/* The largest score of a row and the sum of exp(score − largest); 0 and 1 for given probabilities. */
static void begin_row(const source *s, int64_t row, double *largest, double *sum)
{
    int64_t classes = s->outcome->classes;

    *largest = 0;
    *sum = 1;
    if (s->given)
        return;
    const double *scores = s->outcome->scores + row * classes;
    *largest = scores[0];
    for (int64_t g = 1; g < classes; g++)
        *largest = fmax(*largest, scores[g]);
    *sum = 0;
    for (int64_t g = 0; g < classes; g++)
        *sum += exp(scores[g] - *largest);
}

static double probability(const source *s, int64_t row, int64_t g, double largest, double sum)
{
    int64_t place = row * s->outcome->classes + g;
    return s->given ? s->given[place] : exp(s->outcome->scores[place] - largest) / sum;
}

kfe_status kfe_i_outcome_probabilities(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    source s;
    kfe_status status = find_source(ctx, outcome, &s);

    for (int64_t i = 0; status == KFE_OK && i < outcome->rows; i++) {
        double largest;
        double sum;
        begin_row(&s, i, &largest, &sum);
        for (int64_t g = 0; g < outcome->classes; g++)
            out[i * outcome->classes + g] = probability(&s, i, g, largest, sum);
    }
    return status;
}

/* What one row costs; `largest` and `sum` are those of begin_row. */
typedef double (*row_loss)(const source *s, int64_t row, double largest, double sum);

static kfe_status mean_loss(kfe_context *ctx, const kfe_i_outcome *outcome, row_loss loss, double *out)
{
    source s;
    double total = 0;
    double mass = kfe_i_outcome_mass(outcome);
    kfe_status status = find_source(ctx, outcome, &s);

    for (int64_t i = 0; status == KFE_OK && i < outcome->rows; i++) {
        double largest;
        double sum;
        begin_row(&s, i, &largest, &sum);
        total += kfe_i_outcome_weight(outcome, i) * loss(&s, i, largest, sum);
    }
    *out = mass > 0 ? total / mass : (double)NAN;
    return status;
}

static double log_loss(const source *s, int64_t row, double largest, double sum)
{
    return -log(fmax(probability(s, row, s->outcome->truth[row], largest, sum), 1e-15));
}

/* The loss of each row less the mean: its influence on the mean. */
static kfe_status each_loss(kfe_context *ctx, const kfe_i_outcome *outcome, row_loss loss, double mean,
                            double *psi)
{
    source s;
    kfe_status status = find_source(ctx, outcome, &s);

    for (int64_t i = 0; status == KFE_OK && i < outcome->rows; i++) {
        double largest;
        double sum;
        begin_row(&s, i, &largest, &sum);
        psi[i] = loss(&s, i, largest, sum) - mean;
    }
    return status;
}

kfe_status kfe_i_log_loss_influence(kfe_context *ctx, const kfe_i_outcome *outcome, double value, double *psi)
{
    return each_loss(ctx, outcome, log_loss, value, psi);
}

kfe_status kfe_i_metric_log_loss(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    return mean_loss(ctx, outcome, log_loss, out);
}

static double brier_loss(const source *s, int64_t row, double largest, double sum)
{
    int64_t classes = s->outcome->classes;
    double total = 0;

    for (int64_t g = 0; g < classes; g++) {
        double left = probability(s, row, g, largest, sum) - (s->outcome->truth[row] == g);
        total += left * left;
    }
    return classes == 2 ? total / 2 : total;
}

kfe_status kfe_i_brier_influence(kfe_context *ctx, const kfe_i_outcome *outcome, double value, double *psi)
{
    return each_loss(ctx, outcome, brier_loss, value, psi);
}

kfe_status kfe_i_metric_brier(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    return mean_loss(ctx, outcome, brier_loss, out);
}
