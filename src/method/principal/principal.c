/* SPDX-License-Identifier: Apache-2.0 */
/* The number of principal components to compute and to keep, for pca and kpca. */
#include "method/principal/principal.h"

enum { AUTO_DIM = 10 };

int64_t kfe_i_principal_wanted(const kfe_i_principal_settings *settings, int64_t most)
{
    int64_t asked = settings->dim > 0 ? settings->dim : AUTO_DIM;
    return asked < most ? asked : most;
}

kfe_status kfe_i_principal_dim(kfe_context *ctx, const char *method, const kfe_i_principal_settings *settings,
                               const kfe_i_spectrum *spectrum, int64_t *dim)
{
    const double *values = spectrum->values;
    int64_t rank = 0;

    while (rank < spectrum->count && values[rank] > spectrum->rounding &&
           values[rank] > spectrum->tolerance * values[0])
        rank++;
    if (rank == 0)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: the examples do not vary; there are no principal components",
                          method);
    *dim = kfe_i_clamp_dim(ctx, method, settings->dim, rank, "the data varies in no more directions");
    return KFE_OK;
}
