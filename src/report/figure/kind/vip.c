/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `vip`: variable importance in projection, largest first. */
#include "report/figure/kind/explained.h"

static const kfe_i_explained_kind explained = {
    .tables = {"vip", NULL},
    .x = "column",
    .y = "VIP",
    .caption = "Variable importance in projection: columns above 1 matter more than the average column.",
    .is_sorted = 1,
};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    return kfe_i_draw_explained(ctx, source, &explained, out);
}

const kfe_i_figure_kind kfe_i_figure_vip = {
    .name = "vip",
    .title = "Variable importance in projection",
    .section = "Why",
    .summary = "variable importance in projection (VIP) by column, largest first",
    .needs = "a model of a linear method that knows its target, such as pls",
    .draw = draw,
};
