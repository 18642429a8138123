/* SPDX-License-Identifier: Apache-2.0 */
/* Draw a table of an explanation (kfe_explain), whose rows are columns of the data or features. */
#ifndef KFE_REPORT_FIGURE_KIND_EXPLAINED_H
#define KFE_REPORT_FIGURE_KIND_EXPLAINED_H

#include "report/figure/figure.h"

typedef struct kfe_i_explained_kind {
    const char *tables[2]; /* drawn beside each other, with the same rows; the second may be NULL */
    const char *x, *y;     /* titles of the axes */
    const char *caption;
    int is_sorted; /* bars of the largest values, largest first; else all rows in their order */
} kfe_i_explained_kind;

/* Leaves the figure empty if the model is not linear or has no such table. */
kfe_status kfe_i_draw_explained(kfe_context *ctx, const kfe_i_source *source,
                                const kfe_i_explained_kind *kind, kfe_i_figure *out);

#endif
