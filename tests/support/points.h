/* SPDX-License-Identifier: Apache-2.0 */
/* Random points, the same ones dense (with gaps between the rows) and as compressed sparse rows. */
#ifndef KFE_TESTS_SUPPORT_POINTS_H
#define KFE_TESTS_SUPPORT_POINTS_H

#include "data/table.h"
#include "support/support.h"

typedef struct support_points {
    int64_t rows, cols, stride;
    double *values; /* rows × stride */
    int64_t *row_start;
    int32_t *columns;
    double *entries;
} support_points;

/* About half of the entries are zero. Row 1 is all zeros, row 2 repeats row 0, and with three columns or more
 * column 1 is all zeros, as far as there are that many. */
void support_points_make(support_points *out, uint64_t seed, int64_t rows, int64_t cols, int nonnegative);
/* Makes the sparse rows again after `values` were changed. */
void support_points_update(support_points *points);
void support_points_free(support_points *points);

const double *support_points_row(const support_points *points, int64_t row);
/* Borrowed. */
kfe_i_table support_points_table(const support_points *points, int sparse);
kfe_data *support_points_data(kfe_context *ctx, const support_points *points, int sparse);

/* A context of one thread: on a busy machine, threads that wait for each other would take most of the time of
 * a test with many small matrices. For CMocka, as support_context_setup. */
int support_single_setup(void **state);

/* Memory that a failing test need not care about, numbers between −1 and 1. */
double *support_random(uint64_t seed, int64_t count);

#endif
