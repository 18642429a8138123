/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every point d that was evaluated bounds f from below by a function that is linear in the weights,
 *   f(d') ≥ f(d) + Σ dᵢqᵢ − Σ d'ᵢqᵢ,   q the negative slopes,
 * and the master program minimises t, the largest of these bounds, over the simplex; f is evaluated next at its solution.
 *
 * Sonnenburg, Rätsch, Schäfer & Schölkopf (2006), Large scale multiple kernel learning.
 */
#include "oracles/silp.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <coin/Clp_C_Interface.h>

#include "support/support.h"

enum { MOST = 2000 };

/* Columns: the weights, then t. */
static void add_row(Clp_Simplex *program, int p, const int *columns, const double *row, double lower,
                    double upper)
{
    const CoinBigIndex starts[] = {0, p + 1};

    Clp_addRows(program, 1, &lower, &upper, starts, columns, row);
}

static Clp_Simplex *open_master(int p, const int *columns)
{
    Clp_Simplex *program = Clp_newModel();
    double *upper = calloc((size_t)p + 1, sizeof *upper);
    double *cost = calloc((size_t)p + 1, sizeof *cost);
    double *lower = calloc((size_t)p + 1, sizeof *lower);
    double *row = calloc((size_t)p + 1, sizeof *row);

    for (int i = 0; i < p; i++)
        upper[i] = row[i] = 1;
    upper[p] = DBL_MAX;
    cost[p] = 1;
    Clp_setLogLevel(program, 0);
    Clp_resize(program, 0, p + 1);
    Clp_chgColumnLower(program, lower);
    Clp_chgColumnUpper(program, upper);
    Clp_chgObjCoefficients(program, cost);
    Clp_setPrimalTolerance(program, 1e-9);
    Clp_setDualTolerance(program, 1e-9);
    add_row(program, p, columns, row, 1, 1);
    free(upper);
    free(cost);
    free(lower);
    free(row);
    return program;
}

/* Weights and bound from the master program. */
static double solve_master(Clp_Simplex *program, int p, double *d)
{
    double sum = 0;

    Clp_dual(program, 0);
    assert_int_equal(Clp_status(program), 0);
    const double *values = Clp_getColSolution(program);
    for (int i = 0; i < p; i++)
        sum += d[i] = fmax(0, values[i]);
    for (int i = 0; i < p; i++)
        d[i] /= sum;
    return values[p];
}

double oracle_silp(int p, oracle_convex f, void *user, double tolerance, double *d)
{
    int *columns = calloc((size_t)p + 1, sizeof *columns);
    double *q = calloc((size_t)p + 1, sizeof *q);
    double *best = calloc((size_t)p, sizeof *best);
    double lowest = HUGE_VAL;
    double bound = 0;
    int round = 0;

    for (int i = 0; i <= p; i++)
        columns[i] = i;
    for (int i = 0; i < p; i++)
        d[i] = 1.0 / p;
    Clp_Simplex *program = open_master(p, columns);
    for (;; round++) {
        double value = f(user, d, q);
        if (value < lowest) {
            lowest = value;
            memcpy(best, d, (size_t)p * sizeof *d);
        }
        if (lowest - bound <= tolerance * lowest)
            break;
        assert_in_range(round, 0, MOST);
        for (int i = 0; i < p; i++)
            value += d[i] * q[i];
        q[p] = 1;
        add_row(program, p, columns, q, value, DBL_MAX);
        bound = fmax(bound, solve_master(program, p, d));
    }
    memcpy(d, best, (size_t)p * sizeof *d);
    Clp_deleteModel(program);
    free(columns);
    free(q);
    free(best);
    return lowest;
}
