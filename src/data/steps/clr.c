/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step clr, centred log-ratio of compositions: the logarithms of the values of each row less their mean, so that only ratios count.
 *
 * Aitchison (1982). Time O(d) per row.
 */
#include <math.h>

#include "data/steps/step.h"

typedef struct clr_settings {
    double offset;
} clr_settings;

static const kfe_i_param rows[] = {
    KFE_REAL(clr_settings, offset, "offset", "0", 0, 1e100,
             "added first, so that zeros have a logarithm; 0.5 or 1 for counts"),
};

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    double offset = ((const clr_settings *)fit->settings)->offset;
    double mean = 0;

    (void)work;
    for (int64_t j = 0; j < fit->cols; j++) {
        if (!(row[j] + offset > 0))
            return j;
        out[j] = log(row[j] + offset);
        mean += (out[j] - mean) / (double)(j + 1);
    }
    for (int64_t j = 0; j < fit->cols; j++)
        out[j] -= mean;
    return -1;
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t offset = g->number(g->state, ((const clr_settings *)fit->settings)->offset);
    int64_t logs = g->one(g->state, "Log", g->two(g->state, "Add", x, offset));

    return g->two(g->state, "Sub", logs, kfe_i_graph_mean(g, logs, fit->cols));
}

const kfe_i_row_step kfe_i_step_clr = {
    .name = "clr",
    .summary = "centred log-ratio of compositions: logarithms less the mean of their row",
    .formula = "log(x + offset) - mean over the row; Aitchison (1982)",
    .params = KFE_PARAM_TABLE(rows, clr_settings),
    .apply = apply,
    .takes = "takes positive numbers; add an offset, such as {prepare=clr:offset=1}, or remove the row",
    .graph = graph,
};
