/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial least squares on some rows and some columns, again and again: for steps that choose columns. Load a part of the rows, add one
 * feature after the other, read the coefficients of the columns, and the errors on rows that were left out. Targets are centred on the rows
 * loaded, and columns too.
 */
#ifndef KFE_DATA_STEPS_COLUMN_PLS_H
#define KFE_DATA_STEPS_COLUMN_PLS_H

#include "core/memory.h"
#include "data/steps/step.h"

/* The different rows with a weight, in the order of their content; each with the sum of its weights and the mean of its targets. */
typedef struct kfe_i_step_units {
    kfe_i_arena memory;
    int64_t count, cols, targets;
    double *x, *y, *masses; /* count × cols; count × targets, divided by their deviations if real; count */
} kfe_i_step_units;

/* `step` is for messages. Fails with fewer than `fewest` units, or a target that does not vary. Free it also after a failure. */
kfe_status kfe_i_step_units_make(kfe_context *ctx, const kfe_i_table *rows, const kfe_i_step_target *target,
                                 const char *step, int64_t fewest, kfe_i_step_units *out);
void kfe_i_step_units_free(kfe_i_step_units *units);

/* Numbers of units or columns. */
typedef struct kfe_i_step_list {
    const int64_t *items;
    int64_t count;
} kfe_i_step_list;

typedef struct kfe_i_column_pls {
    kfe_i_arena memory;
    const kfe_i_step_units *units;
    kfe_i_step_list kept, left, columns; /* units that are learned from, units left out */
    int64_t most, made;                  /* features at most, and so far */
    double *x[2],
        *y[2]; /* of the units kept, times the roots of their masses, and of those left out; centred */
    double *scores[2]; /* most × units; those kept are orthonormal */
    double *weights;   /* most × columns */
    double *triangle;  /* most × most: x·weights = scores·triangle */
    double *slopes;    /* most × targets */
    double *image, *means, *sizes, *before, *v;
} kfe_i_column_pls;

/* Room for `most` features. Free it also after a failure. */
kfe_status kfe_i_column_pls_new(kfe_context *ctx, const kfe_i_step_units *units, int64_t most,
                                kfe_i_column_pls *out);
void kfe_i_column_pls_free(kfe_i_column_pls *pls);

/* Begins anew; the lists are borrowed. */
void kfe_i_column_pls_load(kfe_i_column_pls *pls, kfe_i_step_list kept, kfe_i_step_list left,
                           kfe_i_step_list columns);
/* Adds a feature whose direction uses `keep` columns at most (0: all), as in sparse PLS; 0 if nothing is left to explain. The direction is at
 * weights[(made − 1) × columns.count]. */
int kfe_i_column_pls_add(kfe_i_column_pls *pls, int64_t keep);
/* sizes[columns.count] = lengths of the rows of the coefficients. */
void kfe_i_column_pls_sizes(kfe_i_column_pls *pls, double *sizes);
/* The squared error on the units left out, by mass. */
double kfe_i_column_pls_error(const kfe_i_column_pls *pls);

#endif
