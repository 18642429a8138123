/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton's directions for linear SVMs from the products of all pairs of rows, K = XXᵀ (newton.c), for few rows of many columns. With
 * w = Xᵀz, outputs are Kz, and the step from z leads to
 *     z_A = (K_AA + 1/(2c))⁻¹t_A,   0 elsewhere.
 * All problems of a fit share K. Time: n_A³/3 for each step.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "learn/linear/way.h"
#include "linalg/linalg.h"

typedef struct kernel_system {
    double *matrix; /* rows × rows: K_AA + 1/(2c) */
    double *target; /* rows */
    double *work;   /* rows */
} kernel_system;

static kfe_status open_way(kfe_i_newton *s)
{
    kfe_status status = KFE_OK;
    kernel_system *k = NULL;

    KFE_TAKE_ZERO(&s->arena, k, 1);
    s->own = k;
    KFE_TAKE(&s->arena, k->matrix, s->rows * s->rows);
    KFE_TAKE(&s->arena, k->target, s->rows);
    KFE_TAKE(&s->arena, k->work, s->rows);
cleanup:
    return status;
}

static void outputs(const kfe_i_newton *s, const double *z, double *out)
{
    blasint n = (blasint)s->rows;

    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, s->p->rows->kernel, n, z, 1, 0, out, 1);
}

static double inner(const kfe_i_newton *s, const double *a, const double *b, const double *output_of_b)
{
    (void)b;
    return cblas_ddot((blasint)s->rows, a, 1, output_of_b, 1);
}

/* The gradient by w is Xᵀ(z + slope). */
static void find_gradient(kfe_i_newton *s)
{
    kernel_system *k = s->own;

    memcpy(s->before, s->slope, (size_t)s->rows * sizeof *s->before);
    for (int64_t i = 0; i < s->rows; i++)
        s->gradient[i] = s->point[i] + s->slope[i];
    outputs(s, s->gradient, k->work);
    s->norm = sqrt(fmax(0, cblas_ddot((blasint)s->rows, s->gradient, 1, k->work, 1)));
}

static kfe_status find_direction(kfe_i_newton *s)
{
    kfe_status status = KFE_OK;
    kernel_system *k = s->own;
    const kfe_i_newton_problem *p = s->p;
    int64_t m = kfe_i_newton_list_active(s, s->active);

    for (int64_t a = 0; a < m; a++) {
        int64_t i = s->active[a];
        const double *row = p->rows->kernel + i * s->rows;
        for (int64_t b = 0; b < m; b++)
            k->matrix[a * m + b] = row[s->active[b]];
        k->matrix[a * (m + 1)] += 1 / (2 * p->losses.cost[i]);
        k->target[a] = kfe_i_newton_goal(s, i, s->slope[i]);
    }
    if (m > 0)
        KFE_TRY(kfe_i_cholesky_solve(s->ctx, m, k->matrix, 1, k->target, "the Hessian of the linear SVM"));
    for (int64_t i = 0; i < s->rows; i++)
        s->direction[i] = -s->point[i];
    for (int64_t a = 0; a < m; a++)
        s->direction[s->active[a]] += k->target[a];
cleanup:
    return status;
}

const kfe_i_newton_way kfe_i_newton_by_kernel = {
    .is_exact = 1,
    .open = open_way,
    .outputs = outputs,
    .inner = inner,
    .find_gradient = find_gradient,
    .find_direction = find_direction,
};
