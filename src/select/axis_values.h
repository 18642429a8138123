/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the values of an axis: a,b,c or lo:hi or lo:hi:logN or lo:hi:linN. */
#ifndef KFE_SELECT_AXIS_VALUES_H
#define KFE_SELECT_AXIS_VALUES_H

#include "select/grid.h"

/* Appends the values to the axis. Those of an integer parameter are rounded, and equal neighbours count once. */
kfe_status kfe_i_axis_parse(kfe_context *ctx, kfe_i_axis *axis, const char *text, int integer);

#endif
