/* SPDX-License-Identifier: Apache-2.0 */
/* Compare a kernel matrix of all processes with the same of one process on the CPU, for the programs of this folder. */
#ifndef KFE_TESTS_MPI_PAIR_H
#define KFE_TESTS_MPI_PAIR_H

#include "gram/gram.h"
#include "support/points.h"
#include "support/support.h"

enum { PAIR_COLS = 6, PAIR_VECTORS = 19, PAIR_GROUPS = 3 };

/* One matrix, by one process and by all. */
typedef struct pair {
    kfe_context *alone, *together;
    support_points points;
    kfe_i_table table;
    kfe_i_kernel_list kernels;
    kfe_i_gram *one, *all;
} pair;

/* The kernels are separated by spaces. `device` is that of all processes; NULL: none. */
void pair_open(pair *p, int64_t rows, int sparse, const char *kernels, const char *device);
void pair_close(pair *p);

void pair_assert_same(const char *what, const double *got, const double *expected, int64_t count,
                      double tolerance);
/* What a product may differ by. */
double pair_slack(const pair *p, int single);
/* All processes have the same bits. */
void pair_assert_everywhere(const pair *p, const char *what, const double *values, int64_t count);
/* A product (rows × PAIR_VECTORS) of `gram`, an operator of all processes, has the numbers of one process, and the same bits everywhere. */
void pair_check_product(const pair *p, const kfe_i_gram *gram, int single, double *got);
/* The same, and the same bits again. */
void pair_check_times(const pair *p, const kfe_i_gram *gram, int single);
/* Blocks, columns and sums over groups. */
void pair_check_entries(const pair *p);

#endif
