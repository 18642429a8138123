/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `scatter3d`: examples by three of their features. */
#include "core/memory.h"
#include "report/figure/kind/cloud.h"

static int column_of(const kfe_i_cloud *points, int64_t asked, int otherwise)
{
    int64_t feature = asked > 0 && asked <= points->feature_count ? asked : otherwise;

    return points->first_feature + (int)feature - 1;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_cloud points = {0};

    if (!source->model || (!source->train.data && !source->test.data) || source->model->dim < 3)
        return KFE_OK;
    KFE_TRY(kfe_i_cloud_begin(ctx, source, KFE_FIGURE_POINTS / 2, out, &points));
    KFE_TRY(kfe_i_cloud_features(&points, KFE_FIGURE_FEATURES, out));
    int x = column_of(&points, source->settings.x, 1);
    int y = column_of(&points, source->settings.y, 2);
    int z = column_of(&points, source->settings.z, 3);
    out->flags = KFE_FIGURE_SPACE | KFE_FIGURE_CHOICE;
    out->first_feature = points.first_feature;
    out->feature_count = points.feature_count;
    KFE_TRY(kfe_i_figure_panel(out, NULL, kfe_i_figure_title_of(out, x), kfe_i_figure_title_of(out, y)));
    KFE_STRDUP(ctx, out->panels[0].z.title, kfe_i_figure_title_of(out, z));
    KFE_TRY(kfe_i_cloud_series(&points, out, 1, (kfe_i_series){.x = x, .y = y, .z = z}));
    kfe_i_text_puts(&out->caption, "Examples by three of their features; drag to turn the figure.");
    kfe_i_cloud_caption(&points, out);
cleanup:
    kfe_i_cloud_free(&points);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_scatter3d = {
    .name = "scatter3d",
    .title = "Three features",
    .section = "Features",
    .summary = "examples by three of their features",
    .needs = "a model of at least three features, and data",
    .draw = draw,
};
