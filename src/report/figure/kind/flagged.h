/* SPDX-License-Identifier: Apache-2.0 */
/* Draw the examples by two numbers that have limits: dashed lines at the limits, and names beside the examples above one. */
#ifndef KFE_REPORT_FIGURE_KIND_FLAGGED_H
#define KFE_REPORT_FIGURE_KIND_FLAGGED_H

#include "report/figure/kind/cloud.h"

/* The table of the figure ends with this many rows for the ends of three lines: set figure->rows before kfe_i_cloud_begin. The third is at
 * −y_limit or slopes. */
enum { KFE_FLAGGED_MORE_LINES = 6 };

typedef struct kfe_i_flagged {
    kfe_i_cloud points;
    double x_limit, y_limit;
    int both_sides; /* the limit of y holds for its size */
    /* A sloping line, the limit of both together, ends here; NULL: there is none */
    const char *together_name;
    double x_together, y_together;
    double *x, *y;          /* columns of the table */
    int x_column, y_column; /* their numbers */
} kfe_i_flagged;

/* Adds both columns, which the caller fills for the points. */
kfe_status kfe_i_flagged_columns(kfe_i_flagged *f, kfe_i_figure *figure, const char *x, const char *y);
/* Adds the points and the lines as series. */
kfe_status kfe_i_flagged_series(kfe_i_flagged *f, kfe_i_figure *figure, const char *name);
/* Names the examples that are farthest above a limit, in the caption and beside their points. */
kfe_status kfe_i_flagged_names(const kfe_i_flagged *f, kfe_i_figure *figure);

#endif
