/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial least squares, PLS1 and PLS2. Direction u_j is the first left singular vector of X_jᵀY, of length one, where X_j is the
 * data minus what the features so far explain. Since (I − QQᵀ)Y is the residual target, X_jᵀY is Xᵀ times it, so that only the
 * target is deflated.
 *
 * Dhanjal, Gunn & Shawe-Taylor (2009), section 3.1.2. Time: one pass over the data per feature or, where that takes less time, one
 * product XᵀX for all (pls_sums.c); two passes per feature, or compress.c, if sums have not the digits or examples have weights.
 */
#include "method/deflation/deflation.h"
#include "method/deflation/pls_sums.h"
#include "method/shared/stand_in.h"

typedef struct pls_settings {
    int64_t dim;
    int center;
} pls_settings;

static const kfe_i_param rows[] = {KFE_DEFLATION_ROWS(pls_settings, "yes")};

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    const pls_settings *s = settings;
    kfe_i_deflation_setup setup = {
        .method = "pls", .side = KFE_SIDE_PRIMAL, .center = s->center, .dim = s->dim, .products = 1};

    return kfe_i_deflation_fit(ctx, problem, &setup, &kfe_i_covariance_rule, NULL, out);
}

static int64_t features_of(const pls_settings *s)
{
    return s->dim > 0 ? s->dim : KFE_DEFLATION_AUTO_DIM;
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const pls_settings *s = settings;
    const kfe_i_stand_in_job job = {.fit = fit, .settings = settings, .supervised = 1, .centred = s->center};
    int done = 0;

    if (s->center)
        KFE_TRY(kfe_i_pls_from_sums(ctx, problem->sums, features_of(s), out, &done));
    if (!done && (problem->rows_at_hand || problem->sums->spectrum))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "pls: the sums do not have the digits for so many features");
    if (!done)
        KFE_TRY(kfe_i_stand_in_fit(ctx, problem->sums, &job, out));
cleanup:
    return status;
}

static kfe_i_sums_choice choose_sums(const void *settings, int64_t examples, int64_t cols, int64_t targets)
{
    const pls_settings *s = settings;

    return s->center ? kfe_i_pls_choose_sums(examples, cols, targets, features_of(s)) : KFE_SUMS_NONE;
}

const kfe_i_method kfe_i_method_pls = {
    .name = "pls",
    .summary = "partial least squares",
    .reference = "Dhanjal, Gunn & Shawe-Taylor 2009, section 3.1.2",
    .flags =
        KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kpls",
    .params = KFE_PARAM_TABLE(rows, pls_settings),
    .faster_from_sums = 1,
    .choose_sums = choose_sums,
    .takes_spectrum = 1,
    .fit = fit,
    .fit_sums = fit_sums,
};
