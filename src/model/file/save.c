/* SPDX-License-Identifier: Apache-2.0 */
/* Saves a model to a file or to memory. docs/model-file.md describes each tensor and metadata key. */
#include <stdio.h>

#include "core/memory.h"
#include "model/file/format.h"
#include "model/file/loading.h"
#include "model/file/saving.h"

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
    if (scaler->fill)
        KFE_TRY(kfe_i_add_part(file, prefix, "fill", KFE_DTYPE_F64, scaler->cols, -1, scaler->fill));
    if (scaler->map.values)
        KFE_TRY(kfe_i_add_part(file, prefix, "map", KFE_DTYPE_F64, scaler->map.rows,
                               scaler->map.diagonal ? -1 : scaler->map.cols, scaler->map.values));
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
        KFE_TRY(kfe_i_safetensors_add(file, "coefficients", KFE_DTYPE_F64,
                                      kfe_i_model_blocks(model) * model->rows, model->dim,
                                      model->coefficients));
    if (model->offset)
        KFE_TRY(kfe_i_safetensors_add(file, "offset", KFE_DTYPE_F64, model->dim, -1, model->offset));
    if (model->support_index)
        KFE_TRY(kfe_i_safetensors_add(file, "support.index", KFE_DTYPE_I64, model->rows, -1,
                                      model->support_index));
    for (int v = 0; v < model->view_count; v++)
        KFE_TRY(add_view(file, v, &model->views[v]));
    KFE_TRY(kfe_i_save_local(file, model));
    KFE_TRY(kfe_i_save_tree(file, model->tree));
    if (model->learner)
        KFE_TRY(add_predictor(file, &model->predictor));
    KFE_TRY(kfe_i_save_moments(file, &model->moments));
    KFE_TRY(kfe_i_save_calibration(file, &model->calibration));
    for (int64_t i = 0; i < model->record_count; i++) {
        snprintf(name, sizeof name, "record.%s", model->records[i].name);
        KFE_TRY(kfe_i_safetensors_add(file, name, KFE_DTYPE_F64, model->records[i].count, -1,
                                      model->records[i].values));
    }
cleanup:
    return status;
}

/* ---- metadata ---- */

kfe_status kfe_i_set_json(kfe_i_safetensors *file, const char *key, kfe_i_json *json)
{
    kfe_status status = KFE_OK;
    char *text = NULL;

    KFE_TRY(kfe_i_json_finish(json, &text));
    KFE_TRY(kfe_i_safetensors_set(file, key, text));
cleanup:
    kfe_i_free(file->ctx, text);
    return status;
}

static kfe_status set_number(kfe_i_safetensors *file, const char *key, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return kfe_i_safetensors_set(file, key, text);
}

static void add_names(kfe_i_json *json, const char *key, int64_t count, char *const *names)
{
    kfe_i_json_array(json, key);
    for (int64_t i = 0; i < count; i++)
        kfe_i_json_text(json, NULL, names[i]);
    kfe_i_json_end(json);
}

static kfe_status set_classes(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_i_json json;

    kfe_i_json_init(&json, file->ctx, 0);
    add_names(&json, NULL, model->target.class_count, model->target.class_names);
    return kfe_i_set_json(file, "classes", &json);
}

/* Columns of categories, by their number before encoding, from 1. */
static void add_encoding(kfe_i_json *json, const kfe_i_encoding *encoding)
{
    if (encoding->count == 0)
        return;
    kfe_i_json_array(json, "encoded");
    for (int64_t e = 0; e < encoding->count; e++) {
        const kfe_i_categories *column = &encoding->columns[e];
        kfe_i_json_object(json, NULL);
        kfe_i_json_integer(json, "column", column->column + 1);
        if (column->name)
            kfe_i_json_text(json, "name", column->name);
        add_names(json, "categories", column->count, column->words);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static void add_view_entry(kfe_i_json *json, const kfe_i_model_view *view)
{
    char scale[32] = "none";

    kfe_i_word_at(KFE_SCALE_WORDS, (int)view->scaler.kind, scale, sizeof scale);
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "name", view->name);
    kfe_i_json_integer(json, "columns", view->cols);
    kfe_i_json_boolean(json, "strings", view->strings);
    kfe_i_json_text(json, "scale", scale);
    if (view->scaler.fill) {
        kfe_i_word_at(KFE_FILL_WORDS, view->scaler.fill_kind, scale, sizeof scale);
        kfe_i_json_text(json, "missing", scale);
    }
    if (view->column_names)
        add_names(json, "column_names", view->cols, view->column_names);
    add_encoding(json, &view->encoding);
    kfe_i_json_end(json);
}

static kfe_status set_views(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_i_json json;

    kfe_i_json_init(&json, file->ctx, 0);
    kfe_i_json_array(&json, NULL);
    for (int v = 0; v < model->view_count; v++)
        add_view_entry(&json, &model->views[v]);
    kfe_i_json_end(&json);
    return kfe_i_set_json(file, "views", &json);
}

/* Which view each column of the one table belongs to, from 1; 0: none. */
static kfe_status set_division(kfe_i_safetensors *file, const kfe_i_division *division)
{
    kfe_i_json json;

    if (division->cols == 0)
        return KFE_OK;
    kfe_i_json_init(&json, file->ctx, 0);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_array(&json, "views");
    for (int64_t j = 0; j < division->cols; j++)
        kfe_i_json_integer(&json, NULL, division->view_of[j] + 1);
    kfe_i_json_end(&json);
    if (division->names)
        add_names(&json, "column_names", division->cols, division->names);
    kfe_i_json_end(&json);
    return kfe_i_set_json(file, "division", &json);
}

static kfe_status add_kernel_entry(kfe_i_json *json, const kfe_i_kernel *kernel)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = json->text.ctx;
    char *written = NULL;

    KFE_TRY(kfe_i_kernel_text(ctx, kernel, &written));
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "kernel", written);
    kfe_i_json_integer(json, "view", kernel->view);
    kfe_i_json_end(json);
cleanup:
    kfe_i_free(ctx, written);
    return status;
}

static kfe_status add_kernels(kfe_i_json *json, const char *key, const kfe_i_kernel_list *list)
{
    kfe_status status = KFE_OK;

    kfe_i_json_array(json, key);
    for (int64_t m = 0; m < list->count; m++)
        KFE_TRY(add_kernel_entry(json, &list->items[m]));
    kfe_i_json_end(json);
cleanup:
    return status;
}

static kfe_status set_kernels(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    kfe_i_json json;

    kfe_i_json_init(&json, file->ctx, 0);
    KFE_TRY(add_kernels(&json, NULL, &model->kernels));
    KFE_TRY(kfe_i_set_json(file, "kernels", &json));
cleanup:
    kfe_i_json_free(&json);
    return status;
}

static kfe_status set_given_spec(kfe_i_safetensors *file, const kfe_i_given_spec *given)
{
    kfe_status status = KFE_OK;
    kfe_i_json json;

    if (!given->options)
        return KFE_OK;
    kfe_i_json_init(&json, file->ctx, 0);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_text(&json, "options", given->options);
    KFE_TRY(add_kernels(&json, "kernels", &given->kernels));
    kfe_i_json_end(&json);
    KFE_TRY(kfe_i_set_json(file, "spec", &json));
cleanup:
    kfe_i_json_free(&json);
    return status;
}

static void add_predictor_entry(kfe_i_json *json, const kfe_model *model, const char *kernel)
{
    const kfe_i_predictor *predictor = &model->predictor;
    char kind[32] = "";
    char decision[32] = "";

    kfe_i_word_at(KFE_PREDICTOR_WORDS, (int)predictor->kind, kind, sizeof kind);
    kfe_i_word_at(KFE_DECISION_WORDS, (int)predictor->decision, decision, sizeof decision);
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "name", model->learner);
    kfe_i_json_text(json, "parameters", model->learner_params);
    kfe_i_json_text(json, "predictor", kind);
    kfe_i_json_text(json, "decision", decision);
    kfe_i_json_text(json, "kernel", kernel ? kernel : "");
    kfe_i_json_integer(json, "outputs", predictor->outputs);
    kfe_i_json_integer(json, "rows", predictor->rows);
    kfe_i_json_integer(json, "neighbours", predictor->neighbours);
    kfe_i_json_boolean(json, "by_distance", predictor->by_distance);
    kfe_i_json_integer(json, "support_vectors", predictor->support_vectors);
    kfe_i_json_end(json);
}

static kfe_status set_predictor(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    char *kernel = NULL;
    kfe_i_json json;

    if (model->predictor.kind == KFE_PREDICTOR_EXPANSION)
        KFE_TRY(kfe_i_kernel_text(file->ctx, &model->predictor.kernel, &kernel));
    kfe_i_json_init(&json, file->ctx, 0);
    add_predictor_entry(&json, model, kernel);
    KFE_TRY(kfe_i_set_json(file, "learner", &json));
cleanup:
    kfe_i_free(file->ctx, kernel);
    return status;
}

/* The oldest version that reads this model rightly: those before maps would ignore the map. */
static int64_t version_of(const kfe_model *model)
{
    if (model->projector == KFE_PROJECT_VIEWS)
        return KFE_MODEL_FORMAT_VIEWS;
    if (model->tree)
        return KFE_MODEL_FORMAT_TREES;
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].scaler.map.values)
            return KFE_MODEL_FORMAT_MAPS;
    return KFE_MODEL_OLDEST_VERSION;
}

static kfe_status add_metadata(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_safetensors_set(file, "format", KFE_MODEL_FORMAT));
    KFE_TRY(set_number(file, "format_version", version_of(model)));
    KFE_TRY(kfe_i_safetensors_set(file, "kfe_version", model->origin.version));
    KFE_TRY(kfe_i_safetensors_set(file, "method", model->method));
    KFE_TRY(kfe_i_safetensors_set(file, "parameters", model->params));
    KFE_TRY(kfe_i_safetensors_set(file, "projector", kfe_i_projector_name(model->projector)));
    KFE_TRY(kfe_i_safetensors_set(file, "task", kfe_i_task_name(model->target.task)));
    KFE_TRY(set_number(file, "train_rows", model->origin.train_rows));
    KFE_TRY(set_number(file, "label_column", model->origin.label_column));
    if (model->origin.fingerprint) {
        char text[32];
        snprintf(text, sizeof text, "%016llx", (unsigned long long)model->origin.fingerprint);
        KFE_TRY(kfe_i_safetensors_set(file, "train_fingerprint", text));
    }
    if (model->origin.label_name)
        KFE_TRY(kfe_i_safetensors_set(file, "label_name", model->origin.label_name));
    KFE_TRY(set_views(file, model));
    KFE_TRY(set_division(file, &model->division));
    KFE_TRY(set_classes(file, model));
    KFE_TRY(set_kernels(file, model));
    KFE_TRY(set_given_spec(file, &model->given));
    if (model->learner)
        KFE_TRY(set_predictor(file, model));
cleanup:
    return status;
}

/* The container of a model, checked by the loader: whatever is saved can be loaded. */
static kfe_status fill(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;

    KFE_TRY(add_tensors(file, model));
    KFE_TRY(add_metadata(file, model));
    KFE_TRY(kfe_i_check_loads(file));
cleanup:
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
