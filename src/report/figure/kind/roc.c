/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `roc`: true positives against false positives over all thresholds, with the area under the curve. */
#include "report/figure/kind/curves.h"

static void place(double right, double wrong, double positives, double negatives, double *x, double *y)
{
    *x = wrong / negatives;
    *y = right / positives;
}

/* A trapezium: examples of equal scores are caught together. */
static double step(double from_x, double from_y, double x, double y)
{
    return (x - from_x) * (y + from_y) / 2;
}

static const kfe_i_curve_kind curve = {.x = "false positive rate",
                                       .y = "true positive rate",
                                       .area = "AUC",
                                       .place = place,
                                       .step = step,
                                       .reference = KFE_REFERENCE_DIAGONAL};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    return kfe_i_draw_curves(ctx, source, &curve, out);
}

const kfe_i_figure_kind kfe_i_figure_roc = {
    .name = "roc",
    .title = "ROC curves",
    .section = "Quality",
    .summary = "true positives against false positives over all thresholds, with AUC",
    .needs = "a model that predicts classes, and labelled data",
    .draw = draw,
};
