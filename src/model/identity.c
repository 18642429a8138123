/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a fit: its method, kernels, learner, settings, seed and data. kfe_fit writes it into checkpoints. */
#include "model/identity.h"

#include <stdio.h>

#include "core/memory.h"
#include "core/text.h"
#include "data/fingerprint.h"

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
