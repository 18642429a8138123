/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features and support vector machines learned together, in alternation:
 *   min over W  max over α  Σ_c eᵀα_c − ½ a_cᵀ K_W a_c,   a_c = α_c·y_c,
 * K_W being the matrix of products of the features TTᵀ, T = GW. For given α the best W maximises tr(AᵀK_W A),
 * A = [a_1 … a_c], by an eigenproblem as small as A has columns; for given W the α are c machines. The value
 * after the machines bounds the optimum from above, that after the features from below.
 *
 * Taken as they are (step plain, the paper's procedure), the answers of one side to the other may swing and
 * the bounds never meet. The lower bound is a concave function of A, namely φ(A) = Σ eᵀα − ½tr(AᵀKA) with a
 * fixed K as long as there are as many features as machines, and new machines are a direction in which φ
 * rises. So the default (step exact) goes in that direction as far as φ rises: the lower bound never falls,
 * and both meet in the saddle point.
 *
 * Chen et al. (2008), sections 3.2, 4.3 and 5.5. What a method adds is its kfe_i_subspace_step.
 */
#ifndef KFE_METHOD_JOINT_JOINT_H
#define KFE_METHOD_JOINT_JOINT_H

#include "method/method.h"
#include "method/onevsrest.h"

typedef struct kfe_i_joint_settings {
    int64_t dim;
    double c, stop, settled;
    int64_t max_iterations;
    int step;
} kfe_i_joint_settings;

enum { KFE_STEP_EXACT, KFE_STEP_PLAIN };

#define KFE_JOINT_ROWS(type, field)                                                                          \
    KFE_DIM_ROW(type, field.dim, "number of features; auto: as many as there are machines"),                 \
        KFE_ONEVSREST_ROWS(type, field.c, field.stop),                                                       \
        KFE_REAL(type, field.settled, "settled", "0.01", 0, 1,                                               \
                 "distance of the bounds, or change of the objective, relative to it, at which it ends"),    \
        KFE_CHOICE(type, field.step, "step", "exact", "exact|plain",                                         \
                   "how far features follow new machines: as far as the lower bound rises, or all the "      \
                   "way, which may swing"),                                                                  \
        KFE_INT(type, field.max_iterations, "max-iter", "50", 1, 1e6, "alternations at most")

/* What the features for A (n × m) are made from: coefficients B (n × m), their image GB, and H = AᵀGB (m ×
 * m). With H = VΛVᵀ the features GBVΛ^(−1/2) are the best ones, and tr(AᵀK_W A) is the sum of the λ kept. */
typedef struct kfe_i_subspace_step {
    kfe_status (*find)(void *user, const double *a, int64_t m, double *b, double *image, double *h);
    /* image (n × m) = GB of that A, with all else as it was found last. */
    kfe_status (*apply)(void *user, const double *a, int64_t m, double *image);
    void (*keep)(void *user); /* what was found last is the best so far; NULL: nothing to do */
    void *user;
    double rounding; /* what rounding makes of a λ that is zero, for A of unit norm */
} kfe_i_subspace_step;

/* Coefficients (not centred yet), the machine, and records "upper-bound", "lower-bound", "objective",
 * "iterations". The features that gave the lowest upper bound are the answer. */
kfe_status kfe_i_joint_fit(kfe_context *ctx, const char *method, const kfe_i_target *target,
                           const kfe_i_joint_settings *settings, const kfe_i_subspace_step *step,
                           kfe_i_solution *out);

/* svm-joint and usvm-joint. */
kfe_status kfe_i_joint_plain(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                             const kfe_i_joint_settings *settings, double ridge, int uncorrelated,
                             kfe_i_solution *out);

#endif
