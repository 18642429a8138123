/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The framework of Dhanjal, Gunn & Shawe-Taylor (2009): a rule chooses a direction, its feature is made
 * orthogonal to the features before, the targets lose what the feature explains, and so on.
 *
 * Nothing is deflated but the targets. With q_1 … q_j orthonormal (the features so far, scaled to length one)
 * the deflated data is (I − QQᵀ)X or (I − QQᵀ)K, so that the next feature is τ = (I − QQᵀ)v, v = Xu (primal)
 * or Kβ (dual), and products of the deflated data with the residual target are products of the data with it.
 * With R_ij = q_iᵀv_j, upper triangular, the projection of new points (eq. 4) is A = B R⁻¹ diag(‖τ_j‖): a
 * triangular solve.
 *
 * Primal and dual differ in two products only: `times` (X or K) and `pull` (Xᵀ or the identity), so that a
 * rule is written once for both.
 */
#ifndef KFE_METHOD_DEFLATION_DEFLATION_H
#define KFE_METHOD_DEFLATION_DEFLATION_H

#include "gram/linalg.h"
#include "method/method.h"
#include "method/targets.h"

/* What a direction is made of, and how the data is multiplied with it. */
typedef enum kfe_i_side {
    KFE_SIDE_PRIMAL, /* columns of the one table, by its factor */
    KFE_SIDE_DUAL,   /* examples, by an operator kept for many products */
    KFE_SIDE_COLUMNS /* examples, by a few columns of the operator; it is stored only for several targets */
} kfe_i_side;

typedef struct kfe_i_deflation {
    kfe_context *ctx;
    const char *method; /* name, for messages */
    kfe_i_side side;
    int64_t examples; /* n */
    int64_t rows;     /* of a direction: d columns (primal) or n examples (dual) */
    int64_t asked;
    /* dual: the operator as it is best multiplied with many times, centred if asked for */
    kfe_i_gram *centred;
    kfe_i_kept kept;
    const kfe_i_gram *gram;
    /* primal: the table, its transpose if it is sparse, and what is subtracted from its columns (NULL:
     * nothing) */
    const kfe_i_table *table, *transposed;
    double *means;
    /* targets, minus their means: the class indicator (two classes: ±1, one column) or the real target */
    int64_t targets;
    double *target, *residual; /* n × targets */
    /* rounds */
    int64_t most, count;
    double *basis;      /* count × n: q_j one after the other */
    double *lengths;    /* count: ‖τ_j‖ */
    double *directions; /* count × rows */
    double *triangle;   /* most × most: R */
    double *signs;      /* count: what the solution multiplied each feature with */
    double dependent;   /* of ‖v‖, what ‖τ‖ must be above for τ to be no rounding error */
    double rounding;    /* what rounding may make of ‖Xᵀw‖² / ‖w‖², w in the null space */
    double first_size;  /* of what directions are made of, in the first round */
    const char *ended;  /* why there were no more rounds; NULL: there were enough */
    /* room for the rounds, which do not allocate */
    double *product, *overlap; /* n; most */
    double *image;             /* max(n, rows) × targets */
    double *inner, *leading;   /* targets × targets; targets */
    double *sums;              /* most × targets */
    double *panels;            /* primal: rows × targets for every thread */
    kfe_i_eigen_work *eigen;
} kfe_i_deflation;

/* A way to choose directions. */
typedef struct kfe_i_rule {
    /* direction[rows] of the next round. A rule that has the product v of the undeflated data with it at hand
     * sets *has_product and fills product[n]. All zeros: there is none left. */
    kfe_status (*choose)(kfe_i_deflation *deflation, void *state, double *direction, double *product,
                         int *has_product);
    /* After the feature was made; may be NULL. */
    kfe_status (*after)(kfe_i_deflation *deflation, void *state);
    /* Directions are scaled so that features have length one; otherwise they are left as the rule scales
     * them. */
    int unit_features;
} kfe_i_rule;

/* The rows that the rules share. */
#define KFE_DEFLATION_ROWS(type, centred)                                                                    \
    KFE_DIM_ROW(type, dim, "number of features; auto: 10, or as many as there can be"),                      \
        KFE_FLAG(type, center, "center", centred, "subtract the mean in feature space")

/* `asked` features (0: 10, or as many as there can be). The problem must outlive it. Free it also after a
 * failure.
 */
kfe_status kfe_i_deflation_begin(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                                 kfe_i_side side, int center, int64_t asked, kfe_i_deflation *out);
void kfe_i_deflation_free(kfe_i_deflation *deflation);

/* out (n × k) = X·v or K·v for v (rows × k), centred, not deflated. */
kfe_status kfe_i_deflation_times(const kfe_i_deflation *deflation, const double *v, int64_t k, double *out);
/* out (rows × k) = Xᵀ·w (primal, centred) or w (dual) for w (n × k), k at most the number of targets or one.
 */
kfe_status kfe_i_deflation_pull(const kfe_i_deflation *deflation, const double *w, int64_t k, double *out);
/* w (n × k) ← (I − QQᵀ)w, k at most the number of targets or one. */
void kfe_i_deflation_project_out(const kfe_i_deflation *deflation, double *w, int64_t k);
/* Whether a size, such as the covariance of a direction, is rounding error beside that of the first round,
 * with which it is called first. */
int kfe_i_deflation_is_spent(kfe_i_deflation *deflation, double size);

/* Rounds until enough features, or, with a warning, until nothing is left to explain. KFE_EINPUT if there was
 * nothing from the beginning. */
kfe_status kfe_i_deflation_run(kfe_i_deflation *deflation, const kfe_i_rule *rule, void *state);
/* Eq. (4), centring included; records B(S) and D(S) of eqs. (11), (12) after each round, the regression
 * coefficients on the features, and the kernel evaluations that one projection takes. */
kfe_status kfe_i_deflation_solution(kfe_i_deflation *deflation, kfe_i_solution *out);
/* All of it, for rules without a state of their own to begin. */
kfe_status kfe_i_deflation_fit(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                               kfe_i_side side, int center, int64_t asked, const kfe_i_rule *rule,
                               void *state, kfe_i_solution *out);

/* The direction along which data and `w` (n × targets) covary most: the leading singular vector of Xᵀw, of
 * length one, or its dual, βᵀKβ = 1. Serves pls, kpls and, with gradients in place of residuals, blf and
 * kblf. `product` as in choose. KFE_ENUMERIC if the kernel is not positive definite and gives none from the
 * beginning. */
kfe_status kfe_i_covariant_direction(kfe_i_deflation *deflation, const double *w, double *direction,
                                     double *product, int *has_product);
/* The rule of pls and kpls: that direction for the residual target. */
extern const kfe_i_rule kfe_i_covariance_rule;
/* The leading eigenvalue of a small symmetric matrix (order targets, overwritten); its unit eigenvector in
 * deflation->leading. */
kfe_status kfe_i_deflation_leading(kfe_i_deflation *deflation, double *small, double *value);

#endif
