/* SPDX-License-Identifier: Apache-2.0 */
/* hsic and uhsic as problems of the ridge engine: the label kernel's factor is the target. */
#include "method/ridge/hsic_solve.h"

#include <string.h>

#include "core/memory.h"
#include "method/ridge/label_kernel.h"
#include "method/ridge/ridge.h"

/* All but the operator and the targets. */
static kfe_i_ridge_problem make_problem(const kfe_i_hsic_options *options, int classes, int64_t most)
{
    return (kfe_i_ridge_problem){
        .method = options->method,
        .centred = 1,
        .on_images = !options->uncorrelated,
        .ridge = options->ridge,
        .classes = classes,
        .dim = options->dim,
        .most = most,
        .exhausted = "the target depends on the data in no more directions",
        .none = "the data does not depend on the target: their covariance is zero up to rounding",
    };
}

kfe_status kfe_i_hsic_fit(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_hsic_options *options,
                          kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_label_factor labels = {0};

    KFE_TRY(kfe_i_label_factor_make(ctx, options->method, problem->target, options->label_kernel, &labels));
    kfe_i_ridge_problem ridge = make_problem(options, problem->target->task == KFE_TASK_CLASSES, labels.most);
    ridge.gram = problem->gram;
    ridge.targets = labels.values;
    ridge.columns = labels.rank;
    ridge.squared_norm = labels.squared_norm;
    KFE_TRY(kfe_i_ridge_fit(ctx, &ridge, out));
cleanup:
    kfe_i_label_factor_free(&labels);
    return status;
}

/* Label kernels that are products of class indicators or targets as given. */
static kfe_status check_label_kernel(kfe_context *ctx, const kfe_i_hsic_options *options, int classes)
{
    const char *kernel = options->label_kernel;
    int by_class = strcmp(kernel, "h1") == 0 || strcmp(kernel, "h2") == 0;

    if (by_class && !classes)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "%s: label kernel %s is for classes; for real targets use linear or rbf:gamma=1",
                          options->method, kernel);
    if (by_class || strcmp(kernel, "auto") == 0 || strcmp(kernel, "linear") == 0)
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EUNSUPPORTED,
        "%s: from sums over rows, the label kernel is h1, h2 or linear; '%s' needs all targets in "
        "memory",
        options->method, kernel);
}

kfe_status kfe_i_hsic_fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem,
                               const kfe_i_hsic_options *options, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_sums *sums = problem->sums;
    int classes = sums->task == KFE_TASK_CLASSES;
    int by_size = strcmp(options->label_kernel, "h2") == 0 || strcmp(options->label_kernel, "auto") == 0;
    double *roots = NULL;

    KFE_TRY(check_label_kernel(ctx, options, classes));
    if (classes && by_size)
        KFE_TRY(kfe_i_inverse_class_roots(ctx, sums, &roots));
    const kfe_i_ridge_problem ridge =
        make_problem(options, classes, classes ? sums->classes - 1 : sums->targets);
    const kfe_i_ridge_sums targets = {.map = roots, .columns = classes ? sums->classes : sums->targets};
    KFE_TRY(kfe_i_ridge_fit_sums(ctx, problem, &ridge, &targets, out));
cleanup:
    kfe_i_free(ctx, roots);
    return status;
}
