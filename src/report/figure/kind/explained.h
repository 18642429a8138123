/* SPDX-License-Identifier: Apache-2.0 */
/* Label the rows of a table of an explanation (kfe_explain): columns of the data or features. */
#ifndef KFE_REPORT_FIGURE_KIND_EXPLAINED_H
#define KFE_REPORT_FIGURE_KIND_EXPLAINED_H

#include "core/sort.h"
#include "report/figure/figure.h"

/* More bars than these would be too thin. */
enum { KFE_FIGURE_BARS = 40 };

/* Adds the column of labels, or of numbers from 1, of the rows in this order. */
kfe_status kfe_i_add_row_labels(kfe_context *ctx, const kfe_table *table, const kfe_i_sorted *order,
                                kfe_i_figure *out);

#endif
