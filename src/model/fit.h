/* SPDX-License-Identifier: Apache-2.0 */
/* Run a fit stage by stage with these functions, so that a search can share the early stages. */
#ifndef KFE_MODEL_FIT_H
#define KFE_MODEL_FIT_H

#include "model/model.h"
#include "model/spec.h"

/* What a fit holds on the way. Zeroed but for the first four, `sums` and `keeps_units`; pointers among them are borrowed; free it also after a
 * failure. */
typedef struct kfe_i_fit {
    kfe_context *ctx;
    const kfe_spec *spec;
    const kfe_data *train;
    int within; /* the values of `train` are known not to exceed KFE_LARGEST_VALUE in size */
    kfe_model *model;
    kfe_i_target target;  /* the target of `train`, with the keys of its rows; its arrays are borrowed */
    kfe_i_row_key *keys;  /* those, if `train` has none */
    double *standardised; /* values of the target as the method sees them, with target-scale=standard */
    kfe_i_table *scaled;  /* one per view */
    kfe_i_kernel_list kernels;
    const kfe_i_gram *gram;
    kfe_i_gram *own_gram;
    kfe_i_solution solution;
    const kfe_i_sums *sums; /* over the rows of the scaled table; NULL: not known */
    /* Over the features of the rows, if landmarks were added up; no rows: not known. */
    kfe_i_sums feature_sums;
    kfe_spec *own_spec; /* with the number of features that was chosen; NULL: none was */
    /* 2 × dim_error_count: the share of variance that 1, 2, … features leave unexplained, by cross-validation, and its standard errors. */
    double *dim_errors;
    int64_t dim_error_count;
    int keeps_units; /* given: scale=auto is known to leave the columns as they are */
} kfe_i_fit;

/* The landmarks that the spec asks for, with what choosing them by content takes; after kfe_i_fit_begin. */
kfe_i_landmark_plan kfe_i_fit_landmarks(const kfe_i_fit *fit);
/* Checks the data, scales it, resolves the kernels on it. */
kfe_status kfe_i_fit_begin(kfe_i_fit *fit);
/* Runs the method on `gram`, or (NULL) on an operator that is opened for it; fit->solution is the result.
 * With a learner that learns from the kernel, that learner takes the place of the method. */
kfe_status kfe_i_fit_extract(kfe_i_fit *fit, const kfe_i_gram *gram);
/* The features of the training examples, which the solution's own operator gives most cheaply. */
kfe_status kfe_i_fit_train_features(kfe_i_fit *fit, kfe_i_table *out);
/* Makes fit->model a whole projector; the solution is used up. */
kfe_status kfe_i_fit_adopt(kfe_i_fit *fit);
void kfe_i_fit_free(kfe_i_fit *fit);
/* All stages, but no calibration. */
kfe_status kfe_i_fit_model(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model **out);

#endif
