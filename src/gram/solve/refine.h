/* SPDX-License-Identifier: Apache-2.0 */
/* Correct a solution of (G + λI)B = R until its true residual is small enough; for solve.c, here and in gram/device. */
#ifndef KFE_GRAM_SOLVE_REFINE_H
#define KFE_GRAM_SOLVE_REFINE_H

#include "gram/solve/block_cg.h"
#include "gram/solve/cost.h"
#include "gram/solve/solve.h"

/* A system, and its solution so far. */
typedef struct kfe_i_solver {
    kfe_context *ctx;
    const kfe_i_gram *gram; /* as given */
    double ridge, tolerance;
    const double *right;
    int64_t n, k;
    double *out;
    double mean;                         /* mean diagonal entry of G */
    kfe_i_kept kept;                     /* a copy of the operator for many passes */
    const kfe_i_gram *exact;             /* for true residuals */
    const struct kfe_i_way *const *ways; /* ways.h */
    double rival; /* seconds that the fastest factorisation is predicted to take; INFINITY: not known */
    kfe_i_stamp start;
    int64_t rank;               /* that the low-rank factor is to have */
    kfe_i_rpcholesky low_rank;  /* {0}: none yet */
    kfe_i_cg_work *work;        /* NULL until iterations begin */
    double *residual, *product; /* n × k */
    double *goals;              /* k */
    double rounding;            /* the relative residual that rounding alone may leave */
    kfe_i_solve_effort effort;
} kfe_i_solver;

/* The system, with the operator for true residuals. */
kfe_i_system kfe_i_system_of(const kfe_i_solver *s);
/* Memory for residuals. */
kfe_status kfe_i_solver_allocate(kfe_i_solver *s);
void kfe_i_solver_free(kfe_i_solver *s);
/* Sets the solution to zero, and so the residual to the right-hand side. */
void kfe_i_solver_start_over(kfe_i_solver *s);
/* residual = right − (G + λI)·out, and the largest relative norm of its columns. */
kfe_status kfe_i_true_residual(kfe_i_solver *s);
/* Whether that is within the tolerance, or as small as rounding allows. */
int kfe_i_is_solved(const kfe_i_solver *s);
/* Corrects `out` by conjugate gradients for the residual, as long as each run at least halves it. *end: how the last run ended. */
kfe_status kfe_i_solver_iterate(kfe_i_solver *s, kfe_i_cg_problem *problem, kfe_i_cg_end *end);
/* Corrects `out` by an approximate inverse: first plainly, then as the preconditioner of conjugate gradients. */
kfe_status kfe_i_solver_correct(kfe_i_solver *s, kfe_i_preconditioner inverse);

#endif
