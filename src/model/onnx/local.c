/* SPDX-License-Identifier: Apache-2.0 */
/* Localized models as ONNX nodes: parts, gate, features and decision values (method/shared/local.h has the formulas). */
#include "core/memory.h"
#include "model/onnx/parts.h"

/* What the graph has computed of a localized model. */
typedef struct places {
    kfe_i_value *z; /* projections, one per part */
    kfe_i_value gate, shares;
    int has_gate;
} places;

/* The columns that part m projects: the view's, or values of its kernel with the training examples. */
static kfe_status columns_of(kfe_i_onnx *onnx, const kfe_model *model, int64_t m, const kfe_i_value *x,
                             kfe_i_value *out)
{
    const kfe_i_kernel *kernel = &model->kernels.items[m];

    *out = x[kernel->view];
    if (!model->local->parts[m].mapped)
        return KFE_OK;
    return kfe_i_onnx_kernel(onnx, kernel, *out, &model->views[kernel->view].support, out);
}

static kfe_status place_part(kfe_i_onnx *onnx, const kfe_model *model, int64_t m, const kfe_i_value *x,
                             places *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_local *local = model->local;
    const kfe_i_local_part *part = &local->parts[m];
    kfe_i_value columns;

    KFE_TRY(columns_of(onnx, model, m, x, &columns));
    out->z[m] = columns;
    if (part->projection)
        out->z[m] = kfe_i_onnx_affine(onnx, columns, part->projection, part->cols, part->dim, NULL);
    if (!part->gating)
        goto cleanup;
    kfe_i_value gate = kfe_i_onnx_affine(onnx, columns, part->gating, part->cols, local->gate_dim, NULL);
    out->gate = out->has_gate ? kfe_i_onnx_2(onnx, "Add", out->gate, gate) : gate;
    out->has_gate = 1;
cleanup:
    return status;
}

static kfe_status place(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_value *x, places *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_local *local = model->local;

    KFE_ALLOC_ZERO(onnx->ctx, out->z, local->part_count);
    for (int64_t m = 0; m < local->part_count; m++)
        KFE_TRY(place_part(onnx, model, m, x, out));
    if (!out->has_gate)
        KFE_FAIL(onnx->ctx, KFE_EINPUT,
                 "a localized model whose gate sees no part cannot be exported to ONNX");
    kfe_i_value logits = out->gate;
    if (local->gate_weights)
        logits =
            kfe_i_onnx_affine(onnx, logits, local->gate_weights, local->gate_dim, local->part_count, NULL);
    kfe_i_value offset = kfe_i_onnx_row(onnx, local->gate_offset, local->part_count);
    out->shares = kfe_i_onnx_softmax(onnx, kfe_i_onnx_2(onnx, "Add", logits, offset));
cleanup:
    return status;
}

/* examples × 1: the share of part m. */
static kfe_i_value share_of(kfe_i_onnx *onnx, const places *placed, int64_t m)
{
    return kfe_i_onnx_gather(onnx, placed->shares, kfe_i_onnx_integers(onnx, &m, 1), 1);
}

static kfe_status features_of(kfe_i_onnx *onnx, const kfe_i_local *local, const places *placed,
                              kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value *gated = NULL;

    if (local->shows != KFE_LOCAL_GATED) {
        *out = local->shows == KFE_LOCAL_GATE ? placed->gate : placed->shares;
        return KFE_OK;
    }
    KFE_ALLOC(onnx->ctx, gated, local->part_count);
    for (int64_t m = 0; m < local->part_count; m++)
        gated[m] = kfe_i_onnx_2(onnx, "Mul", placed->z[m], share_of(onnx, placed, m));
    *out = kfe_i_onnx_concat(onnx, gated, local->part_count, 1);
cleanup:
    kfe_i_free(onnx->ctx, gated);
    return status;
}

/* η_m(x)·Σ_s η_m(x_s) weights_s κ_m(z(x_s), z(x)) */
static kfe_status part_outputs(kfe_i_onnx *onnx, const kfe_model *model, const places *placed, int64_t m,
                               kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_local *local = model->local;
    kfe_i_kernel linear = {0};
    kfe_i_value kernel;
    double *weights = NULL;

    KFE_TRY(kfe_i_kernel_parse(onnx->ctx, "linear", &linear));
    KFE_TRY(kfe_i_onnx_kernel(onnx, local->parts[m].mapped ? &linear : &model->kernels.items[m], placed->z[m],
                              &local->parts[m].support, &kernel));
    KFE_ALLOC(onnx->ctx, weights, local->rows * local->outputs);
    for (int64_t s = 0; s < local->rows; s++)
        for (int64_t o = 0; o < local->outputs; o++)
            weights[s * local->outputs + o] =
                local->shares[s * local->part_count + m] * local->weights[s * local->outputs + o];
    kfe_i_value sums = kfe_i_onnx_affine(onnx, kernel, weights, local->rows, local->outputs, NULL);
    *out = kfe_i_onnx_2(onnx, "Mul", sums, share_of(onnx, placed, m));
cleanup:
    kfe_i_free(onnx->ctx, weights);
    kfe_i_kernel_free(&linear);
    return status;
}

static kfe_status outputs_of(kfe_i_onnx *onnx, const kfe_model *model, const places *placed, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_local *local = model->local;
    kfe_i_value sum = 0;

    for (int64_t m = 0; m < local->part_count; m++) {
        kfe_i_value part;
        KFE_TRY(part_outputs(onnx, model, placed, m, &part));
        sum = m ? kfe_i_onnx_2(onnx, "Add", sum, part) : part;
    }
    *out = kfe_i_onnx_2(onnx, "Sub", sum, kfe_i_onnx_row(onnx, local->offset, local->outputs));
cleanup:
    return status;
}

kfe_status kfe_i_onnx_local(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_value *x,
                            kfe_i_value *features, kfe_i_value *outputs)
{
    kfe_status status = KFE_OK;
    places placed = {0};

    KFE_TRY(place(onnx, model, x, &placed));
    KFE_TRY(features_of(onnx, model->local, &placed, features));
    if (model->predictor.kind == KFE_PREDICTOR_DIRECT && model->learner)
        KFE_TRY(outputs_of(onnx, model, &placed, outputs));
cleanup:
    kfe_i_free(onnx->ctx, placed.z);
    return status;
}
