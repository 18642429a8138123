/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A convex function on the simplex by a semi-infinite linear program (column generation): every point d that
 * was looked at bounds f from below by a function that is linear in the weights,
 *   f(d') ≥ f(d) + Σ dᵢqᵢ − Σ d'ᵢqᵢ,
 * and the master program minimises the largest of these bounds over the simplex. Where it ends, f is looked
 * at next. The master's value is a lower bound of the optimum, as the slopes give one, and the lowest f an
 * upper one; it ends when they meet.
 *
 * Sonnenburg, Rätsch, Schäfer & Schölkopf (2006), Large scale multiple kernel learning. The linear programs
 * are Clp's, each started from the last one's basis. Clp allocates by itself. Cost of a round: one value, one
 * set of slopes, some dual simplex steps with p + 1 columns.
 */
#include <math.h>
#include <string.h>

#include <coin/Clp_C_Interface.h>

#include "core/memory.h"
#include "method/mkl/simplex.h"

typedef struct master {
    kfe_i_simplex *s;
    Clp_Simplex *program; /* columns: the p weights, then the bound t */
    int *columns;         /* 0 … p */
    double *row, *lower, *upper, *cost;
    double *best; /* weights of the lowest f */
} master;

static kfe_status add_row(master *m, double low, double high)
{
    CoinBigIndex starts[2] = {0, (CoinBigIndex)m->s->p + 1};

    Clp_addRows(m->program, 1, &low, &high, starts, m->columns, m->row);
    return kfe_i_checkpoint(m->s->ctx, "weights", m->s->rounds, 0);
}

static kfe_status allocate(master *m)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = m->s->ctx;
    int64_t p = m->s->p;

    KFE_ALLOC(ctx, m->columns, p + 1);
    KFE_ALLOC(ctx, m->row, p + 1);
    KFE_ALLOC(ctx, m->lower, p + 1);
    KFE_ALLOC(ctx, m->upper, p + 1);
    KFE_ALLOC(ctx, m->cost, p + 1);
    KFE_ALLOC(ctx, m->best, p);
    KFE_CHECK_ALLOC(m->program, Clp_newModel());
cleanup:
    return status;
}

static kfe_status begin(master *m)
{
    kfe_status status = KFE_OK;
    int64_t p = m->s->p;

    KFE_TRY(allocate(m));
    for (int64_t i = 0; i <= p; i++) {
        m->columns[i] = (int)i;
        m->lower[i] = 0; /* also of t: f is not negative */
        m->upper[i] = i == p ? HUGE_VAL : m->s->usable[i] > 0;
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
    kfe_i_simplex *s = m->s;
    double least = s->objective;

    for (int64_t i = 0; i < s->p; i++) {
        m->row[i] = s->q[i];
        least += s->d[i] * s->q[i];
    }
    m->row[s->p] = 1;
    return add_row(m, least, HUGE_VAL);
}

/* Weights and lower bound from the master; 0 in *solved if Clp gave none. */
static void solve_master(master *m, double *bound, int *solved)
{
    kfe_i_simplex *s = m->s;
    double sum = 0;

    Clp_dual(m->program, 0);
    *solved = Clp_status(m->program) == 0;
    if (!*solved)
        return;
    const double *values = Clp_getColSolution(m->program);
    for (int64_t i = 0; i < s->p; i++) {
        s->d[i] = fmax(0, values[i]);
        sum += s->d[i];
    }
    for (int64_t i = 0; i < s->p; i++)
        s->d[i] /= sum;
    *bound = fmax(*bound, values[s->p]);
}

static kfe_status iterate(master *m)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex *s = m->s;
    double lowest = HUGE_VAL;
    double bound = 0;
    int solved = 1;

    while (s->rounds < s->max_rounds && solved) {
        double excess = 0;
        s->rounds++;
        KFE_TRY(s->value(s->user, s->d, &s->objective, &excess));
        KFE_TRY(s->slopes(s->user, s->q));
        if (s->objective + excess < lowest) {
            lowest = s->objective + excess;
            memcpy(m->best, s->d, (size_t)s->p * sizeof *m->best);
        }
        bound = fmax(bound, s->objective - kfe_i_simplex_gap(s));
        if (lowest - bound <= s->tolerance * lowest)
            break;
        KFE_TRY(add_constraint(m));
        solve_master(m, &bound, &solved);
    }
    memcpy(s->d, m->best, (size_t)s->p * sizeof *s->d);
    s->objective = lowest;
    s->gap = fmax(0, lowest - bound);
cleanup:
    return status;
}

kfe_status kfe_i_simplex_silp(kfe_i_simplex *s)
{
    kfe_status status = KFE_OK;
    master m = {.s = s};

    KFE_TRY(begin(&m));
    KFE_TRY(iterate(&m));
cleanup:
    if (m.program)
        Clp_deleteModel(m.program);
    kfe_i_free(s->ctx, m.columns);
    kfe_i_free(s->ctx, m.row);
    kfe_i_free(s->ctx, m.lower);
    kfe_i_free(s->ctx, m.upper);
    kfe_i_free(s->ctx, m.cost);
    kfe_i_free(s->ctx, m.best);
    return status;
}
