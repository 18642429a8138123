/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derivatives of the outputs of localized models (lmkl, sldr) by columns; called by gradient.c. With the names of
 * method/shared/local.h, coefficients c_s = η_m(x_s)·weights_s and g_m(x) = Σ_s c_s κ_m(z^m(x_s), z^m(x)),
 *
 *     output(x)  = Σ_m η_m(x) g_m(x) − offset,
 *     ∂output/∂x = Σ_m η_m(x) W_m ∂g_m/∂z^m + Σ_p T_p V a,   a_m = η_m(x)·(g_m(x) − Σ_k η_k(x) g_k(x)),
 *
 * where a are the derivatives by the logits of the gate.
 */
#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "explain/gradient.h"
#include "kernel/expansion.h"

/* Some examples of a localized model. */
typedef struct local_rows {
    kfe_i_gradient *g;
    const kfe_i_local *local;
    int64_t count;
    kfe_i_table *slices; /* one per view: the examples */
    kfe_i_local_places places;
    double *values;       /* parts × count × outputs: g_m */
    double *coefficients; /* support × outputs */
} local_rows;

static void rows_free(local_rows *r)
{
    kfe_context *ctx = r->g->ctx;

    kfe_i_local_places_free(&r->places);
    kfe_i_free(ctx, r->slices);
    kfe_i_free(ctx, r->values);
    kfe_i_free(ctx, r->coefficients);
}

static kfe_status begin(local_rows *r, int64_t first)
{
    kfe_status status = KFE_OK;
    kfe_i_gradient *g = r->g;
    kfe_i_local_data data = {.kernels = &g->model->kernels};

    KFE_ALLOC(g->ctx, r->slices, g->model->view_count);
    for (int v = 0; v < g->model->view_count; v++)
        r->slices[v] = kfe_i_table_slice(&g->scaled[v], first, r->count);
    data.views = r->slices;
    KFE_TRY(kfe_i_local_place(g->ctx, r->local, &data, &r->places));
    KFE_ALLOC(g->ctx, r->values, r->local->part_count * r->count * r->local->outputs);
    KFE_ALLOC(g->ctx, r->coefficients, r->local->rows * r->local->outputs);
cleanup:
    return status;
}

static void take_coefficients(const local_rows *r, int64_t m)
{
    const kfe_i_local *local = r->local;

    for (int64_t s = 0; s < local->rows; s++)
        for (int64_t o = 0; o < local->outputs; o++)
            r->coefficients[s * local->outputs + o] =
                local->shares[s * local->part_count + m] * local->weights[s * local->outputs + o];
}

static kfe_status part_values(const local_rows *r, int64_t m, double *out)
{
    kfe_i_kernel alone = r->g->model->kernels.items[m];
    kfe_i_kernel_list list = {.ctx = r->g->ctx, .items = &alone, .count = 1, .capacity = 1};

    alone.view = 0;
    return kfe_i_expand(r->g->ctx, &list, &r->places.z[m], &r->local->parts[m].support, r->coefficients,
                        r->local->outputs, out);
}

/* out (count × outputs × dim) = ∂g_m/∂z^m, times the share of the part. */
static kfe_status part_slopes(const local_rows *r, int64_t m, double *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = r->g->ctx;
    const kfe_i_local_part *part = &r->local->parts[m];
    kfe_i_expansion e = {.dim = r->local->outputs, .coefficients = r->coefficients};
    int64_t width = r->local->outputs * part->dim;

    memset(out, 0, (size_t)(r->count * width) * sizeof *out);
    KFE_TRY(kfe_i_dense_rows(ctx, &r->places.z[m], 0, r->count, &e.x));
    KFE_TRY(kfe_i_dense_rows(ctx, &part->support, 0, r->local->rows, &e.support));
    KFE_TRY(kfe_i_expansion_gradient(ctx, &r->g->model->kernels.items[m], &e, out));
    for (int64_t i = 0; i < r->count; i++)
        cblas_dscal((blasint)width, r->places.shares[i * r->local->part_count + m], out + i * width, 1);
cleanup:
    kfe_i_free(ctx, e.x.values);
    kfe_i_free(ctx, e.support.values);
    return status;
}

/* Adds what the projection of part m contributes. */
static kfe_status add_projection(const local_rows *r, int64_t m, double *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = r->g->ctx;
    const kfe_i_local_part *part = &r->local->parts[m];
    int64_t rows = r->count * r->local->outputs;
    double *slopes = NULL;
    double *columns = NULL;

    KFE_ALLOC(ctx, slopes, rows * part->dim);
    KFE_TRY(part_slopes(r, m, slopes));
    if (part->projection) {
        KFE_ALLOC(ctx, columns, rows * part->cols);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)part->cols,
                    (blasint)part->dim, 1, slopes, (blasint)part->dim, part->projection, (blasint)part->dim,
                    0, columns, (blasint)part->cols);
    }
    kfe_i_gradient_add(r->g, r->g->model->kernels.items[m].view, rows, columns ? columns : slopes, out);
cleanup:
    kfe_i_free(ctx, slopes);
    kfe_i_free(ctx, columns);
    return status;
}

/* out (count × outputs × gate_dim) = V a, the derivatives by the features of the gate. */
static void gate_slopes(const local_rows *r, double *out)
{
    const kfe_i_local *local = r->local;
    int64_t parts = local->part_count;
    int64_t outputs = local->outputs;

    memset(out, 0, (size_t)(r->count * outputs * local->gate_dim) * sizeof *out);
    for (int64_t p = 0; p < r->count * outputs; p++) {
        const double *shares = r->places.shares + p / outputs * parts;
        double mean = 0;
        for (int64_t m = 0; m < parts; m++)
            mean += shares[m] * r->values[m * r->count * outputs + p];
        for (int64_t m = 0; m < parts; m++) {
            double a = shares[m] * (r->values[m * r->count * outputs + p] - mean);
            if (!local->gate_weights)
                out[p * local->gate_dim + m] += a;
            for (int64_t d = 0; local->gate_weights && d < local->gate_dim; d++)
                out[p * local->gate_dim + d] += a * local->gate_weights[d * parts + m];
        }
    }
}

/* Adds what the gate contributes. */
static kfe_status add_gate(const local_rows *r, double *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = r->g->ctx;
    const kfe_i_local *local = r->local;
    int64_t rows = r->count * local->outputs;
    double *slopes = NULL;
    double *columns = NULL;

    KFE_ALLOC(ctx, slopes, rows * local->gate_dim);
    gate_slopes(r, slopes);
    for (int64_t m = 0; m < local->part_count; m++) {
        const kfe_i_local_part *part = &local->parts[m];
        if (!part->gating)
            continue;
        KFE_ALLOC(ctx, columns, rows * part->cols);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)part->cols,
                    (blasint)local->gate_dim, 1, slopes, (blasint)local->gate_dim, part->gating,
                    (blasint)local->gate_dim, 0, columns, (blasint)part->cols);
        kfe_i_gradient_add(r->g, r->g->model->kernels.items[m].view, rows, columns, out);
        kfe_i_free(ctx, columns);
        columns = NULL;
    }
cleanup:
    kfe_i_free(ctx, slopes);
    kfe_i_free(ctx, columns);
    return status;
}

const char *kfe_i_local_without_slope(const kfe_model *model)
{
    int of_outputs = 0;

    if (model->predictor.kind != KFE_PREDICTOR_DIRECT ||
        kfe_i_gradient_values(model, &of_outputs) != model->local->outputs)
        return "of a learner on the features of a localized model";
    for (int64_t m = 0; m < model->local->part_count; m++)
        if (model->local->parts[m].mapped)
            return "of a localized model whose kernels have none";
    return NULL;
}

kfe_status kfe_i_gradient_local(kfe_i_gradient *g, int64_t first, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    local_rows r = {.g = g, .local = g->model->local, .count = count};

    memset(out, 0, (size_t)(count * r.local->outputs * g->cols) * sizeof *out);
    KFE_TRY(begin(&r, first));
    for (int64_t m = 0; m < r.local->part_count; m++) {
        take_coefficients(&r, m);
        KFE_TRY(part_values(&r, m, r.values + m * count * r.local->outputs));
        KFE_TRY(add_projection(&r, m, out));
    }
    KFE_TRY(add_gate(&r, out));
cleanup:
    rows_free(&r);
    return status;
}
