/* SPDX-License-Identifier: Apache-2.0 */
/* The step vector: each row is divided by its length, the root of its sum of squares. A row of zeros stays. Time O(d) per row. */
#include <math.h>

#include "data/steps/step.h"

static double reach_of(const kfe_i_fitted_step *fit, const double *row)
{
    double reach = 0;

    for (int64_t j = 0; j < fit->cols; j++)
        reach = fmax(reach, fabs(row[j]));
    return reach;
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    double reach = reach_of(fit, row); /* divided out first, as nothing may overflow */
    double squares = 0;

    (void)work;
    for (int64_t j = 0; j < fit->cols; j++) {
        out[j] = reach > 0 ? row[j] / reach : 0;
        squares += out[j] * out[j];
    }
    for (int64_t j = 0; reach > 0 && j < fit->cols; j++)
        out[j] /= sqrt(squares);
    return -1;
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t squares = g->sum(g->state, g->two(g->state, "Mul", x, x));

    (void)fit;
    return kfe_i_graph_divide(g, x, g->one(g->state, "Sqrt", squares), x);
}

const kfe_i_row_step kfe_i_step_vector = {
    .name = "vector",
    .summary = "divide each row by its length, so that its squares add up to 1",
    .formula = "x/length of the row",
    .apply = apply,
    .graph = graph,
};
