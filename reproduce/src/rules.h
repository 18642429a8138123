/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys a plan may have, and that what they name exists. */
#ifndef KFE_API_PLAN_RULES_H
#define KFE_API_PLAN_RULES_H

#include "api/plan.h"

/* Keys and types; fills plan->kind, rows and columns. */
kfe_status kfe_i_plan_check_shape(kfe_i_plan *plan);
/* Methods, kernels, learners, grids, metrics, protocols, generators. */
kfe_status kfe_i_plan_check_cells(const kfe_i_plan *plan);

#endif
