/* SPDX-License-Identifier: Apache-2.0 */
/* Measure predictions against the truth: a table of metrics, and the curves behind some of them. */
#ifndef KFE_SELECT_METRIC_H
#define KFE_SELECT_METRIC_H

#include "core/entry.h"

/* The help on the option `positive`, which several calls have. */
#define KFE_POSITIVE_HELP                                                                                    \
    "the class that auc and average-precision look for; with two classes, the larger number or later name by default"

/* Predictions beside the truth. */
typedef struct kfe_i_outcome {
    kfe_task task;
    int64_t rows;
    /* classes: numbers in one common list of `classes` names */
    int64_t classes;
    int64_t positive; /* the positive class of two; -1: each class in turn, if there are more than two */
    const int32_t *truth, *predicted;
    const double *scores;        /* rows × classes, higher scores mean more likely; NULL: none */
    const double *probabilities; /* rows × classes, of a calibrated model; NULL: made from the scores */
    int one_vs_rest; /* scores are decision values: a class accepts a row where its score is above zero */
    /* real: rows × cols */
    int64_t cols;
    const double *truth_values, *predicted_values;
    const double *weights; /* how many rows each counts for; NULL: one */
} kfe_i_outcome;

/* The weight of a row, and of all rows. */
double kfe_i_outcome_weight(const kfe_i_outcome *outcome, int64_t row);
double kfe_i_outcome_mass(const kfe_i_outcome *outcome);

/* Metrics that are pooled over splits (pool.h) instead of averaged. */
typedef enum kfe_i_pooled_metric { KFE_POOLED_NOT, KFE_POOLED_RMSE, KFE_POOLED_R2 } kfe_i_pooled_metric;

typedef struct kfe_i_metric {
    KFE_I_ENTRY(better); /* "larger is better" or "smaller is better" */
    kfe_task task;       /* which targets it is for */
    int larger_is_better;
    /* Either the metric is the mean over rows of this number, or (is_root) the root of the mean, */
    double (*loss)(const kfe_i_outcome *outcome, int64_t row);
    int is_root;
    /* or this computes it. NaN: not defined (one class in the truth, no variation). */
    kfe_status (*value)(kfe_context *ctx, const kfe_i_outcome *outcome, double *out);
    /* With `value`: psi[i] = derivative of the value by the share of row i (metric_variance.c); NULL: not known. */
    kfe_status (*influence)(kfe_context *ctx, const kfe_i_outcome *outcome, double *psi);
    int needs_scores;
    int on_request; /* kfe_evaluate measures it only if asked, or if probabilities are what the model gives */
    int needs_probabilities; /* uses the probabilities of a calibrated model */
    kfe_i_pooled_metric pooled;
} kfe_i_metric;

/* The value of a metric, NaN: not defined, and, unless `variance` is NULL, the variance of what one row contributes to the value:
 * sqrt(variance/rows) is the standard error of the value on a sample of rows. NaN: not known. */
kfe_status kfe_i_metric_measure(kfe_context *ctx, const kfe_i_metric *metric, const kfe_i_outcome *outcome,
                                double *value, double *variance);

/* metric_variance.c */
kfe_status kfe_i_balanced_influence(kfe_context *ctx, const kfe_i_outcome *outcome, double *psi);
kfe_status kfe_i_r2_influence(kfe_context *ctx, const kfe_i_outcome *outcome, double *psi);

/* metric_probability.c */
/* out (rows × classes) = the probabilities that log-loss and brier judge. */
kfe_status kfe_i_outcome_probabilities(kfe_context *ctx, const kfe_i_outcome *outcome, double *out);
/* With the probabilities of the outcome. */
double kfe_i_log_loss(const kfe_i_outcome *outcome, int64_t row);
double kfe_i_brier_loss(const kfe_i_outcome *outcome, int64_t row);

/* NULL past the end. */
const kfe_i_metric *kfe_i_metric_at(int index);
/* The metric by that name, which must be for this task; the message suggests the nearest. */
kfe_status kfe_i_metric_find(kfe_context *ctx, const char *name, kfe_task task, const kfe_i_metric **out);
/* The metrics of "NAME;NAME;…"; an empty string names none. KFE_EINVAL if there are more than `most`. */
kfe_status kfe_i_metric_list(kfe_context *ctx, const char *names, kfe_task task, int64_t most,
                             const kfe_i_metric **out, int64_t *count);
/* Fails unless every name is that of a metric, for any task: a check before data is read. */
kfe_status kfe_i_metric_names_check(kfe_context *ctx, const char *names);
/* The metric that is optimised unless given: accuracy, or rmse. */
const kfe_i_metric *kfe_i_metric_default(kfe_task task);

/* How many rows of one class were predicted as another. */
typedef struct kfe_i_confused {
    int32_t truth, predicted;
    int64_t count;
} kfe_i_confused;
/* The pairs of classes that occur in rows of a weight above zero, sorted by truth and prediction: at most one per row, however many
 * classes there are. The caller frees them. */
kfe_status kfe_i_confusion(kfe_context *ctx, const kfe_i_outcome *outcome, kfe_i_confused **out,
                           int64_t *count);

/* One point for each distinct score, thresholds falling: the counts when every row with a score of at least
 * `threshold` is predicted as positive. */
typedef struct kfe_i_curve_point {
    double threshold;
    double true_positives, false_positives; /* by weight */
} kfe_i_curve_point;

/* The points for one class against the rest, and the rows of the class, by weight. The caller frees the points. */
kfe_status kfe_i_curve(kfe_context *ctx, const kfe_i_outcome *outcome, int64_t class_index,
                       kfe_i_curve_point **out, int64_t *count, double *positives);

#endif
