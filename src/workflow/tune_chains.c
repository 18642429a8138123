/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chains of steps that kfe_tune tries before each candidate: those of {prepare}, separated by '|', with every combination of the settings
 * of {grid}. Each candidate is one entry per chain, so that the chain is learned on the training rows of each fold, and typical
 * widths are those of the columns that it makes. Called by tune.c.
 */
#include <string.h>

#include "core/memory.h"
#include "model/chain_views.h"
#include "select/axis_values.h"
#include "select/step_axis.h"
#include "workflow/tune.h"

enum { MOST_CHAINS = 1000 };

static int is_known(const kfe_i_tune *tune, const char *chain)
{
    for (int64_t i = 0; i < tune->chain_count; i++)
        if (strcmp(tune->chains[i], chain) == 0)
            return 1;
    return 0;
}

static kfe_status add_chain(kfe_i_tune *tune, const char *chain)
{
    kfe_status status = KFE_OK;
    char *copy = NULL;

    KFE_STRDUP(tune->ctx, copy, chain);
    if (is_known(tune, copy))
        goto cleanup;
    if (tune->chain_count == MOST_CHAINS)
        KFE_FAIL(tune->ctx, KFE_EINVAL, "{prepare} and {grid} make more than %d chains of steps",
                 MOST_CHAINS);
    KFE_GROW(tune->ctx, tune->chains, tune->chain_capacity, tune->chain_count + 1);
    tune->chains[tune->chain_count++] = copy;
    copy = NULL;
cleanup:
    kfe_i_free(tune->ctx, copy);
    return status;
}

/* Replaces each chain that has the step by one for each value; `found` counts them. */
static kfe_status set_values(kfe_i_tune *tune, const char *setting, const kfe_i_axis *values, int64_t *found)
{
    kfe_status status = KFE_OK;
    char **before = tune->chains;
    int64_t count = tune->chain_count;
    char changed[KFE_PARAM_TEXT_SIZE];

    tune->chains = NULL;
    tune->chain_count = tune->chain_capacity = 0;
    for (int64_t c = 0; c < count; c++) {
        int has = 1;
        for (int64_t k = 0; has && k < values->count; k++) {
            KFE_TRY(kfe_i_chain_set(tune->ctx, before[c], setting, values->values[k], changed, &has));
            KFE_TRY(add_chain(tune, has ? changed : before[c]));
        }
        *found += has;
    }
cleanup:
    kfe_i_strings_free(tune->ctx, count, before);
    return status;
}

/* One "sg.window=7,11,15". */
static kfe_status expand(kfe_i_tune *tune, char *text)
{
    kfe_status status = KFE_OK;
    char *equals = strchr(text, '=');
    kfe_i_axis values = {.name = text};
    int64_t found = 0;

    if (equals)
        *equals = '\0';
    const char *setting = kfe_i_step_setting(text);
    const kfe_i_param *row = setting ? kfe_i_step_param(setting) : NULL;
    if (!equals || !row)
        KFE_FAIL(tune->ctx, KFE_EINVAL,
                 "{grid} of a search for everything is for settings of steps, such as sg.window=7,11,15, not "
                 "'%s'; the search itself tries all others",
                 text);
    KFE_TRY(kfe_i_axis_parse(tune->ctx, &values, equals + 1, row->info.type == KFE_PARAM_INT));
    KFE_TRY(set_values(tune, setting, &values, &found));
    if (found == 0)
        KFE_FAIL(tune->ctx, KFE_EINVAL,
                 "{grid}: no chain of {prepare} has a step with the setting '%s'; {steps} lists the settings",
                 setting);
cleanup:
    kfe_i_strings_free(tune->ctx, values.count, values.values);
    return status;
}

static kfe_status expand_all(kfe_i_tune *tune, const char *grids)
{
    kfe_status status = KFE_OK;
    char *text = NULL;

    while (*grids) {
        size_t length = strcspn(grids, ";");
        KFE_CHECK_ALLOC_BY(tune->ctx, text, kfe_i_strndup(tune->ctx, grids, length));
        if (length > 0)
            KFE_TRY(expand(tune, text));
        kfe_i_free(tune->ctx, text);
        text = NULL;
        grids += length + (grids[length] != '\0');
    }
cleanup:
    kfe_i_free(tune->ctx, text);
    return status;
}

kfe_status kfe_i_tune_chains(kfe_i_tune *tune, const char *prepare, const char *grids)
{
    kfe_status status = KFE_OK;
    char *chain = NULL;

    for (;;) {
        size_t length = strcspn(prepare, "|");
        KFE_CHECK_ALLOC_BY(tune->ctx, chain, kfe_i_strndup(tune->ctx, prepare, length));
        KFE_TRY(kfe_i_chain_check(tune->ctx, chain));
        KFE_TRY(add_chain(tune, chain));
        kfe_i_free(tune->ctx, chain);
        chain = NULL;
        if (!prepare[length])
            break;
        prepare += length + 1;
    }
    KFE_TRY(expand_all(tune, grids));
cleanup:
    kfe_i_free(tune->ctx, chain);
    return status;
}

kfe_status kfe_i_tune_chains_suit(const kfe_i_tune *tune)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list none;

    kfe_i_kernel_list_init(tune->ctx, &none);
    for (int64_t c = 0; c < tune->chain_count; c++) {
        if (tune->given_kernel && strcmp(tune->chains[c], KFE_CHAIN_NONE) != 0)
            KFE_FAIL(tune->ctx, KFE_EINVAL,
                     "a kernel matrix cannot be prepared by steps; leave out {prepare}");
        KFE_TRY(kfe_i_chains_check(tune->ctx, tune->chains[c], &none, tune->data));
    }
cleanup:
    kfe_i_kernel_list_free(&none);
    return status;
}
