/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of rows: never in both parts of a split, folds of similar sizes and class shares, one split per
 * group. */
#include "support/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "select/assess.h"
#include "support/points.h"
#include "support/result.h"

enum { ROWS = 60, COLS = 3, GROUPS = 12 };

/* Groups of sizes 1, 2, … in mixed order; the sample determines their classes. */
static void set_groups(kfe_context *ctx, kfe_data *data, int64_t *groups)
{
    for (int64_t i = 0; i < ROWS; i++)
        groups[i] = 100 - 7 * ((i * i + 3 * i) % GROUPS);
    assert_ok(ctx, kfe_data_set_groups(ctx, data, groups));
}

static int has(const int64_t *groups, const int64_t *rows, int64_t count, int64_t group)
{
    for (int64_t i = 0; i < count; i++)
        if (groups[rows[i]] == group)
            return 1;
    return 0;
}

static void assert_apart(const int64_t *groups, const kfe_splits *splits)
{
    for (int64_t s = 0; s < kfe_splits_count(splits); s++) {
        int64_t train_count = 0;
        int64_t test_count = 0;
        const int64_t *train = kfe_splits_train(splits, s, &train_count);
        const int64_t *test = kfe_splits_test(splits, s, &test_count);
        assert_true(train_count > 0 && test_count > 0);
        for (int64_t i = 0; i < test_count; i++)
            assert_false(has(groups, train, train_count, groups[test[i]]));
    }
}

static void test_groups_stay_together(void **state)
{
    static const char *const protocols[] = {"folds=4", "folds=3,repeats=3",
                                            "split=random,repeats=5,train-size=0.6", "split=leave-group-out",
                                            "folds=4,stratified=no"};
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    int64_t groups[ROWS];

    set_groups(ctx, s.data, groups);
    for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++) {
        kfe_splits *splits = NULL;
        assert_ok(ctx, kfe_splits_make(ctx, s.data, protocols[p], &splits));
        assert_apart(groups, splits);
        kfe_splits_free(splits);
    }
    select_sample_free(&s);
}

/* Twelve groups of five rows, six groups of each class: four folds of three groups with similar class shares. */
static void test_folds_are_balanced(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    int64_t groups[ROWS];
    int class_of[ROWS];
    kfe_splits *splits = NULL;

    for (int i = 0; i < ROWS; i++) {
        groups[i] = i / 5;
        class_of[i] = i / 5 % 2;
    }
    support_label(ctx, s.data, ROWS, class_of);
    assert_ok(ctx, kfe_data_set_groups(ctx, s.data, groups));
    assert_ok(ctx, kfe_splits_make(ctx, s.data, "folds=3", &splits));
    for (int64_t f = 0; f < 3; f++) {
        int64_t count = 0;
        int64_t of_class = 0;
        const int64_t *test = kfe_splits_test(splits, f, &count);
        for (int64_t i = 0; i < count; i++)
            of_class += class_of[test[i]];
        assert_int_equal(count, 20);
        assert_int_equal(of_class, 10);
    }
    kfe_splits_free(splits);
    select_sample_free(&s);
}

static void test_each_group_in_turn(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    int64_t groups[ROWS];
    int64_t tested = 0;
    kfe_splits *splits = NULL;

    for (int64_t i = 0; i < ROWS; i++)
        groups[i] = i % 7;
    assert_ok(ctx, kfe_data_set_groups(ctx, s.data, groups));
    assert_ok(ctx, kfe_splits_make(ctx, s.data, "split=leave-group-out", &splits));
    assert_int_equal(kfe_splits_count(splits), 7);
    for (int64_t g = 0; g < 7; g++) {
        int64_t count = 0;
        const int64_t *test = kfe_splits_test(splits, g, &count);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(test[i], g + 7 * i);
        tested += count;
    }
    assert_int_equal(tested, ROWS);
    kfe_splits_free(splits);
    select_sample_free(&s);
}

static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    int64_t groups[ROWS];
    const int64_t bad = ROWS;
    kfe_splits *splits = NULL;

    assert_fails(ctx, KFE_EINVAL, "needs groups",
                 kfe_splits_make(ctx, s.data, "split=leave-group-out", &splits));
    for (int64_t i = 0; i < ROWS; i++)
        groups[i] = i % 3;
    assert_ok(ctx, kfe_data_set_groups(ctx, s.data, groups));
    assert_fails(ctx, KFE_EINPUT, "3 groups cannot be divided into 4 parts",
                 kfe_splits_make(ctx, s.data, "folds=4", &splits));
    assert_fails(ctx, KFE_EINPUT, "groups names the column 'z', which is not there",
                 kfe_data_take_groups(ctx, s.data, "z"));
    assert_fails(ctx, KFE_EINPUT, "groups names the column '4', which is not there",
                 kfe_data_take_groups(ctx, s.data, "4"));
    assert_fails(ctx, KFE_EINVAL, "names row 60", kfe_data_add_split(ctx, s.data, 1, &bad, 1, &bad));
    assert_fails(ctx, KFE_EINVAL, "has no rows", kfe_data_add_split(ctx, s.data, 0, NULL, 1, &bad));
    select_sample_free(&s);
}

/* Groups read from a column equal groups set explicitly on data without that column. */
static void test_groups_from_a_column(void **state)
{
    kfe_context *ctx = *state;
    double with[ROWS * 3];
    double without[ROWS * 2];
    int64_t groups[ROWS];
    int class_of[ROWS];
    double *x = support_normals(4, ROWS * 2);
    char *texts[2] = {NULL};
    kfe_spec *spec = NULL;

    for (int64_t i = 0; i < ROWS; i++) {
        groups[i] = i % 9;
        class_of[i] = (int)(i / 9 % 2);
        with[3 * i] = without[2 * i] = x[2 * i] + class_of[i];
        with[3 * i + 1] = (double)(groups[i]) / 4;
        with[3 * i + 2] = without[2 * i + 1] = x[2 * i + 1];
    }
    kfe_data *a = support_dense(ctx, ROWS, 3, with, class_of);
    kfe_data *b = support_dense(ctx, ROWS, 2, without, class_of);
    assert_ok(ctx, kfe_data_take_groups(ctx, a, "2"));
    assert_ok(ctx, kfe_data_set_groups(ctx, b, groups));
    assert_int_equal(kfe_data_cols(a, 0), 2);
    assert_ok(ctx, kfe_spec_parse(ctx, "none", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    for (int d = 0; d < 2; d++)
        assert_ok(ctx, write_cross_validate(ctx, spec, 0, NULL, d ? b : a, "folds=3", KFE_STYLE_JSON, NULL,
                                            &texts[d]));
    json_t *first = json_loads(texts[0], 0, NULL);
    json_t *second = json_loads(texts[1], 0, NULL);
    assert_true(json_equal(json_object_get(first, "metrics"), json_object_get(second, "metrics")));
    json_decref(first);
    json_decref(second);
    for (int d = 0; d < 2; d++)
        kfe_string_free(ctx, texts[d]);
    kfe_spec_free(spec);
    kfe_data_free(a);
    kfe_data_free(b);
    free(x);
}

/* Given splits are used as they are, and inner folds divide their training parts. */
static void test_given_splits(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    int64_t train[2][40];
    int64_t test[2][10];
    const char *grid = "neighbors=1,5";
    kfe_spec *spec = NULL;
    char *text = NULL;

    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < 40; i++)
            train[d][i] = 39 - i + 10 * d;
        for (int i = 0; i < 10; i++)
            test[d][i] = 50 + i - 50 * d;
        assert_ok(ctx, kfe_data_add_split(ctx, s.data, 40, train[d], 10, test[d]));
    }
    assert_ok(ctx, kfe_spec_parse(ctx, "none", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    for (int grids = 0; grids < 2; grids++) {
        assert_ok(ctx, write_cross_validate(ctx, spec, grids, &grid, s.data, "folds=7", KFE_STYLE_JSON, NULL,
                                            &text));
        json_t *json = json_loads(text, 0, NULL);
        const json_t *splits = json_object_get(json, "splits");
        assert_int_equal(json_array_size(splits), 2);
        for (int d = 0; d < 2 && grids == 0; d++) {
            kfe_i_split by_hand = {.train = train[d], .test = test[d], .train_count = 40, .test_count = 10};
            double expected[SELECT_METRICS];
            const json_t *metrics = json_object_get(json_array_get(splits, (size_t)d), "metrics");
            select_by_hand(&s, spec, &by_hand, expected);
            assert_true(json_number_value(json_object_get(metrics, "accuracy")) == expected[0]);
        }
        json_decref(json);
        kfe_string_free(ctx, text);
    }
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* ---- permutations ---- */

static json_t *permuted(kfe_context *ctx, const kfe_data *data, const char *options)
{
    kfe_spec *spec = NULL;
    char *text = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "none", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "centroid", NULL));
    assert_ok(ctx, write_cross_validate(ctx, spec, 0, NULL, data, options, KFE_STYLE_JSON, NULL, &text));
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    kfe_string_free(ctx, text);
    kfe_spec_free(spec);
    return json;
}

/* p follows from the values; for well-separated classes it is the smallest possible one. */
static void test_permutations(void **state)
{
    kfe_context *ctx = *state;

    for (int apart = 0; apart <= 8; apart += 8) {
        select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, apart);
        json_t *json = permuted(ctx, s.data, "permutations=19,folds=3");
        const json_t *test = json_object_get(json, "permutations");
        const json_t *values = json_object_get(test, "values");
        const json_t *metric = json_object_get(json_object_get(json, "metrics"), "accuracy");
        double observed = json_number_value(json_object_get(metric, "mean"));
        double p = json_number_value(json_object_get(test, "p"));
        int as_good = 0;
        assert_int_equal(json_array_size(values), 19);
        for (size_t k = 0; k < 19; k++)
            as_good += json_number_value(json_array_get(values, k)) >= observed - 1e-12;
        assert_below(fabs(p - (1 + as_good) / 20.0), 1e-12);
        assert_true(apart ? p == 0.05 : p > 0.05);
        json_decref(json);
        select_sample_free(&s);
    }
}

/* All rows of a group have one class and keep one class when permuted, so few arrangements exist, and chance
 * succeeds as often as expected. With two groups of each class, a third of the arrangements equal the true
 * one. */
static void test_groups_are_permuted_as_a_whole(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 8);
    int64_t groups[ROWS];

    for (int64_t i = 0; i < ROWS; i++)
        groups[i] = s.class_of[i] + 2 * (i % 4 / 2);
    assert_ok(ctx, kfe_data_set_groups(ctx, s.data, groups));
    json_t *json = permuted(ctx, s.data, "permutations=60,folds=2,stratified=yes");
    assert_true(json_number_value(json_object_get(json_object_get(json, "permutations"), "p")) > 0.1);
    json_decref(json);
    select_sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_groups_stay_together), with_context(test_folds_are_balanced),
        with_context(test_each_group_in_turn),   with_context(test_refusals),
        with_context(test_groups_from_a_column), with_context(test_given_splits),
        with_context(test_permutations),         with_context(test_groups_are_permuted_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
