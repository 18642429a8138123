/* SPDX-License-Identifier: Apache-2.0 */
/* Check a plan: which keys it may have, and that the methods, kernels and metrics it names exist. */
#ifndef REP_RULES_H
#define REP_RULES_H

#include "reproduce/src/plan.h"

/* Checks keys and types, and fills kind, rows and columns of the plan. */
kfe_status rep_check_shape(rep_plan *plan);
/* Checks that methods, kernels, learners, grids, metrics, protocols and generators exist. */
kfe_status rep_check_cells(const rep_plan *plan);

#endif
