/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solve (G + λI)X = R by conjugate gradients on a block: all right-hand sides share one Krylov space, and one product per
 * iteration serves them all.
 */
#ifndef KFE_GRAM_SOLVE_BLOCK_CG_H
#define KFE_GRAM_SOLVE_BLOCK_CG_H

#include "gram/solve/precondition.h"

typedef enum kfe_i_cg_end {
    KFE_CG_CONVERGED,
    KFE_CG_EXHAUSTED,  /* `most` iterations were not enough */
    KFE_CG_INDEFINITE, /* a direction p has pᵀ(G + λI)p ≤ 0 */
    KFE_CG_LOSING      /* the rest would take longer than `rival` seconds */
} kfe_i_cg_end;

typedef struct kfe_i_cg_problem {
    const kfe_i_gram *gram;
    double ridge;
    int64_t k;
    kfe_i_preconditioner preconditioner;
    const double *goals; /* norm to reach for each column of the residual */
    int most;            /* iterations */
    double rival;        /* seconds of another way to solve; INFINITY: there is none */
} kfe_i_cg_problem;

/* Vectors and small matrices, so that iterations do not allocate. */
typedef struct kfe_i_cg_work kfe_i_cg_work;
kfe_status kfe_i_cg_work_new(kfe_context *ctx, int64_t n, int64_t k, kfe_i_cg_work **out);
void kfe_i_cg_work_free(kfe_i_cg_work *work);

/* Adds the solution for `residual` to x and updates the residual; both are n × k. */
kfe_status kfe_i_block_cg(const kfe_i_cg_problem *problem, kfe_i_cg_work *work, double *residual, double *x,
                          kfe_i_cg_end *end, int *iterations);

#endif
