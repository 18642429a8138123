/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SVM while blocks.c solves it: its variables, their order and the choice of a working set.
 *
 * A variable is a coefficient β with a sign. Classes have one for each example, real targets two: one for β ≥ 0 and one
 * for β ≤ 0. With f = Gβ, variable t of example e has the residual r_t = z_t − f_e, where the tube is part of z. β is optimal
 * if no residual of a variable that may rise is above one that may fall.
 */
#ifndef KFE_LEARN_BLOCKS_PROBLEM_H
#define KFE_LEARN_BLOCKS_PROBLEM_H

#include "learn/blocks/blocks.h"
#include "learn/blocks/loops.h"

enum { KFE_MAY_RISE = 1, KFE_MAY_FALL = 2 };

/* Examples of the problem that are side by side in the kept rows. */
typedef struct kfe_i_span {
    int64_t position, count;
} kfe_i_span;

typedef struct kfe_i_block_problem {
    kfe_i_svm_dual *dual;
    int64_t examples, variables;
    int64_t *order; /* examples: which example of `dual` comes here */
    kfe_i_span *spans;
    int64_t span_count;
    uint64_t parts;          /* of a kept row that hold these examples */
    double *target, *beta;   /* variables */
    double *values;          /* examples: f */
    unsigned char *moves;    /* variables: KFE_MAY_RISE, KFE_MAY_FALL or both */
    unsigned char *chosen;   /* variables: in the working set that is being chosen */
    int64_t *set, *last_set; /* the working set, and the one before */
    double *keys;            /* workspace of the choice */
    double *change;          /* of β in the working set */
    int64_t set_count, last_count;
    kfe_i_extremes extremes;
    int finished;
    int overflowed; /* a kernel value exceeds single precision */
} kfe_i_block_problem;

/* Opens a problem for working sets of up to `most` variables. position[n] is that of the options. Free it also after a
 * failure. */
kfe_status kfe_i_block_problem_open(kfe_context *ctx, kfe_i_svm_dual *dual, int64_t n,
                                    const int64_t *position, int64_t most, kfe_i_block_problem *out);
void kfe_i_block_problem_free(kfe_context *ctx, kfe_i_block_problem *problem);

static inline int64_t kfe_i_example_of(const kfe_i_block_problem *p, int64_t variable)
{
    return variable < p->examples ? variable : variable - p->examples;
}

/* The row of the operator, and the box, of a variable. */
int64_t kfe_i_row_of(const kfe_i_block_problem *p, int64_t variable);
double kfe_i_lowest_of(const kfe_i_block_problem *p, int64_t variable);
double kfe_i_highest_of(const kfe_i_block_problem *p, int64_t variable);

/* Changes a coefficient. */
void kfe_i_block_set(kfe_i_block_problem *p, int64_t variable, double beta);

/* Sets `extremes` and returns the largest violation of the optimality conditions. */
double kfe_i_block_violation(kfe_i_block_problem *p);
/* Chooses up to `most` variables: those that violate the conditions most, and some of the last working set. Call
 * kfe_i_block_violation first. */
void kfe_i_block_choose(kfe_i_block_problem *p, int64_t most);
/* Writes β and the values to the dual, and its offset and violation. */
void kfe_i_block_answer(kfe_i_block_problem *p);

#endif
