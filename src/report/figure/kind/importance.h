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

/* Explains the examples that judge by one part, "gradient", "permutation" or "views", with as much effort as a report affords. *out is NULL
 * if the part does not apply or nothing is affordable. The caller frees the explanation, which owns the table. */
kfe_status kfe_i_importance(kfe_context *ctx, const kfe_i_source *source, const char *part,
                            kfe_i_effort *effort, kfe_result **out, const kfe_table **table);

#endif
