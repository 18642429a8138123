/* SPDX-License-Identifier: Apache-2.0 */
/* The step area: each row is divided by the sum of its magnitudes and multiplied by `total`. A row of zeros stays. Time O(d) per row. */
#include <math.h>

#include "data/steps/step.h"

typedef struct area_settings {
    double total;
} area_settings;

static const kfe_i_param rows[] = {
    KFE_REAL(area_settings, total, "total", "1", KFE_REAL_POSITIVE, 1e100,
             "sum of the magnitudes of each row afterwards, such as 10000 for counts"),
};

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    double total = ((const area_settings *)fit->settings)->total;
    double sum = 0;

    (void)work;
    for (int64_t j = 0; j < fit->cols; j++)
        sum += fabs(row[j]);
    for (int64_t j = 0; j < fit->cols; j++)
        out[j] = sum > 0 ? row[j] / sum * total : row[j];
    return -1;
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t total = g->number(g->state, ((const area_settings *)fit->settings)->total);
    int64_t sum = g->sum(g->state, g->one(g->state, "Abs", x));

    return g->two(g->state, "Mul", kfe_i_graph_divide(g, x, sum, x), total);
}

const kfe_i_row_step kfe_i_step_area = {
    .name = "area",
    .summary = "divide each row by the sum of its magnitudes",
    .formula = "x*total/sum of |x| over the row",
    .params = KFE_PARAM_TABLE(rows, area_settings),
    .apply = apply,
    .graph = graph,
};
