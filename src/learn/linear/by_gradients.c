/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton's directions for linear SVMs by conjugate gradients (newton.c), for sparse rows of many columns. A multiplication with the
 * Hessian I + 2Σ_A c_i x_i x_iᵀ is one pass over the rows with a loss.
 *
 * The preconditioner is the root of the Hessian's diagonal: the diagonal itself helps columns of different units and harms text; its root
 * helps the former and hardly harms the latter. The iterations end when the residual has fallen to the root of the factor by which
 * the gradient has fallen, so that the last steps converge faster than linearly.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "learn/linear/way.h"

enum { MOST_GRADIENTS = 500, ARRAYS = 4 };
#define LARGEST_RESIDUAL 0.5

typedef struct gradients {
    double *curvature; /* rows: 2c */
    double *inverse;   /* of the preconditioner */
    double *residual, *search, *product;
    double *memory;
} gradients;

static kfe_status open_way(kfe_i_newton *s)
{
    kfe_status status = KFE_OK;
    gradients *g = NULL;

    KFE_TAKE_ZERO(&s->arena, g, 1);
    s->own = g;
    KFE_TAKE(&s->arena, g->memory, ARRAYS * s->size);
    KFE_TAKE(&s->arena, g->curvature, s->rows);
    g->inverse = g->memory;
    g->residual = g->memory + s->size;
    g->search = g->memory + 2 * s->size;
    g->product = g->memory + 3 * s->size;
    for (int64_t i = 0; i < s->rows; i++)
        g->curvature[i] = 2 * s->p->losses.cost[i];
cleanup:
    return status;
}

static void outputs(const kfe_i_newton *s, const double *z, double *out)
{
    kfe_i_linear_rows_outputs(s->p->rows, z, out);
}

static double inner(const kfe_i_newton *s, const double *a, const double *b, const double *output_of_b)
{
    (void)output_of_b;
    return cblas_ddot((blasint)s->size, a, 1, b, 1);
}

static void find_gradient(kfe_i_newton *s)
{
    kfe_i_newton_list_active(s, s->active);
    memcpy(s->gradient, s->point, (size_t)s->size * sizeof *s->gradient);
    kfe_i_linear_rows_add(s->p->rows, s->active, s->active_count, s->slope, s->gradient);
    s->norm = cblas_dnrm2((blasint)s->size, s->gradient, 1);
}

static void find_preconditioner(const kfe_i_newton *s, gradients *g)
{
    for (int64_t j = 0; j < s->size; j++)
        g->inverse[j] = 1;
    kfe_i_linear_rows_add_squares(s->p->rows, s->active, s->active_count, g->curvature, g->inverse);
    for (int64_t j = 0; j < s->size; j++)
        g->inverse[j] = 1 / sqrt(g->inverse[j]);
}

/* residualᵀM⁻¹residual */
static double measure(const kfe_i_newton *s, const gradients *g)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < s->size; j++)
        sum += g->residual[j] * g->residual[j] * g->inverse[j];
    return sum;
}

/* One step of conjugate gradients; returns the measure of the residual after it. */
static double improve(kfe_i_newton *s, gradients *g, double before)
{
    const kfe_i_newton_problem *p = s->p;
    int64_t d = s->size;

    memcpy(g->product, g->search, (size_t)d * sizeof *g->product);
    kfe_i_linear_rows_add_products(p->rows, s->active, s->active_count, g->curvature, g->search, g->product);
    double length = before / cblas_ddot((blasint)d, g->search, 1, g->product, 1);
    cblas_daxpy((blasint)d, length, g->search, 1, s->direction, 1);
    cblas_daxpy((blasint)d, -length, g->product, 1, g->residual, 1);
    double after = measure(s, g);
    for (int64_t j = 0; j < d; j++)
        g->search[j] = g->inverse[j] * g->residual[j] + after / before * g->search[j];
    return after;
}

static kfe_status find_direction(kfe_i_newton *s)
{
    kfe_status status = KFE_OK;
    gradients *g = s->own;
    double share = fmin(LARGEST_RESIDUAL, sqrt(s->norm / s->start));

    find_preconditioner(s, g);
    memset(s->direction, 0, (size_t)s->size * sizeof *s->direction);
    for (int64_t j = 0; j < s->size; j++) {
        g->residual[j] = -s->gradient[j];
        g->search[j] = -s->gradient[j] * g->inverse[j];
    }
    double start = measure(s, g);
    double now = start;
    for (int k = 0; k < MOST_GRADIENTS && now > share * share * start; k++) {
        KFE_TRY(kfe_i_progress(s->ctx, "learning", 0, 0));
        now = improve(s, g, now);
    }
cleanup:
    return status;
}

const kfe_i_newton_way kfe_i_newton_by_gradients = {
    .open = open_way,
    .outputs = outputs,
    .inner = inner,
    .find_gradient = find_gradient,
    .find_direction = find_direction,
};
