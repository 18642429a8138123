/* SPDX-License-Identifier: Apache-2.0 */
/* A model, readably and as JSON. */
#include <string.h>

#include "core/memory.h"
#include "model/format.h"
#include "model/model.h"
#include "report/json.h"
#include "report/parts.h"

enum { FEW = 12 }; /* numbers of a record, and class names, that the text shows */

static kfe_status kernel_text(kfe_context *ctx, const kfe_i_kernel *kernel, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_kernel_format(kernel, &text);
    return kfe_i_text_take(&text, out);
}

static void scale_name(const kfe_i_model_view *view, char *out, size_t size)
{
    kfe_i_word_at(KFE_SCALE_WORDS, (int)view->scaler.kind, out, size);
}

static const char *support_kind(const kfe_i_model_view *view)
{
    static const char *const kinds[] = {"dense", "sparse", "strings"};
    return view->support.ctx ? kinds[view->support.kind] : "none";
}

/* ---- text ---- */

static void add_views(kfe_i_text *text, const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_model_view *view = &model->views[v];
        char scale[32];
        scale_name(view, scale, sizeof scale);
        if (view->strings)
            kfe_i_text_printf(text, "view        %s: strings\n", view->name);
        else
            kfe_i_text_printf(text, "view        %s: %lld columns, scaling %s\n", view->name,
                              (long long)view->cols, scale);
    }
}

static void add_classes(kfe_i_text *text, const kfe_model *model)
{
    if (model->class_count == 0)
        return;
    kfe_i_text_printf(text, "classes     %lld:", (long long)model->class_count);
    for (int64_t i = 0; i < model->class_count && i < FEW; i++)
        kfe_i_text_printf(text, " %s", model->class_names[i]);
    kfe_i_text_puts(text, model->class_count > FEW ? " ...\n" : "\n");
}

static void add_record(kfe_i_text *text, const kfe_i_record *record)
{
    kfe_i_text_printf(text, "%s:", record->name);
    for (int64_t i = 0; i < record->count && i < FEW; i++)
        kfe_i_text_printf(text, " %.6g", record->values[i]);
    kfe_i_text_puts(text, record->count > FEW ? " ...\n" : "\n");
}

static const char *outputs_meaning(const kfe_i_predictor *predictor)
{
    static const char *const meanings[] = {"the predicted values", "one per class", "one per pair of classes",
                                           "a chain of the classes"};
    return meanings[predictor->decision];
}

static void add_learner(kfe_i_text *text, const kfe_model *model)
{
    const kfe_i_predictor *predictor = &model->predictor;

    if (!model->learner)
        return;
    if (strcmp(model->learner, model->method) == 0)
        kfe_i_text_puts(text, "machines    of the method's own\n");
    else
        kfe_i_text_printf(text, "learner     %s (%s)\n", model->learner, model->learner_params);
    kfe_i_text_printf(text, "outputs     %lld, %s\n", (long long)predictor->outputs,
                      outputs_meaning(predictor));
    if (predictor->support_vectors >= 0)
        kfe_i_text_printf(text, "rests on    %lld support vectors\n", (long long)predictor->support_vectors);
}

static kfe_status describe_as_text(kfe_context *ctx, const kfe_model *model, char **out)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;
    char *kernel = NULL;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_printf(&text, "method      %s (%s)\n", model->method, model->params);
    for (int64_t m = 0; m < model->kernels.count; m++) {
        KFE_TRY(kernel_text(ctx, &model->kernels.items[m], &kernel));
        kfe_i_text_printf(&text, "kernel      %s", kernel);
        if (model->view_count > 1)
            kfe_i_text_printf(&text, " on %s", model->views[model->kernels.items[m].view].name);
        kfe_i_text_puts(&text, "\n");
        kfe_i_free(ctx, kernel);
        kernel = NULL;
    }
    kfe_i_text_printf(&text, "features    %lld\n", (long long)model->dim);
    if (model->projector == KFE_PROJECT_LINEAR || model->projector == KFE_PROJECT_IDENTITY)
        kfe_i_text_printf(&text, "projector   %s\n", kfe_i_projector_name(model->projector));
    else
        kfe_i_text_printf(&text, "projector   %s, %lld support %s of %lld training examples\n",
                          kfe_i_projector_name(model->projector), (long long)model->rows,
                          model->support_index || model->local ? "examples" : "points",
                          (long long)model->train_rows);
    add_views(&text, model);
    KFE_TRY(kfe_i_parts_as_text(ctx, model, &text));
    add_classes(&text, model);
    add_learner(&text, model);
    for (int64_t i = 0; i < model->record_count; i++)
        add_record(&text, &model->records[i]);
    kfe_i_text_printf(&text, "fitted by   kfe %s\n", model->version);
    KFE_TRY(kfe_i_text_take(&text, out));
cleanup:
    kfe_i_text_free(&text);
    kfe_i_free(ctx, kernel);
    return status;
}

/* ---- JSON ---- */

static json_t *view_array(const kfe_model *model)
{
    json_t *list = json_array();

    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_model_view *view = &model->views[v];
        json_t *object = json_object();
        char scale[32];
        scale_name(view, scale, sizeof scale);
        json_object_set_new(object, "name", kfe_i_json_string(view->name));
        json_object_set_new(object, "columns", json_integer((json_int_t)view->cols));
        json_object_set_new(object, "scale", json_string(scale));
        json_object_set_new(object, "support", json_string(support_kind(view)));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *record_object(const kfe_model *model)
{
    json_t *object = json_object();

    for (int64_t i = 0; i < model->record_count; i++) {
        json_t *values = json_array();
        for (int64_t j = 0; j < model->records[i].count; j++)
            json_array_append_new(values, kfe_i_json_number(model->records[i].values[j]));
        json_object_set_new(object, model->records[i].name, values);
    }
    return object;
}

static json_t *class_array(const kfe_model *model)
{
    json_t *list = json_array();

    for (int64_t i = 0; i < model->class_count; i++)
        json_array_append_new(list, kfe_i_json_string(model->class_names[i]));
    return list;
}

static kfe_status kernel_array(kfe_context *ctx, const kfe_model *model, json_t *list)
{
    kfe_status status = KFE_OK;
    char *kernel = NULL;

    for (int64_t m = 0; m < model->kernels.count; m++) {
        KFE_TRY(kernel_text(ctx, &model->kernels.items[m], &kernel));
        json_array_append_new(list, kfe_i_json_string(kernel));
        kfe_i_free(ctx, kernel);
    }
cleanup:
    return status;
}

static json_t *kernel_view_array(const kfe_model *model)
{
    json_t *list = json_array();

    for (int64_t m = 0; m < model->kernels.count; m++)
        json_array_append_new(list, kfe_i_json_string(model->views[model->kernels.items[m].view].name));
    return list;
}

static kfe_status add_parameter(kfe_context *ctx, void *user, const char *key, const char *value)
{
    (void)ctx;
    json_object_set_new(user, key, kfe_i_json_string(value));
    return KFE_OK;
}

/* null where the model gives features only. */
static kfe_status set_learner(kfe_context *ctx, const kfe_model *model, json_t *object)
{
    const kfe_i_predictor *predictor = &model->predictor;
    json_t *learner = model->learner ? json_object() : json_null();
    json_t *params = json_object();
    char kind[32] = "";
    char decision[32] = "";

    json_object_set_new(object, "learner", learner);
    if (!model->learner) {
        json_decref(params);
        return KFE_OK;
    }
    kfe_i_word_at(KFE_PREDICTOR_WORDS, (int)predictor->kind, kind, sizeof kind);
    kfe_i_word_at(KFE_DECISION_WORDS, (int)predictor->decision, decision, sizeof decision);
    json_object_set_new(learner, "name", kfe_i_json_string(model->learner));
    json_object_set_new(learner, "parameters", params);
    json_object_set_new(learner, "machine", json_string(kind));
    json_object_set_new(learner, "decision", json_string(decision));
    json_object_set_new(learner, "outputs", json_integer((json_int_t)predictor->outputs));
    json_object_set_new(
        learner, "support_vectors",
        predictor->support_vectors < 0 ? json_null() : json_integer((json_int_t)predictor->support_vectors));
    return kfe_i_options_each(ctx, model->learner_params, add_parameter, params);
}

static kfe_status describe_as_json(kfe_context *ctx, const kfe_model *model, char **out)
{
    kfe_status status = KFE_OK;
    json_t *object = json_object();
    json_t *kernels = json_array();
    json_t *params = json_object();

    json_object_set_new(object, "method", kfe_i_json_string(model->method));
    json_object_set_new(object, "parameters", params);
    json_object_set_new(object, "kernels", kernels);
    json_object_set_new(object, "kernel_views", kernel_view_array(model));
    KFE_TRY(kfe_i_options_each(ctx, model->params, add_parameter, params));
    KFE_TRY(kernel_array(ctx, model, kernels));
    json_object_set_new(object, "features", json_integer((json_int_t)model->dim));
    json_object_set_new(object, "projector", json_string(kfe_i_projector_name(model->projector)));
    json_object_set_new(object, "support_size", json_integer((json_int_t)kfe_model_support_size(model)));
    json_object_set_new(object, "train_rows", json_integer((json_int_t)model->train_rows));
    json_object_set_new(object, "task", json_string(kfe_i_task_name(model->task)));
    json_object_set_new(object, "classes", class_array(model));
    json_object_set_new(object, "views", view_array(model));
    KFE_TRY(kfe_i_parts_as_json(ctx, model, object));
    KFE_TRY(set_learner(ctx, model, object));
    json_object_set_new(object, "records", record_object(model));
    json_object_set_new(object, "kfe_version", kfe_i_json_string(model->version));
    status = kfe_i_json_take(ctx, object, out);
    object = NULL;
cleanup:
    json_decref(object);
    return status;
}

kfe_status kfe_model_describe(kfe_context *ctx, const kfe_model *model, kfe_style style, char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? describe_as_json(ctx, model, out) : describe_as_text(ctx, model, out);
}
