/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step msc, multiplicative scatter correction: each row x is fitted by a line on the reference r, x ≈ a + b·r, and becomes (x − a)/b.
 * The reference is the mean of the training rows, by their weights, and the model keeps it. A row that does not vary has no b and becomes
 * the mean of the reference.
 *
 * Geladi, MacDougall & Martens (1985). Time O(d) per row.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/steps/step.h"

static double mean_of(int64_t count, const double *values)
{
    double mean = 0;

    for (int64_t j = 0; j < count; j++)
        mean += (values[j] - mean) / (double)(j + 1);
    return mean;
}

/* Σ (r − r̄)² */
static double spread_of(int64_t count, const double *reference, double mean)
{
    double sum = 0;

    for (int64_t j = 0; j < count; j++)
        sum += (reference[j] - mean) * (reference[j] - mean);
    return sum;
}

static kfe_status learn(kfe_context *ctx, const kfe_i_table *rows, kfe_i_fitted_step *fit)
{
    double total = 0;

    memset(fit->learned, 0, (size_t)fit->cols * sizeof *fit->learned);
    for (int64_t i = 0; i < rows->rows; i++) {
        double weight = kfe_i_row_weight(rows, i);
        total += weight;
        for (int64_t j = 0; weight > 0 && j < fit->cols; j++)
            fit->learned[j] += weight / total * (rows->values[i * rows->stride + j] - fit->learned[j]);
    }
    if (!(spread_of(fit->cols, fit->learned, mean_of(fit->cols, fit->learned)) > 0))
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "{prepare}: the mean of the training rows does not vary, so that step msc has no "
                          "reference to fit rows to; use snv");
    return KFE_OK;
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    const double *r = fit->learned;
    double centre = mean_of(fit->cols, r);
    double spread = spread_of(fit->cols, r, centre);
    double mean = mean_of(fit->cols, row);
    double together = 0;

    (void)work;
    for (int64_t j = 0; j < fit->cols; j++)
        together += (row[j] - mean) * (r[j] - centre);
    double slope = together / spread;
    if (!(fabs(slope) * sqrt(spread) > 1e-14 * fabs(mean)))
        slope = 0;
    for (int64_t j = 0; j < fit->cols; j++) /* a = mean − slope·centre */
        out[j] = slope != 0 ? (row[j] - mean) / slope + centre : centre;
    return -1;
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    double mean = mean_of(fit->cols, fit->learned);
    double spread = spread_of(fit->cols, fit->learned, mean);
    int64_t centre = g->number(g->state, mean);
    int64_t r = g->two(g->state, "Sub", g->row(g->state, fit->learned, fit->cols), centre);
    int64_t centred = g->two(g->state, "Sub", x, kfe_i_graph_mean(g, x, fit->cols));
    int64_t together = g->sum(g->state, g->two(g->state, "Mul", centred, r));
    int64_t slope = g->two(g->state, "Div", together, g->number(g->state, spread > 0 ? spread : 1));

    return g->two(g->state, "Add", kfe_i_graph_divide(g, centred, slope, centred), centre);
}

const kfe_i_row_step kfe_i_step_msc = {
    .name = "msc",
    .summary =
        "multiplicative scatter correction: each row fitted to the mean training row, offset and slope removed",
    .formula = "(x - a)/b, with x = a + b*reference by least squares; Geladi, MacDougall & Martens (1985)",
    .learns = 1,
    .learn = learn,
    .apply = apply,
    .graph = graph,
};
