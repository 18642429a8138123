/* SPDX-License-Identifier: Apache-2.0 */
/* Add a way to solve systems: a kfe_i_way, and a place in a list of ways. solve.c has those of one process. */
#ifndef KFE_GRAM_SOLVE_WAYS_H
#define KFE_GRAM_SOLVE_WAYS_H

#include "gram/solve/refine.h"

typedef struct kfe_i_way {
    kfe_i_solve_way id;
    const char *name;
    int robustness; /* 0: gives way to a factorisation; 1: a factor in single precision; 2: in double precision */
    double doubt; /* the prediction may be too low by this factor */
    /* What it costs: bytes beside the vectors of all ways, and seconds for this operator and spectrum. */
    double (*bytes)(const kfe_i_solver *s);
    double (*seconds)(kfe_i_solver *s, const kfe_i_cost *cost, const kfe_i_decay *decay);
    /* Solves, and sets effort.way; leaves the solution as it was if the matrix is not positive definite to this way. */
    kfe_status (*solve)(kfe_i_solver *s);
} kfe_i_way;

extern const kfe_i_way kfe_i_way_f64, kfe_i_way_f32, kfe_i_way_cg;

/* A list of ways ends with NULL. The first is the most robust one; ways that factor come before those that do not. */

#endif
