/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solve a small dual problem of an SVM whose kernel block is in memory,
 *     minimise ½βᵀKβ − pᵀβ   subject to Σβ constant, lowest ≤ β ≤ highest,
 * by sequential minimal optimisation. blocks.c calls it for each working set.
 */
#ifndef KFE_LEARN_BLOCKS_SUBPROBLEM_H
#define KFE_LEARN_BLOCKS_SUBPROBLEM_H

#include "core/context.h"

typedef struct kfe_i_subproblem {
    int64_t count, capacity;
    float *block;             /* count × capacity: K */
    double *beta;             /* start and answer */
    double *lowest, *highest; /* the box */
    double *residual;         /* p − Kβ, kept up to date */
    double *diagonal;         /* of K */
    double *rise, *fall;      /* workspace (loops.h) */
    float *gain;              /* workspace */
    double *memory;           /* of all arrays of doubles */
} kfe_i_subproblem;

kfe_status kfe_i_subproblem_new(kfe_context *ctx, int64_t capacity, kfe_i_subproblem *out);
void kfe_i_subproblem_free(kfe_context *ctx, kfe_i_subproblem *sub);

/* Bytes of one with this capacity. */
double kfe_i_subproblem_bytes(int64_t capacity);

/* Iterates until no pair violates the optimality conditions by more than `tolerance`, or `limit` iterations are done, or
 * steps are below rounding. Returns the number of iterations that moved β. */
int64_t kfe_i_subproblem_solve(kfe_i_subproblem *sub, double tolerance, int64_t limit);

#endif
