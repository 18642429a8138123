/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solve with A + ρI, and find the diagonal of its inverse, for many ρ at the cost of one reduction:
 *
 *     A = QTQᵀ with T tridiagonal,     (A + ρI)⁻¹ = Q(T + ρI)⁻¹Qᵀ,     T + ρI = LDLᵀ
 *
 * The reduction and Q take 8n³/3 operations, less than half of those of eigenvectors; each ρ then takes O(n²). Used to choose
 * ridges by leave-one-out.
 */
#ifndef KFE_LINALG_TRIDIAGONAL_H
#define KFE_LINALG_TRIDIAGONAL_H

#include "core/context.h"

typedef struct kfe_i_tridiagonal {
    kfe_context *ctx;
    int64_t n;
    double *diagonal, *beside; /* T: n and n − 1 numbers */
    double *q;                 /* Qᵀ, n × n row-major; the caller's array */
} kfe_i_tridiagonal;

/* Reduces the symmetric matrix a (n × n), whose place Qᵀ takes. Free it also after a failure; `a` stays the caller's. */
kfe_status kfe_i_tridiagonal_new(kfe_context *ctx, int64_t n, double *a, kfe_i_tridiagonal *out);
void kfe_i_tridiagonal_free(kfe_i_tridiagonal *t);

/* D (n numbers) and the n − 1 numbers below the diagonal of L. Returns whether T + ρI is positive definite; if not, the
 * numbers are of no use. */
int kfe_i_tridiagonal_factor(const kfe_i_tridiagonal *t, double shift, double *pivots, double *ratios);

/* b (n × k) ← (LDLᵀ)⁻¹b */
void kfe_i_tridiagonal_solve(int64_t n, const double *pivots, const double *ratios, int64_t k, double *b);

/* out[s·n + i] = the i-th diagonal entry of (A + ρI)⁻¹ for `count` factors of kfe_i_tridiagonal_factor, n numbers each. */
kfe_status kfe_i_tridiagonal_inverse_diagonals(const kfe_i_tridiagonal *t, int64_t count,
                                               const double *pivots, const double *ratios, double *out);

#endif
