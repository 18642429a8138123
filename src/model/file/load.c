/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a model from a file or from memory. safetensors_read.c has checked the container; this file checks
 * what it means, so that every model that loads is safe to use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/file/format.h"
#include "model/file/loading.h"

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
    return *out ? KFE_OK : kfe_i_lack(job->ctx);
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
    const char *fingerprint = kfe_i_safetensors_get(&job->file, "train_fingerprint");
    const char *label_name = kfe_i_safetensors_get(&job->file, "label_name"); /* NULL in older files */

    KFE_TRY(take_text(job, "method", &model->method));
    KFE_TRY(take_text(job, "parameters", &model->params));
    KFE_TRY(take_text(job, "kfe_version", &model->origin.version));
    if (!kfe_i_projector_find(projector, &model->projector))
        return kfe_i_damaged(job, "projector");
    if (!kfe_i_task_find(task, &model->target.task))
        return kfe_i_damaged(job, "task");
    model->origin.train_rows = rows ? strtoll(rows, NULL, 10) : 0;
    model->origin.label_column = label ? strtoll(label, NULL, 10) : 0;
    model->origin.fingerprint = fingerprint ? strtoull(fingerprint, NULL, 16) : 0;
    if (label_name)
        KFE_STRDUP(job->ctx, model->origin.label_name, label_name);
    if (model->origin.train_rows < 1)
        return kfe_i_damaged(job, "train_rows");
cleanup:
    return status;
}

static kfe_status load_classes(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    kfe_i_json_tree list = {0};

    KFE_TRY(kfe_i_take_json(job, "classes", KFE_JSON_ARRAY, &list));
    KFE_ALLOC_ZERO(job->ctx, model->target.class_names, list.root->count);
    for (const kfe_i_json_value *name = list.root->first; name; name = name->next) {
        if (!name->text) {
            status = kfe_i_damaged(job, "classes");
            goto cleanup;
        }
        KFE_STRDUP(job->ctx, model->target.class_names[model->target.class_count], name->text);
        model->target.class_count++;
    }
    if ((model->target.task == KFE_TASK_CLASSES) != (model->target.class_count > 0))
        status = kfe_i_damaged(job, "classes");
cleanup:
    kfe_i_json_tree_free(&list);
    return status;
}

/* `resolved`: names such as `scale`, which training data resolves, are refused. */
static kfe_status load_kernel(kfe_i_loading *job, const kfe_i_json_value *entry, int resolved,
                              kfe_i_kernel_list *out)
{
    kfe_i_kernel kernel = {0};
    const char *text = kfe_i_json_get_text(entry, "kernel");
    int64_t view = kfe_i_json_get_integer(entry, "view");
    kfe_status status;

    if (!text || view < 0 || view >= job->model->view_count)
        return kfe_i_damaged(job, "kernels");
    status = resolved ? kfe_i_take_kernel(job, text, "kernels", &kernel)
                      : kfe_i_take_given_kernel(job, text, &kernel);
    if (status != KFE_OK)
        return status;
    kernel.view = (int)view;
    return kfe_i_kernel_list_add(out, &kernel);
}

/* There is a kernel, and those that read a view suit what it holds. A view that none reads is one whose
 * kernels got no weight. */
static kfe_status check_kernels(kfe_i_loading *job)
{
    kfe_model *model = job->model;

    if (!kfe_i_projector_has_kernels(model->projector))
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
        int given = kfe_i_kernel_list_given(&model->kernels, v);
        if (given < 0 ||
            (given && model->views[v].scaler.map.values)) /* columns of a matrix are not mapped */
            return kfe_i_damaged(job, "kernels");
    }
    return KFE_OK;
}

static kfe_status load_kernels(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_i_json_tree list = {0};

    KFE_TRY(kfe_i_take_json(job, "kernels", KFE_JSON_ARRAY, &list));
    for (const kfe_i_json_value *entry = list.root->first; entry; entry = entry->next)
        KFE_TRY(load_kernel(job, entry, 1, &job->model->kernels));
    KFE_TRY(check_kernels(job));
cleanup:
    kfe_i_json_tree_free(&list);
    return status;
}

/* Options and kernels as they were given; older files do not have them. */
static kfe_status load_given_spec(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_i_json_tree spec = {0};

    if (!kfe_i_safetensors_get(&job->file, "spec"))
        return KFE_OK;
    KFE_TRY(kfe_i_take_json(job, "spec", KFE_JSON_OBJECT, &spec));
    const char *options = kfe_i_json_get_text(spec.root, "options");
    const kfe_i_json_value *kernels = kfe_i_json_get(spec.root, "kernels");
    if (!options || !kfe_i_json_is(kernels, KFE_JSON_ARRAY)) {
        status = kfe_i_damaged(job, "spec");
        goto cleanup;
    }
    KFE_STRDUP(job->ctx, job->model->given.options, options);
    for (const kfe_i_json_value *entry = kernels->first; entry; entry = entry->next)
        KFE_TRY(load_kernel(job, entry, 0, &job->model->given.kernels));
cleanup:
    kfe_i_json_tree_free(&spec);
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
    snprintf(name, sizeof name, "view%d.fill", v);
    KFE_TRY(kfe_i_take_reals(job, name, view->cols, 1, &scaler->fill));
cleanup:
    return status;
}

kfe_status kfe_i_take_map(const kfe_i_loading *job, const char *name, int64_t cols, kfe_i_map *out)
{
    const kfe_i_tensor *tensor = kfe_i_safetensors_find(&job->file, name);

    if (!tensor)
        return KFE_OK;
    if (tensor->rank < 1 || tensor->rank > 2 || tensor->shape[0] != cols ||
        (tensor->rank == 2 && tensor->shape[1] < 1))
        return kfe_i_damaged(job, name);
    out->ctx = job->ctx;
    out->rows = cols;
    out->diagonal = tensor->rank == 1;
    out->cols = out->diagonal ? out->rows : tensor->shape[1];
    return kfe_i_copy_reals(job, tensor, &out->values);
}

/* The linear map after the scaling, if the file has one. */
static kfe_status load_map(kfe_i_loading *job, int v)
{
    kfe_i_model_view *view = &job->model->views[v];
    char name[64];

    snprintf(name, sizeof name, "view%d.map", v);
    if (view->strings && kfe_i_safetensors_find(&job->file, name))
        return kfe_i_damaged(job, name);
    return kfe_i_take_map(job, name, view->cols, &view->scaler.map);
}

/* What missing values are filled with; models of programs that did not know it have no such entry. */
static kfe_status load_fill_kind(kfe_i_loading *job, const char *missing, kfe_i_scaler *scaler)
{
    scaler->fill_kind = missing ? kfe_i_word_index(KFE_FILL_WORDS, missing) : KFE_FILL_NONE;
    if (scaler->fill_kind < 0 || (scaler->fill_kind != KFE_FILL_NONE) != (scaler->fill != NULL))
        return kfe_i_damaged(job, "views");
    return KFE_OK;
}

static kfe_status load_column_names(kfe_i_loading *job, const kfe_i_json_value *list, kfe_i_model_view *view)
{
    kfe_status status = KFE_OK;
    int64_t col = 0;

    if (!list)
        return KFE_OK;
    if (!kfe_i_json_is(list, KFE_JSON_ARRAY) || list->count != view->cols)
        return kfe_i_damaged(job, "views");
    KFE_ALLOC_ZERO(job->ctx, view->column_names, view->cols);
    for (const kfe_i_json_value *name = list->first; name; name = name->next) {
        if (!name->text)
            return kfe_i_damaged(job, "views");
        KFE_STRDUP(job->ctx, view->column_names[col], name->text);
        col++;
    }
cleanup:
    return status;
}

static kfe_status load_view(kfe_i_loading *job, int v, const kfe_i_json_value *entry)
{
    kfe_status status = KFE_OK;
    kfe_i_model_view *view = &job->model->views[v];
    const char *name = kfe_i_json_get_text(entry, "name");
    const char *scale = kfe_i_json_get_text(entry, "scale");
    int64_t columns = kfe_i_json_get_integer(entry, "columns");

    if (!name || !scale || columns < 1 || columns > INT32_MAX)
        return kfe_i_damaged(job, "views");
    KFE_STRDUP(job->ctx, view->name, name);
    view->cols = columns;
    view->strings = kfe_i_json_get_true(entry, "strings");
    KFE_TRY(load_column_names(job, kfe_i_json_get(entry, "column_names"), view));
    KFE_TRY(load_scaler(job, v, kfe_i_word_index(KFE_SCALE_WORDS, scale)));
    KFE_TRY(load_fill_kind(job, kfe_i_json_get_text(entry, "missing"), &view->scaler));
    KFE_TRY(load_map(job, v));
    KFE_TRY(kfe_i_load_encoding(job, kfe_i_json_get(entry, "encoded"), view));
cleanup:
    return status;
}

static kfe_status load_views(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    int view = 0;
    kfe_i_json_tree list = {0};

    KFE_TRY(kfe_i_take_json(job, "views", KFE_JSON_ARRAY, &list));
    if (list.root->count < 1 || list.root->count > 10000) {
        status = kfe_i_damaged(job, "views");
        goto cleanup;
    }
    KFE_TRY(kfe_i_model_new(job->ctx, (int)list.root->count, &job->model));
    for (const kfe_i_json_value *entry = list.root->first; entry; entry = entry->next)
        KFE_TRY(load_view(job, view++, entry));
cleanup:
    kfe_i_json_tree_free(&list);
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
    int64_t rows = job->model->local ? job->model->origin.train_rows : job->model->rows;
    char prefix[32];

    if (job->model->tree)
        return KFE_OK;
    if (job->model->local ? !kfe_i_model_has_landmarks(job->model, v)
                          : !kfe_i_kernel_list_reads(&job->model->kernels, v))
        return KFE_OK;
    snprintf(prefix, sizeof prefix, "view%d", v);
    KFE_TRY(kfe_i_take_support(job, prefix, view->strings, rows,
                               given ? 1 : kfe_i_map_cols(&view->scaler.map, view->cols), &view->support));
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
        model->rows = model->dim = kfe_i_map_cols(&model->views[0].scaler.map, model->views[0].cols);
        return KFE_OK;
    }
    if (!tensor || tensor->rank != 2 || tensor->shape[0] < 1 || tensor->shape[1] < 1)
        return kfe_i_damaged(job, "coefficients");
    model->rows = tensor->shape[0] / kfe_i_model_blocks(model);
    model->dim = tensor->shape[1];
    if (model->projector == KFE_PROJECT_LINEAR &&
        model->rows != kfe_i_map_cols(&model->views[0].scaler.map, model->views[0].cols))
        return kfe_i_damaged(job, "coefficients");
    if (model->rows * kfe_i_model_blocks(model) != tensor->shape[0] || model->rows == 0)
        return kfe_i_damaged(job, "coefficients");
    KFE_TRY(kfe_i_take_reals(job, "coefficients", tensor->shape[0] * model->dim, 0, &model->coefficients));
    KFE_TRY(kfe_i_take_reals(job, "offset", model->dim, 1, &model->offset));
    KFE_TRY(kfe_i_take_tensor(job, "support.index", KFE_DTYPE_I64, model->rows, 1, &index));
    model->support_index = index;
    for (int64_t s = 0; model->support_index && s < model->rows; s++)
        if (model->support_index[s] < 0 || model->support_index[s] >= model->origin.train_rows)
            KFE_TRY(kfe_i_damaged(job, "support.index"));
cleanup:
    return status;
}

/* The name of today: files from before kfe 0.2 say "rounds", and write other records with underscores. */
static kfe_status copy_record_name(kfe_context *ctx, const char *name, char **out)
{
    kfe_status status = KFE_OK;

    KFE_STRDUP(ctx, *out, strcmp(name, "rounds") == 0 ? "iterations" : name);
    for (char *c = *out; *c; c++)
        if (*c == '_')
            *c = '-';
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
        KFE_TRY(copy_record_name(job->ctx, tensor->name + 7, &record->name));
        KFE_TRY(kfe_i_copy_reals(job, tensor, &record->values));
        record->count = tensor->count;
    }
cleanup:
    return status;
}

static kfe_status load_projector(kfe_i_loading *job)
{
    switch (job->model->projector) {
    case KFE_PROJECT_LOCAL:
        return kfe_i_load_local(job);
    case KFE_PROJECT_TREE:
        return kfe_i_load_tree(job);
    default:
        return load_coefficients(job);
    }
}

static kfe_status build_model(kfe_i_loading *job, kfe_model **out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(check_version(job));
    KFE_TRY(load_views(job));
    KFE_TRY(kfe_i_load_division(job));
    KFE_TRY(load_texts(job));
    KFE_TRY(load_classes(job));
    KFE_TRY(load_kernels(job));
    KFE_TRY(load_given_spec(job));
    KFE_TRY(load_projector(job));
    for (int v = 0; job->model->kernels.count > 0 && v < job->model->view_count; v++)
        KFE_TRY(load_support(job, v));
    KFE_TRY(kfe_i_load_predictor(job));
    KFE_TRY(kfe_i_load_calibration(job));
    KFE_TRY(load_records(job));
    KFE_TRY(kfe_i_load_moments(job));
    *out = job->model;
    job->model = NULL;
cleanup:
    kfe_model_free(job->model);
    return status;
}

kfe_status kfe_i_check_loads(const kfe_i_safetensors *file)
{
    kfe_i_loading job = {.ctx = file->ctx, .file = *file};
    kfe_model *model = NULL;
    kfe_status status = build_model(&job, &model);

    kfe_model_free(model);
    return status;
}

kfe_status kfe_model_load(kfe_context *ctx, const char *path, kfe_model **out)
{
    kfe_i_loading job = {.ctx = ctx, .name = path};
    kfe_status status = KFE_OK;

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_read(ctx, path, &job.file));
    KFE_TRY(build_model(&job, out));
cleanup:
    kfe_i_safetensors_free(&job.file);
    return status;
}

kfe_status kfe_model_load_bytes(kfe_context *ctx, const void *bytes, size_t size, kfe_model **out)
{
    kfe_i_loading job = {.ctx = ctx, .name = "model"};
    kfe_status status = KFE_OK;

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_parse(ctx, job.name, bytes, size, &job.file));
    KFE_TRY(build_model(&job, out));
cleanup:
    kfe_i_safetensors_free(&job.file);
    return status;
}
