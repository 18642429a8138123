/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of lmkl and sldr: its features, shares and logits. views.c and the figure of its regions ask it. */
#include "explain/gate.h"

#include <string.h>

#include "core/memory.h"

/* The model with other features: KFE_LOCAL_GATE or KFE_LOCAL_SHARES. */
static kfe_status show(kfe_context *ctx, const kfe_model *model, const kfe_data *data, int shows,
                       int64_t width, double *out)
{
    kfe_i_local local = *model->local;
    kfe_model shown = *model;

    local.shows = shows;
    shown.local = &local;
    shown.dim = width;
    return kfe_i_model_project(ctx, &shown, data, out);
}

kfe_status kfe_i_gate_shares(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out)
{
    return show(ctx, model, data, KFE_LOCAL_SHARES, model->local->part_count, out);
}

kfe_status kfe_i_gate_features(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out)
{
    return show(ctx, model, data, KFE_LOCAL_GATE, model->local->gate_dim, out);
}

/* Three points of the plane tell the slopes. */
kfe_status kfe_i_gate_plane(kfe_context *ctx, const kfe_model *model, int raw, double *slopes,
                            double *offsets)
{
    kfe_status status = KFE_OK;
    const kfe_i_local *local = model->local;
    const double corners[6] = {0, 0, 1, 0, 0, 1};
    double *features = NULL;
    kfe_data *points = NULL;

    KFE_ALLOC(ctx, features, 3 * (local->gate_dim > 2 ? local->gate_dim : 2));
    memcpy(features, corners, sizeof corners);
    if (raw) {
        KFE_TRY(kfe_data_wrap_dense(ctx, 3, 2, 2, corners, &points));
        KFE_TRY(kfe_i_gate_features(ctx, model, points, features));
    }
    for (int64_t m = 0; m < local->part_count; m++) {
        offsets[m] = kfe_i_gate_logit(local, m, features);
        for (int k = 0; k < 2; k++)
            slopes[2 * m + k] = kfe_i_gate_logit(local, m, features + (k + 1) * local->gate_dim) - offsets[m];
    }
cleanup:
    kfe_data_free(points);
    kfe_i_free(ctx, features);
    return status;
}
