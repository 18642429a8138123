/* SPDX-License-Identifier: Apache-2.0 */
/* Make SVM problems for the SMO solver, and certify a solution from the explicit kernel matrix. */
#ifndef KFE_TESTS_SUPPORT_SMO_H
#define KFE_TESTS_SUPPORT_SMO_H

#include "learn/smo/smo.h"
#include "support/support.h"

typedef struct smo_problem {
    int64_t n, cols;
    double *x, *kernel; /* the points; the matrix n × n */
    double *sign, *upper, *alpha;
} smo_problem;

double *smo_zeros(int64_t count);
/* Two overlapping clouds on a grid with spacing 1/16: dot products are exact in LIBSVM's single precision. */
smo_problem smo_make_points(uint64_t seed, int64_t n, int64_t cols, double apart);
void smo_free_problem(smo_problem *p);
void smo_set_upper(smo_problem *p, double positive, double negative);
void smo_linear_kernel(smo_problem *p);
void smo_rbf_kernel(smo_problem *p, double gamma);
void smo_round_kernel_to_single(smo_problem *p);

typedef struct smo_opened {
    kfe_i_kernel_list kernels;
    kfe_i_table table;
    kfe_i_gram *gram;
} smo_opened;

/* Close the operator also after a failure. */
kfe_status smo_open_gram(kfe_context *ctx, const smo_problem *p, const char *text, kfe_i_gram_storage storage,
                         smo_opened *out);
void smo_close_gram(smo_opened *o);
kfe_status smo_solve_on(kfe_context *ctx, smo_problem *p, const kfe_i_gram *gram, double tolerance,
                        int shrinking, kfe_i_smo_result *out);
/* Solves with the explicit kernel matrix, starting from p->alpha. */
kfe_i_smo_result smo_solve(kfe_context *ctx, smo_problem *p, double tolerance, int shrinking);

double smo_total(int64_t n, const double *values);
/* The decision value of example i without the offset. */
double smo_value_of(const smo_problem *p, const double *alpha, int64_t i);
double smo_objective_of(const smo_problem *p, const double *alpha);
/* The largest violation of the optimality conditions over pairs that can move along the constraint. */
double smo_violation_of(const smo_problem *p, const double *alpha);
/* Primal cost ½|w|² + Σ upper·max(0, 1 − y(f − offset)) minus the dual value Σα − ½αᵀQα. */
double smo_duality_gap_of(const smo_problem *p, const double *alpha, double offset);
/* The rounding error of a decision value if the kernel's entries differ in the last digits too. */
double smo_rounding_of(const smo_problem *p);
void smo_assert_feasible(const smo_problem *p, int64_t iterations);
void smo_assert_solved(const smo_problem *p, const kfe_i_smo_result *result, double tolerance);

#endif
