/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of a grid that are settings of steps, "prepare.sg.window" or "sg.window"; used by grid.c. */
#ifndef KFE_SELECT_STEP_AXIS_H
#define KFE_SELECT_STEP_AXIS_H

#include "model/spec.h"

/* The option of a fit that has chains of steps. */
#define KFE_PREPARE "prepare"

/* "sg.window" of "prepare.sg.window" or "sg.window"; NULL: not a setting of a step. */
const char *kfe_i_step_setting(const char *name);
/* The parameter "sg.window" of the table; NULL: there is none. */
const kfe_i_param *kfe_i_step_param(const char *setting);
/* Whether a text of {prepare} has the step of "sg.window". */
int kfe_i_step_in_chain(const char *text, const char *setting);
/* Sets it in the chains of the spec that have the step. */
kfe_status kfe_i_step_set(kfe_context *ctx, kfe_spec *spec, const char *setting, const char *value);

#endif
