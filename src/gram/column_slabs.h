/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluate columns of an operator slab by slab (linalg/slabs.h), inside a pass over other arrays of the same rows, so that columns that
 * are needed only once are never written to memory. */
#ifndef KFE_GRAM_COLUMN_SLABS_H
#define KFE_GRAM_COLUMN_SLABS_H

#include "gram/row_part.h"
#include "linalg/slabs.h"

typedef struct kfe_i_column_slabs {
    kfe_context *ctx;
    const kfe_i_row_part *part; /* the rows */
    int64_t count;              /* of columns */
    int threads;                /* that may ask at the same time */
    /* tiles are evaluated */
    kfe_i_points chosen;
    double *scratch;
    int64_t own; /* doubles of scratch per thread */
    /* or whole columns are read */
    const double *values; /* rows × count */
} kfe_i_column_slabs;

/* Prepares the columns listed, for threads 0 … threads − 1. `room`: rows × count doubles, unless the part has a kernel. */
kfe_status kfe_i_column_slabs_begin(const kfe_i_row_part *part, const int64_t *index, int64_t count,
                                    int threads, double *room, kfe_i_column_slabs *out);
void kfe_i_column_slabs_end(kfe_i_column_slabs *columns);
/* out (count × slabs->rows) = slab s of the columns, filled up with zeros. */
void kfe_i_column_slab(const kfe_i_column_slabs *columns, const kfe_i_slabs *slabs, int64_t s, int thread,
                       double *out);

#endif
