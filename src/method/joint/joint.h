/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call kfe_i_joint_fit to learn features and SVMs together:
 *   min over W  max over α  Σ_g eᵀα_g − ½ a_gᵀ K_W a_g,   a_g = α_g·y_g,
 * where K_W = TTᵀ is the kernel of the features T = GW. A method adds a kfe_i_joint_method.
 *
 * Closed form (step exact). The features of svm-joint and usvm-joint satisfy K_W ≼ K for a fixed kernel K, so
 * no W lets the value fall below that of the SVMs on K. With A = [a_1 … a_c] their solution, the features that
 * the method finds for A satisfy K_W A = K A. The optimality conditions of the SVMs see the kernel only through
 * K A: α is optimal on K_W too, with the same value, and this W is a global optimum. It has as many features as
 * there are SVMs. docs/subspace.md has the derivation.
 *
 * Alternation (step plain, the paper's procedure). Given A, the best W maximises tr(AᵀK_W A), an eigenproblem
 * of the order of A's columns; given W, the α are c SVMs. The value after the SVMs bounds the optimum from
 * above, the value after the features from below. The two sides may swing and the bounds never meet.
 *
 * Fewer features than SVMs (dim = d). The problem is not convex in W. Step exact takes the d features of the
 * closed form that explain most, those of the largest eigenvalues λ of AᵀKA, and solves the SVMs on them. The cost
 * of these is certified, not optimal: for every A, and so for the A of the closed form, the optimum is at least
 *   Σ_g eᵀα_g − ½(λ_1 + … + λ_d).
 *
 * Weights. Let s be the roots of the weights. A row that is repeated sᵢ² times has the kernel diag(1/s)·K·diag(1/s), where K is that of
 * the weighted operator diag(s)·G·diag(s), and its α may be C·sᵢ². Everything but the SVMs themselves is in the coordinates of
 * that operator (kfe_i_onevsrest_carry).
 *
 * Chen et al. (2008), sections 3.2, 4.3 and 5.5.
 */
#ifndef KFE_METHOD_JOINT_JOINT_H
#define KFE_METHOD_JOINT_JOINT_H

#include "method/method.h"
#include "method/ridge/leave_one_out.h"
#include "method/shared/onevsrest.h"

typedef struct kfe_i_joint_settings {
    int64_t dim;
    double c, stop, settled;
    int64_t max_iterations;
    int step;
} kfe_i_joint_settings;

enum { KFE_STEP_EXACT, KFE_STEP_PLAIN };

/* `automatic` says what svm-C=auto is. */
#define KFE_JOINT_ROWS(type, field, automatic)                                                               \
    KFE_DIM_ROW(type, field.dim, "number of features; auto: as many as there are SVMs"),                     \
        KFE_REAL_OR(type, field.c, "svm-C", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto", "auto=-1",      \
                    "C of the SVMs: weight of the loss against the norm; auto: " automatic,                  \
                    KFE_ALIAS("machine-C")),                                                                 \
        KFE_SVM_STOP_ROW(type, field.stop, "0.0001"),                                                        \
        KFE_REAL(type, field.settled, "settled", "0.0001", 0, 1,                                             \
                 "accepted relative gap between objective and bound; the alternation also ends when the "    \
                 "objective changes by less"),                                                               \
        KFE_CHOICE(type, field.step, "step", "exact", "exact|plain",                                         \
                   "exact: the closed form, a global optimum unless dim is below the number of SVMs; "       \
                   "plain: the paper's alternation, which may swing"),                                       \
        KFE_INT(type, field.max_iterations, "max-iter", "50", 1, 1e6, "maximum number of iterations")

/* What is certified of a solution of the SVMs on K: their value is at least `bound`. */
typedef struct kfe_i_joint_certificate {
    double bound;
    int64_t iterations;
} kfe_i_joint_certificate;

typedef struct kfe_i_joint_method {
    const char *name; /* for messages */
    /* The best features for A (n × m): coefficients B (n × m), their image T = GB, and H = AᵀGB (m × m). With
     * H = VΛVᵀ the features are GBVΛ^(−1/2), and tr(AᵀK_W A) is the sum of the λ kept. */
    kfe_status (*find)(void *user, const double *a, int64_t m, double *b, double *image, double *h);
    /* Solves the SVMs on K, to a relative gap of `tolerance`. */
    kfe_status (*solve)(void *user, kfe_i_onevsrest *svms, double tolerance, kfe_i_joint_certificate *out);
    void (*keep)(void *user); /* the features found last are the best so far; NULL: nothing to do */
    void *user;
    /* As in kfe_i_fit_source: A, B, T and K are in the coordinates of the weighted operator. */
    const double *roots;
    double rounding; /* size of a λ that is zero but for rounding, for A of unit norm */
} kfe_i_joint_method;

/* Coefficients (not centred yet), the predictor, and the records objective, bound, gap (relative), iterations,
 * svm-c, and upper-bound and lower-bound by iteration. C must be given in the settings. Warns if the gap is above `settled`. */
kfe_status kfe_i_joint_fit(kfe_context *ctx, const kfe_i_joint_method *method, const kfe_i_target *target,
                           const kfe_i_joint_settings *settings, kfe_i_solution *out);

/* ---- svm-joint and usvm-joint ---- */

/* The kernel K of the closed form on the centred operator G, formed where memory allows. */
typedef struct kfe_i_joint_kernel {
    kfe_context *ctx;
    const char *method;
    kfe_i_gram *centred;
    kfe_i_kept kept;
    const kfe_i_gram *gram;
    int64_t n;
    int uncorrelated; /* usvm-joint */
    double ridge;     /* as asked for at first (ridge.h), then as used */
    int64_t max_iterations;
    kfe_i_gram *formed;      /* the operator of K; NULL: K is not formed */
    kfe_i_table values;      /* its entries, n × n */
    double *right;           /* n × classes */
    kfe_i_loo_choice choice; /* rows 0: nothing was chosen by leave-one-out */
} kfe_i_joint_kernel;

/* Forms K from G and the ridge (joint_kernel.c). KFE_ENUMERIC if G + ridge·I is not positive definite. */
kfe_status kfe_i_joint_form(kfe_i_joint_kernel *kernel);
/* B and GB for A (n × m). */
kfe_status kfe_i_joint_transform(kfe_i_joint_kernel *kernel, const double *a, int64_t m, double *b,
                                 double *image);
/* `solve` of kfe_i_joint_method (joint_kernel.c). */
kfe_status kfe_i_joint_solve(void *kernel, kfe_i_onevsrest *svms, double tolerance,
                             kfe_i_joint_certificate *out);
kfe_status kfe_i_joint_fit_kernel(kfe_context *ctx, const kfe_i_fit_source *source,
                                  const kfe_i_joint_settings *settings, kfe_i_joint_kernel *kernel,
                                  kfe_i_solution *out);

#endif
