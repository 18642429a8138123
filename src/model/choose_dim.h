/* SPDX-License-Identifier: Apache-2.0 */
/* Choose how many features a method makes, for specs that leave it to the data (kfe_i_spec_chooses_dim). */
#ifndef KFE_MODEL_CHOOSE_DIM_H
#define KFE_MODEL_CHOOSE_DIM_H

#include "model/fit.h"

/* Gives the fit a spec of its own with the number that its training rows choose, and job->dim_errors; changes neither if nothing can be
 * chosen. */
kfe_status kfe_i_fit_choose_dim(kfe_i_fit *job);

#endif
