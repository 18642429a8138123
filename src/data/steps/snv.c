/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step snv, standard normal variate: every row gets mean 0 and standard deviation 1, which removes offsets and scatter that multiply
 * a spectrum. The deviation divides by the number of columns less one. A row without variation becomes zeros.
 *
 * Barnes, Dhanoa & Lister (1989). Time O(d) per row.
 */
#include <math.h>

#include "data/steps/step.h"

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    double mean = 0;
    double squares = 0;

    (void)work;
    for (int64_t j = 0; j < fit->cols; j++)
        mean += (row[j] - mean) / (double)(j + 1);
    for (int64_t j = 0; j < fit->cols; j++) {
        out[j] = row[j] - mean;
        squares += out[j] * out[j];
    }
    double deviation = sqrt(squares / (double)(fit->cols - 1));
    /* a constant row differs from its mean by rounding only */
    int varies = deviation > 1e-14 * fabs(mean);
    for (int64_t j = 0; j < fit->cols; j++)
        out[j] = varies ? out[j] / deviation : 0;
    return -1;
}

static kfe_status plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit)
{
    (void)names;
    if (fit->cols < 2)
        return kfe_i_fail(ctx, KFE_EINPUT, "{prepare}: step snv needs two columns or more, but there is one");
    return KFE_OK;
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t centred = g->two(g->state, "Sub", x, kfe_i_graph_mean(g, x, fit->cols));
    int64_t squares = g->sum(g->state, g->two(g->state, "Mul", centred, centred));
    int64_t variance = g->two(g->state, "Div", squares, g->number(g->state, (double)(fit->cols - 1)));

    return kfe_i_graph_divide(g, centred, g->one(g->state, "Sqrt", variance), centred);
}

const kfe_i_row_step kfe_i_step_snv = {
    .name = "snv",
    .summary = "standard normal variate: each row to mean 0 and standard deviation 1",
    .formula = "(x - mean of the row)/standard deviation of the row; Barnes, Dhanoa & Lister (1989)",
    .plan = plan,
    .apply = apply,
    .graph = graph,
};
