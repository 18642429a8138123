/* SPDX-License-Identifier: Apache-2.0 */
/* Read the results of evaluations and searches with these functions. */
#ifndef KFE_TEXT_READ_H
#define KFE_TEXT_READ_H

#include "result/result.h"
#include "select/estimate.h"

/* A text of a row; "" if there is none. */
const char *kfe_i_result_shown(const kfe_table *table, const char *column, int64_t row);
/* The columns "PATH/mean", "PATH/standard_error" and "PATH/sd" of a row; `path` is "metrics/NAME". */
kfe_i_estimate kfe_i_read_estimate(const kfe_table *table, int64_t row, const char *path);
/* Number `index` of the columns called "metrics/NAME"; NULL past the end. */
const kfe_column *kfe_i_metric_column(const kfe_table *splits, int64_t index);
/* The row of the assessment that is shown where there is room for one: of a comparison, its best method. -1: there is none. */
int64_t kfe_i_best_assessment(const kfe_result *results);
/* Whether settings were chosen on inner folds: of a comparison, those of any method. */
int kfe_i_results_are_nested(const kfe_result *results);
int kfe_i_larger_is_better(const char *metric);
/* The row of the difference of two methods; *sign is -1 if they stand there in the other order. -1: there is none. */
int64_t kfe_i_difference_row(const kfe_table *differences, const char *a, const char *b, double *sign);
/* Its corrected p-value; NaN: not available. */
double kfe_i_difference_p(const kfe_result *result, const char *a, const char *b);

#endif
