/* SPDX-License-Identifier: Apache-2.0 */
/* Factor, solve and find eigenvectors of dense matrices: LAPACK with checked sizes, workspace from the context and
 * messages of our own. Symmetric matrices are full and row-major; `n` must fit LAPACK's integer. */
#ifndef KFE_LINALG_LINALG_H
#define KFE_LINALG_LINALG_H

#include "core/context.h"
#include "data/table/table.h"

/* Overwrites a (n × n) and solves a·x = b in place for the k columns of b (n × k). KFE_ENUMERIC if a is not
 * positive definite; `what` names it in the message. */
kfe_status kfe_i_cholesky_solve(kfe_context *ctx, int64_t n, double *a, int64_t k, double *b,
                                const char *what);
/* Lower Cholesky factor in place, upper triangle zeroed; KFE_ENUMERIC as above. */
kfe_status kfe_i_cholesky(kfe_context *ctx, int64_t n, double *a, const char *what);
/* An estimate of the reciprocal condition number of the lower factor L, in the largest sum of a row. */
kfe_status kfe_i_lower_condition(kfe_context *ctx, int64_t n, const double *lower, double *out);
/* b (n × k) ← (LLᵀ)⁻¹b for the lower factor L. */
void kfe_i_solve_cholesky(int64_t n, const double *lower, int64_t k, double *b);
/* The lower factor L becomes (LLᵀ)⁻¹, a full symmetric matrix, in 2n³/3 operations. */
kfe_status kfe_i_invert_cholesky(kfe_context *ctx, int64_t n, double *lower);
/* Copies the lower triangle of a (n × n) to the upper one. */
void kfe_i_mirror(int64_t n, double *a);
/* Pivoted Cholesky of a copy: how many rows are independent up to `tolerance` times the largest diagonal
 * entry, and which (kept[rank], increasing). */
kfe_status kfe_i_independent(kfe_context *ctx, int64_t n, const double *a, double tolerance, int64_t *kept,
                             int64_t *rank);
/* b (rows × n) ← b·L⁻ᵀ for a lower triangle L (n × n). */
void kfe_i_solve_lower_transposed(int64_t rows, int64_t n, const double *lower, double *b);
/* The k largest eigenvalues in falling order; vectors (n × k) row-major. Overwrites a. */
kfe_status kfe_i_symmetric_eigen(kfe_context *ctx, int64_t n, double *a, int64_t k, double *eigenvalues,
                                 double *vectors);
/* The left singular vectors of a (n × k) as columns (n × *found, packed), at most `most`: those whose squared singular values are above
 * `tolerance` times the largest. squares (k): all of these, falling, from the eigenvalues of aᵀa. */
kfe_status kfe_i_left_vectors(kfe_context *ctx, int64_t n, int64_t k, const double *a, int64_t most,
                              double tolerance, double *squares, double *vectors, int64_t *found);
/* The same, all n of them or fewer, without allocating: for iterations. */
typedef struct kfe_i_eigen_work kfe_i_eigen_work;
kfe_status kfe_i_eigen_work_new(kfe_context *ctx, int64_t most, kfe_i_eigen_work **out);
void kfe_i_eigen_work_free(kfe_i_eigen_work *work);
kfe_status kfe_i_symmetric_eigen_with(kfe_context *ctx, int64_t n, double *a, int64_t k, double *eigenvalues,
                                      double *vectors, kfe_i_eigen_work *work);
/* out = Q diag(values) Qᵀ, all of order `order`; scratch: order². */
void kfe_i_from_spectrum(int64_t order, const double *q, const double *values, double *scratch, double *out);
/* root = a^(−1/2) for a symmetric a (order × order), which is overwritten. vectors: order²; values: order.
 * KFE_ENUMERIC if a is not positive definite. */
kfe_status kfe_i_inverse_root(kfe_context *ctx, int64_t order, double *a, double *values, double *vectors,
                              double *root, kfe_i_eigen_work *work);
/* All solutions of a·v = λ·b·v with b positive definite: λ in falling order, vᵀbv = 1, vectors in columns (n × n).
 * Overwrites a and b. */
kfe_status kfe_i_generalized_eigen(kfe_context *ctx, int64_t n, double *a, double *b, double *eigenvalues,
                                   double *vectors);
/* QR of n independent columns of `rows` numbers, one after the other, in place; R has a positive diagonal. */
kfe_status kfe_i_orthonormalise(kfe_context *ctx, int64_t rows, int64_t n, double *columns);
/* QR of the independent columns of a (rows × n, row-major): q (rows × rank) is orthonormal, R has a positive
 * diagonal, and `kept` lists the columns that were used, in the order of `a`. A column counts as dependent if
 * its pivot is below sqrt(KFE_RANK_TOLERANCE) times the largest. */
kfe_status kfe_i_orthonormal_columns(kfe_context *ctx, int64_t rows, int64_t n, const double *a, double *q,
                                     int64_t *kept, int64_t *rank);

/* out (rows × k) = X·w for w (cols × k), and out (cols × k) = Xᵀ·v for v (rows × k). */
kfe_status kfe_i_table_times(kfe_context *ctx, const kfe_i_table *table, const double *w, int64_t k,
                             double *out);
/* The same for `count` tables of equal rows side by side; w has the rows of one table below those of another. */
void kfe_i_tables_times(kfe_context *ctx, const kfe_i_table *tables, int count, const double *w, int64_t k,
                        double *out);
kfe_status kfe_i_table_transpose_times(kfe_context *ctx, const kfe_i_table *table, const double *v, int64_t k,
                                       double *out);

/* The transpose of a csr table. */
kfe_status kfe_i_table_transpose(kfe_context *ctx, const kfe_i_table *table, kfe_i_table *out);

/* Directions below this relative size count as rounding error: eigenvalues compared with the largest, pivots with
 * the largest diagonal entry. */
#define KFE_RANK_TOLERANCE 1e-11
/* The same for matrices kept in single precision. */
#define KFE_SINGLE_RANK_TOLERANCE 1e-6

#endif
