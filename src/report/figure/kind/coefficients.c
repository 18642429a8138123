/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `coefficients`: how predictions of a linear model change with each column, in the units of the data. */
#include "report/figure/kind/explained.h"

static const kfe_i_explained_kind explained = {
    .tables = {"coefficients", NULL},
    .x = "column",
    .y = "coefficient: output per unit of the column",
    .caption = "What one unit of a column, in the units of the data, adds to each output of the model.",
    .is_by_column = 1,
};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    return kfe_i_draw_explained(ctx, source, &explained, out);
}

const kfe_i_figure_kind kfe_i_figure_coefficients = {
    .name = "coefficients",
    .title = "Coefficients in the units of the data",
    .section = "Why",
    .summary = "how predictions of a linear model change with each column",
    .needs = "a model of a linear method with a linear classifier or regressor",
    .draw = draw,
};
