/* SPDX-License-Identifier: Apache-2.0 */
/* Compare rows with the training data of a model: distances (enum kfe_diagnostic) and their limits. */
#ifndef KFE_EXPLAIN_DIAGNOSTICS_H
#define KFE_EXPLAIN_DIAGNOSTICS_H

#include "model/diagnose.h"

/* What a share `level` of rows like the training data stays below; NaN: not defined. */
typedef struct kfe_i_row_limits {
    /* Of training: the sum of the weights of rows, and how many features do not follow from others. */
    double rows, rank;
    double of[KFE_DIAGNOSTICS]; /* of each distance; NaN for KFE_DIAGNOSTIC_P and KFE_DIAGNOSTIC_OUTLIER */
    double t2_by_moments;       /* χ² with the mean and the variance of T² over the training rows */
    double studentized;         /* of the size of studentized residuals */
    double t2_mean, t2_degrees; /* of that χ² */
    double q_mean, q_degrees;   /* of the χ² of Q */
    double
        distance_degrees; /* of the χ² of the distance, and what all training rows stay below with probability `level` */
    double distance_of_all;
} kfe_i_row_limits;

/* Why the model cannot measure rows; NULL: it can. */
const char *kfe_i_not_diagnosed(const kfe_model *model);
/* Why it has no residuals of the columns; NULL: it has. */
const char *kfe_i_no_residuals(const kfe_model *model);
kfe_status kfe_i_find_row_limits(kfe_context *ctx, const kfe_model *model, double level,
                                 kfe_i_row_limits *out);
/* values (rows × KFE_DIAGNOSTICS) of data in the model's order of views; residuals (rows × columns of all views) NULL: not wanted. */
kfe_status kfe_i_diagnose(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                          const kfe_i_row_limits *limits, double *values, double *residuals);

#endif
