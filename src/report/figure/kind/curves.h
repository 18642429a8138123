/* SPDX-License-Identifier: Apache-2.0 */
/* Fill the figures `roc` and `precision-recall`, which differ only in what their axes are. */
#ifndef KFE_REPORT_FIGURE_KIND_CURVES_H
#define KFE_REPORT_FIGURE_KIND_CURVES_H

#include "report/figure/figure.h"

typedef struct kfe_i_curve_kind {
    const char *x, *y; /* titles of the axes */
    const char *area;  /* the area under the curve: "AUC" */
    /* Both axes from the counts at one threshold. */
    void (*place)(double right, double wrong, double positives, double negatives, double *x, double *y);
    /* The area between the previous point and this one. */
    double (*step)(double from_x, double from_y, double x, double y);
    double start_x, start_y;
    kfe_i_reference reference;
} kfe_i_curve_kind;

kfe_status kfe_i_draw_curves(kfe_context *ctx, const kfe_i_source *source, const kfe_i_curve_kind *kind,
                             kfe_i_figure *out);

#endif
