/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe_evaluate: metrics of a model's predictions on data with labels. Classes are matched to the model's by name, numbers
 * by value.
 * A label that the model was not fitted on becomes a further class that is never predicted. It has the same score
 * in every row, so its auc is one half.
 */
#include <math.h>

#include "core/memory.h"
#include "core/param.h"
#include "data/rows/fingerprint.h"
#include "result/result.h"
#include "select/assess.h"
#include "select/judged.h"

enum { MOST_CURVES = 200 };
/* A result has the whole matrix up to this many classes, and beyond that only the pairs that occur. */
enum { WIDEST_MATRIX = 1000 };

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
        "also the points of the ROC and precision-recall curves, of at most 200 classes unless `positive` "
        "names one"),
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
    const kfe_i_metric *metrics[KFE_MOST_METRICS];
    int64_t metric_count;
    kfe_matrix predictions, outputs;
    int32_t *truth;
    kfe_i_class_list classes;
    kfe_i_judged judged;
    kfe_result *result;
} evaluating;

static void evaluating_free(evaluating *job)
{
    kfe_matrix_free(&job->predictions);
    kfe_matrix_free(&job->outputs);
    kfe_i_free(job->ctx, job->truth);
    kfe_i_free(job->ctx, job->classes.names);
    kfe_i_judged_free(job->ctx, &job->judged);
    kfe_result_free(job->result);
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
    kfe_task task = job->model->target.task; /* that of the data, by check_target */
    int calibrated = job->model->calibration.kind != KFE_CALIBRATION_NONE;
    const kfe_i_metric *metric;
    kfe_status status = kfe_i_metric_list(job->ctx, job->settings.metrics, task, KFE_MOST_METRICS,
                                          job->metrics, &job->metric_count);

    if (status != KFE_OK || job->metric_count > 0)
        return status;
    for (int i = 0; (metric = kfe_i_metric_at(i)) && job->metric_count < KFE_MOST_METRICS; i++)
        if (metric->task == task && (!metric->on_request || (metric->needs_probabilities && calibrated)))
            job->metrics[job->metric_count++] = metric;
    return KFE_OK;
}

/* ---- classes ---- */

static kfe_status warn_of_new_labels(const evaluating *job)
{
    enum { SHOWN = 8 };
    kfe_status status = KFE_OK;
    const kfe_i_class_list *all = &job->classes;
    int64_t known = job->model->target.class_count;
    kfe_i_text names;

    if (all->count == known)
        return KFE_OK;
    kfe_i_text_init(&names, job->ctx);
    for (int64_t g = known; g < all->count && g < known + SHOWN; g++)
        kfe_i_text_printf(&names, "%s%s", g > known ? ", " : "", all->names[g]);
    KFE_TRY(names.status);
    kfe_i_log(job->ctx, KFE_LOG_WARNING, "labels that the model was not fitted on count as wrong: %s%s",
              names.bytes, all->count > known + SHOWN ? ", ..." : "");
cleanup:
    kfe_i_text_free(&names);
    return status;
}

/* ---- the result ---- */

static void put_matrix(const evaluating *job, const kfe_i_confused *pair, int64_t count)
{
    kfe_i_result_table *matrix = kfe_i_result_add(kfe_i_result_facts(job->result), "confusion", "matrix", 1);
    const kfe_i_confused *end = pair + count;
    char number[32];

    for (int64_t g = 0; g < job->classes.count; g++) {
        kfe_i_result_row(matrix);
        for (int64_t h = 0; h < job->classes.count; h++) {
            int occurs = pair < end && pair->truth == g && pair->predicted == h;
            kfe_i_snprintf(number, sizeof number, "%lld", (long long)h + 1);
            kfe_i_put_count(matrix, NULL, number, occurs ? pair->count : 0);
            kfe_i_put_about(matrix, "examples that were predicted as the class of this number");
            pair += occurs;
        }
    }
}

static void put_pairs(const evaluating *job, const kfe_i_confused *pair, int64_t count)
{
    kfe_i_result_table *pairs = kfe_i_result_add(kfe_i_result_facts(job->result), "confusion", "pairs", 1);

    for (int64_t p = 0; p < count; p++) {
        kfe_i_result_row(pairs);
        kfe_i_put_count(pairs, NULL, "true", pair[p].truth);
        kfe_i_put_count(pairs, NULL, "predicted", pair[p].predicted);
        kfe_i_put_count(pairs, NULL, "count", pair[p].count);
    }
}

static kfe_status put_confusion(const evaluating *job)
{
    kfe_status status = KFE_OK;
    kfe_i_result_table *classes =
        kfe_i_result_add(kfe_i_result_facts(job->result), "confusion", "classes", 1);
    kfe_i_confused *confused = NULL;
    int64_t count = 0;

    KFE_TRY(kfe_i_confusion(job->ctx, &job->judged.outcome, &confused, &count));
    for (int64_t g = 0; g < job->classes.count; g++) {
        kfe_i_result_row(classes);
        kfe_i_put_text(classes, NULL, "class", job->classes.names[g]);
    }
    if (job->classes.count <= WIDEST_MATRIX)
        put_matrix(job, confused, count);
    else
        put_pairs(job, confused, count);
cleanup:
    kfe_i_free(job->ctx, confused);
    return status;
}

static void put_point(kfe_i_result_table *points, const char *x_name, double x, const char *y_name, double y,
                      double threshold)
{
    kfe_i_result_row(points);
    kfe_i_put_real(points, NULL, x_name, x);
    kfe_i_put_real(points, NULL, y_name, y);
    kfe_i_put_real(points, NULL, "threshold", threshold);
}

/* The ROC curve begins at (0, 0) with an infinite threshold: nothing is called positive. */
static void put_points(kfe_i_result_table *curves, const kfe_i_curve_point *p, int64_t count,
                       double positives)
{
    double negatives = count > 0 ? p[count - 1].false_positives : 0;
    kfe_i_result_table *roc = kfe_i_result_add(curves, NULL, "roc", 1);

    put_point(roc, "false_positive_rate", 0, "true_positive_rate", 0, (double)INFINITY);
    for (int64_t i = 0; i < count; i++)
        put_point(roc, "false_positive_rate", p[i].false_positives / negatives, "true_positive_rate",
                  p[i].true_positives / positives, p[i].threshold);
    kfe_i_result_table *precision = kfe_i_result_add(curves, NULL, "precision_recall", 1);
    for (int64_t i = 0; i < count; i++) {
        double caught = p[i].true_positives;
        put_point(precision, "recall", caught / positives, "precision",
                  caught / (caught + p[i].false_positives), p[i].threshold);
    }
}

/* Makes the curves of the positive class, or of every class of the model if none is positive. Curves of thousands of classes
 * would be as large as the square of the data, so there are none for many classes unless one is positive. */
static kfe_status put_curves(const evaluating *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_outcome *outcome = &job->judged.outcome;
    kfe_i_result_table *curves = kfe_i_result_add(kfe_i_result_facts(job->result), NULL, "curves", 0);
    int64_t known = job->model->target.class_count;
    kfe_i_curve_point *points = NULL;

    for (int64_t g = 0; g < known && (outcome->positive >= 0 || known <= MOST_CURVES); g++) {
        int64_t count = 0;
        double positives = 0;
        if (outcome->positive >= 0 && g != outcome->positive)
            continue;
        KFE_TRY(kfe_i_curve(job->ctx, outcome, g, &points, &count, &positives));
        kfe_i_result_row(curves);
        kfe_i_put_text(curves, NULL, "class", job->classes.names[g]);
        if (positives == floor(positives))
            kfe_i_put_count(curves, NULL, "rows", (int64_t)positives);
        else
            kfe_i_put_real(curves, NULL, "rows", positives);
        put_points(curves, points, count, positives);
        kfe_i_free(job->ctx, points);
        points = NULL;
    }
cleanup:
    kfe_i_free(job->ctx, points);
    return status;
}

static void put_values(const evaluating *job, const char *group, const double *values)
{
    kfe_i_result_table *facts = kfe_i_result_facts(job->result);

    for (int64_t m = 0; m < job->metric_count; m++) {
        kfe_i_put_real(facts, group, job->metrics[m]->name, values[m]);
        kfe_i_put_about(facts, job->metrics[m]->summary);
    }
}

/* All metrics, and their standard errors on a sample of rows; NaN: not known. */
static kfe_status put_metrics(const evaluating *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_outcome *outcome = &job->judged.outcome;
    double values[KFE_MOST_METRICS];
    double errors[KFE_MOST_METRICS];

    for (int64_t m = 0; m < job->metric_count; m++) {
        KFE_TRY(kfe_i_metric_measure(job->ctx, job->metrics[m], outcome, &values[m], &errors[m]));
        errors[m] = sqrt(errors[m] / (double)outcome->rows);
    }
    kfe_i_put_count(kfe_i_result_facts(job->result), NULL, "rows", outcome->rows);
    put_values(job, "metrics", values);
    put_values(job, "standard_errors", errors);
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status judge(evaluating *job)
{
    kfe_status status = KFE_OK;
    kfe_i_outcome *outcome = &job->judged.outcome;

    if (job->target->task == KFE_TASK_CLASSES) {
        KFE_TRY(kfe_i_class_list_begin(job->ctx, job->model, job->target->class_count, &job->classes));
        KFE_TRY(kfe_i_class_list_match(job->ctx, &job->classes, job->target, &job->truth));
        KFE_TRY(warn_of_new_labels(job));
        KFE_TRY(kfe_i_judge_classes(job->ctx, job->model, &job->outputs, job->classes.count, job->truth,
                                    job->settings.positive, &job->judged));
    } else {
        *outcome = (kfe_i_outcome){.task = KFE_TASK_REAL,
                                   .rows = job->target->rows,
                                   .positive = -1,
                                   .cols = job->target->cols,
                                   .truth_values = job->target->values,
                                   .predicted_values = job->predictions.values};
    }
    outcome->weights = job->target->weights;
cleanup:
    return status;
}

static kfe_status fill(evaluating *job)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_result_new(job->ctx, &job->result));
    KFE_TRY(put_metrics(job));
    if (job->classes.count > 0)
        KFE_TRY(put_confusion(job));
    if (job->classes.count > 0 && job->settings.curves)
        KFE_TRY(put_curves(job));
cleanup:
    return status;
}

kfe_status kfe_evaluate(kfe_context *ctx, const kfe_model *model, const kfe_data *data, const char *options,
                        kfe_result **out)
{
    kfe_status status = KFE_OK;
    evaluating job = {.ctx = ctx, .model = model, .target = data ? &data->target : NULL};
    kfe_data own = {0};

    *out = NULL;
    KFE_TRY(kfe_i_params_default(ctx, &params, &job.settings));
    KFE_TRY(kfe_i_params_parse(ctx, &params, NULL, &job.settings, options));
    if (model->learner)
        KFE_TRY(choose_metrics(&job));
    if (!data)
        goto cleanup;
    KFE_TRY(check_target(&job));
    KFE_TRY(kfe_i_data_forget_classes(ctx, data, &own, &data));
    job.target = &data->target;
    KFE_TRY(kfe_predict(ctx, model, data, &job.predictions, &job.outputs));
    warn_of_training_data(&job, data);
    KFE_TRY(judge(&job));
    KFE_TRY(fill(&job));
    status = kfe_i_result_finish(job.result, out);
    job.result = NULL;
cleanup:
    evaluating_free(&job);
    kfe_i_target_free(&own.target);
    return status;
}
