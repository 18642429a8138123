/* SPDX-License-Identifier: Apache-2.0 */
/* What there is, from the tables: generators, kernels and methods with their parameters. */
#include <string.h>

#include "report/json.h"

/* A table of entries: how to walk it and what its columns are called. */
typedef struct listing {
    int (*entry)(int index, kfe_entry_info *out);
    const kfe_param_info *(*param)(int index, int param);
    const char *noun, *formula_title;
} listing;

static const listing generators = {kfe_generator, kfe_generator_param, "generator", "source"};
static const listing kernels = {kfe_kernel, kfe_kernel_param, "kernel", "formula"};
static const listing methods = {kfe_method, kfe_method_param, "method", "reference"};
static const listing learners = {kfe_learner, kfe_learner_param, "learner", "reference"};

static const struct {
    unsigned flag;
    const char *name;
} flag_names[] = {
    {KFE_HAS_SUPERVISION, "supervised"},  {KFE_HAS_REGRESSION, "regression"},
    {KFE_HAS_KERNELS, "kernels"},         {KFE_HAS_MULTIVIEW, "multi-view"},
    {KFE_HAS_SPARSE, "sparse"},           {KFE_HAS_SYNTHETIC, "needs points"},
    {KFE_HAS_INDEFINITE, "indefinite"},   {KFE_HAS_NONNEGATIVE, "data >= 0"},
    {KFE_HAS_STRINGS, "strings"},         {KFE_HAS_NESTING, "nested"},
    {KFE_HAS_TWO_CLASSES, "two classes"}, {KFE_HAS_WEIGHTS, "weighs kernels"},
    {KFE_HAS_PREDICTOR, "predicts"},
};

static json_t *param_object(const kfe_param_info *info)
{
    static const char *const types[] = {"integer", "real", "choice", "flag", "text"};
    json_t *object = json_object();

    json_object_set_new(object, "name", json_string(info->name));
    json_object_set_new(object, "type", json_string(types[info->type]));
    json_object_set_new(object, "default", json_string(info->initial));
    if (info->type == KFE_PARAM_INT || info->type == KFE_PARAM_REAL) {
        json_object_set_new(object, "min", kfe_i_json_number(info->min));
        json_object_set_new(object, "max", kfe_i_json_number(info->max));
    }
    if (info->words)
        json_object_set_new(object, "words", json_string(info->words));
    json_object_set_new(object, "help", json_string(info->help));
    return object;
}

static json_t *entry_object(const listing *list, int index, const kfe_entry_info *entry)
{
    json_t *object = json_object();
    json_t *flags = json_array();
    json_t *params = json_array();

    for (size_t f = 0; f < sizeof flag_names / sizeof *flag_names; f++)
        if (entry->flags & flag_names[f].flag)
            json_array_append_new(flags, json_string(flag_names[f].name));
    for (int p = 0; list->param(index, p); p++)
        json_array_append_new(params, param_object(list->param(index, p)));
    json_object_set_new(object, "name", json_string(entry->name));
    json_object_set_new(object, "summary", json_string(entry->summary));
    json_object_set_new(object, list->formula_title, json_string(entry->formula));
    json_object_set_new(object, "flags", flags);
    if (entry->kernel)
        json_object_set_new(object, "default_kernel", json_string(entry->kernel));
    json_object_set_new(object, "parameters", params);
    return object;
}

static kfe_status write_list(kfe_context *ctx, const listing *list, const char *name, char **out)
{
    json_t *all = name ? NULL : json_array();
    kfe_entry_info entry;

    *out = NULL;
    for (int i = 0; list->entry(i, &entry); i++)
        if (!name)
            json_array_append_new(all, entry_object(list, i, &entry));
        else if (strcmp(name, entry.name) == 0)
            return kfe_i_json_take(ctx, entry_object(list, i, &entry), out);
    if (name)
        return kfe_i_fail(ctx, KFE_EINVAL, "there is no %s '%s'", list->noun, name);
    return kfe_i_json_take(ctx, all, out);
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
