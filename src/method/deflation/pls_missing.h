/* SPDX-License-Identifier: Apache-2.0 */
/* Fit pls on data with missing values, without filling them in. */
#ifndef KFE_METHOD_DEFLATION_PLS_MISSING_H
#define KFE_METHOD_DEFLATION_PLS_MISSING_H

#include "method/method.h"

/* Called instead of the engines for complete data if kfe_i_has_missing; dim 0: automatic. */
kfe_status kfe_i_pls_missing(kfe_context *ctx, const kfe_i_fit_source *source, const char *method, int center,
                             int64_t dim, kfe_i_solution *out);

#endif
