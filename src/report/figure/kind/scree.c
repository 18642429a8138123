/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `scree`: eigenvalues, and their cumulative share. */
#include "report/figure/figure.h"

static kfe_status add_panels(kfe_i_figure *out, int has_total)
{
    kfe_status status = KFE_OK;
    int64_t rows = out->rows;

    out->across = 2;
    KFE_TRY(kfe_i_figure_panel(out, "eigenvalues", "feature", ""));
    KFE_TRY(
        kfe_i_figure_series(out, NULL, (kfe_i_series){.mark = KFE_MARK_BARS, .count = rows, .x = 1, .y = 2}));
    KFE_TRY(kfe_i_figure_panel(
        out, has_total ? "cumulative share of the variance" : "cumulative share of the eigenvalues kept",
        "number of features", ""));
    kfe_i_axis_range(&out->panels[1].y, 0, 1.02);
    KFE_TRY(kfe_i_figure_series(out, NULL,
                                (kfe_i_series){.mark = KFE_MARK_LINE,
                                               .flags = rows <= 40 ? KFE_SERIES_DOTTED : 0,
                                               .panel = 1,
                                               .count = rows,
                                               .x = 1,
                                               .y = 3}));
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    int64_t one = 0;
    const double *eigenvalues = source->model ? kfe_model_record(source->model, "eigenvalues", &count) : NULL;
    double *columns[3];
    const double *total = source->model ? kfe_model_record(source->model, "eigenvalue-sum", &one) : NULL;
    double sum = 0;
    double part = 0;

    (void)ctx;
    if (!eigenvalues || count < 1)
        return KFE_OK;
    out->rows = count;
    KFE_TRY(kfe_i_figure_numbers(out, "feature", NULL, &columns[0]));
    KFE_TRY(kfe_i_figure_numbers(out, "eigenvalue", NULL, &columns[1]));
    KFE_TRY(kfe_i_figure_numbers(out, "cumulative share", NULL, &columns[2]));
    for (int64_t i = 0; i < count; i++)
        sum += eigenvalues[i] > 0 ? eigenvalues[i] : 0;
    sum = total && one == 1 ? *total : sum;
    for (int64_t i = 0; i < count; i++) {
        part += eigenvalues[i] > 0 ? eigenvalues[i] : 0;
        columns[0][i] = (double)i + 1;
        columns[1][i] = eigenvalues[i];
        columns[2][i] = sum > 0 ? part / sum : 0;
    }
    KFE_TRY(add_panels(out, total != NULL));
    kfe_i_text_printf(
        &out->caption,
        "The sum of squares of the training examples along each feature: their variance times their "
        "number. Shares are of %s.",
        total ? "the sum of all eigenvalues, kept or not" : "the eigenvalues kept");
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_scree = {
    .name = "scree",
    .title = "Eigenvalues",
    .section = "How it was learned",
    .summary = "eigenvalues and their cumulative share",
    .needs = "a model of pca or kpca",
    .draw = draw,
};
