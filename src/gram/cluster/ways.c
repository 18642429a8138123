/* SPDX-License-Identifier: Apache-2.0 */
/* Solves systems by a factor whose rows are divided over the processes; open.c gives this way to operators in a cluster. */
#include "gram/cluster/ways.h"

#include "core/cluster.h"
#include "gram/cluster/divided_factor.h"

static kfe_status solve(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;
    kfe_i_divided_factor factor = {0};
    int definite = 0;

    KFE_TRY(kfe_i_divided_factor_new(s->exact, s->ridge, s->k, &factor, &definite));
    if (!definite)
        return KFE_OK;
    KFE_TRY(kfe_i_solver_correct(s, kfe_i_divided_preconditioner(&factor)));
    s->effort.way = KFE_SOLVE_DIVIDED;
cleanup:
    kfe_i_divided_factor_free(&factor);
    return status;
}

static double bytes(const kfe_i_solver *s)
{
    return kfe_i_divided_factor_bytes(kfe_i_processes(s->ctx), s->n, s->k);
}

static double seconds(kfe_i_solver *s, const kfe_i_cost *cost, const kfe_i_decay *decay)
{
    (void)s;
    return kfe_i_divided_seconds(cost, decay);
}

static const kfe_i_way divided = {.id = KFE_SOLVE_DIVIDED,
                                  .name = "divided Cholesky in single precision and conjugate gradients",
                                  .robustness = 1,
                                  .doubt = 1,
                                  .bytes = bytes,
                                  .seconds = seconds,
                                  .solve = solve};

const kfe_i_way *const kfe_i_ways_of_cluster[] = {&kfe_i_way_f64, &kfe_i_way_f32, &divided, &kfe_i_way_cg,
                                                  NULL};
