/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `leverage`: studentized residuals of a real target against leverage, with their limits (a Williams plot). */
#include <math.h>

#include "explain/diagnostics.h"
#include "explain/explain.h"
#include "report/figure/kind/flagged.h"

/* The level of the limit of residuals. */
#define LEVEL 0.95

/* What kfe_explain says about the rows of both sets. */
typedef struct residuals {
    kfe_i_flagged flagged;
    kfe_result *train, *test;
    int64_t above;
} residuals;

/* *out stays NULL for sets without real targets. */
static kfe_status explain_set(kfe_context *ctx, const kfe_i_source *source, const kfe_i_set *set,
                              kfe_result **out)
{
    if (!set->data || set->outcome.task != KFE_TASK_REAL)
        return KFE_OK;
    return kfe_explain(ctx, source->model, set->gathered ? set->gathered : set->data, "parts=diagnostics",
                       out);
}

static int has_residuals(const kfe_i_set *set, const kfe_result *explanation)
{
    return !set->data || (explanation && kfe_result_find(explanation, "studentized"));
}

/* The number of a row in a table whose first column names the rows. */
static double value_of(const residuals *r, int64_t i, const char *table, int64_t column)
{
    const kfe_i_cloud_point *point = &r->flagged.points.items[i];
    const kfe_result *of = point->set == &r->flagged.points.source->test ? r->test : r->train;

    return kfe_table_column(kfe_result_find(of, table), column)->numbers[point->row];
}

static kfe_status fill(residuals *r, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_flagged *f = &r->flagged;

    KFE_TRY(kfe_i_flagged_columns(f, out, "leverage", "studentized residual"));
    for (int64_t i = 0; i < f->points.count; i++) {
        f->x[i] = value_of(r, i, "diagnostics", 1 + KFE_DIAGNOSTIC_LEVERAGE);
        f->y[i] = value_of(r, i, "studentized", 1);
        r->above += f->x[i] > f->x_limit || fabs(f->y[i]) > f->y_limit;
    }
cleanup:
    return status;
}

static kfe_status write_caption(residuals *r, const kfe_i_set *set, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    kfe_i_text_printf(
        &out->caption,
        "Residuals over their standard deviation, against leverage: examples on the right pull the model "
        "towards themselves, those above or below are predicted badly. A share of 0.95 of examples like "
        "the training data is between the lines across; the upright line is a rule of thumb, 3(r + 1)/n. "
        "%lld of %lld are beyond a line.",
        (long long)r->above, (long long)r->flagged.points.count);
    KFE_TRY(kfe_i_flagged_names(&r->flagged, out));
    kfe_i_cloud_caption_target(&r->flagged.points, set, out);
cleanup:
    return status;
}

static kfe_status draw_points(residuals *r, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    out->rows = KFE_FLAGGED_MORE_LINES;
    KFE_TRY(kfe_i_cloud_begin(out->ctx, source, KFE_FIGURE_POINTS, out, &r->flagged.points));
    KFE_TRY(fill(r, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "leverage", "studentized residual"));
    out->panels[0].reference = KFE_REFERENCE_ZERO;
    r->flagged.points.target = 0; /* both sets have one colour */
    KFE_TRY(kfe_i_flagged_series(&r->flagged, out, "95 % limits"));
    KFE_TRY(write_caption(r, source->test.data ? &source->test : &source->train, out));
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    residuals r = {.flagged.both_sides = 1};
    kfe_i_row_limits limits;

    if (!source->model || (!source->train.data && !source->test.data) || kfe_i_not_diagnosed(source->model))
        return KFE_OK;
    KFE_TRY(explain_set(ctx, source, &source->train, &r.train));
    KFE_TRY(explain_set(ctx, source, &source->test, &r.test));
    if (!has_residuals(&source->train, r.train) || !has_residuals(&source->test, r.test))
        goto cleanup;
    KFE_TRY(kfe_i_find_row_limits(ctx, source->model, LEVEL, &limits));
    r.flagged.x_limit = limits.of[KFE_DIAGNOSTIC_LEVERAGE];
    r.flagged.y_limit = limits.studentized;
    if (r.flagged.x_limit > 0 && r.flagged.y_limit > 0)
        KFE_TRY(draw_points(&r, source, out));
cleanup:
    kfe_result_free(r.train);
    kfe_result_free(r.test);
    kfe_i_cloud_free(&r.flagged.points);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_leverage = {
    .name = "leverage",
    .title = "Residuals and leverage",
    .section = "Quality",
    .summary = "studentized residuals against leverage, with limits",
    .needs = "data with real targets, and a model whose predictor is linear in its features",
    .draw = draw,
};
