/* SPDX-License-Identifier: Apache-2.0 */
/* Names of views, and data sets joined from several views in memory. */
#include "data/set/views.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/param.h"
#include "core/suggest.h"
#include "core/utf8.h"

/* ---- names ---- */

int kfe_i_views_find(const kfe_i_view *views, int count, const char *name)
{
    for (int v = 0; v < count; v++)
        if (strcmp(views[v].name, name) == 0)
            return v;
    return -1;
}

kfe_status kfe_i_views_check_names(kfe_context *ctx, const kfe_i_view *views, int count)
{
    for (int v = 1; v < count; v++) {
        int first = kfe_i_views_find(views, v, views[v].name);
        if (first < 0)
            continue;
        if (views[v].path && views[first].path && strcmp(views[v].path, views[first].path) != 0)
            return kfe_i_fail(ctx, KFE_EINVAL,
                              "%s and %s are both views named '%s'; tell them apart with {view}",
                              views[first].path, views[v].path, views[v].name);
        return kfe_i_fail(ctx, KFE_EINVAL, "views %d and %d are both named '%s'; give each its own name",
                          first + 1, v + 1, views[v].name);
    }
    return KFE_OK;
}

int kfe_i_view_is_listed(const char *list, const char *name)
{
    size_t wanted = strlen(name);

    while (*list) {
        size_t length = strcspn(list, ";");
        if (length == wanted && strncmp(list, name, length) == 0)
            return 1;
        list += length + (list[length] == ';');
    }
    return 0;
}

typedef struct name_list {
    const kfe_i_view *views;
    int count;
} name_list;

static const char *name_at(const void *list, int index)
{
    const name_list *names = list;
    return index < names->count ? names->views[index].name : NULL;
}

kfe_status kfe_i_views_no_such(kfe_context *ctx, const kfe_i_view *views, int count, const char *name)
{
    kfe_status status = KFE_OK;
    name_list names = {views, count};
    char suggestion[96];
    kfe_i_text text;

    kfe_i_suggest(name, name_at, &names, suggestion, sizeof suggestion);
    kfe_i_text_init(&text, ctx);
    for (int v = 0; v < count; v++)
        kfe_i_text_printf(&text, "%s%s", v ? ", " : "", views[v].name);
    KFE_TRY(text.status);
    status = kfe_i_fail(ctx, KFE_EINVAL, "there is no view '%s'%s; the views of the data are %s", name,
                        suggestion, text.bytes);
cleanup:
    kfe_i_text_free(&text);
    return status;
}

/* ---- views from memory ---- */

static kfe_status check_parts(kfe_context *ctx, int count, const kfe_data *const *parts)
{
    if (count < 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "give at least one part to join");
    for (int v = 0; v < count; v++)
        if (!parts[v] || parts[v]->view_count != 1)
            return kfe_i_fail(ctx, KFE_EINVAL, "part %d is not one view; join data of one view each", v + 1);
    return KFE_OK;
}

static kfe_status borrow_view(kfe_context *ctx, const kfe_i_view *from, const char *name, kfe_i_view *to)
{
    kfe_status status = KFE_OK;

    to->table = from->table;
    to->table.owned = 0;
    KFE_TRY(kfe_i_view_copy_columns(ctx, from, to));
    KFE_TRY(kfe_i_gaps_gather(ctx, &from->gaps, NULL, from->table.rows, &to->gaps));
    KFE_TRY(kfe_i_view_copy_name(ctx, from, to));
    if (name) {
        kfe_i_free(ctx, to->name);
        KFE_STRDUP(ctx, to->name, name);
        kfe_i_force_utf8(to->name);
        to->named = 1;
    }
cleanup:
    return status;
}

static kfe_status check_rows(kfe_context *ctx, const kfe_data *data)
{
    const kfe_i_view *views = data->views;

    for (int v = 1; v < data->view_count; v++)
        if (views[v].table.rows != views[0].table.rows)
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "view '%s' has %lld rows, but view '%s' has %lld; views must describe the same "
                              "examples in the same order",
                              views[0].name, (long long)views[0].table.rows, views[v].name,
                              (long long)views[v].table.rows);
    return KFE_OK;
}

static kfe_status take_first_target(kfe_context *ctx, int count, const kfe_data *const *parts, kfe_data *data)
{
    for (int v = 0; v < count; v++)
        if (parts[v]->target.task != KFE_TASK_NONE) {
            data->label_place = parts[v]->label_place;
            return kfe_data_copy_target(ctx, parts[v], data);
        }
    return KFE_OK;
}

kfe_status kfe_data_join_views(kfe_context *ctx, int count, const kfe_data *const *parts,
                               const char *const *names, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;

    *out = NULL;
    KFE_TRY(check_parts(ctx, count, parts));
    KFE_TRY(kfe_i_data_new(ctx, count, &data));
    for (int v = 0; v < count; v++)
        KFE_TRY(borrow_view(ctx, &parts[v]->views[0], names ? names[v] : NULL, &data->views[v]));
    KFE_TRY(kfe_i_views_check_names(ctx, data->views, count));
    KFE_TRY(check_rows(ctx, data));
    KFE_TRY(take_first_target(ctx, count, parts, data));
    *out = data;
    data = NULL;
cleanup:
    kfe_data_free(data);
    return status;
}
