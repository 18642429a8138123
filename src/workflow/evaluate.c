/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe_evaluate: metrics of a model's predictions on data with labels. Classes are matched to the model's by name, numbers
 * by value.
 * A label that the model was not fitted on becomes a further class that is never predicted. It has the same score
 * in every row, so its auc is one half.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/param.h"
#include "data/rows/fingerprint.h"
#include "data/target/classes.h"
#include "model/calibrate.h"
#include "report/outcome.h"

enum { MOST_CURVES = 200 };

typedef struct evaluate_settings {
    char metrics[KFE_PARAM_TEXT_SIZE], positive[KFE_PARAM_TEXT_SIZE];
    int curves;
} evaluate_settings;

static const kfe_i_param rows[] = {
    KFE_TEXT(evaluate_settings, metrics, "metrics", "",
             "what to measure, as NAME;NAME;…; by default every metric for classes or for numbers except mcc "
             "and kappa; log-loss and brier only for a model with calibration"),
    KFE_TEXT(evaluate_settings, positive, "positive", "", KFE_POSITIVE_HELP),
    KFE_FLAG(
        evaluate_settings, curves, "curves", "no",
        "also the points of the ROC and precision-recall curves, of at most 200 classes unless {positive} names one"),
};
static const kfe_i_param_table params = KFE_PARAM_TABLE(rows, evaluate_settings);

const kfe_param_info *kfe_evaluate_option(int index)
{
    return kfe_i_param_info(&params, index);
}

typedef struct evaluating {
    kfe_context *ctx;
    const kfe_model *model;
    const kfe_i_target *target;
    evaluate_settings settings;
    kfe_matrix predictions, outputs;
    int32_t *truth, *predicted;
    double *scores, *probabilities;
    kfe_i_outcome outcome;
    kfe_i_evaluation result;
} evaluating;

static void evaluating_free(evaluating *job)
{
    kfe_matrix_free(&job->predictions);
    kfe_matrix_free(&job->outputs);
    kfe_i_free(job->ctx, job->truth);
    kfe_i_free(job->ctx, job->predicted);
    kfe_i_free(job->ctx, job->scores);
    kfe_i_free(job->ctx, job->probabilities);
    kfe_i_evaluation_free(&job->result);
}

/* ---- target and metrics ---- */

static const char *kind_of(kfe_task task)
{
    return task == KFE_TASK_REAL ? "numbers" : "classes";
}

/* Numbers on training data say how well the model remembers, not how well it predicts. */
static void warn_of_training_data(const evaluating *job, const kfe_data *data)
{
    if (job->model->origin.fingerprint &&
        job->model->origin.fingerprint == kfe_i_data_fingerprint(job->ctx, data))
        kfe_i_log(
            job->ctx, KFE_LOG_WARNING,
            "this is the data that the model was fitted on, so the numbers are better than on new data; use "
            "other data, or cross-validate");
}

static kfe_status check_target(const evaluating *job)
{
    const kfe_model *model = job->model;
    const kfe_i_target *target = job->target;

    if (!model->learner)
        return KFE_OK; /* kfe_predict reports it */
    if (target->task == KFE_TASK_NONE)
        return kfe_i_fail(
            job->ctx, KFE_EINPUT,
            "predictions can only be measured on data with labels; give {labels}, or only predict");
    if (target->task != model->target.task)
        return kfe_i_fail(job->ctx, KFE_EINPUT,
                          "the model predicts %s, but the labels of the data are %s; see {task} and {label}",
                          kind_of(model->target.task), kind_of(target->task));
    if (target->task == KFE_TASK_REAL && target->cols != model->predictor.outputs)
        return kfe_i_fail(job->ctx, KFE_EINPUT, "the model predicts %lld numbers, but the data has %lld",
                          (long long)model->predictor.outputs, (long long)target->cols);
    return KFE_OK;
}

static kfe_status choose_metrics(evaluating *job)
{
    kfe_i_evaluation *result = &job->result;
    kfe_task task = job->model->target.task; /* that of the data, by check_target */
    int calibrated = job->model->calibration.kind != KFE_CALIBRATION_NONE;
    const kfe_i_metric *metric;
    kfe_status status = kfe_i_metric_list(job->ctx, job->settings.metrics, task, KFE_MOST_METRICS,
                                          result->metrics, &result->metric_count);

    if (status != KFE_OK || result->metric_count > 0)
        return status;
    for (int i = 0; (metric = kfe_i_metric_at(i)) && result->metric_count < KFE_MOST_METRICS; i++)
        if (metric->task == task && (!metric->on_request || (metric->needs_probabilities && calibrated)))
            result->metrics[result->metric_count++] = metric;
    return KFE_OK;
}

/* ---- classes ---- */

/* The number of a class in the common list; a new name is appended. Both lists are sorted alike, so the search begins where
 * the last one ended. */
static int32_t class_number(kfe_i_evaluation *result, const char *name, int64_t *hint)
{
    for (int64_t k = 0; k < result->class_count; k++) {
        int64_t g = (*hint + k) % result->class_count;
        if (kfe_i_same_class(result->class_names[g], name)) {
            *hint = g + 1;
            return (int32_t)g;
        }
    }
    result->class_names[result->class_count] = name;
    return (int32_t)result->class_count++;
}

static kfe_status match_classes(evaluating *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = job->target;
    kfe_i_evaluation *result = &job->result;
    int32_t *number_of = NULL;
    int64_t hint = 0;

    KFE_ALLOC(job->ctx, number_of, target->class_count);
    KFE_ALLOC(job->ctx, job->truth, target->rows);
    KFE_ALLOC(job->ctx, result->class_names, job->model->target.class_count + target->class_count);
    for (int64_t g = 0; g < job->model->target.class_count; g++)
        result->class_names[result->class_count++] = job->model->target.class_names[g];
    for (int64_t g = 0; g < target->class_count; g++)
        number_of[g] = class_number(result, target->names[g], &hint);
    for (int64_t i = 0; i < target->rows; i++)
        job->truth[i] = number_of[target->codes[i]];
cleanup:
    kfe_i_free(job->ctx, number_of);
    return status;
}

static kfe_status warn_of_new_labels(const evaluating *job)
{
    enum { SHOWN = 8 };
    kfe_status status = KFE_OK;
    const kfe_i_evaluation *result = &job->result;
    int64_t known = job->model->target.class_count;
    kfe_i_text names;

    if (result->class_count == known)
        return KFE_OK;
    kfe_i_text_init(&names, job->ctx);
    for (int64_t g = known; g < result->class_count && g < known + SHOWN; g++)
        kfe_i_text_printf(&names, "%s%s", g > known ? ", " : "", result->class_names[g]);
    KFE_TRY(names.status);
    kfe_i_log(job->ctx, KFE_LOG_WARNING, "labels that the model was not fitted on count as wrong: %s%s",
              names.bytes, result->class_count > known + SHOWN ? ", ..." : "");
cleanup:
    kfe_i_text_free(&names);
    return status;
}

static kfe_status take_predictions(evaluating *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &job->model->predictor;
    int64_t classes = job->result.class_count;

    KFE_ALLOC(job->ctx, job->predicted, job->target->rows);
    KFE_ALLOC_ZERO(job->ctx, job->scores, job->target->rows * classes);
    for (int64_t i = 0; i < job->target->rows; i++) {
        job->predicted[i] = (int32_t)job->predictions.values[i];
        kfe_i_predictor_class_scores(predictor, job->outputs.values + i * job->outputs.stride,
                                     job->scores + i * classes);
    }
cleanup:
    return status;
}

/* Labels that the model was not fitted on have the probability zero. */
static kfe_status take_probabilities(evaluating *job)
{
    kfe_status status = KFE_OK;
    int64_t known = job->model->predictor.classes;
    int64_t classes = job->result.class_count;
    double *some = NULL;

    if (job->model->calibration.kind == KFE_CALIBRATION_NONE)
        return KFE_OK;
    KFE_ALLOC(job->ctx, some, job->target->rows * known);
    KFE_ALLOC_ZERO(job->ctx, job->probabilities, job->target->rows * classes);
    KFE_TRY(kfe_i_model_probabilities(job->ctx, job->model, job->target->rows, job->outputs.values, some));
    for (int64_t i = 0; i < job->target->rows; i++)
        memcpy(job->probabilities + i * classes, some + i * known, (size_t)known * sizeof *some);
    job->outcome.probabilities = job->probabilities;
cleanup:
    kfe_i_free(job->ctx, some);
    return status;
}

static kfe_status prepare_classes(evaluating *job)
{
    kfe_status status = KFE_OK;
    kfe_i_outcome *outcome = &job->outcome;

    KFE_TRY(match_classes(job));
    KFE_TRY(warn_of_new_labels(job));
    KFE_TRY(take_predictions(job));
    KFE_TRY(take_probabilities(job));
    outcome->classes = job->result.class_count;
    outcome->truth = job->truth;
    outcome->predicted = job->predicted;
    outcome->scores = job->scores;
    outcome->one_vs_rest = kfe_i_predictor_is_one_vs_rest(&job->model->predictor);
    KFE_TRY(kfe_i_find_positive(job->ctx, job->model->target.class_count, job->model->target.class_names,
                                job->settings.positive, &outcome->positive));
    if (outcome->classes != 2 && !job->settings.positive[0])
        outcome->positive = -1;
    KFE_TRY(kfe_i_confusion(job->ctx, outcome, &job->result.confusion, &job->result.confused_count));
cleanup:
    return status;
}

/* Makes the curves of the positive class, or of every class of the model if none is positive. Curves of thousands of classes
 * would be as large as the square of the data, so there are none for many classes unless one is positive. */
static kfe_status draw_curves(evaluating *job)
{
    kfe_status status = KFE_OK;
    kfe_i_evaluation *result = &job->result;
    int64_t known = job->model->target.class_count;

    if (job->outcome.positive < 0 && known > MOST_CURVES)
        return KFE_OK;
    KFE_ALLOC_ZERO(job->ctx, result->curves, known);
    for (int64_t g = 0; g < known; g++) {
        kfe_i_class_curve *curve = &result->curves[result->curve_count];
        if (job->outcome.positive >= 0 && g != job->outcome.positive)
            continue;
        curve->class_index = g;
        result->curve_count++;
        KFE_TRY(kfe_i_curve(job->ctx, &job->outcome, g, &curve->points, &curve->count, &curve->positives));
    }
cleanup:
    return status;
}

/* ---- all together ---- */

/* The value of a metric and its standard error. */
static kfe_status measure_one(evaluating *job, int64_t m)
{
    kfe_status status = KFE_OK;
    const kfe_i_outcome *outcome = &job->outcome;
    const kfe_i_metric *metric = job->result.metrics[m];
    double *value = &job->result.values[m];
    double variance = 0;

    KFE_TRY(metric->value(job->ctx, outcome, value));
    KFE_TRY(kfe_i_metric_row_variance(job->ctx, metric, outcome, *value, &variance));
    job->result.errors[m] = sqrt(variance / (double)outcome->rows);
cleanup:
    return status;
}

static kfe_status measure(evaluating *job)
{
    kfe_status status = KFE_OK;
    kfe_i_outcome *outcome = &job->outcome;

    *outcome = (kfe_i_outcome){.task = job->target->task,
                               .rows = job->target->rows,
                               .positive = -1,
                               .weights = job->target->weights};
    job->result.rows = outcome->rows;
    if (outcome->task == KFE_TASK_CLASSES) {
        KFE_TRY(prepare_classes(job));
        if (job->settings.curves)
            KFE_TRY(draw_curves(job));
    } else {
        outcome->cols = job->target->cols;
        outcome->truth_values = job->target->values;
        outcome->predicted_values = job->predictions.values;
    }
    for (int64_t m = 0; m < job->result.metric_count; m++)
        KFE_TRY(measure_one(job, m));
cleanup:
    return status;
}

kfe_status kfe_evaluate(kfe_context *ctx, const kfe_model *model, const kfe_data *data, const char *options,
                        kfe_result **out)
{
    kfe_status status = KFE_OK;
    evaluating job = {.ctx = ctx, .model = model, .target = data ? &data->target : NULL, .result.ctx = ctx};

    *out = NULL;
    KFE_TRY(kfe_i_params_default(ctx, &params, &job.settings));
    KFE_TRY(kfe_i_params_parse(ctx, &params, NULL, &job.settings, options));
    if (model->learner)
        KFE_TRY(choose_metrics(&job));
    if (!data)
        goto cleanup;
    KFE_TRY(check_target(&job));
    KFE_TRY(kfe_predict(ctx, model, data, &job.predictions, &job.outputs));
    warn_of_training_data(&job, data);
    KFE_TRY(measure(&job));
    KFE_TRY(kfe_i_outcome_result(ctx, &job.result, out));
cleanup:
    evaluating_free(&job);
    return status;
}
