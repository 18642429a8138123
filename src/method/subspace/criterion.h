/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ask how good a subspace kernel is: the criteria that skfe maximises.
 *
 * A criterion is a function of the features X (n × dim) of the examples that does not change when the
 * features are rotated. Open one with kfe_i_skfe_criterion_begin and evaluate it through kfe_i_criterion.
 *
 * Kernel-target alignment of K^w = XXᵀ with K^y = YYᵀ, Y the class indicator (Wu & Farquhar 2007, eqs. 17-24):
 *
 *     A     = ‖YᵀX‖² / (‖XᵀX‖ ‖YᵀY‖)
 *     ∂A/∂X = 2(YYᵀX − ‖YᵀX‖²/‖XᵀX‖² · X(XᵀX)) / (‖XᵀX‖ ‖YᵀY‖)
 *
 * With weights, X and Y have rows times the roots of the weights: those of a weighted operator (kfe_i_gram_weighted).
 * A lies between 0 and 1. It is 1 where the examples of each class coincide, and the classes are orthogonal
 * and equally long.
 */
#ifndef KFE_METHOD_SUBSPACE_CRITERION_H
#define KFE_METHOD_SUBSPACE_CRITERION_H

#include "data/target/target.h"
#include "method/subspace/radius_margin.h"

/* The value to maximise and its gradient with respect to x (rows × dim). */
typedef struct kfe_i_criterion {
    kfe_status (*evaluate)(void *state, const double *x, int64_t dim, double *value, double *gradient);
    void *state;
} kfe_i_criterion;

typedef struct kfe_i_alignment {
    kfe_context *ctx;
    int64_t rows, classes;
    const int32_t *class_of;
    const double *weights;  /* of the examples; NULL: ones */
    double label_norm;      /* ‖YᵀY‖ */
    double *sums, *scatter; /* YᵀX, classes × most; XᵀX, most × most */
} kfe_i_alignment;

/* For features of up to `most` dimensions. The target must outlive the alignment. */
kfe_status kfe_i_alignment_begin(kfe_context *ctx, const kfe_i_target *target, int64_t most,
                                 kfe_i_alignment *out);
void kfe_i_alignment_free(kfe_i_alignment *alignment);
/* A of x (rows × dim); 0 for x = 0. Writes ∂A/∂X to `gradient` unless that is NULL. */
double kfe_i_alignment_of(kfe_i_alignment *alignment, const double *x, int64_t dim, double *gradient);

/* Features of some examples, and their classes. */
typedef struct kfe_i_labelled {
    int64_t rows;
    const double *x; /* rows × dim */
    const int32_t *class_of;
} kfe_i_labelled;

/*
 * How safely the nearest neighbour among `fitted` examples classifies each of the `held` ones:
 *
 *     (d_other − d_same) / (d_other + d_same),
 *
 * d_same and d_other being the distances to the nearest fitted example of the same class and of another class. A
 * margin lies between −1 and 1 and is negative for an example that 1-NN gets wrong; unlike the error, it is not
 * a step function. NaN: one of the two neighbours does not exist. The margin of example i goes to out[i·stride].
 */
void kfe_i_neighbour_margins(const kfe_i_labelled *held, const kfe_i_labelled *fitted, int64_t dim,
                             int64_t stride, double *out);

/* The values of skfe's parameter `criterion`, in the order of its words. */
typedef enum kfe_i_criterion_kind {
    KFE_CRITERION_ALIGNMENT,
    KFE_CRITERION_RADIUS_MARGIN
} kfe_i_criterion_kind;

/* One of the two criteria on one set of examples. */
typedef struct kfe_i_skfe_criterion {
    kfe_i_alignment alignment;
    kfe_i_radius_margin bound;
    kfe_i_criterion criterion; /* the one that is open */
} kfe_i_skfe_criterion;

/* For features of up to `most` dimensions; c is the price of squared slacks, for the radius-margin bound.
 * Free it also after a failure. */
kfe_status kfe_i_skfe_criterion_begin(kfe_context *ctx, kfe_i_criterion_kind kind, double c,
                                      const kfe_i_target *target, int64_t most, kfe_i_skfe_criterion *out);
void kfe_i_skfe_criterion_free(kfe_i_skfe_criterion *criterion);

#endif
