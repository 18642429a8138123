/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a fit: its method, kernels, learner, settings, seed and data. kfe_fit writes it into checkpoints, and the processes of a
 * cluster compare it before they begin. */
#include "model/identity.h"

#include <stdio.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/resume_file.h"
#include "core/text.h"
#include "data/rows/fingerprint.h"

static kfe_status add_kernels(kfe_context *ctx, const kfe_i_kernel_list *kernels, kfe_i_text *text)
{
    char *kernel = NULL;

    for (int64_t m = 0; m < kernels->count; m++) {
        kfe_status status = kfe_i_kernel_text(ctx, &kernels->items[m], &kernel);
        if (status != KFE_OK)
            return status;
        kfe_i_text_printf(text, " -k %s", kernel);
        kfe_i_free(ctx, kernel);
    }
    return KFE_OK;
}

static void add_settings(const char *name, const kfe_i_param_table *table, const void *settings,
                         kfe_i_text *text)
{
    kfe_i_text_printf(text, "%s(", name);
    kfe_i_params_format(table, settings, text);
    kfe_i_text_puts(text, ")");
}

kfe_status kfe_i_fit_identity_of(kfe_context *ctx, const kfe_spec *spec, const char *data, char **out)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    add_settings(spec->method->name, &spec->method->params, spec->settings, &text);
    KFE_TRY(add_kernels(ctx, &spec->kernels, &text));
    if (spec->learner) {
        kfe_i_text_puts(&text, " ");
        add_settings(spec->learner->name, &spec->learner->params, spec->learner_settings, &text);
    }
    kfe_i_text_puts(&text, " ");
    add_settings("fit", &kfe_i_fit_params, &spec->fit, &text);
    kfe_i_text_printf(&text, " seed %llu\n%s", (unsigned long long)kfe_context_seed(ctx), data);
    KFE_TRY(kfe_i_text_take(&text, out));
cleanup:
    kfe_i_text_free(&text);
    return status;
}

kfe_status kfe_i_fit_identity(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, char **out)
{
    char fingerprint[32];

    (void)snprintf(fingerprint, sizeof fingerprint, "%016llx",
                   (unsigned long long)kfe_i_data_fingerprint(ctx, train));
    return kfe_i_fit_identity_of(ctx, spec, fingerprint, out);
}

/* ---- calls that processes share ---- */

static kfe_status add_specs(kfe_context *ctx, const kfe_i_call *call, kfe_i_text *text)
{
    char *one = NULL;

    for (int s = 0; s < call->spec_count; s++) {
        kfe_status status = kfe_i_fit_identity_of(ctx, call->specs[s], "", &one);
        if (status != KFE_OK)
            return status;
        kfe_i_text_printf(text, " %s", one);
        kfe_i_free(ctx, one);
    }
    return KFE_OK;
}

static kfe_status compare_call(kfe_context *ctx, const kfe_i_call *call, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;
    char *whole = NULL;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_printf(&text, "%s kfe-" KFE_VERSION " seed=%llu", call->name,
                      (unsigned long long)kfe_context_seed(ctx));
    kfe_i_text_puts(&text, !ctx->resume ? " no-checkpoint" : ctx->resume->wanted ? " resume" : " checkpoint");
    kfe_i_text_puts(&text, data && data->target.weights ? " weights" : " no-weights");
    KFE_TRY(add_specs(ctx, call, &text));
    kfe_i_text_printf(&text, " %s", call->options ? call->options : "");
    for (int t = 0; t < call->text_count; t++)
        kfe_i_text_printf(&text, " %s", call->texts[t]);
    KFE_TRY(kfe_i_text_take(&text, &whole));
    KFE_TRY(kfe_i_cluster_compare_text(ctx, whole));
cleanup:
    kfe_i_text_free(&text);
    kfe_i_free(ctx, whole);
    return status;
}

kfe_status kfe_i_check_same_call(kfe_context *ctx, const kfe_i_call *call, const kfe_data *data)
{
    kfe_status status = KFE_OK;

    if (kfe_i_processes(ctx) == 1)
        return KFE_OK;
    KFE_TRY(compare_call(ctx, call, data));
    if (!data)
        goto cleanup;
    KFE_TRY(kfe_i_cluster_compare(ctx, kfe_i_data_fingerprint(ctx, data), "the data"));
    KFE_TRY(kfe_i_cluster_compare(ctx, kfe_i_numbers_fingerprint(data->target.weights, kfe_data_rows(data)),
                                  "the column of weights"));
cleanup:
    return status;
}
