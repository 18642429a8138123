/* SPDX-License-Identifier: Apache-2.0 */
/* The step log: the logarithm of each value plus an offset, for counts and concentrations. Time O(d) per row. */
#include <math.h>

#include "data/steps/step.h"

typedef struct log_settings {
    double offset;
    int base;
} log_settings;

static const kfe_i_param rows[] = {
    KFE_REAL(log_settings, offset, "offset", "0", 0, 1e100,
             "added first, so that zeros have a logarithm; 1 for counts"),
    KFE_CHOICE(log_settings, base, "base", "e", "e|2|10", "base of the logarithm"),
};

/* The logarithm of the base. */
static double divisor(const log_settings *s)
{
    static const double bases[] = {0, 2, 10};

    return s->base ? log(bases[s->base]) : 1;
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    const log_settings *s = fit->settings;
    double by = divisor(s);

    (void)work;
    for (int64_t j = 0; j < fit->cols; j++) {
        if (!(row[j] + s->offset > 0))
            return j;
        out[j] = (s->offset == 1 ? log1p(row[j]) : log(row[j] + s->offset)) / by;
    }
    return -1;
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    const log_settings *s = fit->settings;
    int64_t sum = g->two(g->state, "Add", x, g->number(g->state, s->offset));

    return g->two(g->state, "Div", g->one(g->state, "Log", sum), g->number(g->state, divisor(s)));
}

const kfe_i_row_step kfe_i_step_log = {
    .name = "log",
    .summary = "logarithm of each value, for counts and concentrations",
    .formula = "log(x + offset)",
    .params = KFE_PARAM_TABLE(rows, log_settings),
    .apply = apply,
    .takes = "takes positive numbers; add an offset, such as {prepare=log:offset=1}, or remove the row",
    .graph = graph,
};
