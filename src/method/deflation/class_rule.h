/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a discriminant of dummy-coded classes assigns a class, for plsda and its relatives. Least squares on the features predicts the dummies
 * ŷ_g (one for members of class g, zero for the others), and the rule compares them:
 *     max        the largest ŷ_g; the decision values are ŷ_g − ½
 *     threshold  the largest ŷ_g − h_g; h_g lies between the means of ŷ_g over members and over the others, where the normal densities of the
 *                two are equal: classes count equally, however many examples they have
 *     centroid   the nearest class mean of the features
 */
#ifndef KFE_METHOD_DEFLATION_CLASS_RULE_H
#define KFE_METHOD_DEFLATION_CLASS_RULE_H

#include "method/method.h"

typedef enum kfe_i_class_rule { KFE_RULE_MAX, KFE_RULE_CENTROID, KFE_RULE_THRESHOLD } kfe_i_class_rule;

#define KFE_CLASS_RULE_ROW(type, field)                                                                      \
    KFE_CHOICE(type, field, "class-rule", "max", "max|centroid|threshold",                                   \
               "how a class is assigned: by the largest predicted dummy (max), the nearest class mean of "   \
               "the features (centroid), or the dummy that most exceeds the threshold of its class, which "  \
               "counts all classes equally (threshold)")

/* Gives a primal solution on the one table of the source its predictor. `threshold` records h_g as class-thresholds. */
kfe_status kfe_i_class_rule_learn(kfe_context *ctx, const kfe_i_fit_source *source, kfe_i_class_rule rule,
                                  kfe_i_solution *solution);
/* The same for as many features of each view, one view after the other. Each view predicts by its own features; the outputs are the sum of theirs,
 * each times its weight. */
kfe_status kfe_i_class_rule_learn_views(kfe_context *ctx, const kfe_i_fit_source *source,
                                        kfe_i_class_rule rule, const double *weights,
                                        kfe_i_solution *solution);

#endif
