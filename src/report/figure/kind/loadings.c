/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `loadings`: the loadings P of a linear model, with X ≈ TPᵀ, by column. */
#include "report/figure/kind/explained.h"

static const kfe_i_explained_kind explained = {
    .tables = {"x-loadings", NULL},
    .x = "column",
    .y = "loading P",
    .caption =
        "Loadings P: how each column, scaled as the model scales it, rises with a feature, so that X ≈ TPᵀ.",
    .most_series = 4,
    .is_by_column = 1,
};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    return kfe_i_draw_explained(ctx, source, &explained, out);
}

const kfe_i_figure_kind kfe_i_figure_loadings = {
    .name = "loadings",
    .title = "Loadings",
    .section = "Why",
    .summary = "loadings P of a linear model by column, as bars or as a spectrum",
    .needs = "a model of a linear method that keeps its loadings, such as pls or pca",
    .draw = draw,
};
