/* SPDX-License-Identifier: Apache-2.0 */
/* Fit spls on the rows of a source, for methods that add a predictor. */
#ifndef KFE_METHOD_DEFLATION_SPLS_H
#define KFE_METHOD_DEFLATION_SPLS_H

#include "method/method.h"

/* How many columns directions use: "50" for all of them, "50;20;all" for one after the other (the last number is that of all that
 * follow), or auto, which cross-validation replaces before the fit (model/choose_keep.h); where it cannot, auto is 50. */
#define KFE_KEEP_AUTO "auto"
#define KFE_KEEP_ROW(type, field)                                                                            \
    KFE_TEXT(                                                                                                \
        type, field, "keep", "50",                                                                           \
        "maximum number of columns that a direction uses; numbers for one direction after the other as "     \
        "50;20;10; all: no limit; auto: by cross-validation, for one direction after the other")

typedef struct kfe_i_spls_job {
    const char *method; /* begins messages */
    int center;
    int64_t dim;
    const char *keep;
} kfe_i_spls_job;

/* Records columns-used, keep (columns of each direction) and last-change. */
kfe_status kfe_i_spls_fit(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_spls_job *job,
                          kfe_i_solution *out);

#endif
