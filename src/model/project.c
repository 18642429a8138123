/* SPDX-License-Identifier: Apache-2.0 */
/* The one transform: scale, multiply with the kernel (or the columns), subtract the offset. */
#include <stdio.h>
#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "data/rows/fingerprint.h"
#include "gram/place.h"
#include "linalg/linalg.h"
#include "model/identity.h"
#include "model/linear.h"
#include "model/model.h"
#include "model/overflow.h"
#include "model/prepare.h"

/* Columns in another order would be mistaken for each other silently. */
static kfe_status check_names(kfe_context *ctx, const kfe_i_model_view *expected, const kfe_i_view *given)
{
    for (int64_t j = 0; expected->column_names && given->column_names && j < expected->cols; j++) {
        const char *wanted = expected->column_names[j];
        const char *found = given->column_names[j] ? given->column_names[j] : "";
        if (*wanted && *found && strcmp(wanted, found) != 0)
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "%s: column %lld is '%s', but the model was fitted on '%s' there; give the "
                              "same columns in the same order (see {label} if one of them is the label)",
                              kfe_i_view_shown(given), (long long)j + 1, found, wanted);
    }
    return KFE_OK;
}

static kfe_status check_view(kfe_context *ctx, const kfe_i_model_view *expected, const kfe_i_view *given)
{
    int strings = given->table.kind == KFE_TABLE_TEXT;

    if (strings != expected->strings)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: the model works on %s, but the data holds %s",
                          kfe_i_view_shown(given), expected->strings ? "strings" : "numbers",
                          strings ? "strings" : "numbers");
    if (!strings && given->table.cols != expected->cols)
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "%s: the model was fitted on %lld columns, but the data has %lld; give the same columns in the "
            "same order (see {label} if one of them is the label, {id} and {drop} if one is not a feature)",
            kfe_i_view_shown(given), (long long)expected->cols, (long long)given->table.cols);
    return check_names(ctx, expected, given);
}

kfe_status kfe_i_model_check_kernels(kfe_context *ctx, const kfe_model *model)
{
    for (int64_t m = 0; m < model->kernels.count; m++)
        if (model->kernels.items[m].def->base == KFE_BASE_USER && !model->kernels.items[m].user_function)
            return kfe_i_fail(ctx, KFE_EINVAL,
                              "the model's kernel '%s' is a user function; bind it with {bind-kernel}",
                              model->kernels.items[m].user_name);
    return KFE_OK;
}

kfe_status kfe_i_model_check(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_status status = KFE_OK;

    if (data->view_count != model->view_count)
        KFE_FAIL(ctx, KFE_EINPUT, "the model was fitted on %d views, but the data has %d", model->view_count,
                 data->view_count);
    for (int v = 0; v < model->view_count; v++) {
        KFE_TRY(check_view(ctx, &model->views[v], &data->views[v]));
        if (!model->views[v].scaler.fill)
            KFE_TRY(kfe_i_table_check_finite_from(ctx, &data->views[v].table,
                                                  kfe_i_view_shown(&data->views[v]), data->first_row));
    }
    KFE_TRY(kfe_i_model_check_kernels(ctx, model));
cleanup:
    return status;
}

static void subtract_offset(const kfe_model *model, int64_t rows, double *out)
{
    for (int64_t i = 0; model->offset && i < rows; i++)
        for (int64_t j = 0; j < model->dim; j++)
            out[i * model->dim + j] -= model->offset[j];
}

kfe_status kfe_i_model_scale(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                             kfe_i_table *scaled)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_model_check(ctx, model, data));
    for (int v = 0; v < model->view_count; v++)
        KFE_TRY(kfe_i_view_scale(ctx, &model->views[v].scaler, data, v, &scaled[v]));
cleanup:
    return status;
}

/* Owned tables for all views of `data`; `release` also after a failure. */
static kfe_status prepare(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_i_ready *ready)
{
    kfe_status status = KFE_OK;

    ready->model = model;
    KFE_ALLOC_ZERO(ctx, ready->scaled, model->view_count);
    KFE_ALLOC_ZERO(ctx, ready->supports, model->view_count);
    KFE_TRY(kfe_i_model_scale(ctx, model, data, ready->scaled));
    kfe_i_ready_supports(ready);
    ready->given = data->views;
    ready->first_row = data->first_row;
cleanup:
    return status;
}

static void release(kfe_context *ctx, kfe_i_ready *ready)
{
    for (int v = 0; ready->scaled && v < ready->model->view_count; v++)
        kfe_i_table_free(&ready->scaled[v]);
    kfe_i_free(ctx, ready->scaled);
    kfe_i_free(ctx, ready->supports);
}

void kfe_i_ready_supports(kfe_i_ready *ready)
{
    for (int v = 0; v < ready->model->view_count; v++)
        ready->supports[v] = ready->model->views[v].support;
}

static kfe_i_local_data local_data(const kfe_i_ready *ready)
{
    return (kfe_i_local_data){
        .kernels = &ready->model->kernels, .views = ready->scaled, .support = ready->supports};
}

static kfe_status project(kfe_context *ctx, const kfe_i_ready *ready, double *out)
{
    const kfe_model *model = ready->model;
    const kfe_i_table *first = &ready->scaled[0];
    kfe_i_local_data local = local_data(ready);

    assert(model->projector != KFE_PROJECT_IDENTITY || model->dim == first->cols);
    assert(model->projector != KFE_PROJECT_LOCAL || model->local);
    assert(model->projector != KFE_PROJECT_TREE || model->tree);
    switch (model->projector) {
    case KFE_PROJECT_LINEAR:
        kfe_i_tables_times(ctx, ready->scaled, model->view_count, model->coefficients, model->dim, out);
        return kfe_i_nipals_features(ctx, &model->nipals, first, model->offset, out);
    case KFE_PROJECT_KERNEL:
        return kfe_i_expand_anywhere(ctx, &model->kernels, ready->scaled, ready->supports,
                                     model->coefficients, model->dim, out);
    case KFE_PROJECT_VIEWS:
        return kfe_i_expand_by_view(ctx, &model->kernels, ready->scaled, ready->supports, model->coefficients,
                                    model->dim, out);
    case KFE_PROJECT_LOCAL:
        return kfe_i_local_features(ctx, model->local, &local, out);
    case KFE_PROJECT_TREE:
        return kfe_i_tree_features(ctx, model->tree, &model->kernels, first, out);
    case KFE_PROJECT_IDENTITY:
        for (int64_t i = 0; i < first->rows; i++)
            kfe_i_table_dense_row(first, i, out + i * model->dim);
    }
    return KFE_OK;
}

kfe_status kfe_i_ready_features(kfe_context *ctx, const kfe_i_ready *ready, double *out)
{
    int64_t rows = ready->scaled[0].rows;
    kfe_status status = project(ctx, ready, out);

    if (status != KFE_OK)
        return status;
    subtract_offset(ready->model, rows, out);
    return kfe_i_refuse_overflow(ctx, ready, out, rows, ready->model->dim);
}

kfe_status kfe_i_ready_outputs(kfe_context *ctx, const kfe_i_ready *ready, double *features, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = ready->model;
    kfe_i_table table = {.kind = KFE_TABLE_DENSE, .values = features};
    kfe_i_local_data local = local_data(ready);

    /* The decision values of a localized model are not made from the features that it shows. */
    table.rows = ready->scaled[0].rows;
    table.cols = table.stride = model->dim;
    if (model->projector == KFE_PROJECT_LOCAL && model->predictor.kind == KFE_PREDICTOR_DIRECT) {
        KFE_TRY(kfe_i_local_outputs(ctx, model->local, &local, out));
    } else {
        KFE_TRY(kfe_i_ready_features(ctx, ready, features));
        KFE_TRY(kfe_i_predictor_outputs(ctx, &model->predictor, &table, out));
    }
    KFE_TRY(kfe_i_refuse_overflow(ctx, ready, out, table.rows, model->predictor.outputs));
cleanup:
    return status;
}

/* Rows per block when single precision is converted. */
enum { BLOCK_ROWS = 4096 };

static int has_singles(const kfe_data *data)
{
    for (int v = 0; v < data->view_count; v++)
        if (data->views[v].table.singles)
            return 1;
    return 0;
}

/* Computes `cols` numbers for each row of a block. */
typedef kfe_status (*rows_fn)(kfe_context *ctx, const kfe_model *model, const kfe_data *rows, double *out);

/* Computes data in single precision block by block, so that doubles of all rows never exist. */
static kfe_status by_blocks(kfe_context *ctx, const kfe_model *model, const kfe_data *data, rows_fn compute,
                            int64_t cols, double *out)
{
    kfe_status status = KFE_OK;
    kfe_data block = *data;
    int64_t rows = kfe_data_rows(data);

    KFE_ALLOC(ctx, block.views, data->view_count);
    for (int64_t first = 0; first < rows; first += BLOCK_ROWS) {
        int64_t count = rows - first < BLOCK_ROWS ? rows - first : BLOCK_ROWS;
        for (int v = 0; v < data->view_count; v++) {
            block.views[v] = data->views[v];
            block.views[v].table = kfe_i_table_slice(&data->views[v].table, first, count);
        }
        block.first_row = data->first_row + first;
        KFE_TRY(compute(ctx, model, &block, out + first * cols));
    }
cleanup:
    kfe_i_free(ctx, block.views);
    return status;
}

static int is_computed_by_blocks(const kfe_data *data)
{
    for (int v = 0; v < data->view_count; v++)
        if (data->views[v].gaps.row_start)
            return 0; /* they count the rows of the whole table */
    return has_singles(data) && kfe_data_rows(data) > BLOCK_ROWS;
}

/* With this many rows or more, the processes of a cluster divide them. */
enum { DIVIDED_ROWS = 512 };

static int is_divided(const kfe_context *ctx, const kfe_data *data)
{
    for (int v = 0; v < data->view_count; v++)
        if (data->views[v].gaps.row_start)
            return 0; /* they count the rows of the whole table */
    return kfe_i_processes(ctx) > 1 && kfe_data_rows(data) >= DIVIDED_ROWS;
}

/* Rows of two models or of two tables must not come together. */
static kfe_status check_same_model(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    char text[160];
    int64_t count = model->coefficients ? kfe_i_model_blocks(model) * model->rows * model->dim : 0;

    (void)snprintf(text, sizeof text, "%.80s dim=%lld model=%016llx", model->method, (long long)model->dim,
                   (unsigned long long)kfe_i_numbers_fingerprint(model->coefficients, count));
    return kfe_i_check_same_call(ctx, &(kfe_i_call){.name = "apply", .options = text}, data);
}

/* Every process computes its rows, and gets those of the others. */
static kfe_status by_processes(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                               rows_fn compute, int64_t cols, double *out)
{
    kfe_status status = KFE_OK;
    kfe_data own = *data;
    kfe_i_share share = kfe_i_own_share(ctx);
    int64_t rows = kfe_data_rows(data);
    int64_t first = kfe_i_share_begin(rows, share.part, share.parts);
    int64_t count = kfe_i_share_begin(rows, share.part + 1, share.parts) - first;

    own.views = NULL;
    KFE_TRY(check_same_model(ctx, model, data));
    KFE_ALLOC(ctx, own.views, data->view_count);
    for (int v = 0; v < data->view_count; v++) {
        own.views[v] = data->views[v];
        own.views[v].table = kfe_i_table_slice(&data->views[v].table, first, count);
    }
    own.first_row = data->first_row + first;
    kfe_i_cluster *cluster = kfe_i_cluster_pause(ctx);
    status = compute(ctx, model, &own, out + first * cols);
    kfe_i_cluster_resume(ctx, cluster);
    if (status == KFE_OK)
        status = kfe_i_cluster_gather_rows(ctx, out, rows, cols);
cleanup:
    kfe_i_free(ctx, own.views);
    return status;
}

kfe_status kfe_i_model_project(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_ready ready = {0};

    if (is_divided(ctx, data))
        return by_processes(ctx, model, data, kfe_i_model_project, model->dim, out);
    if (is_computed_by_blocks(data))
        return by_blocks(ctx, model, data, kfe_i_model_project, model->dim, out);

    KFE_TRY(prepare(ctx, model, data, &ready));
    KFE_TRY(kfe_i_ready_features(ctx, &ready, out));
cleanup:
    release(ctx, &ready);
    return status;
}

kfe_status kfe_i_model_features(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    if (model->projector == KFE_PROJECT_IDENTITY) { /* of one view: sparse columns stay sparse */
        KFE_TRY(kfe_i_model_scale(ctx, model, data, out));
        return kfe_i_refuse_scaled(ctx, kfe_i_view_shown(&data->views[0]), data->first_row, out);
    }
    KFE_TRY(kfe_i_table_new_dense(ctx, kfe_data_rows(data), model->dim, out));
    KFE_TRY(kfe_i_model_project(ctx, model, data, out->values));
cleanup:
    return status;
}

/* The features of the identity stay sparse. */
static kfe_status identity_outputs(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                   double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table scaled = {0};
    const kfe_i_ready ready = {model, &scaled, NULL, data->views, data->first_row};

    KFE_TRY(kfe_i_model_features(ctx, model, data, &scaled));
    KFE_TRY(kfe_i_predictor_outputs(ctx, &model->predictor, &scaled, out));
    KFE_TRY(kfe_i_refuse_overflow(ctx, &ready, out, scaled.rows, model->predictor.outputs));
cleanup:
    kfe_i_table_free(&scaled);
    return status;
}

kfe_status kfe_i_model_outputs(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_ready ready = {0};
    double *features = NULL;

    if (is_divided(ctx, data))
        return by_processes(ctx, model, data, kfe_i_model_outputs, model->predictor.outputs, out);
    if (is_computed_by_blocks(data))
        return by_blocks(ctx, model, data, kfe_i_model_outputs, model->predictor.outputs, out);
    if (model->projector == KFE_PROJECT_IDENTITY)
        return identity_outputs(ctx, model, data, out);
    KFE_ALLOC(ctx, features, kfe_data_rows(data) * model->dim);
    KFE_TRY(prepare(ctx, model, data, &ready));
    KFE_TRY(kfe_i_ready_outputs(ctx, &ready, features, out));
cleanup:
    release(ctx, &ready);
    kfe_i_free(ctx, features);
    return status;
}

double kfe_i_model_row_work(const kfe_model *model)
{
    enum { PER_CALL = 1000, PER_COLUMN = 20 }; /* reading, scaling and deciding */
    double columns = (double)kfe_i_model_all_cols(model);
    double predictor = (double)model->predictor.rows * (double)model->predictor.dim;
    double parts = model->local ? (double)model->local->rows * (double)model->local->part_count : 0;
    double support = kfe_i_projector_has_kernels(model->projector)
                         ? (double)model->rows
                         : 0; /* of a linear model, rows are its columns */

    return PER_CALL + PER_COLUMN * columns + columns * (support + parts) + predictor +
           (double)(model->rows * kfe_i_model_blocks(model)) * (double)model->dim;
}
