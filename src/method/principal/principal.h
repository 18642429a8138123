/* SPDX-License-Identifier: Apache-2.0 */
/* What pca and kpca share: their parameters, and how many components there are. */
#ifndef KFE_METHOD_PRINCIPAL_PRINCIPAL_H
#define KFE_METHOD_PRINCIPAL_PRINCIPAL_H

#include "method/method.h"

typedef struct kfe_i_principal_settings {
    int64_t dim;
    int center;
    double tolerance;
} kfe_i_principal_settings;

#define KFE_PRINCIPAL_ROWS                                                                                   \
    KFE_DIM_ROW(kfe_i_principal_settings, dim, "number of features; auto: 10, or as many as there are"),     \
        KFE_FLAG(kfe_i_principal_settings, center, "center", "yes", "subtract the mean in feature space"),   \
        KFE_REAL(kfe_i_principal_settings, tolerance, "tolerance", "1e-10", 1e-14, 1,                        \
                 "residual of the eigenvectors, relative to the largest eigenvalue")

/* Components to compute for a problem that can have `most`. */
int64_t kfe_i_principal_wanted(const kfe_i_principal_settings *settings, int64_t most);
/* Of `wanted` falling eigenvalues, how many are above `rounding` and a relative `tolerance`: the features to
 * make, with a warning if more were asked for; KFE_ENUMERIC if there are none. */
kfe_status kfe_i_principal_dim(kfe_context *ctx, const char *method, const kfe_i_principal_settings *settings,
                               int64_t wanted, const double *eigenvalues, double rounding, double tolerance,
                               int64_t *dim);

#endif
