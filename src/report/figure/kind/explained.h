/* SPDX-License-Identifier: Apache-2.0 */
/* Explain a linear model for a figure. */
#ifndef KFE_REPORT_FIGURE_KIND_EXPLAINED_H
#define KFE_REPORT_FIGURE_KIND_EXPLAINED_H

#include "report/figure/figure.h"

/* The tables of the part linear, and of the jack-knife by fits to the training data. NULL: the model is not linear. */
kfe_status kfe_i_explained_linear(kfe_context *ctx, const kfe_i_source *source, int has_intervals,
                                  kfe_result **out);

#endif
