/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep rows of a kernel matrix in single precision, for SVM solvers that read the same rows again and again. Rows that
 * are missing are evaluated together, as one product of tiles. When there is no room left, the oldest row is
 * replaced. A problem of two classes needs the entries of their examples only, so that rows are kept in parts.
 */
#ifndef KFE_LEARN_BLOCKS_KERNEL_ROWS_H
#define KFE_LEARN_BLOCKS_KERNEL_ROWS_H

#include "gram/gram.h"

typedef struct kfe_i_kernel_rows kfe_i_kernel_rows;

/* How many rows there may be. */
typedef struct kfe_i_room_for_rows {
    int64_t most;    /* as many as memory allows */
    int64_t at_once; /* rows of one call of fetch, usually */
} kfe_i_room_for_rows;

/* Room for rows of n numbers: as many as pay off, and no more than `room` says. position[n] says where the entry of an
 * example is in every row, so that the examples of a class can be neighbours; NULL: in the order of the examples. It must
 * outlive the rows. */
kfe_status kfe_i_kernel_rows_new(const kfe_i_gram *gram, const int64_t *position, kfe_i_room_for_rows room,
                                 kfe_i_kernel_rows **out);
void kfe_i_kernel_rows_free(kfe_i_kernel_rows *rows);

/* The number of rows that there is room for. */
int64_t kfe_i_kernel_rows_slots(const kfe_i_kernel_rows *rows);
/* The parts of a row that hold `count` entries from `position` on, as bits. */
uint64_t kfe_i_kernel_rows_parts(const kfe_i_kernel_rows *rows, int64_t position, int64_t count);

/* Evaluates what is missing of the `count` rows: of row index[j], at least the entries of parts[j]. They all stay until the
 * next call; count ≤ slots. */
kfe_status kfe_i_kernel_rows_fetch(kfe_i_kernel_rows *rows, const int64_t *index, const uint64_t *parts,
                                   int64_t count);
/* A row that the last call has fetched. */
const float *kfe_i_kernel_rows_get(const kfe_i_kernel_rows *rows, int64_t index);
/* out[a·stride + b] = the entry of index[a] and index[b], for rows that the last call has fetched. `work` is that of one
 * thread. */
void kfe_i_kernel_rows_block(const kfe_i_kernel_rows *rows, const int64_t *index, int64_t count, float *work,
                             float *out, int64_t stride);
/* Numbers of `work` for blocks of up to `count` rows. */
int64_t kfe_i_kernel_rows_block_work(const kfe_i_kernel_rows *rows, int64_t count);
/* How many rows were evaluated so far; parts of rows add up. */
int64_t kfe_i_kernel_rows_evaluated(const kfe_i_kernel_rows *rows);

#endif
