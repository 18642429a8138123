/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find directions that separate classes and keep neighbours within a class together: the engine of lfda and klfda.
 *
 * For points f_i (shared/factor.h), the affinity of two examples of the same class is
 *
 *     A_ij = exp(−‖f_i − f_j‖² / (σ_i σ_j)),   σ_i the distance to the k-th nearest example of the class,
 *
 * and 0 for examples of different classes. With S(W) = ½ Σ_ij W_ij (f_i − f_j)(f_i − f_j)ᵀ,
 *
 *     within    S_w = S(A_ij / n_c)                                             in the same class c
 *     between   S_b = S(A_ij (1/n − 1/n_c)  in the same class,  1/n otherwise)
 *
 * the directions are the leading solutions of S_b w = λ (S_w + ρI) w. Examples of a class that are far from each other have no
 * affinity, so that a class may have several clusters. With A_ij = 1 this is Fisher's discriminant.
 *
 * Sugiyama (2007), "Dimensionality reduction of multimodal labeled data by local Fisher discriminant analysis", JMLR 8.
 * Time O(Σ n_c² rank + n rank² + rank³); affinities are made panel by panel and never stored.
 */
#ifndef KFE_METHOD_FISHER_LOCAL_FISHER_H
#define KFE_METHOD_FISHER_LOCAL_FISHER_H

#include "method/shared/factor.h"

typedef struct kfe_i_local_fisher_settings {
    int64_t dim, neighbours, rank; /* rank: klfda only */
    double ridge;                  /* a number, or KFE_LOCAL_RIDGE_MEAN or _THOUSANDTH */
} kfe_i_local_fisher_settings;

/* A ridge that is not a number: the mean diagonal of S_w, or a thousandth of it. */
#define KFE_LOCAL_RIDGE_MEAN (-1)
#define KFE_LOCAL_RIDGE_THOUSANDTH (-2)

#define KFE_LOCAL_FISHER_ROWS                                                                                \
    KFE_DIM_ROW(kfe_i_local_fisher_settings, dim, "number of features; auto: one for each class"),           \
        KFE_INT(kfe_i_local_fisher_settings, neighbours, "neighbours", "7", 1, KFE_INT_MAX,                  \
                "the width of the affinity at an example is the distance to this neighbour in its class"),   \
        KFE_REAL_OR(kfe_i_local_fisher_settings, ridge, "ridge", "mean", KFE_REAL_POSITIVE, KFE_REAL_MAX,    \
                    "mean|thousandth", "mean=-1|thousandth=-2",                                              \
                    "added to the local within-class scatter; mean: its mean diagonal; thousandth: "         \
                    "a thousandth of that")

kfe_status kfe_i_local_fisher_fit(const char *method, const kfe_i_factor *factor, const kfe_i_target *target,
                                  const kfe_i_local_fisher_settings *settings, kfe_i_solution *out);

#endif
