/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a row of a plan: files under one folder, or generated. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/plan.h"
#include "core/memory.h"
#include "core/rng.h"
#include "data/scale.h"

/* ---- settings as option texts ---- */

static void put_path(kfe_i_text *out, const kfe_i_plan_use *use, const char *name)
{
    kfe_i_text_printf(out, "%s%s%s", use->folder, *use->folder ? "/" : "", name);
}

static int names_a_file(const char *key)
{
    return strcmp(key, "split-file") == 0 || strcmp(key, "label-file") == 0;
}

static void put_file_option(kfe_i_text *out, const kfe_i_plan_use *use, const char *name)
{
    kfe_i_text path;

    kfe_i_text_init(&path, out->ctx);
    put_path(&path, use, name);
    if (path.status == KFE_OK)
        kfe_i_option_escape(out, path.bytes);
    else
        out->status = path.status;
    kfe_i_text_free(&path);
}

static void put_value(kfe_i_text *out, const json_t *value)
{
    char number[KFE_NUMBER_TEXT];

    if (json_is_string(value))
        kfe_i_option_escape(out, json_string_value(value));
    else if (json_is_boolean(value))
        kfe_i_text_puts(out, json_is_true(value) ? "yes" : "no");
    else {
        kfe_i_format_number(json_number_value(value), number);
        kfe_i_text_puts(out, number);
    }
}

void kfe_i_plan_options(const json_t *object, const kfe_i_plan_use *use, kfe_i_text *out)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        kfe_i_text_printf(out, "%s%s=", out->length > 0 ? "," : "", key);
        if (names_a_file(key) && json_is_string(value))
            put_file_option(out, use, json_string_value(value));
        else
            put_value(out, value);
    }
}

/* ---- files ---- */

static const char *file_at(const json_t *row, size_t index)
{
    const json_t *data = json_object_get(row, "data");

    if (json_is_array(data))
        return json_string_value(json_array_get(data, index));
    return index == 0 ? json_string_value(data) : NULL;
}

/* The path of a file in the folder, packed if only that is there; NULL in *out if neither is. */
static kfe_status find_file(kfe_context *ctx, const kfe_i_plan_use *use, const char *name, char **out)
{
    kfe_status status = KFE_OK;
    static const char *const endings[] = {"", ".gz"};
    kfe_i_text path;

    *out = NULL;
    for (int i = 0; i < 2 && *use->folder && !*out; i++) {
        kfe_i_text_init(&path, ctx);
        put_path(&path, use, name);
        kfe_i_text_puts(&path, endings[i]);
        KFE_TRY(kfe_i_text_take(&path, out));
        if (access(*out, F_OK) != 0) {
            kfe_i_free(ctx, *out);
            *out = NULL;
        }
    }
cleanup:
    return status;
}

static kfe_status note_missing(kfe_context *ctx, const kfe_i_plan_use *use, const char *name, kfe_i_text *out)
{
    kfe_status status = KFE_OK;
    char *path = NULL;

    if (!name)
        return KFE_OK;
    KFE_TRY(find_file(ctx, use, name, &path));
    if (!path)
        kfe_i_text_printf(out, "%s%s", out->length > 0 ? ", " : "", name);
cleanup:
    kfe_i_free(ctx, path);
    return status;
}

kfe_status kfe_i_plan_missing(const kfe_i_plan *plan, const json_t *row, const kfe_i_plan_use *use,
                              kfe_i_text *out)
{
    kfe_status status = KFE_OK;
    const char *name;

    for (size_t i = 0; (name = file_at(row, i)); i++)
        KFE_TRY(note_missing(plan->ctx, use, name, out));
    KFE_TRY(
        note_missing(plan->ctx, use, kfe_i_plan_text(json_object_get(row, "reading"), "label-file"), out));
    KFE_TRY(
        note_missing(plan->ctx, use, kfe_i_plan_text(json_object_get(row, "protocol"), "split-file"), out));
    KFE_TRY(out->status);
cleanup:
    return status;
}

/* ---- reading and making ---- */

static kfe_status read_files(const kfe_i_plan *plan, const json_t *row, const kfe_i_plan_use *use,
                             const char *options, kfe_data **out)
{
    kfe_status status = KFE_OK;
    int count = 0;
    char **paths = NULL;

    while (file_at(row, (size_t)count))
        count++;
    KFE_ALLOC_ZERO(plan->ctx, paths, count);
    for (int i = 0; i < count; i++)
        KFE_TRY(find_file(plan->ctx, use, file_at(row, (size_t)i), &paths[i]));
    KFE_TRY(kfe_data_read_views(plan->ctx, count, (const char *const *)paths, NULL, options, out));
cleanup:
    for (int i = 0; paths && i < count; i++)
        kfe_i_free(plan->ctx, paths[i]);
    kfe_i_free(plan->ctx, paths);
    return status;
}

/* The row's seed goes on top of the user's, so that both count. */
static kfe_status generate(const kfe_i_plan *plan, const json_t *row, const char *options, kfe_data **out)
{
    uint64_t seed = kfe_context_seed(plan->ctx);
    uint64_t own = (uint64_t)(int64_t)json_number_value(json_object_get(row, "seed"));

    kfe_context_set_seed(plan->ctx, seed + own);
    kfe_status status = kfe_data_generate(plan->ctx, kfe_i_plan_text(row, "generate"), options, out);
    kfe_context_set_seed(plan->ctx, seed);
    return status;
}

/* ---- what a row does to its data ---- */

static void replace_data(kfe_data **data, kfe_data *by)
{
    kfe_data_free(*data);
    *data = by;
}

static kfe_status keep_rows(kfe_context *ctx, const int64_t *index, int64_t count, kfe_data **data)
{
    kfe_status status = KFE_OK;
    int32_t *old_codes = NULL;
    kfe_data *part = NULL;

    KFE_ALLOC(ctx, old_codes, (*data)->target.class_count + 1);
    KFE_TRY(kfe_i_data_gather(ctx, *data, index, count, &part));
    if (part->target.task == KFE_TASK_CLASSES)
        kfe_i_target_compact(&part->target, old_codes);
    replace_data(data, part);
cleanup:
    kfe_i_free(ctx, old_codes);
    return status;
}

/* The first `count` of every `step`-th row. */
static kfe_status take_rows(kfe_context *ctx, int64_t step, int64_t count, kfe_data **data)
{
    kfe_status status = KFE_OK;
    int64_t *index = NULL;
    int64_t there = (kfe_data_rows(*data) + step - 1) / step;

    count = count < there ? count : there;
    if (count == kfe_data_rows(*data))
        return KFE_OK;
    KFE_ALLOC(ctx, index, count);
    for (int64_t i = 0; i < count; i++)
        index[i] = i * step;
    KFE_TRY(keep_rows(ctx, index, count, data));
cleanup:
    kfe_i_free(ctx, index);
    return status;
}

/* At most `count` rows of each class, drawn by the seed; they stay in their order. */
static kfe_status sample_classes(kfe_context *ctx, int64_t count, kfe_data **data)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &(*data)->target;
    int64_t n = kfe_data_rows(*data);
    int64_t *left = NULL; /* of each class: rows not seen yet, and rows still to take */
    int64_t *index = NULL;
    int64_t kept = 0;
    kfe_i_rng rng;

    if (target->task != KFE_TASK_CLASSES)
        KFE_FAIL(ctx, KFE_EINPUT, "\"per-class\" is for data with classes");
    KFE_ALLOC(ctx, left, 2 * target->class_count);
    KFE_ALLOC(ctx, index, n);
    int64_t *wanted = left + target->class_count;
    kfe_i_target_count(target, left);
    for (int64_t g = 0; g < target->class_count; g++)
        wanted[g] = left[g] < count ? left[g] : count;
    kfe_i_rng_init(&rng, kfe_context_seed(ctx), KFE_STREAM_SAMPLE);
    for (int64_t i = 0; i < n; i++) {
        int32_t g = target->codes[i];
        int taken = kfe_i_rng_below(&rng, left[g]--) < wanted[g];
        wanted[g] -= taken;
        if (taken)
            index[kept++] = i;
    }
    KFE_TRY(keep_rows(ctx, index, kept, data));
cleanup:
    kfe_i_free(ctx, left);
    kfe_i_free(ctx, index);
    return status;
}

int kfe_i_plan_image_size(const char *transform, int64_t *width, int64_t *height)
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
    kfe_status status = KFE_OK;
    kfe_data *features = NULL;
    int64_t width = 0;
    int64_t height = 0;

    if (!kfe_i_plan_image_size(transform, &width, &height))
        KFE_FAIL(ctx, KFE_EINPUT, "there is no transform '%s'", transform);
    KFE_TRY(kfe_data_viola_jones(ctx, *data, width, height, &features));
    replace_data(data, features);
cleanup:
    return status;
}

static kfe_status scale_target(kfe_context *ctx, const char *scale, kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int kind = kfe_i_word_index(KFE_SCALE_WORDS, scale);
    kfe_i_table values = {.ctx = ctx, .kind = KFE_TABLE_DENSE};
    kfe_i_table scaled = {0};
    kfe_i_scaler scaler = {0};

    if (target->task != KFE_TASK_REAL)
        KFE_FAIL(ctx, KFE_EINPUT, "\"target-scale\" is for numbers, not for classes");
    values.rows = target->rows;
    values.cols = values.stride = target->cols;
    values.values = target->values;
    KFE_TRY(kfe_i_scaler_learn(ctx, (kfe_i_scale_kind)kind, &values, &scaler));
    KFE_TRY(kfe_i_scaler_apply(ctx, &scaler, &values, &scaled));
    for (int64_t i = 0; i < target->rows; i++)
        memcpy(target->values + i * target->cols, scaled.values + i * scaled.stride,
               (size_t)target->cols * sizeof *target->values);
cleanup:
    kfe_i_table_free(&scaled);
    kfe_i_scaler_free(&scaler);
    return status;
}

/* The list that names a class; NULL: none does. */
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

/* Several classes become one. */
static kfe_status join_classes(kfe_context *ctx, const json_t *lists, kfe_data *data)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &data->target;
    const char **labels = NULL;

    if (target->task != KFE_TASK_CLASSES)
        KFE_FAIL(ctx, KFE_EINPUT, "\"classes\" is for data with classes");
    KFE_ALLOC(ctx, labels, target->rows);
    for (int64_t i = 0; i < target->rows; i++) {
        labels[i] = joined_name(lists, target->names[target->codes[i]]);
        if (!labels[i])
            KFE_FAIL(ctx, KFE_EINPUT, "\"classes\" has no list with class '%s'",
                     target->names[target->codes[i]]);
    }
    KFE_TRY(kfe_data_set_labels(ctx, data, labels));
cleanup:
    kfe_i_free(ctx, labels);
    return status;
}

static kfe_status prepare(kfe_context *ctx, const json_t *row, kfe_data **data)
{
    kfe_status status = KFE_OK;
    const json_t *rows = json_object_get(row, "rows");
    const json_t *every = json_object_get(row, "every");
    const json_t *per_class = json_object_get(row, "per-class");
    const json_t *classes = json_object_get(row, "classes");
    const char *transform = kfe_i_plan_text(row, "transform");
    const char *scale = kfe_i_plan_text(row, "target-scale");

    if (classes)
        KFE_TRY(join_classes(ctx, classes, *data));
    if (per_class)
        KFE_TRY(sample_classes(ctx, (int64_t)json_number_value(per_class), data));
    KFE_TRY(take_rows(ctx, every ? (int64_t)json_number_value(every) : 1,
                      rows ? (int64_t)json_number_value(rows) : INT64_MAX, data));
    if (transform)
        KFE_TRY(transform_images(ctx, transform, data));
    if (scale)
        KFE_TRY(scale_target(ctx, scale, &(*data)->target));
cleanup:
    return status;
}

kfe_status kfe_i_plan_data(const kfe_i_plan *plan, const json_t *row, const kfe_i_plan_use *use,
                           kfe_data **out)
{
    kfe_status status = KFE_OK;
    int made = json_object_get(row, "generate") != NULL;
    kfe_i_text options;

    *out = NULL;
    kfe_i_text_init(&options, plan->ctx);
    kfe_i_plan_options(json_object_get(row, made ? "options" : "reading"), use, &options);
    KFE_TRY(options.status);
    if (made)
        KFE_TRY(generate(plan, row, options.bytes, out));
    else
        KFE_TRY(read_files(plan, row, use, options.bytes, out));
    KFE_TRY(prepare(plan->ctx, row, out));
cleanup:
    if (status != KFE_OK) {
        kfe_data_free(*out);
        *out = NULL;
    }
    kfe_i_text_free(&options);
    return status;
}
