/* SPDX-License-Identifier: Apache-2.0 */
/* Fit on a Gram operator that landmarks approximate, and make them the support of the model. */
#ifndef KFE_MODEL_LANDMARKS_H
#define KFE_MODEL_LANDMARKS_H

#include "gram/form/landmarks.h"
#include "method/method.h"

/* The solution whose features are the columns of F: features of two examples have the product that the landmark operator
 * gives for them. */
kfe_status kfe_i_landmark_features(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_solution *out);
/*
 * For methods that weigh the kernels. They work on one landmark operator for each kernel, but the model has one set of
 * coefficients for the weighted sum of the kernels. So the features that the method found,
 *
 *     Φ = Σ_m weight_m G̃_m A,
 *
 * are computed first, and then approximated by least squares on the landmark operator of the weighted sum. With all examples as
 * landmarks they are met exactly. Otherwise the errors of examples count by their weights (NULL: all alike).
 */
kfe_status kfe_i_weighted_features(kfe_context *ctx, const kfe_i_fit_source *source, kfe_i_solution *solution,
                                   double **features);
kfe_status kfe_i_approximate_features(const kfe_i_gram *gram, const double *weights, double *features,
                                      kfe_i_solution *solution);
/* The coefficients of a solution become *moved, one row for each landmark, which it takes over. */
kfe_status kfe_i_put_on_landmarks(const kfe_i_gram *gram, double **moved, kfe_i_solution *solution);
/* Rewrites a dual solution on the landmarks of the operator, and records what they leave of the trace. */
kfe_status kfe_i_solution_to_landmarks(const kfe_i_gram *gram, kfe_i_solution *solution);

#endif
