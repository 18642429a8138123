/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separate what predicts the target from what does not: orthogonal projections to latent structures, the engine of opls and kopls2.
 *
 * For centred points F (shared/factor.h) and centred targets Y, the predictive directions W are the leading left singular vectors
 * of FᵀY. An orthogonal component is variation in F that W carries but Y does not explain. Repeat:
 *
 *     T = FW,   N = (I − WWᵀ)FᵀT,   w_o = the leading left singular vector of N,
 *     t_o = F w_o,   p_o = Fᵀt_o / t_oᵀt_o,   F ← F − t_o p_oᵀ
 *
 * W stays as it is, since t_oᵀY = 0. The features are the predictive T of the filtered F, then the orthogonal t_o. All of them are
 * linear in the points: with the filter Π (I − w_o p_oᵀ) they are F·Π·W and F·Π·w_o.
 *
 * Trygg & Wold (2002), "Orthogonal projections to latent structures (O-PLS)", J. Chemometrics 16; Rantalainen et al. (2007), "Kernel-based
 * orthogonal projections to latent structures (K-OPLS)", J. Chemometrics 21. Another method than kopls of Dhanjal et al. (2009).
 */
#ifndef KFE_METHOD_ORTHOGONAL_ORTHOGONAL_H
#define KFE_METHOD_ORTHOGONAL_ORTHOGONAL_H

#include "method/shared/factor.h"

typedef struct kfe_i_orthogonal_settings {
    int64_t predictive, orthogonal, rank; /* rank: kopls2 only */
} kfe_i_orthogonal_settings;

#define KFE_ORTHOGONAL_ROWS                                                                                  \
    KFE_INT_OR(kfe_i_orthogonal_settings, predictive, "predictive", "auto", 1, KFE_INT_MAX, "auto",          \
               "auto=0", "number of predictive features; auto: as many as the targets have directions"),     \
        KFE_INT(kfe_i_orthogonal_settings, orthogonal, "orthogonal", "1", 0, KFE_INT_MAX,                    \
                "number of orthogonal components, which are filtered out of the predictive features and "    \
                "listed after them")

kfe_status kfe_i_orthogonal_fit(const char *method, const kfe_i_factor *factor, const kfe_i_target *target,
                                const kfe_i_orthogonal_settings *settings, kfe_i_solution *out);
/* opls on data with missing values, without filling them in (opls_missing.c). */
kfe_status kfe_i_opls_missing(kfe_context *ctx, const kfe_i_fit_source *source,
                              const kfe_i_orthogonal_settings *settings, kfe_i_solution *out);

#endif
