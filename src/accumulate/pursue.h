/* SPDX-License-Identifier: Apache-2.0 */
/* Fit a method that needs the rows of a stream again and again (kfe_i_fit_source.part): every process keeps the rows that it has read. */
#ifndef KFE_ACCUMULATE_PURSUE_H
#define KFE_ACCUMULATE_PURSUE_H

#include "accumulate/accumulator.h"
#include "accumulate/row_store.h"

typedef struct kfe_i_kept_rows {
    /* Its map scales the rows; at the end it holds the sums of the features. Borrowed. */
    kfe_accumulator *sums;
    kfe_i_row_store store;
    kfe_i_target target; /* of the rows kept; its classes are those of the sums */
    int64_t code_capacity, value_capacity, weight_capacity;
    double *rows_of; /* of each file, as far as this process has counted them */
    int files;
    int alone; /* there is one process */
} kfe_i_kept_rows;

/* Whether a stream is fitted this way: the method can be, and there are no landmarks. */
int kfe_i_keeps_rows(const kfe_spec *spec);
kfe_status kfe_i_kept_begin(kfe_accumulator *sums, int files, kfe_i_kept_rows *out);
void kfe_i_kept_free(kfe_i_kept_rows *kept);
/* Adds rows of a file, which follow its first `before` rows. */
kfe_status kfe_i_kept_add(kfe_i_kept_rows *kept, const kfe_data *rows, int file, int64_t before);
/* After the last row, on every process: the fit. The accumulator is replaced by that of all processes. */
kfe_status kfe_i_pursue(kfe_i_kept_rows *kept, kfe_accumulator **sums, kfe_model **out);

#endif
