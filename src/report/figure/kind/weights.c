/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `weights`: the weights of several kernels. */
#include "core/memory.h"
#include "report/figure/figure.h"

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t count = source->model ? source->model->kernels.count : 0;
    char **names = NULL;
    double *weights = NULL;

    if (count < 2 || source->model->local) /* the parts of a localized model are weighed by its gate */
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, names, count);
    KFE_TRY(kfe_i_name_kernels(ctx, source->model, names));
    out->rows = count;
    KFE_TRY(kfe_i_figure_labels(out, "kernel", (const char *const *)names));
    KFE_TRY(kfe_i_figure_numbers(out, "weight", NULL, &weights));
    for (int64_t m = 0; m < count; m++)
        weights[m] = source->model->kernels.items[m].common.weight;
    KFE_TRY(kfe_i_figure_panel(out, NULL, "", "weight"));
    KFE_TRY(kfe_i_figure_series(out, NULL,
                                (kfe_i_series){.mark = KFE_MARK_BARS, .count = count, .x = 1, .y = 2}));
    kfe_i_text_puts(&out->caption, "Kernels that got no weight are not part of the model.");
cleanup:
    for (int64_t m = 0; names && m < count; m++)
        kfe_i_free(ctx, names[m]);
    kfe_i_free(ctx, names);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_weights = {
    .name = "weights",
    .title = "Weights of kernels",
    .section = "How it was learned",
    .summary = "the weights of several kernels",
    .needs = "a model of at least two kernels",
    .draw = draw,
};
