/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `rotations`: the rotations R of a linear model, with T = XR, by column. */
#include "report/figure/kind/explained.h"

static const kfe_i_explained_kind explained = {
    .tables = {"rotations", NULL},
    .x = "column",
    .y = "rotation R",
    .caption =
        "Rotations R: how much each column, scaled as the model scales it, adds to a feature, so that T = XR.",
    .most_series = 4,
    .is_by_column = 1,
};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    return kfe_i_draw_explained(ctx, source, &explained, out);
}

const kfe_i_figure_kind kfe_i_figure_rotations = {
    .name = "rotations",
    .title = "Rotations",
    .section = "Why",
    .summary = "rotations R of a linear model by column, as bars or as a spectrum",
    .needs = "a model of a linear method, such as pls, pca or oc",
    .is_on_request = 1,
    .draw = draw,
};
