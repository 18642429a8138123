/* SPDX-License-Identifier: Apache-2.0 */
/* Write a figure as SVG, without a browser: for files, for print and for pages without scripts. */
#ifndef KFE_REPORT_FIGURE_SVG_H
#define KFE_REPORT_FIGURE_SVG_H

#include "report/figure/scale.h"

/* Appends one <svg> element. `whole`: with title and caption, for a file of its own. */
void kfe_i_figure_svg(const kfe_i_figure *figure, int whole, kfe_i_text *out);

/* The colour of a series, "#0072B2". */
enum { KFE_COLOUR_TEXT = 8 };
void kfe_i_series_colour(const kfe_i_series *series, char out[KFE_COLOUR_TEXT]);

/* One panel on the page. For the two files of the writer. */
typedef struct kfe_i_svg_panel {
    const kfe_i_figure *figure;
    int panel;
    double left, top, width, height; /* of the plot itself */
    kfe_i_scale x, y, z;
} kfe_i_svg_panel;

/* Appends the series of a panel (svg_marks.c). */
void kfe_i_svg_marks(const kfe_i_svg_panel *panel, kfe_i_text *out);
/* Appends the sample of a series in the legend, 24 wide. */
void kfe_i_svg_sample(const kfe_i_series *series, double x, double y, kfe_i_text *out);
/* The place of a point in space on the page; the cube is seen from above and the front. */
void kfe_i_svg_project(const kfe_i_svg_panel *panel, const double share[3], double *x, double *y);

#endif
