/* SPDX-License-Identifier: Apache-2.0 */
/* Train linear SVMs for the learner linear-svm: what the CPU's way (linear_svm.c) and the device's (on_device.c) share. */
#ifndef KFE_LEARN_LINEAR_LINEAR_SVM_H
#define KFE_LEARN_LINEAR_LINEAR_SVM_H

#include "core/param.h"
#include "learn/multiclass.h"

typedef struct kfe_i_linear_settings {
    double c, epsilon, stop;
    char class_weights[KFE_PARAM_TEXT_SIZE];
    int multiclass, bias;
} kfe_i_linear_settings;

/* Where C‖x‖² is so much larger than the 1 of the regulariser, nothing is left of the latter in double precision. */
#define KFE_LINEAR_CURVATURE_MOST 1e30

/* How close to their optima the problems of a predictor ended. */
typedef struct kfe_i_linear_measures {
    double worst_gradient;    /* relative to where the solver should stop */
    double relative_gradient; /* the largest, relative to that at w = 0 */
    double objective;         /* sum over the problems */
} kfe_i_linear_measures;

/* Adds a problem: the objective at its solution and the norms of the gradient there and at w = 0. The solver should stop where the
 * gradient is `bound` times that at w = 0. */
void kfe_i_linear_measure(kfe_i_linear_measures *measures, double objective, double end, double start,
                          double bound);
/* Keeps the measures as records of the predictor, and warns of a gradient that is too large. */
void kfe_i_linear_finish(kfe_context *ctx, const kfe_i_linear_settings *settings,
                         const kfe_i_linear_measures *measures, kfe_i_predictor *out);

kfe_status kfe_i_linear_begin(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                              const kfe_i_linear_settings *settings, kfe_i_predictor *out);
/* Puts the solution of a problem into the predictor; w has one more number with a bias. */
void kfe_i_linear_take_weights(const kfe_i_linear_settings *settings, int64_t output, const double *w,
                               kfe_i_predictor *out);
/* The share of the rarer side, by which the accepted gradient is multiplied, as in LIBLINEAR. */
double kfe_i_linear_rarer_share(double positive, double count);
/* The largest square of a row; NaN or infinite if a number is. */
double kfe_i_linear_largest_square(const kfe_i_table *features, int bias);

/* The learner's fit_on_device; settings are kfe_i_linear_settings. */
kfe_status kfe_i_linear_fit_on_device(kfe_context *ctx, const kfe_i_table *features,
                                      const kfe_i_target *target, const void *const *settings, int64_t count,
                                      kfe_i_predictor *out);

#endif
