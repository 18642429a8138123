/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of steps on the axes of a grid. */
#include "select/step_axis.h"

#include <stdio.h>
#include <string.h>

const char *kfe_i_step_setting(const char *name)
{
    size_t length = strlen(KFE_PREPARE ".");
    const kfe_i_row_step *step;

    if (strncmp(name, KFE_PREPARE ".", length) == 0)
        return name + length;
    for (int i = 0; (step = kfe_i_step_at(i)); i++)
        if (strncmp(name, step->name, strlen(step->name)) == 0 && name[strlen(step->name)] == '.')
            return name;
    return NULL;
}

const kfe_i_param *kfe_i_step_param(const char *setting)
{
    size_t length = strcspn(setting, ".");
    const kfe_i_row_step *step;

    for (int i = 0; setting[length] && (step = kfe_i_step_at(i)); i++)
        if (strlen(step->name) == length && strncmp(step->name, setting, length) == 0)
            return kfe_i_param_find(&step->params, setting + length + 1);
    return NULL;
}

int kfe_i_step_in_chain(const char *text, const char *setting)
{
    char step[64];

    snprintf(step, sizeof step, "%.*s", (int)strcspn(setting, "."), setting);
    return kfe_i_chain_has(text, step);
}

kfe_status kfe_i_step_set(kfe_context *ctx, kfe_spec *spec, const char *setting, const char *value)
{
    char changed[KFE_PARAM_TEXT_SIZE];
    int found = 0;
    kfe_status status = kfe_i_chain_set(ctx, spec->fit.prepare, setting, value, changed, &found);

    if (status == KFE_OK && found)
        memcpy(spec->fit.prepare, changed, sizeof changed);
    return status;
}
