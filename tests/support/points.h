/* SPDX-License-Identifier: Apache-2.0 */
/* Make random points, dense (with unused numbers between the rows) and as compressed sparse rows. */
#ifndef KFE_TESTS_SUPPORT_POINTS_H
#define KFE_TESTS_SUPPORT_POINTS_H

#include "data/table/table.h"
#include "support/support.h"

typedef struct support_points {
    int64_t rows, cols, stride;
    double *values; /* rows × stride */
    int64_t *row_start;
    int32_t *columns;
    double *entries;
} support_points;

/* About half of the entries are zero. If there are that many rows and columns, row 1 is all zeros, row 2
 * repeats row 0, and column 1 of three or more is all zeros. */
void support_points_make(support_points *out, uint64_t seed, int64_t rows, int64_t cols, int nonnegative);
/* Makes the sparse rows again after a change of `values`. */
void support_points_update(support_points *points);
void support_points_free(support_points *points);

const double *support_points_row(const support_points *points, int64_t row);
/* A table that borrows the points. */
kfe_i_table support_points_table(const support_points *points, int sparse);
kfe_data *support_points_data(kfe_context *ctx, const support_points *points, int sparse);
/* The kernel matrix of all points; returns its values. */
double *support_points_kernel(kfe_context *ctx, const char *kernel, const support_points *points, int sparse,
                              kfe_matrix *out);
long double support_squared_distance(const double *x, const double *y, int64_t cols);

/* CMocka setup, as support_context_setup, but with one thread: on a busy machine, threads that wait for each
 * other would take most of the time of a test with many small matrices. */
int support_single_setup(void **state);

/* `count` random numbers between −1 and 1. The caller frees them. */
double *support_random(uint64_t seed, int64_t count);

#endif
