/* SPDX-License-Identifier: Apache-2.0 */
/* Measures paths (path.h). Called by reproduce.c for the kinds path, time and roc. */
#include "reproduce/src/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/src/mean.h"
#include "reproduce/src/roc.h"
#include "system/system.h"

/* ---- one model ---- */

typedef struct fitted {
    kfe_context *ctx;
    const kfe_model *model;
    const kfe_data *train;
    const kfe_data *test; /* NULL: all rows were used for training */
    int64_t length;
    double seconds;
} fitted;

/* ‖y − mean of the training rows‖² of each test row. */
static kfe_status squared_targets(const fitted *f, double *out)
{
    kfe_status status = KFE_OK;
    int64_t cols = 0;
    const double *train = kfe_data_targets(f->train, &cols);
    const double *test = kfe_data_targets(f->test, &cols);
    int64_t rows = kfe_data_rows(f->train);
    void *memory = NULL;

    REP_TRY(rep_allocate(f->ctx, (size_t)cols, sizeof(double), &memory));
    double *mean = memory;
    for (int64_t i = 0; i < rows * cols; i++)
        mean[i % cols] += train[i] / (double)rows;
    memset(out, 0, (size_t)kfe_data_rows(f->test) * sizeof *out);
    for (int64_t i = 0; i < kfe_data_rows(f->test) * cols; i++) {
        double centred = test[i] - mean[i % cols];
        out[i / cols] += centred * centred;
    }
cleanup:
    free(memory);
    return status;
}

/* For feature k: the mean over the rows of weight · feature². */
static double weighted_square(const kfe_matrix *features, const double *weights, int64_t k)
{
    double sum = 0;

    for (int64_t i = 0; i < features->rows; i++) {
        double feature = features->values[i * features->stride + k];
        sum += weights[i] * feature * feature;
    }
    return sum / (double)features->rows;
}

static kfe_status measure_test(const fitted *f, double *out)
{
    kfe_status status = KFE_OK;
    kfe_matrix features = {0};
    void *squares = NULL;

    if (!f->test || kfe_data_task(f->test) != KFE_TASK_REAL)
        return kfe_fail(
            f->ctx, KFE_EINPUT,
            "the record 'test' needs a real target and a \"protocol\" that leaves rows to test on");
    REP_TRY(rep_allocate(f->ctx, (size_t)kfe_data_rows(f->test), sizeof(double), &squares));
    REP_TRY(squared_targets(f, squares));
    REP_TRY(kfe_transform(f->ctx, f->model, f->test, &features));
    for (int64_t k = 0; k < f->length && k < features.cols; k++)
        out[k] = (k ? out[k - 1] : 0) + weighted_square(&features, squares, k);
cleanup:
    free(squares);
    kfe_matrix_free(&features);
    return status;
}

static kfe_status copy_record(const fitted *f, const char *name, double *out)
{
    int64_t count = 0;
    const double *values = kfe_model_record(f->model, name, &count);

    if (!values || count < 1)
        return rep_fail(f->ctx, KFE_EINPUT,
                        "models of %s have no record '%s'; 'kfe info MODEL' lists the records",
                        kfe_model_method(f->model), name);
    for (int64_t k = 0; k < f->length && (count == 1 || k < count); k++)
        out[k] = values[count == 1 ? 0 : k];
    return KFE_OK;
}

static kfe_status copy_cost(const fitted *f, double *out)
{
    kfe_status status = copy_record(f, "bound-cost", out);

    for (int64_t k = 0; status == KFE_OK && k < f->length; k++)
        out[k] = k < kfe_model_dim(f->model) ? out[k] * (double)(k + 1) : NAN;
    return status;
}

static void count_features(const fitted *f, double *out)
{
    for (int64_t k = 0; k < f->length && k < kfe_model_dim(f->model); k++)
        out[k] = (double)(k + 1);
}

static kfe_status read_values(const fitted *f, const char *name, double *out)
{
    for (int64_t k = 0; k < f->length; k++)
        out[k] = NAN;
    if (strcmp(name, "test") == 0)
        return measure_test(f, out);
    if (strcmp(name, "cost") == 0)
        return copy_cost(f, out);
    if (strcmp(name, REP_SECONDS) == 0)
        out[0] = f->seconds;
    else if (strcmp(name, "features") == 0)
        count_features(f, out);
    else
        return copy_record(f, name, out);
    return KFE_OK;
}

/* ---- "A", "A / B", "A - B" ---- */

static kfe_status evaluate(const fitted *f, const char *record, double *out)
{
    kfe_status status = KFE_OK;
    const char *quotient = strstr(record, " / ");
    const char *sign = quotient ? quotient : strstr(record, " - ");
    char *left = NULL;
    void *memory = NULL;

    if (!sign)
        return read_values(f, record, out);
    REP_TRY(rep_copy(f->ctx, record, &left));
    left[sign - record] = '\0';
    REP_TRY(rep_allocate(f->ctx, (size_t)f->length, sizeof(double), &memory));
    double *right = memory;
    REP_TRY(read_values(f, left, out));
    REP_TRY(read_values(f, sign + 3, right));
    for (int64_t k = 0; k < f->length; k++)
        out[k] = !quotient ? out[k] - right[k] : fabs(right[k]) > 0 ? out[k] / right[k] : NAN;
cleanup:
    free(left);
    free(memory);
    return status;
}

static kfe_status measure_model(const rep_cell *cell, const kfe_data *train, const kfe_data *test,
                                int64_t length, double *out)
{
    kfe_status status = KFE_OK;
    const char *record = rep_string(cell->column, "record");
    kfe_model *model = NULL;
    double began = kfe_i_processor_seconds();

    REP_TRY(kfe_fit(cell->ctx, cell->spec, train, &model));
    const fitted f = {.ctx = cell->ctx,
                      .model = model,
                      .train = train,
                      .test = test,
                      .length = length,
                      .seconds = kfe_i_processor_seconds() - began};
    if (cell->points)
        REP_TRY(rep_roc_measure(cell->ctx, model, test, cell->points, out));
    else
        REP_TRY(evaluate(&f, record ? record : REP_SECONDS, out));
cleanup:
    kfe_model_free(model);
    return status;
}

/* ---- all splits ---- */

static kfe_status measure_split(const rep_cell *cell, const kfe_data *data, const kfe_splits *splits,
                                int64_t index, rep_path *out)
{
    kfe_status status = KFE_OK;
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    int64_t count = 0;
    const int64_t *rows = kfe_splits_train(splits, index, &count);

    REP_TRY(kfe_data_take(cell->ctx, data, count, rows, &train));
    rows = kfe_splits_test(splits, index, &count);
    REP_TRY(kfe_data_take(cell->ctx, data, count, rows, &test));
    REP_TRY(measure_model(cell, train, test, out->length, out->values + index * out->length));
cleanup:
    kfe_data_free(train);
    kfe_data_free(test);
    return status;
}

static kfe_status measure_all(const rep_cell *cell, const kfe_data *data, rep_path *out)
{
    kfe_status status = KFE_OK;
    kfe_splits *splits = NULL;
    void *memory = NULL;

    out->splits = 1;
    if (cell->divided) {
        REP_TRY(kfe_splits_make(cell->ctx, data, cell->options, &splits));
        out->splits = kfe_splits_count(splits);
    }
    REP_TRY(rep_allocate(cell->ctx, (size_t)(out->splits * out->length), sizeof(double), &memory));
    out->values = memory;
    for (int64_t s = 0; splits && s < out->splits; s++)
        REP_TRY(measure_split(cell, data, splits, s, out));
    if (!splits)
        REP_TRY(measure_model(cell, data, NULL, out->length, out->values));
cleanup:
    kfe_splits_free(splits);
    return status;
}

kfe_status rep_path_measure(const rep_cell *cell, const kfe_data *data, int64_t length, rep_path *out)
{
    *out = (rep_path){.tried = 1, .length = length};
    kfe_status status = measure_all(cell, data, out);
    if (status != KFE_OK) {
        free(out->values);
        out->values = NULL;
    }
    return status;
}

void rep_path_at(const rep_path *path, int64_t index, double *mean, double *sd)
{
    rep_mean sum = {0};

    for (int64_t s = 0; s < path->splits; s++)
        rep_mean_add(&sum, path->values[s * path->length + index - 1]);
    *mean = rep_mean_value(&sum);
    *sd = rep_mean_sd(&sum);
}

void rep_path_free(rep_path *path)
{
    free(path->values);
    memset(path, 0, sizeof *path);
}
