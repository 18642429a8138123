/* SPDX-License-Identifier: Apache-2.0 */
/* Learn the metric of one kernel regression: the engine that rfm.c runs on all examples. rfm.c has the mathematics. */
#ifndef KFE_METHOD_METRIC_RFM_H
#define KFE_METHOD_METRIC_RFM_H

#include "method/metric/metric.h"

typedef struct kfe_i_rfm_settings {
    int64_t directions, iterations, leaf_size; /* leaf_size 0: no tree */
    double power, held_out, ridge, gradient_ridge, softness;
} kfe_i_rfm_settings;

/* What was learned in one iteration. */
typedef struct kfe_i_rfm_candidate {
    kfe_i_map map;
    double error;   /* share of wrong classes, or root mean squared error of standardised targets */
    double squares; /* mean squared error, which decides between equal errors */
    int64_t iteration;
    kfe_i_metric_form form; /* KFE_METRIC_FULL or KFE_METRIC_DIAGONAL */
} kfe_i_rfm_candidate;

typedef struct kfe_i_rfm {
    kfe_context *ctx;
    const kfe_i_rfm_settings *settings;
    const kfe_i_problem *given;
    kfe_i_metric_problem problem;
    kfe_i_metric_target target;
    const kfe_i_table *x; /* all examples */
    /* the division into examples to fit and examples held out */
    int64_t *index;
    int64_t fit_count, held_count;
    kfe_i_table fit_x, held_x;
    double *fit_y, *held_y;
    double *weights;        /* of the examples in the order of `index`; NULL: ones */
    double *predicted;      /* held_count × columns */
    kfe_i_metric_fit first; /* without a map, where both forms start */
    kfe_i_rfm_candidate best;
    double *errors; /* 2 forms × (iterations + 1); NaN: not run */
} kfe_i_rfm;

/* Divides s->x and s->target into examples to fit and examples held out. */
kfe_status kfe_i_rfm_hold_out(kfe_i_rfm *s);
/* Runs the iterations; s->best is the result. */
kfe_status kfe_i_rfm_search(kfe_i_rfm *s);
/* The regression on all examples under a map, which predicts; its gradients are not wanted. */
kfe_status kfe_i_rfm_last_fit(const kfe_i_rfm *s, const kfe_i_map *map, kfe_i_metric_fit *out);
void kfe_i_rfm_free(kfe_i_rfm *s);

/* Divides the examples by a tree and fits its leaves: a solution of kind KFE_SOLUTION_TREE without a predictor. *divided is 0, and there
 * is no solution, if one leaf holds all. */
kfe_status kfe_i_rfm_fit_tree(const kfe_i_rfm *s, int *divided, kfe_i_solution *out);

#endif
