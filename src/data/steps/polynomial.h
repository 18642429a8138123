/* SPDX-License-Identifier: Apache-2.0 */
/* Fit polynomials to equally spaced points: orthonormal polynomials on 0, 1, …, count − 1 and their derivatives. Used by sg and detrend. */
#ifndef KFE_DATA_STEPS_POLYNOMIAL_H
#define KFE_DATA_STEPS_POLYNOMIAL_H

#include "core/context.h"

/* values (order + 1 × count): row k holds the polynomial of degree k at all points. derivatives (the same) its `derivative`-th derivative
 * per unit of the points; NULL: not needed. */
kfe_status kfe_i_polynomials(kfe_context *ctx, int64_t count, int64_t order, int64_t derivative,
                             double *values, double *derivatives);

#endif
