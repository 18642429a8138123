/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `precision-recall`: precision against recall over all thresholds, with average precision. */
#include "report/figure/kind/curves.h"

static void place(double right, double wrong, double positives, double negatives, double *x, double *y)
{
    (void)negatives;
    *x = right / positives;
    *y = right / (right + wrong);
}

/* Average precision: the precision reached times the recall gained, without interpolation. */
static double step(double from_x, double from_y, double x, double y)
{
    (void)from_y;
    return (x - from_x) * y;
}

static const kfe_i_curve_kind curve = {
    .x = "recall", .y = "precision", .area = "AP", .place = place, .step = step, .start_y = 1};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    return kfe_i_draw_curves(ctx, source, &curve, out);
}

const kfe_i_figure_kind kfe_i_figure_precision_recall = {
    .name = "precision-recall",
    .title = "Precision and recall",
    .section = "Quality",
    .summary = "precision against recall over all thresholds, with average precision",
    .needs = "a model that predicts classes, and labelled data",
    .draw = draw,
};
