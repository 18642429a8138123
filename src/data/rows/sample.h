/* SPDX-License-Identifier: Apache-2.0 */
/* Draw a sample of rows by their content, for choices that cost too much on all rows, such as a ridge by leave-one-out. */
#ifndef KFE_DATA_ROWS_SAMPLE_H
#define KFE_DATA_ROWS_SAMPLE_H

#include "data/rows/distinct.h"

/* How many of so many distinct rows are drawn: all of up to 200; of n, 60 + 3n/10 but at most 400, or an eighth if that is more, but at
 * most 1,000. The choice then takes about half as long as the rest of a fit (bench/ridge.c). */
int64_t kfe_i_sample_size(int64_t distinct);
/* The rows of the sample, ascending: all rows with the content of those that are drawn. *index is freed by the caller. */
kfe_status kfe_i_sample_draw(kfe_context *ctx, int64_t rows, const kfe_i_row_key *keys, int64_t **index,
                             int64_t *count);

#endif
