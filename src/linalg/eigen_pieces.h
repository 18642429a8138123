/* SPDX-License-Identifier: Apache-2.0 */
/* Find eigenvectors of a large symmetric matrix so that the user can stop it: the steps of LAPACK's dsyevr, with the
 * reduction to a tridiagonal matrix and the transformation back in pieces, between which the cancel callback is asked. */
#ifndef KFE_LINALG_EIGEN_PIECES_H
#define KFE_LINALG_EIGEN_PIECES_H

#include "core/context.h"

/* The k largest eigenvalues, rising, and their eigenvectors, the rows of columns (k × n). Overwrites the diagonal of a
 * (n × n) and what is below it in row-major order. *found is 0 if LAPACK's dstemr failed. */
kfe_status kfe_i_eigen_in_pieces(kfe_context *ctx, int64_t n, double *a, int64_t k, double *rising,
                                 double *columns, int *found);

#endif
