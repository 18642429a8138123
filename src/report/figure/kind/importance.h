/* SPDX-License-Identifier: Apache-2.0 */
/* Explain a model for a figure (kfe_explain) without spending more time than a report may. */
#ifndef KFE_REPORT_FIGURE_KIND_IMPORTANCE_H
#define KFE_REPORT_FIGURE_KIND_IMPORTANCE_H

#include "report/figure/figure.h"

/* How much work an importance may be: settings of kfe_explain. */
typedef struct kfe_i_effort {
    int64_t rows, repeats, top; /* top 0: every column */
    int refits;                 /* views are also dropped, by fits on the training examples */
} kfe_i_effort;

/* What the derivatives, and the permutations of columns or views, may cost. rows 0: nothing is affordable. */
kfe_i_effort kfe_i_effort_gradient(const kfe_i_source *source);
kfe_i_effort kfe_i_effort_permutation(const kfe_i_source *source);
kfe_i_effort kfe_i_effort_views(const kfe_i_source *source);

/* The table of one part of an explanation of the examples that judge; *out is NULL if it does not apply. The caller frees
 * the explanation, which owns the table. */
kfe_status kfe_i_importance(kfe_context *ctx, const kfe_i_source *source, const char *part,
                            const kfe_i_effort *effort, kfe_result **out, const kfe_table **table);

#endif
