/* SPDX-License-Identifier: Apache-2.0 */
/* The table of generators, and the public calls that list and run them. */
#include "data/generate/generate.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"

#define KFE_GENERATOR(identifier) extern const kfe_i_generator kfe_i_generator_##identifier;
#include "data/generate/generators.def"
#undef KFE_GENERATOR

const kfe_i_generator *kfe_i_generator_at(int index)
{
#define KFE_GENERATOR(identifier) &kfe_i_generator_##identifier,
    static const kfe_i_generator *const generators[] = {
#include "data/generate/generators.def"
    };
#undef KFE_GENERATOR
    int count = (int)(sizeof generators / sizeof *generators);
    return index >= 0 && index < count ? generators[index] : NULL;
}

const kfe_entry_info *kfe_generator(int index)
{
    const kfe_i_generator *row = kfe_i_generator_at(index);
    return row ? &row->entry : NULL;
}

const kfe_param_info *kfe_generator_param(int index, int param)
{
    const kfe_i_generator *generator = kfe_i_generator_at(index);
    return generator ? kfe_i_param_info(&generator->params, param) : NULL;
}

static const char *generator_name_at(const void *list, int index)
{
    const kfe_i_generator *generator = kfe_i_generator_at(index);
    (void)list;
    return generator ? generator->name : NULL;
}

static kfe_status find_generator(kfe_context *ctx, const char *name, const kfe_i_generator **out)
{
    char suggestion[96];

    for (int i = 0; (*out = kfe_i_generator_at(i)); i++)
        if (strcmp((*out)->name, name) == 0)
            return KFE_OK;
    kfe_i_suggest(name, generator_name_at, NULL, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "there is no generator '%s'%s", name, suggestion);
}

static kfe_status read_settings(kfe_context *ctx, const kfe_i_generator *generator, const char *options,
                                void *settings)
{
    kfe_status status = KFE_OK;
    char owner[64];

    snprintf(owner, sizeof owner, "generator %s", generator->name);
    KFE_TRY(kfe_i_params_default(ctx, &generator->params, settings));
    KFE_TRY(kfe_i_params_parse(ctx, &generator->params, owner, settings, options));
cleanup:
    return status;
}

kfe_status kfe_data_generate(kfe_context *ctx, const char *name, const char *options, kfe_data **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_generator *generator = NULL;
    char *settings = NULL;
    kfe_data *data = NULL;
    kfe_i_rng rng;

    *out = NULL;
    KFE_TRY(find_generator(ctx, name, &generator));
    KFE_ALLOC_ZERO(ctx, settings, (int64_t)generator->params.size);
    KFE_TRY(read_settings(ctx, generator, options, settings));
    KFE_TRY(kfe_i_data_new(ctx, 1, &data));
    KFE_STRDUP(ctx, data->views[0].name, generator->name);
    kfe_i_rng_init(&rng, kfe_context_seed(ctx), KFE_STREAM_GENERATE);
    KFE_TRY(generator->make(ctx, settings, &rng, data));
    *out = data;
    data = NULL;
cleanup:
    kfe_data_free(data);
    kfe_i_free(ctx, settings);
    return status;
}
