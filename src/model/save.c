/* SPDX-License-Identifier: Apache-2.0 */
/* A model into a safetensors container. What each tensor and metadata key means is in docs/model-file.md. */
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "model/format.h"
#include "model/saving.h"

kfe_status kfe_i_add_part(kfe_i_safetensors *file, const char *prefix, const char *part, kfe_i_dtype dtype,
                          int64_t rows, int64_t cols, const void *data)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", prefix, part);
    return kfe_i_safetensors_add(file, name, dtype, rows, cols, data);
}

kfe_status kfe_i_add_support(kfe_i_safetensors *file, const char *prefix, const kfe_i_table *table)
{
    kfe_status status = KFE_OK;
    int64_t entries = table->kind == KFE_TABLE_DENSE ? 0 : table->row_start[table->rows];

    if (table->kind == KFE_TABLE_DENSE)
        return kfe_i_add_part(file, prefix, "support", KFE_DTYPE_F64, table->rows, table->cols,
                              table->values);
    KFE_TRY(kfe_i_add_part(file, prefix, "support.row_start", KFE_DTYPE_I64, table->rows + 1, -1,
                           table->row_start));
    if (table->kind == KFE_TABLE_TEXT)
        return kfe_i_add_part(file, prefix, "support.bytes", KFE_DTYPE_U8, entries, -1, table->bytes);
    KFE_TRY(kfe_i_add_part(file, prefix, "support.columns", KFE_DTYPE_I32, entries, -1, table->columns));
    KFE_TRY(kfe_i_add_part(file, prefix, "support.values", KFE_DTYPE_F64, entries, -1, table->values));
cleanup:
    return status;
}

static kfe_status add_view(kfe_i_safetensors *file, int view, const kfe_i_model_view *model_view)
{
    kfe_status status = KFE_OK;
    const kfe_i_scaler *scaler = &model_view->scaler;
    char prefix[32];

    snprintf(prefix, sizeof prefix, "view%d", view);
    if (model_view->support.ctx)
        KFE_TRY(kfe_i_add_support(file, prefix, &model_view->support));
    if (scaler->shift)
        KFE_TRY(kfe_i_add_part(file, prefix, "scale.shift", KFE_DTYPE_F64, scaler->cols, -1, scaler->shift));
    if (scaler->factor)
        KFE_TRY(
            kfe_i_add_part(file, prefix, "scale.factor", KFE_DTYPE_F64, scaler->cols, -1, scaler->factor));
cleanup:
    return status;
}

static kfe_status add_predictor(kfe_i_safetensors *file, const kfe_i_predictor *predictor)
{
    kfe_status status = KFE_OK;

    if (predictor->weights)
        KFE_TRY(kfe_i_add_part(file, "learner", "weights", KFE_DTYPE_F64, predictor->rows, predictor->outputs,
                               predictor->weights));
    if (predictor->offset)
        KFE_TRY(kfe_i_add_part(file, "learner", "offset", KFE_DTYPE_F64, predictor->outputs, -1,
                               predictor->offset));
    if (predictor->answers)
        KFE_TRY(kfe_i_add_part(file, "learner", "answers", KFE_DTYPE_F64, predictor->rows,
                               predictor->classes ? 1 : predictor->outputs, predictor->answers));
    if (predictor->support.ctx)
        KFE_TRY(kfe_i_add_support(file, "learner", &predictor->support));
cleanup:
    return status;
}

static kfe_status add_tensors(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    char name[128];

    if (model->coefficients)
        KFE_TRY(kfe_i_safetensors_add(file, "coefficients", KFE_DTYPE_F64, model->rows, model->dim,
                                      model->coefficients));
    if (model->offset)
        KFE_TRY(kfe_i_safetensors_add(file, "offset", KFE_DTYPE_F64, model->dim, -1, model->offset));
    if (model->support_index)
        KFE_TRY(kfe_i_safetensors_add(file, "support.index", KFE_DTYPE_I64, model->rows, -1,
                                      model->support_index));
    for (int v = 0; v < model->view_count; v++)
        KFE_TRY(add_view(file, v, &model->views[v]));
    KFE_TRY(kfe_i_save_local(file, model));
    if (model->learner)
        KFE_TRY(add_predictor(file, &model->predictor));
    for (int64_t i = 0; i < model->record_count; i++) {
        snprintf(name, sizeof name, "record.%s", model->records[i].name);
        KFE_TRY(kfe_i_safetensors_add(file, name, KFE_DTYPE_F64, model->records[i].count, -1,
                                      model->records[i].values));
    }
cleanup:
    return status;
}

/* ---- metadata ---- */

kfe_status kfe_i_set_json(kfe_i_safetensors *file, const char *key, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    kfe_status status =
        text ? kfe_i_safetensors_set(file, key, text)
             : kfe_i_fail(file->ctx, KFE_ENOMEM, "out of memory: could not write the model's %s", key);

    free(text);
    json_decref(value);
    return status;
}

static kfe_status set_number(kfe_i_safetensors *file, const char *key, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return kfe_i_safetensors_set(file, key, text);
}

static json_t *name_list(int64_t count, char *const *names)
{
    json_t *list = json_array();

    for (int64_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

static json_t *view_list(const kfe_model *model)
{
    json_t *list = json_array();

    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_model_view *view = &model->views[v];
        char scale[32] = "none";
        kfe_i_word_at(KFE_SCALE_WORDS, (int)view->scaler.kind, scale, sizeof scale);
        json_t *entry = json_pack("{s:s, s:I, s:b, s:s}", "name", view->name, "columns",
                                  (json_int_t)view->cols, "strings", view->strings, "scale", scale);
        if (view->column_names)
            json_object_set_new(entry, "column_names", name_list(view->cols, view->column_names));
        json_array_append_new(list, entry);
    }
    return list;
}

static kfe_status kernel_text(kfe_context *ctx, const kfe_i_kernel *kernel, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_kernel_format(kernel, &text);
    return kfe_i_text_take(&text, out);
}

static kfe_status kernel_list(const kfe_model *model, json_t **out)
{
    kfe_status status = KFE_OK;

    *out = json_array();
    for (int64_t m = 0; m < model->kernels.count; m++) {
        char *written = NULL;
        KFE_TRY(kernel_text(model->ctx, &model->kernels.items[m], &written));
        json_array_append_new(
            *out, json_pack("{s:s, s:i}", "kernel", written, "view", model->kernels.items[m].view));
        kfe_i_free(model->ctx, written);
    }
cleanup:
    if (status != KFE_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

static kfe_status set_predictor(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &model->predictor;
    char *kernel = NULL;
    char kind[32] = "";
    char decision[32] = "";

    if (predictor->kind == KFE_PREDICTOR_EXPANSION)
        KFE_TRY(kernel_text(model->ctx, &predictor->kernel, &kernel));
    kfe_i_word_at(KFE_PREDICTOR_WORDS, (int)predictor->kind, kind, sizeof kind);
    kfe_i_word_at(KFE_DECISION_WORDS, (int)predictor->decision, decision, sizeof decision);
    KFE_TRY(kfe_i_set_json(
        file, "learner",
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:I}", "name", model->learner, "parameters",
                  model->learner_params, "machine", kind, "decision", decision, "kernel",
                  kernel ? kernel : "", "outputs", (json_int_t)predictor->outputs, "rows",
                  (json_int_t)predictor->rows, "neighbours", (json_int_t)predictor->neighbours, "by_distance",
                  predictor->by_distance, "support_vectors", (json_int_t)predictor->support_vectors)));
cleanup:
    kfe_i_free(model->ctx, kernel);
    return status;
}

static kfe_status add_metadata(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    json_t *kernels = NULL;

    KFE_TRY(kfe_i_safetensors_set(file, "format", KFE_MODEL_FORMAT));
    KFE_TRY(set_number(file, "format_version", KFE_MODEL_FORMAT_VERSION));
    KFE_TRY(kfe_i_safetensors_set(file, "kfe_version", model->version));
    KFE_TRY(kfe_i_safetensors_set(file, "method", model->method));
    KFE_TRY(kfe_i_safetensors_set(file, "parameters", model->params));
    KFE_TRY(kfe_i_safetensors_set(file, "projector", kfe_i_projector_name(model->projector)));
    KFE_TRY(kfe_i_safetensors_set(file, "task", kfe_i_task_name(model->task)));
    KFE_TRY(set_number(file, "train_rows", model->train_rows));
    KFE_TRY(set_number(file, "label_column", model->label_column));
    KFE_TRY(kfe_i_set_json(file, "views", view_list(model)));
    KFE_TRY(kfe_i_set_json(file, "classes", name_list(model->class_count, model->class_names)));
    KFE_TRY(kernel_list(model, &kernels));
    KFE_TRY(kfe_i_set_json(file, "kernels", kernels));
    if (model->learner)
        KFE_TRY(set_predictor(file, model));
cleanup:
    return status;
}

const char *kfe_i_task_name(kfe_task task)
{
    static const char *const names[] = {"none", "classes", "real"};
    return names[task];
}

const char *kfe_i_projector_name(kfe_i_projector projector)
{
    static const char *const names[] = {"kernel", "linear", "identity", "local"};
    return names[projector];
}

static kfe_status fill(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = add_tensors(file, model);
    return status == KFE_OK ? add_metadata(file, model) : status;
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
