/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps that shift and scale columns have in common. */
#include "data/steps/columns_step.h"

#include <math.h>

#include "core/memory.h"
#include "data/table/facts.h"

kfe_status kfe_i_columns_step_learn(kfe_context *ctx, const kfe_i_table *rows, double power,
                                    kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;
    kfe_i_column_facts *columns = NULL;
    double total = kfe_i_table_weight(rows);

    KFE_ALLOC_ZERO(ctx, columns, fit->cols);
    KFE_TRY(kfe_i_column_facts_find(ctx, rows, 1, columns));
    for (int64_t j = 0; j < fit->cols; j++) {
        double deviation = columns[j].reach * (columns[j].spread / sqrt(total));
        double factor = pow(deviation, -power);
        fit->learned[j] = columns[j].mean;
        fit->learned[fit->cols + j] = columns[j].low < columns[j].high && isfinite(factor) ? factor : 1;
    }
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}

int64_t kfe_i_columns_step_apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    (void)work;
    for (int64_t j = 0; j < fit->cols; j++)
        out[j] = (row[j] - fit->learned[j]) * fit->learned[fit->cols + j];
    return -1;
}

void kfe_i_columns_step_pull(const kfe_i_fitted_step *fit, const double *out, double *in)
{
    for (int64_t j = 0; j < fit->cols; j++)
        in[j] = out[j] * fit->learned[fit->cols + j];
}

int64_t kfe_i_columns_step_graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t centred = g->two(g->state, "Sub", x, g->row(g->state, fit->learned, fit->cols));

    return g->two(g->state, "Mul", centred, g->row(g->state, fit->learned + fit->cols, fit->cols));
}
