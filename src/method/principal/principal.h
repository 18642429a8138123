/* SPDX-License-Identifier: Apache-2.0 */
/* Choose how many principal components to compute and to keep, for pca and kpca. */
#ifndef KFE_METHOD_PRINCIPAL_PRINCIPAL_H
#define KFE_METHOD_PRINCIPAL_PRINCIPAL_H

#include "method/method.h"

typedef struct kfe_i_principal_settings {
    int64_t dim;
    int center;
    double tolerance;
} kfe_i_principal_settings;

#define KFE_PRINCIPAL_ROWS                                                                                   \
    KFE_DIM_ROW(kfe_i_principal_settings, dim, "number of features; auto: 10, or as many as possible"),      \
        KFE_FLAG(kfe_i_principal_settings, center, "center", "yes", "subtract the mean in feature space"),   \
        KFE_REAL(kfe_i_principal_settings, tolerance, "tolerance", "1e-10", 1e-14, 1,                        \
                 "residual of the eigenvectors, relative to the largest eigenvalue")

/* The number of components to compute, of at most `most`. */
int64_t kfe_i_principal_wanted(const kfe_i_principal_settings *settings, int64_t most);
/* Falling eigenvalues, and what is rounding error among them. */
typedef struct kfe_i_spectrum {
    int64_t count;
    const double *values;
    double rounding;  /* an eigenvalue of zero may come out as large as this */
    double tolerance; /* eigenvalues below this share of the largest are not kept */
} kfe_i_spectrum;

/* *dim: how many eigenvalues give a feature; a warning says so if more were asked for. KFE_EINPUT, in the name of `method`, if none
 * does. */
kfe_status kfe_i_principal_dim(kfe_context *ctx, const char *method, const kfe_i_principal_settings *settings,
                               const kfe_i_spectrum *spectrum, int64_t *dim);
/* pca on data with missing values, without filling them in (pca_missing.c). */
kfe_status kfe_i_pca_missing(kfe_context *ctx, const kfe_i_fit_source *source,
                             const kfe_i_principal_settings *settings, kfe_i_solution *out);

#endif
