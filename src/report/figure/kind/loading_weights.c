/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `loading-weights`: the weights W of a linear model, its rotations made orthonormal, by column. */
#include "report/figure/kind/explained.h"

static const kfe_i_explained_kind explained = {
    .tables = {"weights", NULL},
    .x = "column",
    .y = "weight W",
    .caption =
        "Weights W: the rotations made orthonormal, one feature after the other. In PLS they show which "
        "columns each feature takes from what the features before it left.",
    .most_series = 4,
    .is_by_column = 1,
};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    return kfe_i_draw_explained(ctx, source, &explained, out);
}

const kfe_i_figure_kind kfe_i_figure_loading_weights = {
    .name = "loading-weights",
    .title = "Loading weights",
    .section = "Why",
    .summary = "weights W of a linear model by column, as bars or as a spectrum",
    .needs = "a model of a linear method, such as pls, pca or oc",
    .is_on_request = 1,
    .draw = draw,
};
