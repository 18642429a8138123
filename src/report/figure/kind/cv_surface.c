/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `cv-surface`: the metric of a search over two parameters, as a heat map. */
#include "core/memory.h"
#include "report/figure/kind/choice.h"

static kfe_status add_columns(const kfe_i_choice *choice, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *means = NULL;
    double *errors = NULL;
    int column = 0;

    out->rows = choice->count;
    for (int a = 0; a < choice->axis_count; a++) {
        KFE_TRY(kfe_i_choice_column(choice, a, 0, out, &column));
        for (int64_t i = 0; i < choice->count; i++)
            out->columns[column - 1].codes[i] = choice->codes[i * choice->axis_count + a];
    }
    KFE_TRY(kfe_i_figure_numbers(out, choice->metric, &column, &means));
    KFE_TRY(kfe_i_figure_numbers(out, "standard error", &column, &errors));
    for (int64_t i = 0; i < choice->count; i++) {
        means[i] = choice->means[i];
        errors[i] = choice->errors[i];
    }
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_choice choice = {0};

    KFE_TRY(kfe_i_choice_read(ctx, source, &choice));
    if (choice.count == 0 || choice.axis_count != 2)
        goto cleanup;
    KFE_TRY(add_columns(&choice, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, choice.axes[0].name, choice.axes[1].name));
    KFE_TRY(kfe_i_figure_series(
        out, NULL, (kfe_i_series){.mark = KFE_MARK_HEAT, .count = choice.count, .x = 1, .y = 2, .z = 3}));
    kfe_i_text_printf(&out->caption, "Mean %s of every setting of two parameters; darker is larger.",
                      choice.metric);
cleanup:
    kfe_i_choice_free(&choice);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_cv_surface = {
    .name = "cv-surface",
    .title = "Metric over two parameters",
    .section = "Choice",
    .summary = "the metric of a search over two parameters, as a heat map",
    .needs = "the JSON of cv with a grid of exactly two parameters",
    .draw = draw,
};
