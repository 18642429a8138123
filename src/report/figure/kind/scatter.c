/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `scatter`: examples by two of their features, coloured by class or target. */
#include <math.h>
#include <string.h>

#include "core/distribution.h"
#include "core/memory.h"
#include "explain/diagnostics.h"
#include "model/linear.h"
#include "report/figure/kind/cloud.h"
#include "report/figure/kind/separation.h"

/* Of the ellipse. */
#define LEVEL 0.95

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

/* ---- Hotelling's ellipse ---- */

/* T² of a new row by two features, F(2, n − 2)·2(n² − 1)/(n(n − 2)), as an ellipse by the factor of their covariance. */
static void add_ellipse(const kfe_model *model, int64_t a, int64_t b, kfe_i_figure *out)
{
    const kfe_i_moments *m = &model->moments;
    kfe_i_panel *panel = &out->panels[0];

    if (a == b || kfe_i_not_diagnosed(model) || kfe_i_features_not_linear(model))
        return;
    double n = m->spread[KFE_SPREAD_MASS];
    double limit = 2 * (n * n - 1) / (n * (n - 2)) * kfe_i_f_limit(LEVEL, 2, n - 2) / (n - 1);
    double xx = m->products[a * m->dim + a];
    double xy = m->products[a * m->dim + b];
    double rest = m->products[b * m->dim + b] - xy * xy / xx;
    if (!(n > 2 && xx > 0 && rest > 0 && isfinite(limit)))
        return;
    panel->has_ellipse = 1;
    panel->middle[0] = m->feature_means[a];
    panel->middle[1] = m->feature_means[b];
    panel->ellipse[0] = sqrt(limit * xx);
    panel->ellipse[1] = sqrt(limit / xx) * xy;
    panel->ellipse[2] = sqrt(limit * rest);
    kfe_i_text_puts(&out->caption,
                    " A share of 0.95 of examples like the training data lies within the dashed ellipse "
                    "(Hotelling's T²).");
}

/* ---- one feature ---- */

/* Points of a class are beside each other, at a place that their value decides. */
static kfe_status add_shift(const kfe_i_cloud *points, kfe_i_figure *out, int *column)
{
    kfe_status status = KFE_OK;
    const double *values = out->columns[points->first_feature - 1].numbers;
    double *shift = NULL;

    KFE_TRY(kfe_i_figure_numbers(out, "shift", column, &shift));
    for (int64_t i = 0; i < points->count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &values[i], sizeof bits);
        bits = (bits ^ bits >> 31) * 0x9e3779b97f4a7c15u;
        shift[i] = 0.6 * ((double)(bits >> 11) / 9007199254740992.0 - 0.5);
    }
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status add_points(const kfe_i_cloud *points, int x, int y, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_series axes = {.x = x, .y = y};

    if (y == points->target && out->columns[y - 1].codes)
        KFE_TRY(add_shift(points, out, &axes.shift));
    out->flags = KFE_FIGURE_CHOICE;
    out->first_feature = points->first_feature;
    out->feature_count = points->feature_count;
    KFE_TRY(kfe_i_figure_panel(out, NULL, kfe_i_figure_title_of(out, x), kfe_i_figure_title_of(out, y)));
    KFE_TRY(kfe_i_cloud_series(points, out, 1, axes));
cleanup:
    return status;
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
    int64_t best[2] = {1, 2};
    if (source->settings.x == 0 && source->settings.y == 0)
        kfe_i_best_pair(&source->train, points.feature_count, source->classes.count, best);
    int x = feature_column(&points, source->settings.x, (int)best[0]);
    int y = feature_column(&points, source->settings.y, (int)best[1]);
    if (points.feature_count == 1 && points.target) /* one feature: against the class or the target */
        y = points.target;
    KFE_TRY(add_points(&points, x, y, out));
    kfe_i_text_puts(&out->caption, points.feature_count > 1
                                       ? "Examples by two of their features, coloured by class or target."
                                       : "Examples by their one feature and by class or target.");
    kfe_i_cloud_caption_sets(&points, out);
    if (points.feature_count > 1)
        add_ellipse(source->model, x - points.first_feature, y - points.first_feature, out);
    if (best[0] != 1 || best[1] != 2)
        kfe_i_text_puts(&out->caption, " These two tell the training examples apart best.");
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
