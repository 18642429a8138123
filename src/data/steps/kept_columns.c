/* SPDX-License-Identifier: Apache-2.0 */
/* Rows, coefficients, names and graphs of steps that keep some of the columns. */
#include "data/steps/kept_columns.h"

#include <string.h>

int64_t kfe_i_kept_apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    (void)work;
    for (int64_t j = 0; j < fit->made; j++)
        out[j] = row[fit->kept[j]];
    return -1;
}

void kfe_i_kept_pull(const kfe_i_fitted_step *fit, const double *out, double *in)
{
    memset(in, 0, (size_t)fit->cols * sizeof *in);
    for (int64_t j = 0; j < fit->made; j++)
        in[fit->kept[j]] = out[j];
}

void kfe_i_kept_name(const kfe_i_fitted_step *fit, char *const *names, int64_t j, kfe_i_text *out)
{
    if (names)
        kfe_i_text_puts(out, names[fit->kept[j]]);
    else
        kfe_i_text_printf(out, "%lld", (long long)fit->kept[j] + 1);
}

int64_t kfe_i_kept_graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    return g->columns(g->state, x, fit->kept, fit->made);
}
