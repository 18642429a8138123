/* SPDX-License-Identifier: Apache-2.0 */
/* Give weights to the rows that an accumulator adds: the weights of the examples times those of the classes. */
#ifndef KFE_ACCUMULATE_WEIGH_H
#define KFE_ACCUMULATE_WEIGH_H

#include "accumulate/accumulator.h"

/* Rows with the weights that a fit gives them. */
typedef struct kfe_i_weighed_rows {
    const kfe_data *rows; /* borrowed from the caller or from below; NULL: none has a weight above zero */
    kfe_data *kept;       /* without rows of weight zero, if there are any */
    kfe_data own;         /* with weights of classes, if there are any */
} kfe_i_weighed_rows;

/* Whether some row has a weight above zero. */
int kfe_i_has_weight(const kfe_data *rows);
/* Leaves out rows of weight zero and applies {class-weight}. Free the result also after a failure, before the rows. */
kfe_status kfe_i_accumulator_weigh(const kfe_accumulator *sums, const kfe_data *rows,
                                   kfe_i_weighed_rows *out);
void kfe_i_weighed_rows_free(kfe_i_weighed_rows *rows);

/* Whether the spec says class-weight=balanced, which needs the classes of all rows before the first one is added. */
int kfe_i_balances_classes(const kfe_spec *spec);
/* The error where the classes are not known before the first row is added. */
kfe_status kfe_i_refuse_balanced(kfe_context *ctx);
/* Adds the weights of these rows to those of their classes in *counts, an accumulator without columns; NULL: it is made. */
kfe_status kfe_i_count_classes(kfe_context *ctx, const kfe_data *rows, kfe_accumulator **counts);
/* Fails if {class-weight} names a class that no row had. */
kfe_status kfe_i_check_weighed_classes(const kfe_accumulator *sums);

#endif
