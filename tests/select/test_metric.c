/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics against cases computed by hand and against their definitions, pair by pair. */
#include "support/fit.h"
#include "support/result.h"

#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "core/memory.h"
#include "select/metric.h"
#include "support/sweep.h"
#include "support/tolerance.h"

#define EXACT 1e-15

static kfe_status metric_classes(kfe_context *ctx, const char *metric, int64_t rows, int64_t classes,
                                 int64_t positive, const int32_t *truth, const int32_t *predicted,
                                 const double *scores, double *out)
{
    const kfe_judged judged = {.size = sizeof judged,
                               .rows = rows,
                               .classes = classes,
                               .positive = positive,
                               .truth = truth,
                               .predicted = predicted,
                               .scores = scores};
    return kfe_metric_compute(ctx, metric, &judged, out);
}

static kfe_status metric_values(kfe_context *ctx, const char *metric, int64_t rows, int64_t cols,
                                const double *truth, const double *predicted, double *out)
{
    const kfe_judged judged = {.size = sizeof judged,
                               .rows = rows,
                               .cols = cols,
                               .true_values = truth,
                               .predicted_values = predicted};
    return kfe_metric_compute(ctx, metric, &judged, out);
}

static double of_classes(kfe_context *ctx, const char *metric, int64_t rows, int64_t classes,
                         const int32_t *truth, const int32_t *predicted, const double *scores)
{
    double value = 0;

    assert_ok(ctx, metric_classes(ctx, metric, rows, classes, 1, truth, predicted, scores, &value));
    return value;
}

static double of_values(kfe_context *ctx, const char *metric, int64_t rows, int64_t cols, const double *truth,
                        const double *predicted)
{
    double value = 0;

    assert_ok(ctx, metric_values(ctx, metric, rows, cols, truth, predicted, &value));
    return value;
}

#define assert_near(value, expected) assert_below(fabs((value) - (expected)), EXACT)

/* ---- metrics of predicted classes ---- */

/* Class 0: 4 rows, 3 found; class 1: 2 rows, 1 found; class 2: predicted once, but no rows; class 3: neither. */
static const int32_t small_truth[] = {0, 0, 0, 0, 1, 1};
static const int32_t small_predicted[] = {0, 0, 0, 1, 1, 2};

static void test_counts_by_hand(void **state)
{
    kfe_context *ctx = *state;

    assert_near(of_classes(ctx, "accuracy", 6, 4, small_truth, small_predicted, NULL), 4.0 / 6);
    assert_near(of_classes(ctx, "error", 6, 4, small_truth, small_predicted, NULL), 2.0 / 6);
    assert_near(of_classes(ctx, "balanced-accuracy", 6, 4, small_truth, small_predicted, NULL), 5.0 / 8);
    /* precision and recall: 1 and 3/4; 1/2 and 1/2; class 2 has 0; class 3 is ignored */
    assert_near(of_classes(ctx, "f1", 6, 4, small_truth, small_predicted, NULL), (6.0 / 7 + 0.5 + 0) / 3);
}

/* Three rows of classes 0, 1, 2. By scores: row 0 is right everywhere; row 1 is accepted by no class (one
 * mistake); row 2 is accepted by 0 and 2 (one mistake): 2 of 9. By labels, one wrong row of three counts
 * twice. */
static void test_one_against_the_rest_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static const int32_t truth[] = {0, 1, 2};
    static const int32_t predicted[] = {0, 1, 0};
    static const double scores[] = {1, -1, -2, -3, 0, -1, 3, -1, 2};

    assert_near(of_classes(ctx, "ovr-error", 3, 3, truth, predicted, scores), 2.0 / 9);
    assert_near(of_classes(ctx, "ovr-error", 3, 3, truth, predicted, NULL), 2.0 / 9);
    assert_near(of_classes(ctx, "ovr-error", 3, 3, truth, truth, NULL), 0);
    assert_near(of_classes(ctx, "ovr-error", 6, 4, small_truth, small_predicted, NULL), 2.0 / 6 / 2);
}

static double cross_validated(kfe_context *ctx, const char *learner, const char *params, const char *metric)
{
    kfe_data *iris = NULL;
    kfe_spec *spec = NULL;
    char *text = NULL;
    char options[64];

    snprintf(options, sizeof options, "folds=3,metrics=%s", metric);
    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &iris));
    assert_ok(ctx, kfe_spec_parse(ctx, "pca", "dim=2", NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, params));
    assert_ok(ctx, write_cross_validate(ctx, spec, 0, NULL, iris, options, KFE_STYLE_JSON, NULL, &text));
    json_t *result = json_loads(text, 0, NULL);
    double mean = json_number_value(
        json_object_get(json_object_get(json_object_get(result, "metrics"), metric), "mean"));
    json_decref(result);
    kfe_string_free(ctx, text);
    kfe_spec_free(spec);
    kfe_data_free(iris);
    return mean;
}

/* Votes of pairs and of neighbours are not decision values, so labels count: 2·error/3. One SVM per class has
 * decision values, and iris has a class that no hyperplane separates from the rest. */
static void test_which_scores_are_decision_values(void **state)
{
    kfe_context *ctx = *state;

    assert_near(cross_validated(ctx, "knn", NULL, "ovr-error"),
                2 * cross_validated(ctx, "knn", NULL, "error") / 3);
    assert_near(cross_validated(ctx, "svm", "multiclass=ovo", "ovr-error"),
                2 * cross_validated(ctx, "svm", "multiclass=ovo", "error") / 3);
    assert_true(cross_validated(ctx, "svm", "multiclass=ovr,C=1", "ovr-error") >
                2 * cross_validated(ctx, "svm", "multiclass=ovr,C=1", "error") / 3 + 0.01);
}

static void test_confusion(void **state)
{
    static const kfe_i_confused expected[] = {{0, 0, 3}, {0, 1, 1}, {1, 1, 1}, {1, 2, 1}};
    kfe_context *ctx = *state;
    kfe_i_confused *pairs = NULL;
    int64_t count = 0;
    kfe_i_outcome outcome = {.task = KFE_TASK_CLASSES,
                             .rows = 6,
                             .classes = 4,
                             .positive = -1,
                             .truth = small_truth,
                             .predicted = small_predicted};

    assert_ok(ctx, kfe_i_confusion(ctx, &outcome, &pairs, &count));
    assert_int_equal(count, 4);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(pairs[k].truth, expected[k].truth);
        assert_int_equal(pairs[k].predicted, expected[k].predicted);
        assert_int_equal(pairs[k].count, expected[k].count);
    }
    kfe_i_free(ctx, pairs);
}

/* ---- metrics of scores ---- */

/* Two columns of scores, computed from those of class 1, so that either class can be the positive one. */
static void two_columns(int64_t rows, const double *of_positive, double *scores)
{
    for (int64_t i = 0; i < rows; i++) {
        scores[2 * i] = -of_positive[i];
        scores[2 * i + 1] = of_positive[i];
    }
}

static void test_score_curves_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static const int32_t truth[] = {0, 0, 1, 1};
    static const double of_positive[] = {0.1, 0.4, 0.35, 0.8};
    double scores[8];

    two_columns(4, of_positive, scores);
    assert_near(of_classes(ctx, "auc", 4, 2, truth, NULL, scores), 0.75);
    assert_near(of_classes(ctx, "average-precision", 4, 2, truth, NULL, scores), 0.5 + 0.5 * 2 / 3);
    static const double all_tied[] = {3, 3, 3, 3};
    two_columns(4, all_tied, scores);
    assert_near(of_classes(ctx, "auc", 4, 2, truth, NULL, scores), 0.5);
    assert_near(of_classes(ctx, "average-precision", 4, 2, truth, NULL, scores), 0.5);
}

static void test_curve_joins_ties(void **state)
{
    kfe_context *ctx = *state;
    static const int32_t truth[] = {0, 1, 1, 0, 1};
    static const double of_positive[] = {2, 2, 5, -1, -1};
    static const int64_t expected[3][2] = {{1, 0}, {2, 1}, {3, 2}};
    static const double thresholds[] = {5, 2, -1};
    double scores[10];
    kfe_i_curve_point *points = NULL;
    int64_t count = 0;
    double positives = 0;

    two_columns(5, of_positive, scores);
    kfe_i_outcome outcome = {
        .task = KFE_TASK_CLASSES, .rows = 5, .classes = 2, .positive = 1, .truth = truth, .scores = scores};
    assert_ok(ctx, kfe_i_curve(ctx, &outcome, 1, &points, &count, &positives));
    assert_int_equal(count, 3);
    assert_true(positives == 3);
    for (int i = 0; i < 3; i++) {
        assert_true(points[i].threshold == thresholds[i]);
        assert_true(points[i].true_positives == (double)expected[i][0]);
        assert_true(points[i].false_positives == (double)expected[i][1]);
    }
    kfe_i_free(ctx, points);
}

/* The share of pairs (in the class, outside) in the right order; ties count one half. */
static double auc_by_pairs(int64_t rows, int64_t classes, const int32_t *truth, const double *scores,
                           int64_t one)
{
    double right = 0;
    double pairs = 0;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < rows; j++)
            if (truth[i] == one && truth[j] != one) {
                double gap = scores[i * classes + one] - scores[j * classes + one];
                right += gap > 0 ? 1 : gap == 0 ? 0.5 : 0;
                pairs++;
            }
    return right / pairs;
}

/* The mean, over the rows of the class, of the precision among rows with at least the same score. */
static double precision_by_rows(int64_t rows, int64_t classes, const int32_t *truth, const double *scores,
                                int64_t one)
{
    double sum = 0;
    double positives = 0;

    for (int64_t i = 0; i < rows; i++) {
        double caught = 0;
        double right = 0;
        for (int64_t j = 0; j < rows; j++)
            if (scores[j * classes + one] >= scores[i * classes + one]) {
                caught++;
                right += truth[j] == one;
            }
        sum += truth[i] == one ? right / caught : 0;
        positives += truth[i] == one;
    }
    return sum / positives;
}

enum { SCORED_ROWS = 80 };

static void make_scored(uint64_t seed, int64_t classes, int32_t *truth, double *scores)
{
    for (int64_t i = 0; i < SCORED_ROWS; i++) {
        truth[i] = (int32_t)(support_uniform(&seed) * (double)classes);
        for (int64_t g = 0; g < classes; g++)
            scores[i * classes + g] = floor(8 * support_uniform(&seed)) + 2 * (truth[i] == g);
    }
}

static void test_score_curves_of_two_classes(void **state)
{
    kfe_context *ctx = *state;
    int32_t truth[SCORED_ROWS];
    double scores[SCORED_ROWS * 2];

    for (uint64_t seed = 1; seed <= 5; seed++)
        for (int64_t positive = 0; positive < 2; positive++) {
            double value = 0;
            make_scored(seed, 2, truth, scores);
            assert_ok(ctx, metric_classes(ctx, "auc", SCORED_ROWS, 2, positive, truth, NULL, scores, &value));
            assert_near(value, auc_by_pairs(SCORED_ROWS, 2, truth, scores, positive));
            assert_ok(ctx, metric_classes(ctx, "average-precision", SCORED_ROWS, 2, positive, truth, NULL,
                                          scores, &value));
            assert_below(fabs(value - precision_by_rows(SCORED_ROWS, 2, truth, scores, positive)),
                         tolerance_sum(SCORED_ROWS, 1));
        }
}

/* Four classes, of which the last has no rows: the mean is over three. */
static void test_score_curves_of_several_classes(void **state)
{
    kfe_context *ctx = *state;
    int32_t truth[SCORED_ROWS];
    double scores[SCORED_ROWS * 4];
    double auc = 0;
    double precision = 0;

    make_scored(9, 4, truth, scores);
    for (int64_t i = 0; i < SCORED_ROWS; i++)
        truth[i] %= 3;
    for (int64_t g = 0; g < 3; g++) {
        auc += auc_by_pairs(SCORED_ROWS, 4, truth, scores, g) / 3;
        precision += precision_by_rows(SCORED_ROWS, 4, truth, scores, g) / 3;
    }
    assert_near(of_classes(ctx, "auc", SCORED_ROWS, 4, truth, NULL, scores), auc);
    assert_below(fabs(of_classes(ctx, "average-precision", SCORED_ROWS, 4, truth, NULL, scores) - precision),
                 tolerance_sum(SCORED_ROWS, 1));
}

/* ---- real targets ---- */

static void test_values_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static const double truth[] = {1, 10, 2, 20, 3, 30};
    static const double predicted[] = {1, 13, 2, 20, 4, 26};

    /* the columns have residuals 0, 0, 1 and 3, 0, −4, and variations 2 and 200 */
    assert_near(of_values(ctx, "rmse", 3, 2, truth, predicted), sqrt(26.0 / 6));
    assert_near(of_values(ctx, "mae", 3, 2, truth, predicted), 8.0 / 6);
    assert_near(of_values(ctx, "r2", 3, 2, truth, predicted), (0.5 + (1 - 25.0 / 200)) / 2);
    assert_near(of_values(ctx, "r2", 3, 2, truth, truth), 1);
}

/* ---- undefined metrics ---- */

static void test_undefined_is_nan(void **state)
{
    kfe_context *ctx = *state;
    static const int32_t ones[] = {1, 1, 1};
    static const double scores[] = {0, 1, 0, 2, 0, 3, 0, 1, 2};
    static const double constant[] = {0.1, 1, 0.1, 2, 0.1, 3};
    static const double predicted[] = {0.2, 1, 0.3, 2, 0.1, 3};

    assert_true(isnan(of_classes(ctx, "auc", 3, 2, ones, NULL, scores)));
    assert_true(isnan(of_classes(ctx, "average-precision", 3, 2, ones, NULL, scores)));
    assert_true(isnan(of_classes(ctx, "auc", 3, 3, ones, NULL, scores)));
    assert_true(isnan(of_values(ctx, "r2", 3, 2, constant, predicted)));
    assert_true(isnan(of_values(ctx, "r2", 1, 1, constant, predicted)));
    /* these metrics are defined nevertheless */
    assert_near(of_classes(ctx, "balanced-accuracy", 3, 2, ones, ones, NULL), 1);
    assert_near(of_classes(ctx, "f1", 3, 2, ones, ones, NULL), 1);
    assert_near(of_values(ctx, "mae", 1, 1, constant, predicted), 0.1);
}

/* ---- the table ---- */

static void test_table(void **state)
{
    kfe_context *ctx = *state;
    const kfe_entry_info *entry;
    const kfe_i_metric *metric = NULL;
    int count = 0;

    for (; (entry = kfe_metric(count)); count++) {
        const kfe_i_metric *row = kfe_i_metric_at(count);
        assert_string_equal(entry->name, row->name);
        assert_int_equal(entry->flags == KFE_HAS_REGRESSION, row->task == KFE_TASK_REAL);
        assert_string_equal(entry->formula, row->larger_is_better ? "larger is better" : "smaller is better");
        assert_ok(ctx, kfe_i_metric_find(ctx, entry->name, row->task, &metric));
        assert_ptr_equal(metric, row);
    }
    assert_int_equal(count, 14);
    assert_null(kfe_metric(-1));
    assert_string_equal(kfe_i_metric_default(KFE_TASK_CLASSES)->name, "accuracy");
    assert_string_equal(kfe_i_metric_default(KFE_TASK_REAL)->name, "rmse");
    assert_fails(ctx, KFE_EINVAL, "did you mean 'accuracy'",
                 kfe_i_metric_find(ctx, "acuracy", KFE_TASK_CLASSES, &metric));
    assert_null(metric);
    assert_fails(ctx, KFE_EINVAL, "rmse is for real targets; the metrics for classes are accuracy, error,",
                 kfe_i_metric_find(ctx, "rmse", KFE_TASK_CLASSES, &metric));
    assert_fails(ctx, KFE_EINVAL, "the metrics for real targets are rmse, mae, r2",
                 kfe_i_metric_find(ctx, "f1", KFE_TASK_REAL, &metric));
    assert_fails(ctx, KFE_EINPUT, "target", kfe_i_metric_find(ctx, "f1", KFE_TASK_NONE, &metric));
}

static void test_bad_requests_are_refused(void **state)
{
    kfe_context *ctx = *state;
    static const int32_t good[] = {0, 1};
    static const int32_t beyond[] = {0, 2};
    static const double values[] = {1, NAN, 1, 2};
    double out = 7;

    assert_fails(ctx, KFE_EINPUT, "row 2: the predicted class is number 2",
                 metric_classes(ctx, "error", 2, 2, 1, good, beyond, NULL, &out));
    assert_true(out == 0);
    assert_fails(ctx, KFE_EINPUT, "row 2: the true class",
                 metric_classes(ctx, "auc", 2, 2, 1, beyond, good, values, &out));
    assert_fails(ctx, KFE_EINVAL, "auc needs scores",
                 metric_classes(ctx, "auc", 2, 2, 1, good, good, NULL, &out));
    assert_fails(ctx, KFE_EINVAL, "predicted classes are missing",
                 metric_classes(ctx, "f1", 2, 2, 1, good, NULL, values, &out));
    assert_fails(ctx, KFE_EINPUT, "the score of row 1",
                 metric_classes(ctx, "auc", 2, 2, 1, good, good, values, &out));
    assert_fails(ctx, KFE_EINVAL, "0 or 1, not 2",
                 metric_classes(ctx, "auc", 2, 2, 2, good, good, values, &out));
    assert_fails(ctx, KFE_EINVAL, "at least one",
                 metric_classes(ctx, "error", 0, 2, 1, good, good, NULL, &out));
    assert_fails(ctx, KFE_EINPUT, "row 2: the true value",
                 metric_values(ctx, "mae", 2, 1, values, values + 2, &out));
    assert_fails(ctx, KFE_EINPUT, "row 1: the predicted value",
                 metric_values(ctx, "mae", 1, 2, values + 2, values, &out));
    assert_fails(ctx, KFE_EINVAL, "its member size is 8",
                 kfe_metric_compute(ctx, "error", &(kfe_judged){.size = 8, .rows = 2, .classes = 2}, &out));
    assert_fails(ctx, KFE_EINVAL, "metric 'x'", metric_values(ctx, "x", 1, 2, values, values, &out));
}

static kfe_status measure_once(kfe_context *ctx, void *user)
{
    static const double scores[] = {3, 1, 2, 1, 2, 2, 1, 1, 0, 4, 4, 4, 0, 9, 0, 3, 2, 1};
    const kfe_entry_info *metric = kfe_metric(*(const int *)user);
    double out = 0;

    if (metric->flags & KFE_HAS_REGRESSION)
        return metric_values(ctx, metric->name, 3, 2, scores, scores + 6, &out);
    return metric_classes(ctx, metric->name, 6, 3, 0, small_truth, small_predicted, scores, &out);
}

static void test_failing_allocations(void **state)
{
    const kfe_entry_info *metric;
    int64_t allocations = 0;
    (void)state;

    for (int m = 0; (metric = kfe_metric(m)); m++)
        allocations +=
            support_sweep_run(&(support_sweep){.name = metric->name, .use = measure_once, .user = &m}) -
            1;                      /* the context's own allocations */
    assert_true(allocations >= 12); /* two for counts, and five each for auc and average-precision */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_counts_by_hand),
        with_context(test_one_against_the_rest_by_hand),
        with_context(test_which_scores_are_decision_values),
        with_context(test_confusion),
        with_context(test_score_curves_by_hand),
        with_context(test_curve_joins_ties),
        with_context(test_score_curves_of_two_classes),
        with_context(test_score_curves_of_several_classes),
        with_context(test_values_by_hand),
        with_context(test_undefined_is_nan),
        with_context(test_table),
        with_context(test_bad_requests_are_refused),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
