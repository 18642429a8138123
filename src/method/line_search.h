/* SPDX-License-Identifier: Apache-2.0 */
/* A step along a line that makes a function larger: the strong Wolfe conditions. */
#ifndef KFE_METHOD_LINE_SEARCH_H
#define KFE_METHOD_LINE_SEARCH_H

#include "core/context.h"

typedef struct kfe_i_line {
    double value, slope;   /* at 0, slope above 0 */
    double first, longest; /* steps: to try first, and that no step exceeds */
    /* value and slope at a step */
    kfe_status (*at)(void *state, double step, double *value, double *slope);
    void *state;
} kfe_i_line;

typedef struct kfe_i_step {
    double step, value, slope; /* step 0: none is better than where the line begins, up to rounding */
    int trials;
} kfe_i_step;

/* The last step that `at` was asked for is the one returned, unless that is 0. */
kfe_status kfe_i_line_search(const kfe_i_line *line, kfe_i_step *out);

#endif
