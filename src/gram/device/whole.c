/* SPDX-License-Identifier: Apache-2.0 */
/* The whole matrix of an operator in the memory of a device; solve.c and eigen.c factor and diagonalise it. */
#include "gram/device/whole.h"

#include "core/cluster.h"
#include "core/memory.h"

kfe_status kfe_i_device_whole_agree(const kfe_i_device_whole *w, kfe_i_outcome *how)
{
    double least = *how;
    kfe_status status = w->together ? kfe_i_cluster_least(w->ctx, &least) : KFE_OK;

    *how = (kfe_i_outcome)least;
    return status;
}

kfe_status kfe_i_device_whole_share(const kfe_i_device_whole *w, double *values, int64_t count)
{
    return w->together ? kfe_i_cluster_broadcast(w->ctx, 0, values, count * (int64_t)sizeof *values) : KFE_OK;
}

kfe_status kfe_i_device_whole_open(const kfe_i_gram *gram, const kfe_i_gram *inside, kfe_i_device_whole *out)
{
    const kfe_i_gram *alone = NULL;
    kfe_i_device *device = kfe_i_gram_device(inside, &alone);
    kfe_i_outcome how = device ? KFE_OUTCOME_GOOD : KFE_OUTCOME_UNSUPPORTED;
    kfe_status status;

    *out = (kfe_i_device_whole){.ctx = gram->ctx,
                                .gram = alone,
                                .centred = gram == inside ? NULL : gram,
                                .together = inside->processes > 1};
    status = kfe_i_device_whole_agree(out, &how);
    out->device = status == KFE_OK && how == KFE_OUTCOME_GOOD ? device : NULL;
    return status;
}

kfe_status kfe_i_device_whole_means(const kfe_i_device_whole *w)
{
    const double *means = NULL;
    double overall = 0;

    return w->centred ? kfe_i_gram_row_means(w->centred, &means, &overall) : KFE_OK;
}

static kfe_status centre(const kfe_i_device_whole *w, double scale, const kfe_device_matrix *out,
                         kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    int64_t n = w->gram->size;
    const double *means = NULL;
    double overall = 0;
    double *by_row = NULL;
    double *by_col = NULL;

    KFE_ALLOC(w->ctx, by_row, n);
    KFE_ALLOC(w->ctx, by_col, n);
    KFE_TRY(kfe_i_gram_row_means(w->centred, &means, &overall));
    for (int64_t i = 0; i < n; i++) {
        by_row[i] = scale * (overall - means[i]);
        by_col[i] = -scale * means[i];
    }
    *result = w->device->table->shift(w->device->handle, out, by_row, by_col);
cleanup:
    kfe_i_free(w->ctx, by_row);
    kfe_i_free(w->ctx, by_col);
    return status;
}

kfe_status kfe_i_device_whole_fill(const kfe_i_device_whole *w, double scale, int filled,
                                   const kfe_device_matrix *out, kfe_device_status *result)
{
    w->device->stage = "computing the kernel matrix";
    *result = filled ? KFE_DEVICE_OK : w->gram->form->device->fill(w->gram, scale, 1, out);
    return *result == KFE_DEVICE_OK && w->centred ? centre(w, scale, out, result) : KFE_OK;
}
