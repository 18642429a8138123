/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of predictions, one row of a table each. Used by evaluate, cross-validation and kfe_metric_….
 *
 * With the confusion matrix C (C_gh: rows of class g predicted as h), its row sums t_g and column sums p_g:
 *
 *     accuracy            Σ C_gg / n, the mean of what is right
 *     error               1 − accuracy
 *     balanced-accuracy   the mean of C_gg / t_g over the classes with t_g > 0
 *     f1                  the mean of 2C_gg / (t_g + p_g) over the classes with t_g + p_g > 0 (macro average)
 *     mcc                 (nΣC_gg − Σt_g p_g) / sqrt((n² − Σp_g²)(n² − Σt_g²)), 0 where the root is
 *     kappa               (accuracy − e) / (1 − e), e = Σ t_g p_g / n²
 *
 * log-loss and brier are in metric_probability.c.
 *
 * ovr-error is the mean over the classes g of the error of "class g against the rest": the share of rows that are
 * accepted as g without being of class g, or are of class g without being accepted. A classifier with one decision
 * value per class accepts g where that value is above zero, so a row may be accepted by several classes or by none.
 * Any other classifier accepts the predicted class alone; a wrong row is then wrong in two of the k problems, and
 * ovr-error = 2·error/k.
 *
 * With the points (TP_i, FP_i) of a class's curve, thresholds falling, P rows in the class and N outside:
 *
 *     auc                 Σ (FP_i − FP_{i−1})(TP_i + TP_{i−1}) / (2PN): trapezoids, a tie counts one half
 *     average-precision   Σ (TP_i − TP_{i−1})/P · TP_i/(TP_i + FP_i): steps, without interpolation
 *
 * With real targets y and predictions ŷ:
 *
 *     rmse, mae           over all values of all target columns
 *     r2                  1 − Σ(y − ŷ)² / Σ(y − ȳ)², the mean over columns
 *
 * Rows count by their weights in all of these, n included.
 */
#include "select/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/param.h"
#include "core/suggest.h"
#include "core/text.h"

#define UNDEFINED ((double)NAN)

double kfe_i_outcome_weight(const kfe_i_outcome *outcome, int64_t row)
{
    return outcome->weights ? outcome->weights[row] : 1;
}

double kfe_i_outcome_mass(const kfe_i_outcome *outcome)
{
    double sum = 0;

    if (!outcome->weights)
        return (double)outcome->rows;
    for (int64_t i = 0; i < outcome->rows; i++)
        sum += outcome->weights[i];
    return sum;
}

/* ---- predicted classes ---- */

static int compare_confused(const void *a, const void *b)
{
    const kfe_i_confused *p = a;
    const kfe_i_confused *q = b;

    if (p->truth != q->truth)
        return p->truth < q->truth ? -1 : 1;
    return (p->predicted > q->predicted) - (p->predicted < q->predicted);
}

kfe_status kfe_i_confusion(kfe_context *ctx, const kfe_i_outcome *outcome, kfe_i_confused **out,
                           int64_t *count)
{
    kfe_status status = KFE_OK;
    kfe_i_confused *pairs = NULL;
    int64_t rows = 0;

    *count = 0;
    KFE_ALLOC(ctx, pairs, outcome->rows);
    for (int64_t i = 0; i < outcome->rows; i++)
        if (kfe_i_outcome_weight(outcome, i) > 0)
            pairs[rows++] = (kfe_i_confused){outcome->truth[i], outcome->predicted[i], 1};
    qsort(pairs, (size_t)rows, sizeof *pairs, compare_confused);
    for (int64_t i = 0; i < rows; i++) {
        if (*count > 0 && compare_confused(&pairs[*count - 1], &pairs[i]) == 0)
            pairs[*count - 1].count++;
        else
            pairs[(*count)++] = pairs[i];
    }
    *out = pairs;
cleanup:
    return status;
}

static double is_right(const kfe_i_outcome *outcome, int64_t row)
{
    return outcome->truth[row] == outcome->predicted[row];
}

static double is_wrong(const kfe_i_outcome *outcome, int64_t row)
{
    return 1 - is_right(outcome, row);
}

/* Rows of one class, by weight: in the truth, in the predictions, in both. */
typedef struct class_counts {
    double truth, predicted, right;
} class_counts;

static void count_classes(const kfe_i_outcome *outcome, class_counts *counts)
{
    for (int64_t i = 0; i < outcome->rows; i++) {
        double weight = kfe_i_outcome_weight(outcome, i);
        counts[outcome->truth[i]].truth += weight;
        counts[outcome->predicted[i]].predicted += weight;
        counts[outcome->truth[i]].right += outcome->truth[i] == outcome->predicted[i] ? weight : 0;
    }
}

static double recall_of(const class_counts *one)
{
    return one->truth > 0 ? one->right / one->truth : UNDEFINED;
}

static double f1_of(const class_counts *one)
{
    double occurs = one->truth + one->predicted;
    return occurs > 0 ? 2 * one->right / occurs : UNDEFINED;
}

/* The mean over the classes for which it is defined. */
static kfe_status mean_over_classes(kfe_context *ctx, const kfe_i_outcome *outcome,
                                    double (*value_of)(const class_counts *), double *out)
{
    kfe_status status = KFE_OK;
    class_counts *counts = NULL;
    double sum = 0;
    int64_t defined = 0;

    KFE_ALLOC_ZERO(ctx, counts, outcome->classes);
    count_classes(outcome, counts);
    for (int64_t g = 0; g < outcome->classes; g++) {
        double value = value_of(&counts[g]);
        sum += isnan(value) ? 0 : value;
        defined += !isnan(value);
    }
    *out = defined > 0 ? sum / (double)defined : UNDEFINED;
cleanup:
    kfe_i_free(ctx, counts);
    return status;
}

static kfe_status balanced_accuracy(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    return mean_over_classes(ctx, outcome, recall_of, out);
}

static kfe_status macro_f1(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    return mean_over_classes(ctx, outcome, f1_of, out);
}

/* ---- agreement beyond chance ---- */

/* Sums over classes: rows that are right, products and squares of the numbers of rows in truth and predictions. */
typedef struct agreement {
    double right, products, truth_squares, predicted_squares;
} agreement;

static kfe_status sum_classes(kfe_context *ctx, const kfe_i_outcome *outcome, agreement *out)
{
    kfe_status status = KFE_OK;
    class_counts *counts = NULL;

    memset(out, 0, sizeof *out);
    KFE_ALLOC_ZERO(ctx, counts, outcome->classes);
    count_classes(outcome, counts);
    for (int64_t g = 0; g < outcome->classes; g++) {
        double truth = counts[g].truth;
        double predicted = counts[g].predicted;
        out->right += counts[g].right;
        out->products += truth * predicted;
        out->truth_squares += truth * truth;
        out->predicted_squares += predicted * predicted;
    }
cleanup:
    kfe_i_free(ctx, counts);
    return status;
}

static kfe_status matthews(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    agreement a;
    double n = kfe_i_outcome_mass(outcome);
    kfe_status status = sum_classes(ctx, outcome, &a);
    double size = sqrt(n * n - a.predicted_squares) * sqrt(n * n - a.truth_squares);

    *out = n == 0 ? UNDEFINED : size > 0 ? (n * a.right - a.products) / size : 0;
    return status;
}

static kfe_status kappa(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    agreement a;
    double n = kfe_i_outcome_mass(outcome);
    kfe_status status = sum_classes(ctx, outcome, &a);

    *out = n * n > a.products ? (n * a.right - a.products) / (n * n - a.products) : UNDEFINED;
    return status;
}

/* ---- one class against the rest ---- */

/* Whether a row is accepted as one of a class, each class against the rest. */
static int accepts(const kfe_i_outcome *outcome, int64_t row, int64_t class_index)
{
    if (outcome->scores && outcome->one_vs_rest)
        return outcome->scores[row * outcome->classes + class_index] > 0;
    return outcome->predicted[row] == class_index;
}

static double ovr_error(const kfe_i_outcome *outcome, int64_t row)
{
    double wrong = 0;

    for (int64_t g = 0; g < outcome->classes; g++)
        wrong += accepts(outcome, row, g) != (outcome->truth[row] == g);
    return wrong / (double)outcome->classes;
}

/* ---- rows in the order of their scores ---- */

static double area_under(const kfe_i_curve_point *points, int64_t count, double positives, double negatives)
{
    double twice = 0;
    kfe_i_curve_point last = {0};

    for (int64_t i = 0; i < count; i++) {
        twice += (points[i].false_positives - last.false_positives) *
                 (points[i].true_positives + last.true_positives);
        last = points[i];
    }
    return twice / (2 * positives * negatives);
}

static double precision_averaged(const kfe_i_curve_point *points, int64_t count, double positives,
                                 double negatives)
{
    double sum = 0;
    double caught = 0;

    (void)negatives;
    for (int64_t i = 0; i < count; i++) {
        double accepted = points[i].true_positives + points[i].false_positives;
        if (accepted > 0)
            sum += (points[i].true_positives - caught) * points[i].true_positives / accepted;
        caught = points[i].true_positives;
    }
    return sum / positives;
}

typedef double (*curve_value_fn)(const kfe_i_curve_point *points, int64_t count, double positives,
                                 double negatives);

static kfe_status one_against_rest(kfe_context *ctx, const kfe_i_outcome *outcome, int64_t class_index,
                                   curve_value_fn value, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_curve_point *points = NULL;
    int64_t count = 0;
    double positives = 0;
    double negatives = 0;

    KFE_TRY(kfe_i_curve(ctx, outcome, class_index, &points, &count, &positives));
    negatives = count > 0 ? points[count - 1].false_positives : 0;
    *out = positives > 0 && negatives > 0 ? value(points, count, positives, negatives) : UNDEFINED;
cleanup:
    kfe_i_free(ctx, points);
    return status;
}

static void mark_occurring(const kfe_i_outcome *outcome, char *occurs)
{
    for (int64_t i = 0; i < outcome->rows; i++)
        if (kfe_i_outcome_weight(outcome, i) > 0)
            occurs[outcome->truth[i]] = 1;
}

static kfe_status of_curve(kfe_context *ctx, const kfe_i_outcome *outcome, curve_value_fn value, double *out)
{
    kfe_status status = KFE_OK;
    char *occurs = NULL;
    double sum = 0;
    int64_t occurring = 0;

    if (!outcome->scores)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "auc and average-precision need scores; use a learner that gives them, or another "
                          "metric");
    if (outcome->positive >= 0)
        return one_against_rest(ctx, outcome, outcome->positive, value, out);
    KFE_ALLOC_ZERO(ctx, occurs, outcome->classes);
    mark_occurring(outcome, occurs);
    for (int64_t g = 0; g < outcome->classes; g++) {
        double one = 0;
        if (occurs[g])
            KFE_TRY(one_against_rest(ctx, outcome, g, value, &one));
        sum += one;
        occurring += occurs[g];
    }
    *out = occurring > 0 ? sum / (double)occurring : UNDEFINED;
cleanup:
    kfe_i_free(ctx, occurs);
    return status;
}

static kfe_status auc(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    return of_curve(ctx, outcome, area_under, out);
}

static kfe_status average_precision(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    return of_curve(ctx, outcome, precision_averaged, out);
}

/* ---- real targets ---- */

static double deviation(const kfe_i_outcome *outcome, int64_t p)
{
    return outcome->predicted_values[p] - outcome->truth_values[p];
}

static double squared_error(const kfe_i_outcome *outcome, int64_t row)
{
    double sum = 0;

    for (int64_t p = row * outcome->cols; p < (row + 1) * outcome->cols; p++)
        sum += deviation(outcome, p) * deviation(outcome, p);
    return sum / (double)outcome->cols;
}

static double absolute_error(const kfe_i_outcome *outcome, int64_t row)
{
    double sum = 0;

    for (int64_t p = row * outcome->cols; p < (row + 1) * outcome->cols; p++)
        sum += fabs(deviation(outcome, p));
    return sum / (double)outcome->cols;
}

/* Compares the values themselves: the rounded mean of equal values may differ from them, and Σ(y − ȳ)² is then small
 * but not zero. */
static int is_constant(const kfe_i_outcome *outcome, int64_t col)
{
    const double *values = outcome->truth_values + col;
    int64_t first = 0; /* row that counts */

    while (first < outcome->rows && !(kfe_i_outcome_weight(outcome, first) > 0))
        first++;
    for (int64_t i = first + 1; i < outcome->rows; i++)
        if (values[i * outcome->cols] != values[first * outcome->cols] &&
            kfe_i_outcome_weight(outcome, i) > 0)
            return 0;
    return 1;
}

static double explained_share(const kfe_i_outcome *outcome, int64_t col)
{
    const double *truth = outcome->truth_values + col;
    int64_t cols = outcome->cols;
    double mean = 0;
    double residual = 0;
    double total = 0;
    double mass = kfe_i_outcome_mass(outcome);

    if (is_constant(outcome, col))
        return UNDEFINED;
    for (int64_t i = 0; i < outcome->rows; i++)
        mean += kfe_i_outcome_weight(outcome, i) * truth[i * cols] / mass;
    for (int64_t i = 0; i < outcome->rows; i++) {
        double left = deviation(outcome, i * cols + col);
        double weight = kfe_i_outcome_weight(outcome, i);
        residual += weight * left * left;
        total += weight * (truth[i * cols] - mean) * (truth[i * cols] - mean);
    }
    return 1 - residual / total;
}

static kfe_status determination(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    double sum = 0;

    (void)ctx;
    for (int64_t j = 0; j < outcome->cols; j++)
        sum += explained_share(outcome, j);
    *out = outcome->cols > 0 ? sum / (double)outcome->cols : UNDEFINED;
    return KFE_OK;
}

/* ---- the table ---- */

/* The first members of a row. */
#define METRIC(word, line, targets, larger)                                                                  \
    .name = (word), .summary = line, .better = (larger) ? "larger is better" : "smaller is better",          \
    .flags = (targets) == KFE_TASK_REAL ? KFE_HAS_REGRESSION : 0, .task = (targets),                         \
    .larger_is_better = (larger)

static const kfe_i_metric metrics[] = {
    {METRIC("accuracy", "share of rows whose class is predicted correctly", KFE_TASK_CLASSES, 1),
     .loss = is_right},
    {METRIC("error", "share of rows whose class is predicted wrongly", KFE_TASK_CLASSES, 0),
     .loss = is_wrong},
    {METRIC("balanced-accuracy",
            "share of the rows of a class that are predicted correctly, averaged over classes",
            KFE_TASK_CLASSES, 1),
     .value = balanced_accuracy, .influence = kfe_i_balanced_influence},
    {METRIC("f1", "harmonic mean of precision and recall, averaged over classes", KFE_TASK_CLASSES, 1),
     .value = macro_f1},
    {METRIC(
         "ovr-error",
         "error of one class against the rest, by the sign of its decision value, averaged over classes; with "
         "one decision for all classes, 2·error/classes",
         KFE_TASK_CLASSES, 0),
     .loss = ovr_error},
    {METRIC("auc", "area under the ROC curve; with more than two classes, the mean of one against the rest",
            KFE_TASK_CLASSES, 1),
     .value = auc, .needs_scores = 1},
    {METRIC(
         "average-precision",
         "area under the precision-recall curve; with more than two classes, the mean of one against the rest",
         KFE_TASK_CLASSES, 1),
     .value = average_precision, .needs_scores = 1},
    {METRIC("mcc", "Matthews correlation of true and predicted classes: 1 all right, 0 by chance",
            KFE_TASK_CLASSES, 1),
     .value = matthews, .on_request = 1},
    {METRIC("kappa", "Cohen's kappa: agreement of true and predicted classes beyond chance", KFE_TASK_CLASSES,
            1),
     .value = kappa, .on_request = 1},
    {METRIC(
         "log-loss",
         "mean of -log(probability of the true class); for a model without calibration, the probabilities are "
         "the softmax of its scores",
         KFE_TASK_CLASSES, 0),
     .loss = kfe_i_log_loss, .needs_scores = 1, .on_request = 1, .needs_probabilities = 1},
    {METRIC(
         "brier",
         "mean squared error of the probabilities, summed over classes (with two classes: the error of one)",
         KFE_TASK_CLASSES, 0),
     .loss = kfe_i_brier_loss, .needs_scores = 1, .on_request = 1, .needs_probabilities = 1},
    {METRIC("rmse", "root of the mean squared error", KFE_TASK_REAL, 0), .loss = squared_error, .is_root = 1,
     .pooled = KFE_POOLED_RMSE},
    {METRIC("mae", "mean absolute error", KFE_TASK_REAL, 0), .loss = absolute_error},
    {METRIC("r2", "coefficient of determination", KFE_TASK_REAL, 1), .value = determination,
     .influence = kfe_i_r2_influence, .pooled = KFE_POOLED_R2},
};

const kfe_i_metric *kfe_i_metric_at(int index)
{
    return index >= 0 && (size_t)index < sizeof metrics / sizeof *metrics ? &metrics[index] : NULL;
}

static const char *metric_name_at(const void *list, int index)
{
    const kfe_i_metric *metric = kfe_i_metric_at(index);
    (void)list;
    return metric ? metric->name : NULL;
}

/* Fails with the reason and the names of the metrics for this task (KFE_TASK_NONE: all metrics). */
static kfe_status refuse(kfe_context *ctx, const char *reason, kfe_task task)
{
    kfe_status status = KFE_OK;
    kfe_i_text names;

    kfe_i_text_init(&names, ctx);
    for (int i = 0; kfe_i_metric_at(i); i++)
        if (task == KFE_TASK_NONE || metrics[i].task == task)
            kfe_i_text_printf(&names, "%s%s", names.length ? ", " : "", metrics[i].name);
    KFE_TRY(names.status);
    KFE_FAIL(ctx, KFE_EINVAL, "%s; the metrics%s are %s", reason,
             task == KFE_TASK_NONE   ? ""
             : task == KFE_TASK_REAL ? " for real targets"
                                     : " for classes",
             names.bytes);
cleanup:
    kfe_i_text_free(&names);
    return status;
}

/* The metric of this name, - and _ being the same; scikit-learn's name of auc is understood. NULL: none. */
static const kfe_i_metric *metric_named(const char *name)
{
    const kfe_i_metric *metric;

    if (kfe_i_same_name(name, "roc-auc"))
        name = "auc";
    for (int i = 0; (metric = kfe_i_metric_at(i)); i++)
        if (kfe_i_same_name(metric->name, name))
            break;
    return metric;
}

static kfe_status refuse_unknown(kfe_context *ctx, const char *name, kfe_task task)
{
    char suggestion[96];
    char reason[256];

    kfe_i_suggest(name, metric_name_at, NULL, suggestion, sizeof suggestion);
    snprintf(reason, sizeof reason, "there is no metric '%.100s'%s", name, suggestion);
    return refuse(ctx, reason, task);
}

kfe_status kfe_i_metric_find(kfe_context *ctx, const char *name, kfe_task task, const kfe_i_metric **out)
{
    char reason[256];
    const kfe_i_metric *found = metric_named(name);

    *out = NULL;
    if (task == KFE_TASK_NONE)
        return kfe_i_fail(ctx, KFE_EINPUT, "metric %s needs a target; name the label column", name);
    if (!found)
        return refuse_unknown(ctx, name, task);
    if (found->task != task) {
        snprintf(reason, sizeof reason, "metric %s is for %s", name,
                 found->task == KFE_TASK_REAL ? "real targets" : "classes");
        return refuse(ctx, reason, task);
    }
    *out = found;
    return KFE_OK;
}

static kfe_status add_to_list(kfe_context *ctx, const char *name, size_t length, kfe_task task, int64_t most,
                              const kfe_i_metric **out, int64_t *count)
{
    char copy[64];

    if (*count == most || length >= sizeof copy)
        return kfe_i_fail(ctx, KFE_EINVAL, "metrics: at most %lld can be measured at once", (long long)most);
    memcpy(copy, name, length);
    copy[length] = '\0';
    return kfe_i_metric_find(ctx, copy, task, &out[(*count)++]);
}

kfe_status kfe_i_metric_list(kfe_context *ctx, const char *names, kfe_task task, int64_t most,
                             const kfe_i_metric **out, int64_t *count)
{
    kfe_status status = KFE_OK;

    *count = 0;
    while (*names) {
        size_t length = strcspn(names, ";,");
        if (length > 0)
            KFE_TRY(add_to_list(ctx, names, length, task, most, out, count));
        names += length + (names[length] != '\0');
    }
cleanup:
    return status;
}

kfe_status kfe_i_metric_names_check(kfe_context *ctx, const char *names)
{
    char name[64];

    while (*names) {
        size_t length = strcspn(names, ";,");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), names);
        if (length > 0 && !metric_named(name))
            return refuse_unknown(ctx, name, KFE_TASK_NONE);
        names += length + (names[length] != '\0');
    }
    return KFE_OK;
}

const kfe_i_metric *kfe_i_metric_default(kfe_task task)
{
    const char *name = task == KFE_TASK_REAL ? "rmse" : "accuracy";
    int i = 0;

    while (strcmp(metrics[i].name, name) != 0)
        i++;
    return &metrics[i];
}
