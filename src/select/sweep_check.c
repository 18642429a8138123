/* SPDX-License-Identifier: Apache-2.0 */
/* What the data of a search must have, whatever the setting; sweep.c asks before it begins. */
#include "core/memory.h"
#include "gram/gram.h"
#include "model/prepare.h"
#include "select/sweep.h"

/* A precomputed kernel matrix must be square and symmetric before rows and columns are picked from it. */
static kfe_status check_given(kfe_context *ctx, const kfe_i_sweep *sweep)
{
    kfe_status status = KFE_OK;
    const kfe_data *data = sweep->data;
    kfe_i_kernel_list kernels;
    kfe_i_gram *gram = NULL;

    kfe_i_kernel_list_init(ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(ctx, sweep->grid->base, data, &kernels));
    for (int64_t m = 0; m < kernels.count; m++) {
        const kfe_i_view *view = &data->views[kernels.items[m].view];
        if (kernels.items[m].def->base != KFE_BASE_GIVEN)
            continue;
        if ((status = kfe_i_kernel_prepare(ctx, &kernels.items[m], &view->table)) != KFE_OK ||
            (status = kfe_i_gram_precomputed(ctx, &view->table, &gram)) != KFE_OK) {
            status = kfe_i_fail_prefix(ctx, status, kfe_i_view_shown(view));
            goto cleanup;
        }
        kfe_i_gram_free(gram);
        gram = NULL;
    }
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

/* No setting can be fitted on a training part of one class: that is a fault of the splits. */
static kfe_status check_classes(kfe_context *ctx, const kfe_i_sweep *sweep)
{
    const kfe_i_target *target = &sweep->data->target;

    for (int64_t s = 0; target->task == KFE_TASK_CLASSES && s < sweep->splits->count; s++) {
        const kfe_i_split *split = &sweep->splits->items[s];
        int64_t i = 1;
        while (i < split->train_count && target->codes[split->train[i]] == target->codes[split->train[0]])
            i++;
        if (split->train_count > 0 && i >= split->train_count)
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "the training part of fold %lld has examples of class '%s' only; take larger "
                              "training parts (fewer {folds}, a larger {train-size}), or {stratified=yes}",
                              (long long)split->fold + 1, target->names[target->codes[split->train[0]]]);
    }
    return KFE_OK;
}

/* Mistakes that every split would report are reported for the whole data, with its own row numbers. */
kfe_status kfe_i_sweep_check(kfe_context *ctx, const kfe_i_sweep *sweep)
{
    kfe_status status = KFE_OK;
    const kfe_data *data = sweep->data;

    if (!kfe_spec_predicts(sweep->grid->base))
        KFE_FAIL(ctx, KFE_EINVAL,
                 "method %s gives features only and cannot predict; add a learner, such as {learner=knn}; "
                 "{learners} lists them",
                 sweep->grid->base->method->name);
    if (data->target.task == KFE_TASK_NONE)
        KFE_FAIL(ctx, KFE_EINPUT, "predictions can only be measured on data with labels; give {labels}");
    for (int v = 0; v < data->view_count; v++)
        KFE_TRY(kfe_i_check_view(ctx, &data->views[v]));
    KFE_TRY(check_given(ctx, sweep));
    KFE_TRY(check_classes(ctx, sweep));
cleanup:
    return status;
}
