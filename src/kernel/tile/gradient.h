/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute the average gradient outer product (AGOP) of functions that are expansions in a kernel,
 *
 *     f_c(x) = Σ_i A[i, c] Σ_m weight_m κ_m(x, s_i),
 *     AGOP   = Σ_c Σ_j ∇f_c(x_j) ∇f_c(x_j)ᵀ / n,
 *
 * which says in which directions the functions vary. With the derivative φ' of the kernel by its base value,
 *
 *     κ = φ(‖x − s‖²):   ∇f_c(x) = 2 (Σ_i A[i, c] φ'_i) x − 2 Σ_i A[i, c] φ'_i s_i
 *     κ = φ(⟨x, s⟩):     ∇f_c(x) = Σ_i A[i, c] φ'_i s_i
 *
 * so that the gradients at a panel of rows are products of tiles of φ' with diag(A[:, c])·[S 1]. Each tile is evaluated once
 * for all c, and nothing larger than a panel is stored: memory is O(d²) per thread, O(d) for the diagonal. With many columns or
 * outputs and few support examples, the same sums are computed without the gradients (gradient_pairs.c). Processes of a cluster divide
 * the rows.
 */
#ifndef KFE_KERNEL_TILE_GRADIENT_H
#define KFE_KERNEL_TILE_GRADIENT_H

#include "kernel/kernel.h"

typedef struct kfe_i_expansion_sum {
    const kfe_i_kernel_list *kernels; /* all on the one view; each has a derivative (KFE_HAS_DERIVATIVE) */
    const kfe_i_table *support;       /* s_i */
    const double *coefficients;       /* A, support rows × k */
    int64_t k;
} kfe_i_expansion_sum;

/* out (d × d) = the AGOP over the rows, or out (d) = its diagonal. */
kfe_status kfe_i_agop(kfe_context *ctx, const kfe_i_expansion_sum *f, const kfe_i_table *rows, int diagonal,
                      double *out);

#endif
