/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial least squares, PLS1 and PLS2. Direction u_j is the first left singular vector of X_jᵀY, of length one, where X_j is the
 * data minus what the features so far explain. Since (I − QQᵀ)Y is the residual target, X_jᵀY is Xᵀ times it, so that only the
 * target is deflated.
 *
 * Dhanjal, Gunn & Shawe-Taylor (2009), section 3.1.2. Time: one pass over the data per feature or, where that takes less time, one
 * product XᵀX for all (pls_rows.c); two passes per feature if products lack the digits.
 */
#include "method/deflation/deflation.h"
#include "method/deflation/pls_missing.h"
#include "method/deflation/pls_sums.h"
#include "method/shared/observed.h"
#include "method/shared/stand_in.h"

typedef struct pls_settings {
    int64_t dim;
    int center;
} pls_settings;

static const kfe_i_param rows[] = {KFE_DEFLATION_ROWS(pls_settings, "yes")};

static kfe_status fit_gram(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                           kfe_i_solution *out)
{
    const pls_settings *s = settings;
    kfe_i_deflation_setup setup = {
        .method = "pls", .side = KFE_SIDE_PRIMAL, .center = s->center, .dim = s->dim};

    return kfe_i_deflation_fit(ctx, source, &setup, &kfe_i_covariance_rule, NULL, out);
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const pls_settings *s = settings;
    const kfe_i_stand_in_job job = {
        .fit = fit_gram, .settings = settings, .supervised = 1, .centred = s->center};
    int done = 0;
    const kfe_i_pls_sums from = {.sums = source->sums};

    if (s->center)
        KFE_TRY(kfe_i_pls_from_sums(ctx, &from, s->dim > 0 ? s->dim : KFE_DEFLATION_AUTO_DIM, out, &done));
    if (!done && (source->rows_at_hand || source->sums->spectrum))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "pls: the sums have too few digits for so many features");
    if (!done)
        KFE_TRY(kfe_i_stand_in_fit(ctx, source->sums, &job, out));
cleanup:
    return status;
}

kfe_status kfe_i_pls_fit(kfe_context *ctx, const kfe_i_fit_source *source, const char *method, int center,
                         int64_t dim, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_deflation_setup setup = {
        .method = method, .side = KFE_SIDE_PRIMAL, .center = center, .dim = dim};
    int done = 0;

    if (kfe_i_has_missing(source))
        return kfe_i_pls_missing(ctx, source, method, center, dim, out);
    if (center)
        KFE_TRY(kfe_i_pls_from_rows(ctx, source, dim > 0 ? dim : KFE_DEFLATION_AUTO_DIM, out, &done));
    if (!done)
        KFE_TRY(kfe_i_deflation_fit(ctx, source, &setup, &kfe_i_covariance_rule, NULL, out));
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const pls_settings *s = settings;

    return source->sums ? fit_sums(ctx, source, settings, out)
                        : kfe_i_pls_fit(ctx, source, "pls", s->center, s->dim, out);
}

static kfe_i_use uses(const void *settings, kfe_i_offer offer, const char **why)
{
    const pls_settings *s = settings;

    if (offer == KFE_OFFER_SPECTRUM)
        return s && !s->center ? KFE_USE_NOT : KFE_USE_PREFERRED;
    return kfe_i_prefer_sums(settings, offer, why);
}

const kfe_i_method kfe_i_method_pls = {
    .name = "pls",
    .summary = "partial least squares",
    .reference = "Dhanjal, Gunn & Shawe-Taylor 2009, section 3.1.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_SAMPLE_WEIGHTS | KFE_HAS_MISSING,
    .instead = "kpls",
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, pls_settings),
    .uses = uses,
    .fit = fit,
};
