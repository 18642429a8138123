/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step detrend: a polynomial over the columns, which count as equally spaced, is fitted to each row and subtracted. With order 1 it is
 * SciPy's detrend; after snv and with order 2 it is the correction of Barnes et al.
 *
 * With orthonormal polynomials as the columns of Q, x becomes x − QQᵀx. Barnes, Dhanoa & Lister (1989). Time O(d·order) per row.
 */
#include <string.h>

#include "core/memory.h"
#include "data/steps/polynomial.h"
#include "data/steps/step.h"

typedef struct detrend_settings {
    int64_t order;
} detrend_settings;

static const kfe_i_param rows[] = {
    KFE_INT(detrend_settings, order, "order", "1", 0, 20, "degree of the polynomial that is subtracted"),
};

static int64_t terms_of(const kfe_i_fitted_step *fit)
{
    return ((const detrend_settings *)fit->settings)->order + 1;
}

static kfe_status plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;

    (void)names;
    if (terms_of(fit) >= fit->cols)
        KFE_FAIL(
            ctx, KFE_EINPUT,
            "{prepare}: a polynomial of order %lld leaves nothing of a row of %lld columns; step detrend "
            "needs a lower order",
            (long long)terms_of(fit) - 1, (long long)fit->cols);
    KFE_ALLOC(ctx, fit->plan, terms_of(fit) * fit->cols);
    KFE_TRY(kfe_i_polynomials(ctx, fit->cols, terms_of(fit) - 1, 0, fit->plan, NULL));
cleanup:
    return status;
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    (void)work;
    memcpy(out, row, (size_t)fit->cols * sizeof *out);
    for (int64_t k = 0; k < terms_of(fit); k++) {
        const double *q = fit->plan + k * fit->cols;
        double part = 0;
        for (int64_t j = 0; j < fit->cols; j++)
            part += q[j] * out[j];
        for (int64_t j = 0; j < fit->cols; j++)
            out[j] -= part * q[j];
    }
    return -1;
}

/* A projection is symmetric. */
static void pull(const kfe_i_fitted_step *fit, const double *out, double *in)
{
    apply(fit, out, in, NULL);
}

static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t q = g->matrix(g->state, fit->plan, terms_of(fit), fit->cols);
    int64_t parts = g->two(g->state, "MatMul", x, g->one(g->state, "Transpose", q));

    return g->two(g->state, "Sub", x, g->two(g->state, "MatMul", parts, q));
}

const kfe_i_row_step kfe_i_step_detrend = {
    .name = "detrend",
    .summary = "subtract a polynomial over the columns from each row",
    .formula = "x - least-squares polynomial over the columns; Barnes, Dhanoa & Lister (1989)",
    .params = KFE_PARAM_TABLE(rows, detrend_settings),
    .plan = plan,
    .apply = apply,
    .pull = pull,
    .graph = graph,
};
