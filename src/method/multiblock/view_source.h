/* SPDX-License-Identifier: Apache-2.0 */
/* What the multi-block methods share: fits of the family deflation on one table, and records of the scores of views. */
#ifndef KFE_METHOD_MULTIBLOCK_VIEW_SOURCE_H
#define KFE_METHOD_MULTIBLOCK_VIEW_SOURCE_H

#include "method/method.h"

/* A source with one table in place of the views of another, with the same target and weights. It points into itself: do not copy it. */
typedef struct kfe_i_view_source {
    kfe_context *ctx;
    kfe_i_fit_source source;
    kfe_i_operator op;
    kfe_i_gram *gram;
} kfe_i_view_source;

/* The table must outlive it. Free it also after a failure. */
kfe_status kfe_i_view_source_open(kfe_context *ctx, const kfe_i_fit_source *all, const kfe_i_table *table,
                                  kfe_i_view_source *out);
void kfe_i_view_source_free(kfe_i_view_source *own);

/* 1 / the root of the total variance of a view, by which it counts as much as every other view; 0 if it does not vary. */
kfe_status kfe_i_view_factor(kfe_context *ctx, const kfe_i_table *view, const kfe_i_target *target,
                             double *out);

/* Records the correlations between the scores of the views: dim matrices of views × views. scores (rows × views·dim) are those of one view
 * after the other, centred, times the roots of the weights. */
kfe_status kfe_i_record_score_correlations(kfe_context *ctx, int64_t rows, int64_t views, int64_t dim,
                                           const double *scores, kfe_i_solution *out);

#endif
