/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step epo, external parameter orthogonalisation: x becomes x − V(Vᵀx). The orthonormal columns of V are the main directions in
 * which spectra of the same samples differ between two instruments or conditions. model/transfer_steps.c finds them.
 *
 * Roger, Chauchard & Bellon-Maurel (2003). Time O(d·dim) per row. Learned: Vᵀ (dim × cols), with rows of zeros where the differences have
 * fewer directions.
 */
#include <string.h>

#include "core/memory.h"
#include "data/steps/step.h"
#include "data/steps/transfer_settings.h"

static const kfe_i_param rows[] = {
    KFE_INT(kfe_i_epo_settings, dim, "dim", "1", 1, 999, "directions of the differences that are removed"),
};

static int64_t numbers(const kfe_i_fitted_step *fit)
{
    return ((const kfe_i_epo_settings *)fit->settings)->dim;
}

/* The projection is symmetric, so this is also the pull. */
static void project(const kfe_i_fitted_step *fit, const double *row, double *out)
{
    memcpy(out, row, (size_t)fit->cols * sizeof *out);
    for (int64_t a = 0; a < numbers(fit); a++) {
        const double *v = fit->learned + a * fit->cols;
        double length = 0;
        for (int64_t j = 0; j < fit->cols; j++)
            length += v[j] * row[j];
        for (int64_t j = 0; j < fit->cols; j++)
            out[j] -= length * v[j];
    }
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    (void)work;
    project(fit, row, out);
    return -1;
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t dim = numbers(fit);
    double *v = kfe_i_alloc(fit->ctx, fit->cols * dim, sizeof *v);

    if (!v)
        return -1;
    for (int64_t a = 0; a < dim; a++)
        for (int64_t j = 0; j < fit->cols; j++)
            v[j * dim + a] = fit->learned[a * fit->cols + j];
    int64_t lengths = g->two(g->state, "MatMul", x, g->matrix(g->state, v, fit->cols, dim));
    int64_t removed = g->two(g->state, "MatMul", lengths, g->matrix(g->state, fit->learned, dim, fit->cols));
    kfe_i_free(fit->ctx, v);
    return g->two(g->state, "Sub", x, removed);
}

const kfe_i_row_step kfe_i_step_epo = {
    .name = "epo",
    .summary = "external parameter orthogonalisation: removes the directions in which instruments or "
               "conditions differ; added to a model by kfe transfer",
    .formula = "x - V(V'x), V: main directions of differences of paired spectra; Roger et al. (2003)",
    .params = KFE_PARAM_TABLE(rows, kfe_i_epo_settings),
    .learns = 1,
    .numbers = numbers,
    .is_transfer = 1,
    .apply = apply,
    .pull = project,
    .graph = graph,
};
