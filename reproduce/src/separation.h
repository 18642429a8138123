/* SPDX-License-Identifier: Apache-2.0 */
/* Measure how well features separate the classes, for the numbers next to a scatter plot. */
#ifndef REP_SEPARATION_H
#define REP_SEPARATION_H

#include "kfe.h"

typedef struct rep_separation {
    /* Share of rows whose nearest other row (the first of equally near ones) has the same class. */
    double neighbour_accuracy;
    double scatter_ratio; /* trace of the between-class scatter over that of the within-class scatter */
} rep_separation;

/* Row i of the features belongs to row i of the data, which has classes. NaN: the accuracy with one row, the ratio
 * if no class varies. Time O(rows² · columns). */
kfe_status rep_separation_measure(kfe_context *ctx, const kfe_data *data, const kfe_matrix *features,
                                  rep_separation *out);

#endif
