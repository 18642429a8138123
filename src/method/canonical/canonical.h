/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find features of several views that agree with each other: the engine of kcca and kgcca.
 *
 * Each view v has the centred kernel matrix K_v = U_vΛ_vU_vᵀ. A feature of the view is f_v = B_v b_v with
 *
 *     B_v = U_v S_v,   S_v² = Λ_v(Λ_v + ρ_v)⁻¹,
 *
 * so that ‖b_v‖² is the variance of f_v plus ρ_v times its squared norm in feature space. With R = [B_1 … B_V]ᵀ[B_1 … B_V],
 *
 *     kcca    eigenvectors of R with its diagonal blocks set to zero: Σ_{u≠v} f_uᵀf_v is largest for Σ_v ‖b_v‖² = V;
 *             for two views these are the singular vectors of B_1ᵀB_2
 *     kgcca   eigenvectors of R, with eigenvalues μ: z = Bb/√μ is the unit vector for which Σ_v zᵀK_v(K_v + ρ_v)⁻¹z is largest,
 *             and f_v = K_v(K_v + ρ_v)⁻¹z is what view v says about it
 *
 * With one view only, the target is the second one; it has no ridge.
 */
#ifndef KFE_METHOD_CANONICAL_CANONICAL_H
#define KFE_METHOD_CANONICAL_CANONICAL_H

#include "method/shared/factor.h"

typedef enum kfe_i_canonical_rule { KFE_CANONICAL_PAIRS, KFE_CANONICAL_SHARED } kfe_i_canonical_rule;

typedef struct kfe_i_canonical_settings {
    int64_t dim, rank;
    double ridge; /* times the trace of K_v; −1: chosen on held-out examples */
    char features[KFE_PARAM_TEXT_SIZE];
} kfe_i_canonical_settings;

#define KFE_CANONICAL_ROWS                                                                                   \
    KFE_DIM_ROW(kfe_i_canonical_settings, dim, "number of features of each view; auto: up to 10"),           \
        KFE_TEXT(kfe_i_canonical_settings, features, "features", "joint",                                    \
                 "joint: one set of features from all views; all: the features of every view, side by "      \
                 "side; or the name or number of one view"),                                                 \
        KFE_REAL_OR(kfe_i_canonical_settings, ridge, "ridge", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX,       \
                    "auto", "auto=-1",                                                                       \
                    "added to the eigenvalues of each centred kernel matrix, as a share of its trace; "      \
                    "auto: the ridge whose features correlate most on held-out training examples"),          \
        KFE_FACTOR_RANK_ROW(kfe_i_canonical_settings, rank)

kfe_status kfe_i_canonical_fit(kfe_context *ctx, const char *method, kfe_i_canonical_rule rule,
                               const kfe_i_fit_source *source, const kfe_i_canonical_settings *settings,
                               kfe_i_solution *out);

/* ---- within the family ---- */

/* A view, or the target, by its eigenvectors. */
typedef struct kfe_i_canonical_part {
    int64_t rank;
    double *values;  /* Λ, rank */
    double *vectors; /* U, n × rank */
    int plain;       /* the target: no ridge */
} kfe_i_canonical_part;

/* out (all ranks × all ranks) = [U_1 … U_V]ᵀ[U_1 … U_V]; both triangles. */
void kfe_i_canonical_cross(const kfe_i_canonical_part *parts, int64_t count, int64_t n, double *out);
/* The most features that the parts can have. */
int64_t kfe_i_canonical_most(const kfe_i_canonical_part *parts, int64_t count);

typedef struct kfe_i_canonical_job {
    kfe_context *ctx;
    kfe_i_canonical_rule rule;
    const kfe_i_canonical_part *parts;
    int64_t count, total; /* parts, and the sum of their ranks */
    const double *cross;  /* total × total */
    double ridge;         /* relative to the trace */
} kfe_i_canonical_job;

/* The `dim` leading eigenvectors, scaled as the features are: direction (total × dim) times the columns of U_v√Λ_v, part by part, are
 * the features of the parts, divided by the root of the number of examples. `values`: the eigenvalues. */
kfe_status kfe_i_canonical_solve(const kfe_i_canonical_job *job, int64_t dim, double *values,
                                 double *directions);
/* Correlations of the features of the parts on the examples: pairs[dim] is the mean over all pairs of parts, parts[count × dim] is that of
 * a part with the sum of all. */
kfe_status kfe_i_canonical_correlations(const kfe_i_canonical_job *job, int64_t dim, const double *directions,
                                        double *pairs, double *parts);
/* ridge=auto for the leading `dim` features. */
kfe_status kfe_i_canonical_choose_ridge(kfe_context *ctx, kfe_i_canonical_rule rule,
                                        const kfe_i_canonical_part *parts, int64_t count, int64_t n,
                                        const double *roots, const kfe_i_row_key *keys, int64_t dim,
                                        double *out);

#endif
