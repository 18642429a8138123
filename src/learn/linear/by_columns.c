/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton's directions for linear SVMs from two sums over the rows with a loss (newton.c), for rows of few columns:
 *     G = Σ_A c_i x_i x_iᵀ,   h = Σ_A c_i t_i x_i,
 * which give the gradient w + 2(Gw − h) and the system I + 2G. The rows that enter or leave A, or change sides, update the sums; if there
 * are more of them than rows with a loss, the sums are made again.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "learn/linear/way.h"
#include "linalg/linalg.h"

/* Rows worked on while they are in cache. */
enum { BLOCK = 256 };

typedef struct column_system {
    double *gram;                   /* cols × cols: the lower half of G */
    double *target;                 /* cols: h */
    double *matrix;                 /* cols × cols: I + 2G */
    double *block, *scaled;         /* cols × BLOCK: some rows, and the same times what they add */
    double by[BLOCK], goals[BLOCK]; /* what each row of the block adds to G and to h */
} column_system;

static kfe_status open_way(kfe_i_newton *s)
{
    kfe_status status = KFE_OK;
    column_system *c = NULL;
    int64_t d = s->size;

    KFE_TAKE_ZERO(&s->arena, c, 1);
    s->own = c;
    KFE_TAKE_ZERO(&s->arena, c->gram, d * d);
    KFE_TAKE_ZERO(&s->arena, c->target, d);
    KFE_TAKE(&s->arena, c->matrix, d * d);
    if (s->p->rows->layout == KFE_LINEAR_COLUMNS) {
        KFE_TAKE(&s->arena, c->block, d * BLOCK);
        KFE_TAKE(&s->arena, c->scaled, d * BLOCK);
    }
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

/* ---- the sums ---- */

/* Notes that rows have changed sides, and what each adds to the sums. */
static void change_sides(kfe_i_newton *s, const int32_t *list, int64_t count)
{
    column_system *c = s->own;

    for (int64_t k = 0; k < count; k++) {
        int64_t i = list[k];
        double cost = s->p->losses.cost[i];
        double now = s->slope[i] != 0 ? cost : 0;
        double before = s->before[i] != 0 ? cost : 0;
        c->by[k] = now - before;
        c->goals[k] = now > 0 ? now * kfe_i_newton_goal(s, i, s->slope[i]) : 0;
        c->goals[k] -= before > 0 ? before * kfe_i_newton_goal(s, i, s->before[i]) : 0;
        s->before[i] = s->slope[i];
    }
}

static void add_dense(kfe_i_newton *s, const int32_t *list, int64_t count)
{
    column_system *c = s->own;
    const kfe_i_linear_rows *rows = s->p->rows;
    int64_t d = s->size;

    for (int64_t j = 0; j < d; j++) {
        const double *column = rows->values + j * s->rows;
        for (int64_t k = 0; k < count; k++) {
            c->block[j * BLOCK + k] = column[list[k]];
            c->scaled[j * BLOCK + k] = c->by[k] * column[list[k]];
        }
        c->target[j] += cblas_ddot((blasint)count, c->block + j * BLOCK, 1, c->goals, 1);
    }
    if (d > 64) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)d, (blasint)d, (blasint)count, 1,
                    c->scaled, BLOCK, c->block, BLOCK, 1, c->gram, (blasint)d);
        return;
    }
    for (int64_t j = 0; j < d; j++)
        for (int64_t l = 0; l <= j; l++)
            c->gram[j * d + l] +=
                cblas_ddot((blasint)count, c->scaled + j * BLOCK, 1, c->block + l * BLOCK, 1);
}

static void add_sparse(kfe_i_newton *s, const int32_t *list, int64_t count)
{
    column_system *c = s->own;
    const kfe_i_linear_rows *rows = s->p->rows;

    for (int64_t k = 0; k < count; k++)
        for (int64_t p = rows->start[list[k]]; p < rows->start[list[k] + 1]; p++) {
            double *row = c->gram + rows->columns[p] * s->size;
            double value = c->by[k] * rows->values[p];
            c->target[rows->columns[p]] += c->goals[k] * rows->values[p];
            for (int64_t q = rows->start[list[k]]; q <= p; q++)
                row[rows->columns[q]] += value * rows->values[q];
        }
}

static void update_sums(kfe_i_newton *s)
{
    column_system *c = s->own;
    int anew = s->changed_count > s->active_count;
    const int32_t *list = anew ? s->active : s->changed;
    int64_t all = anew ? s->active_count : s->changed_count;

    if (anew) {
        kfe_i_newton_list_active(s, s->active);
        memset(c->gram, 0, (size_t)(s->size * s->size) * sizeof *c->gram);
        memset(c->target, 0, (size_t)s->size * sizeof *c->target);
        memset(s->before, 0, (size_t)s->rows * sizeof *s->before);
    }
    for (int64_t first = 0; first < all; first += BLOCK) {
        int64_t count = all - first < BLOCK ? all - first : BLOCK;
        change_sides(s, list + first, count);
        if (s->p->rows->layout == KFE_LINEAR_COLUMNS)
            add_dense(s, list + first, count);
        else
            add_sparse(s, list + first, count);
    }
    kfe_i_mirror(s->size, c->gram);
}

static void find_gradient(kfe_i_newton *s)
{
    const column_system *c = s->own;
    int64_t d = s->size;

    update_sums(s);
    for (int64_t j = 0; j < d; j++)
        s->gradient[j] =
            s->point[j] + 2 * (cblas_ddot((blasint)d, c->gram + j * d, 1, s->point, 1) - c->target[j]);
    s->norm = cblas_dnrm2((blasint)d, s->gradient, 1);
}

static kfe_status find_direction(kfe_i_newton *s)
{
    column_system *c = s->own;
    int64_t d = s->size;

    for (int64_t e = 0; e < d * d; e++)
        c->matrix[e] = 2 * c->gram[e];
    for (int64_t j = 0; j < d; j++) {
        c->matrix[j * (d + 1)] += 1;
        s->direction[j] = -s->gradient[j];
    }
    return kfe_i_cholesky_solve(s->ctx, d, c->matrix, 1, s->direction, "the Hessian of the linear SVM");
}

const kfe_i_newton_way kfe_i_newton_by_columns = {
    .is_exact = 1,
    .open = open_way,
    .outputs = outputs,
    .inner = inner,
    .find_gradient = find_gradient,
    .find_direction = find_direction,
};
