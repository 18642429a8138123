/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models that are linear in their columns, as one matrix. A model is linear if its projector is (pca, pls, blf, oc, cr,
 * none), or if all its kernels are linear: then Aᵀκ(S, x) = (Σ weight·SᵀA)ᵀx. explain/ and kfe_fit use it.
 */
#include "model/linear.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"
#include "model/chain_views.h"

void kfe_i_linear_map_free(kfe_i_linear_map *map)
{
    if (map->ctx) {
        kfe_i_free(map->ctx, map->weights);
        kfe_i_free(map->ctx, map->offset);
    }
    memset(map, 0, sizeof *map);
}

int64_t kfe_i_model_all_cols(const kfe_model *model)
{
    int64_t cols = 0;

    for (int v = 0; v < model->view_count; v++)
        cols += model->views[v].cols;
    return cols;
}

/* ---- which models are linear ---- */

const char *kfe_i_features_not_linear(const kfe_model *model)
{
    if (kfe_i_model_has_map(model))
        return "a learned distance comes between its columns and its kernel";
    if (model->projector == KFE_PROJECT_LOCAL)
        return "a localized model is not linear in the columns";
    if (model->projector == KFE_PROJECT_TREE)
        return "a tree is not linear in the columns";
    if (model->projector == KFE_PROJECT_VIEWS)
        return "each of its views has coefficients of its own";
    return kfe_i_kernels_are_linear(&model->kernels) ? NULL : "its kernel is not linear in the columns";
}

const char *kfe_i_outputs_not_linear(const kfe_model *model)
{
    const kfe_i_predictor *predictor = &model->predictor;

    if (!model->learner)
        return "the model gives features only";
    if (predictor->kind == KFE_PREDICTOR_NEIGHBOURS)
        return "its nearest neighbours are not linear in the columns";
    if (predictor->kind == KFE_PREDICTOR_EXPANSION && !kfe_i_kernel_is_dot_product(&predictor->kernel))
        return "the kernel of its learner is not linear in the features";
    return NULL;
}

const char *kfe_i_scaling_not_linear(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].scaler.kind == KFE_SCALE_L2_ROWS)
            return "rows of length one are not linear in the columns";
    return NULL;
}

/* ---- the maps ---- */

static kfe_status begin(kfe_context *ctx, const kfe_model *model, int64_t dim, kfe_i_linear_map *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_linear_map){.ctx = ctx, .cols = kfe_i_model_prepared_cols(model), .dim = dim};
    KFE_ALLOC_ZERO(ctx, out->weights, out->cols * dim);
    KFE_ALLOC_ZERO(ctx, out->offset, dim);
cleanup:
    return status;
}

/* Adds weight · SᵀA of each kernel to the columns of its view. */
static kfe_status add_kernels(kfe_context *ctx, const kfe_model *model, kfe_i_linear_map *out)
{
    kfe_status status = KFE_OK;
    double *product = NULL;

    KFE_ALLOC(ctx, product, out->cols * out->dim);
    for (int64_t m = 0; m < model->kernels.count; m++) {
        const kfe_i_kernel *kernel = &model->kernels.items[m];
        int64_t first = 0;
        for (int v = 0; v < kernel->view; v++)
            first += kfe_i_view_prepared_cols(&model->views[v]);
        KFE_TRY(kfe_i_table_transpose_times(ctx, &model->views[kernel->view].support, model->coefficients,
                                            model->dim, product));
        cblas_daxpy((blasint)(kfe_i_view_prepared_cols(&model->views[kernel->view]) * model->dim),
                    kernel->common.weight, product, 1, out->weights + first * model->dim, 1);
    }
cleanup:
    kfe_i_free(ctx, product);
    return status;
}

kfe_status kfe_i_linear_features(kfe_context *ctx, const kfe_model *model, kfe_i_linear_map *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(begin(ctx, model, model->dim, out));
    if (model->projector == KFE_PROJECT_KERNEL)
        KFE_TRY(add_kernels(ctx, model, out));
    else if (model->projector == KFE_PROJECT_LINEAR)
        memcpy(out->weights, model->coefficients, (size_t)(out->cols * out->dim) * sizeof *out->weights);
    for (int64_t j = 0; model->projector == KFE_PROJECT_IDENTITY && j < out->cols; j++)
        out->weights[j * out->dim + j] = 1;
    if (model->offset)
        memcpy(out->offset, model->offset, (size_t)out->dim * sizeof *out->offset);
cleanup:
    return status;
}

/* The learner's own weights on features (dim × outputs); *owned is what the caller frees. */
static kfe_status predictor_weights(kfe_context *ctx, const kfe_i_predictor *predictor,
                                    const double **weights, double **owned)
{
    kfe_status status = KFE_OK;

    *weights = predictor->weights;
    if (predictor->kind != KFE_PREDICTOR_EXPANSION)
        return KFE_OK;
    KFE_ALLOC(ctx, *owned, predictor->dim * predictor->outputs);
    KFE_TRY(kfe_i_table_transpose_times(ctx, &predictor->support, predictor->weights, predictor->outputs,
                                        *owned));
    cblas_dscal((blasint)(predictor->dim * predictor->outputs), predictor->kernel.common.weight, *owned, 1);
    *weights = *owned;
cleanup:
    return status;
}

/* out = the outputs of weights (dim × outputs) on the features of `features`. */
static void compose(const kfe_model *model, const kfe_i_linear_map *features, const double *weights,
                    kfe_i_linear_map *out)
{
    const kfe_i_predictor *predictor = &model->predictor;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)out->cols, (blasint)out->dim,
                (blasint)model->dim, 1, features->weights, (blasint)model->dim, weights, (blasint)out->dim, 0,
                out->weights, (blasint)out->dim);
    for (int64_t o = 0; o < out->dim; o++) {
        out->offset[o] = predictor->offset ? predictor->offset[o] : 0;
        for (int64_t a = 0; a < model->dim; a++)
            out->offset[o] += weights[a * out->dim + o] * features->offset[a];
    }
}

kfe_status kfe_i_linear_outputs(kfe_context *ctx, const kfe_model *model, kfe_i_linear_map *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &model->predictor;
    kfe_i_linear_map features = {0};
    const double *weights = NULL;
    double *owned = NULL;

    if (predictor->kind == KFE_PREDICTOR_DIRECT)
        return kfe_i_linear_features(ctx, model, out);
    KFE_TRY(begin(ctx, model, predictor->outputs, out));
    KFE_TRY(predictor_weights(ctx, predictor, &weights, &owned));
    if (model->projector == KFE_PROJECT_IDENTITY) { /* without the identity matrix, which may be large */
        memcpy(out->weights, weights, (size_t)(out->cols * out->dim) * sizeof *out->weights);
        if (predictor->offset)
            memcpy(out->offset, predictor->offset, (size_t)out->dim * sizeof *out->offset);
        goto cleanup;
    }
    KFE_TRY(kfe_i_linear_features(ctx, model, &features));
    compose(model, &features, weights, out);
cleanup:
    kfe_i_free(ctx, owned);
    kfe_i_linear_map_free(&features);
    return status;
}

void kfe_i_linear_map_undo_scaling(const kfe_model *model, kfe_i_linear_map *map)
{
    double *row = map->weights;

    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_scaler *scaler = &model->views[v].scaler;
        for (int64_t j = 0; j < kfe_i_scaler_prepared(scaler); j++, row += map->dim)
            for (int64_t o = 0; o < map->dim; o++) {
                row[o] *= scaler->factor ? scaler->factor[j] : 1;
                map->offset[o] += row[o] * (scaler->shift ? scaler->shift[j] : 0);
            }
    }
}

kfe_status kfe_i_linear_map_undo_steps(kfe_context *ctx, const kfe_model *model, kfe_i_linear_map *map)
{
    kfe_status status = KFE_OK;
    int64_t cols = kfe_i_model_all_cols(model);
    const double *from = map->weights;
    double *weights = NULL;
    double *constants = NULL;
    double *to;

    if (!kfe_i_model_prepares(model))
        return KFE_OK;
    KFE_ALLOC(ctx, weights, cols * map->dim);
    KFE_ALLOC(ctx, constants, map->dim);
    to = weights;
    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_model_view *view = &model->views[v];
        int64_t size = view->cols * map->dim;
        if (view->scaler.chain.count == 0) {
            memcpy(to, from, (size_t)size * sizeof *to);
        } else {
            KFE_TRY(kfe_i_chain_pull(ctx, &view->scaler.chain, map->dim, from, to, constants));
            cblas_daxpy((blasint)map->dim, -1, constants, 1, map->offset, 1);
        }
        from += kfe_i_view_prepared_cols(view) * map->dim;
        to += size;
    }
    kfe_i_free(ctx, map->weights);
    map->weights = weights;
    map->cols = cols;
    weights = NULL;
cleanup:
    kfe_i_free(ctx, weights);
    kfe_i_free(ctx, constants);
    return status;
}
