/* SPDX-License-Identifier: Apache-2.0 */
/* Solve (G + λI)B = R in a way of your choice, and read what it cost. kfe_i_gram_solve chooses the way itself. */
#ifndef KFE_GRAM_SOLVE_SOLVE_H
#define KFE_GRAM_SOLVE_SOLVE_H

#include "gram/form.h"

/* A residual above this is never explained by rounding. */
#define KFE_WORST_RESIDUAL 1e-6

typedef enum kfe_i_solve_way {
    KFE_SOLVE_AUTO,    /* the way that is predicted to be fastest within the memory limit */
    KFE_SOLVE_F64,     /* Cholesky in double precision */
    KFE_SOLVE_F32,     /* conjugate gradients preconditioned by Cholesky in single precision */
    KFE_SOLVE_CG,      /* conjugate gradients preconditioned by a low-rank factor */
    KFE_SOLVE_DIVIDED, /* as F32, with a factor that the processes of a cluster make together */
    KFE_SOLVE_WAYS
} kfe_i_solve_way;

typedef struct kfe_i_solve_effort {
    kfe_i_solve_way way, first; /* that gave the solution; that was begun with */
    double predicted;           /* seconds; 0: nothing was predicted */
    double seconds;             /* as cost.h counts them; 0 for small systems */
    int iterations;
    int64_t rank;    /* of the low-rank factor */
    double residual; /* relative, of the worst column, recomputed from the operator */
} kfe_i_solve_effort;

/* Solves in this way, or, if it fails for numerical reasons, in a more robust one. *effort, unless NULL, receives what it took. */
kfe_status kfe_i_solve_by(const kfe_i_system *system, kfe_i_solve_way way, kfe_i_solve_effort *effort);

/* The norm of column j of a block (n × k). */
double kfe_i_column_norm(const double *block, int64_t n, int64_t k, int64_t j);
/* residual (n × k) = right − (G + ridge·I)·out; *worst is the largest norm of a column of it, relative to that of `right`. */
kfe_status kfe_i_residual(const kfe_i_system *system, double *residual, double *worst);

#endif
