/* SPDX-License-Identifier: Apache-2.0 */
/* Accumulators in files and in memory: the container of model files (model/file/safetensors.h), with the map as the bytes of a model
 * file in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/accumulator.h"
#include "accumulate/pursue.h"
#include "core/memory.h"
#include "core/text.h"
#include "model/file/exchange.h"

#define FORMAT "kfe-accumulator"
#define FORMAT_VERSION "1"
#define WEIGHTED_VERSION                                                                                     \
    "2" /* of rows with weights: "row_count", and "sample_weights" if there is a sample */

/* Numbers of the tensor "counts". */
enum {
    COUNT_STARTED,
    COUNT_SPARSE,
    COUNT_TASK,
    COUNT_COLUMNS,
    COUNT_CLASSES,
    COUNT_TARGETS,
    COUNT_SAMPLE,
    COUNTS
};

/* Its rows, or those that it started from, have weights. */
static int is_weighted(const kfe_accumulator *a)
{
    return a->weighted || a->sample_target.weights;
}

typedef struct saving {
    kfe_i_exchange x;
    kfe_i_safetensors file;
    int64_t counts[COUNTS];
    char *map;
    size_t map_size;
    kfe_i_text names;
} saving;

/* ---- the spec ---- */

static kfe_status set_params(const kfe_i_exchange *x, const char *key, const kfe_i_param_table *table,
                             const void *settings)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;
    char *value = NULL;

    kfe_i_text_init(&text, x->ctx);
    kfe_i_params_format(table, settings, &text);
    KFE_TRY(kfe_i_text_take(&text, &value));
    KFE_TRY(kfe_i_safetensors_set(x->file, key, value));
cleanup:
    kfe_i_free(x->ctx, value);
    return status;
}

static kfe_status save_spec(const kfe_i_exchange *x, const kfe_spec *spec, int weighted)
{
    kfe_status status = KFE_OK;
    char *kernel = NULL;
    char key[32];

    KFE_TRY(kfe_i_safetensors_set(x->file, "format", FORMAT));
    KFE_TRY(kfe_i_safetensors_set(x->file, "format_version", weighted ? WEIGHTED_VERSION : FORMAT_VERSION));
    KFE_TRY(kfe_i_safetensors_set(x->file, "method", spec->method->name));
    KFE_TRY(set_params(x, "parameters", &spec->method->params, spec->settings));
    KFE_TRY(set_params(x, "fit", &kfe_i_fit_params, &spec->fit));
    for (int64_t m = 0; m < spec->kernels.count; m++) {
        snprintf(key, sizeof key, "kernel%lld", (long long)m);
        KFE_TRY(kfe_i_kernel_text(x->ctx, &spec->kernels.items[m], &kernel));
        KFE_TRY(kfe_i_safetensors_set(x->file, key, kernel));
        kfe_i_free(x->ctx, kernel);
        kernel = NULL;
    }
    if (spec->learner) {
        KFE_TRY(kfe_i_safetensors_set(x->file, "learner", spec->learner->name));
        KFE_TRY(set_params(x, "learner_parameters", &spec->learner->params, spec->learner_settings));
    }
cleanup:
    kfe_i_free(x->ctx, kernel);
    return status;
}

static const char *text_of(const kfe_i_exchange *x, const char *key)
{
    const char *value = kfe_i_safetensors_get(x->file, key);

    return value ? value : "";
}

static kfe_status load_kernels(const kfe_i_exchange *x, kfe_spec *spec)
{
    kfe_status status = KFE_OK;
    const char *kernel = NULL;
    char key[32];

    for (int m = 0;; m++) {
        snprintf(key, sizeof key, "kernel%d", m);
        kernel = kfe_i_safetensors_get(x->file, key);
        if (!kernel)
            break;
        KFE_TRY(kfe_spec_add_kernel(x->ctx, spec, kernel));
    }
cleanup:
    return status;
}

static kfe_status load_spec(const kfe_i_exchange *x, kfe_spec **out)
{
    kfe_status status = KFE_OK;
    const char *version = text_of(x, "format_version");
    const char *learner = kfe_i_safetensors_get(x->file, "learner");

    if (strcmp(text_of(x, "format"), FORMAT) != 0)
        KFE_FAIL(x->ctx, KFE_EMODEL, "%s: this is not a file of sums over rows", x->name);
    if (strcmp(version, FORMAT_VERSION) != 0 && strcmp(version, WEIGHTED_VERSION) != 0)
        KFE_FAIL(x->ctx, KFE_EMODEL, "%s: a newer version of kfe wrote this file", x->name);
    KFE_TRY(kfe_spec_parse(x->ctx, text_of(x, "method"), text_of(x, "parameters"), NULL, out));
    KFE_TRY(kfe_i_fit_settings_parse(x->ctx, text_of(x, "fit"), &(*out)->fit));
    KFE_TRY(load_kernels(x, *out));
    if (learner)
        KFE_TRY(kfe_spec_set_learner(x->ctx, *out, learner, text_of(x, "learner_parameters")));
    KFE_TRY(kfe_i_accumulator_check(x->ctx, *out, kfe_i_keeps_rows(*out)));
cleanup:
    return status;
}

/* ---- sums and sample ---- */

/* Arrays without numbers have no tensor. */
static kfe_status exchange(const kfe_i_exchange *x, const char *name, int64_t count, double **values)
{
    kfe_status status = KFE_OK;

    if (count > 0)
        return kfe_i_exchange_reals(x, name, count, -1, 0, values);
    if (!x->saves)
        KFE_ALLOC(x->ctx, *values, 1);
cleanup:
    return status;
}

static kfe_status exchange_rows(const kfe_i_exchange *x, double *rows)
{
    double *number = rows;
    kfe_status status = kfe_i_exchange_reals(x, "rows", 1, -1, 0, &number);

    if (!x->saves && status == KFE_OK)
        *rows = number[0];
    if (!x->saves)
        kfe_i_free(x->ctx, number);
    return status;
}

/* Sums over no rows have infinite extremes, which a file may not hold. */
static kfe_status exchange_extremes(const kfe_i_exchange *x, kfe_i_sums *s)
{
    kfe_status status = KFE_OK;

    if (s->rows > 0) {
        KFE_TRY(exchange(x, "least", s->cols, &s->least));
        KFE_TRY(exchange(x, "largest", s->cols, &s->largest));
    } else if (!x->saves) {
        KFE_TRY(kfe_i_sums_begin_extremes(s));
    }
cleanup:
    return status;
}

static kfe_status exchange_sums(const kfe_i_exchange *x, int64_t classes, kfe_i_sums *s)
{
    kfe_status status = KFE_OK;
    int64_t d = s->cols;
    int64_t t = s->targets;

    KFE_TRY(exchange_rows(x, &s->rows));
    KFE_TRY(exchange(x, "mean", d, &s->mean));
    KFE_TRY(exchange(x, "scatter", d * d, &s->scatter));
    KFE_TRY(exchange_extremes(x, s));
    KFE_TRY(exchange(x, "class_rows", classes, &s->class_rows));
    KFE_TRY(exchange(x, "class_means", classes * d, &s->class_means));
    KFE_TRY(exchange(x, "target_mean", t, &s->target_mean));
    KFE_TRY(exchange(x, "target_scatter", t * t, &s->target_scatter));
    KFE_TRY(exchange(x, "cross", d * t, &s->cross));
cleanup:
    return status;
}

/* The number of rows, which a sum of weights does not tell. */
static kfe_status exchange_count(const kfe_i_exchange *x, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    double *count = &a->count;

    if (x->saves)
        return is_weighted(a) ? kfe_i_exchange_reals(x, "row_count", 1, -1, 0, &count) : KFE_OK;
    a->count = a->sums.rows;
    if (strcmp(text_of(x, "format_version"), WEIGHTED_VERSION) != 0)
        return KFE_OK;
    KFE_TRY(kfe_i_exchange_reals(x, "row_count", 1, -1, 0, &count));
    a->count = count[0];
    a->weighted = 1;
    kfe_i_free(x->ctx, count);
cleanup:
    return status;
}

static kfe_status exchange_sample(const kfe_i_exchange *x, int64_t rows, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    kfe_i_target *target = &a->sample_target;
    int64_t cols = a->sums.cols;

    if (rows == 0)
        return KFE_OK;
    if (!x->saves) {
        a->sample =
            (kfe_i_table){.ctx = x->ctx, .kind = KFE_TABLE_DENSE, .owned = 1, .rows = rows, .cols = cols};
        a->sample.stride = cols;
        *target = (kfe_i_target){.ctx = x->ctx, .task = a->sums.task, .rows = rows, .cols = a->sums.targets};
    }
    KFE_TRY(exchange(x, "sample", rows * cols, &a->sample.values));
    KFE_TRY(kfe_i_exchange_reals(x, "sample_weights", rows, -1, 1, &target->weights));
    if (target->task == KFE_TASK_REAL)
        KFE_TRY(exchange(x, "sample_values", rows * target->cols, &target->values));
    if (target->task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_TRY(kfe_i_exchange_codes(x, "sample_codes", rows, &target->codes));
    for (int64_t i = 0; i < rows; i++)
        KFE_TRY(kfe_i_check_sound(x, target->codes[i] >= 0 && target->codes[i] < a->sums.classes,
                                  "sample_codes"));
cleanup:
    return status;
}

/* ---- classes and map ---- */

static kfe_status save_classes(saving *s, const kfe_accumulator *a)
{
    kfe_status status = KFE_OK;

    if (a->sums.classes == 0)
        return KFE_OK;
    for (int64_t g = 0; g < a->sums.classes; g++)
        kfe_i_text_add(&s->names, a->class_names[g], (int64_t)strlen(a->class_names[g]) + 1);
    KFE_TRY(s->names.status);
    KFE_TRY(kfe_i_exchange_bytes(&s->x, "classes", s->names.length, &s->names.bytes));
cleanup:
    return status;
}

/* The names of the classes: strings, each ended by NUL. sums.classes counts those that there are already. */
static kfe_status load_classes(const kfe_i_exchange *x, int64_t count, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_tensor *tensor = kfe_i_exchange_find(x, "classes");
    const char *text = tensor ? tensor->data : NULL;
    const char *end = tensor ? text + tensor->count : NULL;

    KFE_ALLOC_ZERO(x->ctx, a->class_names, count);
    for (; a->sums.classes < count; a->sums.classes++) {
        size_t left = text ? (size_t)(end - text) : 0;
        if (!text || tensor->dtype != KFE_DTYPE_U8 || left == 0 || !memchr(text, 0, left))
            return kfe_i_damaged(x, "classes");
        KFE_STRDUP(x->ctx, a->class_names[a->sums.classes], text);
        text += strlen(text) + 1;
    }
cleanup:
    return status;
}

static kfe_status load_map(const kfe_i_exchange *x, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_tensor *map = kfe_i_exchange_find(x, "map");

    KFE_TRY(kfe_i_check_sound(x, map && map->dtype == KFE_DTYPE_U8, "map"));
    KFE_TRY(kfe_model_load_bytes(x->ctx, map->data, (size_t)map->count, &a->map));
    KFE_TRY(kfe_i_check_sound(x, a->map->dim == a->sums.cols, "counts"));
cleanup:
    return status;
}

/* ---- saving ---- */

static kfe_status save_started(saving *s, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_model_save_bytes(s->x.ctx, a->map, &s->map, &s->map_size));
    KFE_TRY(kfe_i_exchange_bytes(&s->x, "map", (int64_t)s->map_size, &s->map));
    KFE_TRY(save_classes(s, a));
    KFE_TRY(exchange_sums(&s->x, a->sums.classes, &a->sums));
    KFE_TRY(exchange_count(&s->x, a));
    KFE_TRY(exchange_sample(&s->x, a->sample.rows, a));
cleanup:
    return status;
}

static kfe_status fill(kfe_context *ctx, saving *s, const kfe_accumulator *from)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *a = (kfe_accumulator *)(uintptr_t)from; /* read only */
    int64_t *counts = s->counts;

    kfe_i_safetensors_init(ctx, &s->file);
    kfe_i_text_init(&s->names, ctx);
    s->x = (kfe_i_exchange){.ctx = ctx, .saves = 1, .file = &s->file};
    KFE_TRY(kfe_i_accumulator_check_sums(ctx, a, "the accumulator cannot be saved"));
    counts[COUNT_STARTED] = a->map != NULL;
    counts[COUNT_SPARSE] = a->sparse;
    counts[COUNT_TASK] = (int64_t)a->sums.task;
    counts[COUNT_COLUMNS] = a->sums.cols;
    counts[COUNT_CLASSES] = a->sums.classes;
    counts[COUNT_TARGETS] = a->sums.targets;
    counts[COUNT_SAMPLE] = a->sample.rows;
    KFE_TRY(save_spec(&s->x, a->spec, is_weighted(a)));
    KFE_TRY(kfe_i_exchange_integers(&s->x, "counts", COUNTS, -1, 0, &counts));
    if (a->map)
        KFE_TRY(save_started(s, a));
cleanup:
    return status;
}

static void release(kfe_context *ctx, saving *s)
{
    kfe_i_safetensors_free(&s->file);
    kfe_i_text_free(&s->names);
    kfe_i_free(ctx, s->map);
}

kfe_status kfe_accumulator_save(kfe_context *ctx, const kfe_accumulator *a, const char *path)
{
    kfe_status status = KFE_OK;
    saving s = {0};

    KFE_TRY(fill(ctx, &s, a));
    KFE_TRY(kfe_i_safetensors_write(&s.file, path));
cleanup:
    release(ctx, &s);
    return status;
}

kfe_status kfe_accumulator_save_bytes(kfe_context *ctx, const kfe_accumulator *a, char **out, size_t *size)
{
    kfe_status status = KFE_OK;
    saving s = {0};

    *out = NULL;
    *size = 0;
    KFE_TRY(fill(ctx, &s, a));
    KFE_TRY(kfe_i_safetensors_print(&s.file, out, size));
cleanup:
    release(ctx, &s);
    return status;
}

/* ---- loading ---- */

/* Counts that a file of ours may have. */
static int are_sound(const int64_t *counts)
{
    for (int i = 0; i < COUNTS; i++)
        if (counts[i] < 0 || counts[i] > 1000000000)
            return 0;
    return counts[COUNT_TASK] <= (int64_t)KFE_TASK_REAL && counts[COUNT_COLUMNS] <= 1000000 &&
           counts[COUNT_TARGETS] <= 1000000 && counts[COUNT_CLASSES] <= 100000000;
}

static kfe_status load_started(const kfe_i_exchange *x, const int64_t *counts, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    const char *fault = NULL;

    a->sums = (kfe_i_sums){.ctx = x->ctx,
                           .cols = counts[COUNT_COLUMNS],
                           .targets = counts[COUNT_TARGETS],
                           .task = (kfe_task)counts[COUNT_TASK]};
    KFE_TRY(load_map(x, a));
    KFE_TRY(exchange_sums(x, counts[COUNT_CLASSES], &a->sums));
    KFE_TRY(exchange_count(x, a));
    KFE_TRY(load_classes(x, counts[COUNT_CLASSES], a));
    KFE_TRY(exchange_sample(x, counts[COUNT_SAMPLE], a));
    fault = kfe_i_accumulator_fault(a);
    KFE_TRY(kfe_i_check_sound(x, !fault, fault));
cleanup:
    return status;
}

static kfe_status build(kfe_i_exchange *x, kfe_accumulator **out)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *a = NULL;
    int64_t *counts = NULL;

    KFE_TRY(kfe_i_accumulator_new(x->ctx, &a));
    KFE_TRY(load_spec(x, &a->spec));
    KFE_TRY(kfe_i_exchange_integers(x, "counts", COUNTS, -1, 0, &counts));
    KFE_TRY(kfe_i_check_sound(x, are_sound(counts), "counts"));
    a->sparse = counts[COUNT_SPARSE] != 0;
    if (counts[COUNT_STARTED])
        KFE_TRY(load_started(x, counts, a));
    *out = a;
    a = NULL;
cleanup:
    kfe_i_free(x->ctx, counts);
    kfe_accumulator_free(a);
    return status;
}

kfe_status kfe_accumulator_load(kfe_context *ctx, const char *path, kfe_accumulator **out)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors file = {0};
    kfe_i_exchange x = {.ctx = ctx, .name = path, .file = &file};

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_read(ctx, path, &file));
    KFE_TRY(build(&x, out));
cleanup:
    kfe_i_safetensors_free(&file);
    return status;
}

kfe_status kfe_accumulator_load_bytes(kfe_context *ctx, const void *bytes, size_t size, kfe_accumulator **out)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors file = {0};
    kfe_i_exchange x = {.ctx = ctx, .name = "sums", .file = &file};

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_parse(ctx, x.name, bytes, size, &file));
    KFE_TRY(build(&x, out));
cleanup:
    kfe_i_safetensors_free(&file);
    return status;
}
