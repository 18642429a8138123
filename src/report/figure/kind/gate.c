/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `gate`: how much the gate of a localized model uses each part. Gönen & Alpaydın (2010), figures 1 and 3. */
#include "core/memory.h"
#include "report/figure/figure.h"

static kfe_status add_columns(kfe_context *ctx, const kfe_model *model, const double *mean,
                              const double *share, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t count = model->local->part_count;
    char **names = NULL;

    KFE_ALLOC_ZERO(ctx, names, count);
    KFE_TRY(kfe_i_name_kernels(ctx, model, names));
    KFE_TRY(kfe_i_figure_labels(out, "part", (const char *const *)names));
    KFE_TRY(kfe_i_figure_copy(out, "mean share", mean));
    KFE_TRY(kfe_i_figure_copy(out, "share of examples where it is largest", share));
cleanup:
    for (int64_t m = 0; names && m < count; m++)
        kfe_i_free(ctx, names[m]);
    kfe_i_free(ctx, names);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = source->model;
    int64_t count = 0;
    int64_t share_count = 0;
    const double *mean = model && model->local ? kfe_model_record(model, "gate-mean", &count) : NULL;
    const double *share = mean ? kfe_model_record(model, "gate-share", &share_count) : NULL;

    if (!share || count != model->local->part_count || share_count != count)
        return KFE_OK;
    out->rows = count;
    KFE_TRY(add_columns(ctx, model, mean, share, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "part (one per kernel and view)", "share"));
    kfe_i_axis_range(&out->panels[0].y, 0, 1.02);
    for (int k = 0; k < 2; k++)
        KFE_TRY(kfe_i_figure_series(
            out, k == 0 ? "mean share" : "largest share",
            (kfe_i_series){.mark = KFE_MARK_BARS, .style = k, .count = count, .x = 1, .y = 2 + k}));
    kfe_i_text_puts(&out->caption,
                    "The gate's shares: their mean over the training examples, and the fraction of "
                    "examples at which each part has the largest share.");
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_gate = {
    .name = "gate",
    .title = "Shares of the gate",
    .section = "How it was learned",
    .summary = "how much the gate of a localized model uses each part",
    .needs = "a model of lmkl or sldr",
    .draw = draw,
};
