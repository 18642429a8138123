/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the views of new data in the order of the model's views; used by transform, predict and evaluate. */
#include "model/arrange.h"

#include <stdio.h>
#include <string.h>

#include "core/intern.h"
#include "core/memory.h"
#include "data/set/views.h"

int kfe_i_model_find_view(const kfe_model *model, const char *name)
{
    for (int v = 0; v < model->view_count; v++)
        if (strcmp(model->views[v].name, name) == 0)
            return v;
    return -1;
}

/* Whether names say which view is which: --view gave one, or the model knows one. Else the order does. */
static int names_decide(const kfe_model *model, const kfe_data *data)
{
    if (model->view_count == 1 && data->view_count == 1)
        return 0;
    for (int v = 0; v < data->view_count; v++)
        if (data->views[v].named || kfe_i_model_find_view(model, data->views[v].name) >= 0)
            return 1;
    return 0;
}

/* `problem` with a list of the model's views behind it. */
static kfe_status refuse(kfe_context *ctx, const kfe_model *model, const char *problem)
{
    kfe_status status = KFE_OK;
    kfe_i_text names;

    kfe_i_text_init(&names, ctx);
    for (int v = 0; v < model->view_count; v++)
        kfe_i_text_printf(&names, "%s%s", v ? ", " : "", model->views[v].name);
    KFE_TRY(names.status);
    status = kfe_i_fail(ctx, KFE_EINPUT, "%s; its views are %s: give each by name with {view}", problem,
                        names.bytes);
cleanup:
    kfe_i_text_free(&names);
    return status;
}

static kfe_status refuse_view(kfe_context *ctx, const kfe_model *model, const char *what, const char *name)
{
    char problem[600];

    snprintf(problem, sizeof problem, "%s '%.200s'", what, name);
    return refuse(ctx, model, problem);
}

static kfe_status by_name(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_data *out)
{
    for (int v = 0; v < data->view_count; v++)
        if (kfe_i_model_find_view(model, data->views[v].name) < 0)
            return refuse_view(ctx, model, "the model has no view", data->views[v].name);
    for (int v = 0; v < model->view_count; v++) {
        int found = kfe_i_views_find(data->views, data->view_count, model->views[v].name);
        if (found < 0)
            return refuse_view(ctx, model, "the data lacks the model's view", model->views[v].name);
        out->views[v] = data->views[found];
    }
    return KFE_OK;
}

static kfe_status by_order(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_data *out)
{
    char problem[120];

    if (data->view_count == model->view_count) {
        memcpy(out->views, data->views, (size_t)data->view_count * sizeof *out->views);
        return KFE_OK;
    }
    snprintf(problem, sizeof problem, "the model was fitted on %d view%s, but the data has %d",
             model->view_count, model->view_count == 1 ? "" : "s", data->view_count);
    return refuse(ctx, model, problem);
}

/* A division of one table as the model divides it. It owns its views. */
static kfe_status divide_as_model(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                  kfe_data **out)
{
    kfe_status status = KFE_OK;
    const char **names = NULL;

    KFE_ALLOC(ctx, names, model->view_count);
    for (int v = 0; v < model->view_count; v++)
        names[v] = model->views[v].name;
    KFE_TRY(kfe_data_join_views(ctx, 1, &data, NULL, out));
    KFE_TRY(kfe_i_data_divide(ctx, *out, &model->division, model->view_count, names));
cleanup:
    kfe_i_free(ctx, names);
    return status;
}

/* Two columns of one name may stand in either order. Data without names is matched by position. */
static kfe_status refuse_twins(kfe_context *ctx, const kfe_i_model_view *expected, const kfe_i_view *given)
{
    int64_t first = 0;
    int64_t second = 0;
    kfe_status status = KFE_OK;

    if (!given->column_names || expected->cols != given->table.cols)
        return KFE_OK;
    status =
        kfe_i_find_twins(ctx, expected->cols, (const char *const *)expected->column_names, &first, &second);
    if (status == KFE_OK && second > 0)
        status = kfe_i_fail(
            ctx, KFE_EINPUT,
            "%s: columns %lld and %lld of the model are both called '%.100s', so it is not clear which "
            "column of the data is which; give the data without names in the order of the fit, or fit the "
            "model with different names",
            kfe_i_view_shown(given), (long long)first + 1, (long long)second + 1,
            expected->column_names[first]);
    return status;
}

kfe_status kfe_i_arrange(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_data *out)
{
    kfe_status status = KFE_OK;

    *out = *data;
    out->ctx = ctx;
    out->views = NULL;
    out->divided = NULL;
    if (model->division.cols > 0 && data->view_count == 1 && data->division.cols == 0) {
        KFE_TRY(divide_as_model(ctx, model, data, &out->divided));
        data = out->divided;
    }
    KFE_ALLOC_ZERO(ctx, out->views, model->view_count);
    out->view_count = model->view_count;
    KFE_TRY(names_decide(model, data) ? by_name(ctx, model, data, out) : by_order(ctx, model, data, out));
    for (int v = 0; v < model->view_count; v++)
        KFE_TRY(refuse_twins(ctx, &model->views[v], &out->views[v]));
cleanup:
    return status;
}

kfe_status kfe_i_arrange_without(kfe_context *ctx, const kfe_data *arranged, int view, kfe_data *out)
{
    kfe_status status = KFE_OK;

    *out = *arranged;
    out->ctx = ctx;
    out->views = NULL;
    out->divided = NULL;
    out->view_count = 0;
    memset(&out->division, 0, sizeof out->division);
    KFE_ALLOC(ctx, out->views, arranged->view_count);
    for (int v = 0; v < arranged->view_count; v++)
        if (v != view)
            out->views[out->view_count++] = arranged->views[v];
cleanup:
    return status;
}

void kfe_i_arrange_free(kfe_data *arranged)
{
    if (arranged->ctx) {
        kfe_i_free(arranged->ctx, arranged->views);
        kfe_data_free(arranged->divided);
    }
    memset(arranged, 0, sizeof *arranged);
}
