/* SPDX-License-Identifier: Apache-2.0 */
/* Measure how well a model predicts data, again and again while the values change. */
#ifndef KFE_EXPLAIN_JUDGE_H
#define KFE_EXPLAIN_JUDGE_H

#include "explain/explain.h"
#include "select/judged.h"

/* The first four are set by the caller and borrowed. */
typedef struct kfe_i_judging {
    kfe_context *ctx;
    const kfe_model *model; /* which predicts */
    const kfe_data *data;   /* with labels of the model's task; only its values may change later */
    const kfe_i_metric *metric;
    int32_t *truth;
    double *outputs;
} kfe_i_judging;

/* Fails with KFE_EUNSUPPORTED and the reason if the model or the data of an explanation cannot be judged; `what` begins the
 * message. */
kfe_status kfe_i_judge_check(const kfe_i_explaining *job, const char *what);
/* The metric that the user chose. */
kfe_status kfe_i_judge_metric(const kfe_i_explaining *job, const kfe_i_metric **out);

/* Matches the labels with the classes of the model. Free it also after a failure. */
kfe_status kfe_i_judging_begin(kfe_i_judging *judging);
/* The metric of the predictions of the data as it is now. */
kfe_status kfe_i_judge(kfe_i_judging *judging, double *out);
void kfe_i_judging_free(kfe_i_judging *judging);

/* How much worse `value` is than `baseline`. */
double kfe_i_judge_loss(const kfe_i_metric *metric, double baseline, double value);

#endif
