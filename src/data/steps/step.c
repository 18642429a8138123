/* SPDX-License-Identifier: Apache-2.0 */
/* The table of steps, its public calls, and what several steps use. */
#include "data/steps/step.h"

#include <string.h>

#include "core/suggest.h"

#define KFE_STEP(name) extern const kfe_i_row_step kfe_i_step_##name;
#include "data/steps/steps.def"
#undef KFE_STEP

#define KFE_STEP(name) &kfe_i_step_##name,
static const kfe_i_row_step *const steps[] = {
#include "data/steps/steps.def"
};
#undef KFE_STEP

const kfe_i_row_step *kfe_i_step_at(int index)
{
    return index >= 0 && (size_t)index < sizeof steps / sizeof *steps ? steps[index] : NULL;
}

static const char *step_name_at(const void *list, int index)
{
    const kfe_i_row_step *step = kfe_i_step_at(index);
    (void)list;
    return step ? step->name : NULL;
}

kfe_status kfe_i_step_find(kfe_context *ctx, const char *name, const kfe_i_row_step **out)
{
    char suggestion[96];

    for (int i = 0; (*out = kfe_i_step_at(i)); i++)
        if (strcmp((*out)->name, name) == 0)
            return KFE_OK;
    kfe_i_suggest(name, step_name_at, NULL, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "{prepare}: there is no step '%s'%s; {steps} lists them", name,
                      suggestion);
}

const kfe_entry_info *kfe_step(int index)
{
    const kfe_i_row_step *row = kfe_i_step_at(index);
    return row ? &row->entry : NULL;
}

const kfe_param_info *kfe_step_param(int index, int param)
{
    const kfe_i_row_step *step = kfe_i_step_at(index);
    return step ? kfe_i_param_info(&step->params, param) : NULL;
}

/* ---- graphs ---- */

int64_t kfe_i_graph_mean(const kfe_i_step_graph *g, int64_t x, int64_t cols)
{
    return g->two(g->state, "Div", g->sum(g->state, x), g->number(g->state, (double)cols));
}

int64_t kfe_i_graph_divide(const kfe_i_step_graph *g, int64_t x, int64_t by, int64_t otherwise)
{
    int64_t zero = g->number(g->state, 0);
    int64_t is_zero = g->two(g->state, "Equal", by, zero);
    int64_t safe = g->where(g->state, is_zero, g->number(g->state, 1), by);

    return g->where(g->state, is_zero, otherwise, g->two(g->state, "Div", x, safe));
}
