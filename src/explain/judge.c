/* SPDX-License-Identifier: Apache-2.0 */
/* A metric of a model's predictions, which permutation.c and views.c measure before and after something is taken away. */
#include "explain/judge.h"

#include <math.h>

#include "core/memory.h"

kfe_status kfe_i_judge_check(const kfe_i_explaining *job, const char *what)
{
    const kfe_i_target *target = job->data ? &job->data->target : NULL;

    if (!target || target->task == KFE_TASK_NONE)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "%s needs data with labels", what);
    if (!job->model->learner)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED,
                          "%s needs predictions, but the model gives features only", what);
    if (target->task != job->model->target.task ||
        (target->task == KFE_TASK_REAL && target->cols != job->model->predictor.outputs))
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED,
                          "%s needs the kind of labels that the model predicts; see {task}", what);
    return KFE_OK;
}

kfe_status kfe_i_judge_metric(const kfe_i_explaining *job, const kfe_i_metric **out)
{
    kfe_task task = job->data->target.task;

    if (job->settings.metric[0])
        return kfe_i_metric_find(job->ctx, job->settings.metric, task, out);
    *out = kfe_i_metric_default(task);
    return KFE_OK;
}

void kfe_i_judging_free(kfe_i_judging *j)
{
    kfe_i_free(j->ctx, j->truth);
    kfe_i_free(j->ctx, j->outputs);
}

/* Classes of the data by their numbers in the model. */
static kfe_status match_classes(kfe_i_judging *j)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &j->data->target;
    int64_t known = j->model->target.class_count;
    kfe_i_class_list classes = {0, NULL};

    KFE_TRY(kfe_i_class_list_begin(j->ctx, j->model, target->class_count, &classes));
    KFE_TRY(kfe_i_class_list_match(j->ctx, &classes, target, &j->truth));
    for (int64_t i = 0; i < target->rows; i++)
        if (j->truth[i] >= known)
            KFE_FAIL(j->ctx, KFE_EINPUT,
                     "importance compares predictions with labels, but the model was not "
                     "fitted on the label '%s'; leave out its rows",
                     classes.names[j->truth[i]]);
cleanup:
    kfe_i_free(j->ctx, classes.names);
    return status;
}

kfe_status kfe_i_judging_begin(kfe_i_judging *j)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(j->ctx, j->outputs, kfe_data_rows(j->data) * j->model->predictor.outputs);
    if (j->data->target.task == KFE_TASK_CLASSES)
        KFE_TRY(match_classes(j));
cleanup:
    return status;
}

/* Predicts without showing progress: whoever judges again and again shows how many times are left. */
static kfe_status predict_quietly(const kfe_i_judging *j)
{
    kfe_progress_fn shown = j->ctx->progress;

    j->ctx->progress = NULL;
    kfe_status status = kfe_i_model_outputs(j->ctx, j->model, j->data, j->outputs);
    j->ctx->progress = shown;
    return status;
}

kfe_status kfe_i_judge(kfe_i_judging *j, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &j->data->target;
    const kfe_i_predictor *predictor = &j->model->predictor;
    kfe_matrix outputs = {
        .rows = target->rows, .cols = predictor->outputs, .stride = predictor->outputs, .values = j->outputs};
    kfe_i_judged judged = {.outcome = {.task = KFE_TASK_REAL,
                                       .rows = target->rows,
                                       .positive = -1,
                                       .cols = target->cols,
                                       .truth_values = target->values,
                                       .predicted_values = j->outputs}};

    KFE_TRY(predict_quietly(j));
    if (target->task == KFE_TASK_CLASSES)
        KFE_TRY(kfe_i_judge_classes(j->ctx, j->model, &outputs, predictor->classes, j->truth, "", &judged));
    judged.outcome.weights = target->weights;
    KFE_TRY(kfe_i_metric_measure(j->ctx, j->metric, &judged.outcome, out, NULL));
cleanup:
    kfe_i_judged_free(j->ctx, &judged);
    return status;
}

double kfe_i_judge_loss(const kfe_i_metric *metric, double baseline, double value)
{
    return metric->larger_is_better ? baseline - value : value - baseline;
}
