/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the data of a row as the plan says, before anything is fitted. Called by data.c. */
#include "reproduce/src/prepare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/src/data.h"

static void replace(kfe_data **data, kfe_data *by)
{
    kfe_data_free(*data);
    *data = by;
}

static kfe_status keep_rows(kfe_context *ctx, const int64_t *index, int64_t count, kfe_data **data)
{
    kfe_data *part = NULL;
    kfe_status status = kfe_data_take(ctx, *data, count, index, &part);

    if (status == KFE_OK)
        replace(data, part);
    return status;
}

/* ---- classes ---- */

/* The key of the list that contains a class; NULL if none does. */
static const char *joined_name(const json_t *lists, const char *name)
{
    const char *key;
    json_t *list;

    json_object_foreach((json_t *)(uintptr_t)lists, key, list)
    {
        for (size_t i = 0; i < json_array_size(list); i++)
            if (strcmp(json_string_value(json_array_get(list, i)), name) == 0)
                return key;
    }
    return NULL;
}

/* Replaces the classes of each list by one class, named by the list's key. */
static kfe_status join_classes(kfe_context *ctx, const json_t *lists, kfe_data *data)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    void *memory = NULL;

    if (kfe_data_task(data) != KFE_TASK_CLASSES)
        return kfe_fail(ctx, KFE_EINPUT, "\"classes\" is for data with classes");
    REP_TRY(rep_allocate(ctx, (size_t)rows, sizeof(const char *), &memory));
    const char **labels = memory;
    for (int64_t i = 0; i < rows; i++) {
        const char *name = kfe_data_class_name(data, kfe_data_class_of(data, i));
        labels[i] = joined_name(lists, name);
        if (!labels[i]) {
            status = rep_fail(ctx, KFE_EINPUT, "\"classes\" has no list with class '%s'", name);
            goto cleanup;
        }
    }
    REP_TRY(kfe_data_set_labels(ctx, data, labels));
cleanup:
    free(memory);
    return status;
}

/* ---- rows ---- */

/* SplitMix64 (Steele, Lea & Flood 2014): the next 64 random bits. */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number in 0 … bound − 1. With 53 random bits and the bounds used here the bias is below 1e-9. */
static int64_t draw_below(uint64_t *state, int64_t bound)
{
    return (int64_t)((double)(next_bits(state) >> 11) * 0x1.0p-53 * (double)bound);
}

static void count_classes(const kfe_data *data, int64_t *sizes)
{
    for (int64_t i = 0; i < kfe_data_rows(data); i++)
        sizes[kfe_data_class_of(data, i)]++;
}

/* Lists at most `count` random rows of each class, in increasing order. `left` and `wanted` hold, for each class,
 * the rows not yet seen and the rows still to choose: a row is chosen with probability wanted / left. */
static int64_t choose_rows(const kfe_data *data, uint64_t seed, int64_t *left, int64_t *wanted,
                           int64_t *index)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < kfe_data_rows(data); i++) {
        int64_t g = kfe_data_class_of(data, i);
        int chosen = draw_below(&seed, left[g]--) < wanted[g];
        wanted[g] -= chosen;
        if (chosen)
            index[kept++] = i;
    }
    return kept;
}

static kfe_status sample_classes(kfe_context *ctx, int64_t count, kfe_data **data)
{
    kfe_status status = KFE_OK;
    int64_t classes = kfe_data_classes(*data);
    void *counts = NULL;
    void *memory = NULL;

    if (kfe_data_task(*data) != KFE_TASK_CLASSES)
        return kfe_fail(ctx, KFE_EINPUT, "\"per-class\" is for data with classes");
    REP_TRY(rep_allocate(ctx, (size_t)(2 * classes), sizeof(int64_t), &counts));
    REP_TRY(rep_allocate(ctx, (size_t)kfe_data_rows(*data), sizeof(int64_t), &memory));
    int64_t *left = counts;
    int64_t *wanted = left + classes;
    int64_t *index = memory;
    count_classes(*data, left);
    for (int64_t g = 0; g < classes; g++)
        wanted[g] = left[g] < count ? left[g] : count;
    int64_t kept = choose_rows(*data, kfe_context_seed(ctx), left, wanted, index);
    REP_TRY(keep_rows(ctx, index, kept, data));
cleanup:
    free(counts);
    free(memory);
    return status;
}

/* Keeps the first `count` of rows 0, step, 2·step, … */
static kfe_status take_rows(kfe_context *ctx, int64_t step, int64_t count, kfe_data **data)
{
    kfe_status status = KFE_OK;
    int64_t available = (kfe_data_rows(*data) + step - 1) / step;
    void *memory = NULL;

    count = count < available ? count : available;
    if (count == kfe_data_rows(*data))
        return KFE_OK;
    REP_TRY(rep_allocate(ctx, (size_t)count, sizeof(int64_t), &memory));
    int64_t *index = memory;
    for (int64_t i = 0; i < count; i++)
        index[i] = i * step;
    REP_TRY(keep_rows(ctx, index, count, data));
cleanup:
    free(memory);
    return status;
}

/* ---- columns ---- */

int rep_image_size(const char *transform, int64_t *width, int64_t *height)
{
    int across = 0;
    int down = 0;
    int end = 0;

    if (sscanf(transform, "viola-jones %4dx%4d%n", &across, &down, &end) != 2 || transform[end])
        return 0;
    *width = across;
    *height = down;
    return across > 0 && down > 0;
}

static kfe_status transform_images(kfe_context *ctx, const char *transform, kfe_data **data)
{
    kfe_data *features = NULL;
    int64_t width = 0;
    int64_t height = 0;

    if (!rep_image_size(transform, &width, &height))
        return rep_fail(ctx, KFE_EINPUT, "there is no transform '%s'", transform);
    kfe_status status = kfe_data_viola_jones(ctx, *data, width, height, &features);
    if (status == KFE_OK)
        replace(data, features);
    return status;
}

/* A copy of the matrix as data, with the labels of `like`. */
static kfe_status copy_as_data(kfe_context *ctx, const kfe_matrix *matrix, const kfe_data *like,
                               kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_data *wrapped = NULL;
    void *memory = NULL;

    REP_TRY(kfe_data_wrap_dense(ctx, matrix->rows, matrix->cols, matrix->stride, matrix->values, &wrapped));
    REP_TRY(kfe_data_copy_target(ctx, like, wrapped));
    REP_TRY(rep_allocate(ctx, (size_t)matrix->rows, sizeof(int64_t), &memory));
    int64_t *all = memory;
    for (int64_t i = 0; i < matrix->rows; i++)
        all[i] = i;
    REP_TRY(kfe_data_take(ctx, wrapped, matrix->rows, all, out));
cleanup:
    kfe_data_free(wrapped);
    free(memory);
    return status;
}

/* Scales the columns by all rows, test rows included, as some papers do. The fit option scale uses training rows
 * only. */
static kfe_status scale_columns(kfe_context *ctx, const char *scale, kfe_data **data)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix columns = {0};
    kfe_data *scaled = NULL;

    REP_TRY(kfe_spec_parse(ctx, "none", NULL, NULL, &spec));
    REP_TRY(kfe_spec_set(ctx, spec, "scale", scale));
    REP_TRY(kfe_fit(ctx, spec, *data, &model));
    REP_TRY(kfe_transform(ctx, model, *data, &columns));
    REP_TRY(copy_as_data(ctx, &columns, *data, &scaled));
    replace(data, scaled);
cleanup:
    kfe_matrix_free(&columns);
    kfe_model_free(model);
    kfe_spec_free(spec);
    return status;
}

/* ---- targets ---- */

typedef struct spread {
    double mean, low, high, length; /* length: √Σ (value − mean)² */
} spread;

static spread measure_column(int64_t rows, int64_t cols, const double *values)
{
    spread s = {.low = INFINITY, .high = -INFINITY};

    for (int64_t i = 0; i < rows; i++) {
        s.mean += values[i * cols] / (double)rows;
        s.low = fmin(s.low, values[i * cols]);
        s.high = fmax(s.high, values[i * cols]);
    }
    for (int64_t i = 0; i < rows; i++)
        s.length += (values[i * cols] - s.mean) * (values[i * cols] - s.mean);
    s.length = sqrt(s.length);
    return s;
}

static void scale_column(int kind, int64_t rows, int64_t cols, double *values)
{
    spread s = measure_column(rows, cols, values);
    double widths[] = {s.length / sqrt((double)rows), s.high - s.low, s.length}; /* as in REP_TARGET_SCALES */
    double origin = kind == 1 ? s.low : s.mean;

    for (int64_t i = 0; i < rows; i++)
        values[i * cols] = (values[i * cols] - origin) / (widths[kind] > 0 ? widths[kind] : 1);
}

static kfe_status scale_targets(kfe_context *ctx, const char *scale, kfe_data *data)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    int64_t cols = 0;
    const double *targets = kfe_data_targets(data, &cols);
    void *memory = NULL;

    if (!targets)
        return kfe_fail(ctx, KFE_EINPUT, "\"target-scale\" is for real targets, not for classes");
    REP_TRY(rep_allocate(ctx, (size_t)(rows * cols), sizeof *targets, &memory));
    double *scaled = memory;
    memcpy(scaled, targets, (size_t)(rows * cols) * sizeof *targets);
    for (int64_t j = 0; j < cols; j++)
        scale_column(rep_word_index(REP_TARGET_SCALES, scale), rows, cols, scaled + j);
    REP_TRY(kfe_data_set_targets(ctx, data, cols, scaled));
cleanup:
    free(memory);
    return status;
}

/* ---- all steps ---- */

static int64_t integer_or(const json_t *row, const char *key, int64_t unless_given)
{
    const json_t *value = json_object_get(row, key);

    return value ? (int64_t)json_number_value(value) : unless_given;
}

kfe_status rep_prepare(kfe_context *ctx, const json_t *row, kfe_data **data)
{
    kfe_status status = KFE_OK;
    const json_t *classes = json_object_get(row, "classes");
    int64_t per_class = integer_or(row, "per-class", 0);
    const char *transform = rep_string(row, "transform");
    const char *scale = rep_string(row, "column-scale");
    const char *target_scale = rep_string(row, "target-scale");

    if (classes)
        REP_TRY(join_classes(ctx, classes, *data));
    if (per_class > 0)
        REP_TRY(sample_classes(ctx, per_class, data));
    REP_TRY(take_rows(ctx, integer_or(row, "every", 1), integer_or(row, "rows", INT64_MAX), data));
    if (transform)
        REP_TRY(transform_images(ctx, transform, data));
    if (scale)
        REP_TRY(scale_columns(ctx, scale, data));
    if (target_scale)
        REP_TRY(scale_targets(ctx, target_scale, *data));
cleanup:
    return status;
}
