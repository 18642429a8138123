/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A method by the user's own rule (kfe_spec_new_rule), in the dual: the function is shown the residual target, the features so far
 * and products with the kernel matrix, and fills β; deflation.c does the rest. The model needs no function afterwards: it is a
 * projector like all others. Targets far from one are shown over a power of four (targets.h).
 */
#include "method/user_rule.h"

#include <math.h>
#include <string.h>

#include "method/deflation/deflation.h"

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(kfe_i_user_rule_settings, dim, "number of features; auto: 10, or as many as possible"),
    KFE_CENTRE_ROW(kfe_i_user_rule_settings, "yes")};

static kfe_status times(void *handle, const double *v, int64_t k, double *out)
{
    return kfe_i_deflation_times(handle, v, k, out);
}

static kfe_status check_direction(const kfe_i_deflation *d, const double *direction)
{
    for (int64_t i = 0; i < d->rows; i++)
        if (!isfinite(direction[i]))
            return kfe_i_fail(d->ctx, KFE_EINVAL,
                              "rule %s: entry %lld of the direction in iteration %lld is not a finite number",
                              d->setup.method, (long long)i + 1, (long long)d->count + 1);
    return KFE_OK;
}

static kfe_status choose(kfe_i_deflation *d, void *state, double *direction, double *product,
                         int *has_product)
{
    kfe_status status = KFE_OK;
    const kfe_i_user_rule_settings *s = state;
    kfe_deflation_state seen = {.examples = d->examples,
                                .targets = d->targets,
                                .iteration = d->count,
                                .residual = d->residual,
                                .features = d->basis,
                                .times = times,
                                .handle = d};

    (void)product;
    *has_product = 0;
    memset(direction, 0, (size_t)d->rows * sizeof *direction);
    status = s->rule(s->user, &seen, direction);
    if (status != KFE_OK && kfe_error_message(d->ctx)[0] == '\0')
        return kfe_i_fail(d->ctx, status, "rule %s failed in iteration %lld", d->setup.method,
                          (long long)d->count + 1);
    return status == KFE_OK ? check_direction(d, direction) : status;
}

static const kfe_i_rule rule = {.choose = choose};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_i_user_rule_settings s = *(const kfe_i_user_rule_settings *)settings;
    kfe_i_deflation_setup setup = {.method = s.name, .side = KFE_SIDE_DUAL, .center = s.center, .dim = s.dim};

    return kfe_i_deflation_fit(ctx, source, &setup, &rule, &s, out);
}

const kfe_i_method kfe_i_method_user_rule = {
    .name = "user",
    .summary = "features along directions that a function of the user chooses",
    .reference = "Dhanjal, Gunn & Shawe-Taylor 2009, section 3",
    .flags = KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING,
    .params = KFE_PARAM_TABLE(rows, kfe_i_user_rule_settings),
    .fit = fit,
};
