/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of steps by view, for fits (model/prepare.c), the check of specs, explanations and figures. */
#include "model/chain_views.h"

#include <string.h>

#include "core/memory.h"

/* ---- before a fit ---- */

static kfe_status refuse_view(kfe_context *ctx, const kfe_i_view *view, int strings)
{
    return kfe_i_fail(
        ctx, KFE_EINVAL,
        strings ? "%s: strings cannot be prepared by steps; leave out {prepare} for this view"
                : "%s: a precomputed kernel matrix cannot be prepared by steps; leave out {prepare} for "
                  "this view",
        kfe_i_view_shown(view));
}

kfe_status kfe_i_chain_of_view(kfe_context *ctx, const char *prepare, const kfe_i_kernel_list *kernels,
                               const kfe_data *data, int v, kfe_i_chain *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_view *view = &data->views[v];
    int strings = view->table.kind == KFE_TABLE_TEXT;
    int named = 0;

    KFE_TRY(kfe_i_chain_for_view(ctx, prepare, view->name, out, &named));
    if (out->count == 0 || (!strings && kfe_i_kernel_list_given(kernels, v) == 0))
        goto cleanup;
    if (named || data->view_count == 1)
        KFE_TRY(refuse_view(ctx, view, strings));
    kfe_i_chain_free(out);
cleanup:
    if (status != KFE_OK)
        kfe_i_chain_free(out);
    return status;
}

static kfe_status check_name(kfe_context *ctx, void *user, const char *view, const char *chain)
{
    const kfe_data *data = user;

    (void)chain;
    for (int v = 0; view && v < data->view_count; v++)
        if (data->views[v].name && strcmp(data->views[v].name, view) == 0)
            return KFE_OK;
    if (!view)
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EINVAL,
                      "{prepare}: there is no view '%s'; a chain for all views has no name before it", view);
}

kfe_status kfe_i_chains_check(kfe_context *ctx, const char *prepare, const kfe_i_kernel_list *kernels,
                              const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_i_chain chain = {0};

    KFE_TRY(kfe_i_chain_each(ctx, prepare, check_name, (void *)(uintptr_t)data));
    for (int v = 0; v < data->view_count; v++) {
        KFE_TRY(kfe_i_chain_of_view(ctx, prepare, kernels, data, v, &chain));
        status = kfe_i_chain_plan(ctx, &chain, data->views[v].table.cols, kfe_i_view_names(&data->views[v]));
        if (status != KFE_OK) {
            status = kfe_i_fail_prefix(ctx, status, kfe_i_view_shown(&data->views[v]));
            goto cleanup;
        }
        kfe_i_chain_free(&chain);
    }
cleanup:
    kfe_i_chain_free(&chain);
    return status;
}

/* ---- models ---- */

int kfe_i_model_prepares_linearly(const kfe_model *model, const char **which)
{
    for (int v = 0; v < model->view_count; v++)
        if (!kfe_i_chain_is_linear(&model->views[v].scaler.chain, which))
            return 0;
    return 1;
}

int64_t kfe_i_view_prepared_cols(const kfe_i_model_view *view)
{
    return view->scaler.chain.count > 0 ? view->scaler.chain.made : view->cols;
}

int64_t kfe_i_model_prepared_cols(const kfe_model *model)
{
    int64_t cols = 0;

    for (int v = 0; v < model->view_count; v++)
        cols += kfe_i_view_prepared_cols(&model->views[v]);
    return cols;
}

const char *kfe_i_view_prepared_name(const kfe_i_model_view *view, int64_t j)
{
    char *const *names = view->scaler.chain.names ? view->scaler.chain.names : view->column_names;

    return names ? names[j] : NULL;
}

/* ---- the public calls ---- */

int64_t kfe_model_prepared_cols(const kfe_model *model, int view)
{
    return view >= 0 && view < model->view_count ? kfe_i_view_prepared_cols(&model->views[view]) : 0;
}

const char *kfe_model_prepared_name(const kfe_model *model, int view, int64_t col)
{
    if (col < 0 || col >= kfe_model_prepared_cols(model, view))
        return NULL;
    return kfe_i_view_prepared_name(&model->views[view], col);
}

kfe_status kfe_model_prepare(kfe_context *ctx, const kfe_model *model, int view, char **out)
{
    kfe_i_text text;

    *out = NULL;
    if (view < 0 || view >= model->view_count)
        return kfe_i_fail(ctx, KFE_EINVAL, "the model has %d views, so there is no view %d",
                          model->view_count, view);
    kfe_i_text_init(&text, ctx);
    kfe_i_chain_format(&model->views[view].scaler.chain, 0, &text);
    return kfe_i_text_take(&text, out);
}
