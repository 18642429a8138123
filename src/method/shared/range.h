/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep computations inside the range of double precision. Squares of targets and of kernel values appear in every criterion,
 * so that numbers beyond 1e±150 overflow or vanish although the features themselves would be fine. Numbers far from one are
 * divided by a power of four, which changes no digit (and nor does its square root), and results are multiplied back.
 */
#ifndef KFE_METHOD_SHARED_RANGE_H
#define KFE_METHOD_SHARED_RANGE_H

#include "gram/gram.h"

/* The power of four by which numbers of largest magnitude `largest` are divided: 1 unless that is zero, not finite or
 * already between 1e-60 and 1e60, so that ordinary data keeps its bits. */
double kfe_i_unit_of(double largest);

/* The largest entry of the operator's diagonal. KFE_EINPUT, in the name of `method`, if it is positive but so small that
 * kernel values have lost digits. */
kfe_status kfe_i_largest_kernel_value(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                                      double *out);

/* The same for the diagonal itself, of `count` numbers. */
kfe_status kfe_i_largest_of_diagonal(kfe_context *ctx, const char *method, const double *diagonal,
                                     int64_t count, double *out);

#endif
