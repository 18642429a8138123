/* SPDX-License-Identifier: Apache-2.0 */
/* Find out what the columns of a table contain: extremes, means and spreads. */
#ifndef KFE_DATA_TABLE_FACTS_H
#define KFE_DATA_TABLE_FACTS_H

#include "data/table/table.h"

/* What the rows show of a column. */
typedef struct kfe_i_column_facts {
    double low, high;
    double mean;
    double reach;  /* the largest |x − centre|, or 1 */
    double spread; /* sqrt(Σ (x − centre)²) / reach, its square while it is summed */
    double stored; /* the rows, by weight, that store a value of the column */
} kfe_i_column_facts;

/* Extremes and means of the columns of a dense table, over `count` of its rows; NULL: over its first ones. A column belongs to one thread,
 * so that their number does not matter. */
void kfe_i_column_ranges_find(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows, int64_t count,
                              kfe_i_column_facts *columns);
/* Facts about the columns of a dense or csr table; `columns` is zeroed. Spreads are about the mean, or about zero. */
kfe_status kfe_i_column_facts_find(kfe_context *ctx, const kfe_i_table *table, int centred,
                                   kfe_i_column_facts *columns);
/* The sum of the variances of all columns, weights of rows included: the mean squared distance of a row from the mean of the rows. */
kfe_status kfe_i_total_variance(kfe_context *ctx, const kfe_i_table *table, double *out);

#endif
