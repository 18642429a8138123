/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `outliers`: Hotelling's T² and Q residuals of examples, with their limits. */
#include <math.h>

#include "explain/diagnostics.h"
#include "report/figure/kind/flagged.h"

/* The level of the limits. */
#define LEVEL 0.95

typedef struct distances {
    kfe_i_flagged flagged;
    kfe_matrix train, test;
    double limits[KFE_DIAGNOSTICS];
    int64_t above;
} distances;

static kfe_status measure_set(kfe_context *ctx, const kfe_i_source *source, const kfe_i_set *set,
                              double *limits, kfe_matrix *out)
{
    if (!set->data)
        return KFE_OK;
    return kfe_diagnose(ctx, source->model, set->gathered ? set->gathered : set->data, LEVEL, out, limits);
}

/* Where h·T²/mean + h·Q/mean, which is linear in both, has its limit. */
static kfe_status find_line(kfe_context *ctx, const kfe_model *model, kfe_i_flagged *f)
{
    kfe_status status = KFE_OK;
    kfe_i_row_limits limits;

    KFE_TRY(kfe_i_find_row_limits(ctx, model, LEVEL, &limits));
    f->together_name = "both together";
    f->x_together = limits.of[KFE_DIAGNOSTIC_DISTANCE] * limits.t2_mean / limits.t2_degrees;
    f->y_together = limits.of[KFE_DIAGNOSTIC_DISTANCE] * limits.q_mean / limits.q_degrees;
cleanup:
    return status;
}

static const double *row_of(const distances *d, int64_t i)
{
    const kfe_i_cloud_point *point = &d->flagged.points.items[i];
    const kfe_matrix *values = point->set == &d->flagged.points.source->test ? &d->test : &d->train;

    return values->values + point->row * values->stride;
}

static kfe_status fill(distances *d, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_flagged *f = &d->flagged;

    KFE_TRY(kfe_i_flagged_columns(f, out, "T²", "Q"));
    for (int64_t i = 0; i < f->points.count; i++) {
        const double *row = row_of(d, i);
        f->x[i] = row[KFE_DIAGNOSTIC_T2];
        f->y[i] = row[KFE_DIAGNOSTIC_Q];
        d->above += row[KFE_DIAGNOSTIC_OUTLIER] > 0;
    }
    f->x_limit = d->limits[KFE_DIAGNOSTIC_T2];
    f->y_limit = d->limits[KFE_DIAGNOSTIC_Q];
cleanup:
    return status;
}

static kfe_status write_caption(const distances *d, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    kfe_i_text_printf(
        &out->caption,
        "Hotelling's T², the distance from the centre of the training data within the features, and Q, the "
        "squared residual outside the features. A share of 0.95 of examples like the training data is "
        "below each dashed limit. The sloping limit is for both together: the acceptance area of DD-SIMCA. "
        "%lld of %lld are above the limit of T² or Q.",
        (long long)d->above, (long long)d->flagged.points.count);
    KFE_TRY(kfe_i_flagged_names(&d->flagged, out));
    kfe_i_cloud_caption(&d->flagged.points, out);
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    distances d = {0};

    if (!source->model || (!source->train.data && !source->test.data) || kfe_i_not_diagnosed(source->model) ||
        kfe_i_no_residuals(source->model))
        return KFE_OK;
    KFE_TRY(measure_set(ctx, source, &source->train, d.limits, &d.train));
    KFE_TRY(measure_set(ctx, source, &source->test, d.limits, &d.test));
    if (isnan(d.limits[KFE_DIAGNOSTIC_T2]) || isnan(d.limits[KFE_DIAGNOSTIC_Q]))
        goto cleanup;
    KFE_TRY(find_line(ctx, source->model, &d.flagged));
    out->rows = KFE_FLAGGED_MORE_LINES;
    KFE_TRY(kfe_i_cloud_begin(ctx, source, KFE_FIGURE_POINTS, out, &d.flagged.points));
    KFE_TRY(fill(&d, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "Hotelling's T²", "Q residual"));
    KFE_TRY(kfe_i_flagged_series(&d.flagged, out, "95 % limits"));
    KFE_TRY(write_caption(&d, out));
cleanup:
    kfe_matrix_free(&d.train);
    kfe_matrix_free(&d.test);
    kfe_i_cloud_free(&d.flagged.points);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_outliers = {
    .name = "outliers",
    .title = "Distance from the training data",
    .section = "Quality",
    .summary = "Hotelling's T² against Q residuals, with limits",
    .needs = "data and a linear model whose features do not explain all columns",
    .draw = draw,
};
