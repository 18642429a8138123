/* SPDX-License-Identifier: Apache-2.0 */
/* Features and decision values of a localized projector (local.h), for models of lmkl and sldr. Cost per example: the
 * projections, and one kernel value per part and support example. */
#include "method/shared/local.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/expansion.h"
#include "linalg/linalg.h"

kfe_status kfe_i_local_new(kfe_context *ctx, int64_t parts, kfe_i_local **out)
{
    kfe_status status = KFE_OK;
    kfe_i_local *local = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, local, 1);
    local->ctx = ctx;
    KFE_ALLOC_ZERO(ctx, local->parts, parts);
    local->part_count = parts;
    *out = local;
    local = NULL;
cleanup:
    kfe_i_local_free(local);
    return status;
}

void kfe_i_local_free(kfe_i_local *local)
{
    if (!local)
        return;
    for (int64_t m = 0; m < local->part_count; m++) {
        kfe_i_free(local->ctx, local->parts[m].projection);
        kfe_i_free(local->ctx, local->parts[m].gating);
        kfe_i_table_free(&local->parts[m].support);
    }
    kfe_i_free(local->ctx, local->parts);
    kfe_i_free(local->ctx, local->gate_weights);
    kfe_i_free(local->ctx, local->gate_offset);
    kfe_i_free(local->ctx, local->weights);
    kfe_i_free(local->ctx, local->offset);
    kfe_i_free(local->ctx, local->shares);
    kfe_i_free(local->ctx, local);
}

/* ---- projections and shares ---- */

double kfe_i_gate_logit(const kfe_i_local *local, int64_t part, const double *z)
{
    double logit = local->gate_offset[part];

    if (!local->gate_weights)
        return logit + z[part];
    for (int64_t k = 0; k < local->gate_dim; k++)
        logit += z[k] * local->gate_weights[k * local->part_count + part];
    return logit;
}

void kfe_i_softmax_rows(int64_t rows, int64_t parts, double *logits)
{
    for (int64_t i = 0; i < rows; i++) {
        double *row = logits + i * parts;
        double largest = row[0];
        double sum = 0;
        for (int64_t m = 1; m < parts; m++)
            largest = fmax(largest, row[m]);
        for (int64_t m = 0; m < parts; m++)
            sum += row[m] = exp(row[m] - largest);
        for (int64_t m = 0; m < parts; m++)
            row[m] /= sum;
    }
}

/* out (rows × k) = the columns of part m times w (cols × k) */
static kfe_status columns_times(kfe_context *ctx, const kfe_i_local_part *part, const kfe_i_kernel *kernel,
                                const kfe_i_local_data *data, const double *w, int64_t k, double *out)
{
    kfe_i_kernel alone = *kernel;
    kfe_i_kernel_list list = {.ctx = ctx, .items = &alone, .count = 1, .capacity = 1};

    if (!part->mapped)
        return kfe_i_table_times(ctx, &data->views[kernel->view], w, k, out);
    return kfe_i_expand(ctx, &list, data->views, data->support, w, k, out);
}

static kfe_status place_part(kfe_context *ctx, const kfe_i_local *local, const kfe_i_local_data *data,
                             int64_t m, kfe_i_local_places *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_local_part *part = &local->parts[m];
    const kfe_i_kernel *kernel = &data->kernels->items[m];
    const kfe_i_table *view = &data->views[kernel->view];
    double *gate = NULL;

    if (!part->projection) {
        out->z[m] = kfe_i_table_slice(view, 0, view->rows);
    } else {
        KFE_TRY(kfe_i_table_new_dense(ctx, out->rows, part->dim, &out->z[m]));
        KFE_TRY(columns_times(ctx, part, kernel, data, part->projection, part->dim, out->z[m].values));
    }
    if (!part->gating)
        goto cleanup;
    KFE_ALLOC(ctx, gate, out->rows * local->gate_dim);
    KFE_TRY(columns_times(ctx, part, kernel, data, part->gating, local->gate_dim, gate));
    for (int64_t i = 0; i < out->rows * local->gate_dim; i++)
        out->gate[i] += gate[i];
cleanup:
    kfe_i_free(ctx, gate);
    return status;
}

static void open_gate(const kfe_i_local *local, kfe_i_local_places *out)
{
    int64_t parts = local->part_count;
    int64_t r = local->gate_dim;

    for (int64_t i = 0; i < out->rows; i++)
        for (int64_t m = 0; m < parts; m++)
            out->shares[i * parts + m] = kfe_i_gate_logit(local, m, out->gate + i * r);
    kfe_i_softmax_rows(out->rows, parts, out->shares);
}

kfe_status kfe_i_local_place(kfe_context *ctx, const kfe_i_local *local, const kfe_i_local_data *data,
                             kfe_i_local_places *out)
{
    kfe_status status = KFE_OK;
    int64_t rows = data->views[0].rows;

    *out = (kfe_i_local_places){.ctx = ctx, .rows = rows, .part_count = local->part_count};
    KFE_ALLOC_ZERO(ctx, out->z, local->part_count);
    KFE_ALLOC_ZERO(ctx, out->gate, rows * local->gate_dim);
    KFE_ALLOC(ctx, out->shares, rows * local->part_count);
    for (int64_t m = 0; m < local->part_count; m++)
        KFE_TRY(place_part(ctx, local, data, m, out));
    open_gate(local, out);
cleanup:
    return status;
}

void kfe_i_local_places_free(kfe_i_local_places *places)
{
    if (!places->ctx)
        return;
    for (int64_t m = 0; places->z && m < places->part_count; m++)
        kfe_i_table_free(&places->z[m]);
    kfe_i_free(places->ctx, places->z);
    kfe_i_free(places->ctx, places->gate);
    kfe_i_free(places->ctx, places->shares);
    memset(places, 0, sizeof *places);
}

/* ---- features ---- */

int64_t kfe_i_local_dim(const kfe_i_local *local)
{
    int64_t dim = 0;

    if (local->shows == KFE_LOCAL_GATE)
        return local->gate_dim;
    if (local->shows == KFE_LOCAL_SHARES)
        return local->part_count;
    for (int64_t m = 0; m < local->part_count; m++)
        dim += local->parts[m].dim;
    return dim;
}

static void show_gated(const kfe_i_local_places *places, int64_t dim, double *out)
{
    int64_t first = 0;

    for (int64_t m = 0; m < places->part_count; m++) {
        const kfe_i_table *z = &places->z[m];
        for (int64_t i = 0; i < places->rows; i++) {
            double *row = out + i * dim + first;
            kfe_i_table_dense_row(z, i, row);
            for (int64_t j = 0; j < z->cols; j++)
                row[j] *= places->shares[i * places->part_count + m];
        }
        first += z->cols;
    }
}

kfe_status kfe_i_local_features(kfe_context *ctx, const kfe_i_local *local, const kfe_i_local_data *data,
                                double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_local_places places = {0};
    int64_t dim = kfe_i_local_dim(local);

    KFE_TRY(kfe_i_local_place(ctx, local, data, &places));
    if (local->shows == KFE_LOCAL_GATED)
        show_gated(&places, dim, out);
    else
        memcpy(out, local->shows == KFE_LOCAL_GATE ? places.gate : places.shares,
               (size_t)(places.rows * dim) * sizeof *out);
cleanup:
    kfe_i_local_places_free(&places);
    return status;
}

/* ---- outputs ---- */

/* sum (rows × outputs) += η_m(x)·Σ_s η_m(x_s) weights_s κ_m(z(x_s), z(x)) */
static kfe_status add_part_outputs(kfe_context *ctx, const kfe_i_local *local, const kfe_i_kernel *kernel,
                                   const kfe_i_local_places *places, int64_t m, double *work, double *out)
{
    kfe_i_kernel alone = *kernel;
    kfe_i_kernel_list list = {.ctx = ctx, .items = &alone, .count = 1, .capacity = 1};
    double *coefficients = work;
    double *values = work + local->rows * local->outputs;
    kfe_status status;

    alone.view = 0;
    for (int64_t s = 0; s < local->rows; s++)
        for (int64_t o = 0; o < local->outputs; o++)
            coefficients[s * local->outputs + o] =
                local->shares[s * local->part_count + m] * local->weights[s * local->outputs + o];
    status = kfe_i_expand(ctx, &list, &places->z[m], &local->parts[m].support, coefficients, local->outputs,
                          values);
    for (int64_t i = 0; status == KFE_OK && i < places->rows; i++)
        for (int64_t o = 0; o < local->outputs; o++)
            out[i * local->outputs + o] +=
                places->shares[i * local->part_count + m] * values[i * local->outputs + o];
    return status;
}

kfe_status kfe_i_local_outputs(kfe_context *ctx, const kfe_i_local *local, const kfe_i_local_data *data,
                               double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_local_places places = {0};
    kfe_i_kernel linear = {0};
    double *work = NULL;

    KFE_TRY(kfe_i_kernel_parse(ctx, "linear", &linear));
    KFE_TRY(kfe_i_local_place(ctx, local, data, &places));
    KFE_ALLOC(ctx, work, (local->rows + places.rows) * local->outputs);
    for (int64_t i = 0; i < places.rows; i++)
        for (int64_t o = 0; o < local->outputs; o++)
            out[i * local->outputs + o] = -local->offset[o];
    for (int64_t m = 0; m < local->part_count; m++) {
        const kfe_i_kernel *kernel = local->parts[m].mapped ? &linear : &data->kernels->items[m];
        KFE_TRY(add_part_outputs(ctx, local, kernel, &places, m, work, out));
    }
cleanup:
    kfe_i_free(ctx, work);
    kfe_i_kernel_free(&linear);
    kfe_i_local_places_free(&places);
    return status;
}
