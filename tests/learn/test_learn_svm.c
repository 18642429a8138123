/* SPDX-License-Identifier: Apache-2.0 */
/* svm against LIBSVM, and against itself where two settings must agree. Its optimality
 * conditions are in test_learn_svm_optimum.c. */
#include <math.h>
#include <stdio.h>

#include "oracles/libsvm.h"
#include "support/learn.h"
#include "support/tolerance.h"

enum { ROWS = 90, COLS = 4, CLASSES = 3 };

/* ---- against LIBSVM ---- */

typedef struct kernel_case {
    const char *text; /* of the parameters */
    const char *kernel;
    double c;
} kernel_case;

static const kernel_case kernels[] = {
    {"C=2", "linear", 2},
    {"C=2,learner-kernel=rbf:gamma=0.5", "rbf:gamma=0.5", 2},
    {"C=0.5,learner-kernel=poly:degree=2\\,gamma=0.25\\,coef0=1", "poly:degree=2,gamma=0.25,coef0=1", 0.5},
    {"C=3,learner-kernel=sigmoid:gamma=0.1", "sigmoid:gamma=0.1", 3},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static double *kernel_matrix(kfe_context *ctx, const learn_clouds *p, const char *kernel)
{
    kfe_i_kernel one = {0};
    kfe_i_kernel_list list = {ctx, &one, 1, 1};
    kfe_i_gram *gram = NULL;
    double *k = malloc(sizeof(double) * ROWS * ROWS);

    assert_ok(ctx, kfe_i_kernel_parse(ctx, kernel, &one));
    assert_ok(ctx, kfe_i_kernel_prepare(ctx, &one, &p->table));
    assert_ok(ctx, kfe_i_gram_open(ctx, &list, &p->table, KFE_GRAM_AUTO, &gram));
    assert_ok(ctx, kfe_i_gram_block(gram, 0, ROWS, 0, ROWS, k, ROWS));
    kfe_i_gram_free(gram);
    kfe_i_kernel_free(&one);
    return k;
}

/* LIBSVM's decision values on all rows of the matrix k, if it is trained on rows[count]. */
static void their_values(const double *k, int64_t count, const int64_t *rows, oracle_svm svm, double *values)
{
    double *part = malloc(sizeof(double) * (size_t)(count * count));
    double *b = malloc(sizeof(double) * (size_t)count);
    double offset;

    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            part[i * count + j] = k[rows[i] * ROWS + rows[j]];
    svm.n = count;
    svm.kernel = part;
    svm.stop = 1e-6;
    oracle_libsvm(&svm, b, &offset);
    for (int64_t i = 0; i < ROWS; i++) {
        values[i] = -offset;
        for (int64_t j = 0; j < count; j++)
            values[i] += b[j] * k[i * ROWS + rows[j]];
    }
    free(part);
    free(b);
}

/* Solvers that stop at a violation of 1e-6, one of them on kernels in single precision. */
#define SAME_VALUE 1e-4

/* Of classes with equal votes LIBSVM takes the first; ours the one with the largest sum of margins. */
static void check_decision(const kfe_i_predictor *predictor, const double *outputs, const int *votes)
{
    double scores[CLASSES];
    int32_t ours = kfe_i_predictor_decide(predictor, outputs);

    kfe_i_predictor_class_scores(predictor, outputs, scores);
    for (int g = 0; g < predictor->classes; g++) {
        assert_true(votes[ours] >= votes[g]);
        if (votes[ours] == votes[g])
            assert_true(scores[ours] >= scores[g]);
    }
}

/* Compares the output that separates two classes, got[i·stride], and adds LIBSVM's votes. */
static void check_pair(const learn_clouds *p, const double *k, double c, const int pair[2], const double *got,
                       int64_t stride, int votes[][CLASSES])
{
    int64_t rows[ROWS];
    double y[ROWS];
    double values[ROWS];
    int64_t count = 0;

    for (int64_t i = 0; i < ROWS; i++)
        if (p->class_of[i] == pair[0] || p->class_of[i] == pair[1]) {
            y[count] = p->class_of[i] == pair[0] ? 1 : -1;
            rows[count++] = i;
        }
    their_values(k, count, rows, (oracle_svm){.y = y, .positive = c, .negative = c, .epsilon = -1}, values);
    for (int64_t i = 0; i < ROWS; i++) {
        assert_below(fabs(got[i * stride] - values[i]), SAME_VALUE);
        votes[i][pair[values[i] > 0 ? 0 : 1]]++;
    }
}

static void check_against_libsvm(kfe_context *ctx, const learn_clouds *p, int classes, const kernel_case *one)
{
    double *k = kernel_matrix(ctx, p, one->kernel);
    int votes[ROWS][CLASSES] = {{0}};
    char params[128];
    int output = 0;

    snprintf(params, sizeof params, "%s,stop=1e-6", one->text);
    kfe_i_predictor predictor = learn_fit(ctx, "svm", params, &p->table, &p->target);
    double *got = learn_outputs(ctx, &predictor, &p->table);
    assert_int_equal(predictor.decision, KFE_DECIDE_PAIRS);
    assert_int_equal(predictor.outputs, classes * (classes - 1) / 2);
    assert_int_equal(predictor.kind,
                     strcmp(one->kernel, "linear") == 0 ? KFE_PREDICTOR_LINEAR : KFE_PREDICTOR_EXPANSION);
    for (int first = 0; first < classes; first++)
        for (int second = first + 1; second < classes; second++)
            check_pair(p, k, one->c, (int[]){first, second}, got + output++, predictor.outputs, votes);
    for (int64_t i = 0; i < ROWS; i++)
        check_decision(&predictor, got + i * predictor.outputs, votes[i]);
    free(k);
    free(got);
    kfe_i_predictor_free(&predictor);
}

static void test_classes_equal_libsvm(void **state)
{
    for (int classes = 2; classes <= CLASSES; classes++) {
        learn_clouds p = learn_clouds_make(*state, ROWS, COLS, 20 + (uint64_t)classes, classes);
        for (int k = 0; k < KERNELS; k++)
            check_against_libsvm(*state, &p, classes, &kernels[k]);
        learn_clouds_free(&p);
    }
}

static void test_regression_equals_libsvm(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 23, 2);
    double *y = support_normals(24, ROWS * 2);
    kfe_i_target target;

    assert_ok(ctx, kfe_i_target_from_values(ctx, ROWS, 2, y, &target));
    for (int k = 0; k < 3; k++) { /* without the sigmoid, whose gap cannot reach zero */
        double *matrix = kernel_matrix(ctx, &p, kernels[k].kernel);
        char params[128];
        snprintf(params, sizeof params, "%s,epsilon=0.3,stop=1e-6", kernels[k].text);
        support_catch_log(ctx);
        double *got = learn_fit_outputs(ctx, "svm", params, &p.table, &target, &p.table);
        assert_null(strstr(support_log(), "a violation of"));
        for (int column = 0; column < 2; column++) {
            int64_t rows[ROWS];
            double one[ROWS];
            double values[ROWS];
            for (int i = 0; i < ROWS; i++) {
                rows[i] = i;
                one[i] = y[2 * i + column];
            }
            their_values(matrix, ROWS, rows, (oracle_svm){.y = one, .positive = kernels[k].c, .epsilon = 0.3},
                         values);
            for (int i = 0; i < ROWS; i++)
                assert_below(fabs(values[i] - got[2 * i + column]), SAME_VALUE);
        }
        free(got);
        free(matrix);
    }
    kfe_i_target_free(&target);
    learn_clouds_free(&p);
    free(y);
}

/* Targets inside the tube need no support vectors. */
static void test_constant_regression(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 25, 2);
    double y[ROWS];
    kfe_i_target target;

    for (int i = 0; i < ROWS; i++)
        y[i] = 7;
    assert_ok(ctx, kfe_i_target_from_values(ctx, ROWS, 1, y, &target));
    kfe_i_predictor predictor = learn_fit(ctx, "svm", "learner-kernel=rbf:gamma=1", &p.table, &target);
    double *got = learn_outputs(ctx, &predictor, &p.table);
    assert_int_equal(predictor.support_vectors, 0);
    for (int i = 0; i < ROWS; i++)
        assert_below(fabs(got[i] - 7), 0.1 + 1e-12);
    free(got);
    kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&target);
    learn_clouds_free(&p);
}

/* ---- multiclass schemes ---- */

/* Outputs at all rows of an SVM that separates class `first` (+1) from the classes with a nonzero entry in
 * `others`. */
static double *two_class_run(kfe_context *ctx, const learn_clouds *p, const char *params, int first,
                             const int *others)
{
    double x[ROWS * COLS];
    const char *labels[ROWS];
    int64_t count = 0;
    kfe_i_target target;

    for (int side = 0; side < 2; side++) /* rows of +1 come first, so that +1 is class 0 */
        for (int64_t i = 0; i < ROWS; i++) {
            int positive = p->class_of[i] == first;
            if (side == 0 ? !positive : positive || !others[p->class_of[i]])
                continue;
            memcpy(x + count * COLS, p->x + i * COLS, COLS * sizeof *x);
            labels[count++] = positive ? "it" : "rest";
        }
    kfe_i_table table = learn_dense(count, COLS, x);
    assert_ok(ctx, kfe_i_target_from_labels(ctx, count, labels, &target));
    double *out = learn_fit_outputs(ctx, "svm", params, &table, &target, &p->table);
    kfe_i_target_free(&target);
    return out;
}

static void check_multiclass(kfe_context *ctx, const char *choice, int64_t outputs, const int first[],
                             const int others[][CLASSES])
{
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 28, CLASSES);
    char params[160];

    snprintf(params, sizeof params, "learner-kernel=rbf:gamma=0.7,stop=1e-6,multiclass=%s", choice);
    kfe_i_predictor predictor = learn_fit(ctx, "svm", params, &p.table, &p.target);
    double *got = learn_outputs(ctx, &predictor, &p.table);
    assert_int_equal(predictor.outputs, outputs);
    for (int64_t j = 0; j < outputs; j++) {
        double *one = two_class_run(ctx, &p, params, first[j], others[j]);
        for (int64_t i = 0; i < ROWS; i++)
            assert_below(fabs(one[i] - got[i * outputs + j]), 1e-4);
        free(one);
    }
    free(got);
    kfe_i_predictor_free(&predictor);
    learn_clouds_free(&p);
}

static void test_multiclass_is_made_of_two_classes(void **state)
{
    check_multiclass(*state, "ovo", 3, (int[]){0, 0, 1}, (int[][CLASSES]){{0, 1, 0}, {0, 0, 1}, {0, 0, 1}});
    check_multiclass(*state, "ovr", 3, (int[]){0, 1, 2}, (int[][CLASSES]){{0, 1, 1}, {1, 0, 1}, {1, 1, 0}});
    check_multiclass(*state, "chain", 2, (int[]){0, 1}, (int[][CLASSES]){{0, 1, 1}, {0, 0, 1}});
}

static void test_two_classes_have_one_output(void **state)
{
    static const char *const choices[] = {"multiclass=ovo", "multiclass=ovr", "multiclass=chain"};
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 29, 2);
    double *expected = learn_fit_outputs(ctx, "svm", NULL, &p.table, &p.target, &p.table);
    int64_t right = 0;

    for (int c = 0; c < 3; c++) {
        kfe_i_predictor predictor = learn_fit(ctx, "svm", choices[c], &p.table, &p.target);
        double *got = learn_outputs(ctx, &predictor, &p.table);
        assert_int_equal(predictor.outputs, 1);
        assert_memory_equal(expected, got, ROWS * sizeof *got);
        free(got);
        kfe_i_predictor_free(&predictor);
    }
    for (int64_t i = 0; i < ROWS; i++)
        right += (expected[i] > 0) == (p.class_of[i] == 0);
    assert_true(right > ROWS * 3 / 4); /* positive outputs mean class 0 */
    free(expected);
    learn_clouds_free(&p);
}

/* ---- class weights ---- */

static void test_weight_two_is_every_example_twice(void **state)
{
    const char *params = "learner-kernel=rbf:gamma=1,stop=1e-6";
    const char *weighted = "learner-kernel=rbf:gamma=1,stop=1e-6,class-weights=c1:2";
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 30, CLASSES);
    double x[2 * ROWS * COLS];
    int class_of[2 * ROWS];
    int64_t count = 0;

    for (int64_t i = 0; i < ROWS; i++)
        for (int copy = 0; copy <= (p.class_of[i] == 1); copy++) {
            memcpy(x + count * COLS, p.x + i * COLS, COLS * sizeof *x);
            class_of[count++] = p.class_of[i];
        }
    kfe_i_table table = learn_dense(count, COLS, x);
    kfe_i_target target = learn_classes(ctx, count, class_of);
    double *expected = learn_fit_outputs(ctx, "svm", params, &table, &target, &p.table);
    double *got = learn_fit_outputs(ctx, "svm", weighted, &p.table, &p.target, &p.table);
    double *plain = learn_fit_outputs(ctx, "svm", params, &p.table, &p.target, &p.table);
    assert_below(support_distance(ROWS * 3, expected, got), 1e-4);
    assert_true(support_distance(ROWS * 3, expected, plain) > 1e-2);
    free(expected);
    free(got);
    free(plain);
    kfe_i_target_free(&target);
    learn_clouds_free(&p);
}

/* ---- on a Gram operator, with other kernels, on sparse rows ---- */

static void check_gram(kfe_context *ctx, const kfe_i_target *target, const double *x)
{
    double *k = support_rbf(ROWS, x, ROWS, x, COLS, 0.5);
    kfe_i_table table = learn_dense(ROWS, COLS, x);
    kfe_i_table matrix = learn_dense(ROWS, ROWS, k);
    kfe_i_gram *gram = NULL;
    kfe_i_predictor direct_predictor;
    const char *params = "C=2,stop=1e-6,learner-kernel=rbf:gamma=0.5";
    double *expected = learn_fit_outputs(ctx, "svm", params, &table, target, &table);
    assert_ok(ctx, kfe_i_gram_precomputed(ctx, &matrix, &gram));
    assert_ok(ctx, learn_try_gram(ctx, "svm", params, gram, target, &direct_predictor));
    int64_t outputs = direct_predictor.outputs;
    double *got = support_product(ROWS, ROWS, outputs, k, direct_predictor.weights);
    assert_int_equal(direct_predictor.kind, KFE_PREDICTOR_DIRECT);
    assert_int_equal(direct_predictor.rows, ROWS);
    for (int64_t i = 0; i < ROWS * outputs; i++)
        got[i] -= direct_predictor.offset[i % outputs];
    assert_below(support_distance(ROWS * outputs, expected, got), 1e-4);
    kfe_i_table values = learn_dense(ROWS, outputs, got);
    double *same = learn_outputs(ctx, &direct_predictor, &values);
    assert_memory_equal(same, got, (size_t)(ROWS * outputs) * sizeof *got);
    free(same);
    free(got);
    free(expected);
    free(k);
    kfe_i_gram_free(gram);
    kfe_i_predictor_free(&direct_predictor);
}

static void test_gram_equals_features(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 31, CLASSES);
    double *y = support_normals(32, ROWS);
    kfe_i_target real;

    assert_ok(ctx, kfe_i_target_from_values(ctx, ROWS, 1, y, &real));
    check_gram(ctx, &p.target, p.x);
    check_gram(ctx, &real, p.x);
    kfe_i_target_free(&real);
    learn_clouds_free(&p);
    free(y);
}

/* Four times a kernel with C equals the kernel with 4C; the first goes through a kernel matrix. */
static void test_weighted_kernels(void **state)
{
    static const char *const pairs[][2] = {
        {"C=1,stop=1e-6,learner-kernel=linear:weight=4", "C=4,stop=1e-6"},
        {"C=1,stop=1e-6,learner-kernel=rbf:gamma=1\\,weight=4", "C=4,stop=1e-6,learner-kernel=rbf:gamma=1"},
    };
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 33, CLASSES);

    for (int i = 0; i < 2; i++) {
        double *expected = learn_fit_outputs(ctx, "svm", pairs[i][1], &p.table, &p.target, &p.table);
        double *got = learn_fit_outputs(ctx, "svm", pairs[i][0], &p.table, &p.target, &p.table);
        assert_below(support_distance(ROWS * 3, expected, got), 1e-4);
        free(expected);
        free(got);
    }
    learn_clouds_free(&p);
}

static void test_sparse_equals_dense(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 34, CLASSES);
    kfe_i_table sparse = learn_sparse(ctx, ROWS, COLS, p.x);

    for (int k = 0; k < KERNELS; k++) {
        double *expected = learn_fit_outputs(ctx, "svm", kernels[k].text, &p.table, &p.target, &p.table);
        double *got = learn_fit_outputs(ctx, "svm", kernels[k].text, &sparse, &p.target, &sparse);
        assert_below(support_distance(ROWS * 3, expected, got), 1e-10);
        free(expected);
        free(got);
    }
    kfe_i_table_free(&sparse);
    learn_clouds_free(&p);
}

static void test_named_widths_are_resolved(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 35, 2);
    kfe_i_predictor predictor = learn_fit(ctx, "svm", "learner-kernel=rbf:gamma=auto", &p.table, &p.target);
    double *named = learn_outputs(ctx, &predictor, &p.table);
    double *given =
        learn_fit_outputs(ctx, "svm", "learner-kernel=rbf:gamma=0.25", &p.table, &p.target, &p.table);

    assert_memory_equal(named, given, ROWS * sizeof *named);
    assert_true(predictor.rows == predictor.support_vectors && predictor.rows < ROWS);
    kfe_i_predictor_free(&predictor);
    free(named);
    free(given);
    learn_clouds_free(&p);
}

static void test_bad_options_are_refused(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 36, 2);
    kfe_i_target real;
    kfe_i_predictor m;
    static const char *const not_for_features[] = {"learner-kernel=precomputed", "learner-kernel=spectrum",
                                                   "learner-kernel=user:f"};

    assert_ok(ctx, kfe_i_target_from_values(ctx, ROWS, 1, p.x, &real));
    for (int i = 0; i < 3; i++)
        assert_fails(ctx, KFE_EINVAL, "learner-kernel",
                     learn_try(ctx, "svm", not_for_features[i], &p.table, &p.target, &m));
    assert_fails(ctx, KFE_EINVAL, "rbf",
                 learn_try(ctx, "svm", "learner-kernel=rfb", &p.table, &p.target, &m));
    assert_fails(ctx, KFE_EINVAL, "for classes",
                 learn_try(ctx, "svm", "class-weights=balanced", &p.table, &real, &m));
    assert_fails(ctx, KFE_EINVAL, "no class 'x'",
                 learn_try(ctx, "svm", "class-weights=x:1", &p.table, &p.target, &m));
    assert_fails(ctx, KFE_EINVAL, "'0' is not a weight above 0",
                 learn_try(ctx, "svm", "class-weights=c0:0", &p.table, &p.target, &m));
    assert_null(m.weights);
    for (int64_t i = 0; i < ROWS * COLS; i++)
        p.x[i] *= 1e25;
    assert_fails(ctx, KFE_EINPUT, "use scale", learn_try(ctx, "svm", NULL, &p.table, &p.target, &m));
    assert_null(m.weights);
    assert_fails(ctx, KFE_EINVAL, "svm-solver no longer takes libsvm; leave it out",
                 learn_try(ctx, "svm", "svm-solver=libsvm", &p.table, &p.target, &m));
    kfe_i_target_free(&real);
    learn_clouds_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_classes_equal_libsvm),        with_context(test_regression_equals_libsvm),
        with_context(test_constant_regression),         with_context(test_multiclass_is_made_of_two_classes),
        with_context(test_two_classes_have_one_output), with_context(test_weight_two_is_every_example_twice),
        with_context(test_gram_equals_features),        with_context(test_weighted_kernels),
        with_context(test_sparse_equals_dense),         with_context(test_named_widths_are_resolved),
        with_context(test_bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
