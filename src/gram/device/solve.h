/* SPDX-License-Identifier: Apache-2.0 */
/* Solve linear systems and eigenproblems of an operator that is on a device, there. gram/solve/ calls it first. */
#ifndef KFE_GRAM_DEVICE_SOLVE_H
#define KFE_GRAM_DEVICE_SOLVE_H

#include "gram/gram.h"
#include "gram/solve/solve.h"

/* What to solve: (G + ridge·I)·out = right for k right-hand sides. */
typedef struct kfe_i_system {
    const kfe_i_gram *gram;
    double ridge, tolerance;
    const double *right; /* n × k */
    int64_t k;
    double *out;
} kfe_i_system;

/* By a Cholesky factor on the device, in double precision if that fits, else in single precision, and corrections in double
 * precision. *done 0: the operator is not on a device, or no factor fits, and nothing has happened. */
kfe_status kfe_i_device_solve(const kfe_i_system *system, kfe_i_solve_report *report, int *done);

/* The k largest eigenvalues and their eigenvectors (n × k) from all of them. *done as above. */
kfe_status kfe_i_device_dense_eigen(const kfe_i_gram *gram, int64_t k, double *values, double *vectors,
                                    int *done);

#endif
