/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choose how many iterations of a subspace search generalise best, by holding out examples.
 *
 * The criterion on the fitted examples rises with every iteration, but the subspace turns into directions of
 * ever smaller variance that fit these examples only. So the search runs on part of the examples, and after
 * each of the iterations 0, 1, 2, 3, 4, 6, 8, 11, 16, … (powers of √2) the margins of the held-out examples
 * (kfe_i_neighbour_margins) tell how well the subspace generalises. The largest mean margin of few examples is
 * often chance, so the choice is the number nearest to 64 whose mean margin is at most half a standard error below
 * the largest one. docs/subspace.md says how the rule was chosen.
 *
 * Examples are dealt to five parts in turn, class by class, in the order of their mean kernel value, so that the
 * order of rows plays no part. Parts are held out in turn until 200 margins are there; a small set is dealt up to
 * five times, in other ways, and the margins of an example are averaged. A class with one example is never held
 * out. More than 2,000 examples: a random sample of that many. Rows of equal content and class are one example, so that a copy of a
 * held-out example is never fitted on; margins count by the weights of the examples.
 * Time: up to 25 searches of KFE_STOPPING_LIMIT iterations on fewer than 200 examples, up to five on fewer than
 * 1,000, else one on at most 2,000; memory 8·2000² bytes.
 */
#ifndef KFE_METHOD_SUBSPACE_STOPPING_H
#define KFE_METHOD_SUBSPACE_STOPPING_H

#include "method/method.h"
#include "method/subspace/skfe_start.h"
#include "method/subspace/subspace_search.h"

/* The most iterations that can be chosen, and the number of iterations that are looked at up to there. */
enum { KFE_STOPPING_LIMIT = 256, KFE_STOPPING_USUAL = 64, KFE_STOPPING_POINTS = 17 };

typedef struct kfe_i_stopping_inputs {
    const kfe_i_fit_source *source;
    const kfe_i_gram *gram; /* of all examples; the source's own or its positive part */
    kfe_i_start start;
    int64_t dim;
    kfe_i_criterion_kind criterion;
    double c; /* of the radius-margin bound */
    int plain;
    double tolerance;
} kfe_i_stopping_inputs;

typedef struct kfe_i_stopping {
    int64_t iterations; /* the choice */
    int64_t held_out;   /* examples held out; 0: too few to choose, `iterations` is a default */
    double points[KFE_STOPPING_POINTS]; /* the iterations looked at */
    double margin[KFE_STOPPING_POINTS]; /* mean margin of the held-out examples there */
    double error[KFE_STOPPING_POINTS];  /* standard error of its difference from the largest one */
} kfe_i_stopping;

kfe_status kfe_i_choose_stopping(kfe_context *ctx, const kfe_i_stopping_inputs *inputs, kfe_i_stopping *out);

#endif
