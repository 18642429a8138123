/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `path`: alignment, covariance, loss or bound by number of features. */
#include "report/figure/kind/records.h"

static const kfe_i_record_panel panels[] = {{"alignment with the target", {"alignment", NULL}},
                                            {"covariance with the target", {"covariance", NULL}},
                                            {"loss", {"loss", "losses"}},
                                            {"bound and empirical error", {"bound", "empirical"}},
                                            {"criterion", {"criterion", "scatter-ratios"}},
                                            {NULL, {NULL, NULL}}};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_i_text_puts(&out->caption, "What each further feature adds, as recorded by the fit.");
    return kfe_i_draw_records(ctx, source, KFE_RECORD_FEATURES, panels, out);
}

const kfe_i_figure_kind kfe_i_figure_path = {
    .name = "path",
    .title = "Path over features",
    .section = "How it was learned",
    .summary = "alignment, covariance, loss or bound by number of features",
    .needs = "a model whose method finds features one by one, such as pls, sma or kb",
    .draw = draw,
};
