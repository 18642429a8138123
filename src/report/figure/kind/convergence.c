/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `convergence`: objective and bounds by iteration. */
#include "report/figure/kind/records.h"

static const kfe_i_record_panel panels[] = {{"objective", {"objective", NULL}},
                                            {"upper and lower bound", {"upper-bound", "lower-bound"}},
                                            {"alignment", {"alignment", NULL}},
                                            {"radius-margin bound", {"radius-margin", NULL}},
                                            {"held-out error", {"held-out-error", NULL}},
                                            {"held-out margin", {"held-out-margin", NULL}},
                                            {"objective of each restart", {"restart-objectives", NULL}},
                                            {NULL, {NULL, NULL}}};

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_i_text_puts(&out->caption, "How the fit converged.");
    return kfe_i_draw_records(ctx, source, KFE_RECORD_ITERATIONS, panels, out);
}

const kfe_i_figure_kind kfe_i_figure_convergence = {
    .name = "convergence",
    .title = "Convergence",
    .section = "How it was learned",
    .summary = "objective and bounds by iteration",
    .needs = "a model of an iterative method, such as slmc, svm-joint, lmkl or skfe",
    .draw = draw,
};
