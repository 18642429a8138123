/* SPDX-License-Identifier: Apache-2.0 */
/* Assessment: test rows never influence a fit or a choice, choices equal those of a nested loop, and the
 * results of cross-validation and comparison. */
#include "support/select.h"

#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "data/rows/distinct.h"
#include "select/assess.h"
#include "support/points.h"
#include "support/result.h"

/* ---- an assessment in one call ---- */

static kfe_spec *spec_of(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                         const char *learner, const char *learner_params)
{
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, params, kernel, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, learner_params));
    return spec;
}

static kfe_i_assessment assess(kfe_context *ctx, const kfe_spec *spec, const char *grid, const kfe_data *data,
                               const char *options)
{
    const kfe_i_grid_texts texts = {grid ? 1 : 0, &grid, 0};
    kfe_i_assess_settings settings;
    kfe_i_assessment out;

    assert_ok(ctx, kfe_i_assess_settings_parse(ctx, options, &settings));
    assert_ok(ctx, kfe_i_assess(ctx, spec, texts, data, &settings, &out));
    return out;
}

/* The mean of the first metric, weighted by the numbers of test rows: the share of all test rows. */
static double mean_value(const kfe_i_assessment *a)
{
    double sum = 0;

    for (int64_t s = 0; s < a->splits.count; s++)
        sum += a->values[s * a->metric_count] / (double)a->splits.count;
    return sum;
}

static double mean_of(kfe_context *ctx, const kfe_spec *spec, const char *grid, const kfe_data *data,
                      const char *options)
{
    kfe_i_assessment a = assess(ctx, spec, grid, data, options);
    double mean = mean_value(&a);

    kfe_i_assessment_free(&a);
    return mean;
}

/* ---- leaks ---- */

enum { NOISE_ROWS = 60, NOISE_COLS = 500, NOISES = 4 };

/* Labels that are independent of the points. */
static kfe_data *noise(kfe_context *ctx, uint64_t seed, int64_t cols, double **values)
{
    int class_of[NOISE_ROWS];

    *values = support_normals(seed, NOISE_ROWS * cols);
    for (int i = 0; i < NOISE_ROWS; i++)
        class_of[i] = i % 2;
    return support_dense(ctx, NOISE_ROWS, cols, *values, class_of);
}

/* The standard error of the accuracy of random guesses; a deviation of three standard errors indicates a
 * leak. */
static double standard_error(int answers)
{
    return sqrt(0.25 / answers);
}

/* The classic mistake: learn features on all rows, then cross-validate. */
static double leaking(kfe_context *ctx, const char *method, const char *params, const kfe_data *data)
{
    int class_of[NOISE_ROWS];
    kfe_matrix f = support_features(ctx, method, params, "linear", data, data);
    kfe_spec *spec = spec_of(ctx, "none", NULL, NULL, "knn", NULL);

    for (int i = 0; i < NOISE_ROWS; i++)
        class_of[i] = (int)kfe_data_class_of(data, i);
    kfe_data *features = support_dense(ctx, f.rows, f.cols, f.values, class_of);
    double mean = mean_of(ctx, spec, NULL, features, NULL);
    kfe_data_free(features);
    kfe_matrix_free(&f);
    kfe_spec_free(spec);
    return mean;
}

static void test_extraction_does_not_see_the_test_rows(void **state)
{
    static const struct {
        const char *method, *params, *grid;
    } cases[] = {{"kfd", "scale=standard", "ridge=0.001,0.1,1"},
                 {"koc", "scale=standard", "neighbors=1,3,5"},
                 {"kda-qr", NULL, NULL}};
    kfe_context *ctx = *state;

    for (int c = 0; c < 3; c++) {
        double fair = 0;
        for (int n = 0; n < NOISES; n++) {
            double *values;
            kfe_data *data = noise(ctx, 100 + (uint64_t)n, NOISE_COLS, &values);
            kfe_spec *spec = spec_of(ctx, cases[c].method, cases[c].params, "linear", "knn", NULL);
            fair += mean_of(ctx, spec, cases[c].grid, data, "inner-folds=3") / NOISES;
            assert_true(leaking(ctx, cases[c].method, cases[c].params, data) > 0.9);
            kfe_spec_free(spec);
            kfe_data_free(data);
            free(values);
        }
        assert_below(fabs(fair - 0.5), 3 * standard_error(NOISE_ROWS * NOISES));
    }
}

/* The best of many settings looks better than it is, unless the choice is assessed too. */
static void test_choice_does_not_see_the_test_rows(void **state)
{
    kfe_context *ctx = *state;
    kfe_spec *spec = spec_of(ctx, "none", NULL, NULL, "knn", NULL);
    double plain = 0;
    double nested = 0;

    for (int n = 0; n < 2 * NOISES; n++) {
        double *values;
        kfe_data *data = noise(ctx, 200 + (uint64_t)n, 3, &values);
        plain += mean_of(ctx, spec, "neighbors=1:39:lin39", data, "inner-folds=0") / (2 * NOISES);
        nested += mean_of(ctx, spec, "neighbors=1:39:lin39", data, "inner-folds=5") / (2 * NOISES);
        kfe_data_free(data);
        free(values);
    }
    double error = standard_error(NOISE_ROWS * 2 * NOISES);
    assert_true(plain - 0.5 > 3 * error);
    assert_below(fabs(nested - 0.5), 3 * error);
    kfe_spec_free(spec);
}

/* One column has another scale in the test rows: scaled by the training rows, it dominates the others there. */
static void test_scaling_does_not_see_the_test_rows(void **state)
{
    enum { ROWS = 40 };
    kfe_context *ctx = *state;
    double *x = support_normals(7, ROWS * 2);
    int class_of[ROWS];
    char options[700] = "split-file=";
    char split[400] = "train";

    for (int i = 0; i < ROWS; i++) {
        class_of[i] = i % 2;
        x[2 * i] = 10 * class_of[i] + 0.1 * x[2 * i];
        x[2 * i + 1] *= i < ROWS / 2 ? 1 : 1e4;
    }
    for (int i = 0; i < ROWS; i++)
        snprintf(split + strlen(split), sizeof split - strlen(split), "%s %d", i == ROWS / 2 ? "\ntest" : "",
                 i + 1);
    strcat(options, support_text("split.txt", split));
    kfe_data *data = support_dense(ctx, ROWS, 2, x, class_of);
    kfe_spec *spec = spec_of(ctx, "none", "scale=standard", NULL, "knn", NULL);
    assert_true(mean_of(ctx, spec, NULL, data, options) < 0.8);
    double all = 0;
    for (int j = 0; j < 2; j++) { /* the mistake: scale all rows together */
        double mean = 0;
        double square = 0;
        for (int i = 0; i < ROWS; i++)
            mean += x[2 * i + j] / ROWS;
        for (int i = 0; i < ROWS; i++)
            square += pow(x[2 * i + j] - mean, 2) / ROWS;
        for (int i = 0; i < ROWS; i++)
            x[2 * i + j] = (x[2 * i + j] - mean) / sqrt(square);
    }
    assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", "none"));
    all = mean_of(ctx, spec, NULL, data, options);
    assert_true(all > 0.9);
    kfe_spec_free(spec);
    kfe_data_free(data);
    free(x);
}

/* ---- choosing settings ---- */

enum { ROWS = 45, COLS = 4 };

/* The inner folds that an assessment uses: those of the training rows of outer split o, with their own random
 * stream. */
static kfe_i_splits inner_folds(kfe_context *ctx, const kfe_data *data, const kfe_i_split *outer, int64_t o,
                                int64_t folds)
{
    kfe_i_split_rows training = {.rows = kfe_data_rows(data),
                                 .target = &data->target,
                                 .subset = outer->train,
                                 .subset_count = outer->train_count};
    kfe_i_assess_settings settings;
    kfe_i_splits splits = {0};
    kfe_i_row_key *keys = NULL;

    assert_ok(ctx, kfe_i_assess_settings_parse(ctx, NULL, &settings));
    settings.protocol.folds = folds;
    assert_ok(ctx, kfe_i_data_some_row_keys(ctx, data, outer->train, outer->train_count, &keys));
    training.keys = keys;
    assert_ok(ctx, kfe_i_splits_make(ctx, &settings.protocol, &training, 1 + (uint64_t)o, &splits));
    kfe_i_free(ctx, keys);
    return splits;
}

/* For every setting, its metric on these splits, computed without the search engine: the mean, or of rmse that over all rows. */
static void add_by_hand(const select_sample *s, const kfe_i_grid *grid, const kfe_i_splits *splits,
                        double *sums)
{
    for (int64_t c = 0; c < grid->count; c++) {
        kfe_spec *spec = NULL;
        assert_ok(s->ctx, kfe_i_grid_spec(s->ctx, grid, c, &spec));
        double rows = 0;
        for (int64_t i = 0; i < splits->count; i++)
            rows += (double)splits->items[i].test_count;
        for (int64_t i = 0; i < splits->count; i++) {
            double values[SELECT_METRICS];
            select_by_hand(s, spec, &splits->items[i], values);
            sums[c] += s->classes > 0 ? values[0] / (double)splits->count
                                      : values[0] * values[0] * (double)splits->items[i].test_count / rows;
        }
        sums[c] = s->classes > 0 ? sums[c] : sqrt(sums[c]);
        kfe_spec_free(spec);
    }
}

static int64_t best_of(int64_t count, const double *sums, int smaller)
{
    int64_t best = 0;

    for (int64_t c = 1; c < count; c++)
        if (smaller ? sums[c] < sums[best] - 1e-12 : sums[c] > sums[best] + 1e-12)
            best = c;
    return best;
}

static double value_by_hand(const select_sample *s, const kfe_i_grid *grid, int64_t setting,
                            const kfe_i_split *split)
{
    double values[SELECT_METRICS];
    kfe_spec *spec = NULL;

    assert_ok(s->ctx, kfe_i_grid_spec(s->ctx, grid, setting, &spec));
    select_by_hand(s, spec, split, values);
    kfe_spec_free(spec);
    return values[0];
}

static void check_nested(const select_sample *s, const kfe_spec *spec, const char *grid)
{
    enum { MOST = 16 };
    kfe_i_assessment a = assess(s->ctx, spec, grid, s->data, "folds=4,inner-folds=3");
    double total[MOST] = {0};
    double rows = 0;
    int chosen_differ = 0;

    assert_true(a.nested && a.grid.count <= MOST);
    assert_int_equal(a.splits.count, 4);
    assert_int_equal(a.fits, 4 * 3 * a.grid.count + (s->classes > 0 ? 4 : 4 * a.grid.count));
    for (int64_t o = 0; o < a.splits.count; o++) {
        double sums[MOST] = {0};
        kfe_i_splits inner = inner_folds(s->ctx, s->data, &a.splits.items[o], o, 3);
        add_by_hand(s, &a.grid, &inner, sums);
        kfe_i_splits_free(&inner);
        assert_int_equal(a.chosen[o], best_of(a.grid.count, sums, s->classes == 0));
        assert_below(fabs(a.values[o] - value_by_hand(s, &a.grid, a.chosen[o], &a.splits.items[o])), 1e-9);
        double count = (double)a.splits.items[o].train_count;
        rows += count;
        for (int64_t c = 0; c < a.grid.count; c++)
            total[c] += s->classes > 0 ? sums[c] / 4 : sums[c] * sums[c] * count;
        chosen_differ |= a.chosen[o] != 0;
    }
    assert_true(chosen_differ);
    for (int64_t c = 0; c < a.grid.count && s->classes == 0; c++)
        total[c] = sqrt(total[c] / rows);
    assert_int_equal(a.best, best_of(a.grid.count, total, s->classes == 0));
    for (int64_t c = 0; c < a.grid.count; c++)
        assert_below(fabs(a.tuning[c].mean - total[c]), 1e-9);
    kfe_i_assessment_free(&a);
}

static void test_choice_is_that_of_a_nested_loop(void **state)
{
    kfe_context *ctx = *state;
    select_sample classes = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.4);
    select_sample values = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 0, 1);
    kfe_spec *koc = spec_of(ctx, "koc", "scale=standard", "rbf", "knn", NULL);
    kfe_spec *pca = spec_of(ctx, "pca", NULL, NULL, "ls", NULL);

    check_nested(&classes, koc, "gamma=0.01,0.05,0.2,1,5");
    check_nested(&values, pca, "dim=1,2,3,4");
    kfe_spec_free(koc);
    kfe_spec_free(pca);
    select_sample_free(&classes);
    select_sample_free(&values);
}

static void test_plain_search_takes_the_best_mean(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.4);
    kfe_spec *spec = spec_of(ctx, "none", NULL, NULL, "knn", NULL);
    kfe_i_assessment a = assess(ctx, spec, "neighbors=1,3,5,9,15", s.data, "inner-folds=0,repeats=2");
    double sums[5] = {0};

    assert_false(a.nested);
    assert_int_equal(a.splits.count, 10);
    add_by_hand(&s, &a.grid, &a.splits, sums);
    assert_int_equal(a.best, best_of(5, sums, 0));
    for (int64_t o = 0; o < 10; o++) {
        assert_int_equal(a.chosen[o], a.best);
        assert_true(a.values[o] == value_by_hand(&s, &a.grid, a.best, &a.splits.items[o]));
    }
    kfe_i_assessment_free(&a);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* One choice, made on the first training parts, for all splits. */
static void test_tuning_splits(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.4);
    kfe_spec *spec = spec_of(ctx, "none", NULL, NULL, "knn", NULL);
    kfe_i_assessment a =
        assess(ctx, spec, "neighbors=1,3,9,15", s.data, "folds=5,inner-folds=3,tuning-splits=2");
    kfe_i_assess_settings settings;
    double total[4] = {0};

    for (int64_t o = 0; o < 2; o++) {
        kfe_i_splits inner = inner_folds(ctx, s.data, &a.splits.items[o], o, 3);
        add_by_hand(&s, &a.grid, &inner, total);
        kfe_i_splits_free(&inner);
    }
    assert_int_equal(a.tuning_splits, 6);
    assert_int_equal(a.best, best_of(4, total, 0));
    for (int64_t o = 0; o < 5; o++) {
        assert_int_equal(a.chosen[o], a.best);
        assert_true(a.values[o] == value_by_hand(&s, &a.grid, a.best, &a.splits.items[o]));
    }
    kfe_i_assessment_free(&a);
    assert_fails(ctx, KFE_EINVAL, "tuning-splits",
                 kfe_i_assess_settings_parse(ctx, "tuning-splits=2,inner-folds=0", &settings));
    assert_fails(ctx, KFE_EINVAL, "inner-folds",
                 kfe_i_assess_settings_parse(ctx, "inner-folds=1", &settings));
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* The metric of a setting on the validation rows of the protocol, computed without the search engine. */
static void add_validation(const select_sample *s, const kfe_i_assessment *a, int64_t o, double *sums)
{
    kfe_i_split one = a->splits.items[o];
    const kfe_i_splits alone = {.ctx = s->ctx, .items = &one, .count = 1, .capacity = 1};

    assert_true(one.validation_count > 0);
    one.test = one.validation;
    one.test_count = one.validation_count;
    add_by_hand(s, &a->grid, &alone, sums);
}

/* Settings are compared on validation rows and assessed on held-out rows, per split or for all splits
 * together, also without inner folds. */
static void test_held_out_chooses_on_validation_rows(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.4);
    kfe_spec *spec = spec_of(ctx, "none", NULL, NULL, "knn", NULL);
    kfe_i_assessment each = assess(ctx, spec, "neighbors=1,3,9,15", s.data,
                                   "split=held-out,train-size=0.67,folds=2,repeats=3,inner-folds=0");
    kfe_i_assessment together = assess(ctx, spec, "neighbors=1,3,9,15", s.data,
                                       "split=held-out,train-size=0.67,folds=2,repeats=3,tuning-splits=6");
    double total[4] = {0};
    int differ = 0;

    assert_true(each.nested && each.splits.count == 6);
    assert_int_equal(together.tuning_splits, 6);
    for (int64_t o = 0; o < 6; o++) {
        double sums[4] = {0};
        add_validation(&s, &each, o, sums);
        assert_int_equal(each.chosen[o], best_of(4, sums, 0));
        assert_true(each.values[o] == value_by_hand(&s, &each.grid, each.chosen[o], &each.splits.items[o]));
        add_validation(&s, &together, o, total);
        differ |= each.chosen[o] != each.chosen[0];
    }
    assert_true(differ); /* otherwise the two could agree by chance */
    for (int64_t o = 0; o < 6; o++)
        assert_int_equal(together.chosen[o], best_of(4, total, 0));
    kfe_i_assessment_free(&each);
    kfe_i_assessment_free(&together);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* ---- repeatability and repeats ---- */

static void test_every_repeat_tests_every_row_once(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    kfe_spec *spec = spec_of(ctx, "pca", NULL, NULL, "knn", NULL);
    kfe_i_assessment a = assess(ctx, spec, NULL, s.data, "folds=4,repeats=3,metrics=accuracy;auc");
    int tested[3][ROWS] = {{0}};

    assert_int_equal(a.splits.count, 12);
    assert_int_equal(a.metric_count, 2);
    assert_int_equal(a.tuning_splits, 0);
    assert_int_equal(a.fits, 12);
    for (int64_t o = 0; o < 12; o++)
        for (int64_t i = 0; i < a.splits.items[o].test_count; i++)
            tested[a.splits.items[o].repeat][a.splits.items[o].test[i]]++;
    for (int i = 0; i < 3 * ROWS; i++)
        assert_int_equal(tested[i / ROWS][i % ROWS], 1);
    kfe_i_assessment_free(&a);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

static void test_seed_decides_and_threads_do_not(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.4);
    kfe_spec *spec = spec_of(ctx, "koc", NULL, "rbf", "knn", NULL);
    kfe_i_assessment runs[4];

    for (int r = 0; r < 4; r++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, r == 2 ? 2 : 1));
        kfe_context_set_seed(ctx, r == 3 ? 6 : 5);
        runs[r] = assess(ctx, spec, "gamma=0.01,0.1,1", s.data, NULL);
    }
    for (int r = 1; r < 3; r++) {
        assert_memory_equal(runs[r].values, runs[0].values, 5 * sizeof(double));
        assert_memory_equal(runs[r].chosen, runs[0].chosen, 5 * sizeof(int64_t));
    }
    assert_int_not_equal(memcmp(runs[3].splits.items[0].test, runs[0].splits.items[0].test,
                                (size_t)runs[0].splits.items[0].test_count * sizeof(int64_t)),
                         0);
    for (int r = 0; r < 4; r++)
        kfe_i_assessment_free(&runs[r]);
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    kfe_context_set_seed(ctx, 0);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* ---- small classes and bad requests ---- */

static void relabel(kfe_context *ctx, const select_sample *s, int members)
{
    int class_of[ROWS];

    for (int i = 0; i < ROWS; i++)
        class_of[i] = i >= ROWS - members;
    support_label(ctx, s->data, ROWS, class_of);
}

static void test_small_classes(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    kfe_spec *spec = spec_of(ctx, "koc", NULL, "rbf", "knn", NULL);
    char *text = NULL;

    relabel(ctx, &s, 3);
    support_catch_log(ctx);
    assert_ok(ctx, write_cross_validate(ctx, spec, 0, NULL, s.data, "folds=5", KFE_STYLE_TEXT, NULL, &text));
    const char *log = support_log();
    assert_non_null(strstr(log, "c1"));
    assert_non_null(strstr(log, "folds"));
    kfe_string_free(ctx, text);
    relabel(ctx, &s, 1);
    assert_fails(ctx, KFE_EINPUT, "fold ",
                 write_cross_validate(ctx, spec, 0, NULL, s.data, "folds=5", KFE_STYLE_TEXT, NULL, &text));
    assert_non_null(strstr(kfe_error_message(ctx), "'c0'"));
    assert_null(text);
    kfe_context_on_log(ctx, NULL, NULL);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

static void test_bad_requests_are_refused(void **state)
{
    static const struct {
        kfe_status status;
        const char *options, *grid, *message;
    } cases[] = {
        {KFE_EINVAL, "folds=1", NULL, "folds"},
        {KFE_EINPUT, "folds=46", NULL, "46"},
        {KFE_EINPUT, "inner-folds=400", "neighbors=1,2", "400"},
        {KFE_EINPUT, "inner-folds=9007199254740992", "neighbors=1,2", "9007199254740992"},
        {KFE_EINVAL, "metrics=acuracy", NULL, "accuracy"},
        {KFE_EINVAL, "metrics=rmse", NULL, "rmse"},
        {KFE_EINVAL, "positive=c7", NULL, "c7"},
        {KFE_EINVAL, "fold=3", NULL, "fold"},
        {KFE_EINVAL, NULL, "neighbours=1,2", "neighbors"},
        {KFE_EINVAL, NULL, "neighbors=0", "neighbors"},
        {KFE_EIO, "split-file=/no/such/file", NULL, "/no/such/file"},
    };
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    kfe_spec *spec = spec_of(ctx, "pca", NULL, NULL, "knn", NULL);

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char *text = NULL;
        kfe_model *best = NULL;
        kfe_status status = write_cross_validate(ctx, spec, cases[c].grid ? 1 : 0, &cases[c].grid, s.data,
                                                 cases[c].options, KFE_STYLE_JSON, &best, &text);
        if (status != cases[c].status || !strstr(kfe_error_message(ctx), cases[c].message))
            fail_msg("%s %s: %s: %s", cases[c].options, cases[c].grid, kfe_status_text(status),
                     kfe_error_message(ctx));
        assert_true(!text && !best);
    }
    kfe_spec_free(spec);
    select_sample_free(&s);
}

static void test_positive_class(void **state)
{
    static const struct {
        const char *names[2], *asked;
        int64_t expected;
    } cases[] = {{{"1", "-1"}, "", 0},   {{"-1", "+1"}, "", 1}, {{"9", "10"}, "", 1},
                 {{"yes", "no"}, "", 0}, {{"a", "b"}, "", 1},   {{"b", "a"}, "a", 1}};
    kfe_context *ctx = *state;
    int64_t positive = 0;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char names[2][8];
        char *const pointers[] = {names[0], names[1]};
        strcpy(names[0], cases[c].names[0]);
        strcpy(names[1], cases[c].names[1]);
        assert_ok(ctx, kfe_i_find_positive(ctx, 2, pointers, cases[c].asked, &positive));
        assert_int_equal(positive, cases[c].expected);
    }
}

static void test_means_skip_missing_values(void **state)
{
    const double values[] = {1, 99, NAN, 99, 4, 99, 7, 99};
    double mean = 0;
    double sd = 0;

    (void)state;
    kfe_i_mean_sd(4, values, 2, &mean, &sd);
    assert_true(mean == 4 && sd == 3);
    kfe_i_mean_sd(1, values, 1, &mean, &sd);
    assert_true(mean == 1 && isnan(sd));
    kfe_i_mean_sd(1, values + 2, 1, &mean, &sd);
    assert_true(isnan(mean) && isnan(sd));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extraction_does_not_see_the_test_rows),
        cmocka_unit_test(test_choice_does_not_see_the_test_rows),
        cmocka_unit_test(test_scaling_does_not_see_the_test_rows),
        cmocka_unit_test(test_choice_is_that_of_a_nested_loop),
        cmocka_unit_test(test_plain_search_takes_the_best_mean),
        cmocka_unit_test(test_tuning_splits),
        cmocka_unit_test(test_held_out_chooses_on_validation_rows),
        cmocka_unit_test(test_every_repeat_tests_every_row_once),
        cmocka_unit_test(test_seed_decides_and_threads_do_not),
        cmocka_unit_test(test_small_classes),
        cmocka_unit_test(test_bad_requests_are_refused),
        cmocka_unit_test(test_positive_class),
        cmocka_unit_test(test_means_skip_missing_values),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
