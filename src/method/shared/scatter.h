/* SPDX-License-Identifier: Apache-2.0 */
/* Compute the scatter matrix of a table's columns, for pca and cr. */
#ifndef KFE_METHOD_SHARED_SCATTER_H
#define KFE_METHOD_SHARED_SCATTER_H

#include "data/table.h"

/* The lower triangle of scatter (d × d) = (X − 1·meansᵀ)ᵀ(X − 1·meansᵀ). Time O(nd²), or O(Σ nonzeros²) for sparse
 * rows. */
kfe_status kfe_i_scatter(kfe_context *ctx, const kfe_i_table *table, const double *means, double *scatter);

#endif
