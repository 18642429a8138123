/* SPDX-License-Identifier: Apache-2.0 */
/* Measure by cross-validation how well a regression on the first 1, 2, … features predicts the targets: for the choices of choose_dim.c. */
#ifndef KFE_MODEL_CHOOSING_H
#define KFE_MODEL_CHOOSING_H

#include "core/memory.h"
#include "data/rows/distinct.h"
#include "model/fit.h"

enum { KFE_CHOOSING_FOLDS = 5 };

/* Errors that differ by less than this share are equal but for rounding. */
#define KFE_EQUAL_ERRORS 1e-9

typedef struct kfe_i_choosing {
    kfe_context *ctx;
    kfe_i_arena memory; /* of the arrays */
    const kfe_data *train;
    kfe_spec *spec; /* with `most` features and no learner */
    kfe_i_distinct distinct;
    int64_t units; /* distinct rows that take part */
    int64_t most, targets;
    double *y;        /* rows × targets */
    double *errors;   /* (most + 1) × units: from no features on */
    double *masses;   /* units */
    int64_t *fold_of; /* units */
    int64_t *order;   /* rows: by content, as methods break ties by the places of rows */
    int64_t *kept, *left;
    /* The rows of each fold with the keys of the kept ones, if they are measured again and again; NULL: not gathered yet. */
    int keeps_folds;
    kfe_data *on[KFE_CHOOSING_FOLDS], *out[KFE_CHOOSING_FOLDS];
} kfe_i_choosing;

/* After `ctx`, `memory.ctx`, `train`, `distinct`, `units`, `most` and `spec` were set: takes the targets and deals the rows to folds. */
kfe_status kfe_i_choosing_begin(kfe_i_choosing *choosing);
/* Sets the first most + 1 rows of `errors`, for the spec as it is, with `most` features. */
kfe_status kfe_i_choosing_measure(kfe_i_choosing *choosing);
/* Of one row of errors, over the distinct rows: the sum, and its standard error. */
double kfe_i_choosing_sum(const kfe_i_choosing *choosing, const double *errors);
double kfe_i_choosing_standard_error(const kfe_i_choosing *choosing, const double *errors);
/* Frees everything; spec and distinct rows too. */
void kfe_i_choosing_free(kfe_i_choosing *choosing);

#endif
