/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of kernels by a semi-infinite linear program: f(d) is the maximum over B of the functions
 *   −¼tr(BᵀB) + tr(BᵀL) − Σ dᵢ·tr(BᵀGᵢB)/4ξ,
 * linear in d. The master program minimises the largest of those gathered so far over the simplex; where it
 * ends, the maximising B = 2M⁻¹L (k linear systems) gives one more constraint. The master's value is a lower
 * bound of the optimum and f an upper one; it ends when they meet.
 *
 * Chen et al. (2008), sections 5.3 and 5.4, eqs. (35)–(38). The linear programs are Clp's, each started from
 * the last one's basis. Clp allocates by itself. Cost of a round: one Cholesky factorisation and O(p·n²·k).
 */
#include <math.h>
#include <string.h>

#include <cblas.h>
#include <coin/Clp_C_Interface.h>

#include "core/memory.h"
#include "method/mkl.h"

typedef struct master {
    kfe_i_mkl *mkl;
    Clp_Simplex *program; /* columns: the p weights, then the bound t */
    int *columns;         /* 0 … p */
    double *row, *lower, *upper, *cost;
    double *best; /* weights of the lowest f */
} master;

static kfe_status add_row(master *s, double low, double high)
{
    CoinBigIndex starts[2] = {0, (CoinBigIndex)s->mkl->p + 1};

    Clp_addRows(s->program, 1, &low, &high, starts, s->columns, s->row);
    return kfe_i_checkpoint(s->mkl->ctx, "weights", s->mkl->rounds, 0);
}

static kfe_status begin(master *s)
{
    kfe_status status = KFE_OK;
    kfe_i_mkl *mkl = s->mkl;
    int64_t p = mkl->p;

    KFE_ALLOC(mkl->ctx, s->columns, p + 1);
    KFE_ALLOC(mkl->ctx, s->row, p + 1);
    KFE_ALLOC(mkl->ctx, s->lower, p + 1);
    KFE_ALLOC(mkl->ctx, s->upper, p + 1);
    KFE_ALLOC(mkl->ctx, s->cost, p + 1);
    KFE_ALLOC(mkl->ctx, s->best, p);
    KFE_CHECK_ALLOC(s->program, Clp_newModel());
    for (int64_t i = 0; i <= p; i++) {
        s->columns[i] = (int)i;
        s->lower[i] = 0; /* also of t: f is not negative */
        s->upper[i] = i == p ? HUGE_VAL : mkl->bank->traces[i] > 0;
        s->cost[i] = i == p;
        s->row[i] = i < p;
    }
    Clp_setLogLevel(s->program, 0);
    Clp_resize(s->program, 0, (int)p + 1);
    Clp_chgColumnLower(s->program, s->lower);
    Clp_chgColumnUpper(s->program, s->upper);
    Clp_chgObjCoefficients(s->program, s->cost);
    Clp_setPrimalTolerance(s->program, 1e-9);
    Clp_setDualTolerance(s->program, 1e-9);
    KFE_TRY(add_row(s, 1, 1));
cleanup:
    return status;
}

/* t + Σ dᵢqᵢ ≥ 2tr(UᵀL) − tr(UᵀU), U = M⁻¹L at the weights of the moment */
static kfe_status add_constraint(master *s, double value)
{
    kfe_i_mkl *mkl = s->mkl;
    blasint block = (blasint)(mkl->n * mkl->k);

    memcpy(s->row, mkl->q, (size_t)mkl->p * sizeof *s->row);
    s->row[mkl->p] = 1;
    return add_row(s, 2 * value - cblas_ddot(block, mkl->u, 1, mkl->u, 1), HUGE_VAL);
}

/* Weights and lower bound from the master; 0 in *solved if Clp gave none. */
static void solve_master(master *s, double *bound, int *solved)
{
    kfe_i_mkl *mkl = s->mkl;
    double sum = 0;

    Clp_dual(s->program, 0);
    *solved = Clp_status(s->program) == 0;
    if (!*solved)
        return;
    const double *values = Clp_getColSolution(s->program);
    for (int64_t i = 0; i < mkl->p; i++) {
        mkl->d[i] = fmax(0, values[i]);
        sum += mkl->d[i];
    }
    for (int64_t i = 0; i < mkl->p; i++)
        mkl->d[i] /= sum;
    *bound = values[mkl->p];
}

static kfe_status iterate(master *s)
{
    kfe_status status = KFE_OK;
    kfe_i_mkl *mkl = s->mkl;
    double lowest = HUGE_VAL;
    double bound = 0;
    int solved = 1;

    while (mkl->rounds < mkl->max_rounds && solved) {
        double value = 0;
        mkl->rounds++;
        KFE_TRY(kfe_i_mkl_value(mkl, mkl->d, &value));
        KFE_TRY(kfe_i_mkl_slopes(mkl));
        if (value < lowest) {
            lowest = value;
            memcpy(s->best, mkl->d, (size_t)mkl->p * sizeof *s->best);
        }
        if (lowest - bound <= mkl->tolerance * lowest || kfe_i_mkl_gap(mkl, mkl->d) <= mkl->tolerance * value)
            break;
        KFE_TRY(add_constraint(s, value));
        solve_master(s, &bound, &solved);
    }
    memcpy(mkl->d, s->best, (size_t)mkl->p * sizeof *mkl->d);
    mkl->bound = bound;
cleanup:
    return status;
}

kfe_status kfe_i_mkl_silp(kfe_i_mkl *mkl)
{
    kfe_status status = KFE_OK;
    master s = {.mkl = mkl};

    KFE_TRY(begin(&s));
    KFE_TRY(iterate(&s));
cleanup:
    if (s.program)
        Clp_deleteModel(s.program);
    kfe_i_free(mkl->ctx, s.columns);
    kfe_i_free(mkl->ctx, s.row);
    kfe_i_free(mkl->ctx, s.lower);
    kfe_i_free(mkl->ctx, s.upper);
    kfe_i_free(mkl->ctx, s.cost);
    kfe_i_free(mkl->ctx, s.best);
    return status;
}
