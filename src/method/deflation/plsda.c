/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PLS discriminant analysis: the features of pls on classes coded as dummies, and a predictor of its own. With features T, the dummies are
 * predicted by least squares, Ŷ = T(TᵀT)⁻¹TᵀY + means, and a rule assigns the class (class_rule.h). Two classes have one centred dummy, since
 * the other is its negative.
 *
 * Barker & Rayens (2003), "Partial least squares for discrimination", J. Chemometrics 17; the thresholds: Pérez, Ferré & Boqué (2009),
 * Chemom. Intell. Lab. Syst. 95. Time: that of pls, and O(n·dim·classes).
 */
#include "method/deflation/class_rule.h"
#include "method/deflation/deflation.h"
#include "method/deflation/pls_sums.h"

typedef struct plsda_settings {
    int64_t dim;
    int center;
    int rule;
} plsda_settings;

static const kfe_i_param rows[] = {KFE_DEFLATION_ROWS(plsda_settings, "yes"),
                                   KFE_CLASS_RULE_ROW(plsda_settings, rule)};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const plsda_settings *s = settings;

    KFE_TRY(kfe_i_pls_fit(ctx, source, "plsda", s->center, s->dim, out));
    KFE_TRY(kfe_i_class_rule_learn(ctx, source, (kfe_i_class_rule)s->rule, out));
cleanup:
    return status;
}

const kfe_i_method kfe_i_method_plsda = {
    .name = "plsda",
    .summary = "partial least squares discriminant analysis",
    .reference = "Barker & Rayens 2003; Pérez, Ferré & Boqué 2009",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_SPARSE | KFE_HAS_PREDICTOR | KFE_HAS_PROBABILITIES |
             KFE_HAS_SAMPLE_WEIGHTS | KFE_HAS_MISSING,
    .instead = "kpls",
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, plsda_settings),
    .fit = fit,
};
