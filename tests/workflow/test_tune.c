/* SPDX-License-Identifier: Apache-2.0 */
/* kfe_tune finds known best methods, reports an unbiased error, gives repeatable results and respects its
 * time budget. */
#include "support/select.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/memory.h"
#include "data/rows/distinct.h"
#include "select/grid.h"
#include "select/splits.h"
#include "support/examples.h"
#include "support/points.h"
#include "support/result.h"
#include "workflow/tune.h"

static json_t *tune(kfe_context *ctx, const kfe_data *data, const char *options, kfe_model **best)
{
    char *text = NULL;

    if (ctx->threads == 0)
        assert_ok(ctx, kfe_context_set_threads(ctx, 1)); /* small fits are fastest on one thread */
    assert_ok(ctx, write_tune(ctx, data, options, KFE_STYLE_JSON, best, &text));
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    kfe_string_free(ctx, text);
    return json;
}

static double number(const json_t *object, const char *key)
{
    assert_true(json_is_number(json_object_get(object, key)));
    return json_number_value(json_object_get(object, key));
}

static const char *word(const json_t *object, const char *key)
{
    assert_true(json_is_string(json_object_get(object, key)));
    return json_string_value(json_object_get(object, key));
}

static double honest_mean(const json_t *json, const char *metric)
{
    const json_t *metrics = json_object_get(json_object_get(json, "honest"), "metrics");
    return number(json_object_get(metrics, metric), "mean");
}

static const json_t *ranked(const json_t *json, const char *candidate)
{
    const json_t *ranking = json_object_get(json, "ranking");

    for (size_t i = 0; i < json_array_size(ranking); i++)
        if (strcmp(word(json_array_get(ranking, i), "candidate"), candidate) == 0)
            return json_array_get(ranking, i);
    fail_msg("%s is not in the ranking", candidate);
    return NULL;
}

/* Rings: no hyperplane separates them, but kernels and neighbours do. */
static void test_curved_candidates_win_on_rings(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;
    kfe_data *fresh = NULL;
    kfe_model *best = NULL;
    char *text = NULL;

    kfe_context_set_seed(ctx, 3);
    assert_ok(ctx, kfe_data_generate(ctx, "rings", "n=120", &data));
    kfe_context_set_seed(ctx, 4);
    assert_ok(ctx, kfe_data_generate(ctx, "rings", "n=300", &fresh));
    json_t *json = tune(ctx, data, "time=none,trials=39", &best);
    const char *winner = word(json_object_get(json, "best"), "candidate");
    assert_true(strstr(winner, "kernel") || strstr(winner, "neighbours"));
    assert_true(honest_mean(json, "accuracy") > 0.9);
    assert_true(number(ranked(json, "linear SVM"), "mean") < 0.8);
    assert_true(number(ranked(json, "linear SVM"), "p") < 0.05);
    assert_ok(ctx, write_evaluate(ctx, best, fresh, "metrics=accuracy", KFE_STYLE_JSON, &text));
    json_t *outcome = json_loads(text, 0, NULL);
    assert_below(
        fabs(number(json_object_get(outcome, "metrics"), "accuracy") - honest_mean(json, "accuracy")), 0.1);
    json_decref(outcome);
    json_decref(json);
    kfe_string_free(ctx, text);
    kfe_model_free(best);
    kfe_data_free(data);
    kfe_data_free(fresh);
}

/* Labels that are independent of the columns: the best of many settings looks good, but the reported error
 * must be that of chance. */
static void test_the_error_is_unbiased(void **state)
{
    enum { NOISE_ROWS = 60, NOISE_COLS = 3, SETS = 3 };
    kfe_context *ctx = *state;
    double honest = 0;
    double chosen = 0;

    for (int s = 0; s < SETS; s++) {
        double *x = support_normals(50 + (uint64_t)s, NOISE_ROWS * NOISE_COLS);
        int class_of[NOISE_ROWS];
        for (int i = 0; i < NOISE_ROWS; i++)
            class_of[i] = i % 2;
        kfe_data *data = support_dense(ctx, NOISE_ROWS, NOISE_COLS, x, class_of);
        json_t *json = tune(ctx, data, "time=none,trials=39", NULL);
        honest += honest_mean(json, "accuracy") / SETS;
        chosen += number(json_array_get(json_object_get(json, "ranking"), 0), "mean") / SETS;
        json_decref(json);
        kfe_data_free(data);
        free(x);
    }
    assert_below(fabs(honest - 0.5), 3 * sqrt(0.25 / (NOISE_ROWS * SETS)));
    assert_true(chosen > honest);
}

/* The value reported for an outer fold equals that of the chosen setting, fitted and evaluated by the public
 * calls. */
static void test_outer_folds_by_hand(void **state)
{
    enum { HAND_ROWS = 60 };
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, HAND_ROWS, 4, 2, 0.7);
    json_t *json = tune(ctx, s.data, "time=none,trials=26,folds=3", NULL);
    const json_t *splits = json_object_get(json_object_get(json, "honest"), "splits");
    kfe_i_split_rows rows = kfe_i_split_all(s.data);
    const kfe_i_protocol protocol = {.kind = KFE_SPLIT_FOLDS, .folds = 3, .repeats = 1, .stratified = 1};
    kfe_i_row_key *keys = NULL;
    kfe_i_splits outer = {0};

    assert_ok(ctx, kfe_i_data_row_keys(ctx, s.data, &keys));
    rows.keys = keys;
    assert_ok(ctx, kfe_i_splits_make(ctx, &protocol, &rows, 0, &outer));
    assert_int_equal(json_array_size(splits), 3);
    for (int64_t f = 0; f < 3; f++) {
        const json_t *one = json_array_get(splits, (size_t)f);
        const json_t *kernel = json_object_get(one, "kernel");
        const char *name = NULL;
        json_t *value = NULL;
        kfe_spec *spec = NULL;
        double expected[SELECT_METRICS];
        assert_ok(ctx, kfe_spec_parse(ctx, word(one, "method"), NULL,
                                      json_is_string(kernel) ? json_string_value(kernel) : NULL, &spec));
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, word(one, "learner"), NULL));
        json_object_foreach((json_t *)(uintptr_t)json_object_get(one, "setting"), name, value)
        {
            char text[64];
            snprintf(text, sizeof text, "%s=%s", name, json_string_value(value));
            const char *grid = text;
            kfe_i_grid made = {0};
            kfe_spec *set = NULL;
            assert_ok(ctx, kfe_i_grid_make(ctx, spec, (kfe_i_grid_texts){1, &grid, 0}, NULL, &made));
            assert_ok(ctx, kfe_i_grid_spec(ctx, &made, 0, &set));
            kfe_spec_free(spec);
            kfe_i_grid_free(&made);
            spec = set;
        }
        select_by_hand(&s, spec, &outer.items[f], expected);
        assert_below(fabs(number(json_object_get(one, "metrics"), "accuracy") - expected[0]), 1e-12);
        kfe_spec_free(spec);
    }
    kfe_i_splits_free(&outer);
    kfe_i_free(ctx, keys);
    json_decref(json);
    select_sample_free(&s);
}

static json_t *without_seconds(json_t *json)
{
    json_t *ranking = json_object_get(json, "ranking");

    json_object_del(json, "seconds");
    for (size_t i = 0; i < json_array_size(ranking); i++)
        json_object_del(json_array_get(ranking, i), "seconds");
    return json;
}

static void test_results_repeat(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, 50, 4, 2, 0.7);
    json_t *runs[3];

    for (int r = 0; r < 3; r++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, r == 1 ? 2 : 1));
        kfe_context_set_seed(ctx, r == 2 ? 9 : 1);
        runs[r] = without_seconds(tune(ctx, s.data, "time=none,trials=26,folds=2", NULL));
    }
    assert_true(json_equal(runs[0], runs[1]));
    assert_false(json_equal(runs[0], runs[2]));
    for (int r = 0; r < 3; r++)
        json_decref(runs[r]);
    select_sample_free(&s);
}

/* The same choice and errors, but for where SVMs stop: that may turn a row near the boundary of one candidate. */
static void check_same_choice(const json_t *a, const json_t *b, const char *metric)
{
    const json_t *ranking = json_object_get(a, "ranking");
    int apart = 0;

    assert_string_equal(word(json_object_get(a, "best"), "candidate"),
                        word(json_object_get(b, "best"), "candidate"));
    assert_true(json_equal(json_object_get(json_object_get(a, "best"), "setting"),
                           json_object_get(json_object_get(b, "best"), "setting")));
    assert_below(fabs(honest_mean(a, metric) - honest_mean(b, metric)), 1e-3);
    for (size_t i = 0; i < json_array_size(ranking); i++) {
        const json_t *first = json_array_get(ranking, i);
        const json_t *second = ranked(b, word(first, "candidate"));
        if (json_is_number(json_object_get(first, "mean")))
            apart += fabs(number(first, "mean") - number(second, "mean")) > 1e-3;
    }
    assert_true(apart <= 1);
}

static json_t *tune_examples(kfe_context *ctx, const support_examples *e)
{
    kfe_data *data = support_examples_train(ctx, e);
    json_t *json = tune(ctx, data, "time=none,trials=39,folds=3", NULL);

    kfe_data_free(data);
    return json;
}

static void test_the_order_of_rows_changes_nothing(void **state)
{
    static const support_target_kind kinds[] = {THREE_CLASSES, ONE_TARGET};
    kfe_context *ctx = *state;

    for (int k = 0; k < 2; k++) {
        support_examples e = support_examples_make(kinds[k], EXAMPLE_POINTS, 0);
        json_t *plain = tune_examples(ctx, &e);
        support_reorder_rows(&e, k);
        support_rename_classes(&e, 0);
        json_t *moved = tune_examples(ctx, &e);
        check_same_choice(plain, moved, k == 0 ? "accuracy" : "rmse");
        json_decref(plain);
        json_decref(moved);
    }
}

/* Rows of weight 1, 2, 3 and 0 against repeated rows, which get weights of one, since weights decide which candidates are tried. */
static void test_weights_are_repeated_rows(void **state)
{
    static const support_target_kind kinds[] = {TWO_CLASSES, ONE_TARGET};
    kfe_context *ctx = *state;

    for (int k = 0; k < 2; k++) {
        support_examples e = support_examples_make(kinds[k], EXAMPLE_POINTS, 0);
        support_weigh(&e, 0);
        json_t *weighted = tune_examples(ctx, &e);
        support_repeat(&e, 0);
        e.weighted = 1;
        for (int64_t i = 0; i < e.rows; i++)
            e.weights[i] = 1;
        json_t *repeated = tune_examples(ctx, &e);
        check_same_choice(weighted, repeated, k == 0 ? "accuracy" : "rmse");
        json_decref(weighted);
        json_decref(repeated);
    }
}

/* Above the limits of the rungs: which rows are fitted on does not depend on their places, and no class is missing. */
static void test_limited_rows_go_by_content(void **state)
{
    enum { MANY = 3000, RARE = 4 };
    kfe_context *ctx = *state;
    static double x[MANY];
    static char kept[2][KFE_TUNE_FOLDS][2 * MANY]; /* by content, twice the row's number if in a test part */
    const char *labels[MANY];

    memset(kept, 0, sizeof kept);
    for (int order = 0; order < 2; order++) {
        kfe_i_tune job = {.ctx = ctx, .held_out = 1};
        kfe_data *data = NULL;
        kfe_i_splits inner = {0};
        for (int i = 0; i < MANY; i++) {
            int row = order == 0 ? i : (int)((int64_t)i * 1009 % MANY);
            x[i] = row;
            labels[i] = row < RARE ? "rare" : row % 3 ? "a" : "b";
        }
        assert_ok(ctx, kfe_data_wrap_dense(ctx, MANY, 1, 1, x, &data));
        assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
        job.data = data;
        assert_ok(ctx, kfe_i_tune_outer(&job, 5));
        int64_t begin[2];
        job.fold_begin = begin;
        begin[0] = 0;
        assert_ok(ctx, kfe_i_tune_inner(&job, 0, &inner));
        assert_int_equal(inner.count, KFE_TUNE_FOLDS);
        for (int64_t f = 0; f < inner.count; f++) {
            int rare = 0;
            assert_in_range(inner.items[f].train_count, 950, 1003);
            for (int64_t i = 0; i < inner.items[f].train_count; i++) {
                kept[order][f][(int)x[inner.items[f].train[i]]] = 1;
                rare += x[inner.items[f].train[i]] < RARE;
            }
            assert_true(rare >= 2);
            for (int64_t i = 0; i < inner.items[f].test_count; i++)
                kept[order][f][MANY + (int)x[inner.items[f].test[i]]] = 1;
        }
        kfe_i_splits_free(&inner);
        kfe_i_splits_free(&job.outer);
        kfe_i_free(ctx, job.keys[0]);
        kfe_i_free(ctx, job.keys);
        kfe_data_free(data);
    }
    assert_memory_equal(kept[0], kept[1], sizeof kept[0]);
}

static void test_kinds_of_data(void **state)
{
    static const struct {
        select_table table;
        int classes;
        const char *more, *metric, *candidate, *absent;
    } cases[] = {
        {SELECT_DENSE, 0, "", "rmse", "SVM, Laplacian kernel", "linear SVM"},
        {SELECT_DENSE, 2, "", "accuracy", "linear SVM", "mkl, Gaussian kernels"},
        {SELECT_CSR, 3, "", "accuracy", "SVM, cosine kernel", "SVM, Laplacian kernel"},
        {SELECT_VIEWS, 2, "", "accuracy", "kfd, Gaussian kernel", "pls"},
        {SELECT_VIEWS, 2, "", "accuracy", "mkl, Gaussian kernels", "pls"},
        {SELECT_TEXT, 2, "", "accuracy", "SVM, spectrum kernel", "nearest neighbours"},
        {SELECT_GIVEN, 2, ",kernel=precomputed", "accuracy", "kfd, given kernel", "nearest neighbours"},
        {SELECT_GIVEN, 0, ",kernel=precomputed", "rmse", "SVM, given kernel", "kfd, given kernel"},
    };
    kfe_context *ctx = *state;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        select_sample s = select_sample_make(ctx, cases[c].table, 60, 6, cases[c].classes, 1);
        char options[80];
        snprintf(options, sizeof options, "time=none,trials=26,assess=held-out%s", cases[c].more);
        json_t *json = tune(ctx, s.data, options, NULL);
        char *absent = json_dumps(json_object_get(json, "ranking"), 0);
        ranked(json, cases[c].candidate);
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\"", cases[c].absent);
        assert_null(strstr(absent, quoted));
        assert_string_equal(word(json, "metric"), cases[c].metric);
        assert_string_equal(word(json_object_get(json, "honest"), "measured_on"), "held-out");
        assert_true(isfinite(honest_mean(json, cases[c].metric)));
        free(absent);
        json_decref(json);
        select_sample_free(&s);
    }
}

static void test_mkl_is_tried_on_views(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_VIEWS, 60, 6, 2, 1);
    json_t *json = tune(ctx, s.data, "time=none,trials=40,assess=held-out", NULL);
    const json_t *row = ranked(json, "mkl, Gaussian kernels");

    assert_string_equal(word(row, "method"), "mkl");
    assert_true(json_is_null(json_object_get(row, "learner")));
    json_decref(json);
    select_sample_free(&s);
}

/* Classes far apart: many candidates make no error, and each of them is measured on all folds. */
static void test_candidates_that_tie_stay(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, 60, 4, 2, 12);
    json_t *json = tune(ctx, s.data, "time=none,trials=26,assess=held-out", NULL);
    const json_t *ranking = json_object_get(json, "ranking");
    int perfect = 0;

    for (size_t i = 0; i < json_array_size(ranking); i++) {
        const json_t *row = json_array_get(ranking, i);
        if (number(row, "mean") < 1)
            continue;
        perfect++;
        assert_int_equal((int)number(row, "folds"), 5);
    }
    assert_true(perfect > 6);
    json_decref(json);
    select_sample_free(&s);
}

/* How far behind the start of a candidate's name its ± stands. */
static int place_of_number(const char *text, const char *candidate)
{
    const char *name = strstr(text, candidate);

    assert_non_null(name);
    assert_non_null(strstr(name, "±"));
    return (int)(strstr(name, "±") - name);
}

/* More columns than rows, which scale=auto leaves alone. Two columns of large noise hide the others unless all are
 * standardised. */
static void test_wide_data_is_also_standardised(void **state)
{
    enum { MANY = 30, COLUMNS = 40, NOISE = 2 };
    kfe_context *ctx = *state;
    double *x = support_normals(6, MANY * COLUMNS);
    int class_of[MANY];
    char *text = NULL;

    for (int i = 0; i < MANY; i++) {
        class_of[i] = i % 2;
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = j < NOISE ? 1e4 * x[i * COLUMNS + j] : x[i * COLUMNS + j] + 2 * class_of[i];
    }
    kfe_data *data = support_dense(ctx, MANY, COLUMNS, x, class_of);
    json_t *json = tune(ctx, data, "time=none,trials=60,assess=held-out", NULL);
    assert_true(number(ranked(json, "SVM, Gaussian kernel, standardised"), "mean") > 0.9);
    assert_true(number(ranked(json, "SVM, Gaussian kernel"), "mean") < 0.9);
    json_decref(json);
    assert_ok(ctx, write_tune(ctx, data, "time=none,trials=15,assess=held-out", KFE_STYLE_TEXT, NULL, &text));
    assert_int_equal(place_of_number(text, "SVM, Gaussian kernel, standardised"),
                     place_of_number(text, "least squares")); /* names differ in length, columns do not */
    kfe_string_free(ctx, text);
    kfe_data_free(data);
    free(x);
}

/* Several targets: candidates that predict all of them. The first target is linear in the columns, so that least squares
 * predict it far better than its mean. */
static void test_several_targets(void **state)
{
    enum { MANY = 60, COLUMNS = 3 };
    kfe_context *ctx = *state;
    double *x = support_normals(5, MANY * COLUMNS);
    double y[MANY * 2];
    kfe_model *best = NULL;

    for (int i = 0; i < MANY; i++) {
        y[2 * i] = 2 * x[i * COLUMNS] - x[i * COLUMNS + 1];
        y[2 * i + 1] = x[i * COLUMNS + 2];
    }
    kfe_data *data = support_dense(ctx, MANY, COLUMNS, x, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 2, y));
    json_t *json = tune(ctx, data, "time=none,trials=20,folds=3", &best);
    assert_true(honest_mean(json, "rmse") < 0.2);
    assert_int_equal(kfe_model_outputs(best), 2);
    char *text = json_dumps(json_object_get(json, "ranking"), 0);
    assert_null(strstr(text, "SVM"));
    free(text);
    json_decref(json);
    kfe_model_free(best);
    kfe_data_free(data);
    free(x);
}

/* rmse and r2 are those of all held-out rows at once: with unequal folds neither is the mean over the folds. */
static void test_errors_are_pooled_over_rows(void **state)
{
    enum { MANY = 61 };
    kfe_context *ctx = *state;
    double *x = support_normals(15, MANY * 2);
    double y[MANY];
    double mean = 0;
    double spread = 0;
    double squares = 0;
    double average = 0;

    for (int i = 0; i < MANY; i++) {
        y[i] = x[2 * i] + 0.3 * x[2 * i + 1] * x[2 * i + 1];
        mean += y[i] / MANY;
    }
    for (int i = 0; i < MANY; i++)
        spread += (y[i] - mean) * (y[i] - mean);
    kfe_data *data = support_dense(ctx, MANY, 2, x, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    json_t *json = tune(ctx, data, "time=none,trials=20,folds=7,metrics=rmse;r2", NULL);
    const json_t *splits = json_object_get(json_object_get(json, "honest"), "splits");
    assert_int_equal(json_array_size(splits), 7);
    for (size_t i = 0; i < 7; i++) {
        const json_t *one = json_array_get(splits, i);
        double rmse = number(json_object_get(one, "metrics"), "rmse");
        squares += number(one, "test_rows") * rmse * rmse;
        average += rmse / 7;
    }
    const json_t *pooled = json_object_get(json_object_get(json, "honest"), "pooled");
    assert_below(fabs(honest_mean(json, "rmse") - sqrt(squares / MANY)), 1e-12);
    assert_true(fabs(average - sqrt(squares / MANY)) > 1e-6);
    assert_below(fabs(honest_mean(json, "r2") - (1 - squares / spread)), 1e-12);
    assert_below(fabs(number(pooled, "rmsecv") - sqrt(squares / MANY)), 1e-12);
    assert_int_equal((int)number(pooled, "predictions"), MANY);
    json_decref(json);
    kfe_data_free(data);
    free(x);
}

static void test_given_kernels_are_recognised(void **state)
{
    kfe_context *ctx = *state;
    select_sample given = select_sample_make(ctx, SELECT_GIVEN, 30, 3, 2, 1);
    select_sample dense = select_sample_make(ctx, SELECT_DENSE, 30, 3, 2, 1);
    select_sample views = select_sample_make(ctx, SELECT_VIEWS, 30, 4, 2, 1);
    char *text = NULL;

    support_catch_log(ctx);
    json_decref(tune(ctx, given.data, "time=none,trials=13,assess=held-out", NULL));
    assert_non_null(strstr(support_log(), "kernel=precomputed takes it as a kernel matrix"));
    assert_fails(ctx, KFE_EINPUT, "30 rows and 3 columns",
                 write_tune(ctx, dense.data, "kernel=precomputed", KFE_STYLE_TEXT, NULL, &text));
    assert_fails(ctx, KFE_EUNSUPPORTED, "one kernel matrix, not 2",
                 write_tune(ctx, views.data, "kernel=precomputed", KFE_STYLE_TEXT, NULL, &text));
    select_sample_free(&given);
    select_sample_free(&dense);
    select_sample_free(&views);
}

static void test_budgets(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, 60, 4, 2, 0.7);
    char *text = NULL;
    json_t *few = tune(ctx, s.data, "time=none,trials=13,folds=2", NULL);
    json_t *more = tune(ctx, s.data, "time=none,trials=39,folds=2", NULL);

    assert_true(number(few, "fits") < number(more, "fits"));
    assert_false(json_is_true(json_object_get(few, "out_of_time")));
    json_decref(few);
    json_decref(more);
    assert_fails(ctx, KFE_EINVAL, "raise time",
                 write_tune(ctx, s.data, "time=1e-6s", KFE_STYLE_TEXT, NULL, &text));
    assert_fails(ctx, KFE_EINVAL, "60s, 10m or 2h",
                 write_tune(ctx, s.data, "time=soon", KFE_STYLE_TEXT, NULL, &text));
    assert_fails(ctx, KFE_EINVAL, "60s, 10m or 2h",
                 write_tune(ctx, s.data, "time=-1", KFE_STYLE_TEXT, NULL, &text));
    assert_null(text);
    assert_ok(ctx, write_tune(ctx, s.data, "time=2h,trials=13,folds=2", KFE_STYLE_TEXT, NULL, &text));
    assert_non_null(strstr(text, "2 outer folds, which took no part in choosing"));
    kfe_string_free(ctx, text);
    select_sample_free(&s);
}

/* After each step a quarter goes on, and the best of each candidate. */
static void test_most_settings_leave_the_race_early(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, 60, 4, 2, 0.7);
    json_t *json = tune(ctx, s.data, "time=none,trials=200,assess=held-out", NULL);
    double first = 200;
    double best = 12; /* the best setting of each candidate */

    assert_true(number(json, "fits") > first);
    assert_true(number(json, "fits") < first + 2 * (first / 4 + best) + 3 * (first / 16 + 2 * best));
    json_decref(json);
    select_sample_free(&s);
}

/* Some in a hundred are of one class: the first step, which fits on half of the rows, has both classes. */
static void test_a_rare_class_stays_in_every_training_part(void **state)
{
    enum { ROWS = 400, RARE = 10 };
    kfe_context *ctx = *state;
    double x[ROWS * 2];
    int codes[ROWS];

    for (int i = 0; i < ROWS; i++) {
        codes[i] = i < RARE;
        x[2 * i] = 3 * codes[i] + sin(12.9898 * i);
        x[2 * i + 1] = cos(78.233 * i);
    }
    kfe_data *data = support_dense(ctx, ROWS, 2, x, codes);
    json_t *json = tune(ctx, data, "time=none,trials=24", NULL);
    const json_t *ranking = json_object_get(json, "ranking");
    for (size_t i = 0; i < json_array_size(ranking); i++)
        assert_true(json_is_null(json_object_get(json_array_get(ranking, i), "reason")));
    json_decref(json);
    kfe_data_free(data);
}

/* A searcher with few groups has as few inner folds: none of them is mistaken for that of another searcher. */
static void test_few_groups(void **state)
{
    enum { GROUPED_ROWS = 60 };
    kfe_context *ctx = *state;
    int class_of[GROUPED_ROWS];
    int64_t groups[GROUPED_ROWS];
    double *x = support_normals(8, GROUPED_ROWS * 2);

    for (int i = 0; i < GROUPED_ROWS; i++) {
        class_of[i] = i % 2;
        x[2 * i] += 3 * (i % 2);
    }
    kfe_data *data = support_dense(ctx, GROUPED_ROWS, 2, x, class_of);
    for (int count = 4; count <= 7; count++) {
        for (int i = 0; i < GROUPED_ROWS; i++)
            groups[i] = i / 2 % count;
        assert_ok(ctx, kfe_data_set_groups(ctx, data, groups));
        json_t *json = tune(ctx, data, "time=none,trials=20,folds=2", NULL);
        const json_t *winner = json_array_get(json_object_get(json, "ranking"), 0);
        assert_int_equal(number(winner, "folds"), count < 5 ? count : 5);
        assert_true(honest_mean(json, "accuracy") > 0.85);
        json_decref(json);
    }
    kfe_data_free(data);
    free(x);
}

static void test_few_rows(void **state)
{
    kfe_context *ctx = *state;
    double x[12] = {0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15};
    int class_of[12] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    kfe_data *four = support_dense(ctx, 4, 1, x, class_of);
    kfe_data *eight = support_dense(ctx, 8, 1, x, class_of);
    char *text = NULL;

    assert_fails(ctx, KFE_EINPUT, "of which the smallest has 2 rows; give more rows, of every class",
                 write_tune(ctx, four, "folds=2", KFE_STYLE_TEXT, NULL, &text));
    json_t *json = tune(ctx, eight, "time=none,trials=20,folds=2", NULL); /* four training rows each */
    assert_true(honest_mean(json, "accuracy") == 1);
    json_decref(json);
    kfe_data_free(four);
    kfe_data_free(eight);
}

/* What is tried with weights counts rows by them: a class of weight zero is not there. */
static void test_weights(void **state)
{
    enum { WEIGHTED_ROWS = 90 };
    kfe_context *ctx = *state;
    int class_of[WEIGHTED_ROWS];
    double weights[WEIGHTED_ROWS];
    double *x = support_normals(9, WEIGHTED_ROWS * 2);
    kfe_model *best = NULL;

    for (int i = 0; i < WEIGHTED_ROWS; i++) {
        class_of[i] = i % 3;
        weights[i] = i % 3 == 2 ? 0 : 1 + i % 2;
        x[2 * i] += 6 * (i % 3 == 1);
    }
    kfe_data *data = support_dense(ctx, WEIGHTED_ROWS, 2, x, class_of);
    assert_ok(ctx, kfe_data_set_weights(ctx, data, weights));
    json_t *json = tune(ctx, data, "time=none,trials=30,folds=3", &best);
    const json_t *ranking = json_object_get(json, "ranking");
    for (size_t i = 0; i < json_array_size(ranking); i++) {
        assert_true(number(json_array_get(ranking, i), "folds") >=
                    1); /* nothing is tried that takes no weights */
        assert_null(strstr(word(json_array_get(ranking, i), "candidate"), "neighbours"));
    }
    ranked(json, "kfd, Gaussian kernel, centroids");
    ranked(json, "linear SVM");
    assert_true(honest_mean(json, "accuracy") > 0.95); /* 2/3 if the third class counted */
    assert_int_equal(kfe_model_classes(best), 2);
    kfe_model_free(best);
    json_decref(json);
    kfe_data_free(data);
    free(x);
}

/* Prices of an SVM are multiples of the standard deviation of the target, in which rows count by their weights. */
static void test_weights_of_real_targets(void **state)
{
    enum { REAL_ROWS = 60 };
    static const double multiples[] = {0.3, 1, 3, 10, 30};
    kfe_context *ctx = *state;
    double *x = support_normals(10, REAL_ROWS * 2);
    double y[REAL_ROWS];
    double weights[REAL_ROWS];
    double mass = 0;
    double mean = 0;
    double squares = 0;
    int found = 0;

    for (int i = 0; i < REAL_ROWS; i++) {
        y[i] = 10 * x[2 * i] * x[2 * i] + x[2 * i + 1]; /* weights make the large ones count more */
        weights[i] = fabs(x[2 * i]) > 1 ? 4 : 1;
        mass += weights[i];
    }
    for (int i = 0; i < REAL_ROWS; i++)
        mean += weights[i] * y[i] / mass;
    for (int i = 0; i < REAL_ROWS; i++)
        squares += weights[i] * (y[i] - mean) * (y[i] - mean);
    kfe_data *data = support_dense(ctx, REAL_ROWS, 2, x, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    assert_ok(ctx, kfe_data_set_weights(ctx, data, weights));
    json_t *json = tune(ctx, data, "time=none,trials=60,folds=3", NULL);
    const json_t *setting = json_object_get(ranked(json, "SVM, Gaussian kernel"), "setting");
    double price = atof(word(setting, "C"));
    for (size_t i = 0; i < sizeof multiples / sizeof *multiples; i++)
        found |= fabs(price / (multiples[i] * sqrt(squares / mass)) - 1) < 1e-3;
    if (!found)
        fail_msg("C=%g is no multiple of %g", price, sqrt(squares / mass));
    json_decref(json);
    kfe_data_free(data);
    free(x);
}

static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int one_class[8] = {0};
    kfe_data *alone = support_dense(ctx, 8, 1, x, one_class);
    kfe_data *unlabelled = support_dense(ctx, 8, 1, x, NULL);
    char *text = NULL;

    assert_fails(ctx, KFE_EINPUT, "nothing to predict",
                 write_tune(ctx, alone, NULL, KFE_STYLE_TEXT, NULL, &text));
    assert_fails(ctx, KFE_EINPUT, "labels", write_tune(ctx, unlabelled, NULL, KFE_STYLE_TEXT, NULL, &text));
    kfe_data_free(alone);
    kfe_data_free(unlabelled);
}

static int stop_at_once(void *user)
{
    (void)user;
    return 1;
}

static void test_cancelling_stops(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, 60, 4, 2, 0.7);
    char *text = NULL;

    kfe_context_on_cancel(ctx, stop_at_once, NULL);
    assert_int_equal(write_tune(ctx, s.data, "time=1h", KFE_STYLE_TEXT, NULL, &text), KFE_ECANCEL);
    kfe_context_on_cancel(ctx, NULL, NULL);
    assert_null(text);
    select_sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_curved_candidates_win_on_rings),
        with_context(test_the_error_is_unbiased),
        with_context(test_outer_folds_by_hand),
        with_context(test_results_repeat),
        with_context(test_kinds_of_data),
        with_context(test_mkl_is_tried_on_views),
        with_context(test_candidates_that_tie_stay),
        with_context(test_wide_data_is_also_standardised),
        with_context(test_several_targets),
        with_context(test_errors_are_pooled_over_rows),
        with_context(test_given_kernels_are_recognised),
        with_context(test_budgets),
        with_context(test_most_settings_leave_the_race_early),
        with_context(test_a_rare_class_stays_in_every_training_part),
        with_context(test_few_groups),
        with_context(test_the_order_of_rows_changes_nothing),
        with_context(test_weights_are_repeated_rows),
        with_context(test_limited_rows_go_by_content),
        with_context(test_few_rows),
        with_context(test_weights),
        with_context(test_weights_of_real_targets),
        with_context(test_refusals),
        with_context(test_cancelling_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
