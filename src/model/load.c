/* SPDX-License-Identifier: Apache-2.0 */
/* A model out of a safetensors container. The container is sound when we get it; here everything that a model
 * means is checked, so that a file that loads can be used without fear. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/memory.h"
#include "model/format.h"
#include "model/loading.h"

/* ---- the version comes first ---- */

static kfe_status check_version(const kfe_i_loading *job)
{
    const char *format = kfe_i_safetensors_get(&job->file, "format");
    const char *version = kfe_i_safetensors_get(&job->file, "format_version");
    const char *writer = kfe_i_safetensors_get(&job->file, "kfe_version");
    char *end = NULL;
    long number = version ? strtol(version, &end, 10) : 0;

    if (!format || strcmp(format, KFE_MODEL_FORMAT) != 0)
        return kfe_i_fail(job->ctx, KFE_EMODEL, "%s: a safetensors file, but not a kfe model", job->name);
    if (!version || end == version || *end)
        return kfe_i_damaged(job, "it has no format version");
    if (number > KFE_MODEL_FORMAT_VERSION)
        return kfe_i_fail(
            job->ctx, KFE_EMODEL,
            "%s: model format %ld (written by kfe %s) is newer than this kfe %s, which reads up to format "
            "%d; update kfe",
            job->name, number, writer ? writer : "?", KFE_VERSION, KFE_MODEL_FORMAT_VERSION);
    if (number < KFE_MODEL_OLDEST_VERSION)
        return kfe_i_fail(
            job->ctx, KFE_EMODEL,
            "%s: model format %ld is older than this kfe %s reads (format %d and up); fit the model again",
            job->name, number, KFE_VERSION, KFE_MODEL_OLDEST_VERSION);
    return KFE_OK;
}

/* ---- pieces ---- */

static kfe_status take_text(const kfe_i_loading *job, const char *key, char **out)
{
    const char *text = kfe_i_safetensors_get(&job->file, key);

    if (!text)
        return kfe_i_damaged(job, key);
    *out = kfe_i_strdup(job->ctx, text);
    return *out ? KFE_OK : KFE_ENOMEM;
}

static kfe_status take_json(const kfe_i_loading *job, const char *key, json_t **out)
{
    const char *text = kfe_i_safetensors_get(&job->file, key);

    *out = text ? json_loads(text, 0, NULL) : NULL;
    return *out && json_is_array(*out) ? KFE_OK : kfe_i_damaged(job, key);
}

/* ---- metadata ---- */

static kfe_status load_texts(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    const char *projector = kfe_i_safetensors_get(&job->file, "projector");
    const char *task = kfe_i_safetensors_get(&job->file, "task");
    const char *rows = kfe_i_safetensors_get(&job->file, "train_rows");
    const char *label = kfe_i_safetensors_get(&job->file, "label_column");

    KFE_TRY(take_text(job, "method", &model->method));
    KFE_TRY(take_text(job, "parameters", &model->params));
    KFE_TRY(take_text(job, "kfe_version", &model->version));
    if (!projector || kfe_i_word_index(KFE_PROJECTOR_WORDS, projector) < 0)
        return kfe_i_damaged(job, "projector");
    model->projector = (kfe_i_projector)kfe_i_word_index(KFE_PROJECTOR_WORDS, projector);
    if (!task || kfe_i_word_index("none|classes|real", task) < 0)
        return kfe_i_damaged(job, "task");
    model->task = (kfe_task)kfe_i_word_index("none|classes|real", task);
    model->train_rows = rows ? strtoll(rows, NULL, 10) : 0;
    model->label_column = label ? strtoll(label, NULL, 10) : 0;
    if (model->train_rows < 1)
        return kfe_i_damaged(job, "train_rows");
cleanup:
    return status;
}

static kfe_status load_classes(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    json_t *list = NULL;

    KFE_TRY(take_json(job, "classes", &list));
    KFE_ALLOC_ZERO(job->ctx, model->class_names, (int64_t)json_array_size(list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name) {
            status = kfe_i_damaged(job, "classes");
            goto cleanup;
        }
        KFE_STRDUP(job->ctx, model->class_names[i], name);
        model->class_count++;
    }
cleanup:
    json_decref(list);
    return status;
}

static kfe_status load_kernel(kfe_i_loading *job, const json_t *entry)
{
    kfe_i_kernel kernel = {0};
    const char *text = json_string_value(json_object_get(entry, "kernel"));
    json_int_t view = json_integer_value(json_object_get(entry, "view"));
    kfe_status status;

    if (!text || view < 0 || view >= job->model->view_count)
        return kfe_i_damaged(job, "kernels");
    status = kfe_i_take_kernel(job, text, "kernels", &kernel);
    if (status != KFE_OK)
        return status;
    kernel.view = (int)view;
    return kfe_i_kernel_list_add(&job->model->kernels, &kernel);
}

/* There is a kernel, and those that read a view suit what it holds. A view that none reads is one whose
 * kernels got no weight. */
static kfe_status check_kernels(kfe_i_loading *job)
{
    kfe_model *model = job->model;

    if (model->projector != KFE_PROJECT_KERNEL && model->projector != KFE_PROJECT_LOCAL)
        return model->kernels.count == 0 && model->view_count == 1 && !model->views[0].strings
                   ? KFE_OK
                   : kfe_i_damaged(job, "kernels");
    if (model->kernels.count == 0)
        return kfe_i_damaged(job, "kernels");
    for (int v = 0; v < model->view_count; v++) {
        for (int64_t m = 0; m < model->kernels.count; m++) {
            const kfe_i_kernel *kernel = &model->kernels.items[m];
            int strings = (kernel->def->flags & KFE_HAS_STRINGS) != 0;
            if (kernel->view == v && strings != model->views[v].strings)
                return kfe_i_damaged(job, "kernels");
        }
        if (kfe_i_kernel_list_given(&model->kernels, v) < 0)
            return kfe_i_damaged(job, "kernels");
    }
    return KFE_OK;
}

static kfe_status load_kernels(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    json_t *list = NULL;

    KFE_TRY(take_json(job, "kernels", &list));
    for (size_t i = 0; i < json_array_size(list); i++)
        KFE_TRY(load_kernel(job, json_array_get(list, i)));
    KFE_TRY(check_kernels(job));
cleanup:
    json_decref(list);
    return status;
}

/* ---- views ---- */

static kfe_status load_scaler(kfe_i_loading *job, int v, int kind)
{
    kfe_status status = KFE_OK;
    kfe_i_model_view *view = &job->model->views[v];
    kfe_i_scaler *scaler = &view->scaler;
    char name[64];

    if (kind < 0)
        return kfe_i_damaged(job, "views");
    scaler->ctx = job->ctx;
    scaler->kind = (kfe_i_scale_kind)kind;
    scaler->cols = view->cols;
    snprintf(name, sizeof name, "view%d.scale.shift", v);
    KFE_TRY(kfe_i_take_reals(job, name, view->cols, 1, &scaler->shift));
    snprintf(name, sizeof name, "view%d.scale.factor", v);
    KFE_TRY(kfe_i_take_reals(job, name, view->cols, 1, &scaler->factor));
    if ((kind == KFE_SCALE_STANDARD || kind == KFE_SCALE_MINMAX || kind == KFE_SCALE_UNIT_NORM) &&
        !scaler->factor)
        return kfe_i_damaged(job, name);
cleanup:
    return status;
}

static kfe_status load_column_names(kfe_i_loading *job, const json_t *list, kfe_i_model_view *view)
{
    kfe_status status = KFE_OK;

    if (!list)
        return KFE_OK;
    if (!json_is_array(list) || (int64_t)json_array_size(list) != view->cols)
        return kfe_i_damaged(job, "views");
    KFE_ALLOC_ZERO(job->ctx, view->column_names, view->cols);
    for (int64_t j = 0; j < view->cols; j++) {
        const char *name = json_string_value(json_array_get(list, (size_t)j));
        if (!name)
            return kfe_i_damaged(job, "views");
        KFE_STRDUP(job->ctx, view->column_names[j], name);
    }
cleanup:
    return status;
}

static kfe_status load_view(kfe_i_loading *job, int v, const json_t *entry)
{
    kfe_status status = KFE_OK;
    kfe_i_model_view *view = &job->model->views[v];
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *scale = json_string_value(json_object_get(entry, "scale"));
    json_t *columns = json_object_get(entry, "columns");

    if (!name || !scale || !json_is_integer(columns) || json_integer_value(columns) < 1 ||
        json_integer_value(columns) > INT32_MAX)
        return kfe_i_damaged(job, "views");
    KFE_STRDUP(job->ctx, view->name, name);
    view->cols = json_integer_value(columns);
    view->strings = json_is_true(json_object_get(entry, "strings"));
    KFE_TRY(load_column_names(job, json_object_get(entry, "column_names"), view));
    KFE_TRY(load_scaler(job, v, kfe_i_word_index(KFE_SCALE_WORDS, scale)));
cleanup:
    return status;
}

static kfe_status load_views(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    json_t *list = NULL;

    KFE_TRY(take_json(job, "views", &list));
    if (json_array_size(list) < 1 || json_array_size(list) > 10000) {
        status = kfe_i_damaged(job, "views");
        goto cleanup;
    }
    KFE_TRY(kfe_i_model_new(job->ctx, (int)json_array_size(list), &job->model));
    for (int v = 0; v < job->model->view_count; v++)
        KFE_TRY(load_view(job, v, json_array_get(list, (size_t)v)));
cleanup:
    json_decref(list);
    return status;
}

/* ---- support sets ---- */

static kfe_status check_column_numbers(const kfe_i_loading *job, const kfe_i_table *support, int64_t cols)
{
    for (int64_t i = 0; i < support->rows; i++)
        if (!(support->values[i] >= 0 && support->values[i] < (double)cols))
            return kfe_i_damaged(job, "support");
    return KFE_OK;
}

static kfe_status load_support(kfe_i_loading *job, int v)
{
    kfe_status status = KFE_OK;
    kfe_i_model_view *view = &job->model->views[v];
    int given = kfe_i_kernel_list_given(&job->model->kernels, v);
    int64_t rows = job->model->local ? job->model->train_rows : job->model->rows;
    char prefix[32];

    if (job->model->local ? !kfe_i_model_has_landmarks(job->model, v)
                          : !kfe_i_kernel_list_reads(&job->model->kernels, v))
        return KFE_OK;
    snprintf(prefix, sizeof prefix, "view%d", v);
    KFE_TRY(kfe_i_take_support(job, prefix, view->strings, rows, given ? 1 : view->cols, &view->support));
    if (given && view->support.kind != KFE_TABLE_DENSE)
        status = kfe_i_damaged(job, "support");
    else if (given)
        KFE_TRY(check_column_numbers(job, &view->support, view->cols));
cleanup:
    return status;
}

/* ---- numbers ---- */

static kfe_status load_coefficients(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    const kfe_i_tensor *tensor = kfe_i_safetensors_find(&job->file, "coefficients");
    void *index = NULL;

    if (model->projector == KFE_PROJECT_IDENTITY) {
        model->rows = model->dim = model->views[0].cols;
        return KFE_OK;
    }
    if (!tensor || tensor->rank != 2 || tensor->shape[0] < 1 || tensor->shape[1] < 1)
        return kfe_i_damaged(job, "coefficients");
    model->rows = tensor->shape[0];
    model->dim = tensor->shape[1];
    if (model->projector == KFE_PROJECT_LINEAR && model->rows != model->views[0].cols)
        return kfe_i_damaged(job, "coefficients");
    KFE_TRY(kfe_i_take_reals(job, "coefficients", model->rows * model->dim, 0, &model->coefficients));
    KFE_TRY(kfe_i_take_reals(job, "offset", model->dim, 1, &model->offset));
    KFE_TRY(kfe_i_take_tensor(job, "support.index", KFE_DTYPE_I64, model->rows, 1, &index));
    model->support_index = index;
cleanup:
    return status;
}

static kfe_status load_records(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;

    KFE_ALLOC_ZERO(job->ctx, model->records, job->file.tensor_count);
    for (int64_t i = 0; i < job->file.tensor_count; i++) {
        const kfe_i_tensor *tensor = &job->file.tensors[i];
        if (strncmp(tensor->name, "record.", 7) != 0)
            continue;
        kfe_i_record *record = &model->records[model->record_count++];
        KFE_STRDUP(job->ctx, record->name, tensor->name + 7);
        KFE_TRY(kfe_i_take_reals(job, tensor->name, tensor->count, 0, &record->values));
        record->count = tensor->count;
    }
cleanup:
    return status;
}

/* Consumes the container in `job->file`, whatever happens. */
static kfe_status build_model(kfe_i_loading *job, kfe_model **out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(check_version(job));
    KFE_TRY(load_views(job));
    KFE_TRY(load_texts(job));
    KFE_TRY(load_classes(job));
    KFE_TRY(load_kernels(job));
    KFE_TRY(job->model->projector == KFE_PROJECT_LOCAL ? kfe_i_load_local(job) : load_coefficients(job));
    for (int v = 0; job->model->kernels.count > 0 && v < job->model->view_count; v++)
        KFE_TRY(load_support(job, v));
    KFE_TRY(kfe_i_load_predictor(job));
    KFE_TRY(load_records(job));
    *out = job->model;
    job->model = NULL;
cleanup:
    kfe_model_free(job->model);
    kfe_i_safetensors_free(&job->file);
    return status;
}

kfe_status kfe_model_load(kfe_context *ctx, const char *path, kfe_model **out)
{
    kfe_i_loading job = {.ctx = ctx, .name = path};
    kfe_status status;

    *out = NULL;
    status = kfe_i_safetensors_read(ctx, path, &job.file);
    return status == KFE_OK ? build_model(&job, out) : status;
}

kfe_status kfe_model_load_bytes(kfe_context *ctx, const void *bytes, size_t size, kfe_model **out)
{
    kfe_i_loading job = {.ctx = ctx, .name = "model"};
    kfe_status status;

    *out = NULL;
    status = kfe_i_safetensors_parse(ctx, job.name, bytes, size, &job.file);
    return status == KFE_OK ? build_model(&job, out) : status;
}
