/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kernels: parsing, formatting, copying and checking them, their formulas on tiles, and lists of kernels. */
#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"

#define KFE_KERNEL(name, term, ...) extern const kfe_i_kernel_def kfe_i_kernel_##name;
#include "kernel/kernels.def"
#undef KFE_KERNEL

#define KFE_KERNEL(name, term, ...) &kfe_i_kernel_##name,
static const kfe_i_kernel_def *const kernels[] = {
#include "kernel/kernels.def"
};
#undef KFE_KERNEL

#define KFE_KERNEL(name, term, ...) kfe_i_formula_fn kfe_i_formula_##name;
#include "kernel/kernels.def"
#undef KFE_KERNEL

#define KFE_KERNEL(name, term, ...) [KFE_KERNEL_##name] = kfe_i_formula_##name,
static kfe_i_formula_fn *const formulas[KFE_KERNEL_COUNT] = {
#include "kernel/kernels.def"
};
#undef KFE_KERNEL

static const kfe_i_param common_rows[] = {
    KFE_REAL(kfe_i_kernel_common, weight, "weight", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "factor of this kernel in a sum of several"),
};
static const kfe_i_param_table common_params = KFE_PARAM_TABLE(common_rows, kfe_i_kernel_common);

const kfe_i_kernel_def *kfe_i_kernel_def_at(int index)
{
    return index >= 0 && (size_t)index < sizeof kernels / sizeof *kernels ? kernels[index] : NULL;
}

const kfe_entry_info *kfe_kernel(int index)
{
    const kfe_i_kernel_def *row = kfe_i_kernel_def_at(index);
    return row ? &row->entry : NULL;
}

const kfe_param_info *kfe_kernel_param(int index, int param)
{
    const kfe_i_kernel_def *def = kfe_i_kernel_def_at(index);

    if (!def || param < 0)
        return NULL;
    return param < def->params.count ? kfe_i_param_info(&def->params, param)
                                     : kfe_i_param_info(&common_params, param - def->params.count);
}

/* ---- one kernel ---- */

static const char *kernel_name_at(const void *list, int index)
{
    const kfe_i_kernel_def *def = kfe_i_kernel_def_at(index);
    (void)list;
    return def ? def->name : NULL;
}

static kfe_status find_def(kfe_context *ctx, const char *text, const kfe_i_kernel_def **out)
{
    char name[64];
    char suggestion[96];
    size_t length = strcspn(text, ":");

    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), text);
    for (int i = 0; (*out = kfe_i_kernel_def_at(i)); i++)
        if (strcmp((*out)->name, name) == 0 || ((*out)->alias && strcmp((*out)->alias, name) == 0))
            return KFE_OK;
    kfe_i_suggest(name, kernel_name_at, NULL, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "there is no kernel '%s'%s; {kernels} lists them", name, suggestion);
}

static kfe_status begin_kernel(kfe_context *ctx, const kfe_i_kernel_def *def, kfe_i_kernel *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->def = def;
    KFE_ALLOC_ZERO(ctx, out->settings, 1 + (int64_t)def->params.size);
    KFE_TRY(kfe_i_params_default(ctx, &def->params, out->settings));
    KFE_TRY(kfe_i_params_default(ctx, &common_params, &out->common));
cleanup:
    return status;
}

static kfe_status set_option(kfe_context *ctx, void *user, const char *key, const char *value)
{
    kfe_i_kernel *kernel = user;
    char owner[80];

    if (kfe_i_param_find(&common_params, key))
        return kfe_i_param_set(ctx, &common_params, "kernel", &kernel->common, key, value);
    snprintf(owner, sizeof owner, "kernel %s", kernel->def->name);
    return kfe_i_param_set(ctx, &kernel->def->params, owner, kernel->settings, key, value);
}

/* Models store "user:name" or "user:name:weight=w"; the function must be bound again after loading. */
static kfe_status parse_user_kernel(kfe_context *ctx, const char *name, kfe_i_kernel *out)
{
    kfe_status status = KFE_OK;
    const char *options = strstr(name, ":weight=");

    KFE_TRY(begin_kernel(ctx, &kfe_i_kernel_user, out));
    KFE_CHECK_ALLOC_BY(ctx, out->user_name,
                       kfe_i_strndup(ctx, name, options ? (size_t)(options - name) : strlen(name)));
    if (options)
        KFE_TRY(kfe_i_options_each(ctx, options + 1, set_option, out));
cleanup:
    return status;
}

kfe_status kfe_i_kernel_parse(kfe_context *ctx, const char *text, kfe_i_kernel *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel_def *def = NULL;
    const char *options = strchr(text, ':');

    memset(out, 0, sizeof *out);
    if (strncmp(text, "user:", 5) == 0) {
        KFE_TRY(parse_user_kernel(ctx, text + 5, out));
    } else {
        KFE_TRY(find_def(ctx, text, &def));
        KFE_TRY(begin_kernel(ctx, def, out));
        KFE_TRY(kfe_i_options_each(ctx, options ? options + 1 : NULL, set_option, out));
    }
cleanup:
    if (status != KFE_OK)
        kfe_i_kernel_free(out);
    return status;
}

kfe_status kfe_i_kernel_copy(kfe_context *ctx, const kfe_i_kernel *kernel, kfe_i_kernel *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(begin_kernel(ctx, kernel->def, out));
    memcpy(out->settings, kernel->settings, kernel->def->params.size);
    out->common = kernel->common;
    out->adapted = kernel->adapted;
    out->view = kernel->view;
    out->user_function = kernel->user_function;
    out->user_data = kernel->user_data;
    if (kernel->user_name)
        KFE_STRDUP(ctx, out->user_name, kernel->user_name);
    if (kernel->view_name)
        KFE_STRDUP(ctx, out->view_name, kernel->view_name);
cleanup:
    if (status != KFE_OK)
        kfe_i_kernel_free(out);
    return status;
}

void kfe_i_kernel_free(kfe_i_kernel *kernel)
{
    if (kernel->ctx) {
        kfe_i_free(kernel->ctx, kernel->settings);
        kfe_i_free(kernel->ctx, kernel->user_name);
        kfe_i_free(kernel->ctx, kernel->view_name);
    }
    memset(kernel, 0, sizeof *kernel);
}

void kfe_i_kernel_format(const kfe_i_kernel *kernel, kfe_i_text *out)
{
    const kfe_i_param_table *params = &kernel->def->params;

    kfe_i_text_puts(out, kernel->def->name);
    if (kernel->user_name)
        kfe_i_text_printf(out, ":%s", kernel->user_name);
    else if (params->count > 0)
        kfe_i_text_puts(out, ":");
    kfe_i_params_format(params, kernel->settings, out);
    if (kernel->common.weight != 1) {
        kfe_i_text_puts(out, params->count > 0 ? "," : ":");
        kfe_i_params_format(&common_params, &kernel->common, out);
    }
}

kfe_status kfe_i_kernel_text(kfe_context *ctx, const kfe_i_kernel *kernel, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_kernel_format(kernel, &text);
    return kfe_i_text_take(&text, out);
}

/* ---- formulas ---- */

int kfe_i_kernel_has_formula(const kfe_i_kernel *kernel)
{
    kfe_i_kernel_base base = kernel->def->base;

    return base == KFE_BASE_DOT || base == KFE_BASE_DISTANCE || base == KFE_BASE_COORDINATE;
}

kfe_i_formula kfe_i_kernel_formula(const kfe_i_kernel *kernel)
{
    const kfe_i_kernel_def *def = kernel->def;
    kfe_i_formula formula = {.base = (int32_t)def->base, .map = def->map, .term = def->map};

    if (def->describe)
        def->describe(kernel->settings, formula.params);
    return formula;
}

static void apply(const kfe_i_formula *formula, kfe_i_tile *tile)
{
    static const double zeros[KFE_FORMULA_CHUNK] = {0};

    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->cols; j += KFE_FORMULA_CHUNK) {
            int64_t left = tile->cols - j;
            formulas[formula->map](tile->values + i * tile->stride + j,
                                   left < KFE_FORMULA_CHUNK ? left : KFE_FORMULA_CHUNK,
                                   tile->row_norms ? tile->row_norms[i] : 0,
                                   tile->col_norms ? tile->col_norms + j : zeros, formula->params);
        }
}

void kfe_i_kernel_map(const kfe_i_kernel *kernel, kfe_i_tile *tile)
{
    kfe_i_formula formula = kfe_i_kernel_formula(kernel);

    if (formula.map != KFE_KERNEL_NONE)
        apply(&formula, tile);
}

/* Far from a point, the factor of a narrow kernel may be infinite and the formula 0. */
void kfe_i_kernel_slope(const kfe_i_kernel *kernel, kfe_i_tile *tile)
{
    kfe_i_formula formula;
    double factor = kernel->def->slope(kernel->settings, &formula);

    apply(&formula, tile);
    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++)
            row[j] = row[j] == 0 ? 0 : factor * row[j];
    }
}

void kfe_i_kernel_finish(const kfe_i_kernel *kernel, kfe_i_tile *tile)
{
    if (kernel->part == KFE_PART_VALUE)
        kfe_i_kernel_map(kernel, tile);
    else if (kernel->part == KFE_PART_SLOPE)
        kfe_i_kernel_slope(kernel, tile);
}

/* ---- lists ---- */

void kfe_i_kernel_list_init(kfe_context *ctx, kfe_i_kernel_list *list)
{
    memset(list, 0, sizeof *list);
    list->ctx = ctx;
}

void kfe_i_kernel_list_free(kfe_i_kernel_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        kfe_i_kernel_free(&list->items[i]);
    if (list->ctx)
        kfe_i_free(list->ctx, list->items);
    memset(list, 0, sizeof *list);
}

kfe_status kfe_i_kernel_list_add(kfe_i_kernel_list *list, kfe_i_kernel *kernel)
{
    kfe_status status = KFE_OK;

    KFE_GROW(list->ctx, list->items, list->capacity, list->count + 1);
    list->items[list->count++] = *kernel;
    memset(kernel, 0, sizeof *kernel);
cleanup:
    kfe_i_kernel_free(kernel);
    return status;
}

kfe_status kfe_i_kernel_list_copy(kfe_context *ctx, const kfe_i_kernel_list *from, kfe_i_kernel_list *list)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < from->count; m++) {
        kfe_i_kernel copy = {0};
        KFE_TRY(kfe_i_kernel_copy(ctx, &from->items[m], &copy));
        KFE_TRY(kfe_i_kernel_list_add(list, &copy));
    }
cleanup:
    return status;
}

int kfe_i_kernel_list_given(const kfe_i_kernel_list *list, int view)
{
    int given = 0;
    int others = 0;

    for (int64_t m = 0; m < list->count; m++) {
        int is_given = list->items[m].def->base == KFE_BASE_GIVEN;
        given |= list->items[m].view == view && is_given;
        others |= list->items[m].view == view && !is_given;
    }
    return given && others ? -1 : given;
}

int kfe_i_kernel_list_may_be_indefinite(const kfe_i_kernel_list *list)
{
    for (int64_t m = 0; list && m < list->count; m++) {
        const kfe_i_kernel_def *def = list->items[m].def;
        if (def->flags & KFE_HAS_INDEFINITE || def->base == KFE_BASE_GIVEN || def->base == KFE_BASE_USER)
            return 1;
    }
    return 0;
}

int kfe_i_kernel_list_reads(const kfe_i_kernel_list *list, int view)
{
    for (int64_t m = 0; m < list->count; m++)
        if (list->items[m].view == view)
            return 1;
    return 0;
}

/* ---- fitness for data ---- */

static kfe_status check_kind(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *train)
{
    int strings = (kernel->def->flags & KFE_HAS_STRINGS) != 0;

    if (strings != (train->kind == KFE_TABLE_TEXT))
        return kfe_i_fail(ctx, KFE_EINPUT, "kernel %s works on %s, but the data holds %s", kernel->def->name,
                          strings ? "strings" : "numbers", strings ? "numbers" : "strings");
    if (kernel->def->base == KFE_BASE_GIVEN && train->kind != KFE_TABLE_DENSE)
        return kfe_i_fail(ctx, KFE_EINPUT, "a precomputed kernel must be a dense matrix, not sparse");
    if (kernel->def->base == KFE_BASE_GIVEN && train->rows != train->cols)
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "a precomputed kernel must be square to fit, but this one has %lld rows and %lld columns; "
            "if the label is not in the last column, name its column with {label}",
            (long long)train->rows, (long long)train->cols);
    if (kernel->def->base == KFE_BASE_USER && !kernel->user_function)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "kernel '%s' is a user function that was not bound; use {bind-kernel}",
                          kernel->user_name);
    return KFE_OK;
}

int kfe_i_kernel_is_resolved(const kfe_i_kernel *kernel)
{
    for (int i = 0; i < kernel->def->params.count; i++) {
        const kfe_i_param *row = &kernel->def->params.rows[i];
        double value = 0;
        if (row->info.type != KFE_PARAM_REAL || !row->named)
            continue;
        memcpy(&value, (const char *)kernel->settings + row->offset, sizeof value);
        if (!(value >= row->info.min && value <= row->info.max))
            return 0;
    }
    return 1;
}

kfe_status kfe_i_kernel_prepare(kfe_context *ctx, kfe_i_kernel *kernel, const kfe_i_table *train)
{
    kfe_status status = check_kind(ctx, kernel, train);

    kernel->adapted |= !kfe_i_kernel_is_resolved(kernel);
    if (status == KFE_OK && kernel->def->resolve)
        status = kernel->def->resolve(ctx, kernel->settings, train);
    if (status == KFE_OK && kernel->def->flags & KFE_HAS_INDEFINITE)
        kfe_i_log(
            ctx, KFE_LOG_WARNING,
            "kernel %s is not positive definite in general: directions of negative length are left out; "
            "prefer rbf or poly",
            kernel->def->name);
    return status;
}
