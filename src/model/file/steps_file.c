/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that prepare the rows of a view: names and settings in the document of the view, what was learned as tensors. What follows from
 * both is made again and so need not be trusted. */
#include <stdio.h>

#include "core/memory.h"
#include "model/file/parts.h"

/* Every setting of a step as text. */
static kfe_status settings_text(kfe_context *ctx, const kfe_i_fitted_step *fit, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_puts(&text, "");
    kfe_i_params_format(&fit->step->params, fit->settings, &text);
    return kfe_i_text_take(&text, out);
}

static kfe_status exchange_step(kfe_i_document *d, kfe_i_chain *chain, int s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = d->x->ctx;
    char *name = NULL;
    char *settings = NULL;

    KFE_TRY(kfe_i_document_enter(d, NULL, KFE_JSON_OBJECT));
    if (d->x->saves) {
        KFE_STRDUP(ctx, name, chain->steps[s].step->name);
        KFE_TRY(settings_text(ctx, &chain->steps[s], &settings));
    }
    KFE_TRY(kfe_i_document_text(d, "step", 0, &name));
    KFE_TRY(kfe_i_document_text(d, "parameters", 0, &settings));
    kfe_i_document_leave(d);
    if (!d->x->saves) {
        status = kfe_i_chain_add(ctx, chain, name, settings);
        status = status == KFE_OK || kfe_i_is_lack(status) ? status : kfe_i_damaged(d->x, "steps");
    }
cleanup:
    kfe_i_free(ctx, name);
    kfe_i_free(ctx, settings);
    return status;
}

/* The plans of the steps; settings that do not suit the columns are a fault of the file. */
static kfe_status plan(const kfe_i_exchange *x, const kfe_i_model_view *view, kfe_i_chain *chain)
{
    kfe_status status = kfe_i_chain_plan(x->ctx, chain, view->cols, view->column_names);

    return status == KFE_OK || kfe_i_is_lack(status) ? status : kfe_i_damaged(x, "steps");
}

/* The numbers that each step has learned, "viewV.stepS.learned". */
static kfe_status exchange_learned(kfe_i_exchange *x, int v, kfe_i_chain *chain)
{
    kfe_status status = KFE_OK;
    char part[32];

    for (int s = 0; s < chain->count; s++) {
        kfe_i_fitted_step *fit = &chain->steps[s];
        if (fit->step->learns == 0)
            continue;
        snprintf(part, sizeof part, "step%d.learned", s);
        KFE_TRY(kfe_i_exchange_reals(x, kfe_i_part_name(x, "view", v, part), kfe_i_step_learns(fit),
                                     fit->cols, 0, &fit->learned));
        if (fit->step->choose && !x->saves) /* later steps see fewer columns */
            KFE_TRY(plan(x, &x->model->views[v], chain));
    }
cleanup:
    return status;
}

kfe_status kfe_i_exchange_steps(kfe_i_exchange *x, kfe_i_document *d, int v)
{
    kfe_status status = KFE_OK;
    kfe_i_model_view *view = &x->model->views[v];
    kfe_i_chain *chain = &view->scaler.chain;
    int64_t count = chain->count;

    KFE_TRY(kfe_i_document_enter(d, "steps", KFE_JSON_ARRAY));
    kfe_i_document_count(d, &count);
    KFE_TRY(kfe_i_check_sound(x, count >= 1 && count <= KFE_MOST_STEPS && !view->strings, "steps"));
    for (int s = 0; s < count; s++)
        KFE_TRY(exchange_step(d, chain, s));
    kfe_i_document_leave(d);
    if (!x->saves)
        KFE_TRY(plan(x, view, chain));
    KFE_TRY(exchange_learned(x, v, chain));
cleanup:
    return status;
}
