/* SPDX-License-Identifier: Apache-2.0 */
/* Map the values of a column to a position on an axis, and choose the ticks of the axis. */
#ifndef KFE_REPORT_FIGURE_SCALE_H
#define KFE_REPORT_FIGURE_SCALE_H

#include "report/figure/figure.h"

enum { KFE_MOST_TICKS = 40 };

typedef struct kfe_i_scale {
    double low, high; /* in values; logarithms of them if `log` */
    int log;
    int is_whole;              /* ticks are whole numbers: bars over features */
    double begin, end;         /* positions of low and high on the page */
    const kfe_i_column *words; /* of a categorical axis; NULL: numbers */
    int tick_count;
    double ticks[KFE_MOST_TICKS];
} kfe_i_scale;

/* The scale of an axis over the columns that the series of a panel have for it: 'x', 'y' or 'z'. */
kfe_i_scale kfe_i_scale_of(const kfe_i_figure *figure, int panel, char axis);
/* Places the scale between two positions of the page and chooses about `ticks` ticks. */
void kfe_i_scale_place(kfe_i_scale *scale, double begin, double end, int ticks);
/* NaN if the value has no place, such as zero on a logarithmic axis. */
double kfe_i_scale_at(const kfe_i_scale *scale, double value);
/* The value of a cell: the number, or the code of the word; NaN: none. */
double kfe_i_cell(const kfe_i_figure *figure, int column, int64_t row);
/* Point k of the ellipse of a panel. */
enum { KFE_ELLIPSE_POINTS = 72 };
void kfe_i_ellipse_point(const kfe_i_panel *panel, int k, double at[2]);
/* The column of a series on an axis; 0: none. */
int kfe_i_series_column(const kfe_i_series *series, char axis);

#endif
