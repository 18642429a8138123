/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `weights`: the weights of several kernels. */
#include "core/memory.h"
#include "report/figure/figure.h"

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t count = source->model ? source->model->kernels.count : 0;
    char **names = NULL;
    int32_t *codes = NULL;
    double *weights = NULL;
    int x = 0;
    int y = 0;

    if (count < 2 || source->model->local) /* the parts of a localized model are weighed by its gate */
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, names, count);
    KFE_TRY(kfe_i_name_kernels(ctx, source->model, names));
    kfe_i_figure_rows(out, count);
    KFE_TRY(kfe_i_figure_words(out, "kernel", count, (const char *const *)names, &x, &codes));
    KFE_TRY(kfe_i_figure_numbers(out, "weight", &y, &weights));
    for (int64_t m = 0; m < count; m++) {
        codes[m] = (int32_t)m;
        weights[m] = source->model->kernels.items[m].common.weight;
    }
    KFE_TRY(kfe_i_figure_panel(out, NULL, "", "weight"));
    KFE_TRY(kfe_i_figure_series(out, NULL,
                                (kfe_i_series){.mark = KFE_MARK_BARS, .count = count, .x = x, .y = y}));
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
