/* SPDX-License-Identifier: Apache-2.0 */
/* hsic and uhsic as problems of the ridge engine: the label kernel's factor is the target. */
#include "method/ridge/hsic_solve.h"

#include "method/ridge/label_kernel.h"
#include "method/ridge/ridge.h"

kfe_status kfe_i_hsic_fit(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_hsic_options *options,
                          kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_label_factor labels = {0};

    KFE_TRY(kfe_i_label_factor_make(ctx, options->method, problem->target, options->label_kernel, &labels));
    const kfe_i_ridge_problem ridge = {
        .method = options->method,
        .gram = problem->gram,
        .centred = 1,
        .targets = labels.values,
        .columns = labels.rank,
        .on_images = !options->uncorrelated,
        .squared_norm = labels.squared_norm,
        .ridge = options->ridge,
        .classes = problem->target->task == KFE_TASK_CLASSES,
        .dim = options->dim,
        .most = labels.most,
        .exhausted = "the target depends on the data in no more directions",
        .none = "the data does not depend on the target: their covariance is zero up to rounding",
    };
    KFE_TRY(kfe_i_ridge_fit(ctx, &ridge, out));
cleanup:
    kfe_i_label_factor_free(&labels);
    return status;
}
