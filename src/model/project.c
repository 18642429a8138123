/* SPDX-License-Identifier: Apache-2.0 */
/* The one transform: scale, multiply with the kernel (or the columns), subtract the offset. */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/dense/linalg.h"
#include "kernel/expansion.h"
#include "model/model.h"

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
            "same order (see {label} if one of them is the label)",
            kfe_i_view_shown(given), (long long)expected->cols, (long long)given->table.cols);
    return check_names(ctx, expected, given);
}

static kfe_status check_data(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_status status = KFE_OK;

    if (data->view_count != model->view_count)
        KFE_FAIL(ctx, KFE_EINPUT, "the model was fitted on %d views, but the data has %d", model->view_count,
                 data->view_count);
    for (int v = 0; v < model->view_count; v++) {
        KFE_TRY(check_view(ctx, &model->views[v], &data->views[v]));
        if (!model->views[v].scaler.fill)
            KFE_TRY(kfe_i_table_check_finite(ctx, &data->views[v].table, kfe_i_view_shown(&data->views[v])));
    }
    for (int64_t m = 0; m < model->kernels.count; m++)
        if (model->kernels.items[m].def->base == KFE_BASE_USER && !model->kernels.items[m].user_function)
            KFE_FAIL(ctx, KFE_EINVAL,
                     "the model's kernel '%s' is a user function; bind it with {bind-kernel}",
                     model->kernels.items[m].user_name);
cleanup:
    return status;
}

static void subtract_offset(const kfe_model *model, int64_t rows, double *out)
{
    for (int64_t i = 0; model->offset && i < rows; i++)
        for (int64_t j = 0; j < model->dim; j++)
            out[i * model->dim + j] -= model->offset[j];
}

/* Checks the data against the model and scales it as the training data was: one table per view. */
static kfe_status check_and_scale(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                  kfe_i_table *scaled)
{
    kfe_status status = KFE_OK;

    KFE_TRY(check_data(ctx, model, data));
    for (int v = 0; v < model->view_count; v++)
        KFE_TRY(kfe_i_fill_scaler_apply(ctx, &model->views[v].scaler, &data->views[v].table,
                                        &data->views[v].gaps, &scaled[v]));
cleanup:
    return status;
}

/* Scaled data and the support examples that it is compared with, one table per view each. Set the first two fields
 * before `prepare`; call `release` also after a failure. */
typedef struct prepared {
    kfe_context *ctx;
    const kfe_model *model;
    kfe_i_table *scaled;
    kfe_i_table *supports; /* borrowed from the model */
} prepared;

static kfe_status prepare(prepared *p, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    int views = p->model->view_count;

    KFE_ALLOC_ZERO(p->ctx, p->scaled, views);
    KFE_ALLOC_ZERO(p->ctx, p->supports, views);
    KFE_TRY(check_and_scale(p->ctx, p->model, data, p->scaled));
    for (int v = 0; v < views; v++)
        p->supports[v] = p->model->views[v].support;
cleanup:
    return status;
}

static void release(prepared *p)
{
    for (int v = 0; p->scaled && v < p->model->view_count; v++)
        kfe_i_table_free(&p->scaled[v]);
    kfe_i_free(p->ctx, p->scaled);
    kfe_i_free(p->ctx, p->supports);
}

static kfe_i_local_data local_data(const prepared *p)
{
    return (kfe_i_local_data){.kernels = &p->model->kernels, .views = p->scaled, .landmarks = p->supports};
}

static kfe_status project(const prepared *p, double *out)
{
    const kfe_model *model = p->model;
    kfe_i_local_data local = local_data(p);

    assert(model->projector != KFE_PROJECT_LINEAR || model->rows == p->scaled[0].cols);
    assert(model->projector != KFE_PROJECT_IDENTITY || model->dim == p->scaled[0].cols);
    assert(model->projector != KFE_PROJECT_LOCAL || model->local);
    switch (model->projector) {
    case KFE_PROJECT_LINEAR:
        return kfe_i_table_times(p->ctx, &p->scaled[0], model->coefficients, model->dim, out);
    case KFE_PROJECT_KERNEL:
        return kfe_i_expand(p->ctx, &model->kernels, p->scaled, p->supports, model->coefficients, model->dim,
                            out);
    case KFE_PROJECT_LOCAL:
        return kfe_i_local_features(p->ctx, model->local, &local, out);
    case KFE_PROJECT_IDENTITY:
        for (int64_t i = 0; i < p->scaled[0].rows; i++)
            kfe_i_table_dense_row(&p->scaled[0], i, out + i * model->dim);
    }
    return KFE_OK;
}

kfe_status kfe_i_model_project(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out)
{
    kfe_status status = KFE_OK;
    prepared p = {.ctx = ctx, .model = model};

    KFE_TRY(prepare(&p, data));
    KFE_TRY(project(&p, out));
    subtract_offset(model, kfe_data_rows(data), out);
cleanup:
    release(&p);
    return status;
}

/* The decision values of a localized model are not made from the features that it shows. */
static kfe_status local_outputs(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out)
{
    kfe_status status = KFE_OK;
    prepared p = {.ctx = ctx, .model = model};
    kfe_i_local_data local;

    KFE_TRY(prepare(&p, data));
    local = local_data(&p);
    KFE_TRY(kfe_i_local_outputs(ctx, model->local, &local, out));
cleanup:
    release(&p);
    return status;
}

kfe_status kfe_i_model_features(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    if (model->projector == KFE_PROJECT_IDENTITY) /* of one view: sparse columns stay sparse */
        return check_and_scale(ctx, model, data, out);
    KFE_TRY(kfe_i_table_new_dense(ctx, kfe_data_rows(data), model->dim, out));
    KFE_TRY(kfe_i_model_project(ctx, model, data, out->values));
cleanup:
    return status;
}

kfe_status kfe_i_model_outputs(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table features = {0};

    if (model->projector == KFE_PROJECT_LOCAL && model->predictor.kind == KFE_PREDICTOR_DIRECT)
        return local_outputs(ctx, model, data, out);
    KFE_TRY(kfe_i_model_features(ctx, model, data, &features));
    KFE_TRY(kfe_i_predictor_outputs(ctx, &model->predictor, &features, out));
cleanup:
    kfe_i_table_free(&features);
    return status;
}
