/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluate columns of an operator slab by slab (dense/slabs.h), inside a pass over other arrays of the same rows, so that columns which
 * are needed once are never written to memory. */
#ifndef KFE_GRAM_COLUMN_SLABS_H
#define KFE_GRAM_COLUMN_SLABS_H

#include "gram/gram.h"
#include "kernel/tile/points.h"
#include "linalg/slabs.h"

typedef struct kfe_i_column_slabs {
    kfe_context *ctx;
    int64_t count; /* of columns */
    int threads;   /* that may ask at the same time */
    /* the operator evaluates tiles */
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    int64_t first; /* the point of the first row; not 0 where processes divide the rows */
    kfe_i_points chosen;
    double *scratch;
    int64_t own; /* doubles of scratch per thread */
    /* or gives whole columns */
    const double *values; /* n × count */
} kfe_i_column_slabs;

/* Whether the operator evaluates slabs; otherwise `room` below must have n × count doubles. */
int kfe_i_gram_has_slabs(const kfe_i_gram *gram);
/* Prepares the columns listed, for threads 0 … threads − 1. */
kfe_status kfe_i_column_slabs_begin(const kfe_i_gram *gram, const int64_t *index, int64_t count, int threads,
                                    double *room, kfe_i_column_slabs *out);
void kfe_i_column_slabs_end(kfe_i_column_slabs *columns);
/* out (count × slabs->rows) = slab s of the columns, filled up with zeros. */
void kfe_i_column_slab(const kfe_i_column_slabs *columns, const kfe_i_slabs *slabs, int64_t s, int thread,
                       double *out);

#endif
