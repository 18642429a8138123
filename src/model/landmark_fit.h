/* SPDX-License-Identifier: Apache-2.0 */
/* Fit with landmarks from sums over rows: for fit.c. */
#ifndef KFE_MODEL_LANDMARK_FIT_H
#define KFE_MODEL_LANDMARK_FIT_H

#include "model/fit.h"

/* If the method and the learner take sums: the solution, on the landmarks, and job->feature_sums of its features; *done is 1
 * then, and job->gram is the operator. Otherwise nothing has happened. */
kfe_status kfe_i_fit_landmark_sums(kfe_i_fit *job, int *done);

#endif
