/* SPDX-License-Identifier: Apache-2.0 */
#include "api/plan_path.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "select/fold.h"

/* ---- one model ---- */

typedef struct fitted {
    kfe_context *ctx;
    const kfe_model *model;
    const kfe_data *train;
    const kfe_data *test; /* NULL: all rows were for training */
    int64_t length;
    double seconds;
} fitted;

/* ‖y − mean over training rows‖² of each test row. */
static kfe_status squared_targets(const fitted *f, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *train = &f->train->target;
    const kfe_i_target *test = &f->test->target;
    double *mean = NULL;

    KFE_ALLOC_ZERO(f->ctx, mean, train->cols);
    for (int64_t i = 0; i < train->rows * train->cols; i++)
        mean[i % train->cols] += train->values[i] / (double)train->rows;
    memset(out, 0, (size_t)test->rows * sizeof *out);
    for (int64_t i = 0; i < test->rows * test->cols; i++) {
        double centred = test->values[i] - mean[i % test->cols];
        out[i / test->cols] += centred * centred;
    }
cleanup:
    kfe_i_free(f->ctx, mean);
    return status;
}

static kfe_status measure_test(const fitted *f, double *out)
{
    kfe_status status = KFE_OK;
    double *squares = NULL;
    kfe_matrix features = {0};

    if (!f->test || f->test->target.task != KFE_TASK_REAL)
        KFE_FAIL(f->ctx, KFE_EINPUT,
                 "the record 'test' needs a real target and a \"protocol\" that leaves rows to test on");
    KFE_ALLOC(f->ctx, squares, f->test->target.rows);
    KFE_TRY(squared_targets(f, squares));
    KFE_TRY(kfe_transform(f->ctx, f->model, f->test, &features));
    for (int64_t k = 0; k < f->length && k < features.cols; k++) {
        double sum = 0;
        for (int64_t i = 0; i < features.rows; i++) {
            double feature = features.values[i * features.stride + k];
            sum += squares[i] * feature * feature;
        }
        out[k] = (k ? out[k - 1] : 0) + sum / (double)features.rows;
    }
cleanup:
    kfe_i_free(f->ctx, squares);
    kfe_matrix_free(&features);
    return status;
}

static kfe_status copy_record(const fitted *f, const char *name, double *out)
{
    int64_t count = 0;
    const double *values = kfe_model_record(f->model, name, &count);

    if (!values || count < 1)
        return kfe_i_fail(f->ctx, KFE_EINPUT, "models of %s have no record '%s'; 'kfe describe' shows which",
                          kfe_model_method(f->model), name);
    int64_t known = count == 1 ? kfe_model_dim(f->model) : count;
    for (int64_t k = 0; k < f->length && k < known; k++)
        out[k] = values[count == 1 ? 0 : k];
    return KFE_OK;
}

static kfe_status read_values(const fitted *f, const char *name, double *out)
{
    kfe_status status = KFE_OK;

    for (int64_t k = 0; k < f->length; k++)
        out[k] = NAN;
    if (strcmp(name, KFE_PATH_SECONDS) == 0) {
        out[0] = f->seconds;
        return KFE_OK;
    }
    if (strcmp(name, "test") == 0)
        return measure_test(f, out);
    if (strcmp(name, "features") == 0) {
        for (int64_t k = 0; k < f->length && k < kfe_model_dim(f->model); k++)
            out[k] = (double)(k + 1);
        return KFE_OK;
    }
    if (strcmp(name, "cost") != 0)
        return copy_record(f, name, out);
    KFE_TRY(copy_record(f, "bound_cost", out));
    for (int64_t k = 0; k < f->length; k++)
        out[k] *= (double)(k + 1);
cleanup:
    return status;
}

/* ---- "A", "A / B", "A - B" ---- */

static kfe_status evaluate(const fitted *f, const char *record, double *out)
{
    kfe_status status = KFE_OK;
    const char *quotient = strstr(record, " / ");
    const char *sign = quotient ? quotient : strstr(record, " - ");
    char *left = NULL;
    double *right = NULL;

    if (!sign)
        return read_values(f, record, out);
    KFE_STRDUP(f->ctx, left, record);
    left[sign - record] = '\0';
    KFE_ALLOC(f->ctx, right, f->length);
    KFE_TRY(read_values(f, left, out));
    KFE_TRY(read_values(f, sign + 3, right));
    for (int64_t k = 0; k < f->length; k++)
        out[k] = !quotient ? out[k] - right[k] : fabs(right[k]) > 0 ? out[k] / right[k] : NAN;
cleanup:
    kfe_i_free(f->ctx, left);
    kfe_i_free(f->ctx, right);
    return status;
}

static kfe_status measure_model(const kfe_i_plan_cell *cell, const kfe_data *train, const kfe_data *test,
                                int64_t length, double *out)
{
    kfe_status status = KFE_OK;
    const char *record = kfe_i_plan_text(cell->column, "record");
    kfe_model *model = NULL;
    double began = kfe_i_clock();

    KFE_TRY(kfe_fit(cell->ctx, cell->spec, train, &model));
    const fitted f = {.ctx = cell->ctx,
                      .model = model,
                      .train = train,
                      .test = test,
                      .length = length,
                      .seconds = kfe_i_clock() - began};
    KFE_TRY(evaluate(&f, record ? record : KFE_PATH_SECONDS, out));
cleanup:
    kfe_model_free(model);
    return status;
}

/* ---- all of them ---- */

/* A class may have no member in a training part. */
static kfe_status forget_empty_classes(kfe_context *ctx, kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int32_t *old_codes = NULL;

    if (target->task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_ALLOC(ctx, old_codes, target->class_count);
    kfe_i_target_compact(target, old_codes);
cleanup:
    kfe_i_free(ctx, old_codes);
    return status;
}

static kfe_status measure_split(const kfe_i_plan_cell *cell, const kfe_data *data, const kfe_i_split *split,
                                int64_t length, double *out)
{
    kfe_status status = KFE_OK;
    kfe_data *train = NULL;
    kfe_data *test = NULL;

    KFE_TRY(kfe_i_fold_gather(cell->ctx, data, cell->spec, split->train, split->train_count, split->train,
                              split->train_count, &train));
    KFE_TRY(forget_empty_classes(cell->ctx, &train->target));
    KFE_TRY(kfe_i_fold_gather(cell->ctx, data, cell->spec, split->test, split->test_count, split->train,
                              split->train_count, &test));
    KFE_TRY(measure_model(cell, train, test, length, out));
cleanup:
    kfe_data_free(train);
    kfe_data_free(test);
    return status;
}

static kfe_status measure_all(const kfe_i_plan_cell *cell, const kfe_data *data, int64_t length,
                              kfe_i_path *out)
{
    kfe_status status = KFE_OK;
    kfe_i_splits splits = {0};

    out->splits = 1;
    if (cell->divided) {
        KFE_TRY(kfe_i_splits_make(cell->ctx, &cell->settings.protocol, &data->target, kfe_data_rows(data),
                                  NULL, 0, 0, &splits));
        out->splits = splits.count;
    }
    KFE_ALLOC(cell->ctx, out->values, out->splits * length);
    for (int64_t s = 0; s < splits.count; s++)
        KFE_TRY(measure_split(cell, data, &splits.items[s], length, out->values + s * length));
    if (!cell->divided)
        KFE_TRY(measure_model(cell, data, NULL, length, out->values));
cleanup:
    if (splits.ctx)
        kfe_i_splits_free(&splits);
    return status;
}

kfe_status kfe_i_path_measure(kfe_context *ctx, const kfe_i_plan_cell *cell, const kfe_data *data,
                              int64_t length, kfe_i_path *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_path){.ctx = ctx, .tried = 1, .length = length};
    KFE_TRY(measure_all(cell, data, length, out));
cleanup:
    if (status != KFE_OK) {
        kfe_i_free(ctx, out->values);
        out->values = NULL;
    }
    return status;
}

void kfe_i_path_at(const kfe_i_path *path, int64_t features, double *mean, double *sd)
{
    kfe_i_mean_sd(path->splits, path->values + features - 1, path->length, mean, sd);
}

void kfe_i_path_free(kfe_i_path *path)
{
    if (path->ctx)
        kfe_i_free(path->ctx, path->values);
    memset(path, 0, sizeof *path);
}
