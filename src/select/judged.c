/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicted classes beside the truth, for kfe_evaluate and for figures. Classes are matched by name, numbers by value. A label
 * that the model was not fitted on has the probability zero, and the same score in every row.
 */
#include "select/judged.h"

#include <string.h>

#include "core/memory.h"
#include "data/target/classes.h"
#include "model/calibrate.h"
#include "select/assess.h"

kfe_status kfe_i_class_list_begin(kfe_context *ctx, const kfe_model *model, int64_t more,
                                  kfe_i_class_list *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_class_list){0, NULL};
    KFE_ALLOC(ctx, out->names, model->target.class_count + more);
    for (int64_t g = 0; g < model->target.class_count; g++)
        out->names[out->count++] = model->target.class_names[g];
cleanup:
    return status;
}

/* The number of a class in the list; a new name is appended. Both lists are sorted alike, so the search begins where the last one
 * ended. */
static int32_t class_number(kfe_i_class_list *list, const char *name, int64_t *hint)
{
    for (int64_t k = 0; k < list->count; k++) {
        int64_t g = (*hint + k) % list->count;
        if (kfe_i_same_class(list->names[g], name)) {
            *hint = g + 1;
            return (int32_t)g;
        }
    }
    list->names[list->count] = name;
    return (int32_t)list->count++;
}

kfe_status kfe_i_class_list_match(kfe_context *ctx, kfe_i_class_list *list, const kfe_i_target *target,
                                  int32_t **truth)
{
    kfe_status status = KFE_OK;
    int32_t *number_of = NULL;
    int64_t hint = 0;

    KFE_ALLOC(ctx, number_of, target->class_count);
    KFE_ALLOC(ctx, *truth, target->rows);
    for (int64_t g = 0; g < target->class_count; g++)
        number_of[g] = class_number(list, target->names[g], &hint);
    for (int64_t i = 0; i < target->rows; i++)
        (*truth)[i] = number_of[target->codes[i]];
cleanup:
    kfe_i_free(ctx, number_of);
    return status;
}

static kfe_status take_probabilities(kfe_context *ctx, const kfe_model *model, const kfe_matrix *outputs,
                                     int64_t classes, kfe_i_judged *out)
{
    kfe_status status = KFE_OK;
    int64_t known = model->predictor.classes;
    double *some = NULL;

    if (model->calibration.kind == KFE_CALIBRATION_NONE)
        return KFE_OK;
    KFE_ALLOC(ctx, some, outputs->rows * known);
    KFE_ALLOC_ZERO(ctx, out->probabilities, outputs->rows * classes);
    KFE_TRY(kfe_i_model_probabilities(ctx, model, outputs->rows, outputs->values, some));
    for (int64_t i = 0; i < outputs->rows; i++)
        memcpy(out->probabilities + i * classes, some + i * known, (size_t)known * sizeof *some);
    out->outcome.probabilities = out->probabilities;
cleanup:
    kfe_i_free(ctx, some);
    return status;
}

kfe_status kfe_i_judge_classes(kfe_context *ctx, const kfe_model *model, const kfe_matrix *outputs,
                               int64_t classes, const int32_t *truth, const char *positive, kfe_i_judged *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &model->predictor;

    *out = (kfe_i_judged){0};
    KFE_ALLOC(ctx, out->predicted, outputs->rows);
    for (int64_t i = 0; i < outputs->rows; i++)
        out->predicted[i] = kfe_i_predictor_decide(predictor, outputs->values + i * outputs->stride);
    if (!truth)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, out->scores, outputs->rows * classes);
    for (int64_t i = 0; i < outputs->rows; i++)
        kfe_i_predictor_class_scores(predictor, outputs->values + i * outputs->stride,
                                     out->scores + i * classes);
    out->outcome = (kfe_i_outcome){.task = KFE_TASK_CLASSES,
                                   .rows = outputs->rows,
                                   .classes = classes,
                                   .truth = truth,
                                   .predicted = out->predicted,
                                   .scores = out->scores,
                                   .one_vs_rest = kfe_i_predictor_is_one_vs_rest(predictor)};
    KFE_TRY(kfe_i_find_positive(ctx, model->target.class_count, model->target.class_names, positive,
                                &out->outcome.positive));
    if (classes != 2 && !positive[0])
        out->outcome.positive = -1;
    KFE_TRY(take_probabilities(ctx, model, outputs, classes, out));
cleanup:
    return status;
}

void kfe_i_judged_free(kfe_context *ctx, kfe_i_judged *judged)
{
    kfe_i_free(ctx, judged->predicted);
    kfe_i_free(ctx, judged->scores);
    kfe_i_free(ctx, judged->probabilities);
}
