/* SPDX-License-Identifier: Apache-2.0 */
/* slmc: its gradient against differences, its value against full matrices, and properties of the search. */
#include "support/mkl.h"
#include "support/sample.h"

#include <math.h>

#include "core/memory.h"
#include "method/joint/slmc.h"
#include "model/model.h"
#include "oracles/libsvm.h"

enum { ROWS = 32, COLS = 3, CLASSES = 3, POINTS = 4 };

static support_sample make_problem(kfe_context *ctx)
{
    return support_sample_make(
        ctx, &(support_shape){.seed = 13, .rows = ROWS, .cols = COLS, .classes = CLASSES, .apart = 1});
}

/* ---- the objective ---- */

typedef struct objective {
    kfe_i_kernel_list kernels;
    kfe_i_fit_source problem;
    kfe_i_slmc slmc;
    kfe_i_table points;
    double values[POINTS * COLS];
} objective;

static void open_objective(kfe_context *ctx, const support_sample *p, const char *kernel, objective *o)
{
    kfe_i_kernel parsed = {0};
    uint64_t seed = 5;

    memset(o, 0, sizeof *o);
    kfe_i_kernel_list_init(ctx, &o->kernels);
    assert_ok(ctx, kfe_i_kernel_parse(ctx, kernel, &parsed));
    assert_ok(ctx, kfe_i_kernel_list_add(&o->kernels, &parsed));
    o->problem = (kfe_i_fit_source){.target = &p->data->target,
                                    .kernels = &o->kernels,
                                    .views = &p->data->views[0].table,
                                    .view_count = 1};
    assert_ok(ctx, kfe_i_slmc_open(ctx, &o->problem, POINTS, 2, 1e-11, &o->slmc));
    for (int i = 0; i < POINTS * COLS; i++)
        o->values[i] = support_normal(&seed);
    o->points = (kfe_i_table){.ctx = ctx,
                              .kind = KFE_TABLE_DENSE,
                              .rows = POINTS,
                              .cols = COLS,
                              .stride = COLS,
                              .values = o->values};
}

static void close_objective(objective *o)
{
    kfe_i_slmc_free(&o->slmc);
    kfe_i_kernel_list_free(&o->kernels);
}

static void test_gradient_is_that_of_the_value(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.3", "rbf:gamma=0.3,weight=2",
                                          "poly:degree=2,gamma=0.5,coef0=1", "poly:degree=3,gamma=0.2",
                                          "linear:weight=1.5"};
    const double h = 1e-5;
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        objective o;
        double gradient[POINTS * COLS];
        double value = 0;
        open_objective(ctx, &p, kernels[k], &o);
        assert_true(kfe_i_slmc_has_gradient(&o.kernels));
        assert_ok(ctx, kfe_i_slmc_value(&o.slmc, &o.points, &value));
        assert_ok(ctx, kfe_i_slmc_gradient(&o.slmc, gradient));
        double largest = support_largest(POINTS * COLS, gradient);
        assert_true(largest > (k == 4 ? 0 : 1e-3));
        for (int i = 0; i < POINTS * COLS; i++) {
            double side[2];
            double before = o.values[i];
            for (int s = 0; s < 2; s++) {
                o.values[i] = before + (s ? h : -h);
                assert_ok(ctx, kfe_i_slmc_value(&o.slmc, &o.points, &side[s]));
            }
            o.values[i] = before;
            assert_below(fabs((side[1] - side[0]) / (2 * h) - gradient[i]), 1e-4 * (largest + 0.01 * value));
        }
        close_objective(&o);
    }
    support_sample_free(&p);
}

/* The optimum on Ψκ(Z,Z)⁻¹Ψᵀ, computed with full matrices. */
static void test_value_is_the_optimum_on_the_subspace_kernel(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    objective o;
    double value = 0;

    open_objective(ctx, &p, "rbf:gamma=0.3", &o);
    assert_ok(ctx, kfe_i_slmc_value(&o.slmc, &o.points, &value));
    double *inner = support_rbf(POINTS, o.values, POINTS, o.values, COLS, 0.3);
    double *psi = support_rbf(POINTS, o.values, ROWS, p.x, COLS, 0.3);
    double *solved = support_solve(POINTS, ROWS, inner, psi);
    double *turned = support_transpose(POINTS, ROWS, psi);
    double *k = support_product(ROWS, POINTS, ROWS, turned, solved);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < i; j++)
            k[i * ROWS + j] = k[j * ROWS + i] = (k[i * ROWS + j] + k[j * ROWS + i]) / 2;
    double expected = oracle_svms_optimum(ROWS, k, p.class_of, CLASSES, 2, NULL);
    assert_below(fabs(value - expected), 1e-5 * expected);
    free(inner);
    free(psi);
    free(solved);
    free(turned);
    free(k);
    close_objective(&o);
    support_sample_free(&p);
}

/* ---- the method ---- */

/* With all examples as points, the points span the feature space of the data: the result is an ordinary SVM. */
static void test_all_examples_give_the_plain_svm(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.3);
    double expected = oracle_svms_optimum(ROWS, k, p.class_of, CLASSES, 2, NULL);
    kfe_model *model = support_fit(ctx, "slmc", "dim=32,init=random,max-iter=0,svm-C=2,svm-stop=1e-8",
                                   "rbf:gamma=0.3", p.data);

    assert_int_equal(kfe_model_dim(model), ROWS);
    assert_below(fabs(support_number(model, "objective") - expected), 1e-5 * expected);
    assert_below(fabs(support_number(model, "bound") - expected), 1e-5 * expected);
    assert_below(support_number(model, "gap"), 1e-5);
    kfe_model_free(model);
    free(k);
    support_sample_free(&p);
}

/* With few points, the optimum of SVMs on the kernel itself lies between the bound and the objective. */
static void test_the_bound_is_below_the_plain_svm(void **state)
{
    static const char *const params[] = {"dim=3,svm-stop=1e-8,svm-C=0.001", "dim=3,svm-stop=1e-8,svm-C=2",
                                         "dim=3,svm-stop=1e-8,svm-C=1000"};
    static const double c[] = {1e-3, 2, 1e3};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.3);

    for (int i = 0; i < 3; i++) {
        double optimum = oracle_svms_optimum(ROWS, k, p.class_of, CLASSES, c[i], NULL);
        kfe_model *model = support_fit(ctx, "slmc", params[i], "rbf:gamma=0.3", p.data);
        int64_t count = 0;
        const double *values = kfe_model_record(model, "objective", &count);
        double bound = support_number(model, "bound");
        assert_true(bound > 0 && bound <= optimum * (1 + 1e-6));
        assert_true(values[count - 1] >= optimum * (1 - 1e-6));
        assert_below(fabs(support_number(model, "gap") - (1 - bound / values[count - 1])), 1e-6);
        assert_true(support_number(model, "relative-slope") < 1);
        kfe_model_free(model);
    }
    free(k);
    support_sample_free(&p);
}

static void test_a_search_that_ends_early_is_reported(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    support_catch_log(ctx);
    kfe_model_free(support_fit(ctx, "slmc", "dim=3,svm-C=2,max-iter=1,settled=0", "rbf:gamma=0.3", p.data));
    assert_non_null(strstr(support_log(), "still falls after 1 iterations"));
    support_catch_log(ctx);
    kfe_model_free(support_fit(ctx, "slmc", "dim=3,svm-C=2,max-iter=1,settled=1", "rbf:gamma=0.3", p.data));
    assert_null(strstr(support_log(), "still falls"));
    support_sample_free(&p);
}

static void test_the_search_goes_downhill(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.3", "poly:degree=2,gamma=0.3", "linear"};
    static const char *const params[] = {"dim=3,svm-stop=1e-7,svm-C=2",
                                         "dim=3,svm-stop=1e-7,svm-C=2,init=random"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 2; r++) {
            kfe_model *model = support_fit(ctx, "slmc", params[r], kernels[k], p.data);
            int64_t count = 0;
            const double *values = kfe_model_record(model, "objective", &count);
            double cost = support_svms_cost(ctx, model, p.data, p.class_of, 2);
            for (int64_t i = 1; i < count; i++)
                assert_true(values[i] <= values[i - 1]);
            if (k == 0) /* with a linear kernel three points span the whole space */
                assert_true(values[count - 1] < 0.999 * values[0]);
            /* no gap: the SVMs are optimal on the model's features */
            assert_below(fabs(cost - values[count - 1]), 1e-4 * cost);
            assert_int_equal(kfe_model_support_size(model), 3);
            support_check_predictions_of_a_file(ctx, model, p.data);
            kfe_model_free(model);
        }
    support_sample_free(&p);
}

static void test_sparse_data_gives_the_same(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    support_csr arrays;
    kfe_data *sparse = support_sparse(ctx, ROWS, COLS, p.x, p.class_of, &arrays);
    const char *params = "dim=3,svm-stop=1e-9,max-iter=3";
    kfe_matrix a = support_features(ctx, "slmc", params, "rbf:gamma=0.3", p.data, p.data);
    kfe_matrix b = support_features(ctx, "slmc", params, "rbf:gamma=0.3", sparse, p.data);

    assert_below(support_distance_up_to_rotation(ROWS, a.cols, a.values, b.cols, b.values), 1e-4);
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_data_free(sparse);
    support_csr_free(&arrays);
    support_sample_free(&p);
}

/* The first points are cluster centres. Neither the seed nor the order of the rows has a part in them, and a weight counts like repeated
 * rows. */
static void test_seed_and_order_do_not_matter(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.3", "laplacian:gamma=0.3"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    const char *params = "dim=4,svm-stop=1e-9,max-iter=3";
    double other[2 * ROWS * COLS];
    double weights[ROWS];
    int other_class[2 * ROWS];
    int64_t copies = 0;

    for (int64_t i = ROWS - 1; i >= 0; i--) {
        weights[i] = (double)(1 + i % 2);
        for (int copy = 0; copy < (int)weights[i]; copy++) {
            memcpy(other + copies * COLS, p.x + i * COLS, COLS * sizeof *p.x);
            other_class[copies++] = p.class_of[i];
        }
    }
    kfe_data *repeated = support_dense(ctx, copies, COLS, other, other_class);
    assert_ok(ctx, kfe_data_set_weights(ctx, p.data, weights));
    for (int k = 0; k < 2; k++) {
        kfe_context_set_seed(ctx, 0);
        kfe_matrix first = support_features(ctx, "slmc", params, kernels[k], p.data, p.data);
        kfe_context_set_seed(ctx, 5);
        kfe_matrix second = support_features(ctx, "slmc", params, kernels[k], p.data, p.data);
        kfe_matrix third = support_features(ctx, "slmc", params, kernels[k], repeated, p.data);
        assert_memory_equal(first.values, second.values, (size_t)(first.rows * first.cols) * sizeof(double));
        assert_below(
            support_distance_up_to_rotation(ROWS, first.cols, first.values, third.cols, third.values), 1e-4);
        kfe_matrix_free(&first);
        kfe_matrix_free(&second);
        kfe_matrix_free(&third);
    }
    kfe_data_free(repeated);
    support_sample_free(&p);
}

static void test_other_kernels_leave_the_points_where_they_are(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    for (int k = 0; k < 2; k++) {
        support_catch_log(ctx);
        kfe_model *model =
            support_fit(ctx, "slmc", "dim=3", k == 0 ? "laplacian:gamma=0.3" : "exp:sigma=2", p.data);
        assert_non_null(strstr(support_log(), "they stay where they start"));
        assert_true(support_number(model, "objective") > 0);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

/* All examples are equal, so the kernel between the points is singular. */
static void test_equal_examples_are_harmless(void **state)
{
    kfe_context *ctx = *state;
    double x[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    int class_of[8] = {0, 1, 0, 1, 0, 1, 0, 1};
    kfe_data *data = support_dense(ctx, 8, 1, x, class_of);
    kfe_matrix z = support_features(ctx, "slmc", "dim=4,init=random", "rbf:gamma=1", data, data);

    for (int64_t i = 0; i < z.rows * z.cols; i++)
        assert_true(isfinite(z.values[i]));
    kfe_matrix_free(&z);
    kfe_data_free(data);
}

/* A class of one member, and kernels between the points that are not positive definite. */
static void test_odd_problems_have_sound_answers(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.3", "sigmoid:gamma=2,coef0=-1"};
    kfe_context *ctx = *state;
    double *x = support_normals(3, 12 * 3);
    int class_of[12] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2};
    kfe_data *data = support_dense(ctx, 12, 3, x, class_of);

    for (int k = 0; k < 2; k++) {
        support_catch_log(ctx);
        kfe_model *model = support_fit(ctx, "slmc", "dim=6,init=random", kernels[k], data);
        kfe_matrix z = support_transform(ctx, model, data);
        if (k == 1)
            assert_non_null(strstr(support_log(), "not positive definite"));
        for (int64_t i = 0; i < z.rows * z.cols; i++)
            assert_true(isfinite(z.values[i]));
        support_check_predictions_of_a_file(ctx, model, data);
        kfe_matrix_free(&z);
        kfe_model_free(model);
    }
    kfe_data_free(data);
    free(x);
}

static void test_steps_do_not_allocate(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.3", "poly:degree=2,gamma=0.3", "linear"};
    support_sample p = make_problem(*state);

    for (int k = 0; k < 3; k++) {
        support_request few = {"slmc", "dim=3,init=random,settled=0,max-iter=2", {kernels[k]}};
        support_check_iterations_do_not_allocate(&few, "dim=3,init=random,settled=0,max-iter=20", ROWS, COLS,
                                                 p.x, p.class_of);
    }
    support_sample_free(&p);
}

static void test_allocations_that_fail(void **state)
{
    static const support_request requests[] = {
        {"slmc", "dim=3,max-iter=2", {"rbf:gamma=0.3"}},
        {"slmc", "dim=3,max-iter=2,init=random", {"poly:degree=2,gamma=0.1"}}};

    (void)state;
    support_check_memory_of_all(sizeof requests / sizeof *requests, requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_gradient_is_that_of_the_value),
        with_context(test_value_is_the_optimum_on_the_subspace_kernel),
        with_context(test_all_examples_give_the_plain_svm),
        with_context(test_the_bound_is_below_the_plain_svm),
        with_context(test_a_search_that_ends_early_is_reported),
        with_context(test_the_search_goes_downhill),
        with_context(test_sparse_data_gives_the_same),
        with_context(test_seed_and_order_do_not_matter),
        with_context(test_other_kernels_leave_the_points_where_they_are),
        with_context(test_equal_examples_are_harmless),
        with_context(test_odd_problems_have_sound_answers),
        with_context(test_steps_do_not_allocate),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
