/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeats a fit: makes a spec again from the method, parameters and learner of a model and from the options and kernels
 * that it was given, and fits that, with or without one of the views. Called by explain/views.c.
 */
#include "model/refit.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/set/views.h"
#include "model/arrange.h"
#include "model/transfer.h"

kfe_status kfe_i_refit_check(kfe_context *ctx, const kfe_model *model)
{
    const kfe_i_method *method = NULL;

    if (!model->given.options)
        return kfe_i_fail(
            ctx, KFE_EUNSUPPORTED,
            "the model file does not say how the model was fitted, because an older version of kfe wrote "
            "it; fit the model again");
    if (kfe_i_model_is_transferred(model))
        return kfe_i_fail(
            ctx, KFE_EUNSUPPORTED,
            "the model is for a second instrument, whose training rows nobody has; use the model "
            "that {transfer} was given");
    for (int i = 0; (method = kfe_i_method_at(i)); i++)
        if (strcmp(method->name, model->method) == 0)
            return KFE_OK;
    return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                      "the fit cannot be repeated: '%s' is a function of the user, which the model does not "
                      "hold",
                      model->method);
}

/* ---- the spec ---- */

/* A localized method may name the one view that its gate sees, by name or number. Numbers change when a view is left
 * out, so the name is set. */
static kfe_status keep_gate(kfe_context *ctx, const kfe_data *train, int without, kfe_spec *spec)
{
    kfe_status status = KFE_OK;
    const kfe_i_param_table *table = &spec->method->params;
    const kfe_i_param *row = kfe_i_param_find(table, "gate");
    kfe_i_text value;

    kfe_i_text_init(&value, ctx);
    if (!row || without < 0)
        goto cleanup;
    kfe_i_param_format(row, spec->settings, &value);
    KFE_TRY(value.status);
    if (strcmp(value.bytes, "all") == 0)
        goto cleanup;
    int view = kfe_i_views_find(train->views, train->view_count, value.bytes);
    if (view < 0)
        view = (int)strtol(value.bytes, NULL, 10) - 1;
    if (view == without)
        KFE_FAIL(ctx, KFE_EINVAL, "the gate sees only this view");
    if (view >= 0 && view < train->view_count)
        KFE_TRY(kfe_i_param_set(ctx, table, NULL, spec->settings, "gate", train->views[view].name));
cleanup:
    kfe_i_text_free(&value);
    return status;
}

static kfe_status add_kernels(kfe_context *ctx, const kfe_model *model, const kfe_data *train, int without,
                              kfe_spec *spec)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel kernel = {0};

    for (int64_t m = 0; m < model->given.kernels.count; m++) {
        const kfe_i_kernel *given = &model->given.kernels.items[m];
        if (given->view == without)
            continue;
        KFE_TRY(kfe_i_kernel_copy(ctx, given, &kernel));
        kfe_i_free(ctx, kernel.view_name);
        kernel.view_name = NULL;
        KFE_STRDUP(ctx, kernel.view_name, train->views[given->view].name);
        KFE_TRY(kfe_i_kernel_list_add(&spec->kernels, &kernel));
    }
cleanup:
    kfe_i_kernel_free(&kernel);
    return status;
}

static kfe_status make_spec(kfe_context *ctx, const kfe_model *model, const kfe_data *train, int without,
                            kfe_spec **out)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    int predicts_itself = model->learner && strcmp(model->learner, model->method) == 0;

    KFE_TRY(kfe_spec_parse(ctx, model->method, NULL, NULL, &spec));
    KFE_TRY(kfe_i_params_parse(ctx, &spec->method->params, NULL, spec->settings, model->params));
    KFE_TRY(kfe_i_params_parse(ctx, &kfe_i_fit_params, NULL, &spec->fit, model->given.options));
    spec->fit.conformal = KFE_CONFORMAL_NONE; /* intervals do not change predictions */
    if (model->learner && !predicts_itself)
        KFE_TRY(kfe_spec_set_learner(ctx, spec, model->learner, model->learner_params));
    KFE_TRY(keep_gate(ctx, train, without, spec));
    KFE_TRY(add_kernels(ctx, model, train, without, spec));
    *out = spec;
    spec = NULL;
cleanup:
    kfe_spec_free(spec);
    return status;
}

/* ---- the data ---- */

kfe_status kfe_i_refit_mark_gaps(kfe_context *ctx, const kfe_model *model, const kfe_data *train,
                                 kfe_data **out)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(train);
    int64_t *all = NULL;
    int fills = 0;

    *out = NULL;
    for (int v = 0; v < model->view_count; v++)
        fills |= model->views[v].scaler.fill && train->views[v].gaps.fill == KFE_FILL_NONE;
    if (!fills)
        return KFE_OK;
    KFE_ALLOC(ctx, all, rows);
    for (int64_t i = 0; i < rows; i++)
        all[i] = i;
    KFE_TRY(kfe_i_data_gather(ctx, train, all, rows, out));
    for (int v = 0; v < model->view_count; v++) {
        kfe_i_view *view = &(*out)->views[v];
        KFE_TRY(kfe_i_view_copy_columns(ctx, &train->views[v], view));
        if (model->views[v].scaler.fill && view->gaps.fill == KFE_FILL_NONE)
            KFE_TRY(kfe_i_view_set_missing(ctx, (kfe_i_fill)model->views[v].scaler.fill_kind, view));
    }
cleanup:
    kfe_i_free(ctx, all);
    return status;
}

kfe_status kfe_i_refit(kfe_context *ctx, const kfe_model *model, const kfe_data *train, int without,
                       kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_data *filled = NULL;
    kfe_data rest = {0};
    kfe_spec *spec = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_refit_check(ctx, model));
    KFE_TRY(kfe_i_model_check(ctx, model, train));
    KFE_TRY(kfe_i_refit_mark_gaps(ctx, model, train, &filled));
    KFE_TRY(kfe_i_arrange_without(ctx, filled ? filled : train, without, &rest));
    KFE_TRY(make_spec(ctx, model, train, without, &spec));
    KFE_TRY(kfe_fit(ctx, spec, &rest, out));
cleanup:
    kfe_spec_free(spec);
    kfe_i_arrange_free(&rest);
    kfe_data_free(filled);
    return status;
}
