/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `time`: the metric of each compared method against the time of its fits. */
#include "core/memory.h"
#include "report/figure/kind/methods.h"

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_methods methods = {0};
    double *seconds = NULL;

    KFE_TRY(kfe_i_methods_read(ctx, source, &methods));
    if (methods.count < 2)
        goto cleanup;
    out->rows = methods.count;
    KFE_TRY(kfe_i_methods_columns(&methods, out));
    KFE_TRY(kfe_i_figure_numbers(out, "seconds", NULL, &seconds));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "seconds of one fit", methods.metric));
    out->panels[0].x.log = 1;
    for (int64_t i = 0; i < methods.count; i++) {
        seconds[i] = methods.items[i].seconds;
        KFE_TRY(kfe_i_figure_series(out, methods.items[i].label,
                                    (kfe_i_series){.mark = KFE_MARK_POINTS,
                                                   .style = (int)i,
                                                   .first = i,
                                                   .count = 1,
                                                   .x = 4,
                                                   .y = 2,
                                                   .spread = 3,
                                                   .label = 1}));
    }
    kfe_i_text_printf(
        &out->caption,
        "Mean %s against the mean time of fitting and measuring one split; bars are one standard "
        "error.",
        methods.metric);
cleanup:
    kfe_i_methods_free(&methods);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_time = {
    .name = "time",
    .title = "Time and quality",
    .section = "Choice",
    .summary = "the metric of each compared method against the time of its fits",
    .needs = "the JSON of compare with at least two methods",
    .draw = draw,
};
