/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step pds, piecewise direct standardisation: turns a spectrum of a second instrument (the slave) into what the first one (the
 * master) would have measured. Column j becomes b_j + Σ_i F_ij x_i over the columns i of the window around j, which is shorter at the
 * ends. model/transfer_steps.c learns F and b from the same samples on both instruments.
 *
 * Wang, Veltkamp & Kowalski (1991). Time O(d·window) per row. Learned, each a row of `cols` numbers: F of the columns at −window/2, …,
 * +window/2 (0 outside of the row), and b.
 */
#include <string.h>

#include "core/memory.h"
#include "data/steps/step.h"
#include "data/steps/transfer_settings.h"

static const kfe_i_param rows[] = {
    KFE_INT(kfe_i_pds_settings, window, "window", "5", 1, 999,
            "columns of the slave that a column of the master is computed from, an odd number"),
    KFE_INT(kfe_i_pds_settings, dim, "dim", "2", 1, 999,
            "PLS components in each window; as many as the window has columns: least squares"),
};

static int64_t window_of(const kfe_i_fitted_step *fit)
{
    return ((const kfe_i_pds_settings *)fit->settings)->window;
}

static kfe_status plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit)
{
    (void)names;
    if (window_of(fit) % 2 == 0)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "the window of step pds is an odd number of columns, not %lld; use %lld",
                          (long long)window_of(fit), (long long)window_of(fit) + 1);
    return KFE_OK;
}

static int64_t numbers(const kfe_i_fitted_step *fit)
{
    return window_of(fit) + 1;
}

/* The column that place i of the window of column j stands for; outside of the row, where F is 0, the nearest one. */
static int64_t column_at(const kfe_i_fitted_step *fit, int64_t j, int64_t i)
{
    int64_t column = j - window_of(fit) / 2 + i;

    if (column < 0)
        return 0;
    return column < fit->cols ? column : fit->cols - 1;
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    int64_t w = window_of(fit);

    (void)work;
    memcpy(out, fit->learned + w * fit->cols, (size_t)fit->cols * sizeof *out);
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < fit->cols; j++)
            out[j] += fit->learned[i * fit->cols + j] * row[column_at(fit, j, i)];
    return -1;
}

static void pull(const kfe_i_fitted_step *fit, const double *out, double *in)
{
    memset(in, 0, (size_t)fit->cols * sizeof *in);
    for (int64_t i = 0; i < window_of(fit); i++)
        for (int64_t j = 0; j < fit->cols; j++)
            in[column_at(fit, j, i)] += fit->learned[i * fit->cols + j] * out[j];
}

/* The sum over the window of shifted copies of x, each times its row of F. */
static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t w = window_of(fit);
    int64_t *columns = kfe_i_alloc(fit->ctx, fit->cols, sizeof *columns);
    int64_t sum = g->row(g->state, fit->learned + w * fit->cols, fit->cols);

    for (int64_t i = 0; columns && i < w; i++) {
        for (int64_t j = 0; j < fit->cols; j++)
            columns[j] = column_at(fit, j, i);
        int64_t part = g->two(g->state, "Mul", g->columns(g->state, x, columns, fit->cols),
                              g->row(g->state, fit->learned + i * fit->cols, fit->cols));
        sum = g->two(g->state, "Add", part, sum);
    }
    int64_t made = columns ? sum : -1;
    kfe_i_free(fit->ctx, columns);
    return made;
}

const kfe_i_row_step kfe_i_step_pds = {
    .name = "pds",
    .summary = "piecewise direct standardisation: spectra of a second instrument as the first would have "
               "measured them; added to a model by kfe transfer",
    .formula =
        "each column from a window of columns, by PLS on paired spectra; Wang, Veltkamp & Kowalski (1991)",
    .params = KFE_PARAM_TABLE(rows, kfe_i_pds_settings),
    .learns = 1,
    .numbers = numbers,
    .is_transfer = 1,
    .plan = plan,
    .apply = apply,
    .pull = pull,
    .graph = graph,
};
