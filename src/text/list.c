/* SPDX-License-Identifier: Apache-2.0 */
/* Lists generators, kernels, methods, learners and steps with their parameters as JSON: kfe_list_*. */
#include <string.h>

#include "core/json/json.h"

/* A table of entries: how to walk it and what its columns are called. */
typedef struct listing {
    const kfe_entry_info *(*entry)(int index);
    const kfe_param_info *(*param)(int index, int param);
    const char *noun, *formula_title;
} listing;

static const listing generators = {kfe_generator, kfe_generator_param, "generator", "source"};
static const listing kernels = {kfe_kernel, kfe_kernel_param, "kernel", "formula"};
static const listing methods = {kfe_method, kfe_method_param, "method", "reference"};
static const listing steps = {kfe_step, kfe_step_param, "step", "formula"};
static const listing learners = {kfe_learner, kfe_learner_param, "learner", "reference"};

static const struct {
    unsigned flag;
    const char *name;
} flag_names[] = {
    {KFE_HAS_SUPERVISION, "supervised"},
    {KFE_HAS_REGRESSION, "regression"},
    {KFE_HAS_KERNELS, "kernels"},
    {KFE_HAS_MULTIVIEW, "multi-view"},
    {KFE_HAS_SPARSE, "sparse"},
    {KFE_HAS_SYNTHETIC, "needs points"},
    {KFE_HAS_INDEFINITE, "indefinite"},
    {KFE_HAS_NONNEGATIVE, "data >= 0"},
    {KFE_HAS_STRINGS, "strings"},
    {KFE_HAS_NESTING, "nested"},
    {KFE_HAS_TWO_CLASSES, "two classes"},
    {KFE_HAS_WEIGHTS, "weighs kernels"},
    {KFE_HAS_PREDICTOR, "predicts"},
    {KFE_HAS_DERIVATIVE, "derivative"},
    {KFE_HAS_SAMPLE_WEIGHTS, "sample weights"},
    {KFE_HAS_PROBABILITIES, "probabilities"},
    {KFE_HAS_MISSING, "missing values"},
};

static void write_param(kfe_i_json *json, const kfe_param_info *info)
{
    static const char *const types[] = {"integer", "real", "choice", "flag", "text"};

    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "name", info->name);
    kfe_i_json_text(json, "type", types[info->type]);
    kfe_i_json_text(json, "default", info->initial);
    if (info->type == KFE_PARAM_INT || info->type == KFE_PARAM_REAL) {
        kfe_i_json_real(json, "min", info->min);
        kfe_i_json_real(json, "max", info->max);
    }
    if (info->words)
        kfe_i_json_text(json, "words", info->words);
    kfe_i_json_text(json, "help", info->help);
    kfe_i_json_end(json);
}

static void write_entry(kfe_i_json *json, const listing *list, int index, const kfe_entry_info *entry)
{
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "name", entry->name);
    kfe_i_json_text(json, "summary", entry->summary);
    kfe_i_json_text(json, list->formula_title, entry->formula);
    kfe_i_json_array(json, "flags");
    for (size_t f = 0; f < sizeof flag_names / sizeof *flag_names; f++)
        if (entry->flags & flag_names[f].flag)
            kfe_i_json_text(json, NULL, flag_names[f].name);
    kfe_i_json_end(json);
    if (list == &methods && kfe_method_kernel(index))
        kfe_i_json_text(json, "default_kernel", kfe_method_kernel(index));
    kfe_i_json_array(json, "parameters");
    for (int p = 0; list->param(index, p); p++)
        write_param(json, list->param(index, p));
    kfe_i_json_end(json);
    kfe_i_json_end(json);
}

static kfe_status write_one(kfe_context *ctx, const listing *list, const char *name, char **out)
{
    kfe_i_json json;
    const kfe_entry_info *entry;
    int index = 0;

    while ((entry = list->entry(index)) && strcmp(name, entry->name) != 0)
        index++;
    if (!entry)
        return kfe_i_fail(ctx, KFE_EINVAL, "there is no %s '%s'", list->noun, name);
    kfe_i_json_init(&json, ctx, 1);
    write_entry(&json, list, index, entry);
    return kfe_i_json_finish(&json, out);
}

static kfe_status write_list(kfe_context *ctx, const listing *list, const char *name, char **out)
{
    kfe_i_json json;
    const kfe_entry_info *entry;

    *out = NULL;
    if (name)
        return write_one(ctx, list, name, out);
    kfe_i_json_init(&json, ctx, 1);
    kfe_i_json_array(&json, NULL);
    for (int i = 0; (entry = list->entry(i)); i++)
        write_entry(&json, list, i, entry);
    kfe_i_json_end(&json);
    return kfe_i_json_finish(&json, out);
}

kfe_status kfe_list_generators(kfe_context *ctx, const char *name, char **out)
{
    return write_list(ctx, &generators, name, out);
}

kfe_status kfe_list_kernels(kfe_context *ctx, const char *name, char **out)
{
    return write_list(ctx, &kernels, name, out);
}

kfe_status kfe_list_methods(kfe_context *ctx, const char *name, char **out)
{
    return write_list(ctx, &methods, name, out);
}

kfe_status kfe_list_learners(kfe_context *ctx, const char *name, char **out)
{
    return write_list(ctx, &learners, name, out);
}

kfe_status kfe_list_steps(kfe_context *ctx, const char *name, char **out)
{
    return write_list(ctx, &steps, name, out);
}
