/* SPDX-License-Identifier: Apache-2.0 */
/* What there is, from the tables: methods and kernels with their parameters. */
#include <stdio.h>

#include "core/text.h"
#include "report/json.h"

/* A table of entries: how to walk it and what its columns are called. */
typedef struct listing {
    int (*entry)(int index, kfe_entry_info *out);
    const kfe_param_info *(*param)(int index, int param);
    const char *formula_title;
} listing;

static const listing methods = {kfe_method, kfe_method_param, "reference"};
static const listing kernels = {kfe_kernel, kfe_kernel_param, "formula"};

static const struct {
    unsigned flag;
    const char *name;
} flag_names[] = {
    {KFE_HAS_SUPERVISION, "supervised"}, {KFE_HAS_REGRESSION, "regression"},
    {KFE_HAS_KERNELS, "kernels"},        {KFE_HAS_MULTIVIEW, "multi-view"},
    {KFE_HAS_SPARSE, "sparse"},          {KFE_HAS_SYNTHETIC, "needs points"},
    {KFE_HAS_INDEFINITE, "indefinite"},  {KFE_HAS_NONNEGATIVE, "data >= 0"},
    {KFE_HAS_STRINGS, "strings"},
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
    json_object_set_new(object, "parameters", params);
    return object;
}

static kfe_status list_as_json(kfe_context *ctx, const listing *list, char **out)
{
    json_t *all = json_array();
    kfe_entry_info entry;

    for (int i = 0; list->entry(i, &entry); i++)
        json_array_append_new(all, entry_object(list, i, &entry));
    return kfe_i_json_take(ctx, all, out);
}

static void add_text_entry(kfe_i_text *text, const listing *list, int index, const kfe_entry_info *entry)
{
    const char *separator = "";

    kfe_i_text_printf(text, "%-13s %s\n%-13s %s\n", entry->name, entry->summary, "", entry->formula);
    if (entry->flags) {
        kfe_i_text_printf(text, "%-13s [", "");
        for (size_t f = 0; f < sizeof flag_names / sizeof *flag_names; f++)
            if (entry->flags & flag_names[f].flag) {
                kfe_i_text_printf(text, "%s%s", separator, flag_names[f].name);
                separator = ", ";
            }
        kfe_i_text_puts(text, "]\n");
    }
    for (int p = 0; list->param(index, p); p++) {
        const kfe_param_info *info = list->param(index, p);
        kfe_i_text_printf(text, "%-13s   %s=%s: %s\n", "", info->name, info->initial, info->help);
    }
}

static kfe_status list_as_text(kfe_context *ctx, const listing *list, char **out)
{
    kfe_i_text text;
    kfe_entry_info entry;

    kfe_i_text_init(&text, ctx);
    for (int i = 0; list->entry(i, &entry); i++)
        add_text_entry(&text, list, i, &entry);
    return kfe_i_text_take(&text, out);
}

static kfe_status write_list(kfe_context *ctx, const listing *list, kfe_style style, char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? list_as_json(ctx, list, out) : list_as_text(ctx, list, out);
}

kfe_status kfe_list_methods(kfe_context *ctx, kfe_style style, char **out)
{
    return write_list(ctx, &methods, style, out);
}

kfe_status kfe_list_kernels(kfe_context *ctx, kfe_style style, char **out)
{
    return write_list(ctx, &kernels, style, out);
}
