/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse PLS discriminant analysis: the features of spls on classes coded as dummies, each of which uses few columns, and the predictor of
 * plsda on them (class_rule.h).
 *
 * Lê Cao, Boitard & Besse (2011), "Sparse PLS discriminant analysis", BMC Bioinformatics 12. Time: that of spls, and O(n·dim·classes).
 */
#include "method/deflation/class_rule.h"
#include "method/deflation/deflation.h"
#include "method/deflation/spls.h"
#include "method/shared/keep.h"

typedef struct splsda_settings {
    int64_t dim;
    int center;
    char keep[KFE_PARAM_TEXT_SIZE], keep_values[KFE_PARAM_TEXT_SIZE];
    int rule;
} splsda_settings;

static const kfe_i_param rows[] = {
    KFE_DEFLATION_ROWS(splsda_settings, "yes"),
    KFE_KEEP_ROWS(splsda_settings),
    KFE_CLASS_RULE_ROW(splsda_settings, rule),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const splsda_settings *s = settings;
    const kfe_i_spls_job job = {.method = "splsda", .center = s->center, .dim = s->dim, .keep = s->keep};

    KFE_TRY(kfe_i_spls_fit(ctx, source, &job, out));
    KFE_TRY(kfe_i_class_rule_learn(ctx, source, (kfe_i_class_rule)s->rule, out));
cleanup:
    return status;
}

const kfe_i_method kfe_i_method_splsda = {
    .name = "splsda",
    .summary = "sparse PLS discriminant analysis: each direction uses few columns",
    .reference = "Lê Cao et al. 2011",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_SPARSE | KFE_HAS_PREDICTOR | KFE_HAS_PROBABILITIES |
             KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kpls",
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, splsda_settings),
    .fit = fit,
};
