/* SPDX-License-Identifier: Apache-2.0 */
/* Compute the scatter matrix of a table's columns, for pca and cr. */
#ifndef KFE_METHOD_SHARED_SCATTER_H
#define KFE_METHOD_SHARED_SCATTER_H

#include "data/table/table.h"

/* The lower triangle of scatter (d × d) = (X − s·meansᵀ)ᵀ(X − s·meansᵀ), s the roots of the weights of the rows, which X carries
 * already (kfe_i_gram_weighted; NULL: ones). Time O(nd²), or O(Σ nonzeros²) for sparse rows. */
kfe_status kfe_i_scatter(kfe_context *ctx, const kfe_i_table *table, const double *roots, const double *means,
                         double *scatter);

#endif
