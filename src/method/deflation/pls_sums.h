/* SPDX-License-Identifier: Apache-2.0 */
/* Fit pls from sums over rows without a table that stands for them. */
#ifndef KFE_METHOD_DEFLATION_PLS_SUMS_H
#define KFE_METHOD_DEFLATION_PLS_SUMS_H

#include "method/method.h"

/* `dim` features of centred columns, in either form of the scatter. *done is 0, and `out` untouched, if the sums do not have the digits
 * for so many. */
kfe_status kfe_i_pls_from_sums(kfe_context *ctx, const kfe_i_sums *sums, int64_t dim, kfe_i_solution *out,
                               int *done);

#endif
