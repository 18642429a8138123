/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures `path` and `convergence`: records of a fit as lines over features or iterations, one panel for each record that the model
 * has.
 */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"

/* A panel: one record, or two that belong together. */
typedef struct record_panel {
    const char *title;
    const char *names[2]; /* the second may be NULL */
} record_panel;

typedef struct record_kind {
    int by_feature; /* takes the records with one number per feature; else the others, by iteration */
    const char *caption;
    record_panel panels[8]; /* the last has no title */
} record_kind;

/* Fewer numbers than this do not make a curve. */
enum { LEAST_NUMBERS = 2 };

static const double *find(const kfe_model *model, int by_feature, const char *name, int64_t *count)
{
    const double *values = name ? kfe_model_record(model, name, count) : NULL;

    if (!values || *count < LEAST_NUMBERS)
        return NULL;
    return (*count == model->dim) == by_feature ? values : NULL;
}

static int64_t longest(const kfe_model *model, int by_feature, const record_panel *panels)
{
    int64_t most = 0;

    for (; panels->title; panels++)
        for (int k = 0; k < 2; k++) {
            int64_t count = 0;
            if (find(model, by_feature, panels->names[k], &count) && count > most)
                most = count;
        }
    return most;
}

static kfe_status add_record(kfe_i_figure *out, const char *name, const double *values, int64_t count)
{
    kfe_status status = KFE_OK;
    double *column_values = NULL;
    kfe_i_series series = {.mark = KFE_MARK_LINE,
                           .flags = count <= 40 ? KFE_SERIES_DOTTED : 0,
                           .style = (int)(out->series_count % 2),
                           .panel = (int)out->panel_count - 1,
                           .count = count,
                           .x = 1};

    KFE_TRY(kfe_i_figure_numbers(out, name, &series.y, &column_values));
    for (int64_t i = 0; i < out->rows; i++)
        column_values[i] = i < count ? values[i] : NAN;
    KFE_TRY(kfe_i_figure_series(out, NULL, series));
cleanup:
    return status;
}

static kfe_status add_panel(const kfe_model *model, int by_feature, const record_panel *panel,
                            kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int opened = 0;

    for (int k = 0; k < 2; k++) {
        int64_t count = 0;
        const double *values = find(model, by_feature, panel->names[k], &count);
        if (!values)
            continue;
        if (!opened)
            KFE_TRY(
                kfe_i_figure_panel(out, panel->title, by_feature ? "number of features" : "iteration", ""));
        opened = 1;
        KFE_TRY(add_record(out, panel->names[k], values, count));
    }
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const record_kind *kind = out->kind->what;
    double *steps = NULL;

    (void)ctx;
    out->rows = source->model ? longest(source->model, kind->by_feature, kind->panels) : 0;
    if (out->rows == 0)
        return KFE_OK;
    kfe_i_text_puts(&out->caption, kind->caption);
    KFE_TRY(kfe_i_figure_numbers(out, kind->by_feature ? "features" : "iteration", NULL, &steps));
    for (int64_t i = 0; i < out->rows; i++)
        steps[i] = (double)i + 1;
    for (const record_panel *panel = kind->panels; panel->title; panel++)
        KFE_TRY(add_panel(source->model, kind->by_feature, panel, out));
    out->across = out->panel_count > 1 ? 2 : 1;
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_path = {
    .name = "path",
    .title = "Path over features",
    .section = "How it was learned",
    .summary = "alignment, covariance, loss or bound by number of features",
    .needs = "a model whose method finds features one by one, such as pls, sma or kb",
    .draw = draw,
    .what = &(const record_kind){1,
                                 "What each further feature adds, as recorded by the fit.",
                                 {{"alignment with the target", {"alignment"}},
                                  {"covariance with the target", {"covariance"}},
                                  {"loss", {"loss", "losses"}},
                                  {"bound and empirical error", {"bound", "empirical"}},
                                  {"criterion", {"criterion", "scatter-ratios"}}}},
};

const kfe_i_figure_kind kfe_i_figure_convergence = {
    .name = "convergence",
    .title = "Convergence",
    .section = "How it was learned",
    .summary = "objective and bounds by iteration",
    .needs = "a model of an iterative method, such as slmc, svm-joint, lmkl or skfe",
    .draw = draw,
    .what = &(const record_kind){0,
                                 "How the fit converged.",
                                 {{"objective", {"objective"}},
                                  {"upper and lower bound", {"upper-bound", "lower-bound"}},
                                  {"alignment", {"alignment"}},
                                  {"radius-margin bound", {"radius-margin"}},
                                  {"held-out error", {"held-out-error"}},
                                  {"held-out margin", {"held-out-margin"}},
                                  {"objective of each restart", {"restart-objectives"}}}},
};
