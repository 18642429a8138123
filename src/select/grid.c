/* SPDX-License-Identifier: Apache-2.0 */
/* Grids of settings: finds whose parameter the NAME of "NAME=VALUES" is, and makes specs of settings. Used by the search
 * (sweep.c, assess.c). */
#include "select/grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"
#include "core/wording.h"
#include "select/axis_values.h"
#include "select/step_axis.h"

/* ---- where a name belongs ---- */

static const char *const place_names[] = {"fit", "kernel", "method", "method", "learner"};

/* The axis that chooses chains, kernels or learners by name, added before all others; NULL: there is none. */
static const kfe_i_axis *switch_of(const kfe_i_grid *grid, kfe_i_axis_place owner)
{
    const char *name = owner == KFE_AXIS_FIT ? KFE_PREPARE : place_names[owner];

    for (int64_t i = 0; i < grid->axis_count; i++)
        if (grid->axes[i].owner == owner && strcmp(grid->axes[i].name, name) == 0)
            return &grid->axes[i];
    return NULL;
}

static const kfe_i_param_table *kernel_params(const char *text)
{
    const kfe_i_kernel_def *def;
    size_t length = strcspn(text, ":");

    for (int i = 0; (def = kfe_i_kernel_def_at(i)) != NULL; i++)
        if (strlen(def->name) == length && strncmp(def->name, text, length) == 0)
            return &def->params;
    return NULL;
}

static const kfe_i_param_table *learner_params(const char *text)
{
    const kfe_i_learner *learner;

    for (int i = 0; (learner = kfe_i_learner_at(i)) != NULL; i++)
        if (strcmp(learner->name, text) == 0)
            return &learner->params;
    return NULL;
}

/* The row of "sg.window" if a chain of the grid has the step. */
static const kfe_i_param *step_row(const kfe_i_grid *grid, const char *setting)
{
    const kfe_i_axis *axis = switch_of(grid, KFE_AXIS_FIT);
    int is_used = !axis && kfe_i_step_in_chain(grid->base->fit.prepare, setting);

    for (int64_t i = 0; axis && i < axis->count; i++)
        is_used |= kfe_i_step_in_chain(axis->values[i], setting);
    return is_used ? kfe_i_step_param(setting) : NULL;
}

/* A row of the kernels or learners that the grid chooses among. */
static const kfe_i_param *switched_row(const kfe_i_grid *grid, kfe_i_axis_place owner, const char *name)
{
    const kfe_i_axis *axis = switch_of(grid, owner);
    const kfe_i_param *row = NULL;

    for (int64_t i = 0; axis && !row && i < axis->count; i++) {
        const kfe_i_param_table *params =
            owner == KFE_AXIS_KERNEL ? kernel_params(axis->values[i]) : learner_params(axis->values[i]);
        row = params ? kfe_i_param_find(params, name) : NULL;
    }
    return row;
}

/* The row of the table that a parameter stands in; NULL: the part has none of this name. */
static const kfe_i_param *row_of(const kfe_i_grid *grid, kfe_i_axis_place owner, const char *name)
{
    const kfe_spec *spec = grid->base;
    const kfe_i_param *row = NULL;

    switch (owner) {
    case KFE_AXIS_FIT:
        return kfe_i_step_setting(name) ? step_row(grid, kfe_i_step_setting(name))
                                        : kfe_i_param_find(&kfe_i_fit_params, name);
    case KFE_AXIS_KERNEL:
        for (int64_t m = 0; !row && m < spec->kernels.count; m++)
            row = kfe_i_param_find(&spec->kernels.items[m].def->params, name);
        break;
    case KFE_AXIS_METHOD:
        return kfe_i_param_find(&spec->method->params, name);
    case KFE_AXIS_LEARNER:
        row = spec->learner ? kfe_i_param_find(&spec->learner->params, name) : NULL;
        break;
    case KFE_AXIS_DIM:
        break;
    }
    return row ? row : switched_row(grid, owner, name);
}

/* The names of all parameters that a grid may vary, from which kfe_i_suggest picks similar ones. */
static const char *name_at(const void *list, int index)
{
    const kfe_spec *spec = list;
    const kfe_i_param_table *tables[3] = {&kfe_i_fit_params, &spec->method->params,
                                          spec->learner ? &spec->learner->params : NULL};

    for (int t = 0; t < 3; t++) {
        if (!tables[t])
            continue;
        if (index < tables[t]->count)
            return tables[t]->rows[index].info.name;
        index -= tables[t]->count;
    }
    for (int64_t m = 0; m < spec->kernels.count; m++) {
        const kfe_i_param_table *table = &spec->kernels.items[m].def->params;
        if (index < table->count)
            return table->rows[index].info.name;
        index -= table->count;
    }
    return NULL;
}

static kfe_status unknown_name(kfe_context *ctx, const kfe_spec *spec, const char *name)
{
    char suggestion[96];

    kfe_i_suggest(name, name_at, spec, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "{grid}: neither method %s nor its kernel%s%s has a parameter '%s'%s",
                      spec->method->name, spec->learner ? " nor learner " : "",
                      spec->learner ? spec->learner->name : "", name, suggestion);
}

/* Finds whose parameter `written` ("NAME" or "kernel.NAME") is. *found = 0: nobody has it. */
static kfe_status find_owner(kfe_context *ctx, const kfe_i_grid *grid, const char *written, const char **name,
                             kfe_i_axis_place *owner, int *found)
{
    const char *dot = kfe_i_step_setting(written) ? NULL : strchr(written, '.');
    int matches = 0;

    *name = dot ? dot + 1 : written;
    for (int p = 0; p < KFE_AXIS_PLACES; p++) {
        size_t length = strlen(place_names[p]);
        int named = dot && (size_t)(dot - written) == length && strncmp(written, place_names[p], length) == 0;
        if ((dot && !named) || !row_of(grid, (kfe_i_axis_place)p, *name))
            continue;
        *owner = (kfe_i_axis_place)p;
        matches++;
    }
    if (matches > 1)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "{grid}: more than one part has a parameter '%s'; write kernel.%s, method.%s or "
                          "learner.%s",
                          *name, *name, *name, *name);
    *found = matches == 1;
    return KFE_OK;
}

/* ---- setting a value ---- */

static kfe_status set_kernels(kfe_context *ctx, kfe_spec *spec, const char *name, const char *value)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < spec->kernels.count; m++) {
        kfe_i_kernel *kernel = &spec->kernels.items[m];
        char owner[64];
        if (!kfe_i_param_find(&kernel->def->params, name))
            continue;
        snprintf(owner, sizeof owner, "kernel %s", kernel->def->name);
        KFE_TRY(kfe_i_param_set(ctx, &kernel->def->params, owner, kernel->settings, name, value));
    }
cleanup:
    return status;
}

/* Puts the kernel in the place of each kernel of the spec; names of views stay. */
static kfe_status replace_kernels(kfe_context *ctx, kfe_spec *spec, const char *text)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < spec->kernels.count; m++) {
        kfe_i_kernel parsed = {0};
        KFE_TRY(kfe_i_kernel_parse(ctx, text, &parsed));
        parsed.view = spec->kernels.items[m].view;
        parsed.view_name = spec->kernels.items[m].view_name;
        spec->kernels.items[m].view_name = NULL;
        kfe_i_kernel_free(&spec->kernels.items[m]);
        spec->kernels.items[m] = parsed;
    }
cleanup:
    return status;
}

static kfe_status set_axis(kfe_context *ctx, kfe_spec *spec, const kfe_i_axis *axis, const char *value)
{
    kfe_status status = KFE_OK;

    switch (axis->owner) {
    case KFE_AXIS_FIT:
        if (kfe_i_step_setting(axis->name))
            return kfe_i_step_set(ctx, spec, kfe_i_step_setting(axis->name), value);
        KFE_TRY(kfe_i_param_set(ctx, &kfe_i_fit_params, NULL, &spec->fit, axis->name, value));
        return strcmp(axis->name, KFE_PREPARE) == 0 ? kfe_i_chain_check(ctx, value) : KFE_OK;
    case KFE_AXIS_KERNEL:
        if (strcmp(axis->name, place_names[KFE_AXIS_KERNEL]) == 0)
            return replace_kernels(ctx, spec, value);
        return set_kernels(ctx, spec, axis->name, value);
    case KFE_AXIS_METHOD:
    case KFE_AXIS_DIM:
        return kfe_i_param_set(ctx, &spec->method->params, spec->method->name, spec->settings, axis->name,
                               value);
    case KFE_AXIS_LEARNER:
        if (strcmp(axis->name, place_names[KFE_AXIS_LEARNER]) == 0)
            return kfe_spec_set_learner(ctx, spec, value, NULL);
        if (!kfe_i_param_find(&spec->learner->params, axis->name))
            return KFE_OK; /* a parameter of another learner of the grid */
        return kfe_i_param_set(ctx, &spec->learner->params, spec->learner->name, spec->learner_settings,
                               axis->name, value);
    }
    status = KFE_EINVAL;
cleanup:
    return status;
}

/* Puts the name of the option in front of the message about a refused value. */
static kfe_status refuse_value(kfe_context *ctx, kfe_status status)
{
    char grid[KFE_WORDING_TEXT];

    kfe_i_word_format(ctx, "{grid}", grid);
    return kfe_i_fail_prefix(ctx, status, grid);
}

/* Checks a value with every kernel or learner that the grid may put in its place. */
static kfe_status check_value(kfe_context *ctx, const kfe_i_grid *grid, const kfe_i_axis *axis,
                              const char *value)
{
    kfe_status status = KFE_OK;
    const kfe_i_axis *chosen = switch_of(grid, axis->owner);
    kfe_spec *copy = NULL;

    for (int64_t v = 0; v < (chosen ? chosen->count : 1); v++) {
        KFE_TRY(kfe_i_spec_copy(ctx, grid->base, &copy));
        if (chosen)
            KFE_TRY(set_axis(ctx, copy, chosen, chosen->values[v]));
        if ((status = set_axis(ctx, copy, axis, value)) != KFE_OK) {
            status = refuse_value(ctx, status);
            goto cleanup;
        }
        kfe_spec_free(copy);
        copy = NULL;
    }
cleanup:
    kfe_spec_free(copy);
    return status;
}

/* ---- axes ---- */

static void free_axis(kfe_context *ctx, kfe_i_axis *axis)
{
    for (int64_t i = 0; i < axis->count; i++)
        kfe_i_free(ctx, axis->values[i]);
    kfe_i_free(ctx, axis->values);
    kfe_i_free(ctx, axis->name);
    kfe_i_free(ctx, axis->label);
    memset(axis, 0, sizeof *axis);
}

/* With dim=auto the method chooses the number of features, so this value needs a fit of its own. */
static int has_auto(const kfe_i_axis *axis)
{
    for (int64_t i = 0; i < axis->count; i++)
        if (strcmp(axis->values[i], "auto") == 0)
            return 1;
    return 0;
}

static kfe_i_axis_place place_of(const kfe_spec *spec, const kfe_i_axis *axis)
{
    if (axis->owner == KFE_AXIS_LEARNER && kfe_i_spec_learns_from_kernel(spec))
        return KFE_AXIS_METHOD;
    if (axis->owner == KFE_AXIS_METHOD && strcmp(axis->name, "dim") == 0 &&
        spec->method->flags & KFE_HAS_NESTING && !has_auto(axis))
        return KFE_AXIS_DIM;
    return axis->owner;
}

static int is_integer(const kfe_i_grid *grid, const kfe_i_axis *axis)
{
    const kfe_i_param *row = row_of(grid, axis->owner, axis->name);
    return row && row->info.type != KFE_PARAM_REAL; /* `keep` counts columns, and takes words as well */
}

/* "prepare=a|b", "kernel=a,b" and "learner=a,b" choose the part itself; -1: the text is about a parameter. */
static int switched_place(const kfe_spec *spec, const char *written)
{
    if (strcmp(written, KFE_PREPARE) == 0)
        return KFE_AXIS_FIT;
    if (strcmp(written, "kernel") == 0 && spec->kernels.count > 0)
        return KFE_AXIS_KERNEL;
    if (strcmp(written, "learner") == 0 && spec->learner)
        return KFE_AXIS_LEARNER;
    return -1;
}

/* One axis of the grid. Switches are parsed first (`switches` 1), since they say which parameters there are. *found = 0:
 * nobody has the parameter; -1: the text is for the other pass. */
static kfe_status parse_axis(kfe_context *ctx, const kfe_i_grid *grid, const char *text, int switches,
                             kfe_i_axis *axis, int *found)
{
    kfe_status status = KFE_OK;
    char *written = NULL;
    const char *equals = strchr(text, '=');
    const char *name = NULL;

    *found = -1;
    if (!equals || equals == text)
        KFE_FAIL(ctx, KFE_EINVAL, "{grid} takes NAME=a,b,c, NAME=lo:hi or NAME=lo:hi:logN, not '%s'", text);
    KFE_CHECK_ALLOC_BY(ctx, written, kfe_i_strndup(ctx, text, (size_t)(equals - text)));
    int place = switched_place(grid->base, written);
    name = written;
    if ((place >= 0) != switches)
        goto cleanup;
    if (place >= 0) {
        axis->owner = (kfe_i_axis_place)place;
        *found = 1;
    } else {
        KFE_TRY(find_owner(ctx, grid, written, &name, &axis->owner, found));
    }
    if (!*found)
        goto cleanup;
    KFE_STRDUP(ctx, axis->name, name);
    KFE_TRY(kfe_i_axis_parse(ctx, axis, equals + 1, is_integer(grid, axis)));
    axis->place = place_of(grid->base, axis);
    for (int64_t i = 0; i < axis->count; i++)
        KFE_TRY(check_value(ctx, grid, axis, axis->values[i]));
cleanup:
    kfe_i_free(ctx, written);
    return status;
}

static kfe_status insert_axis(kfe_i_grid *grid, kfe_i_axis *axis)
{
    int64_t at = grid->axis_count;

    for (int64_t i = 0; i < grid->axis_count; i++)
        if (grid->axes[i].owner == axis->owner && strcmp(grid->axes[i].name, axis->name) == 0)
            return kfe_i_fail(grid->ctx, KFE_EINVAL, "{grid}: %s is given twice", axis->name);
    for (; at > 0 && grid->axes[at - 1].place > axis->place; at--)
        grid->axes[at] = grid->axes[at - 1];
    grid->axes[at] = *axis;
    grid->axis_count++;
    memset(axis, 0, sizeof *axis);
    return KFE_OK;
}

static kfe_status label_axes(kfe_i_grid *grid)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < grid->axis_count; i++) {
        kfe_i_axis *axis = &grid->axes[i];
        int alike = 0;
        char label[96];
        for (int64_t j = 0; j < grid->axis_count; j++)
            alike |= j != i && strcmp(grid->axes[j].name, axis->name) == 0;
        snprintf(label, sizeof label, "%s%s%s", alike ? place_names[axis->owner] : "", alike ? "." : "",
                 axis->name);
        KFE_STRDUP(grid->ctx, axis->label, label);
    }
cleanup:
    return status;
}

static kfe_status count_settings(kfe_i_grid *grid)
{
    double all = 1;

    for (int p = 0; p < KFE_AXIS_PLACES; p++)
        grid->counts[p] = 1;
    for (int64_t i = 0; i < grid->axis_count; i++) {
        grid->counts[grid->axes[i].place] *= grid->axes[i].count;
        all *= (double)grid->axes[i].count;
        if (all > 1e9)
            return kfe_i_fail(grid->ctx, KFE_EINVAL,
                              "{grid}: more than a billion settings; take fewer values");
    }
    grid->count = (int64_t)all;
    return KFE_OK;
}

/* Adds the default kernel to a spec that names none, so that a grid can vary its parameters. */
static kfe_status name_kernel(kfe_context *ctx, kfe_spec *spec)
{
    if (spec->kernels.count > 0 || !(spec->method->flags & KFE_HAS_KERNELS))
        return KFE_OK;
    return kfe_spec_add_kernel(ctx, spec, kfe_i_method_kernel(spec->method));
}

/* A parameter that the spec does not have. */
static kfe_status not_found(kfe_context *ctx, const kfe_spec *spec, kfe_i_grid_texts grids, int index,
                            int *unused)
{
    char name[64];

    if (grids.optional) {
        if (unused)
            unused[index]++;
        return KFE_OK;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(grids.texts[index], "="), grids.texts[index]);
    if (kfe_i_step_setting(name))
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "{grid}: no chain of {prepare} has a step with the setting '%s'; {steps} lists the settings",
            kfe_i_step_setting(name));
    return unknown_name(ctx, spec, name);
}

kfe_status kfe_i_grid_make(kfe_context *ctx, const kfe_spec *spec, kfe_i_grid_texts grids, int *unused,
                           kfe_i_grid *out)
{
    kfe_status status = KFE_OK;
    kfe_i_axis axis = {0};
    int found = 0;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    KFE_TRY(kfe_i_spec_copy(ctx, spec, &out->base));
    KFE_TRY(name_kernel(ctx, out->base));
    KFE_ALLOC_ZERO(ctx, out->axes, grids.count);
    for (int i = 0; i < 2 * grids.count; i++) {
        KFE_TRY(parse_axis(ctx, out, grids.texts[i % grids.count], i < grids.count, &axis, &found));
        if (found > 0)
            KFE_TRY(insert_axis(out, &axis));
        else if (found == 0)
            KFE_TRY(not_found(ctx, out->base, grids, i % grids.count, unused));
    }
    KFE_TRY(label_axes(out));
    KFE_TRY(count_settings(out));
cleanup:
    free_axis(ctx, &axis);
    if (status != KFE_OK)
        kfe_i_grid_free(out);
    return status;
}

void kfe_i_grid_free(kfe_i_grid *grid)
{
    for (int64_t i = 0; i < grid->axis_count; i++)
        free_axis(grid->ctx, &grid->axes[i]);
    if (grid->ctx)
        kfe_i_free(grid->ctx, grid->axes);
    kfe_spec_free(grid->base);
    memset(grid, 0, sizeof *grid);
}

/* ---- settings by number ---- */

void kfe_i_grid_choice(const kfe_i_grid *grid, int64_t index, int64_t choice[KFE_AXIS_PLACES])
{
    for (int p = KFE_AXIS_PLACES - 1; p >= 0; p--) {
        choice[p] = index % grid->counts[p];
        index /= grid->counts[p];
    }
}

/* The value of axis i in setting number `choice` of its place. The axes of a place vary like the digits of a
 * number, the last one fastest. */
static const char *value_at(const kfe_i_grid *grid, int64_t i, int64_t choice)
{
    for (int64_t later = grid->axis_count - 1; later > i; later--)
        if (grid->axes[later].place == grid->axes[i].place)
            choice /= grid->axes[later].count;
    return grid->axes[i].values[choice % grid->axes[i].count];
}

const char *kfe_i_grid_value(const kfe_i_grid *grid, int64_t index, int64_t axis)
{
    int64_t choice[KFE_AXIS_PLACES];

    kfe_i_grid_choice(grid, index, choice);
    return value_at(grid, axis, choice[grid->axes[axis].place]);
}

/* Whether the chain, kernel or learner of a setting has the parameter of the axis. */
static int applies(const kfe_i_grid *grid, int64_t index, int64_t axis)
{
    const kfe_i_axis *own = &grid->axes[axis];
    const kfe_i_axis *chosen = switch_of(grid, own->owner);

    if (!chosen || chosen == own)
        return 1;
    const char *name = kfe_i_grid_value(grid, index, chosen - grid->axes);
    if (own->owner == KFE_AXIS_FIT)
        return !kfe_i_step_setting(own->name) || kfe_i_step_in_chain(name, kfe_i_step_setting(own->name));
    const kfe_i_param_table *params =
        own->owner == KFE_AXIS_KERNEL ? kernel_params(name) : learner_params(name);
    return !params || kfe_i_param_find(params, own->name);
}

int64_t kfe_i_grid_first_alike(const kfe_i_grid *grid, int64_t index)
{
    int64_t stride = 1;
    int64_t first = index;

    for (int64_t i = grid->axis_count - 1; i >= 0; i--) {
        if (!applies(grid, index, i))
            first -= index / stride % grid->axes[i].count * stride;
        stride *= grid->axes[i].count;
    }
    return first;
}

kfe_status kfe_i_grid_apply(kfe_context *ctx, const kfe_i_grid *grid, const int64_t choice[KFE_AXIS_PLACES],
                            kfe_i_axis_place first, kfe_i_axis_place last, kfe_spec *spec)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < grid->axis_count; i++) {
        const kfe_i_axis *axis = &grid->axes[i];
        if (axis->place >= first && axis->place <= last)
            KFE_TRY(set_axis(ctx, spec, axis, value_at(grid, i, choice[axis->place])));
    }
cleanup:
    return status;
}

kfe_status kfe_i_grid_spec(kfe_context *ctx, const kfe_i_grid *grid, int64_t index, kfe_spec **out)
{
    int64_t choice[KFE_AXIS_PLACES];
    kfe_status status = kfe_i_spec_copy(ctx, grid->base, out);

    kfe_i_grid_choice(grid, index, choice);
    if (status == KFE_OK)
        status = kfe_i_grid_apply(ctx, grid, choice, KFE_AXIS_FIT, KFE_AXIS_LEARNER, *out);
    if (status != KFE_OK) {
        kfe_spec_free(*out);
        *out = NULL;
    }
    return status;
}

/* The smallest and the largest number among the values; returns how many numbers there are. */
static int64_t range_of(const kfe_i_axis *axis, double *low, double *high)
{
    int64_t numbers = 0;

    for (int64_t i = 0; i < axis->count; i++) {
        const char *text = axis->values[i];
        double value = 0;
        if (!kfe_i_parse_number(text, text + strlen(text), &value))
            continue;
        *low = numbers == 0 || value < *low ? value : *low;
        *high = numbers == 0 || value > *high ? value : *high;
        numbers++;
    }
    return numbers;
}

int kfe_i_grid_edge(const kfe_i_grid *grid, int64_t index, int64_t axis)
{
    const kfe_i_param *row = row_of(grid, grid->axes[axis].owner, grid->axes[axis].name);
    const char *text = kfe_i_grid_value(grid, index, axis);
    double value = 0;
    double low = 0;
    double high = 0;

    if (!row || (row->info.type != KFE_PARAM_INT && row->info.type != KFE_PARAM_REAL) ||
        range_of(&grid->axes[axis], &low, &high) < 2 ||
        !kfe_i_parse_number(text, text + strlen(text), &value) || low == high || !applies(grid, index, axis))
        return 0;
    if (value == low)
        return value > row->info.min ? -1 : 0;
    return value == high && value < row->info.max ? 1 : 0;
}

void kfe_i_grid_describe(const kfe_i_grid *grid, int64_t index, kfe_i_text *out)
{
    const char *separator = "";

    for (int64_t i = 0; i < grid->axis_count; i++) {
        if (!applies(grid, index, i))
            continue;
        kfe_i_text_printf(out, "%s%s=%s", separator, grid->axes[i].label, kfe_i_grid_value(grid, index, i));
        separator = " ";
    }
}
