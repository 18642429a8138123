/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `matrix`: a scatter plot of every pair of the first features. */
#include "report/figure/kind/cloud.h"

enum { MOST_FEATURES = 4, MOST_POINTS = 500 };

static kfe_status add_pair(const kfe_i_cloud *points, kfe_i_figure *out, int row, int col, int count)
{
    kfe_status status = KFE_OK;
    int x = points->first_feature + col;
    int y = points->first_feature + row;
    kfe_i_series axes = {.panel = (int)out->panel_count, .x = x, .y = y};

    if (row == col) /* a feature against itself says nothing, so its name stands there */
        return kfe_i_figure_panel(out, out->columns[x - 1].name, "", "");
    KFE_TRY(kfe_i_figure_panel(out, NULL, row == count - 1 ? out->columns[x - 1].name : "",
                               col == 0 ? out->columns[y - 1].name : ""));
    KFE_TRY(kfe_i_cloud_series(points, out, row == 0 && col == 1, axes));
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_cloud points = {0};

    if (!source->model || (!source->train.data && !source->test.data) || source->model->dim < 3)
        return KFE_OK;
    KFE_TRY(kfe_i_cloud_begin(ctx, source, MOST_POINTS, out, &points));
    KFE_TRY(kfe_i_cloud_features(&points, MOST_FEATURES, out));
    out->flags = KFE_FIGURE_SQUARE;
    out->across = points.feature_count;
    for (int row = 0; row < points.feature_count; row++)
        for (int col = 0; col < points.feature_count; col++)
            KFE_TRY(add_pair(&points, out, row, col, points.feature_count));
    kfe_i_text_puts(&out->caption, "Every pair of the first features.");
    kfe_i_cloud_caption(&points, out);
cleanup:
    kfe_i_cloud_free(&points);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_matrix = {
    .name = "matrix",
    .title = "Scatter matrix",
    .section = "Features",
    .summary = "every pair of the first features",
    .needs = "a model of at least three features, and data",
    .draw = draw,
};
