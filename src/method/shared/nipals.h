/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Give rows with missing values their features. A model that was fitted with {missing=nipals} keeps weights w_s and loadings p_s of each
 * component s, and finds the features of a row one after the other from its observed entries O, beginning with x less the means:
 *
 *     t_s = Σ_O w_s x / Σ_O w_s²,   x ← x − t_s p_s on O
 *
 * For a row without gaps this is the linear projector of the model, which is used instead. A row without any value has the features 0.
 */
#ifndef KFE_METHOD_SHARED_NIPALS_H
#define KFE_METHOD_SHARED_NIPALS_H

#include "data/table/table.h"

typedef struct kfe_i_nipals {
    kfe_context *ctx;
    int64_t cols, dim;          /* dim 0: the model takes no missing values this way */
    double *means;              /* cols */
    double *weights, *loadings; /* dim × cols, a component after the other, in the order of extraction */
    int64_t *places;            /* dim: which feature each component is */
    /* Until the fit has made moments of them: Σx² of each centred column, as if it were observed in all rows, and the loadings of the
     * features, dim × cols in the order of extraction. */
    double *squares, *patterns;
} kfe_i_nipals;

/* Of one that has a context, as those that are filled in have. */
void kfe_i_nipals_free(kfe_i_nipals *nipals);
/* Sets the rows of out (rows × dim) whose rows of the table have NaNs to their features plus the offset (NULL: zero), which the caller
 * subtracts from all rows. Leaves other rows alone, and all rows if `nipals` has no components. */
kfe_status kfe_i_nipals_features(kfe_context *ctx, const kfe_i_nipals *nipals, const kfe_i_table *table,
                                 const double *offset, double *out);
/* A row that observes less than this share of a direction, squared, says nothing about its component, whose score is 0: it would be rounding. */
#define KFE_LEAST_OBSERVED 1e-14

#endif
