/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `residuals`: errors of the predictions against the predicted numbers. */
#include "report/figure/kind/cloud.h"
#include "report/figure/kind/held_rows.h"

static kfe_status draw_held_out(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_held_rows rows;

    kfe_i_text_puts(&out->caption, "A trend or a funnel is structure that the model missed.");
    KFE_TRY(kfe_i_held_rows_add(ctx, source, out, &rows));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "predicted value", "residual (true − predicted)"));
    out->panels[0].reference = KFE_REFERENCE_ZERO;
    KFE_TRY(kfe_i_figure_series(
        out, NULL,
        (kfe_i_series){.count = out->rows, .x = rows.predicted, .y = rows.residual, .label = rows.row}));
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = kfe_i_source_judged(source);
    kfe_i_cloud points = {0};
    double *residuals = NULL;
    int column = 0;

    if (!set || set->outcome.task != KFE_TASK_REAL)
        return KFE_OK;
    if (set == &source->held_out)
        return draw_held_out(ctx, source, out);
    KFE_TRY(kfe_i_cloud_begin(ctx, source, KFE_FIGURE_POINTS, out, &points));
    KFE_TRY(kfe_i_figure_numbers(out, "residual", &column, &residuals));
    for (int64_t i = 0; i < points.count; i++)
        residuals[i] =
            out->columns[points.target - 1].numbers[i] - out->columns[points.predicted - 1].numbers[i];
    KFE_TRY(kfe_i_figure_panel(out, NULL, "predicted value", "residual (true − predicted)"));
    out->panels[0].reference = KFE_REFERENCE_ZERO;
    points.target = 0;
    KFE_TRY(kfe_i_cloud_series(&points, out, source->train.data && source->test.data,
                               (kfe_i_series){.x = points.predicted, .y = column}));
    kfe_i_text_puts(&out->caption, "A trend or a funnel is structure that the model missed.");
    kfe_i_cloud_caption_target(&points, set, out);
cleanup:
    kfe_i_cloud_free(&points);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_residuals = {
    .name = "residuals",
    .title = "Residuals",
    .section = "Quality",
    .summary = "errors of the predictions against the predicted numbers",
    .needs =
        "a model that predicts numbers, and data with targets; or results with held-out predictions of numbers",
    .draw = draw,
};
