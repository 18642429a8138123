/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton's method for linear SVMs with squared loss.
 *
 * Let A be the rows with a loss at w, and t_i the nearest end of row i's interval. While A stays the same, the objective is the quadratic
 *     ½wᵀ(I + 2Σ_A c_i x_i x_iᵀ)w − 2Σ_A c_i t_i x_iᵀw + const,
 * so a Newton step solves one linear system. If the step ends with the same A, that is the minimum, exactly. Else the search along it
 * ends where the slope has fallen to a hundredth; the slope is piecewise linear, so that a few evaluations suffice.
 *
 * There are three ways to solve the system; choose_way in rows.c predicts which is fastest. Conjugate gradients stop when factors would have
 * taken less time, and the search goes on by the kernel.
 *
 * Mangasarian, "A finite Newton method for classification" (2002); Keerthi & DeCoste, "A modified finite Newton method for fast
 * solution of large scale linear SVMs" (2005). Five to fifteen steps are usual. Memory: 7 numbers per row.
 */
#include "learn/linear/newton.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "learn/linear/way.h"

int64_t kfe_i_newton_list_active(const kfe_i_newton *s, int32_t *list)
{
    int64_t count = 0;

    for (int64_t i = 0; i < s->rows; i++) {
        list[count] = (int32_t)i;
        count += s->slope[i] != 0;
    }
    return count;
}

/* ---- the search along a direction ---- */

enum { MOST_EVALUATIONS = 40 };
/* Share of the slope at the start that may be left. */
#define SLOPE_LEFT 0.1

/* The losses at this step; slopes become those there. */
static kfe_i_loss_sums look(kfe_i_newton *s, double step)
{
    kfe_i_loss_sums sums = kfe_i_loss_along(&s->p->losses, s->output, s->moved, step, s->slope);

    s->active_count = sums.active;
    return sums;
}

/* The step to the minimum along the direction; 0: it leads up. */
static double find_step(kfe_i_newton *s)
{
    double along = s->way->inner(s, s->point, s->direction, s->moved);
    double square = s->way->inner(s, s->direction, s->direction, s->moved);
    double start = -s->way->inner(s, s->gradient, s->direction, s->moved);
    double low = 0;
    double high = INFINITY;
    double step = 1;

    if (!(start > 0))
        return 0;
    for (int k = 0; k < MOST_EVALUATIONS; k++) {
        kfe_i_loss_sums losses = look(s, step);
        double slope = along + step * square + losses.first;
        if (fabs(slope) <= SLOPE_LEFT * start)
            return step;
        *(slope > 0 ? &high : &low) = step;
        step -= slope / (square + losses.second);
        if (!(step > low && step < high))
            step = isinf(high) ? 2 * low : low / 2 + high / 2;
    }
    look(s, low);
    return low;
}

/* ---- iterations ---- */

static double accepted_norm(const kfe_i_newton *s)
{
    return (s->way->is_exact ? KFE_NEWTON_ROUNDING : s->p->stop) * s->start;
}

static kfe_status iterate(kfe_i_newton *s, int *solved)
{
    kfe_status status = KFE_OK;
    double step = 0;

    *solved = 0;
    look(s, 0);
    for (int iteration = 0; iteration <= KFE_NEWTON_STEPS_MOST; iteration++) {
        KFE_TRY(kfe_i_progress(s->ctx, "learning", iteration, 0));
        s->changed_count = kfe_i_loss_list_changes(s->slope, s->before, s->rows, s->changed);
        int ended = s->way->is_exact && step == 1 && s->changed_count == 0;
        s->way->find_gradient(s);
        if (iteration == 0)
            s->start = s->norm;
        *solved = ended || s->norm <= accepted_norm(s);
        if (*solved || iteration == KFE_NEWTON_STEPS_MOST)
            break;
        status = s->way->find_direction(s);
        if (status == KFE_ENUMERIC) {
            status = KFE_OK;
            break;
        }
        KFE_TRY(status);
        s->way->outputs(s, s->direction, s->moved);
        step = find_step(s);
        if (step == 0)
            break;
        cblas_daxpy((blasint)s->size, step, s->direction, 1, s->point, 1);
        cblas_daxpy((blasint)s->rows, step, s->moved, 1, s->output, 1);
    }
cleanup:
    return status;
}

static kfe_status open_search(kfe_i_newton *s)
{
    static const kfe_i_newton_way *const ways[] = {
        [KFE_LINEAR_BY_COLUMNS] = &kfe_i_newton_by_columns,
        [KFE_LINEAR_BY_KERNEL] = &kfe_i_newton_by_kernel,
        [KFE_LINEAR_BY_GRADIENTS] = &kfe_i_newton_by_gradients,
    };
    kfe_status status = KFE_OK;
    const kfe_i_linear_rows *rows = s->p->rows;

    s->way = ways[rows->way];
    s->size = rows->way == KFE_LINEAR_BY_KERNEL ? rows->count : rows->cols;
    KFE_TAKE_ZERO(&s->arena, s->point, s->size);
    KFE_TAKE(&s->arena, s->direction, s->size);
    KFE_TAKE(&s->arena, s->gradient, s->size);
    KFE_TAKE_ZERO(&s->arena, s->output, s->rows);
    KFE_TAKE_ZERO(&s->arena, s->moved, s->rows);
    KFE_TAKE(&s->arena, s->slope, s->rows);
    KFE_TAKE(&s->arena, s->active, s->rows + 1);
    KFE_TAKE(&s->arena, s->changed, s->rows + 1);
    KFE_TAKE_ZERO(&s->arena, s->before, s->rows);
    KFE_TRY(s->way->open(s));
cleanup:
    return status;
}

/* Objective and gradient, from the outputs: what was updated many times has lost digits. */
static void measure(kfe_i_newton *s, const double *w, double *gradient, kfe_i_newton_result *out)
{
    blasint d = (blasint)s->p->rows->cols;

    out->objective = cblas_ddot(d, w, 1, w, 1) / 2 + look(s, 0).sum;
    memcpy(gradient, w, (size_t)d * sizeof *gradient);
    kfe_i_linear_rows_add(s->p->rows, NULL, s->rows, s->slope, gradient);
    out->gradient = cblas_dnrm2(d, gradient, 1);
    out->start = s->start;
}

kfe_status kfe_i_newton_solve(kfe_context *ctx, const kfe_i_newton_problem *problem, double *w,
                              kfe_i_newton_result *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_linear_rows *rows = problem->rows;
    kfe_i_newton s = {.ctx = ctx, .arena = {.ctx = ctx}, .p = problem, .rows = rows->count};
    double *gradient = NULL;

    *out = (kfe_i_newton_result){0};
    KFE_TAKE(&s.arena, gradient, rows->cols);
    KFE_TRY(open_search(&s));
    KFE_TRY(iterate(&s, &out->solved));
    if (rows->way == KFE_LINEAR_BY_KERNEL) {
        memset(w, 0, (size_t)rows->cols * sizeof *w);
        kfe_i_linear_rows_add(rows, NULL, s.rows, s.point, w);
        kfe_i_linear_rows_outputs(rows, w, s.output);
    } else {
        memcpy(w, s.point, (size_t)rows->cols * sizeof *w);
    }
    measure(&s, w, gradient, out);
cleanup:
    kfe_i_arena_free(&s.arena);
    return status;
}
