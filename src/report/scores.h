/* SPDX-License-Identifier: Apache-2.0 */
/* Write the result of cross-validation or of a comparison as text or JSON with these functions. */
#ifndef KFE_REPORT_SCORES_H
#define KFE_REPORT_SCORES_H

#include "core/json/json.h"
#include "select/assess.h"
#include "select/significance.h"

typedef enum kfe_i_bold { KFE_BOLD_NONE, KFE_BOLD_STARS, KFE_BOLD_ANSI } kfe_i_bold;
#define KFE_BOLD_WORDS "none|stars|ansi"

kfe_status kfe_i_report_assessment(kfe_context *ctx, const kfe_i_assessment *a, kfe_style style, char **out);
/* Adds an assessment as an object to an open array or at the top; label, unless NULL, is its first member. */
kfe_status kfe_i_assessment_json(kfe_context *ctx, const kfe_i_assessment *a, const char *label,
                                 kfe_i_json *json);

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

kfe_status kfe_i_report_comparison(kfe_context *ctx, const kfe_i_compared *compared, kfe_style style,
                                   char **out);

/* Joins a text and JSON for KFE_STYLE_BOTH, with a form feed between them. Frees both. */
kfe_status kfe_i_join_styles(kfe_context *ctx, char *text, char *json, char **out);

/* Appends a line for each axis whose best value is at the edge of the grid, and one for a permutation test; `label`, unless NULL,
 * begins each. */
void kfe_i_put_edges(kfe_i_text *text, const char *label, const kfe_i_assessment *a);
void kfe_i_put_permutations(kfe_i_text *text, const char *label, const kfe_i_assessment *a);
/* Appends the method with the parameters that are not at their defaults, as "koc:clusters-per-class=2". */
void kfe_i_spec_label(const kfe_spec *spec, kfe_i_text *out);
/* The same with kernels, learner and options of the fit: "koc rbf:gamma=1 svm:C=10 scale=standard". */
void kfe_i_spec_long_label(const kfe_spec *spec, kfe_i_text *out);
/* Appends "0.912 ± 0.004", the mean and its standard error. */
void kfe_i_put_estimate(kfe_i_text *out, kfe_i_estimate estimate);
/* Appends " (standard error; standard deviation over 5 splits 0.009)", or less where there is less. */
void kfe_i_put_meaning(kfe_i_text *out, kfe_i_estimate estimate, int64_t splits);
/* Adds an object with mean, standard_error and sd. */
void kfe_i_estimate_json(kfe_i_json *json, const char *key, kfe_i_estimate estimate);

#endif
