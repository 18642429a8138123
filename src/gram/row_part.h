/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ask for kernel columns at the rows of this process only, for methods that divide their work by rows over processes (the pursuits):
 * every process asks for the same columns at the same time. Rows are numbered over all processes.
 */
#ifndef KFE_GRAM_ROW_PART_H
#define KFE_GRAM_ROW_PART_H

#include "gram/gram.h"

typedef struct kfe_i_row_part kfe_i_row_part;

struct kfe_i_row_part {
    kfe_context *ctx;
    int64_t rows;  /* of this process; without any there is one, at which all kernel values are zero */
    int64_t total; /* rows of all processes */
    /* The number of this process's first row, if its rows are consecutive; -1: they are scattered. */
    int64_t first;
    /* Tiles of all rows can be evaluated (column_slabs.h) with this kernel, on these points; NULL: only columns can. */
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    const kfe_i_row_key *keys; /* of the rows of all processes (data/rows/distinct.h); NULL: not known */
    const void *state;
    /* out (rows × count) = columns of the rows listed; if rows have weights, each is multiplied by the root of its weight. */
    kfe_status (*columns)(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out);
    /* out (count × count) = kernel values between the rows listed. */
    kfe_status (*among)(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out);
    /* out (total) = the diagonal. */
    kfe_status (*diagonal)(const kfe_i_row_part *part, double *out);
};

/* All rows of an operator. */
kfe_i_row_part kfe_i_all_rows(const kfe_i_gram *gram);
/* The rows of this process, if processes can divide the rows of this operator; else all. */
kfe_i_row_part kfe_i_own_rows(const kfe_i_gram *gram);

#endif
