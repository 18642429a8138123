/* SPDX-License-Identifier: Apache-2.0 */
/* Put the classes that a model predicts beside the truth of a data set: what metrics and curves are computed from. */
#ifndef KFE_SELECT_JUDGED_H
#define KFE_SELECT_JUDGED_H

#include "model/model.h"
#include "select/metric.h"

/* The classes of a model, then those that only data has. The names themselves belong to model and data. */
typedef struct kfe_i_class_list {
    int64_t count;
    const char **names;
} kfe_i_class_list;

/* With room for this many classes that the model does not know; the caller frees `names`. */
kfe_status kfe_i_class_list_begin(kfe_context *ctx, const kfe_model *model, int64_t more,
                                  kfe_i_class_list *out);
/* The number of each row's class in the list, to which new classes are added; the caller frees them. */
kfe_status kfe_i_class_list_match(kfe_context *ctx, kfe_i_class_list *list, const kfe_i_target *target,
                                  int32_t **truth);

typedef struct kfe_i_judged {
    int32_t *predicted;
    double *scores, *probabilities; /* rows × classes; NULL: without truth, or without calibration */
    kfe_i_outcome outcome;          /* rows 0: without truth */
} kfe_i_judged;

/* `truth` may be NULL; `positive` is the name of the class looked for, or "". Free also after a failure. */
kfe_status kfe_i_judge_classes(kfe_context *ctx, const kfe_model *model, const kfe_matrix *outputs,
                               int64_t classes, const int32_t *truth, const char *positive,
                               kfe_i_judged *out);
void kfe_i_judged_free(kfe_context *ctx, kfe_i_judged *judged);

#endif
