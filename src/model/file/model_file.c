/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves a model to a file or to memory, and loads it from there. docs/model-file.md describes each tensor and metadata key.
 * safetensors_read.c has checked the container that is loaded; the files here check what it means, so that every model that loads is safe
 * to use. A model is saved only if it loads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/chain_views.h"
#include "model/file/parts.h"
#include "model/linear.h"

/* ---- the version comes first ---- */

#define KFE_MODEL_FORMAT "kfe-model"
/* Raised when older versions of kfe would misread the file. A model is written with the oldest version that reads it rightly:
 * KFE_MODEL_FORMAT_STEPS if steps prepare its rows, KFE_MODEL_FORMAT_VIEWS if each view has its own coefficients, KFE_MODEL_FORMAT_TREES if it is a tree, KFE_MODEL_FORMAT_MAPS if it has a linear map before the kernel, else
 * KFE_MODEL_OLDEST_VERSION. */
enum {
    KFE_MODEL_FORMAT_VERSION = 5,
    KFE_MODEL_FORMAT_STEPS = 5,
    KFE_MODEL_FORMAT_VIEWS = 4,
    KFE_MODEL_FORMAT_TREES = 3,
    KFE_MODEL_FORMAT_MAPS = 2,
    KFE_MODEL_OLDEST_VERSION = 1
};

/* The oldest version that reads this model rightly: those before maps would ignore the map. */
static int64_t version_of(const kfe_model *model)
{
    if (kfe_i_model_prepares(model))
        return KFE_MODEL_FORMAT_STEPS;
    if (model->projector == KFE_PROJECT_VIEWS)
        return KFE_MODEL_FORMAT_VIEWS;
    if (model->tree)
        return KFE_MODEL_FORMAT_TREES;
    return kfe_i_model_has_map(model) ? KFE_MODEL_FORMAT_MAPS : KFE_MODEL_OLDEST_VERSION;
}

static kfe_status check_version(const kfe_i_exchange *x)
{
    const char *format = kfe_i_safetensors_get(x->file, "format");
    const char *version = kfe_i_safetensors_get(x->file, "format_version");
    const char *writer = kfe_i_safetensors_get(x->file, "kfe_version");
    char *end = NULL;
    long number = version ? strtol(version, &end, 10) : 0;

    if (!format || strcmp(format, KFE_MODEL_FORMAT) != 0)
        return kfe_i_fail(x->ctx, KFE_EMODEL, "%s: a safetensors file, but not a kfe model", x->name);
    if (!version || end == version || *end)
        return kfe_i_damaged(x, "it has no format version");
    if (number > KFE_MODEL_FORMAT_VERSION)
        return kfe_i_fail(
            x->ctx, KFE_EMODEL,
            "%s: model format %ld (written by kfe %s) is newer than this kfe %s, which reads up to format "
            "%d; update kfe",
            x->name, number, writer ? writer : "?", KFE_VERSION, KFE_MODEL_FORMAT_VERSION);
    if (number < KFE_MODEL_OLDEST_VERSION)
        return kfe_i_fail(
            x->ctx, KFE_EMODEL,
            "%s: model format %ld is older than this kfe %s reads (format %d and up); fit the model again",
            x->name, number, KFE_VERSION, KFE_MODEL_OLDEST_VERSION);
    return KFE_OK;
}

static kfe_status exchange_version(const kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    int64_t version = 0;

    if (!x->saves)
        return check_version(x);
    version = version_of(x->model);
    KFE_TRY(kfe_i_safetensors_set(x->file, "format", KFE_MODEL_FORMAT));
    KFE_TRY(kfe_i_exchange_number(x, "format_version", &version));
cleanup:
    return status;
}

/* ---- where the model comes from ---- */

/* What cannot be is taken as unknown. */
static kfe_status exchange_label_place(const kfe_i_exchange *x, kfe_i_label_place *place)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_exchange_number(x, "label_column", &place->column));
    if (x->saves && place->columns == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_exchange_number(x, "label_before", &place->before));
    KFE_TRY(kfe_i_exchange_number(x, "label_columns", &place->columns)); /* 0 in older files */
    if (x->saves)
        return KFE_OK;
    if (place->column < 0 || place->before < 0 || place->before >= place->column ||
        (place->columns > 0 && place->column > place->columns))
        *place = (kfe_i_label_place){0};
cleanup:
    return status;
}

static kfe_status exchange_fingerprint(const kfe_i_exchange *x, uint64_t *fingerprint)
{
    const char *found = x->saves ? NULL : kfe_i_safetensors_get(x->file, "train_fingerprint");
    char text[32];

    if (!x->saves)
        *fingerprint = found ? strtoull(found, NULL, 16) : 0;
    if (!x->saves || *fingerprint == 0)
        return KFE_OK;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)*fingerprint);
    return kfe_i_safetensors_set(x->file, "train_fingerprint", text);
}

static kfe_status exchange_names(const kfe_i_exchange *x)
{
    kfe_model *model = x->model;

    if (x->saves) {
        kfe_status status =
            kfe_i_safetensors_set(x->file, "projector", kfe_i_projector_name(model->projector));
        return status == KFE_OK ? kfe_i_safetensors_set(x->file, "task", kfe_i_task_name(model->target.task))
                                : status;
    }
    if (!kfe_i_projector_find(kfe_i_safetensors_get(x->file, "projector"), &model->projector))
        return kfe_i_damaged(x, "projector");
    return kfe_i_check_sound(x, kfe_i_task_find(kfe_i_safetensors_get(x->file, "task"), &model->target.task),
                             "task");
}

static kfe_status exchange_origin(const kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_model *model = x->model;
    kfe_i_origin *origin = &model->origin;

    KFE_TRY(kfe_i_exchange_text(x, "kfe_version", 0, &origin->version));
    KFE_TRY(kfe_i_exchange_text(x, "method", 0, &model->method));
    KFE_TRY(kfe_i_exchange_text(x, "parameters", 0, &model->params));
    KFE_TRY(exchange_names(x));
    KFE_TRY(kfe_i_exchange_number(x, "train_rows", &origin->train_rows));
    KFE_TRY(exchange_label_place(x, &origin->label_place));
    KFE_TRY(exchange_fingerprint(x, &origin->fingerprint));
    KFE_TRY(kfe_i_exchange_text(x, "id_name", 1, &origin->id_name));
    KFE_TRY(kfe_i_exchange_text(x, "label_name", 1, &origin->label_name));
    KFE_TRY(kfe_i_check_sound(x, origin->train_rows >= 1, "train_rows"));
cleanup:
    return status;
}

static kfe_status exchange_classes(const kfe_i_exchange *x)
{
    kfe_i_model_target *target = &x->model->target;
    kfe_i_document d = {0};
    kfe_status status = kfe_i_document_open(x, "classes", KFE_JSON_ARRAY, &d);

    if (status == KFE_OK)
        status = kfe_i_document_items(&d, &target->class_count, &target->class_names);
    if (status == KFE_OK)
        status =
            kfe_i_check_sound(x, (target->task == KFE_TASK_CLASSES) == (target->class_count > 0), "classes");
    return kfe_i_document_close(&d, status);
}

/* ---- kernels ---- */

static kfe_status exchange_kernel(kfe_i_document *d, int resolved, kfe_i_kernel *kernel)
{
    kfe_status status = KFE_OK;
    int64_t view = kernel->view;

    KFE_TRY(kfe_i_document_enter(d, NULL, KFE_JSON_OBJECT));
    KFE_TRY(kfe_i_document_kernel(d, "kernel", resolved, kernel));
    KFE_TRY(kfe_i_document_integer(d, "view", &view));
    KFE_TRY(kfe_i_check_sound(d->x, view >= 0 && view < d->x->model->view_count, "kernels"));
    if (!d->x->saves)
        kernel->view = (int)view;
    kfe_i_document_leave(d);
cleanup:
    return status;
}

/* The kernels of the list that the document is in. */
static kfe_status exchange_kernel_list(kfe_i_document *d, int resolved, kfe_i_kernel_list *list)
{
    kfe_status status = KFE_OK;
    int64_t count = list->count;

    kfe_i_document_count(d, &count);
    for (int64_t m = 0; m < count; m++) {
        kfe_i_kernel kernel = {0};
        if (d->x->saves) {
            KFE_TRY(exchange_kernel(d, resolved, &list->items[m]));
            continue;
        }
        status = exchange_kernel(d, resolved, &kernel);
        if (status != KFE_OK) {
            kfe_i_kernel_free(&kernel);
            return status;
        }
        KFE_TRY(kfe_i_kernel_list_add(list, &kernel));
    }
cleanup:
    return status;
}

/* Without kernels the columns of numbers of one view are used or, by a linear projector, those of several, which no map mixes. */
static int has_right_columns(const kfe_model *model)
{
    int several = model->view_count > 1;

    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].strings || (several && model->views[v].scaler.map.values))
            return 0;
    return model->kernels.count == 0 && (!several || model->projector == KFE_PROJECT_LINEAR);
}

/* There is a kernel, and those that read a view suit what it holds. A view that none reads is one whose
 * kernels got no weight. */
static int has_right_kernels(const kfe_model *model)
{
    if (!kfe_i_projector_has_kernels(model->projector))
        return has_right_columns(model);
    for (int v = 0; v < model->view_count; v++) { /* columns of a matrix are neither prepared nor mapped */
        int given = kfe_i_kernel_list_given(&model->kernels, v);
        if (given < 0 ||
            (given && (model->views[v].scaler.map.values || model->views[v].scaler.chain.count > 0)))
            return 0;
        for (int64_t m = 0; m < model->kernels.count; m++) {
            const kfe_i_kernel *kernel = &model->kernels.items[m];
            if (kernel->view == v && ((kernel->def->flags & KFE_HAS_STRINGS) != 0) != model->views[v].strings)
                return 0;
        }
    }
    return model->kernels.count > 0;
}

static kfe_status exchange_kernels(const kfe_i_exchange *x)
{
    kfe_i_document d = {0};
    kfe_status status = kfe_i_document_open(x, "kernels", KFE_JSON_ARRAY, &d);

    if (status == KFE_OK)
        status = exchange_kernel_list(&d, 1, &x->model->kernels);
    if (status == KFE_OK)
        status = kfe_i_check_sound(x, has_right_kernels(x->model), "kernels");
    return kfe_i_document_close(&d, status);
}

/* Options and kernels as they were given; older files do not have them. */
static kfe_status exchange_given_spec(const kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_i_given_spec *given = &x->model->given;
    kfe_i_document d = {0};

    if (x->saves ? !given->options : !kfe_i_safetensors_get(x->file, "spec"))
        return KFE_OK;
    KFE_TRY(kfe_i_document_open(x, "spec", KFE_JSON_OBJECT, &d));
    KFE_TRY(kfe_i_document_text(&d, "options", 0, &given->options));
    KFE_TRY(kfe_i_document_enter(&d, "kernels", KFE_JSON_ARRAY));
    KFE_TRY(exchange_kernel_list(&d, 0, &given->kernels));
    kfe_i_document_leave(&d);
cleanup:
    return kfe_i_document_close(&d, status);
}

/* ---- records and moments ---- */

/* The name of today: former files say "rounds" and "metric", and those from before kfe 0.2 write records with underscores. */
static kfe_status copy_record_name(kfe_context *ctx, const char *name, char **out)
{
    kfe_status status = KFE_OK;

    KFE_STRDUP(ctx, *out,
               strcmp(name, "rounds") == 0   ? "iterations"
               : strcmp(name, "metric") == 0 ? "distance"
                                             : name);
    for (char *c = *out; *c; c++)
        if (*c == '_')
            *c = '-';
cleanup:
    return status;
}

static kfe_status save_records(kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < x->model->record_count; i++) {
        kfe_i_record *record = &x->model->records[i];
        KFE_TRY(kfe_i_exchange_reals(x, kfe_i_part_name(x, "record", -1, record->name), record->count, -1, 0,
                                     &record->values));
    }
cleanup:
    return status;
}

static kfe_status load_records(kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_model *model = x->model;

    KFE_ALLOC_ZERO(x->ctx, model->records, x->file->tensor_count);
    for (int64_t i = 0; i < x->file->tensor_count; i++) {
        const kfe_i_tensor *tensor = &x->file->tensors[i];
        if (strncmp(tensor->name, "record.", 7) != 0)
            continue;
        kfe_i_record *record = &model->records[model->record_count++];
        KFE_TRY(copy_record_name(x->ctx, tensor->name + 7, &record->name));
        KFE_TRY(kfe_i_exchange_reals(x, tensor->name, tensor->count, -1, 0, &record->values));
        record->count = tensor->count;
    }
cleanup:
    return status;
}

/* What the model and the tensors say about the shapes. */
static kfe_status find_moment_shape(const kfe_i_exchange *x, kfe_i_moments *m)
{
    const kfe_model *model = x->model;
    const kfe_i_tensor *squares = kfe_i_exchange_find(x, "moments.target_squares");

    m->ctx = x->ctx;
    m->dim = model->dim;
    m->cols = kfe_i_exchange_find(x, "moments.cross") ? kfe_i_model_prepared_cols(model) : 0;
    m->targets = squares ? squares->count : 0;
    int task = model->target.task == KFE_TASK_CLASSES ? m->targets == model->target.class_count
                                                      : model->target.task == KFE_TASK_REAL;
    return kfe_i_check_sound(x,
                             model->dim <= INT32_MAX && /* its square would overflow */
                                 (m->cols == 0 || !kfe_i_features_not_linear(model)) &&
                                 (!squares || (squares->count >= 1 && task)),
                             "moments");
}

/* Older files have none. */
static int is_spread(const kfe_i_moments *m)
{
    for (int64_t i = 0; m->spread && i < kfe_i_spread_count(m); i++)
        if (m->spread[i] < 0)
            return 0;
    return !m->spread || m->spread[KFE_SPREAD_MASS] > 0;
}

kfe_status kfe_i_exchange_moments(const kfe_i_exchange *x, kfe_i_moments *m)
{
    kfe_status status = KFE_OK;

    if (x->saves ? m->dim == 0 : !kfe_i_exchange_find(x, "moments.products"))
        return KFE_OK;
    if (!x->saves)
        KFE_TRY(find_moment_shape(x, m));
    KFE_TRY(kfe_i_exchange_reals(x, "moments.feature_means", m->dim, -1, 0, &m->feature_means));
    KFE_TRY(kfe_i_exchange_reals(x, "moments.products", m->dim, m->dim, 0, &m->products));
    if (m->cols > 0) {
        KFE_TRY(kfe_i_exchange_reals(x, "moments.column_means", m->cols, -1, 0, &m->column_means));
        KFE_TRY(kfe_i_exchange_reals(x, "moments.column_squares", m->cols, -1, 0, &m->column_squares));
        KFE_TRY(kfe_i_exchange_reals(x, "moments.cross", m->cols, m->dim, 0, &m->cross));
    }
    if (m->targets > 0) {
        KFE_TRY(kfe_i_exchange_reals(x, "moments.target_means", m->targets, -1, 0, &m->target_means));
        KFE_TRY(kfe_i_exchange_reals(x, "moments.target_squares", m->targets, -1, 0, &m->target_squares));
        KFE_TRY(kfe_i_exchange_reals(x, "moments.target_cross", m->targets, m->dim, 0, &m->target_cross));
    }
    KFE_TRY(kfe_i_exchange_reals(x, "moments.spread", kfe_i_spread_count(m), -1, 1, &m->spread));
    KFE_TRY(kfe_i_check_sound(x, is_spread(m), "moments.spread"));
cleanup:
    return status;
}

/* ---- the whole ---- */

static kfe_status exchange_model(kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;

    KFE_TRY(exchange_version(x));
    KFE_TRY(kfe_i_exchange_views(x));
    KFE_TRY(exchange_origin(x));
    KFE_TRY(exchange_classes(x));
    KFE_TRY(exchange_kernels(x));
    KFE_TRY(exchange_given_spec(x));
    KFE_TRY(kfe_i_exchange_projector(x));
    if (x->saves ? x->model->learner != NULL : kfe_i_safetensors_get(x->file, "learner") != NULL)
        KFE_TRY(kfe_i_exchange_predictor(x));
    KFE_TRY(kfe_i_check_sound(x, x->model->learner || !kfe_i_safetensors_get(x->file, "calibration"),
                              "calibration"));
    if (x->saves ? x->model->conformal.kind != KFE_CONFORMAL_NONE
                 : kfe_i_safetensors_get(x->file, "conformal") != NULL)
        KFE_TRY(kfe_i_exchange_conformal(x));
    KFE_TRY(x->saves ? save_records(x) : load_records(x));
    KFE_TRY(kfe_i_exchange_moments(x, &x->model->moments));
cleanup:
    return status;
}

static kfe_status load(kfe_context *ctx, const char *name, int inner, kfe_i_safetensors *file,
                       kfe_model **out)
{
    kfe_i_exchange x = {.ctx = ctx, .name = name, .inner = inner, .file = file};
    kfe_status status = exchange_model(&x);

    *out = status == KFE_OK ? x.model : NULL;
    if (status != KFE_OK)
        kfe_model_free(x.model);
    return status;
}

/* The container of a model, which is loaded to see that it can be: that takes memory for a copy of all but dense support examples. */
static kfe_status fill(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    kfe_model *copy = NULL;
    kfe_i_exchange x = {
        .ctx = file->ctx, .saves = 1, .file = file, .model = (kfe_model *)(uintptr_t)model /* read only */};

    KFE_TRY(exchange_model(&x));
    KFE_TRY(load(file->ctx, NULL, 0, file, &copy));
cleanup:
    kfe_model_free(copy);
    return status;
}

kfe_status kfe_model_save_bytes(kfe_context *ctx, const kfe_model *model, char **out, size_t *size)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors file;

    *out = NULL;
    *size = 0;
    kfe_i_safetensors_init(ctx, &file);
    KFE_TRY(fill(&file, model));
    KFE_TRY(kfe_i_safetensors_print(&file, out, size));
cleanup:
    kfe_i_safetensors_free(&file);
    return status;
}

kfe_status kfe_model_save(kfe_context *ctx, const kfe_model *model, const char *path)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors file;

    kfe_i_safetensors_init(ctx, &file);
    KFE_TRY(fill(&file, model));
    KFE_TRY(kfe_i_safetensors_write(&file, path));
cleanup:
    kfe_i_safetensors_free(&file);
    return status;
}

kfe_status kfe_model_load(kfe_context *ctx, const char *path, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors file = {0};

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_read(ctx, path, &file));
    KFE_TRY(load(ctx, path, 0, &file, out));
cleanup:
    kfe_i_safetensors_free(&file);
    return status;
}

kfe_status kfe_model_load_bytes(kfe_context *ctx, const void *bytes, size_t size, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors file = {0};

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_parse(ctx, "model", bytes, size, &file));
    KFE_TRY(load(ctx, "model", 0, &file, out));
cleanup:
    kfe_i_safetensors_free(&file);
    return status;
}

kfe_status kfe_i_load_fold_model(kfe_context *ctx, const char *name, const kfe_i_fold_model *part,
                                 kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors file = {0};

    *out = NULL;
    KFE_TRY(kfe_i_safetensors_parse(ctx, name, part->bytes, (size_t)part->size, &file));
    KFE_TRY(load(ctx, name, 1, &file, out));
cleanup:
    kfe_i_safetensors_free(&file);
    return status;
}
