/* SPDX-License-Identifier: Apache-2.0 */
/* svm-joint and usvm-joint: the saddle point against a closed form, the normalisation of the features, the
 * optimality of the SVMs, and refused input. */
#include "support/mkl.h"

#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "oracles/libsvm.h"
#include "support/sample.h"
#include "support/tolerance.h"

enum { ROWS = 45, COLS = 4, CLASSES = 3 };
#define GAMMA 0.1
#define KERNEL "rbf:gamma=0.1"
#define RIDGE 0.05

static support_sample make_problem(kfe_context *ctx, int classes)
{
    support_sample p = support_sample_make(
        ctx, &(support_shape){.seed = 7, .rows = ROWS, .cols = COLS, .classes = classes, .apart = 1});

    support_sample_kernels(&p, 1, &(double){GAMMA});
    support_sample_centre(&p, 1, 0);
    return p;
}

static const char *const methods[] = {"svm-joint", "usvm-joint"};
static const char *const tight[] = {"lambda=0.05,svm-C=2,svm-stop=1e-7,settled=1e-3,max-iter=3000",
                                    "xi=0.05,svm-C=2,svm-stop=1e-7,settled=1e-3,max-iter=3000"};

/* G(G + λI)⁻¹G or G(G + ξI)⁻¹: the kernel on which an ordinary SVM gives the lower bound. */
static double *limit_kernel(const support_sample *p, int uncorrelated)
{
    double *shifted = malloc(ROWS * ROWS * sizeof *shifted);

    memcpy(shifted, p->k[0], ROWS * ROWS * sizeof *shifted);
    for (int64_t i = 0; i < ROWS; i++)
        shifted[i * ROWS + i] += RIDGE;
    double *k = support_solve(ROWS, ROWS, shifted, p->k[0]);
    if (!uncorrelated) {
        double *product = support_product(ROWS, ROWS, ROWS, p->k[0], k);
        free(k);
        k = product;
    }
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < i; j++)
            k[i * ROWS + j] = k[j * ROWS + i] = (k[i * ROWS + j] + k[j * ROWS + i]) / 2;
    free(shifted);
    return k;
}

static void check_bounds(const kfe_model *model)
{
    int64_t count = 0;
    int64_t same = 0;
    const double *upper = kfe_model_record(model, "upper-bound", &count);
    const double *lower = kfe_model_record(model, "lower-bound", &same);

    assert_true(count >= 1 && count == same);
    for (int64_t i = 0; i < count; i++) {
        assert_true(lower[i] <= upper[i] * (1 + 1e-6));
        if (i > 0)
            assert_true(lower[i] >= lower[i - 1] - 1e-6 * fabs(upper[i]));
    }
}

/* With as many features as SVMs, max over α of min over W is the optimum of SVMs on one known kernel, and the
 * alternation must find it. */
static void test_the_bounds_meet_in_the_saddle_point(void **state)
{
    kfe_context *ctx = *state;

    for (int classes = 2; classes <= CLASSES; classes++) {
        support_sample p = make_problem(ctx, classes);
        for (int m = 0; m < 2; m++) {
            kfe_model *model = support_fit(ctx, methods[m], tight[m], KERNEL, p.data);
            double *k = limit_kernel(&p, m);
            double expected = oracle_svms_optimum(ROWS, k, p.class_of, classes, 2, NULL);
            check_bounds(model);
            assert_true(support_number(model, "objective") >= expected * (1 - 1e-6));
            assert_below(support_number(model, "objective"), expected * (1 + 1e-3));
            assert_int_equal(kfe_model_dim(model), classes == 2 ? 1 : classes);
            free(k);
            kfe_model_free(model);
        }
        support_sample_free(&p);
    }
}

/* The cost of the SVMs equals the optimum of their dual: the gap is zero, so all optimality conditions hold. */
static void test_svms_are_optimal_on_the_features(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);
    static const char *const more[] = {"", ",dim=1", ",step=plain"};
    char params[128];

    for (int m = 0; m < 2; m++)
        for (int r = 0; r < 3; r++) {
            snprintf(params, sizeof params, "svm-C=2,svm-stop=1e-7,max-iter=5%s", more[r]);
            kfe_model *model = support_fit(ctx, methods[m], params, KERNEL, p.data);
            double cost = support_svms_cost(ctx, model, p.data, p.class_of, 2);
            assert_below(fabs(cost - support_number(model, "objective")), 1e-5 * cost);
            kfe_model_free(model);
        }
    support_sample_free(&p);
}

/* WᵀGW + … = I, computed from the model's coefficients and an independent G. */
static void test_features_are_normalised(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);

    for (int m = 0; m < 2; m++) {
        kfe_model *model = support_fit(ctx, methods[m], tight[m], KERNEL, p.data);
        int64_t dim = kfe_model_dim(model);
        kfe_matrix z = support_transform(ctx, model, p.data);
        assert_int_equal(model->rows, ROWS);
        double *expected = support_product(ROWS, ROWS, dim, p.k[0], model->coefficients);
        assert_below(support_distance(ROWS * dim, expected, z.values), 1e-9);
        const double *left = m == 0 ? model->coefficients : z.values;
        double largest = 0;
        for (int64_t a = 0; a < dim; a++)
            for (int64_t b = 0; b < dim; b++) {
                double sum = a == b ? -1 : 0;
                for (int64_t i = 0; i < ROWS; i++)
                    sum += left[i * dim + a] *
                           (z.values[i * dim + b] + RIDGE * model->coefficients[i * dim + b]);
                largest = fmax(largest, fabs(sum));
            }
        /* the coefficients of svm-joint already sum to zero, so centring does not change them */
        assert_below(largest, 1e-6);
        free(expected);
        kfe_matrix_free(&z);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

/* The paper's procedure: computing features for given SVMs lowers the value, and computing SVMs for given
 * features raises it. */
static void test_plain_steps_lower_and_raise(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);

    for (int m = 0; m < 2; m++) {
        kfe_model *model =
            support_fit(ctx, methods[m], "step=plain,svm-stop=1e-7,settled=0,max-iter=8", KERNEL, p.data);
        int64_t count = 0;
        const double *upper = kfe_model_record(model, "upper-bound", &count);
        const double *lower = kfe_model_record(model, "lower-bound", &count);
        double least = upper[0];
        assert_int_equal(count, 8);
        for (int64_t i = 0; i < count; i++) {
            assert_true(lower[i] <= upper[i] + 1e-6 * fabs(upper[i]));
            if (i > 0)
                assert_true(upper[i] >= lower[i - 1] - 1e-6 * fabs(upper[i]));
            least = fmin(least, upper[i]);
        }
        assert_true(support_number(model, "objective") == least);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

static void test_models_predict_by_themselves(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);

    for (int m = 0; m < 2; m++) {
        kfe_model *model = support_fit(ctx, methods[m], "svm-C=100", KERNEL, p.data);
        kfe_matrix predictions = {0};
        int right = 0;
        support_check_predictions_of_a_file(ctx, model, p.data);
        assert_ok(ctx, kfe_predict(ctx, model, p.data, &predictions, NULL));
        for (int64_t i = 0; i < ROWS; i++)
            right += (int)predictions.values[i] == kfe_data_class_of(p.data, i);
        assert_true(right > ROWS * 8 / 10);
        kfe_matrix_free(&predictions);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

static void test_a_learner_takes_precedence(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "svm-joint", NULL, KERNEL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, p.data, &model));
    assert_string_equal(kfe_model_learner(model), "knn");
    kfe_model_free(model);
    kfe_spec_free(spec);
    support_sample_free(&p);
}

static void test_bad_settings_and_data_are_refused(void **state)
{
    static const char *const params[][2] = {{"svm-joint", "lambda=0"}, {"svm-joint", "lambda=-1e-3"},
                                            {"usvm-joint", "xi=0"},    {"usvm-joint", "xi=-2"},
                                            {"svm-joint", "svm-C=0"},  {"usvm-joint", "max-iter=0"}};
    kfe_context *ctx = *state;
    double x[6] = {1, 1, 1, 1, 1, 1};
    int class_of[6] = {0, 1, 0, 1, 0, 1};
    kfe_data *same = support_dense(ctx, 6, 1, x, class_of);
    kfe_model *model = NULL;

    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        kfe_spec *spec = NULL;
        assert_int_equal(kfe_spec_parse(ctx, params[i][0], params[i][1], NULL, &spec), KFE_EINVAL);
        assert_null(spec);
    }
    for (int m = 0; m < 2; m++) {
        support_request request = {methods[m], NULL, {"rbf:gamma=1"}};
        assert_fails(ctx, KFE_EINPUT, "says nothing", support_request_fit(ctx, &request, same, &model));
        assert_null(model);
    }
    kfe_data_free(same);
}

/* A class of one member, and a kernel that is not positive definite. */
static void test_odd_problems_have_sound_answers(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(3, 12 * 3);
    int class_of[12] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2};
    kfe_data *data = support_dense(ctx, 12, 3, x, class_of);

    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 2; k++) {
            support_catch_log(ctx);
            kfe_matrix z = support_features(
                ctx, methods[m], NULL, k == 0 ? "rbf:gamma=0.3" : "sigmoid:gamma=2,coef0=-1", data, data);
            if (k == 1)
                assert_non_null(strstr(support_log(), "not positive definite"));
            for (int64_t i = 0; i < z.rows * z.cols; i++)
                assert_true(isfinite(z.values[i]));
            kfe_matrix_free(&z);
        }
    kfe_data_free(data);
    free(x);
}

/* A Gaussian so wide that the centred kernel is near 1e-9 still separates the classes, because rounding is
 * near 1e-14. The SVMs cannot use it, so their objective is that of a zero kernel, Σ 2C·(size of the
 * smaller side). */
static void test_a_wide_kernel_can_be_fitted(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);
    static const char *const params[] = {"lambda=10,svm-C=2", "xi=10,svm-C=2"};

    for (int m = 0; m < 2; m++) {
        kfe_model *model = support_fit(ctx, methods[m], params[m], "rbf:gamma=1e-9", p.data);
        double expected = CLASSES * 2.0 * 2 * (ROWS / CLASSES);
        assert_below(fabs(support_number(model, "objective") - expected), 1e-4 * expected);
        assert_below(support_number(model, "gap"), 1e-4);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

/* The SVMs of the closed form are solved so exactly that the order of the rows does not change the features,
 * even with the default stops. The first row of each class stays in front, because classes are numbered by
 * first appearance. */
static void test_default_stops_hide_the_order_of_rows(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);
    double x[ROWS * COLS];
    int class_of[ROWS];

    for (int64_t i = 0; i < ROWS; i++) {
        int64_t from = i < CLASSES ? i : ROWS - 1 - (i - CLASSES);
        memcpy(x + i * COLS, p.x + from * COLS, COLS * sizeof *x);
        class_of[i] = p.class_of[from];
    }
    kfe_data *other = support_dense(ctx, ROWS, COLS, x, class_of);
    for (int m = 0; m < 2; m++) {
        kfe_matrix a = support_features(ctx, methods[m], NULL, KERNEL, p.data, p.data);
        kfe_matrix b = support_features(ctx, methods[m], NULL, KERNEL, other, p.data);
        assert_int_equal(a.cols, b.cols);
        assert_below(support_distance_up_to_sign(a.rows, a.cols, a.values, b.values), 1e-4);
        kfe_matrix_free(&a);
        kfe_matrix_free(&b);
    }
    kfe_data_free(other);
    support_sample_free(&p);
}

static void test_a_negative_kernel_is_refused(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);
    support_request request = {"usvm-joint", NULL, {"precomputed"}};
    kfe_model *model = NULL;
    double *negative = malloc(ROWS * ROWS * sizeof *negative);

    for (int64_t i = 0; i < ROWS * ROWS; i++)
        negative[i] = -p.k[0][i];
    kfe_data *data = support_dense(ctx, ROWS, ROWS, negative, p.class_of);
    assert_fails(ctx, KFE_ENUMERIC, "all directions have a negative length",
                 support_request_fit(ctx, &request, data, &model));
    assert_null(model);
    kfe_data_free(data);
    free(negative);
    support_sample_free(&p);
}

static void test_alternations_do_not_allocate(void **state)
{
    support_sample p = make_problem(*state, CLASSES);

    for (int m = 0; m < 2; m++)
        for (int step = 0; step < 2; step++) {
            support_request few = {
                methods[m], step ? "settled=0,max-iter=3,step=plain" : "settled=0,max-iter=3", {KERNEL}};
            support_check_iterations_do_not_allocate(
                &few, step ? "settled=0,max-iter=40,step=plain" : "settled=0,max-iter=40", ROWS, COLS, p.x,
                p.class_of);
        }
    support_sample_free(&p);
}

/* ---- weights ---- */

/* The table with every second row twice, or once with the weight 2; x receives its numbers and must outlive it. */
static kfe_data *with_weights(kfe_context *ctx, const support_sample *p, int repeated,
                              double x[2 * ROWS * COLS])
{
    int class_of[2 * ROWS];
    double weights[ROWS];
    int64_t rows = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        weights[i] = (double)(1 + i % 2);
        for (int copy = 0; copy <= (repeated ? i % 2 : 0); copy++) {
            memcpy(x + rows * COLS, p->x + i * COLS, COLS * sizeof *x);
            class_of[rows++] = p->class_of[i];
        }
    }
    kfe_data *data = support_dense(ctx, rows, COLS, x, class_of);
    if (!repeated)
        assert_ok(ctx, kfe_data_set_weights(ctx, data, weights));
    return data;
}

/* The features of the sample under a model fitted on every second row twice, or on weights; *iterations and *shares receive the
 * model's numbers. */
static kfe_matrix fitted_features(kfe_context *ctx, const support_request *request, const support_sample *p,
                                  int repeated, double *iterations, double shares[2])
{
    double x[2 * ROWS * COLS];
    int64_t count = 0;
    kfe_data *data = with_weights(ctx, p, repeated, x);
    kfe_model *model = support_request_model(ctx, request, data);
    kfe_matrix out = support_transform(ctx, model, p->data);
    const double *weights = kfe_model_record(model, "weights", &count);

    *iterations = support_number(model, "iterations");
    for (int64_t m = 0; m < 2; m++)
        shares[m] = m < count ? weights[m] : 0;
    kfe_model_free(model);
    kfe_data_free(data);
    return out;
}

static void check_weights_are_repeated_rows(kfe_context *ctx, const support_request *request,
                                            const support_sample *p, double shares[2])
{
    double iterations[2];
    double other[2];
    kfe_matrix expected = fitted_features(ctx, request, p, 1, &iterations[0], other);
    kfe_matrix got = fitted_features(ctx, request, p, 0, &iterations[1], shares);

    assert_int_equal(got.cols, expected.cols);
    assert_below(support_distance_up_to_sign(got.rows, got.cols, expected.values, got.values), 1e-6);
    assert_below(fabs(shares[0] - other[0]) + fabs(shares[1] - other[1]), 1e-6);
    assert_int_equal((int)iterations[1], (int)iterations[0]);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
}

/* The alternation starts from the labels, whose classes must be counted by the weights. */
static void test_alternations_count_rows_by_their_weights(void **state)
{
    static const support_request requests[] = {
        {"svm-joint", "lambda=0.05,svm-C=2,step=plain,max-iter=2,svm-stop=1e-10,settled=0", {KERNEL}},
        {"usvm-joint", "xi=0.05,svm-C=2,step=plain,max-iter=2,svm-stop=1e-10,settled=0", {KERNEL}},
        {"svm-mkl",
         "xi=0.01,svm-C=2,step=plain,max-iter=2,svm-stop=1e-10,settled=0,tolerance=1e-12",
         {KERNEL, "rbf:gamma=2"}}};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);
    double shares[2];

    for (size_t r = 0; r < sizeof requests / sizeof *requests; r++)
        check_weights_are_repeated_rows(ctx, &requests[r], &p, shares);
    support_sample_free(&p);
}

/* Both kernels count, so that the second derivatives of svm-mkl decide how many iterations it takes. */
static void test_weights_of_kernels_count_rows_by_their_weights(void **state)
{
    static const support_request request = {
        "svm-mkl", "xi=0.01,svm-C=2,svm-stop=1e-10", {KERNEL, "rbf:gamma=2"}};
    kfe_context *ctx = *state;

    for (int classes = 2; classes <= CLASSES; classes++) {
        support_sample p = make_problem(ctx, classes);
        double shares[2];
        check_weights_are_repeated_rows(ctx, &request, &p, shares);
        assert_true(shares[0] > 0.1 && shares[1] > 0.01);
        support_sample_free(&p);
    }
}

/* What leave-one-out chooses is the same with weights of one as without weights. */
static void test_weights_of_one_choose_the_same_settings(void **state)
{
    static const support_request requests[] = {{"svm-joint", NULL, {KERNEL}},
                                               {"usvm-joint", NULL, {KERNEL}},
                                               {"svm-mkl", NULL, {KERNEL, "rbf:gamma=2"}}};
    static const char *const chosen[] = {"svm-c", "xi", "xi"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);
    kfe_data *weighted = support_dense(ctx, ROWS, COLS, p.x, p.class_of);
    double weights[ROWS];

    for (int i = 0; i < ROWS; i++)
        weights[i] = 1;
    weights[0] = 1 + 1e-9; /* weights that are all one may be forgotten */
    assert_ok(ctx, kfe_data_set_weights(ctx, weighted, weights));
    for (size_t r = 0; r < sizeof requests / sizeof *requests; r++) {
        kfe_model *expected = support_request_model(ctx, &requests[r], p.data);
        kfe_model *got = support_request_model(ctx, &requests[r], weighted);
        double value = support_number(expected, chosen[r]);
        assert_below(fabs(support_number(got, chosen[r]) - value), 1e-6 * value);
        kfe_model_free(expected);
        kfe_model_free(got);
    }
    kfe_data_free(weighted);
    support_sample_free(&p);
}

/* Leave-one-out on weighted rows chooses ξ on the weighted kernel once, not on its weighted copy. */
static void test_weights_scale_what_leave_one_out_chooses(void **state)
{
    static const support_request request = {"svm-mkl", NULL, {KERNEL, "rbf:gamma=2"}};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, CLASSES);
    kfe_data *weighted = support_dense(ctx, ROWS, COLS, p.x, p.class_of);
    double weights[ROWS];

    for (int i = 0; i < ROWS; i++)
        weights[i] = 4;
    assert_ok(ctx, kfe_data_set_weights(ctx, weighted, weights));
    kfe_model *expected = support_request_model(ctx, &request, p.data);
    kfe_model *got = support_request_model(ctx, &request, weighted);
    /* against a sum of kernels of trace one: K/tr(K) does not know the unit of the weights */
    double value = support_number(expected, "xi");
    assert_below(fabs(support_number(got, "xi") - value), 1e-6 * value);
    kfe_model_free(expected);
    kfe_model_free(got);
    kfe_data_free(weighted);
    support_sample_free(&p);
}

static void test_allocations_that_fail(void **state)
{
    static const support_request requests[] = {{"svm-joint", "max-iter=2", {"rbf:gamma=0.3"}},
                                               {"usvm-joint", "max-iter=2", {"rbf:gamma=0.3", "linear"}}};

    (void)state;
    support_check_memory_of_all(sizeof requests / sizeof *requests, requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_the_bounds_meet_in_the_saddle_point),
        with_context(test_svms_are_optimal_on_the_features),
        with_context(test_features_are_normalised),
        with_context(test_plain_steps_lower_and_raise),
        with_context(test_models_predict_by_themselves),
        with_context(test_a_learner_takes_precedence),
        with_context(test_bad_settings_and_data_are_refused),
        with_context(test_odd_problems_have_sound_answers),
        with_context(test_a_wide_kernel_can_be_fitted),
        with_context(test_default_stops_hide_the_order_of_rows),
        with_context(test_a_negative_kernel_is_refused),
        with_context(test_alternations_do_not_allocate),
        with_context(test_alternations_count_rows_by_their_weights),
        with_context(test_weights_of_kernels_count_rows_by_their_weights),
        with_context(test_weights_of_one_choose_the_same_settings),
        with_context(test_weights_scale_what_leave_one_out_chooses),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
