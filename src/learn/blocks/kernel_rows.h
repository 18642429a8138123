/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep rows of a kernel matrix in single precision, for SVM solvers that read the same rows again and again. Rows that
 * are missing are evaluated together, as one product of tiles. When there is no room left, the row that came first
 * gives way.
 */
#ifndef KFE_LEARN_BLOCKS_KERNEL_ROWS_H
#define KFE_LEARN_BLOCKS_KERNEL_ROWS_H

#include "gram/gram.h"

typedef struct kfe_i_kernel_rows kfe_i_kernel_rows;

/* Room for `slots` rows of n numbers. position[n] says where the entry of an example is in every row, so that the
 * examples of a class can be neighbours; NULL: in the order of the examples. It must outlive the rows. */
kfe_status kfe_i_kernel_rows_new(const kfe_i_gram *gram, const int64_t *position, int64_t slots,
                                 kfe_i_kernel_rows **out);
void kfe_i_kernel_rows_free(kfe_i_kernel_rows *rows);

/* Evaluates those of the `count` rows that are missing. They all stay until the next call; count ≤ slots. */
kfe_status kfe_i_kernel_rows_fetch(kfe_i_kernel_rows *rows, const int64_t *index, int64_t count);
/* A row that the last call has fetched. */
const float *kfe_i_kernel_rows_get(const kfe_i_kernel_rows *rows, int64_t index);
/* How many rows were evaluated so far. */
int64_t kfe_i_kernel_rows_evaluated(const kfe_i_kernel_rows *rows);

#endif
