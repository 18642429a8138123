/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimising a convex function on the simplex by a semi-infinite linear program, for `--solver silp`. Every
 * point d that was evaluated bounds f from below by a function that is linear in the weights,
 *   f(d') ≥ f(d) + Σ dᵢqᵢ − Σ d'ᵢqᵢ,
 * and the master program minimises the largest of these bounds over the simplex; f is evaluated next at its
 * solution. The master's value is a lower bound of the optimum, as the slopes give one, and the lowest f an
 * upper one; it ends when they meet.
 *
 * Sonnenburg, Rätsch, Schäfer & Schölkopf (2006), Large scale multiple kernel learning. Clp solves the linear
 * programs, each started from the last one's basis. Clp allocates by itself and ends the process if that fails, so every
 * iteration first asks whether there is memory for it. Cost of an iteration: one value, one set of slopes, some dual
 * simplex steps with p + 1 columns. Without Clp (KFE_HAS_CLP not defined) the solver is not available.
 */
#include "method/mkl/simplex.h"

#ifndef KFE_HAS_CLP

kfe_status kfe_i_simplex_silp(const kfe_i_simplex_problem *problem, kfe_i_simplex_result *result)
{
    (void)result;
    return kfe_i_fail(
        problem->ctx, KFE_EINVAL,
        "{solver=silp} is not available: kfe was built without Clp, as wheels are because of its licence; "
        "use {solver=gradient}, or build kfe with Clp");
}

#else

#include <math.h>
#include <string.h>

#include <coin/Clp_C_Interface.h>

#include "core/memory.h"
#include "core/reserve.h"

typedef struct master {
    const kfe_i_simplex_problem *problem;
    kfe_i_simplex_result *result;
    Clp_Simplex *program; /* columns: the p weights, then the bound t */
    int *columns;         /* 0 … p */
    double *row, *lower, *upper, *cost;
    double *q;
    double *best; /* weights of the lowest f */
} master;

/* Clp's copies of the program by rows and by columns, its factors and its vectors, for one row more. */
static kfe_status reserve_row(const master *m)
{
    double rows = (double)m->result->iterations + 2;
    double columns = (double)m->problem->p + 1;

    return kfe_i_reserve(m->problem->ctx, 4e6 + 100 * rows * columns + 1000 * (rows + columns),
                         "the linear program of the kernel weights",
                         "raise {memory} or use {solver=gradient}");
}

static kfe_status add_row(master *m, double low, double high)
{
    CoinBigIndex starts[2] = {0, (CoinBigIndex)m->problem->p + 1};
    kfe_status status = reserve_row(m);

    if (status != KFE_OK)
        return status;
    Clp_addRows(m->program, 1, &low, &high, starts, m->columns, m->row);
    return kfe_i_checkpoint(m->problem->ctx, "weights", m->result->iterations, 0);
}

static kfe_status allocate(master *m)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = m->problem->ctx;
    int64_t p = m->problem->p;

    KFE_ALLOC(ctx, m->columns, p + 1);
    KFE_ALLOC(ctx, m->row, p + 1);
    KFE_ALLOC(ctx, m->lower, p + 1);
    KFE_ALLOC(ctx, m->upper, p + 1);
    KFE_ALLOC(ctx, m->cost, p + 1);
    KFE_ALLOC(ctx, m->q, p);
    KFE_ALLOC(ctx, m->best, p);
    KFE_TRY(reserve_row(m));
    KFE_CHECK_ALLOC(m->program, Clp_newModel());
cleanup:
    return status;
}

static kfe_status begin(master *m)
{
    kfe_status status = KFE_OK;
    int64_t p = m->problem->p;

    KFE_TRY(allocate(m));
    for (int64_t i = 0; i <= p; i++) {
        m->columns[i] = (int)i;
        m->lower[i] = 0; /* also of t: f is not negative */
        m->upper[i] = i == p ? HUGE_VAL : m->problem->usable[i] > 0;
        m->cost[i] = i == p;
        m->row[i] = i < p;
    }
    Clp_setLogLevel(m->program, 0);
    Clp_resize(m->program, 0, (int)p + 1);
    Clp_chgColumnLower(m->program, m->lower);
    Clp_chgColumnUpper(m->program, m->upper);
    Clp_chgObjCoefficients(m->program, m->cost);
    Clp_setPrimalTolerance(m->program, 1e-9);
    Clp_setDualTolerance(m->program, 1e-9);
    KFE_TRY(add_row(m, 1, 1));
cleanup:
    return status;
}

/* t + Σ d'ᵢqᵢ ≥ f(d) + Σ dᵢqᵢ */
static kfe_status add_constraint(master *m)
{
    int64_t p = m->problem->p;
    double least = m->result->objective;

    for (int64_t i = 0; i < p; i++) {
        m->row[i] = m->q[i];
        least += m->result->d[i] * m->q[i];
    }
    m->row[p] = 1;
    return add_row(m, least, HUGE_VAL);
}

/* Weights and lower bound from the master program; 0 in *solved if Clp found none. */
static void solve_master(master *m, int *solved)
{
    kfe_i_simplex_result *r = m->result;
    int64_t p = m->problem->p;
    double sum = 0;

    Clp_dual(m->program, 0);
    *solved = Clp_status(m->program) == 0;
    if (!*solved)
        return;
    const double *values = Clp_getColSolution(m->program);
    for (int64_t i = 0; i < p; i++) {
        r->d[i] = fmax(0, values[i]);
        sum += r->d[i];
    }
    for (int64_t i = 0; i < p; i++)
        r->d[i] /= sum;
    r->bound = fmax(r->bound, values[p]);
}

static kfe_status iterate(master *m)
{
    kfe_status status = KFE_OK;
    const kfe_i_simplex_problem *problem = m->problem;
    kfe_i_simplex_result *r = m->result;
    double lowest = HUGE_VAL;
    int solved = 1;

    while (r->iterations < problem->max_iterations && solved) {
        r->iterations++;
        KFE_TRY(problem->value(problem->user, r->d, &r->objective, &r->excess));
        KFE_TRY(problem->slopes(problem->user, m->q));
        if (r->objective + r->excess < lowest) {
            lowest = r->objective + r->excess;
            memcpy(m->best, r->d, (size_t)problem->p * sizeof *m->best);
        }
        r->bound = fmax(r->bound, r->objective - kfe_i_simplex_slope_gap(problem, r->d, m->q));
        if (lowest - r->bound <= problem->tolerance * lowest)
            break;
        KFE_TRY(add_constraint(m));
        solve_master(m, &solved);
    }
    memcpy(r->d, m->best, (size_t)problem->p * sizeof *r->d);
    r->objective = lowest;
    r->excess = 0;
cleanup:
    return status;
}

kfe_status kfe_i_simplex_silp(const kfe_i_simplex_problem *problem, kfe_i_simplex_result *result)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = problem->ctx;
    master m = {.problem = problem, .result = result};

    KFE_TRY(begin(&m));
    KFE_TRY(iterate(&m));
cleanup:
    if (m.program)
        Clp_deleteModel(m.program);
    kfe_i_free(ctx, m.columns);
    kfe_i_free(ctx, m.row);
    kfe_i_free(ctx, m.lower);
    kfe_i_free(ctx, m.upper);
    kfe_i_free(ctx, m.cost);
    kfe_i_free(ctx, m.q);
    kfe_i_free(ctx, m.best);
    return status;
}

#endif
