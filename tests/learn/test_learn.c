/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions on outputs, the nearest class mean, and properties of all classifiers and regressors. */
#include "support/learn.h"
#include "support/sweep.h"
#include "support/tolerance.h"

/* ---- decisions on outputs written by hand ---- */

static void check_decision(kfe_i_decision decision, const double *outputs, int expected, const double *scores)
{
    kfe_i_predictor predictor = {.decision = decision, .classes = 3, .outputs = 3};
    double got[3];

    assert_int_equal(kfe_i_predictor_decide(&predictor, outputs), expected);
    kfe_i_predictor_class_scores(&predictor, outputs, got);
    for (int g = 0; g < 3; g++)
        assert_below(fabs(got[g] - scores[g]), 1e-15);
}

static void test_decisions(void **state)
{
    (void)state;
    check_decision(KFE_DECIDE_LARGEST, (double[]){1, 3, 2}, 1, (double[]){1, 3, 2});
    check_decision(KFE_DECIDE_LARGEST, (double[]){-1, -1, -2}, 0, (double[]){-1, -1, -2});
    /* pairs 01, 02, 12: class 2 wins against both others */
    check_decision(KFE_DECIDE_PAIRS, (double[]){2, -1, -5}, 2,
                   (double[]){1 + 1 / (3 * 2.0), -7 / (3 * 8.0), 2 + 6 / (3 * 7.0)});
    /* one vote each: the margins decide, as they order the scores */
    check_decision(KFE_DECIDE_PAIRS, (double[]){1, -3, 1}, 2,
                   (double[]){1 - 2 / (3 * 3.0), 1, 1 + 2 / (3 * 3.0)});
    check_decision(KFE_DECIDE_PAIRS, (double[]){-3, 1, -1}, 1,
                   (double[]){1 - 2 / (3 * 3.0), 1 + 2 / (3 * 3.0), 1});
    /* an output of zero is a vote for the second class of the pair */
    check_decision(KFE_DECIDE_PAIRS, (double[]){0, 0, 0}, 2, (double[]){0, 1, 2});
    check_decision(KFE_DECIDE_CHAIN, (double[]){0.5, 7}, 0, (double[]){0.5, -0.5, -7});
    check_decision(KFE_DECIDE_CHAIN, (double[]){-2, 1}, 1, (double[]){-2, 1, -1});
    check_decision(KFE_DECIDE_CHAIN, (double[]){-2, -3}, 2, (double[]){-2, -3, 2});
    assert_int_equal(kfe_i_decision_outputs(KFE_DECIDE_LARGEST, 5), 5);
    assert_int_equal(kfe_i_decision_outputs(KFE_DECIDE_PAIRS, 5), 10);
    assert_int_equal(kfe_i_decision_outputs(KFE_DECIDE_CHAIN, 5), 4);
}

static void test_two_classes_are_one_pair(void **state)
{
    kfe_i_predictor predictor = {.decision = KFE_DECIDE_PAIRS, .classes = 2, .outputs = 1};
    double scores[2];
    double last = -INFINITY;
    (void)state;

    for (double output = -2; output <= 2; output += 0.25) {
        assert_int_equal(kfe_i_predictor_decide(&predictor, &output), output > 0 ? 0 : 1);
        kfe_i_predictor_class_scores(&predictor, &output, scores);
        assert_true(scores[0] > last); /* monotone, as ROC curves need */
        last = scores[0];
    }
}

/* A vote is worth more than any margin. */
static void test_votes_come_before_margins(void **state)
{
    kfe_i_predictor predictor = {.decision = KFE_DECIDE_PAIRS, .classes = 4, .outputs = 6};
    double outputs[6] = {1e-9, 1e-9, -1e300, 1e-9, -1e300, -1e300}; /* pairs 01 02 03 12 13 23 */
    double scores[4];
    (void)state;

    kfe_i_predictor_class_scores(&predictor, outputs, scores);
    assert_int_equal(kfe_i_predictor_decide(&predictor, outputs), 3);
    assert_true(scores[3] > scores[0] && scores[0] > scores[1] && scores[1] > scores[2]);
}

/* Where margins are wide, the fractions of equal votes round to the same number. */
static void test_wide_margins_order_the_scores(void **state)
{
    static const struct {
        double outputs[3]; /* pairs 01, 02, 12 */
        int best;
    } cases[] = {{{1, -2, 4}, 1}, {{4, -2, 1}, 0}, {{1, -4, 2}, 2}, {{-4, 1, -2}, 1}};
    kfe_i_predictor predictor = {.decision = KFE_DECIDE_PAIRS, .classes = 3, .outputs = 3};
    (void)state;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (double scale = 1e-300; scale < 1e300; scale *= 1e10) {
            double outputs[3];
            double scores[3];
            for (int k = 0; k < 3; k++)
                outputs[k] = scale * cases[c].outputs[k];
            assert_int_equal(kfe_i_predictor_decide(&predictor, outputs), cases[c].best);
            kfe_i_predictor_class_scores(&predictor, outputs, scores);
            for (int g = 0; g < 3; g++)
                assert_true(g == cases[c].best || scores[g] < scores[cases[c].best]);
        }
}

/* ---- centroids ---- */

static double squared_distance(int64_t cols, const double *x, const double *y)
{
    double sum = 0;

    for (int64_t j = 0; j < cols; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

enum { ROWS = 70, COLS = 5, CLASSES = 3 };

typedef struct problem {
    double *x;
    int *class_of;
    kfe_i_table dense, sparse;
    kfe_i_target target;
} problem;

/* Some entries are zero, so that sparse tables have gaps. */
static problem make_problem(kfe_context *ctx, uint64_t seed, double shift)
{
    problem p;

    support_clouds(seed, ROWS, COLS, CLASSES, 2, &p.x, &p.class_of);
    for (int64_t i = 0; i < ROWS * COLS; i++)
        p.x[i] = i % 3 == 0 ? 0 : p.x[i] + shift;
    p.dense = learn_dense(ROWS, COLS, p.x);
    p.sparse = learn_sparse(ctx, ROWS, COLS, p.x);
    p.target = learn_classes(ctx, ROWS, p.class_of);
    return p;
}

static void free_problem(problem *p)
{
    kfe_i_table_free(&p->sparse);
    kfe_i_target_free(&p->target);
    free(p->x);
    free(p->class_of);
}

static void class_means(const problem *p, double *means)
{
    double count[CLASSES] = {0};

    memset(means, 0, CLASSES * COLS * sizeof *means);
    for (int64_t i = 0; i < ROWS; i++) {
        count[p->class_of[i]]++;
        for (int64_t j = 0; j < COLS; j++)
            means[p->class_of[i] * COLS + j] += p->x[i * COLS + j];
    }
    for (int64_t i = 0; i < CLASSES * COLS; i++)
        means[i] /= count[i / COLS];
}

static void test_centroid_is_the_nearest_mean(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 4, 10);
    double means[CLASSES * COLS];
    double *dense = learn_fit_outputs(ctx, "centroid", NULL, &p.dense, &p.target, &p.dense);
    double *sparse = learn_fit_outputs(ctx, "centroid", NULL, &p.sparse, &p.target, &p.sparse);

    class_means(&p, means);
    for (int64_t i = 0; i < ROWS; i++)
        for (int g = 1; g < CLASSES; g++) {
            double nearer = (squared_distance(COLS, p.x + i * COLS, means) -
                             squared_distance(COLS, p.x + i * COLS, means + g * COLS)) /
                            2;
            double *row = dense + i * CLASSES;
            assert_below(fabs(row[g] - row[0] - nearer), tolerance_sum(ROWS, 1e4));
        }
    assert_below(support_distance(ROWS * CLASSES, dense, sparse), tolerance_sum(ROWS, 100));
    free(dense);
    free(sparse);
    free_problem(&p);
}

/* ---- properties of all classifiers and regressors ---- */

static const char *const all[] = {"knn", "svm", "linear-svm", "ls", "centroid"};
enum { LEARNERS = sizeof all / sizeof *all };

static void test_tables_of_learners(void **state)
{
    kfe_context *ctx = *state;
    const kfe_entry_info *info;
    const kfe_i_learner *found = NULL;
    int count = 0;

    for (; (info = kfe_learner(count)); count++) {
        assert_string_equal(info->name, all[count]);
        assert_true(strlen(info->summary) > 0 && strlen(info->formula) > 0);
        for (int p = 0; kfe_learner_param(count, p); p++)
            assert_true(strlen(kfe_learner_param(count, p)->help) > 0);
    }
    assert_int_equal(count, LEARNERS);
    assert_null(kfe_learner_param(count, 0));
    assert_fails(ctx, KFE_EINVAL, "did you mean 'linear-svm'", kfe_i_learner_find(ctx, "linear_svm", &found));
}

static int learner_has(const char *name)
{
    for (int l = 0; kfe_learner_param(l, 0) || l < LEARNERS; l++)
        for (int p = 0; kfe_learner_param(l, p); p++)
            if (strcmp(kfe_learner_param(l, p)->name, name) == 0)
                return 1;
    return 0;
}

/* Both become flags of one command, so their names must differ. */
static void test_parameters_differ_from_those_of_methods(void **state)
{
    const kfe_entry_info *info;
    (void)state;

    assert_true(learner_has("neighbors"));
    for (int m = 0; (info = kfe_method(m)); m++)
        for (int p = 0; kfe_method_param(m, p); p++)
            if (learner_has(kfe_method_param(m, p)->name))
                fail_msg("learners and method %s both have '%s'", info->name, kfe_method_param(m, p)->name);
    for (int p = 0; kfe_fit_option(p); p++)
        assert_false(learner_has(kfe_fit_option(p)->name));
    for (int p = 0; kfe_read_option(p); p++)
        assert_false(learner_has(kfe_read_option(p)->name));
}

static void test_rows_may_lie_apart(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 10, 0);
    double wide[ROWS * (COLS + 2)];

    for (int64_t i = 0; i < ROWS * (COLS + 2); i++)
        wide[i] = i % (COLS + 2) < COLS ? p.x[i / (COLS + 2) * COLS + i % (COLS + 2)] : NAN;
    kfe_i_table apart = learn_dense(ROWS, COLS, wide);
    apart.stride = COLS + 2;
    for (int l = 0; l < LEARNERS; l++) {
        kfe_i_predictor predictor = learn_fit(ctx, all[l], NULL, &apart, &p.target);
        double *got = learn_outputs(ctx, &predictor, &apart);
        double *expected = learn_fit_outputs(ctx, all[l], NULL, &p.dense, &p.target, &p.dense);
        assert_below(support_distance(ROWS * predictor.outputs, expected, got), 1e-12);
        free(got);
        free(expected);
        kfe_i_predictor_free(&predictor);
    }
    free_problem(&p);
}

static void test_fits_repeat_bit_by_bit(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 11, 0);

    for (int l = 0; l < LEARNERS; l++)
        for (int t = 0; t < 2; t++) {
            const kfe_i_table *table = t ? &p.sparse : &p.dense;
            double *first = learn_fit_outputs(ctx, all[l], NULL, table, &p.target, table);
            double *second = learn_fit_outputs(ctx, all[l], NULL, table, &p.target, table);
            assert_memory_equal(first, second, ROWS * 3 * sizeof *first);
            free(first);
            free(second);
        }
    free_problem(&p);
}

static void test_constant_features_give_one_answer(void **state)
{
    kfe_context *ctx = *state;
    double x[12] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    int class_of[6] = {0, 1, 1, 1, 2, 2};
    kfe_i_table table = learn_dense(6, 2, x);
    kfe_i_target target = learn_classes(ctx, 6, class_of);

    for (int l = 0; l < LEARNERS; l++) {
        support_catch_log(ctx);
        kfe_i_predictor predictor = learn_fit(ctx, all[l], NULL, &table, &target);
        assert_non_null(strstr(support_log(), "constant"));
        double *out = learn_outputs(ctx, &predictor, &table);
        for (int64_t i = 0; i < 6 * predictor.outputs; i++) {
            assert_true(isfinite(out[i]));
            assert_true(out[i] == out[i % predictor.outputs]);
        }
        free(out);
        kfe_i_predictor_free(&predictor);
    }
    kfe_i_target_free(&target);
}

static void test_bad_targets_are_refused(void **state)
{
    kfe_context *ctx = *state;
    double x[4] = {1, 2, 3, 4};
    int one_class[4] = {0, 0, 0, 0};
    int two[4] = {0, 1, 0, 1};
    kfe_i_table table = learn_dense(4, 1, x);
    kfe_i_target same = learn_classes(ctx, 4, one_class);
    kfe_i_target pair = learn_classes(ctx, 4, two);
    kfe_i_target real;
    kfe_i_target nothing = {0};
    kfe_i_predictor predictor;

    assert_ok(ctx, kfe_i_target_from_values(ctx, 4, 1, x, &real));
    for (int l = 0; l < LEARNERS; l++) {
        assert_fails(ctx, KFE_EINPUT, "two classes", learn_try(ctx, all[l], NULL, &table, &same, &predictor));
        assert_fails(ctx, KFE_EINPUT, "needs labels",
                     learn_try(ctx, all[l], NULL, &table, &nothing, &predictor));
    }
    assert_fails(ctx, KFE_EINPUT, "task=classify",
                 learn_try(ctx, "centroid", NULL, &table, &real, &predictor));
    pair.codes[1] = pair.codes[3] = 0;
    assert_fails(ctx, KFE_EINPUT, "no example of class 'c1'",
                 learn_try(ctx, "knn", NULL, &table, &pair, &predictor));
    pair.codes[1] = 1;
    x[2] = INFINITY;
    assert_fails(ctx, KFE_EINPUT, "example 3", learn_try(ctx, "knn", NULL, &table, &pair, &predictor));
    x[2] = 1e151;
    assert_fails(ctx, KFE_EINPUT, "example 3", learn_try(ctx, "knn", NULL, &table, &pair, &predictor));
    x[2] = 0;
    table.cols = 0;
    assert_fails(ctx, KFE_EINPUT, "nothing to learn", learn_try(ctx, "ls", NULL, &table, &pair, &predictor));
    table.cols = 1;
    assert_fails(ctx, KFE_EINVAL, "neighbors",
                 learn_try(ctx, "knn", "neighbors=0", &table, &pair, &predictor));
    assert_fails(ctx, KFE_EINVAL, "C", learn_try(ctx, "svm", "C=0", &table, &pair, &predictor));
    assert_fails(ctx, KFE_EINVAL, "C", learn_try(ctx, "linear-svm", "C=-1", &table, &pair, &predictor));
    assert_fails(ctx, KFE_EINVAL, "l2", learn_try(ctx, "ls", "l2=-1", &table, &pair, &predictor));
    predictor = learn_fit(ctx, "ls", NULL, &table, &pair);
    table.cols = 2;
    table.rows = 2;
    assert_fails(ctx, KFE_EINPUT, "fitted on 1 features",
                 kfe_i_predictor_outputs(ctx, &predictor, &table, x));
    kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&same);
    kfe_i_target_free(&pair);
    kfe_i_target_free(&real);
}

/* ---- failing allocations ---- */

typedef struct sweep_case {
    const char *learner, *params;
    int sparse, wide;
    int64_t memory; /* 0: no limit */
    const problem *problem;
} sweep_case;

static kfe_status fit_and_predict(kfe_context *ctx, void *user)
{
    const sweep_case *one = user;
    const problem *p = one->problem;
    kfe_i_predictor predictor = {0};
    kfe_i_table table = kfe_i_table_slice(one->sparse ? &p->sparse : &p->dense, 0, ROWS);
    kfe_i_target target = p->target;
    double out[ROWS * CLASSES];

    if (one->wide) /* fewer examples than features; the first ones include all classes */
        table.rows = target.rows = 4;
    if (one->memory > 0)
        assert_ok(ctx, kfe_context_set_memory(ctx, one->memory));
    kfe_status status = learn_try(ctx, one->learner, one->params, &table, &target, &predictor);
    if (status == KFE_OK)
        status = kfe_i_predictor_outputs(ctx, &predictor, &table, out);
    kfe_i_predictor_free(&predictor);
    return status;
}

static void test_failing_allocations(void **state)
{
    static const sweep_case cases[] = {
        {"knn", "neighbors=3", 0, 0, 0, NULL},
        {"knn", "neighbors=3", 1, 0, 0, NULL},
        {"centroid", NULL, 0, 0, 0, NULL},
        {"ls", NULL, 0, 0, 0, NULL},
        {"ls", NULL, 1, 0, 0, NULL},
        {"ls", NULL, 0, 1, 0, NULL},
        {"ls", NULL, 1, 1, 0, NULL},
        {"ls", NULL, 1, 0, 8000, NULL}, /* too little memory for a dense copy: solved by products */
        {"ls", NULL, 1, 1, 400, NULL},
        {"svm", "class-weights=balanced", 0, 0, 0, NULL},
        {"svm", "learner-kernel=rbf:gamma=1", 1, 0, 0, NULL},
        {"svm", "learner-kernel=laplacian:gamma=1,class-weights=c0:2", 0, 0, 0, NULL},
        {"linear-svm", "class-weights=balanced", 0, 0, 0, NULL},
    };
    problem p = make_problem(*state, 12, 0);

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sweep_case one = cases[c];
        one.problem = &p;
        support_sweep_all(one.learner, fit_and_predict, &one, 5);
    }
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_decisions),
        with_context(test_two_classes_are_one_pair),
        with_context(test_votes_come_before_margins),
        with_context(test_wide_margins_order_the_scores),
        with_context(test_centroid_is_the_nearest_mean),
        with_context(test_tables_of_learners),
        with_context(test_parameters_differ_from_those_of_methods),
        with_context(test_rows_may_lie_apart),
        with_context(test_fits_repeat_bit_by_bit),
        with_context(test_constant_features_give_one_answer),
        with_context(test_bad_targets_are_refused),
        with_context(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
