/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of the use of loaded models: any model that loads can be described, applied to data,
 * evaluated, explained, drawn, exported and saved again, and its predictions written, without a crash. A saved model loads again and
 * gives the same bits, and sparse data gives the same features as dense data.
 *
 * mutate_model.c changes the inputs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "kfe.h"
#include "model/file/safetensors.h"
#include "model/model.h"
#include "support/result.h"

enum { MEMORY_LIMIT = 64 << 20, ROWS = 3, MOST_COLS = 64, MOST_VIEWS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* ---- data that fits a model ---- */

/* Data wraps this memory, so every view has its own. */
static double numbers[MOST_VIEWS][ROWS * MOST_COLS];
static int64_t row_start[MOST_VIEWS][ROWS + 1];
static int32_t columns[MOST_VIEWS][ROWS * MOST_COLS];

/* Column j of row i is (i·7 + j·3) mod 5 − 1: small numbers, some of them zero. A view of strings gets three
 * fixed ones. */
static kfe_status make_view(kfe_context *ctx, const kfe_model *model, int view, int sparse, kfe_data **out)
{
    static const char *const strings[ROWS] = {"acgt", "", "ttgaca"};
    int64_t cols = kfe_model_cols(model, view);

    if (kfe_model_takes_strings(model, view))
        return kfe_data_from_text(ctx, ROWS, strings, out);
    if (cols < 1 || cols > MOST_COLS)
        return KFE_EUNSUPPORTED;
    for (int64_t i = 0; i < ROWS; i++) {
        row_start[view][i + 1] = (i + 1) * cols;
        for (int64_t j = 0; j < cols; j++) {
            numbers[view][i * cols + j] = (double)((i * 7 + j * 3) % 5 - 1);
            columns[view][i * cols + j] = (int32_t)j;
        }
    }
    return sparse ? kfe_data_wrap_csr(ctx, ROWS, cols, row_start[view], columns[view], numbers[view], out)
                  : kfe_data_wrap_dense(ctx, ROWS, cols, cols, numbers[view], out);
}

/* Labels that the model knows, except for the last one; or numbers. */
static void set_target(kfe_context *ctx, const kfe_model *model, kfe_data *data)
{
    static const double targets[ROWS] = {0.5, -1, 2};
    const char *labels[ROWS] = {"?", "?", "unheard of"};

    if (kfe_model_task(model) == KFE_TASK_REAL) {
        kfe_data_set_targets(ctx, data, 1, targets);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (kfe_model_class_name(model, i))
            labels[i] = kfe_model_class_name(model, i);
    kfe_data_set_labels(ctx, data, labels);
}

/* ---- using a model ---- */

static void describe(kfe_context *ctx, const kfe_model *model)
{
    for (int style = 0; style < 2; style++) {
        char *text = NULL;
        if (kfe_model_describe(ctx, model, (kfe_style)style, &text) == KFE_OK)
            kfe_string_free(ctx, text);
    }
    for (int64_t j = 0; j < kfe_model_dim(model) && j < MOST_COLS; j++) {
        char *name = NULL;
        if (kfe_model_feature_name(ctx, model, j, &name) == KFE_OK)
            kfe_string_free(ctx, name);
    }
}

static volatile double sink;

static void read_all(const double *values, int64_t count)
{
    for (int64_t i = 0; values && i < count; i++)
        sink = values[i];
}

static void ask(const kfe_model *model)
{
    int64_t rows = 0;
    int64_t count = 0;

    const double *coefficients = kfe_model_coefficients(model, &rows);
    read_all(coefficients, rows * kfe_model_dim(model));
    read_all(kfe_model_offset(model), kfe_model_offset(model) ? kfe_model_dim(model) : 0);
    for (int64_t i = 0; kfe_model_support_index(model) && i < kfe_model_support_size(model); i++)
        sink = (double)kfe_model_support_index(model)[i];
    for (int i = 0; kfe_model_part(model, i); i++)
        ;
    sink = kfe_model_gate_weights(model, &count) && kfe_model_gate_offset(model);
    for (int64_t i = 0; kfe_model_record_name(model, i); i++) {
        const double *record = kfe_model_record(model, kfe_model_record_name(model, i), &count);
        read_all(record, count);
    }
    for (int v = 0; v < kfe_model_views(model); v++)
        for (int64_t j = 0; j < kfe_model_cols(model, v) && j < MOST_COLS; j++)
            sink = kfe_model_column_name(model, v, j) ? 1 : 0;
}

/* A file in a folder of this process; files in it are overwritten. */
static const char *scratch_file(const char *name)
{
    static char folder[256];
    static char path[512];

    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/kfe-fuzz-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        if (!mkdtemp(folder))
            abort();
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_scratch(void)
{
    static const char *const names[] = {"predictions.csv", "features.csv", "new.csv", "given.csv", ""};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(scratch_file(names[i]));
}

/* Writing files is slow, so only one input in sixteen does it. */
static void write_files(kfe_context *ctx, const kfe_model *model, const kfe_matrix *predictions,
                        const kfe_matrix *scores, const kfe_data *data)
{
    kfe_predictions_write(ctx, model, NULL, predictions, scores, scratch_file("predictions.csv"));
    kfe_matrix_write(ctx, predictions, scratch_file("features.csv"));
    kfe_data_write(ctx, data, scratch_file("new.csv"));
}

/* Reads a file with the model's own options: which columns, which of them the label, numbers or strings. */
static void read_file(kfe_context *ctx, const kfe_model *model)
{
    static int exists;
    const char *path = scratch_file("given.csv");
    kfe_data *data = NULL;
    kfe_matrix features = {0};

    if (!exists) {
        FILE *file = fopen(path, "w");
        if (!file)
            abort();
        fputs("1,0,a\n0,1,b\n2,0.5,a\n", file);
        fclose(file);
        exists = 1;
    }
    if (kfe_data_read_for_model(ctx, model, 1, &path, NULL, NULL, &data) == KFE_OK)
        kfe_transform(ctx, model, data, &features);
    kfe_matrix_free(&features);
    kfe_data_free(data);
}

static void evaluate(kfe_context *ctx, const kfe_model *model, const kfe_data *data, int write)
{
    kfe_matrix predictions = {0};
    kfe_matrix outputs = {0};
    kfe_matrix scores = {0};
    kfe_matrix intervals = {0};

    if (kfe_predict(ctx, model, data, &predictions, &outputs) == KFE_OK) {
        for (int64_t i = 0; i < predictions.rows; i++)
            if (kfe_model_task(model) == KFE_TASK_CLASSES &&
                !kfe_model_class_name(model, (int64_t)predictions.values[i * predictions.stride]))
                abort(); /* the prediction is not a class */
        kfe_status status = kfe_class_scores(ctx, model, &outputs, &scores);
        if (write)
            write_files(ctx, model, &predictions, status == KFE_OK ? &scores : NULL, data);
    }
    kfe_matrix_free(&predictions);
    if (kfe_predict_intervals(ctx, model, data, 0.5, &predictions, &intervals) == KFE_OK)
        kfe_matrix_free(&intervals);
    for (int style = 0; style < 2; style++) {
        char *text = NULL;
        if (write_evaluate(ctx, model, data, NULL, (kfe_style)style, &text) == KFE_OK)
            kfe_string_free(ctx, text);
    }
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&outputs);
    kfe_matrix_free(&scores);
}

static void explain(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_result *explanation = NULL;
    kfe_matrix out = {0};
    char *text = NULL;

    if (kfe_explain(ctx, model, data, NULL, &explanation) == KFE_OK &&
        kfe_result_describe(ctx, explanation, KFE_STYLE_JSON, &text) == KFE_OK)
        kfe_string_free(ctx, text);
    kfe_result_free(explanation);
    if (kfe_predict_path(ctx, model, data, &out) == KFE_OK)
        read_all(out.values, out.rows * out.cols);
    kfe_matrix_free(&out);
    if (kfe_diagnose(ctx, model, data, 0.95, &out, NULL) == KFE_OK)
        read_all(out.values, out.rows * out.cols);
    kfe_matrix_free(&out);
}

/* One kind of figure for each input, or the page with all of them. */
static void show_figure(kfe_context *ctx, const kfe_model *model, const kfe_data *data, int page)
{
    static int next;
    kfe_report *report = NULL;
    char *text = NULL;

    if (!kfe_figure(next))
        next = 0;
    const kfe_entry_info *figure = kfe_figure(next++);
    if (kfe_report_new(ctx, NULL, &report) == KFE_OK && kfe_report_set_model(ctx, report, model) == KFE_OK &&
        kfe_report_set_data(ctx, report, NULL, data) == KFE_OK &&
        (page ? kfe_report_html(ctx, report, &text)
              : kfe_report_figure(ctx, report, figure->name, "svg", &text)) == KFE_OK)
        kfe_string_free(ctx, text);
    kfe_report_free(report);
}

static void export(kfe_context *ctx, const kfe_model *model)
{
    char *bytes = NULL;
    size_t size = 0;

    if (kfe_model_export_onnx_bytes(ctx, model, NULL, &bytes, &size) == KFE_OK)
        kfe_string_free(ctx, bytes);
}

/* Features have the same bits after saving and loading. */
static void save_again(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                       const kfe_matrix *features)
{
    char *bytes = NULL;
    size_t size = 0;
    kfe_model *again = NULL;
    kfe_matrix got = {0};

    if (kfe_model_save_bytes(ctx, model, &bytes, &size) != KFE_OK)
        return;
    if (kfe_model_load_bytes(ctx, bytes, size, &again) != KFE_OK) {
        fprintf(stderr, "saved, but not loaded: %s\n", kfe_error_message(ctx));
        abort();
    }
    if (kfe_transform(ctx, again, data, &got) != KFE_OK || got.rows != features->rows ||
        got.cols != features->cols ||
        memcmp(got.values, features->values, (size_t)(got.rows * got.cols) * sizeof(double)) != 0) {
        fprintf(stderr, "saved and loaded, the model gives other features\n");
        abort();
    }
    kfe_matrix_free(&got);
    kfe_model_free(again);
    kfe_string_free(ctx, bytes);
}

static int has_large_points(const kfe_model *model, const kfe_i_table *support)
{
    return support->kind == KFE_TABLE_TEXT ||
           kfe_i_table_find_beyond(model->ctx, support, 100, &(int64_t){0}, &(int64_t){0});
}

/* The largest number that enters a feature if all numbers of the model are near 1 or zero; otherwise 0. */
static double magnitude(const kfe_model *model)
{
    double sum = 1;

    for (int64_t i = 0; i < model->rows * model->dim; i++)
        sum += model->coefficients ? fabs(model->coefficients[i]) : 0;
    for (int64_t i = 0; i < model->dim; i++)
        sum += model->offset ? fabs(model->offset[i]) : 0;
    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_scaler *scaler = &model->views[v].scaler;
        if (has_large_points(model, &model->views[v].support))
            return 0;
        for (int64_t j = 0; j < scaler->cols; j++)
            if ((scaler->shift && !(fabs(scaler->shift[j]) <= 100)) ||
                (scaler->factor && !(fabs(scaler->factor[j]) <= 100)))
                return 0;
    }
    for (int64_t l = 0; model->tree && l <= model->tree->node_count; l++)
        if (has_large_points(model, &model->tree->leaves[l].support))
            return 0;
    return sum <= 1e6 ? sum : 0;
}

/* Rounding may differ, and a hostile model amplifies it, so only models with small numbers are compared. */
static void compare_sparse(const kfe_model *model, const kfe_matrix *dense, const kfe_matrix *sparse)
{
    double most = model->projector == KFE_PROJECT_LOCAL ? 0 : magnitude(model);

    for (int64_t i = 0; i < dense->rows && most > 0; i++)
        for (int64_t j = 0; j < dense->cols; j++)
            most = fmax(most, fabs(dense->values[i * dense->stride + j]));
    if (!(most > 0 && most <= 1e6))
        return;
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++) {
            double a = dense->values[i * dense->stride + j];
            double b = sparse->values[i * sparse->stride + j];
            if (!(fabs(a - b) <= 1e-3 * most)) {
                fprintf(stderr, "feature (%d, %d) is %.17g of dense and %.17g of sparse data\n", (int)i,
                        (int)j, a, b);
                abort();
            }
        }
}

/* Applies the model to dense or sparse data; returns whether it has features. */
static int apply(kfe_context *ctx, const kfe_model *model, int sparse, int write, kfe_matrix *features)
{
    kfe_data *parts[MOST_VIEWS] = {0};
    const char *names[MOST_VIEWS];
    kfe_data *data = NULL;
    int views = kfe_model_views(model);
    kfe_status status = views > MOST_VIEWS ? KFE_EUNSUPPORTED : KFE_OK;

    for (int v = 0; status == KFE_OK && v < views; v++) {
        names[v] = kfe_model_view_name(model, v);
        status = make_view(ctx, model, v, sparse, &parts[v]);
    }
    if (status == KFE_OK)
        status = kfe_data_join_views(ctx, views, (const kfe_data *const *)parts, names, &data);
    if (status == KFE_OK) {
        set_target(ctx, model, data);
        status = kfe_transform(ctx, model, data, features);
        if (status == KFE_OK)
            save_again(ctx, model, data, features);
        evaluate(ctx, model, data, write);
        explain(ctx, model, data);
        show_figure(ctx, model, data, write);
        export(ctx, model);
    }
    kfe_data_free(data);
    for (int v = 0; v < MOST_VIEWS; v++)
        kfe_data_free(parts[v]);
    return status == KFE_OK;
}

/* A model with a user's kernel needs a function. */
static double user_kernel(void *user, const double *x, const double *y, int64_t cols)
{
    double sum = 0;

    (void)user;
    for (int64_t j = 0; j < cols; j++)
        sum += x[j] * y[j];
    return sum;
}

static void use_model(kfe_context *ctx, kfe_model *model, int write)
{
    kfe_matrix dense = {0};
    kfe_matrix sparse = {0};

    ask(model);
    describe(ctx, model);
    kfe_model_bind_kernel(ctx, model, "mine", user_kernel, NULL);
    if (write)
        read_file(ctx, model);
    if (apply(ctx, model, 0, write, &dense) && apply(ctx, model, 1, 0, &sparse))
        compare_sparse(model, &dense, &sparse);
    kfe_matrix_free(&dense);
    kfe_matrix_free(&sparse);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static int cleans_up;
    kfe_context *ctx = NULL;
    kfe_model *model = NULL;

    if (!cleans_up)
        cleans_up = atexit(remove_scratch) == 0;
    if (kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    kfe_context_set_threads(ctx, 1);
    if (kfe_model_load_bytes(ctx, bytes, size, &model) == KFE_OK)
        use_model(ctx, model, size % 16 == 0);
    kfe_model_free(model);
    kfe_context_free(ctx);
    return 0;
}
