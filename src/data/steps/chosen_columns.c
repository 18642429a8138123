/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of steps that choose columns by the target. */
#include "data/steps/chosen_columns.h"

#include "core/memory.h"

kfe_status kfe_i_chosen_plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;

    (void)names;
    KFE_ALLOC(ctx, fit->kept, fit->cols);
    fit->made = 0;
    for (int64_t j = 0; j < fit->cols; j++)
        if (kfe_i_is_chosen(fit, j))
            fit->kept[fit->made++] = j;
    if (fit->made == 0)
        status = kfe_i_fail(ctx, KFE_EINPUT, "{prepare}: step %s leaves no column", fit->step->name);
cleanup:
    return status;
}
