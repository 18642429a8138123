/* SPDX-License-Identifier: Apache-2.0 */
/* Factorise large positive definite matrices on all threads, in pieces of a fraction of a second, between which the cancel callback is
 * asked. */
#ifndef KFE_LINALG_CHOLESKY_H
#define KFE_LINALG_CHOLESKY_H

#include "core/context.h"

/* Overwrites the lower triangle of a (n × n, row-major) with its Cholesky factor; the rest is left alone. *definite says
 * whether the matrix is positive definite to rounding. Fails only if cancelled. */
kfe_status kfe_i_factorise(kfe_context *ctx, int64_t n, double *a, int *definite);

/* The same in single precision for the lower triangle in LAPACK's rectangular full packed form (spftrf with 'N', 'L'). */
kfe_status kfe_i_factorise_packed(kfe_context *ctx, int64_t n, float *a, int *definite);

#endif
