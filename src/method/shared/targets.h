/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn labels or real targets into a centred matrix Y to regress on or to correlate with.
 *
 * Columns of Y (n × columns):
 *   real targets     one column each
 *   two classes      one column, −1 for the first class and +1 for the second
 *   more classes     one indicator column per class
 * and each column minus its mean. With weights, the mean is the weighted one, and rows are multiplied by the roots of their weights
 * afterwards: these are the targets that belong to a weighted operator (kfe_i_gram_weighted). Without a target, or with one class only, Y has no columns.
 */
#ifndef KFE_METHOD_SHARED_TARGETS_H
#define KFE_METHOD_SHARED_TARGETS_H

#include "data/target/target.h"

/* Y divided by a power of four, *unit, which is 1 unless real targets are far from one (range.h); freed by the caller.
 * KFE_EINPUT: the target is the same for every example. */
kfe_status kfe_i_centred_targets(kfe_context *ctx, const kfe_i_target *target, double **values,
                                 int64_t *columns, double *unit);
/* The same for the rows of this process, if processes divide the rows; `mass` is the number of rows of all, or the sum of their
 * weights. Means and units are those of all rows. Without rows of its own, a process gets one row of zeros. */
kfe_status kfe_i_divided_targets(kfe_context *ctx, const kfe_i_target *target, double mass, double **values,
                                 int64_t *columns, double *unit);

#endif
