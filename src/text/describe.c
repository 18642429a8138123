/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a model as text and JSON: kfe_model_describe, which `kfe info` prints. */
#include <string.h>

#include "core/json/json.h"
#include "core/memory.h"
#include "model/model.h"
#include "text/parts.h"

enum { FEW = 12 }; /* numbers of a record, and class names, that the text shows */

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

/* Words of a file are whatever its author wrote: all of them are shown escaped. */
static void add_two(kfe_i_text *text, const char *title, const char *name, const char *params)
{
    kfe_i_text_puts(text, title);
    kfe_i_text_add_shown(text, name);
    kfe_i_text_puts(text, " (");
    kfe_i_text_add_shown(text, params);
    kfe_i_text_puts(text, ")\n");
}

/* The first of some words, and the end of the line. */
static void add_words(kfe_i_text *text, int64_t count, char *const *words)
{
    for (int64_t i = 0; i < count && i < FEW; i++) {
        kfe_i_text_puts(text, " ");
        kfe_i_text_add_shown(text, words[i]);
    }
    kfe_i_text_puts(text, count > FEW ? " ...\n" : "\n");
}

/* Which columns of a view are categories. */
static void add_encoding(kfe_i_text *text, const kfe_i_encoding *encoding)
{
    for (int64_t e = 0; e < encoding->count; e++) {
        const kfe_i_categories *column = &encoding->columns[e];
        kfe_i_text_printf(text, "encoded     column %lld", (long long)column->column + 1);
        if (column->name) {
            kfe_i_text_puts(text, " (");
            kfe_i_text_add_shown(text, column->name);
            kfe_i_text_puts(text, ")");
        }
        kfe_i_text_printf(text, ", %lld categories:", (long long)column->count);
        add_words(text, column->count, column->words);
    }
}

void kfe_i_put_scaling(const kfe_model *model, int view, kfe_i_text *text)
{
    int64_t count = 0;
    const double *ratios = kfe_model_record(model, KFE_RECORD_SCALE_RATIO, &count);
    double ratio = ratios && view < count ? ratios[view] : 0;
    int is_left = model->views[view].scaler.kind == KFE_SCALE_NONE;
    char scale[32];

    scale_name(&model->views[view], scale, sizeof scale);
    kfe_i_text_puts(text, scale);
    if (ratio <= 1) /* not asked, or fewer than two columns vary */
        return;
    kfe_i_text_printf(text, " (auto: the ranges of the columns differ by a factor of %.3g", ratio);
    if (is_left && ratio > KFE_SCALE_RATIO)
        kfe_i_text_puts(text, ", but there are more columns than different rows");
    else if (is_left)
        kfe_i_text_printf(text, ", at most %d", KFE_SCALE_RATIO);
    kfe_i_text_puts(text, ")");
}

/* "chosen      by cars: 6 of 200 columns: 920 nm 1000 nm ..." */
static void add_chosen(kfe_i_text *text, const kfe_model *model, int v)
{
    const kfe_i_chain *chain = &model->views[v].scaler.chain;

    for (int s = 0; s < chain->count; s++) {
        const kfe_i_fitted_step *fit = &chain->steps[s];
        int64_t *origins = fit->step->choose ? kfe_i_alloc(text->ctx, fit->cols, sizeof *origins) : NULL;
        if (!fit->step->choose)
            continue;
        if (!origins)
            text->status = KFE_ENOMEM;
        kfe_i_text_printf(text, "chosen      by %s: %lld of %lld columns", fit->step->name,
                          (long long)fit->made, (long long)fit->cols);
        int is_known = origins && kfe_i_chain_origins(chain, s, origins);
        for (int64_t j = 0; is_known && j < fit->made && j < FEW; j++) {
            const char *name = kfe_model_column_name(model, v, origins[fit->kept[j]]);
            kfe_i_text_puts(text, j > 0 ? ", " : ": ");
            if (name)
                kfe_i_text_add_shown(text, name);
            else
                kfe_i_text_printf(text, "%lld", (long long)origins[fit->kept[j]] + 1);
        }
        kfe_i_text_puts(text, is_known && fit->made > FEW ? " ...\n" : "\n");
        kfe_i_free(text->ctx, origins);
    }
}

static void add_views(kfe_i_text *text, const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_model_view *view = &model->views[v];
        char filled[32];
        kfe_i_text_puts(text, "view        ");
        kfe_i_text_add_shown(text, view->name);
        if (view->strings)
            kfe_i_text_puts(text, ": strings\n");
        else
            kfe_i_text_printf(text, ": %lld columns, ", (long long)view->cols);
        if (view->scaler.chain.count > 0) {
            kfe_i_text_puts(text, "prepared by ");
            kfe_i_chain_format(&view->scaler.chain, 0, text);
            if (view->scaler.chain.made != view->cols)
                kfe_i_text_printf(text, " (%lld columns)", (long long)view->scaler.chain.made);
            kfe_i_text_puts(text, ", ");
        }
        if (!view->strings) {
            kfe_i_text_puts(text, "scaling ");
            kfe_i_put_scaling(model, v, text);
        }
        if (view->scaler.fill) {
            kfe_i_word_at(KFE_FILL_WORDS, view->scaler.fill_kind, filled, sizeof filled);
            if (view->scaler.fill_kind == KFE_FILL_NIPALS)
                kfe_i_text_puts(text, ", missing values left out (NIPALS)");
            else
                kfe_i_text_printf(text, ", missing values filled with the %s", filled);
        }
        if (view->scaler.map.values && view->scaler.map.diagonal)
            kfe_i_text_puts(text, ", a weight per column");
        else if (view->scaler.map.values)
            kfe_i_text_printf(text, ", a learned distance of %lld directions",
                              (long long)view->scaler.map.cols);
        if (!view->strings)
            kfe_i_text_puts(text, "\n");
        add_chosen(text, model, v);
        add_encoding(text, &view->encoding);
    }
}

static void add_record(kfe_i_text *text, const kfe_i_record *record)
{
    kfe_i_text_add_shown(text, record->name);
    kfe_i_text_puts(text, ":");
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
        kfe_i_text_puts(text, "predicts    by the method itself\n");
    else
        add_two(text, "learner     ", model->learner, model->learner_params);
    kfe_i_text_printf(text, "outputs     %lld, %s\n", (long long)predictor->outputs,
                      outputs_meaning(predictor));
    if (predictor->support_vectors >= 0)
        kfe_i_text_printf(text, "support     %lld support vectors\n", (long long)predictor->support_vectors);
    if (kfe_model_conformal(model))
        kfe_i_text_printf(text, "intervals   by %s, from %lld left-out examples\n",
                          kfe_model_conformal(model), (long long)model->conformal.rows);
}

/* Whether the support is rows of the training data. */
static int keeps_examples(const kfe_model *model)
{
    return model->support_index || model->local || model->tree;
}

static void add_method(kfe_i_text *text, const kfe_model *model)
{
    const char *plain = kfe_model_plain_learner(model);

    if (!plain) {
        add_two(text, "method      ", model->method, model->params);
        return;
    }
    kfe_i_text_puts(text, "method      none: a plain ");
    kfe_i_text_add_shown(text, plain);
    kfe_i_text_puts(text,
                    model->kernels.count > 0 ? " on the kernel itself\n" : " on the columns themselves\n");
}

static void add_features(kfe_i_text *text, const kfe_model *model)
{
    if (kfe_model_plain_learner(model))
        kfe_i_text_printf(text, "features    none; transform gives the %lld %s\n", (long long)model->dim,
                          model->kernels.count > 0 ? "decision values" : "columns");
    else
        kfe_i_text_printf(text, "features    %lld\n", (long long)model->dim);
}

static kfe_status describe_as_text(kfe_context *ctx, const kfe_model *model, char **out)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;
    char *kernel = NULL;

    kfe_i_text_init(&text, ctx);
    add_method(&text, model);
    for (int64_t m = 0; m < model->kernels.count; m++) {
        KFE_TRY(kfe_i_kernel_text(ctx, &model->kernels.items[m], &kernel));
        kfe_i_text_puts(&text, "kernel      ");
        kfe_i_text_add_shown(&text, kernel);
        if (model->view_count > 1) {
            kfe_i_text_puts(&text, " on ");
            kfe_i_text_add_shown(&text, model->views[model->kernels.items[m].view].name);
        }
        kfe_i_text_puts(&text, "\n");
        kfe_i_free(ctx, kernel);
        kernel = NULL;
    }
    add_features(&text, model);
    if (model->projector == KFE_PROJECT_LINEAR || model->projector == KFE_PROJECT_IDENTITY)
        kfe_i_text_printf(&text, "projector   %s\n", kfe_i_projector_name(model->projector));
    else
        kfe_i_text_printf(&text, "projector   %s, %lld support %s of %lld training examples\n",
                          kfe_i_projector_name(model->projector), (long long)model->rows,
                          keeps_examples(model) ? "examples" : "points", (long long)model->origin.train_rows);
    if (keeps_examples(model))
        kfe_i_text_printf(&text, "privacy     the file contains %lld rows of the training data\n",
                          (long long)model->rows);
    add_views(&text, model);
    KFE_TRY(kfe_i_parts_as_text(ctx, model, &text));
    if (model->target.class_count > 0) {
        kfe_i_text_printf(&text, "classes     %lld:", (long long)model->target.class_count);
        add_words(&text, model->target.class_count, model->target.class_names);
    }
    add_learner(&text, model);
    for (int64_t i = 0; i < model->record_count; i++)
        add_record(&text, &model->records[i]);
    kfe_i_text_puts(&text, "fitted by   kfe ");
    kfe_i_text_add_shown(&text, model->origin.version);
    kfe_i_text_puts(&text, "\n");
    KFE_TRY(kfe_i_text_take(&text, out));
cleanup:
    kfe_i_text_free(&text);
    kfe_i_free(ctx, kernel);
    return status;
}

/* ---- JSON ---- */

static void write_encoding(kfe_i_json *json, const kfe_i_encoding *encoding)
{
    if (encoding->count == 0)
        return;
    kfe_i_json_array(json, "encoded");
    for (int64_t e = 0; e < encoding->count; e++) {
        kfe_i_json_object(json, NULL);
        kfe_i_json_integer(json, "column", encoding->columns[e].column + 1);
        if (encoding->columns[e].name)
            kfe_i_json_text(json, "name", encoding->columns[e].name);
        kfe_i_json_texts(json, "categories", encoding->columns[e].count, encoding->columns[e].words);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static void write_division(kfe_i_json *json, const kfe_i_division *division)
{
    if (division->cols == 0)
        return;
    kfe_i_json_object(json, "division");
    kfe_i_json_array(json, "views");
    for (int64_t j = 0; j < division->cols; j++)
        kfe_i_json_integer(json, NULL, division->view_of[j] + 1);
    kfe_i_json_end(json);
    if (division->names)
        kfe_i_json_texts(json, "column_names", division->cols, division->names);
    kfe_i_json_end(json);
}

/* The steps that prepare the rows of a view, each with all of its settings. */
static void write_steps(kfe_i_json *json, const kfe_i_chain *chain)
{
    if (chain->count == 0)
        return;
    kfe_i_json_integer(json, "prepared_columns", chain->made);
    kfe_i_json_array(json, "steps");
    for (int s = 0; s < chain->count; s++) {
        const kfe_i_fitted_step *fit = &chain->steps[s];
        kfe_i_text settings;
        kfe_i_text_init(&settings, fit->ctx);
        kfe_i_params_format(&fit->step->params, fit->settings, &settings);
        kfe_i_json_object(json, NULL);
        kfe_i_json_text(json, "step", fit->step->name);
        kfe_i_json_text(json, "parameters", settings.bytes ? settings.bytes : "");
        if (fit->step->choose) { /* places among the columns that the step sees */
            kfe_i_json_array(json, "chosen");
            for (int64_t j = 0; j < fit->made; j++)
                kfe_i_json_integer(json, NULL, fit->kept[j] + 1);
            kfe_i_json_end(json);
        }
        kfe_i_json_end(json);
        kfe_i_text_free(&settings);
    }
    kfe_i_json_end(json);
}

/* The scaling in words, with the reason of scale=auto. */
static void write_scaling(kfe_i_json *json, const kfe_model *model, int view)
{
    kfe_i_text text;

    kfe_i_text_init(&text, json->text.ctx);
    kfe_i_put_scaling(model, view, &text);
    if (text.status == KFE_OK)
        kfe_i_json_text(json, "scaling", text.bytes);
    else
        json->text.status = text.status;
    kfe_i_text_free(&text);
}

static void write_views(kfe_i_json *json, const kfe_model *model)
{
    kfe_i_json_array(json, "views");
    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_model_view *view = &model->views[v];
        char scale[32];
        scale_name(view, scale, sizeof scale);
        kfe_i_json_object(json, NULL);
        kfe_i_json_text(json, "name", view->name);
        kfe_i_json_integer(json, "columns", view->cols);
        write_steps(json, &view->scaler.chain);
        kfe_i_json_text(json, "scale", scale);
        write_scaling(json, model, v);
        kfe_i_word_at(KFE_FILL_WORDS, view->scaler.fill_kind, scale, sizeof scale);
        kfe_i_json_text(json, "missing", view->scaler.fill ? scale : "error");
        kfe_i_json_text(json, "support", support_kind(view));
        write_encoding(json, &view->encoding);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static void write_records(kfe_i_json *json, const kfe_model *model)
{
    kfe_i_json_object(json, "records");
    for (int64_t i = 0; i < model->record_count; i++) {
        const kfe_i_record *record = &model->records[i];
        kfe_i_json_array(json, record->name);
        for (int64_t j = 0; j < record->count; j++)
            kfe_i_json_real(json, NULL, record->values[j]);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static kfe_status write_kernels(kfe_context *ctx, kfe_i_json *json, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    char *kernel = NULL;

    kfe_i_json_array(json, "kernels");
    for (int64_t m = 0; m < model->kernels.count; m++) {
        KFE_TRY(kfe_i_kernel_text(ctx, &model->kernels.items[m], &kernel));
        kfe_i_json_text(json, NULL, kernel);
        kfe_i_free(ctx, kernel);
    }
    kfe_i_json_end(json);
    kfe_i_json_array(json, "kernel_views");
    for (int64_t m = 0; m < model->kernels.count; m++)
        kfe_i_json_text(json, NULL, model->views[model->kernels.items[m].view].name);
    kfe_i_json_end(json);
cleanup:
    return status;
}

static kfe_status write_parameter(kfe_context *ctx, void *user, const char *key, const char *value)
{
    (void)ctx;
    kfe_i_json_text(user, key, value);
    return KFE_OK;
}

static kfe_status write_parameters(kfe_context *ctx, kfe_i_json *json, const char *params)
{
    kfe_status status = KFE_OK;

    kfe_i_json_object(json, "parameters");
    KFE_TRY(kfe_i_options_each(ctx, params, write_parameter, json));
    kfe_i_json_end(json);
cleanup:
    return status;
}

/* null for a model without a classifier or regressor. */
static kfe_status write_learner(kfe_context *ctx, kfe_i_json *json, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &model->predictor;
    char kind[32] = "";
    char decision[32] = "";

    if (!model->learner) {
        kfe_i_json_null(json, "learner");
        return KFE_OK;
    }
    kfe_i_word_at(KFE_PREDICTOR_WORDS, (int)predictor->kind, kind, sizeof kind);
    kfe_i_word_at(KFE_DECISION_WORDS, (int)predictor->decision, decision, sizeof decision);
    kfe_i_json_object(json, "learner");
    kfe_i_json_text(json, "name", model->learner);
    KFE_TRY(write_parameters(ctx, json, model->learner_params));
    kfe_i_json_text(json, "predictor", kind);
    kfe_i_json_text(json, "decision", decision);
    kfe_i_json_integer(json, "outputs", predictor->outputs);
    if (kfe_model_conformal(model))
        kfe_i_json_text(json, "conformal", kfe_model_conformal(model));
    if (predictor->support_vectors < 0)
        kfe_i_json_null(json, "support_vectors");
    else
        kfe_i_json_integer(json, "support_vectors", predictor->support_vectors);
    kfe_i_json_end(json);
cleanup:
    return status;
}

static kfe_status describe_as_json(kfe_context *ctx, const kfe_model *model, char **out)
{
    kfe_status status = KFE_OK;
    kfe_i_json json;

    kfe_i_json_init(&json, ctx, 1);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_text(&json, "method", model->method);
    if (kfe_model_plain_learner(model))
        kfe_i_json_text(&json, "plain_learner", kfe_model_plain_learner(model));
    else
        kfe_i_json_null(&json, "plain_learner");
    KFE_TRY(write_parameters(ctx, &json, model->params));
    KFE_TRY(write_kernels(ctx, &json, model));
    kfe_i_json_integer(&json, "features", model->dim);
    kfe_i_json_text(&json, "projector", kfe_i_projector_name(model->projector));
    kfe_i_json_integer(&json, "support_size", kfe_model_support_size(model));
    kfe_i_json_integer(&json, "train_rows", model->origin.train_rows);
    kfe_i_json_text(&json, "task", kfe_i_task_name(model->target.task));
    kfe_i_json_texts(&json, "classes", model->target.class_count, model->target.class_names);
    write_views(&json, model);
    write_division(&json, &model->division);
    KFE_TRY(kfe_i_parts_as_json(ctx, model, &json));
    KFE_TRY(write_learner(ctx, &json, model));
    write_records(&json, model);
    kfe_i_json_text(&json, "kfe_version", model->origin.version);
    kfe_i_json_end(&json);
    KFE_TRY(kfe_i_json_finish(&json, out));
cleanup:
    kfe_i_json_free(&json);
    return status;
}

kfe_status kfe_model_describe(kfe_context *ctx, const kfe_model *model, kfe_style style, char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? describe_as_json(ctx, model, out) : describe_as_text(ctx, model, out);
}