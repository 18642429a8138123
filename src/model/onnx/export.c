/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model as an ONNX file, for programs that serve models without kfe: kfe_model_export_onnx. The graph does what transform and
 * predict do:
 *
 *   inputs     X, or one input per view, with the columns that the model was fitted on; NaN where a value is missing. Text columns
 *              are an input of their own (inputs.c)
 *   outputs    features; with a predictor also scores (decision values), and label (names of classes) or prediction; with a calibration
 *              also probabilities
 */
#include <math.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/param.h"
#include "model/chain_views.h"
#include "model/onnx/parts.h"

/* A protocol buffer holds at most 2 GiB. */
static const int64_t largest_file = ((int64_t)1 << 31) - 1;

typedef struct onnx_settings {
    int precision;
} onnx_settings;

static const kfe_i_param rows[] = {
    KFE_CHOICE(onnx_settings, precision, "precision", "float", "float|double", "type of all numbers"),
};
static const kfe_i_param_table params = KFE_PARAM_TABLE(rows, onnx_settings);

/* ---- what can be exported ---- */

static kfe_status check_views(kfe_context *ctx, const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].strings)
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "a model of strings cannot be exported to ONNX, whose operations take numbers");
    return KFE_OK;
}

static kfe_status check_model(kfe_context *ctx, const kfe_model *model)
{
    kfe_status status = KFE_OK;

    KFE_TRY(check_views(ctx, model));
    for (int64_t m = 0; m < model->kernels.count; m++)
        KFE_TRY(kfe_i_onnx_check_kernel(ctx, &model->kernels.items[m]));
    if ((model->projector == KFE_PROJECT_KERNEL || model->projector == KFE_PROJECT_VIEWS) && model->rows == 0)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "the model has no support examples: its features are constant, and it is not exported");
cleanup:
    return status;
}

/* ---- fills and scaling ---- */

/* Rows to length 1; rows of zeros stay. The largest magnitude is divided out first, as nothing may overflow. */
static kfe_i_value unit_rows(kfe_i_onnx *onnx, kfe_i_value x)
{
    kfe_i_value zero = kfe_i_onnx_number(onnx, 0);
    kfe_i_value reach = kfe_i_onnx_row_reach(onnx, x);
    kfe_i_value part = kfe_i_onnx_2(onnx, "Div", x, reach);
    kfe_i_value square = kfe_i_onnx_sum(onnx, kfe_i_onnx_2(onnx, "Mul", part, part), 1, 1);
    kfe_i_value unit = kfe_i_onnx_2(onnx, "Div", part, kfe_i_onnx_1(onnx, "Sqrt", square));

    return kfe_i_onnx_3(onnx, "Where", kfe_i_onnx_2(onnx, "Greater", reach, zero), unit, x);
}

kfe_i_value kfe_i_onnx_mapped(kfe_i_onnx *onnx, const kfe_i_map *map, kfe_i_value x)
{
    if (!map->values)
        return x;
    if (map->diagonal)
        return kfe_i_onnx_2(onnx, "Mul", x, kfe_i_onnx_row(onnx, map->values, map->rows));
    return kfe_i_onnx_affine(onnx, x, map->values, map->rows, map->cols, NULL);
}

static kfe_i_value filled(kfe_i_onnx *onnx, const kfe_i_scaler *scaler, kfe_i_value x)
{
    if (!scaler->fill || scaler->fill_kind == KFE_FILL_NIPALS)
        return x;
    return kfe_i_onnx_3(onnx, "Where", kfe_i_onnx_1(onnx, "IsNaN", x),
                        kfe_i_onnx_row(onnx, scaler->fill, scaler->cols), x);
}

static kfe_i_value scaled(kfe_i_onnx *onnx, const kfe_i_scaler *scaler, kfe_i_value x)
{
    int64_t cols = kfe_i_scaler_prepared(scaler);

    if (scaler->kind == KFE_SCALE_L2_ROWS)
        x = unit_rows(onnx, x);
    if (scaler->shift)
        x = kfe_i_onnx_2(onnx, "Sub", x, kfe_i_onnx_row(onnx, scaler->shift, cols));
    if (scaler->factor)
        x = kfe_i_onnx_2(onnx, "Mul", x, kfe_i_onnx_row(onnx, scaler->factor, cols));
    return kfe_i_onnx_mapped(onnx, &scaler->map, x);
}

/* ---- features and predictions ---- */

/* *out = the sum of the kernels first … last − 1, one value per support example */
static kfe_status kernel_sum(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_value *x, int64_t first,
                             int64_t last, kfe_i_value *out)
{
    kfe_status status = KFE_OK;

    for (int64_t m = first; m < last; m++) {
        const kfe_i_kernel *kernel = &model->kernels.items[m];
        kfe_i_value values;
        KFE_TRY(
            kfe_i_onnx_kernel(onnx, kernel, x[kernel->view], &model->views[kernel->view].support, &values));
        *out = m > first ? kfe_i_onnx_2(onnx, "Add", *out, values) : values;
    }
cleanup:
    return status;
}

static kfe_status kernel_features(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_value *x,
                                  kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value sum = 0;

    KFE_TRY(kernel_sum(onnx, model, x, 0, model->kernels.count, &sum));
    *out = kfe_i_onnx_affine(onnx, sum, model->coefficients, model->rows, model->dim, model->offset);
cleanup:
    return status;
}

/* Coefficients of their own for each view, whose kernels stand together in the list. */
static kfe_status view_features(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_value *x,
                                kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *items = model->kernels.items;
    kfe_i_value sum = 0;

    for (int64_t first = 0, last = 0; first < model->kernels.count; first = last) {
        int view = items[first].view;
        while (last < model->kernels.count && items[last].view == view)
            last++;
        KFE_TRY(kernel_sum(onnx, model, x, first, last, &sum));
        kfe_i_value part = kfe_i_onnx_affine(onnx, sum, model->coefficients + view * model->rows * model->dim,
                                             model->rows, model->dim, first ? NULL : model->offset);
        *out = first ? kfe_i_onnx_2(onnx, "Add", *out, part) : part;
    }
cleanup:
    return status;
}

/* Each view by the coefficients on its columns. */
static void linear_features(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_value *x, kfe_i_value *out)
{
    const double *coefficients = model->coefficients;

    for (int v = 0; v < model->view_count; v++) {
        int64_t cols = model->view_count == 1 ? model->rows : kfe_i_view_prepared_cols(&model->views[v]);
        kfe_i_value part =
            kfe_i_onnx_affine(onnx, x[v], coefficients, cols, model->dim, v ? NULL : model->offset);
        *out = v ? kfe_i_onnx_2(onnx, "Add", *out, part) : part;
        coefficients += cols * model->dim;
    }
}

/* Features of rows with missing values, as nipals.h says, instead of those that are given for rows without. */
static kfe_status observed_features(kfe_i_onnx *onnx, const kfe_i_nipals *n, kfe_i_value x,
                                    kfe_i_value complete, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value *scores = NULL;
    double *squares = NULL;
    kfe_i_value zero = kfe_i_onnx_number(onnx, 0);
    kfe_i_value gaps = kfe_i_onnx_1(onnx, "IsNaN", x);
    kfe_i_value there = kfe_i_onnx_cast(onnx, kfe_i_onnx_1(onnx, "Not", gaps));
    kfe_i_value missing = kfe_i_onnx_sum(onnx, kfe_i_onnx_cast(onnx, gaps), 1, 1);
    kfe_i_value centred = kfe_i_onnx_2(onnx, "Sub", x, kfe_i_onnx_row(onnx, n->means, n->cols));
    kfe_i_value rest = kfe_i_onnx_3(onnx, "Where", gaps, zero, centred);

    KFE_ALLOC(onnx->ctx, scores, n->dim);
    KFE_ALLOC(onnx->ctx, squares, n->cols);
    for (int64_t s = 0; s < n->dim; s++) {
        const double *w = n->weights + s * n->cols;
        double square = 0;
        for (int64_t j = 0; j < n->cols; j++) {
            squares[j] = w[j] * w[j];
            square += squares[j];
        }
        kfe_i_value along = kfe_i_onnx_2(onnx, "MatMul", rest, kfe_i_onnx_matrix(onnx, w, n->cols, 1));
        kfe_i_value seen = kfe_i_onnx_2(onnx, "MatMul", there, kfe_i_onnx_matrix(onnx, squares, n->cols, 1));
        kfe_i_value least = kfe_i_onnx_number(onnx, KFE_LEAST_OBSERVED * square);
        kfe_i_value t = kfe_i_onnx_3(onnx, "Where", kfe_i_onnx_2(onnx, "Greater", seen, least),
                                     kfe_i_onnx_2(onnx, "Div", along, seen), zero);
        kfe_i_value loading = kfe_i_onnx_matrix(onnx, n->loadings + s * n->cols, 1, n->cols);
        kfe_i_value part = kfe_i_onnx_2(onnx, "MatMul", t, loading);
        rest = kfe_i_onnx_2(onnx, "Sub", rest, kfe_i_onnx_2(onnx, "Mul", there, part));
        scores[n->places[s]] = t;
    }
    kfe_i_value all = kfe_i_onnx_concat(onnx, scores, n->dim, 1);
    *out = kfe_i_onnx_3(onnx, "Where", kfe_i_onnx_2(onnx, "Greater", missing, zero), all, complete);
cleanup:
    kfe_i_free(onnx->ctx, scores);
    kfe_i_free(onnx->ctx, squares);
    return status;
}

static kfe_status project(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_value *x,
                          kfe_i_value *features, kfe_i_value *outputs)
{
    switch (model->projector) {
    case KFE_PROJECT_LINEAR:
        linear_features(onnx, model, x, features);
        return model->nipals.dim > 0 ? observed_features(onnx, &model->nipals, x[0], *features, features)
                                     : KFE_OK;
    case KFE_PROJECT_KERNEL:
        return kernel_features(onnx, model, x, features);
    case KFE_PROJECT_VIEWS:
        return view_features(onnx, model, x, features);
    case KFE_PROJECT_LOCAL:
        return kfe_i_onnx_local(onnx, model, x, features, outputs);
    case KFE_PROJECT_TREE:
        return kfe_i_onnx_tree(onnx, model, x[0], features);
    case KFE_PROJECT_IDENTITY:
        *features = x[0];
        if (model->offset)
            *features = kfe_i_onnx_2(onnx, "Sub", x[0], kfe_i_onnx_row(onnx, model->offset, model->dim));
    }
    return KFE_OK;
}

static kfe_status declare_answers(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value outputs)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &model->predictor;
    kfe_i_value probabilities = 0;
    char empty[] = "";
    char *const none[] = {empty}; /* the label of rows that are too large to compute with */

    if (predictor->classes == 0) {
        kfe_i_onnx_output(onnx, "prediction", outputs, onnx->type, predictor->outputs);
        return KFE_OK;
    }
    kfe_i_value names = kfe_i_onnx_strings(onnx, model->target.class_names, predictor->classes);
    kfe_i_value label = kfe_i_onnx_gather(onnx, names, kfe_i_onnx_decide(onnx, predictor, outputs), 0);
    kfe_i_value known =
        kfe_i_onnx_2(onnx, "Equal", kfe_i_onnx_guard(onnx, outputs, 0), kfe_i_onnx_number(onnx, 0));
    label = kfe_i_onnx_3(onnx, "Where", known, label, kfe_i_onnx_strings(onnx, none, 1));
    kfe_i_onnx_output(onnx, "label", label, KFE_ONNX_STRING, 0);
    kfe_i_onnx_output(onnx, "scores", outputs, onnx->type, predictor->outputs);
    if (model->calibration.kind == KFE_CALIBRATION_NONE)
        return KFE_OK;
    KFE_TRY(kfe_i_onnx_probabilities(onnx, model, outputs, &probabilities));
    kfe_i_onnx_output(onnx, "probabilities", probabilities, onnx->type, predictor->classes);
cleanup:
    return status;
}

static kfe_status fill_graph(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value *x)
{
    kfe_status status = KFE_OK;
    kfe_i_value features = 0;
    kfe_i_value outputs = -1;

    KFE_TRY(kfe_i_onnx_inputs(onnx, model, x));
    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_scaler *scaler = &model->views[v].scaler;
        x[v] = filled(onnx, scaler, x[v]);
        KFE_TRY(kfe_i_onnx_steps(onnx, &scaler->chain, &x[v]));
        x[v] = scaled(onnx, scaler, x[v]);
    }
    KFE_TRY(project(onnx, model, x, &features, &outputs));
    if (model->learner) {
        if (outputs < 0)
            KFE_TRY(kfe_i_onnx_predictor(onnx, &model->predictor, features, &outputs));
        outputs = kfe_i_onnx_2(onnx, "Add", outputs, kfe_i_onnx_guard(onnx, features, 1));
        KFE_TRY(declare_answers(onnx, model, outputs));
    }
    kfe_i_onnx_output(onnx, "features", features, onnx->type, model->dim);
cleanup:
    return status;
}

/* What made the model, for programs that show it. */
static kfe_status add_metadata(kfe_i_onnx *onnx, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    char *kernel = NULL;

    kfe_i_onnx_metadata(onnx, "method", model->method);
    kfe_i_onnx_metadata(onnx, "params", model->params ? model->params : "");
    for (int64_t m = 0; m < model->kernels.count; m++) {
        char key[32];
        kfe_i_free(onnx->ctx, kernel);
        KFE_TRY(kfe_i_kernel_text(onnx->ctx, &model->kernels.items[m], &kernel));
        snprintf(key, sizeof key, "kernel%lld", (long long)m + 1);
        kfe_i_onnx_metadata(onnx, key, kernel);
    }
    if (model->learner)
        kfe_i_onnx_metadata(onnx, "learner", model->learner);
    if (model->conformal.kind != KFE_CONFORMAL_NONE)
        kfe_i_log(onnx->ctx, KFE_LOG_INFO,
                  "the ONNX file predicts without intervals, which need the models of the folds");
cleanup:
    kfe_i_free(onnx->ctx, kernel);
    return status;
}

/* The file in `onnx->bytes`, which the caller frees also after a failure. */
static kfe_status export_model(kfe_context *ctx, const kfe_model *model, const char *options,
                               kfe_i_onnx *onnx)
{
    kfe_status status = KFE_OK;
    onnx_settings settings;
    kfe_i_value *x = NULL;

    KFE_TRY(kfe_i_params_default(ctx, &params, &settings));
    KFE_TRY(kfe_i_params_parse(ctx, &params, NULL, &settings, options));
    KFE_TRY(check_model(ctx, model));
    KFE_ALLOC_ZERO(ctx, x, model->view_count);
    kfe_i_onnx_begin(ctx, settings.precision ? KFE_ONNX_DOUBLE : KFE_ONNX_FLOAT, onnx);
    KFE_TRY(fill_graph(onnx, model, x));
    kfe_i_onnx_end(onnx);
    KFE_TRY(add_metadata(onnx, model));
    KFE_TRY(onnx->bytes.status);
    if (onnx->bytes.length > largest_file)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "the ONNX file would take %.1f GB, but the format holds at most 2; fit with {landmarks} for "
                 "a smaller model",
                 (double)onnx->bytes.length / 1e9);
cleanup:
    kfe_i_free(ctx, x);
    return status;
}

kfe_status kfe_model_export_onnx(kfe_context *ctx, const kfe_model *model, const char *options,
                                 const char *path)
{
    kfe_status status = KFE_OK;
    kfe_i_onnx onnx = {0};
    kfe_i_outfile file = {0};

    KFE_TRY(export_model(ctx, model, options, &onnx));
    KFE_TRY(kfe_i_outfile_open(ctx, path, &file));
    KFE_TRY(kfe_i_outfile_write(&file, onnx.bytes.bytes, (size_t)onnx.bytes.length));
    KFE_TRY(kfe_i_outfile_commit(&file));
cleanup:
    kfe_i_outfile_abandon(&file);
    kfe_i_text_free(&onnx.bytes);
    return status;
}

kfe_status kfe_model_export_onnx_bytes(kfe_context *ctx, const kfe_model *model, const char *options,
                                       char **out, size_t *size)
{
    kfe_status status = KFE_OK;
    kfe_i_onnx onnx = {0};

    *out = NULL;
    *size = 0;
    KFE_TRY(export_model(ctx, model, options, &onnx));
    *size = (size_t)onnx.bytes.length;
    KFE_TRY(kfe_i_text_take(&onnx.bytes, out));
cleanup:
    kfe_i_text_free(&onnx.bytes);
    return status;
}
