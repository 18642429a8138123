/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `variance`: how much of the variance of columns and targets each feature explains. */
#include "report/figure/kind/explained.h"

static const kfe_i_explained_kind explained = {
    .tables = {"x-variance", "y-variance"},
    .x = "feature",
    .y = "share of the variance",
    .caption = "Shares of the variance of the training columns (x) and of the target (y) that each feature "
               "explains.",
};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    return kfe_i_draw_explained(ctx, source, &explained, out);
}

const kfe_i_figure_kind kfe_i_figure_variance = {
    .name = "variance",
    .title = "Explained variance",
    .section = "How it was learned",
    .summary = "shares of the variance of columns and targets that each feature explains",
    .needs = "a model of a linear method, such as pls",
    .draw = draw,
};
