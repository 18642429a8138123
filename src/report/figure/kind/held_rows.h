/* SPDX-License-Identifier: Apache-2.0 */
/* Put held-out predictions of numbers into the table of a figure (predicted, residuals). */
#ifndef KFE_REPORT_FIGURE_KIND_HELD_ROWS_H
#define KFE_REPORT_FIGURE_KIND_HELD_ROWS_H

#include "report/figure/figure.h"

/* Columns, from 1. */
typedef struct kfe_i_held_rows {
    int row, truth, predicted, residual;
} kfe_i_held_rows;

/* Adds the rows of source->held_out, or a random choice of many, and ends the caption. */
kfe_status kfe_i_held_rows_add(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *figure,
                               kfe_i_held_rows *out);

#endif
