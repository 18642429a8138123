/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `cv-surface`: the metric of a search over two parameters, as a heat map. */
#include "core/memory.h"
#include "report/figure/kind/choice.h"

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_choice choice = {0};
    kfe_i_choice_place *places = NULL;

    KFE_TRY(kfe_i_choice_read(ctx, source, &choice));
    if (choice.count == 0 || choice.axis_count != 2)
        goto cleanup;
    KFE_ALLOC(ctx, places, choice.count);
    for (int64_t i = 0; i < choice.count; i++)
        places[i] = (kfe_i_choice_place){.setting = i};
    KFE_TRY(kfe_i_choice_columns(&choice, places, -1, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, choice.axes[0].name, choice.axes[1].name));
    KFE_TRY(kfe_i_figure_series(
        out, NULL, (kfe_i_series){.mark = KFE_MARK_HEAT, .count = choice.count, .x = 1, .y = 2, .z = 3}));
    kfe_i_text_printf(&out->caption, "Mean %s of every setting of two parameters; darker is larger.",
                      choice.metric);
cleanup:
    kfe_i_free(ctx, places);
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
