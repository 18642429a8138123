/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `scatter`: examples by two of their features, coloured by class or target. */
#include "core/memory.h"
#include "report/figure/kind/cloud.h"

/* The feature of an axis: what was asked for, or the next one. */
static int feature_column(const kfe_i_cloud *points, int64_t asked, int otherwise)
{
    int64_t feature = asked > 0 ? asked : otherwise;

    return points->first_feature + (int)(feature <= points->feature_count ? feature : 1) - 1;
}

static kfe_status check_axes(kfe_context *ctx, const kfe_i_source *source)
{
    const int64_t asked[3] = {source->settings.x, source->settings.y, source->settings.z};

    for (int k = 0; k < 3; k++)
        if (asked[k] > source->model->dim || asked[k] > KFE_FIGURE_FEATURES)
            return kfe_i_fail(
                ctx, KFE_EINVAL,
                "feature %lld cannot be an axis: the model has %lld features, of which figures show "
                "at most the first %d",
                (long long)asked[k], (long long)source->model->dim, KFE_FIGURE_FEATURES);
    return KFE_OK;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_cloud points = {0};

    if (!source->model || (!source->train.data && !source->test.data))
        return KFE_OK;
    KFE_TRY(check_axes(ctx, source));
    KFE_TRY(kfe_i_cloud_begin(ctx, source, KFE_FIGURE_POINTS, out, &points));
    KFE_TRY(kfe_i_cloud_features(&points, KFE_FIGURE_FEATURES, out));
    if (points.feature_count < 1)
        goto cleanup;
    int x = feature_column(&points, source->settings.x, 1);
    int y = feature_column(&points, source->settings.y, 2);
    if (points.feature_count == 1 && points.target) /* one feature: against the class or the target */
        y = points.target;
    out->flags = KFE_FIGURE_CHOICE;
    out->first_feature = points.first_feature;
    out->feature_count = points.feature_count;
    KFE_TRY(kfe_i_figure_panel(out, NULL, out->columns[x - 1].name, out->columns[y - 1].name));
    KFE_TRY(kfe_i_cloud_series(&points, out, 1, (kfe_i_series){.x = x, .y = y}));
    kfe_i_text_puts(&out->caption, points.feature_count > 1
                                       ? "Examples by two of their features, coloured by class or target."
                                       : "Examples by their one feature and by class or target.");
    kfe_i_cloud_caption_sets(&points, out);
    kfe_i_cloud_caption(&points, out);
cleanup:
    kfe_i_cloud_free(&points);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_scatter = {
    .name = "scatter",
    .title = "Examples by their features",
    .section = "Features",
    .summary = "examples by two of their features, coloured by class or target",
    .needs = "a model and data",
    .draw = draw,
};
