/* SPDX-License-Identifier: Apache-2.0 */
/* mkl, lmkl and sldr through the public header: planted halves and noise, special cases that are plain SVMs,
 * the search, files, names and orders of views, threads. */
#include "support/scene.h"

#include <math.h>
#include <stdio.h>

#include "support/tolerance.h"

enum { PLANTED = 240 };

/* On one side view "left" separates the classes, on the other side view "right". The first column of both
 * views contains the side; the third view contains only noise. */
static scene plant(kfe_context *ctx, uint64_t seed, int views)
{
    enum { COLS = 4 };
    scene s = {.rows = PLANTED, .class_of = calloc(PLANTED, sizeof(int))};
    double *noise = support_normals(seed + 1000, (int64_t)PLANTED * 3);
    double *both[2] = {support_normals(seed, (int64_t)PLANTED * COLS),
                       support_normals(seed + 500, (int64_t)PLANTED * COLS)};

    for (int i = 0; i < PLANTED; i++) {
        int side = i % 2;
        s.class_of[i] = i / 2 % 2;
        for (int v = 0; v < 2; v++) {
            double *row = both[v] + (int64_t)i * COLS;
            row[0] = (side ? 2 : -2) + 0.5 * row[0];
            row[1] = v == side ? 0.4 * row[1] + (s.class_of[i] ? 1 : -1) : row[1];
        }
    }
    scene_add(&s, "left", COLS, both[0]);
    scene_add(&s, "right", COLS, both[1]);
    if (views == 3)
        scene_add(&s, "noise", 3, noise);
    else
        free(noise);
    scene_finish(ctx, &s);
    return s;
}

/* ---- fits ---- */

static double accuracy_of(kfe_context *ctx, const kfe_model *model, const kfe_data *data, const int *class_of)
{
    kfe_matrix predictions = {0};
    int64_t right = 0;

    assert_ok(ctx, kfe_predict(ctx, model, data, &predictions, NULL));
    for (int64_t i = 0; i < predictions.rows; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", class_of[i]);
        right += strcmp(kfe_model_class_name(model, (int64_t)predictions.values[i]), name) == 0;
    }
    double share = (double)right / (double)predictions.rows;
    kfe_matrix_free(&predictions);
    return share;
}

static void assert_same_scores(kfe_context *ctx, const kfe_model *a, const kfe_data *data_of_a,
                               const kfe_model *b, const kfe_data *data_of_b, double tolerance)
{
    kfe_matrix of_a = scene_scores(ctx, a, data_of_a);
    kfe_matrix of_b = scene_scores(ctx, b, data_of_b);

    assert_int_equal(of_a.rows, of_b.rows);
    assert_int_equal(of_a.cols, of_b.cols);
    assert_below(support_distance(of_a.rows * of_a.cols, of_a.values, of_b.values), tolerance);
    kfe_matrix_free(&of_a);
    kfe_matrix_free(&of_b);
}

/* ---- planted solutions ---- */

static double *side_by_side(const scene *s)
{
    int64_t cols = s->cols[0] + s->cols[1];
    double *all = calloc((size_t)(s->rows * cols), sizeof *all);

    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < cols; j++)
            all[i * cols + j] = j < s->cols[0] ? s->values[0][i * s->cols[0] + j]
                                               : s->values[1][i * s->cols[1] + j - s->cols[0]];
    return all;
}

/* The best accuracy of SVMs with one weight per column or per view. */
static double best_without_a_gate(kfe_context *ctx, scene *train, scene *test)
{
    double best = 0;
    double *all_train = side_by_side(train);
    double *all_test = side_by_side(test);
    kfe_data *joined = support_dense(ctx, train->rows, 8, all_train, train->class_of);
    kfe_data *unseen = support_dense(ctx, test->rows, 8, all_test, test->class_of);
    const kfe_data *trains[] = {train->parts[0], train->parts[1], joined, train->data};
    const kfe_data *tests[] = {test->parts[0], test->parts[1], unseen, test->data};

    for (int k = 0; k < 4; k++) {
        kfe_model *model = k < 3 ? scene_fit(ctx, "none", NULL, "linear", "svm", "C=10", trains[k])
                                 : scene_fit(ctx, "mkl", "svm-C=10", "linear", NULL, NULL, trains[k]);
        best = fmax(best, accuracy_of(ctx, model, tests[k], test->class_of));
        kfe_model_free(model);
    }
    kfe_data_free(joined);
    kfe_data_free(unseen);
    free(all_train);
    free(all_test);
    return best;
}

/* Examples alternate between the two sides. */
static void check_sides(kfe_context *ctx, const char *method, const char *params, const scene *train,
                        const scene *test)
{
    kfe_model *model = scene_fit(ctx, method, params, "linear", NULL, NULL, train->data);
    kfe_matrix shares = support_transform(ctx, model, test->data);
    int64_t right = 0;

    assert_int_equal(shares.cols, 2);
    for (int64_t i = 0; i < shares.rows; i++) {
        double sum = shares.values[2 * i] + shares.values[2 * i + 1];
        assert_below(fabs(sum - 1), tolerance_sum(2, 1));
        right += (shares.values[2 * i + 1] > 0.5) == (i % 2 == 1);
    }
    assert_true((double)right > 0.97 * (double)shares.rows);
    kfe_matrix_free(&shares);
    kfe_model_free(model);
}

static void test_planted_halves_beat_what_has_no_gate(void **state)
{
    static const char *const sldr = "svm-C=10,local-dim=1,gate-dim=1";
    kfe_context *ctx = *state;

    for (uint64_t seed = 1; seed <= 3; seed++) {
        scene train = plant(ctx, seed, 2);
        scene test = plant(ctx, seed + 10, 2);
        double rival = best_without_a_gate(ctx, &train, &test);
        kfe_model *lmkl = scene_fit(ctx, "lmkl", "svm-C=10", "linear", NULL, NULL, train.data);
        kfe_model *local = scene_fit(ctx, "sldr", sldr, "linear", NULL, NULL, train.data);
        assert_true(accuracy_of(ctx, lmkl, test.data, test.class_of) > fmax(rival + 0.005, 0.95));
        assert_true(accuracy_of(ctx, local, test.data, test.class_of) > fmax(rival + 0.005, 0.95));
        check_sides(ctx, "lmkl", "svm-C=10,features=shares", &train, &test);
        check_sides(ctx, "sldr", "svm-C=10,local-dim=1,gate-dim=1,features=shares", &train, &test);
        kfe_model_free(lmkl);
        kfe_model_free(local);
        scene_close(&train);
        scene_close(&test);
    }
}

static void check_report(kfe_context *ctx, const kfe_model *model, kfe_style style, const char *const *texts)
{
    char *text = NULL;

    assert_ok(ctx, kfe_model_describe(ctx, model, style, &text));
    for (; *texts; texts++)
        if (!strstr(text, *texts))
            fail_msg("'%s' is not in: %s", *texts, text);
    assert_null(strstr(text, "left is never used"));
    kfe_string_free(ctx, text);
}

/* On most draws; on a few, the search ends at a point where noise keeps a small weight
 * (python/tests/test_views.py checks the median over nine draws). */
static void test_noise_is_switched_off(void **state)
{
    static const char *const text[] = {"noise is never used: you can stop collecting it",
                                       "mean gate",
                                       "decides 0.0 %",
                                       "objective",
                                       "support-share",
                                       NULL};
    static const char *const json[] = {"\"mean_gate\"",  "\"decides\"",       "\"used\": false",
                                       "\"used\": true", "\"support-share\"", NULL};
    kfe_context *ctx = *state;
    scene s = plant(ctx, 3, 3);
    kfe_model *model = scene_fit(ctx, "sldr", NULL, NULL, NULL, NULL, s.data);
    int64_t count = 0;
    const double *means = scene_record(model, "gate-mean", &count);

    assert_int_equal(count, 3);
    assert_true(means[2] < 0.02);
    assert_below(fabs(means[0] + means[1] + means[2] - 1), tolerance_sum(PLANTED, 3));
    const double *decides = scene_record(model, "gate-share", &count);
    assert_true(decides[0] > 0.4 && decides[1] > 0.4 && decides[2] == 0);
    assert_below(fabs(decides[0] + decides[1] - 1), tolerance_sum(PLANTED, 2));
    const double *share = scene_record(model, "support-share", &count);
    assert_below(fabs(share[0] * PLANTED - (double)kfe_model_support_size(model)), 1e-9);
    check_report(ctx, model, KFE_STYLE_TEXT, text);
    check_report(ctx, model, KFE_STYLE_JSON, json);
    kfe_model_free(model);
    scene_close(&s);
}

/* ---- special cases ---- */

static void test_one_view_is_the_plain_svm(void **state)
{
    static const char *const kernels[] = {"linear", "rbf:gamma=0.3", "poly:degree=2,gamma=0.2"};
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 60, 2);
    const kfe_data *x = s.parts[0];

    for (int k = 0; k < 3; k++) {
        kfe_model *plain = scene_fit(ctx, "none", NULL, kernels[k], "svm", "C=3,stop=1e-8", x);
        kfe_model *sldr =
            scene_fit(ctx, "sldr", "local-dim=4,svm-C=3,svm-stop=1e-8", kernels[k], NULL, NULL, x);
        kfe_model *lmkl = scene_fit(ctx, "lmkl", "svm-C=3,svm-stop=1e-8", kernels[k], NULL, NULL, x);
        assert_same_scores(ctx, plain, x, lmkl, x, 1e-5);
        assert_same_scores(ctx, plain, x, sldr, x, 1e-5);
        kfe_model_free(plain);
        kfe_model_free(sldr);
        kfe_model_free(lmkl);
    }
    scene_close(&s);
}

/* With the gate on a view of zeros and no steps, each of three parts has the weight ⅓ everywhere. */
static void test_constant_gate_is_an_svm_on_the_sum(void **state)
{
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 50, 2);
    int order[] = {0, 1, 2};
    double *sum = calloc(50 * 50, sizeof *sum);

    scene_add(&s, "nothing", 1, calloc(50, sizeof(double)));
    s.parts[2] = support_dense(ctx, 50, 1, s.values[2], s.class_of);
    kfe_data *three = scene_join(ctx, &s, 3, order);
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++)
            for (int v = 0; v < 2; v++)
                for (int64_t c = 0; c < s.cols[v]; c++)
                    sum[i * 50 + j] += s.values[v][i * s.cols[v] + c] * s.values[v][j * s.cols[v] + c] / 9;
    kfe_data *matrix = support_dense(ctx, 50, 50, sum, s.class_of);
    kfe_model *plain = scene_fit(ctx, "none", NULL, "precomputed", "svm", "stop=1e-8", matrix);
    kfe_model *lmkl =
        scene_fit(ctx, "lmkl", "gate=nothing,max-iter=0,svm-stop=1e-8", "linear", NULL, NULL, three);
    assert_same_scores(ctx, plain, matrix, lmkl, three, 1e-5);
    kfe_model_free(plain);
    kfe_model_free(lmkl);
    kfe_data_free(matrix);
    kfe_data_free(three);
    free(sum);
    scene_close(&s);
}

static void test_mkl_is_the_svm_on_the_weighted_sum(void **state)
{
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 60, 2);
    kfe_model *mkl = scene_fit(ctx, "mkl", "svm-C=1,normalize=no,svm-stop=1e-8,tolerance=1e-6",
                               "rbf:gamma=0.3", NULL, NULL, s.data);
    int64_t count = 0;
    const double *weights = scene_record(mkl, "weights", &count);
    double *sum = support_rbf(60, s.values[0], 60, s.values[0], 4, 0.3);
    double *other = support_rbf(60, s.values[1], 60, s.values[1], 3, 0.3);

    assert_int_equal(count, 2);
    assert_below(fabs(weights[0] + weights[1] - 1), 1e-12);
    for (int i = 0; i < 60 * 60; i++)
        sum[i] = weights[0] * sum[i] + weights[1] * other[i];
    kfe_data *matrix = support_dense(ctx, 60, 60, sum, s.class_of);
    kfe_model *plain = scene_fit(ctx, "none", NULL, "precomputed", "svm", "stop=1e-8", matrix);
    assert_same_scores(ctx, plain, matrix, mkl, s.data, 1e-4);
    kfe_model_free(plain);
    kfe_model_free(mkl);
    kfe_data_free(matrix);
    free(sum);
    free(other);
    scene_close(&s);
}

/* ---- the search, seeds, restarts ---- */

static void test_the_objective_never_rises(void **state)
{
    static const char *const kernels[] = {"linear", "rbf:gamma=0.3", "poly:degree=2", "chi2:gamma=0.2"};
    static const char *const methods[] = {"lmkl", "sldr"};
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 48, 3);

    for (int64_t i = 0; i < 48 * 4; i++)
        s.values[0][i] = fabs(s.values[0][i]);
    for (int64_t i = 0; i < 48 * 3; i++)
        s.values[1][i] = fabs(s.values[1][i]);
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 4; k++) {
            kfe_model *model = scene_fit(ctx, methods[m], "svm-C=5", kernels[k], NULL, NULL, s.data);
            int64_t count = 0;
            const double *objective = scene_record(model, "objective", &count);
            assert_true(count > 2);
            for (int64_t i = 1; i < count; i++)
                assert_true(objective[i] <= objective[i - 1] && objective[i] > 0);
            kfe_model_free(model);
        }
    scene_close(&s);
}

static void test_seeds_and_restarts(void **state)
{
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 48, 3);
    kfe_model *model[4];

    for (int k = 0; k < 4; k++) {
        kfe_context_set_seed(ctx, k == 2 ? 6 : 5);
        model[k] = scene_fit(ctx, "sldr", k == 3 ? "init=random,restarts=5" : "init=random,restarts=1", NULL,
                             NULL, NULL, s.data);
    }
    kfe_matrix a = scene_scores(ctx, model[0], s.data);
    kfe_matrix b = scene_scores(ctx, model[1], s.data);
    kfe_matrix c = scene_scores(ctx, model[2], s.data);
    size_t size = (size_t)(a.rows * a.cols) * sizeof(double);
    assert_memory_equal(a.values, b.values, size);
    assert_true(memcmp(a.values, c.values, size) != 0);
    assert_true(scene_last_objective(model[3]) <= scene_last_objective(model[0]));
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_matrix_free(&c);
    for (int k = 0; k < 4; k++)
        kfe_model_free(model[k]);
    scene_close(&s);
}

/* ---- files, names, orders ---- */

static void test_saved_models_are_the_same(void **state)
{
    static const char *const methods[][2] = {
        {"mkl", NULL}, {"lmkl", "features=gate"}, {"sldr", NULL}, {"sldr", "gate=narrow,features=shares"}};
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 40, 3);

    for (int m = 0; m < 4; m++) {
        kfe_model *loaded = NULL;
        kfe_model *model = scene_fit(ctx, methods[m][0], methods[m][1], "rbf:gamma=0.2", NULL, NULL, s.data);
        const char *path = support_path("m.kfe");
        assert_ok(ctx, kfe_model_save(ctx, model, path));
        assert_ok(ctx, kfe_model_load(ctx, path, &loaded));
        assert_string_equal(kfe_model_view_name(loaded, 1), "narrow");
        assert_int_equal(kfe_model_cols(loaded, 1), 3);
        assert_same_scores(ctx, model, s.data, loaded, s.data, 0);
        kfe_matrix a = support_transform(ctx, model, s.data);
        kfe_matrix b = support_transform(ctx, loaded, s.data);
        assert_memory_equal(a.values, b.values, (size_t)(a.rows * a.cols) * sizeof(double));
        kfe_matrix_free(&a);
        kfe_matrix_free(&b);
        kfe_model_free(model);
        kfe_model_free(loaded);
    }
    scene_close(&s);
}

static void test_views_come_in_any_order(void **state)
{
    static const char *const methods[] = {"mkl", "lmkl", "sldr"};
    static const int turned[] = {1, 0};
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 40, 2);
    kfe_data *other = scene_join(ctx, &s, 2, turned);

    for (int m = 0; m < 3; m++) {
        kfe_model *model = scene_fit(ctx, methods[m], NULL, "linear", NULL, NULL, s.data);
        assert_same_scores(ctx, model, s.data, model, other, 0);
        kfe_model_free(model);
    }
    kfe_data_free(other);
    scene_close(&s);
}

static void test_gates_by_name_and_number(void **state)
{
    static const char *const gates[] = {"gate=narrow", "gate=2", "gate=all"};
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 40, 2);
    kfe_model *model[3];

    for (int k = 0; k < 3; k++)
        model[k] = scene_fit(ctx, "sldr", gates[k], NULL, NULL, NULL, s.data);
    assert_same_scores(ctx, model[0], s.data, model[1], s.data, 0);
    kfe_matrix one = scene_scores(ctx, model[0], s.data);
    kfe_matrix all = scene_scores(ctx, model[2], s.data);
    assert_true(support_distance(40, one.values, all.values) > 1e-6);
    kfe_matrix_free(&one);
    kfe_matrix_free(&all);
    for (int k = 0; k < 3; k++)
        kfe_model_free(model[k]);
    scene_close(&s);
}

/* ---- threads, cancelling, memory ---- */

static void test_threads_agree(void **state)
{
    kfe_context *ctx = *state;
    scene s = plant(ctx, 9, 3);
    kfe_model *model[3];

    for (int k = 0; k < 3; k++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, k == 0 ? 1 : 2));
        model[k] = scene_fit(ctx, "sldr", "svm-stop=1e-8", NULL, NULL, NULL, s.data);
    }
    assert_same_scores(ctx, model[1], s.data, model[2], s.data, 0);
    assert_same_scores(ctx, model[0], s.data, model[1], s.data, 1e-3);
    for (int k = 0; k < 3; k++)
        kfe_model_free(model[k]);
    scene_close(&s);
}

static int stop_now(void *user)
{
    int *calls = user;

    return ++*calls > 3;
}

static void test_fits_can_be_cancelled(void **state)
{
    static const char *const methods[] = {"lmkl", "sldr"};
    kfe_context *ctx = *state;
    scene s = plant(ctx, 9, 3);

    for (int m = 0; m < 2; m++) {
        int calls = 0;
        kfe_context_on_cancel(ctx, stop_now, &calls);
        assert_int_equal(scene_try_fit(ctx, methods[m], "settled=0", s.data), KFE_ECANCEL);
        kfe_context_on_cancel(ctx, NULL, NULL);
    }
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_planted_halves_beat_what_has_no_gate),
        with_context(test_noise_is_switched_off),
        with_context(test_one_view_is_the_plain_svm),
        with_context(test_constant_gate_is_an_svm_on_the_sum),
        with_context(test_mkl_is_the_svm_on_the_weighted_sum),
        with_context(test_the_objective_never_rises),
        with_context(test_seeds_and_restarts),
        with_context(test_saved_models_are_the_same),
        with_context(test_views_come_in_any_order),
        with_context(test_gates_by_name_and_number),
        with_context(test_threads_agree),
        with_context(test_fits_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
