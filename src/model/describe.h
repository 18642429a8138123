/* SPDX-License-Identifier: Apache-2.0 */
/* Begin the model of a fit with what it says about itself. */
#ifndef KFE_MODEL_DESCRIBE_H
#define KFE_MODEL_DESCRIBE_H

#include "model/fit.h"

/* Makes fit->model, which has no projector yet: the names of method, learner, views and classes, the parameters,
 * options and kernels. fit->kernels are bound and not resolved. */
kfe_status kfe_i_fit_describe(kfe_i_fit *fit);

#endif
