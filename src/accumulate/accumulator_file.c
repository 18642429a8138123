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
#include "model/file/loading.h"

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

/* ---- saving ---- */

typedef struct saving {
    kfe_i_safetensors file;
    int64_t counts[COUNTS];
    char *map;
    size_t map_size;
    kfe_i_text names;
} saving;

static kfe_status set_params(kfe_i_safetensors *file, const char *key, const kfe_i_param_table *table,
                             const void *settings)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;
    char *value = NULL;

    kfe_i_text_init(&text, file->ctx);
    kfe_i_params_format(table, settings, &text);
    KFE_TRY(kfe_i_text_take(&text, &value));
    KFE_TRY(kfe_i_safetensors_set(file, key, value));
cleanup:
    kfe_i_free(file->ctx, value);
    return status;
}

static kfe_status set_spec(kfe_i_safetensors *file, const kfe_spec *spec, int weighted)
{
    kfe_status status = KFE_OK;
    char *kernel = NULL;
    char key[32];

    KFE_TRY(kfe_i_safetensors_set(file, "format", FORMAT));
    KFE_TRY(kfe_i_safetensors_set(file, "format_version", weighted ? WEIGHTED_VERSION : FORMAT_VERSION));
    KFE_TRY(kfe_i_safetensors_set(file, "method", spec->method->name));
    KFE_TRY(set_params(file, "parameters", &spec->method->params, spec->settings));
    KFE_TRY(set_params(file, "fit", &kfe_i_fit_params, &spec->fit));
    for (int64_t m = 0; m < spec->kernels.count; m++) {
        snprintf(key, sizeof key, "kernel%lld", (long long)m);
        KFE_TRY(kfe_i_kernel_text(file->ctx, &spec->kernels.items[m], &kernel));
        KFE_TRY(kfe_i_safetensors_set(file, key, kernel));
        kfe_i_free(file->ctx, kernel);
        kernel = NULL;
    }
    if (spec->learner) {
        KFE_TRY(kfe_i_safetensors_set(file, "learner", spec->learner->name));
        KFE_TRY(set_params(file, "learner_parameters", &spec->learner->params, spec->learner_settings));
    }
cleanup:
    kfe_i_free(file->ctx, kernel);
    return status;
}

static kfe_status add_reals(kfe_i_safetensors *file, const char *name, int64_t count, const double *values)
{
    return count > 0 ? kfe_i_safetensors_add(file, name, KFE_DTYPE_F64, count, -1, values) : KFE_OK;
}

static kfe_status add_sums(kfe_i_safetensors *file, const kfe_i_sums *s)
{
    kfe_status status = KFE_OK;
    int64_t d = s->cols;
    int64_t t = s->targets;

    KFE_TRY(add_reals(file, "rows", 1, &s->rows));
    KFE_TRY(add_reals(file, "mean", d, s->mean));
    KFE_TRY(add_reals(file, "scatter", d * d, s->scatter));
    KFE_TRY(add_reals(file, "least", d, s->least));
    KFE_TRY(add_reals(file, "largest", d, s->largest));
    KFE_TRY(add_reals(file, "class_rows", s->classes, s->class_rows));
    KFE_TRY(add_reals(file, "class_means", s->classes * d, s->class_means));
    KFE_TRY(add_reals(file, "target_mean", t, s->target_mean));
    KFE_TRY(add_reals(file, "target_scatter", t * t, s->target_scatter));
    KFE_TRY(add_reals(file, "cross", d * t, s->cross));
cleanup:
    return status;
}

static kfe_status add_sample(kfe_i_safetensors *file, const kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &a->sample_target;
    int64_t rows = a->sample.rows;

    KFE_TRY(add_reals(file, "sample", rows * a->sample.cols, a->sample.values));
    if (target->codes && rows > 0)
        KFE_TRY(kfe_i_safetensors_add(file, "sample_codes", KFE_DTYPE_I32, rows, -1, target->codes));
    if (target->values)
        KFE_TRY(add_reals(file, "sample_values", rows * target->cols, target->values));
    if (target->weights)
        KFE_TRY(add_reals(file, "sample_weights", rows, target->weights));
cleanup:
    return status;
}

static kfe_status add_started(saving *s, const kfe_accumulator *a)
{
    kfe_status status = KFE_OK;

    for (int64_t g = 0; g < a->sums.classes; g++)
        kfe_i_text_add(&s->names, a->class_names[g], (int64_t)strlen(a->class_names[g]) + 1);
    KFE_TRY(kfe_model_save_bytes(a->ctx, a->map, &s->map, &s->map_size));
    KFE_TRY(kfe_i_safetensors_add(&s->file, "map", KFE_DTYPE_U8, (int64_t)s->map_size, -1, s->map));
    if (a->sums.classes > 0) {
        KFE_TRY(s->names.status);
        KFE_TRY(
            kfe_i_safetensors_add(&s->file, "classes", KFE_DTYPE_U8, s->names.length, -1, s->names.bytes));
    }
    KFE_TRY(add_sums(&s->file, &a->sums));
    if (is_weighted(a))
        KFE_TRY(add_reals(&s->file, "row_count", 1, &a->count));
    KFE_TRY(add_sample(&s->file, a));
cleanup:
    return status;
}

static kfe_status fill(saving *s, const kfe_accumulator *a)
{
    kfe_status status = KFE_OK;

    kfe_i_safetensors_init(a->ctx, &s->file);
    kfe_i_text_init(&s->names, a->ctx);
    KFE_TRY(kfe_i_accumulator_check_sums(a, "the accumulator cannot be saved"));
    s->counts[COUNT_STARTED] = a->map != NULL;
    s->counts[COUNT_SPARSE] = a->sparse;
    s->counts[COUNT_TASK] = (int64_t)a->sums.task;
    s->counts[COUNT_COLUMNS] = a->sums.cols;
    s->counts[COUNT_CLASSES] = a->sums.classes;
    s->counts[COUNT_TARGETS] = a->sums.targets;
    s->counts[COUNT_SAMPLE] = a->sample.rows;
    KFE_TRY(set_spec(&s->file, a->spec, is_weighted(a)));
    KFE_TRY(kfe_i_safetensors_add(&s->file, "counts", KFE_DTYPE_I64, COUNTS, -1, s->counts));
    if (a->map)
        KFE_TRY(add_started(s, a));
cleanup:
    return status;
}

static void release(kfe_context *ctx, saving *s)
{
    kfe_i_safetensors_free(&s->file);
    kfe_i_text_free(&s->names);
    kfe_i_free(ctx, s->map);
}

kfe_status kfe_accumulator_save(const kfe_accumulator *a, const char *path)
{
    kfe_status status = KFE_OK;
    saving s = {0};

    KFE_TRY(fill(&s, a));
    KFE_TRY(kfe_i_safetensors_write(&s.file, path));
cleanup:
    release(a->ctx, &s);
    return status;
}

kfe_status kfe_accumulator_save_bytes(const kfe_accumulator *a, char **out, size_t *size)
{
    kfe_status status = KFE_OK;
    saving s = {0};

    *out = NULL;
    *size = 0;
    KFE_TRY(fill(&s, a));
    KFE_TRY(kfe_i_safetensors_print(&s.file, out, size));
cleanup:
    release(a->ctx, &s);
    return status;
}

/* ---- loading ---- */

static const char *text_of(const kfe_i_loading *job, const char *key)
{
    const char *value = kfe_i_safetensors_get(&job->file, key);

    return value ? value : "";
}

static kfe_status load_kernels(const kfe_i_loading *job, kfe_spec *spec)
{
    kfe_status status = KFE_OK;
    const char *kernel = NULL;
    char key[32];

    for (int m = 0;; m++) {
        snprintf(key, sizeof key, "kernel%d", m);
        kernel = kfe_i_safetensors_get(&job->file, key);
        if (!kernel)
            break;
        KFE_TRY(kfe_spec_add_kernel(job->ctx, spec, kernel));
    }
cleanup:
    return status;
}

static kfe_status load_spec(const kfe_i_loading *job, kfe_spec **out)
{
    kfe_status status = KFE_OK;
    const char *version = text_of(job, "format_version");
    const char *learner = kfe_i_safetensors_get(&job->file, "learner");

    if (strcmp(text_of(job, "format"), FORMAT) != 0)
        KFE_FAIL(job->ctx, KFE_EMODEL, "%s: this is not a file of sums over rows", job->name);
    if (strcmp(version, FORMAT_VERSION) != 0 && strcmp(version, WEIGHTED_VERSION) != 0)
        KFE_FAIL(job->ctx, KFE_EMODEL, "%s: a newer version of kfe wrote this file", job->name);
    KFE_TRY(kfe_spec_parse(job->ctx, text_of(job, "method"), text_of(job, "parameters"), NULL, out));
    KFE_TRY(kfe_i_fit_settings_parse(job->ctx, text_of(job, "fit"), &(*out)->fit));
    KFE_TRY(load_kernels(job, *out));
    if (learner)
        KFE_TRY(kfe_spec_set_learner(job->ctx, *out, learner, text_of(job, "learner_parameters")));
    KFE_TRY(kfe_i_accumulator_check(job->ctx, *out, kfe_i_keeps_rows(*out)));
cleanup:
    return status;
}

/* Counts that no file of ours has. */
static int are_sound(const int64_t *counts)
{
    for (int i = 0; i < COUNTS; i++)
        if (counts[i] < 0 || counts[i] > 1000000000)
            return 0;
    return counts[COUNT_TASK] <= (int64_t)KFE_TASK_REAL && counts[COUNT_COLUMNS] <= 1000000 &&
           counts[COUNT_TARGETS] <= 1000000 && counts[COUNT_CLASSES] <= 100000000;
}

static kfe_status take(const kfe_i_loading *job, const char *name, int64_t count, double **out)
{
    kfe_status status = KFE_OK;

    if (count > 0)
        return kfe_i_take_tensor(job, name, KFE_DTYPE_F64, count, 0, (void **)out);
    KFE_ALLOC(job->ctx, *out, 1);
cleanup:
    return status;
}

static kfe_status load_sums(const kfe_i_loading *job, const int64_t *counts, kfe_i_sums *s)
{
    kfe_status status = KFE_OK;
    double *rows = NULL;
    int64_t d = s->cols = counts[COUNT_COLUMNS];
    int64_t t = s->targets = counts[COUNT_TARGETS];

    s->ctx = job->ctx;
    s->task = (kfe_task)counts[COUNT_TASK];
    KFE_TRY(take(job, "rows", 1, &rows));
    s->rows = rows[0];
    KFE_TRY(take(job, "mean", d, &s->mean));
    KFE_TRY(take(job, "scatter", d * d, &s->scatter));
    KFE_TRY(take(job, "least", d, &s->least));
    KFE_TRY(take(job, "largest", d, &s->largest));
    KFE_TRY(take(job, "class_rows", counts[COUNT_CLASSES], &s->class_rows));
    KFE_TRY(take(job, "class_means", counts[COUNT_CLASSES] * d, &s->class_means));
    KFE_TRY(take(job, "target_mean", t, &s->target_mean));
    KFE_TRY(take(job, "target_scatter", t * t, &s->target_scatter));
    KFE_TRY(take(job, "cross", d * t, &s->cross));
cleanup:
    kfe_i_free(job->ctx, rows);
    return status;
}

/* The names of the classes: strings, each ended by NUL. sums.classes counts those that there are already. */
static kfe_status load_classes(const kfe_i_loading *job, int64_t count, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_tensor *tensor = kfe_i_safetensors_find(&job->file, "classes");
    const char *text = tensor ? tensor->data : NULL;
    const char *end = tensor ? text + tensor->count : NULL;

    KFE_ALLOC_ZERO(job->ctx, a->class_names, count);
    for (; a->sums.classes < count; a->sums.classes++) {
        size_t left = text ? (size_t)(end - text) : 0;
        if (!text || tensor->dtype != KFE_DTYPE_U8 || left == 0 || !memchr(text, 0, left))
            return kfe_i_damaged(job, "classes");
        KFE_STRDUP(job->ctx, a->class_names[a->sums.classes], text);
        text += strlen(text) + 1;
    }
cleanup:
    return status;
}

static kfe_status load_sample(const kfe_i_loading *job, int64_t rows, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    kfe_i_target *target = &a->sample_target;

    if (rows == 0)
        return KFE_OK;
    a->sample = (kfe_i_table){.ctx = job->ctx,
                              .kind = KFE_TABLE_DENSE,
                              .owned = 1,
                              .rows = rows,
                              .cols = a->sums.cols,
                              .stride = a->sums.cols};
    *target = (kfe_i_target){.ctx = job->ctx, .task = a->sums.task, .rows = rows, .cols = a->sums.targets};
    KFE_TRY(take(job, "sample", rows * a->sums.cols, &a->sample.values));
    if (kfe_i_safetensors_find(&job->file, "sample_weights"))
        KFE_TRY(take(job, "sample_weights", rows, &target->weights));
    if (target->task == KFE_TASK_REAL)
        KFE_TRY(take(job, "sample_values", rows * target->cols, &target->values));
    if (target->task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_TRY(kfe_i_take_tensor(job, "sample_codes", KFE_DTYPE_I32, rows, 0, (void **)&target->codes));
    for (int64_t i = 0; i < rows; i++)
        if (target->codes[i] < 0 || target->codes[i] >= a->sums.classes)
            return kfe_i_damaged(job, "sample_codes");
cleanup:
    return status;
}

/* The number of rows, which a sum of weights does not tell. */
static kfe_status load_count(const kfe_i_loading *job, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    double *count = NULL;

    a->count = a->sums.rows;
    if (strcmp(text_of(job, "format_version"), WEIGHTED_VERSION) != 0)
        return KFE_OK;
    KFE_TRY(take(job, "row_count", 1, &count));
    a->count = count[0];
    a->weighted = 1;
cleanup:
    kfe_i_free(job->ctx, count);
    return status;
}

static kfe_status load_started(const kfe_i_loading *job, const int64_t *counts, kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_tensor *map = kfe_i_safetensors_find(&job->file, "map");
    const char *fault = NULL;

    if (!map || map->dtype != KFE_DTYPE_U8)
        return kfe_i_damaged(job, "map");
    KFE_TRY(kfe_model_load_bytes(job->ctx, map->data, (size_t)map->count, &a->map));
    if (a->map->dim != counts[COUNT_COLUMNS])
        return kfe_i_damaged(job, "counts");
    KFE_TRY(load_sums(job, counts, &a->sums));
    KFE_TRY(load_count(job, a));
    KFE_TRY(load_classes(job, counts[COUNT_CLASSES], a));
    KFE_TRY(load_sample(job, counts[COUNT_SAMPLE], a));
    fault = kfe_i_accumulator_fault(a);
    if (fault)
        return kfe_i_damaged(job, fault);
cleanup:
    return status;
}

static kfe_status build(kfe_i_loading *job, kfe_accumulator **out)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *a = NULL;
    int64_t *counts = NULL;

    KFE_TRY(kfe_i_accumulator_new(job->ctx, &a));
    KFE_TRY(load_spec(job, &a->spec));
    KFE_TRY(kfe_i_take_tensor(job, "counts", KFE_DTYPE_I64, COUNTS, 0, (void **)&counts));
    if (!are_sound(counts))
        KFE_TRY(kfe_i_damaged(job, "counts"));
    a->sparse = counts[COUNT_SPARSE] != 0;
    if (counts[COUNT_STARTED])
        KFE_TRY(load_started(job, counts, a));
    *out = a;
    a = NULL;
cleanup:
    kfe_i_free(job->ctx, counts);
    kfe_accumulator_free(a);
    return status;
}

kfe_status kfe_accumulator_load(kfe_context *ctx, const char *path, kfe_accumulator **out)
{
    kfe_status status = KFE_OK;
    kfe_i_loading job = {.ctx = ctx, .name = path};

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_read(ctx, path, &job.file));
    KFE_TRY(build(&job, out));
cleanup:
    kfe_i_safetensors_free(&job.file);
    return status;
}

kfe_status kfe_accumulator_load_bytes(kfe_context *ctx, const void *bytes, size_t size, kfe_accumulator **out)
{
    kfe_status status = KFE_OK;
    kfe_i_loading job = {.ctx = ctx, .name = "sums"};

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_parse(ctx, job.name, bytes, size, &job.file));
    KFE_TRY(build(&job, out));
cleanup:
    kfe_i_safetensors_free(&job.file);
    return status;
}
