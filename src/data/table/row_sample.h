/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draw rows of a table by their values, for rules that cannot afford all rows, and count rows that differ. The draw does not depend on the order of rows or
 * columns, on constants added to columns or on their units, all up to rounding. A row of weight 2 counts as two equal rows.
 *
 * Equal rows are one candidate, of weight w. A hash u in (0, 1) of the standardised values, in steps of 2^-20, gives it the
 * priority w/u. The `most` candidates of largest priority are drawn; if τ is the largest priority of the others, max(w, τ) is an
 * unbiased estimate of the weight that a drawn candidate stands for (Duffield, Lund & Thorup 2007).
 *
 * Time O(nd + n log n), memory O(n + d).
 */
#ifndef KFE_DATA_TABLE_ROW_SAMPLE_H
#define KFE_DATA_TABLE_ROW_SAMPLE_H

#include "data/table/table.h"

typedef struct kfe_i_row_sample {
    kfe_context *ctx;
    int64_t count;
    int64_t *index;
    double *weights;
} kfe_i_row_sample;

/* At most `most` rows of a dense or csr table; all rows with a weight if there are no more. `stream` (core/rng.h) and the seed of the
 * context choose the hash. Free it also after a failure. */
kfe_status kfe_i_row_sample_draw(kfe_context *ctx, const kfe_i_table *table, int64_t most, uint64_t stream,
                                 kfe_i_row_sample *out);
/* Counts the different rows with a weight, up to `most`, among the rows listed; rows NULL: among the first `count`. */
kfe_status kfe_i_count_different_rows(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows,
                                      int64_t count, int64_t most, int64_t *out);
void kfe_i_row_sample_free(kfe_i_row_sample *sample);

#endif
