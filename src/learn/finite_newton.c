/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finite Newton method for linear SVMs with squared loss, used by linear_svm.c where there are many rows of few columns.
 *
 * Let A be the rows with a loss at w, and t_i the output from which on row i has none (y_i, or y_i ± epsilon). While A stays the
 * same, the objective is the quadratic
 *     ½wᵀ(I + 2Σ_A c_i x_i x_iᵀ)w − 2Σ_A c_i t_i x_iᵀw + const,
 * so a Newton step solves a system of the order of the columns. If A is the same at the end of a step, that is the minimum, exactly;
 * else the step is halved until the objective falls enough, and the two sums are updated by the rows that entered or left A.
 *
 * Mangasarian, "A finite Newton method for classification" (2002); Keerthi & DeCoste, "A modified finite Newton method for fast
 * solution of large scale linear SVMs" (2005). Time: O(rows·cols) per iteration, of which five to fifteen are usual, and O(cols²) for
 * every row that enters or leaves A. Memory: 4 numbers per row.
 */
#include "learn/finite_newton.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/dense/linalg.h"

/* Below so many rows a solver that is fast makes no difference. */
enum { ROWS_LEAST = 1000 };
/* Rows worked on while they are in cache. */
enum { BLOCK = 1024 };

typedef struct newton {
    kfe_context *ctx;
    const kfe_i_newton_problem *p;
    double *w, *next, *direction; /* cols */
    double *gradient;             /* cols: at w */
    double *output, *moved;       /* rows: Xw, and at the end of the step */
    int *side;                    /* rows: 0 without a loss, else on which side of its goal the output is */
    double *cost;                 /* rows: c_i */
    int32_t *changed;             /* rows: those that enter A, leave it, or change sides */
    double *gram;                 /* cols × cols: Σ_A c x xᵀ */
    double *target;               /* cols: Σ_A c t x */
    double *system;               /* cols × cols */
    double *block, *scaled;       /* cols × BLOCK: some rows, and the same times what they add to the sums */
} newton;

int kfe_i_newton_suits(int64_t rows, int64_t cols)
{
    return rows >= ROWS_LEAST && rows <= INT32_MAX && cols <= KFE_NEWTON_COLS_MOST;
}

/* ---- losses ---- */

/* On which side of its goal this output is: 0 without a loss. */
static int side_of(const kfe_i_newton_problem *p, int64_t i, double output)
{
    if (p->epsilon < 0)
        return p->y[i] * output < 1 ? -1 : 0;
    return output > p->y[i] + p->epsilon ? 1 : output < p->y[i] - p->epsilon ? -1 : 0;
}

/* The output from which on a row on this side has no loss. */
static double goal_of(const kfe_i_newton_problem *p, int64_t i, int side)
{
    return p->epsilon < 0 ? p->y[i] : p->y[i] + side * p->epsilon;
}

static double objective(const newton *s, const double *w, const double *output)
{
    const kfe_i_newton_problem *p = s->p;
    double norm = cblas_ddot((blasint)p->cols, w, 1, w, 1);
    double sum = 0;

    if (p->epsilon < 0) {
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < p->rows; i++) {
            double loss = 1 - p->y[i] * output[i];
            loss = loss > 0 ? loss : 0;
            sum += s->cost[i] * loss * loss;
        }
    } else {
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < p->rows; i++) {
            double loss = fabs(p->y[i] - output[i]) - p->epsilon;
            loss = loss > 0 ? loss : 0;
            sum += s->cost[i] * loss * loss;
        }
    }
    return norm / 2 + sum;
}

/* output = Xw */
static void find_outputs(const kfe_i_newton_problem *p, const double *w, double *output)
{
    memset(output, 0, (size_t)p->rows * sizeof *output);
    for (int64_t first = 0; first < p->rows; first += BLOCK) {
        int64_t count = p->rows - first < BLOCK ? p->rows - first : BLOCK;
        for (int64_t j = 0; j < p->cols; j++)
            cblas_daxpy((blasint)count, w[j], p->columns + j * p->rows + first, 1, output + first, 1);
    }
}

/* ---- sums over the rows with a loss ---- */

/* Lists the rows that are not on the side on which their outputs are; returns their number. */
static int64_t list_changes(newton *s)
{
    const kfe_i_newton_problem *p = s->p;
    int64_t count = 0;

    for (int64_t i = 0; i < p->rows; i++) {
        s->changed[count] = (int32_t)i;
        count += side_of(p, i, s->output[i]) != s->side[i];
    }
    return count;
}

/* Puts `count` ≤ BLOCK rows on their new sides; `by` and `goals` receive what each adds to the two sums. */
static void change_sides(newton *s, const int32_t *rows, int64_t count, double *by, double *goals)
{
    const kfe_i_newton_problem *p = s->p;

    for (int64_t k = 0; k < count; k++) {
        int64_t i = rows[k];
        int before = s->side[i];
        int side = side_of(p, i, s->output[i]);
        by[k] = s->cost[i] * ((side != 0) - (before != 0));
        goals[k] = s->cost[i] * ((side ? goal_of(p, i, side) : 0) - (before ? goal_of(p, i, before) : 0));
        s->side[i] = side;
    }
}

static void update_block(newton *s, const int32_t *rows, int64_t count)
{
    const kfe_i_newton_problem *p = s->p;
    int64_t d = p->cols;
    double by[BLOCK];
    double goals[BLOCK];

    change_sides(s, rows, count, by, goals);
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k < count; k++) {
            s->block[j * BLOCK + k] = p->columns[j * p->rows + rows[k]];
            s->scaled[j * BLOCK + k] = by[k] * s->block[j * BLOCK + k];
        }
    for (int64_t j = 0; j < d; j++) {
        s->target[j] += cblas_ddot((blasint)count, s->block + j * BLOCK, 1, goals, 1);
        for (int64_t l = 0; l <= j; l++)
            s->gram[j * d + l] +=
                cblas_ddot((blasint)count, s->scaled + j * BLOCK, 1, s->block + l * BLOCK, 1);
    }
}

/* Brings sides and sums to the present outputs; returns how many rows changed. */
static int64_t update_sums(newton *s)
{
    int64_t changes = list_changes(s);

    for (int64_t first = 0; first < changes; first += BLOCK)
        update_block(s, s->changed + first, changes - first < BLOCK ? changes - first : BLOCK);
    kfe_i_mirror(s->p->cols, s->gram);
    return changes;
}

/* gradient = w + 2(Gw − t); returns its norm. */
static double find_gradient(newton *s)
{
    int64_t d = s->p->cols;

    for (int64_t j = 0; j < d; j++)
        s->gradient[j] = s->w[j] + 2 * (cblas_ddot((blasint)d, s->gram + j * d, 1, s->w, 1) - s->target[j]);
    return cblas_dnrm2((blasint)d, s->gradient, 1);
}

/* The norm of the gradient from the outputs: sums that were updated many times have lost digits. */
static double measure_gradient(newton *s)
{
    const kfe_i_newton_problem *p = s->p;

    memcpy(s->gradient, s->w, (size_t)p->cols * sizeof *s->gradient);
    for (int64_t first = 0; first < p->rows; first += BLOCK) {
        int64_t count = p->rows - first < BLOCK ? p->rows - first : BLOCK;
        for (int64_t i = first; i < first + count; i++)
            s->scaled[i - first] =
                s->side[i] ? 2 * s->cost[i] * (s->output[i] - goal_of(p, i, s->side[i])) : 0;
        for (int64_t j = 0; j < p->cols; j++)
            s->gradient[j] += cblas_ddot((blasint)count, s->scaled, 1, p->columns + j * p->rows + first, 1);
    }
    return cblas_dnrm2((blasint)p->cols, s->gradient, 1);
}

/* ---- iterations ---- */

/* next = w − (I + 2G)⁻¹·gradient */
static kfe_status newton_point(newton *s)
{
    kfe_status status = KFE_OK;
    int64_t d = s->p->cols;

    for (int64_t e = 0; e < d * d; e++)
        s->system[e] = 2 * s->gram[e];
    for (int64_t j = 0; j < d; j++) {
        s->system[j * (d + 1)] += 1;
        s->direction[j] = -s->gradient[j];
    }
    KFE_TRY(kfe_i_cholesky_solve(s->ctx, d, s->system, 1, s->direction, "the Hessian of the linear SVM"));
    for (int64_t j = 0; j < d; j++)
        s->next[j] = s->w[j] + s->direction[j];
cleanup:
    return status;
}

/* Goes along the direction as far as the objective falls enough; returns that share of it, 0 if there is none. `value` is the
 * objective at w. */
static double move(newton *s, double *value)
{
    const kfe_i_newton_problem *p = s->p;
    double slope = cblas_ddot((blasint)p->cols, s->gradient, 1, s->direction, 1);
    double step = 1;

    find_outputs(p, s->next, s->moved);
    for (int halving = 0; halving < KFE_NEWTON_HALVINGS_MOST; halving++) {
        double reached = objective(s, s->next, s->moved);
        if (reached <= *value * (1 + KFE_NEWTON_ROUNDING) + KFE_NEWTON_DECREASE * step * slope) {
            *value = reached;
            memcpy(s->w, s->next, (size_t)p->cols * sizeof *s->w);
            memcpy(s->output, s->moved, (size_t)p->rows * sizeof *s->output);
            return step;
        }
        step /= 2;
        for (int64_t i = 0; i < p->rows; i++)
            s->moved[i] = (s->output[i] + s->moved[i]) / 2;
        for (int64_t j = 0; j < p->cols; j++)
            s->next[j] = s->w[j] + step * s->direction[j];
    }
    return 0;
}

static kfe_status iterate(newton *s, kfe_i_newton_result *out)
{
    kfe_status status = KFE_OK;
    double value = objective(s, s->w, s->output);

    update_sums(s);
    out->start = find_gradient(s);
    for (int iteration = 0; iteration < KFE_NEWTON_STEPS_MOST && !out->solved; iteration++) {
        KFE_TRY(kfe_i_checkpoint(s->ctx, "learning", iteration, 0));
        status = newton_point(s);
        double step = status == KFE_OK ? move(s, &value) : 0;
        if (status != KFE_ENUMERIC)
            KFE_TRY(status);
        status = KFE_OK;
        if (step == 0)
            break;
        int64_t changes = update_sums(s);
        out->solved = find_gradient(s) <= KFE_NEWTON_ROUNDING * out->start || (changes == 0 && step == 1);
    }
    out->objective = value;
    out->gradient = measure_gradient(s);
cleanup:
    return status;
}

static kfe_status allocate(newton *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->p->rows;
    int64_t d = s->p->cols;

    KFE_ALLOC(s->ctx, s->next, d);
    KFE_ALLOC(s->ctx, s->direction, d);
    KFE_ALLOC(s->ctx, s->gradient, d);
    KFE_ALLOC_ZERO(s->ctx, s->output, n);
    KFE_ALLOC(s->ctx, s->moved, n);
    KFE_ALLOC_ZERO(s->ctx, s->side, n);
    KFE_ALLOC(s->ctx, s->cost, n);
    KFE_ALLOC(s->ctx, s->changed, n);
    KFE_ALLOC_ZERO(s->ctx, s->gram, d * d);
    KFE_ALLOC_ZERO(s->ctx, s->target, d);
    KFE_ALLOC(s->ctx, s->system, d * d);
    KFE_ALLOC(s->ctx, s->block, d * BLOCK);
    KFE_ALLOC(s->ctx, s->scaled, d * BLOCK);
    for (int64_t i = 0; i < n; i++)
        s->cost[i] = s->p->cost[s->p->y[i] < 0];
cleanup:
    return status;
}

kfe_status kfe_i_newton_solve(kfe_context *ctx, const kfe_i_newton_problem *problem, double *w,
                              kfe_i_newton_result *out)
{
    kfe_status status = KFE_OK;
    newton s = {.ctx = ctx, .p = problem, .w = w};

    *out = (kfe_i_newton_result){0};
    memset(w, 0, (size_t)problem->cols * sizeof *w);
    KFE_TRY(allocate(&s));
    KFE_TRY(iterate(&s, out));
cleanup:
    kfe_i_free(ctx, s.next);
    kfe_i_free(ctx, s.direction);
    kfe_i_free(ctx, s.gradient);
    kfe_i_free(ctx, s.output);
    kfe_i_free(ctx, s.moved);
    kfe_i_free(ctx, s.side);
    kfe_i_free(ctx, s.cost);
    kfe_i_free(ctx, s.changed);
    kfe_i_free(ctx, s.gram);
    kfe_i_free(ctx, s.target);
    kfe_i_free(ctx, s.system);
    kfe_i_free(ctx, s.block);
    kfe_i_free(ctx, s.scaled);
    return status;
}
