/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a method as a rule that chooses directions; this engine does the rest. It is the framework of Dhanjal, Gunn &
 * Shawe-Taylor (2009): the feature of a direction is made orthogonal to the features before it, the targets lose what the
 * feature explains, and the rule is asked again.
 *
 * Only the targets are deflated. With q_1 … q_j the features so far, scaled to length one and orthonormal, the deflated data
 * is (I − QQᵀ)X or (I − QQᵀ)K. So the next feature is
 *   τ = (I − QQᵀ)v,   v = Xu (primal) or Kβ (dual),
 * and products of the deflated data with the residual targets are products of the data with them. With R_ij = q_iᵀv_j, upper
 * triangular, eq. (4) of the paper for new points is a triangular solve:
 *   A = B R⁻¹ diag(‖τ_j‖).
 *
 * Primal and dual differ in two products only, kfe_i_deflation_times (X or K) and kfe_i_deflation_pull (Xᵀ or the identity),
 * so that a rule is written once for both.
 *
 * With weights, everything is in the coordinates of the weighted operator (kfe_i_gram_weighted): vectors over examples carry the roots
 * s of the weights, and s stands for the vector of ones.
 */
#ifndef KFE_METHOD_DEFLATION_DEFLATION_H
#define KFE_METHOD_DEFLATION_DEFLATION_H

#include "linalg/linalg.h"
#include "method/method.h"
#include "method/shared/targets.h"

/* What a direction is made of, and how the data is multiplied with it. */
typedef enum kfe_i_side {
    KFE_SIDE_PRIMAL, /* columns of the one table, by its factor */
    KFE_SIDE_DUAL,   /* examples, by an operator kept for many products */
    KFE_SIDE_COLUMNS /* examples, by a few columns of the operator; it is kept only for several targets */
} kfe_i_side;

enum { KFE_DEFLATION_AUTO_DIM = 10 }; /* number of features unless given */

/* What a method asks for. */
typedef struct kfe_i_deflation_setup {
    const char *method; /* begins messages */
    kfe_i_side side;
    int center;
    int64_t dim;      /* 0: auto_dim, or as many as possible */
    int64_t auto_dim; /* 0: 10 */
} kfe_i_deflation_setup;

/* The data as something to multiply with (deflation_data.c). */
typedef struct kfe_i_deflation_data {
    /* dual: the operator, centred if asked for, in the form that suits its use */
    kfe_i_gram *centred;
    kfe_i_kept kept;
    const kfe_i_gram *gram;
    /* primal: the table, its transpose if it is sparse, and the column means to subtract (NULL: none) */
    const kfe_i_table *table, *transposed;
    double *means;
    double *panels; /* rows × targets for every thread */
} kfe_i_deflation_data;

/* Memory for the iterations, which do not allocate. */
typedef struct kfe_i_deflation_work {
    double *product, *overlap; /* n; most */
    double *image;             /* max(n, rows) × targets */
    double *inner, *leading;   /* targets × targets; targets */
    double *sums;              /* most × targets */
    kfe_i_eigen_work *eigen;
} kfe_i_deflation_work;

/* Where numbers are taken for rounding error. */
typedef struct kfe_i_deflation_limits {
    double dependent;  /* ‖τ‖/‖v‖ at most this: τ is rounding error */
    double rounding;   /* ‖Xᵀw‖²/‖w‖² that rounding may leave for w in the null space */
    double first_size; /* of what the first direction was made of */
} kfe_i_deflation_limits;

typedef struct kfe_i_deflation {
    kfe_context *ctx;
    kfe_i_deflation_setup setup;
    int64_t examples;    /* n */
    int64_t rows;        /* of a direction: d columns (primal) or n examples (dual) */
    const double *roots; /* of the weights of the examples, as in kfe_i_gram; NULL: ones */
    double mass;         /* n, or the sum of the weights */
    kfe_i_deflation_data data;
    /* the centred targets over `unit` (targets.h), and what the features leave of them */
    int64_t targets;
    double unit;
    double *target, *residual; /* n × targets */
    /* the features so far */
    int64_t most, count;
    double *basis;      /* count × n: q_j one after the other */
    double *lengths;    /* count: ‖τ_j‖ */
    double *directions; /* count × rows */
    double *triangle;   /* most × most: R */
    double *signs;      /* count: ±1, by which the solution multiplied each feature */
    kfe_i_deflation_limits limits;
    const char *ended; /* why the iterations ended early; NULL: they did not */
    kfe_i_deflation_work work;
} kfe_i_deflation;

/* A way to choose directions. */
typedef struct kfe_i_rule {
    /* Fills direction[rows]; all zeros: no direction is left. A rule that has the product v of the undeflated data with the
     * direction at hand sets *has_product and fills product[n]. */
    kfe_status (*choose)(kfe_i_deflation *deflation, void *state, double *direction, double *product,
                         int *has_product);
    /* Called after the feature was made; may be NULL. */
    kfe_status (*after)(kfe_i_deflation *deflation, void *state);
    int unit_features; /* scale directions so that features have length one; 0: keep the rule's scale */
} kfe_i_rule;

/* The parameters that all rules share. */
#define KFE_CENTRE_ROW(type, centred)                                                                        \
    KFE_FLAG(type, center, "center", centred, "subtract the mean in feature space")
#define KFE_DEFLATION_ROWS(type, centred) KFE_CHOSEN_DIM_ROW(type, dim, "10"), KFE_CENTRE_ROW(type, centred)

/* The problem must outlive the deflation. Free it also after a failure. */
kfe_status kfe_i_deflation_begin(kfe_context *ctx, const kfe_i_fit_source *source,
                                 const kfe_i_deflation_setup *setup, kfe_i_deflation *out);
void kfe_i_deflation_free(kfe_i_deflation *deflation);

/* out (n × k) = X·v or K·v for v (rows × k), centred, not deflated. */
kfe_status kfe_i_deflation_times(const kfe_i_deflation *deflation, const double *v, int64_t k, double *out);
/* out (rows × k) = Xᵀ·w (primal, centred) or w (dual) for w (n × k); k is one or at most the number of targets. */
kfe_status kfe_i_deflation_pull(const kfe_i_deflation *deflation, const double *w, int64_t k, double *out);
/* w (n × k) ← (I − QQᵀ)w; k is one or at most the number of targets. */
void kfe_i_deflation_project_out(const kfe_i_deflation *deflation, double *w, int64_t k);
/* Whether a size, such as the covariance of a direction, is rounding error beside that of the first iteration. The first call
 * sets the latter. */
int kfe_i_deflation_is_spent(kfe_i_deflation *deflation, double size);

/* Iterates until there are enough features or, with a warning, until nothing is left to explain. KFE_EINPUT if not even one
 * feature was found. */
kfe_status kfe_i_deflation_run(kfe_i_deflation *deflation, const kfe_i_rule *rule, void *state);
/* For methods that choose directions of several deflations together: makes the feature of this direction. *added is 0 if it depends on the
 * features before. */
kfe_status kfe_i_deflation_add(kfe_i_deflation *deflation, const double *direction, int *added);
/* Eq. (4), centring included. Records B(S) and D(S) of eqs. (11), (12) after each feature, the regression coefficients on the
 * features, and the kernel evaluations of one projection. */
kfe_status kfe_i_deflation_solution(kfe_i_deflation *deflation, kfe_i_solution *out);
/* The whole fit, for rules whose state needs no beginning. */
kfe_status kfe_i_deflation_fit(kfe_context *ctx, const kfe_i_fit_source *source,
                               const kfe_i_deflation_setup *setup, const kfe_i_rule *rule, void *state,
                               kfe_i_solution *out);

/* The direction along which the data covaries most with w (n × targets): the leading singular vector of Xᵀw, of length one, or
 * its dual with βᵀKβ = 1. pls and kpls give it residuals, blf and kblf gradients. `product` is as in `choose`. KFE_ENUMERIC if
 * the kernel is not positive definite and the first direction fails for it. */
kfe_status kfe_i_covariant_direction(kfe_i_deflation *deflation, const double *w, double *direction,
                                     double *product, int *has_product);
/* The rule of pls and kpls: that direction for the residual targets. */
extern const kfe_i_rule kfe_i_covariance_rule;
/* The leading eigenvalue of a symmetric matrix of order `targets` (overwritten); its unit eigenvector in work.leading. */
kfe_status kfe_i_deflation_leading(kfe_i_deflation *deflation, double *small, double *value);
/* out (rows) = a·work.leading for a (rows × targets). */
void kfe_i_deflation_combine(const kfe_i_deflation *deflation, int64_t rows, const double *a, double *out);
/* work.inner (targets × targets) = aᵀb for a, b (rows × targets). */
void kfe_i_deflation_inner(const kfe_i_deflation *deflation, int64_t rows, const double *a, const double *b);

#endif
