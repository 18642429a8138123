/* SPDX-License-Identifier: Apache-2.0 */
/* Make a result that says how well a model predicted a data set. */
#ifndef KFE_REPORT_OUTCOME_H
#define KFE_REPORT_OUTCOME_H

#include "result/result.h"
#include "select/assess.h"

/* The ROC curve of one class against the rest. */
typedef struct kfe_i_class_curve {
    int64_t class_index, count;
    double positives; /* rows of the class, by weight */
    kfe_i_curve_point *points;
} kfe_i_class_curve;

typedef struct kfe_i_evaluation {
    kfe_context *ctx;
    int64_t rows;
    int64_t metric_count;
    const kfe_i_metric *metrics[KFE_MOST_METRICS];
    double values[KFE_MOST_METRICS];
    double errors[KFE_MOST_METRICS]; /* standard errors on a sample of rows; NaN: not known */
    /* classes: those of the model, then those that only the data has; 0 for real targets */
    int64_t class_count;
    const char **class_names;  /* the names themselves belong to model and data */
    kfe_i_confused *confusion; /* the pairs that occur */
    int64_t confused_count;
    int64_t curve_count;
    kfe_i_class_curve *curves; /* NULL: they were not asked for */
} kfe_i_evaluation;

void kfe_i_evaluation_free(kfe_i_evaluation *evaluation);

kfe_status kfe_i_outcome_result(kfe_context *ctx, const kfe_i_evaluation *evaluation, kfe_result **out);

#endif
