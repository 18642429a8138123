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
#include <string.h>

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

/* out = the softmax of the scores of a row */
static void soften(int64_t classes, const double *scores, double *out)
{
    double largest = scores[0];
    double sum = 0;

    for (int64_t g = 1; g < classes; g++)
        largest = fmax(largest, scores[g]);
    for (int64_t g = 0; g < classes; g++)
        sum += out[g] = exp(scores[g] - largest);
    for (int64_t g = 0; g < classes; g++)
        out[g] /= sum;
}

kfe_status kfe_i_outcome_probabilities(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    int64_t classes = outcome->classes;
    const double *given = outcome->probabilities;

    if (!given && !outcome->scores)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "log-loss and brier need scores; use a learner that gives them, or another metric");
    if (!given && are_probabilities(outcome))
        given = outcome->scores;
    if (given)
        memcpy(out, given, (size_t)(outcome->rows * classes) * sizeof *out);
    for (int64_t i = 0; !given && i < outcome->rows; i++)
        soften(classes, outcome->scores + i * classes, out + i * classes);
    return KFE_OK;
}

double kfe_i_log_loss(const kfe_i_outcome *outcome, int64_t row)
{
    return -log(fmax(outcome->probabilities[row * outcome->classes + outcome->truth[row]], 1e-15));
}

double kfe_i_brier_loss(const kfe_i_outcome *outcome, int64_t row)
{
    double total = 0;

    for (int64_t g = 0; g < outcome->classes; g++) {
        double left = outcome->probabilities[row * outcome->classes + g] - (outcome->truth[row] == g);
        total += left * left;
    }
    return outcome->classes == 2 ? total / 2 : total;
}
