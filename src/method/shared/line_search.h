/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call kfe_i_line_search to find a step t > 0 along a line at which a function f is lower than at 0.
 *
 * The caller gives f(0), f'(0) and a callback for f(t). With `curvature` c₂ > 0 the step satisfies the strong
 * Wolfe conditions,
 *     f(t) ≤ f(0) + 10⁻⁴ t f'(0)    and    |f'(t)| ≤ c₂ |f'(0)|;
 * with `curvature` 0 only the first one, and f' is never asked for.
 */
#ifndef KFE_METHOD_SHARED_LINE_SEARCH_H
#define KFE_METHOD_SHARED_LINE_SEARCH_H

#include "core/context.h"

typedef struct kfe_i_line {
    double value, slope;   /* f(0), and f'(0) < 0 */
    double first, longest; /* the first trial step, and the longest one allowed */
    double curvature;      /* c₂; 0: sufficient decrease is enough */
    int max_trials;        /* 0: 40 */
    /* f(t), and f'(t) where `slope` is not NULL. */
    kfe_status (*at)(void *state, double step, double *value, double *slope);
    /* May accept the last trial although its decrease is not sufficient, because rounding hides the decrease.
     * Only asked when `curvature` is 0. NULL: never. */
    kfe_status (*accept)(void *state, double step, double value, int *accepted);
    void *state;
} kfe_i_line;

typedef struct kfe_i_step {
    double step; /* 0: no trial was lower than f(0), up to rounding */
    double value, slope;
    int trials;
} kfe_i_step;

/* The last trial is the step returned, unless that is 0; the caller may keep what it computed there. */
kfe_status kfe_i_line_search(const kfe_i_line *line, kfe_i_step *out);

#endif
