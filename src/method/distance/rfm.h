/* SPDX-License-Identifier: Apache-2.0 */
/* Learn the distance of one kernel regression: the engine that rfm.c runs on all examples. rfm.c has the mathematics. */
#ifndef KFE_METHOD_DISTANCE_RFM_H
#define KFE_METHOD_DISTANCE_RFM_H

#include "core/memory.h"
#include "method/distance/distance.h"

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
    kfe_i_distance_form form; /* KFE_DISTANCE_FULL or KFE_DISTANCE_DIAGONAL */
} kfe_i_rfm_candidate;

/* Some examples with their weights and keys, and their targets. */
typedef struct kfe_i_rfm_rows {
    kfe_i_table x;
    double *y;
} kfe_i_rfm_rows;

typedef struct kfe_i_rfm {
    kfe_context *ctx;
    kfe_i_arena memory;
    const kfe_i_rfm_settings *settings;
    const kfe_i_fit_source *given;
    kfe_i_distance_problem problem;
    kfe_i_distance_target target;
    const kfe_i_table *x;     /* all examples */
    kfe_i_rfm_rows fit, held; /* examples to fit, and examples held out */
    double *predicted;        /* held examples × columns */
    kfe_i_distance_fit first; /* without a map, where both forms start */
    kfe_i_rfm_candidate best;
    double *errors; /* 2 forms × (iterations + 1); NaN: not run */
} kfe_i_rfm;

/* Gathers the examples listed; `memory` owns all but x, which the caller frees. */
kfe_status kfe_i_rfm_gather(const kfe_i_rfm *s, kfe_i_arena *memory, const int64_t *index, int64_t count,
                            kfe_i_rfm_rows *out);
/* Divides s->x and s->target into examples to fit and examples held out. */
kfe_status kfe_i_rfm_hold_out(kfe_i_rfm *s);
/* Runs the iterations; s->best is the result. */
kfe_status kfe_i_rfm_search(kfe_i_rfm *s);
/* The regression on all examples under a map, which predicts; its gradients are not wanted. */
kfe_status kfe_i_rfm_last_fit(const kfe_i_rfm *s, const kfe_i_map *map, kfe_i_distance_fit *out);
void kfe_i_rfm_free(kfe_i_rfm *s);

/* Divides the examples by a tree and fits its leaves: a solution of kind KFE_SOLUTION_TREE without a predictor. If one leaf holds
 * all examples, *divided is 0 and *out stays empty. */
kfe_status kfe_i_rfm_fit_tree(const kfe_i_rfm *s, int *divided, kfe_i_solution *out);

#endif
