/* SPDX-License-Identifier: Apache-2.0 */
/* Make results of assessments with these functions, and write pieces of their texts. */
#ifndef KFE_TEXT_SCORES_H
#define KFE_TEXT_SCORES_H

#include "result/result.h"
#include "select/assess.h"
#include "select/significance.h"

#define KFE_BOLD_WORDS "none|stars|ansi"

kfe_status kfe_i_assessment_result(kfe_context *ctx, const kfe_i_assessment *a, kfe_result **out);
/* Puts an assessment into the newest row of a table, and its splits and settings into tables that belong to it. */
kfe_status kfe_i_add_assessment(kfe_i_result_table *table, const kfe_i_assessment *a);

/* A spec that could not be fitted with any of its settings. */
typedef struct kfe_i_failed_spec {
    const kfe_spec *spec;
    kfe_status status;
    char *reason;
} kfe_i_failed_spec;

/* What was compared, on the same splits. */
typedef struct kfe_i_compared {
    int64_t count, failed_count;
    const kfe_i_assessment *assessments;
    const kfe_i_failed_spec *failed;
    kfe_i_bold bold; /* how the best of a column is marked */
} kfe_i_compared;

kfe_status kfe_i_comparison_result(kfe_context *ctx, const kfe_i_compared *compared, kfe_result **out);

/* ---- pieces ---- */

/* Put "metrics/NAME/mean" and so on into the newest row, the values of a setting, and a value at the edge of its grid
 * (side 0: none). */
void kfe_i_add_estimate(kfe_i_result_table *table, const char *group, const char *metric,
                        kfe_i_estimate estimate);
void kfe_i_add_setting(kfe_i_result_table *table, const char *group, const kfe_i_grid *grid, int64_t setting);
void kfe_i_add_edge(kfe_i_result_table *table, const kfe_i_grid *grid, int64_t setting, int64_t axis,
                    int side);
/* Append a line for each best value at the edge of its grid, and one for a permutation test, of row `row` of the
 * assessments; `label`, unless NULL, begins each. The last appends the best setting, if there was a choice. */
void kfe_i_put_edges(kfe_i_text *text, const char *label, const kfe_table *edges, int64_t row);
void kfe_i_put_permutations(kfe_i_text *text, const char *label, const kfe_result *result,
                            const kfe_table *table, int64_t row);
void kfe_i_put_chosen(kfe_i_text *text, const kfe_result *result, const kfe_table *table, int64_t row);
/* Adds the group "pooled": errors over all held-out predictions, and the table "targets" if there are several; nothing for classes. */
void kfe_i_add_pooled(kfe_i_result_table *table, const kfe_i_assessment *a);
/* Adds the table "held_out": every test row with its target and what was predicted for it; nothing if they were not kept. */
void kfe_i_add_held_out(kfe_i_result_table *table, const kfe_i_assessment *a);
/* Puts errors over held-out predictions into the newest row. */
void kfe_i_put_pooled_errors(kfe_i_result_table *table, const char *group, const kfe_i_pooled *pooled);
/* Appends the line of these errors, which stand in `group`; nothing for classes. */
void kfe_i_put_pooled(kfe_i_text *text, const char *group, const kfe_table *table, int64_t row);
/* Appends the method with the parameters that are not at their defaults, as "koc:clusters-per-class=2". */
void kfe_i_spec_label(const kfe_spec *spec, kfe_i_text *out);
/* The same with kernels, learner and options of the fit: "koc rbf:gamma=1 svm:C=10 scale=standard". */
void kfe_i_spec_long_label(const kfe_spec *spec, kfe_i_text *out);
/* Appends "0.912 ± 0.004", the mean and its standard error. */
void kfe_i_put_estimate(kfe_i_text *out, kfe_i_estimate estimate);
/* Appends " (standard error; standard deviation over 5 splits 0.009)", or less where there is less. */
void kfe_i_put_meaning(kfe_i_text *out, kfe_i_estimate estimate, int64_t splits);

#endif
