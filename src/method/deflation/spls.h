/* SPDX-License-Identifier: Apache-2.0 */
/* Fit spls on the rows of a source, for methods that add a predictor. */
#ifndef KFE_METHOD_DEFLATION_SPLS_H
#define KFE_METHOD_DEFLATION_SPLS_H

#include "method/method.h"

typedef struct kfe_i_spls_job {
    const char *method; /* begins messages */
    int center;
    int64_t dim;
    const char *keep; /* keep.h */
} kfe_i_spls_job;

/* Records columns-used, keep (columns of each direction) and last-change. */
kfe_status kfe_i_spls_fit(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_spls_job *job,
                          kfe_i_solution *out);

#endif
