/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Show the columns of the data in a figure: over their axis, as lines, if their names are positions such as wavelengths (and, if
 * there are more than bars have room, over their places if names are counted, such as x1, x2, x3), otherwise as bars over their names.
 */
#ifndef KFE_REPORT_FIGURE_KIND_COLUMNS_H
#define KFE_REPORT_FIGURE_KIND_COLUMNS_H

#include "core/sort.h"
#include "data/steps/positions.h"
#include "report/figure/figure.h"

/* More bars than these would be too thin. */
enum { KFE_FIGURE_BARS = 40 };

typedef struct kfe_i_columns {
    kfe_context *ctx;
    kfe_i_sorted *items; /* index: the column of each row of the figure */
    int64_t count, all;  /* how many are shown, of how many */
    int is_line;
    int x; /* the column of the figure that is the x-axis */
    int is_reversed;
    double ends[2];
    char title[80];
} kfe_i_columns;

/* The order of bars. Those above zero are sorted, too. */
typedef enum kfe_i_columns_order {
    KFE_COLUMNS_IN_ORDER,
    KFE_COLUMNS_SORTED,
    KFE_COLUMNS_ABOVE_ZERO
} kfe_i_columns_order;

/* Chooses the columns, all of them for a line, else those with the largest sizes (if not all have room, sorted by them), and adds their labels
 * to the empty figure. Free also after a failure. */
kfe_status kfe_i_columns_begin(kfe_context *ctx, const kfe_column *labels, int64_t count, const double *sizes,
                               kfe_i_columns_order order, kfe_i_figure *figure, kfe_i_columns *out);
void kfe_i_columns_free(kfe_i_columns *columns);
/* Adds a panel over the columns. */
kfe_status kfe_i_columns_panel(const kfe_i_columns *columns, const char *title, const char *y,
                               kfe_i_figure *figure);
/* A line or bars over the columns, with these values. */
kfe_i_series kfe_i_columns_series(const kfe_i_columns *columns, int y);
/* "The 40 largest of 500.", if not all are shown. */
void kfe_i_columns_caption(const kfe_i_columns *columns, kfe_i_figure *figure);

#endif
