/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe_inverse_transform: rows from features. For a linear model x = mean + P(t − mean of t), with the loadings P of the
 * training data, and scaling undone. For pca it is the orthogonal projection; for pls it is scikit-learn's. For kpca with
 * a Gaussian kernel it is the pre-image (preimage.c).
 */
#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "explain/explain.h"
#include "explain/preimage.h"
#include "model/chain_views.h"
#include "model/linear.h"

static kfe_status check(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features)
{
    const char *reason = kfe_i_features_not_linear(model);

    if (kfe_i_model_prepares(model))
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "features of this model have no inverse: the steps of {prepare} cannot be undone");
    if (kfe_i_scaling_not_linear(model) || (reason && kfe_i_model_has_map(model)))
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "features of this model have no inverse: %s",
                          reason ? reason : kfe_i_scaling_not_linear(model));
    if (reason)
        return kfe_i_preimage_check(ctx, model, features);
    if (features->cols != model->dim)
        return kfe_i_fail(ctx, KFE_EINVAL, "the model has %lld features, but the rows have %lld",
                          (long long)model->dim, (long long)features->cols);
    if (model->projector != KFE_PROJECT_IDENTITY && model->moments.cols == 0)
        return kfe_i_fail(
            ctx, KFE_EUNSUPPORTED,
            "the model keeps no loadings: it was fitted before kfe knew them, or a learned distance mixed the "
            "columns");
    return KFE_OK;
}

/* out (rows × cols) = mean + (T − mean of T)Pᵀ, on scaled columns. */
static kfe_status reconstruct(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features,
                              kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &model->moments;
    double *loadings = NULL;
    double *centred = NULL;

    KFE_TRY(kfe_i_loadings(ctx, model, &loadings));
    KFE_ALLOC(ctx, centred, features->rows * m->dim);
    for (int64_t i = 0; i < features->rows; i++) {
        for (int64_t a = 0; a < m->dim; a++)
            centred[i * m->dim + a] = features->values[i * features->stride + a] - m->feature_means[a];
        memcpy(out->values + i * m->cols, m->column_means, (size_t)m->cols * sizeof *out->values);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)out->rows, (blasint)m->cols,
                (blasint)m->dim, 1, centred, (blasint)m->dim, loadings, (blasint)m->dim, 1, out->values,
                (blasint)m->cols);
cleanup:
    kfe_i_free(ctx, loadings);
    kfe_i_free(ctx, centred);
    return status;
}

static void undo_scaling(const kfe_model *model, kfe_matrix *out)
{
    int64_t first = 0;

    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_scaler *scaler = &model->views[v].scaler;
        for (int64_t i = 0; i < out->rows; i++)
            for (int64_t j = 0; j < model->views[v].cols; j++) {
                double *value = out->values + i * out->cols + first + j;
                *value /= scaler->factor && scaler->factor[j] != 0 ? scaler->factor[j] : 1;
                *value += scaler->shift ? scaler->shift[j] : 0;
            }
        first += model->views[v].cols;
    }
}

kfe_status kfe_inverse_transform(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features,
                                 kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    memset(out, 0, sizeof *out);
    KFE_TRY(check(ctx, model, features));
    out->rows = features->rows;
    out->cols = out->stride = kfe_i_model_all_cols(model);
    KFE_ALLOC(ctx, out->values, out->rows * out->cols);
    out->owner = ctx;
    if (model->projector == KFE_PROJECT_IDENTITY)
        for (int64_t i = 0; i < out->rows; i++)
            memcpy(out->values + i * out->cols, features->values + i * features->stride,
                   (size_t)out->cols * sizeof *out->values);
    else if (kfe_i_features_not_linear(model))
        KFE_TRY(kfe_i_preimages(ctx, model, features, out->values));
    else
        KFE_TRY(reconstruct(ctx, model, features, out));
    undo_scaling(model, out);
cleanup:
    if (status != KFE_OK)
        kfe_matrix_free(out);
    kfe_i_threads_leave(saved_threads);
    return status;
}
