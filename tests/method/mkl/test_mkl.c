/* SPDX-License-Identifier: Apache-2.0 */
/* mkl: SVMs and weights against LIBSVM, brute force and the duality gap from full matrices; kernels and views
 * that must not matter; refused input. */
#include "support/mkl.h"

#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "oracles/libsvm.h"
#include "oracles/silp.h"
#include "support/sample.h"
#include "support/tolerance.h"

enum { ROWS = 48, COLS = 3, KERNELS = 4 };
static const double gammas[KERNELS] = {0.02, 0.2, 1, 8};
#define FOUR_KERNELS                                                                                         \
    {                                                                                                        \
        "rbf:gamma=0.02", "rbf:gamma=0.2", "rbf:gamma=1", "rbf:gamma=8"                                      \
    }
#define EXACT ",tolerance=1e-08,svm-stop=1e-08"

static support_sample make_problem(kfe_context *ctx, int classes)
{
    support_sample p = support_sample_make(
        ctx, &(support_shape){.seed = 11, .rows = ROWS, .cols = COLS, .classes = classes, .apart = 1.2});

    support_sample_kernels(&p, KERNELS, gammas); /* their diagonals are already ones */
    return p;
}

static void weighted_sum(const support_sample *p, const double *d, double *out)
{
    for (int64_t i = 0; i < ROWS * ROWS; i++) {
        out[i] = 0;
        for (int m = 0; m < KERNELS; m++)
            out[i] += d[m] * p->k[m][i];
    }
}

/* The coefficients αy of every example, n × SVMs, as stored in the model. */
static double *coefficients_of(const kfe_model *model)
{
    double *a = calloc((size_t)(ROWS * model->dim), sizeof *a);

    for (int64_t s = 0; s < model->rows; s++)
        memcpy(a + model->support_index[s] * model->dim, model->coefficients + s * model->dim,
               (size_t)model->dim * sizeof *a);
    return a;
}

/* ½ Σ_g a_gᵀKa_g */
static double half_norm(const double *k, const double *a, int64_t svms)
{
    double *ka = support_product(ROWS, ROWS, svms, k, a);
    double value = 0;

    for (int64_t i = 0; i < ROWS * svms; i++)
        value += 0.5 * a[i] * ka[i];
    free(ka);
    return value;
}

static double dual_value(const double *k, const double *a, int64_t svms)
{
    double value = -half_norm(k, a, svms);

    for (int64_t i = 0; i < ROWS * svms; i++)
        value += fabs(a[i]);
    return value;
}

/* Σ_g ½aᵀKa + C·hinge of the decision values. */
static double primal_value(const support_sample *p, const double *k, const double *a, const kfe_matrix *z,
                           double c)
{
    double value = half_norm(k, a, z->cols);

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t g = 0; g < z->cols; g++)
            value += c * fmax(0, 1 - (p->class_of[i] == g ? 1 : -1) * z->values[i * z->cols + g]);
    return value;
}

static kfe_model *fit_plain(kfe_context *ctx, const support_sample *p, const double *k, double c)
{
    kfe_data *data = support_dense(ctx, ROWS, ROWS, k, p->class_of);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    char params[64];

    snprintf(params, sizeof params, "C=%g,multiclass=ovr,stop=1e-9", c);
    assert_ok(ctx, kfe_spec_parse(ctx, "none", NULL, "precomputed", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "svm", params));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    kfe_data_free(data);
    return model;
}

/* ---- the optimum ---- */

/* At the weights found, the SVMs have LIBSVM's objective, and the decision values of the learner svm. */
static void compare_with_plain_svms(kfe_context *ctx, const support_sample *p, const kfe_model *model,
                                    double c)
{
    double k[ROWS * ROWS];
    kfe_matrix z = support_transform(ctx, model, p->data);

    weighted_sum(p, support_weights(model, KERNELS), k);
    kfe_model *reference = fit_plain(ctx, p, k, c);
    kfe_data *matrix = support_dense(ctx, ROWS, ROWS, k, NULL);
    kfe_matrix expected = support_transform(ctx, reference, matrix);
    double *a = coefficients_of(reference);
    double optimum = dual_value(k, a, expected.cols);
    assert_int_equal(z.cols, expected.cols);
    assert_below(fabs(support_number(model, "objective") - optimum), 1e-7 * optimum);
    double theirs = oracle_svms_optimum(ROWS, k, p->class_of, p->classes, c, NULL);
    assert_below(fabs(optimum - theirs), 1e-6 * theirs);
    assert_below(support_distance(ROWS * z.cols, expected.values, z.values), 1e-4);
    free(a);
    kfe_matrix_free(&z);
    kfe_matrix_free(&expected);
    kfe_data_free(matrix);
    kfe_model_free(reference);
}

/* The gap agrees with its definition, and the weights satisfy the Karush-Kuhn-Tucker conditions: kernels with
 * nonzero weight have the largest slope. */
static void check_optimality(kfe_context *ctx, const support_sample *p, const kfe_model *model, double c)
{
    double k[ROWS * ROWS];
    double q[KERNELS];
    double largest = 0;
    const double *d = support_weights(model, KERNELS);
    kfe_matrix z = support_transform(ctx, model, p->data);
    double *a = coefficients_of(model);
    double objective = support_number(model, "objective");

    weighted_sum(p, d, k);
    double lower = dual_value(k, a, z.cols) + half_norm(k, a, z.cols);
    for (int m = 0; m < KERNELS; m++) {
        q[m] = half_norm(p->k[m], a, z.cols);
        largest = fmax(largest, q[m]);
    }
    for (int m = 0; m < KERNELS; m++)
        if (d[m] > 0)
            assert_below(largest - q[m], 1e-5 * objective);
    assert_below(fabs(primal_value(p, k, a, &z, c) - objective), 1e-10 * objective);
    double gap = primal_value(p, k, a, &z, c) - (lower - largest);
    assert_below(gap, 3e-8 * objective);
    assert_below(support_number(model, "gap"), 2e-8);
    assert_below(support_number(model, "bound"), dual_value(k, a, z.cols) + 1e-10 * objective);
    free(a);
    kfe_matrix_free(&z);
}

typedef struct svms {
    const support_sample *p;
    double c;
} svms;

/* J(d) and its negative slopes ½ Σ_g a_gᵀK_m a_g, of SVMs solved for these weights. */
static double cost_at(void *user, const double *d, double *slopes)
{
    const svms *s = user;
    double k[ROWS * ROWS];
    int machines = s->p->classes == 2 ? 1 : s->p->classes;
    double *a = calloc((size_t)(ROWS * machines), sizeof *a);

    weighted_sum(s->p, d, k);
    double cost = oracle_svms_optimum(ROWS, k, s->p->class_of, s->p->classes, s->c, a);
    for (int m = 0; m < KERNELS; m++)
        slopes[m] = half_norm(s->p->k[m], a, machines);
    free(a);
    return cost;
}

static void test_the_optimum_is_that_of_linear_programs(void **state)
{
    static const double cs[] = {1e-3, 1, 1e3};
    kfe_context *ctx = *state;
    char params[128];

    for (int classes = 2; classes <= 3; classes++) {
        support_sample p = make_problem(ctx, classes);
        for (int i = 0; i < 3; i++) {
            snprintf(params, sizeof params, "svm-C=%g" EXACT, cs[i]);
            support_request request = {"mkl", params, FOUR_KERNELS};
            kfe_model *model = support_request_model(ctx, &request, p.data);
            double d[KERNELS];
            double least = oracle_silp(KERNELS, cost_at, &(svms){&p, cs[i]}, 1e-6, d);
            assert_below(fabs(support_number(model, "objective") - least), 1e-5 * least);
            compare_with_plain_svms(ctx, &p, model, cs[i]);
            check_optimality(ctx, &p, model, cs[i]);
            kfe_model_free(model);
        }
        support_sample_free(&p);
    }
}

/* The recorded gap holds at any tolerance: no weights on a grid are better than it allows. */
static void test_nothing_is_below_the_gap(void **state)
{
    enum { STEPS = 6 };
    static const char *const tolerances[] = {"svm-C=1,tolerance=0.3,max-iter=2", "svm-C=1,tolerance=0.01",
                                             "svm-C=1"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 3);
    double lowest = HUGE_VAL;
    double k[ROWS * ROWS];

    for (int a = 0; a <= STEPS; a++)
        for (int b = 0; a + b <= STEPS; b++)
            for (int c = 0; a + b + c <= STEPS; c++) {
                double d[KERNELS] = {a, b, c, STEPS - a - b - c};
                for (int m = 0; m < KERNELS; m++)
                    d[m] /= STEPS;
                weighted_sum(&p, d, k);
                lowest = fmin(lowest, oracle_svms_optimum(ROWS, k, p.class_of, 3, 1, NULL));
            }
    for (int t = 0; t < 3; t++) {
        support_request request = {"mkl", tolerances[t], FOUR_KERNELS};
        kfe_model *model = support_request_model(ctx, &request, p.data);
        double objective = support_number(model, "objective");
        assert_true(support_number(model, "bound") <= lowest * (1 + 1e-9));
        if (t == 2)
            assert_true(objective <= lowest * (1 + 1e-4));
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

/* ---- kernels that must not matter ---- */

static void test_one_kernel_is_the_plain_svm(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 3);
    support_request request = {"mkl", "normalize=no,svm-C=2" EXACT, {"rbf:gamma=0.2"}};
    kfe_model *model = support_request_model(ctx, &request, p.data);
    kfe_model *reference = fit_plain(ctx, &p, p.k[1], 2);
    kfe_data *matrix = support_dense(ctx, ROWS, ROWS, p.k[1], NULL);
    kfe_matrix z = support_transform(ctx, model, p.data);
    kfe_matrix expected = support_transform(ctx, reference, matrix);

    assert_true(support_weights(model, 1)[0] == 1);
    assert_below(support_distance(ROWS * z.cols, expected.values, z.values), 1e-5);
    kfe_matrix_free(&z);
    kfe_matrix_free(&expected);
    kfe_data_free(matrix);
    kfe_model_free(model);
    kfe_model_free(reference);
    support_sample_free(&p);
}

static void test_a_kernel_given_twice_changes_nothing(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 2);

    support_request once = {"mkl", "svm-C=1" EXACT, {"rbf:gamma=0.2", "linear"}};
    /* the weight in a kernel's text is a unit, which normalisation removes */
    support_request twice = {
        "mkl", "svm-C=1" EXACT, {"rbf:gamma=0.2", "linear:weight=40", "rbf:gamma=0.2,weight=3"}};
    kfe_model *a = support_request_model(ctx, &once, p.data);
    kfe_model *b = support_request_model(ctx, &twice, p.data);
    kfe_matrix za = support_transform(ctx, a, p.data);
    kfe_matrix zb = support_transform(ctx, b, p.data);
    const double *one = support_weights(a, 2);
    const double *two = support_weights(b, 3);
    assert_below(fabs(support_number(a, "objective") - support_number(b, "objective")),
                 1e-7 * support_number(a, "objective"));
    assert_below(fabs(one[0] - two[0] - two[2]), 1e-3);
    assert_below(support_distance(ROWS * za.cols, za.values, zb.values), 1e-3);
    kfe_matrix_free(&za);
    kfe_matrix_free(&zb);
    kfe_model_free(a);
    kfe_model_free(b);
    support_sample_free(&p);
}

/* Without normalisation, the kernel with the larger unit is preferred. */
static void test_units_matter_only_if_asked(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 2);
    support_request plain = {"mkl", "normalize=no" EXACT, {"rbf:gamma=0.2", "rbf:gamma=1,weight=1000"}};
    kfe_model *model = support_request_model(ctx, &plain, p.data);

    assert_true(support_weights(model, 2)[1] > 0.99);
    kfe_model_free(model);
    support_sample_free(&p);
}

typedef struct two_views {
    double *signal, *noise;
    int *class_of;
    kfe_data *parts[2], *data;
} two_views;

static two_views make_views(kfe_context *ctx, int swapped)
{
    static const char *const names[2][2] = {{"signal", "noise"}, {"noise", "signal"}};
    two_views v;

    support_clouds(5, ROWS, COLS, 2, 2.5, &v.signal, &v.class_of);
    v.noise = support_normals(9, ROWS * 2);
    v.parts[swapped] = support_dense(ctx, ROWS, COLS, v.signal, v.class_of);
    v.parts[!swapped] = support_dense(ctx, ROWS, 2, v.noise, NULL);
    assert_ok(ctx, kfe_data_join_views(ctx, 2, (const kfe_data *const *)v.parts, names[swapped], &v.data));
    return v;
}

static void free_views(two_views *v)
{
    kfe_data_free(v->data);
    kfe_data_free(v->parts[0]);
    kfe_data_free(v->parts[1]);
    free(v->signal);
    free(v->noise);
    free(v->class_of);
}

static void test_noise_gets_next_to_nothing(void **state)
{
    kfe_context *ctx = *state;
    two_views v = make_views(ctx, 0);
    support_request request = {"mkl", NULL, {"linear"}};
    kfe_model *model = support_request_model(ctx, &request, v.data);

    assert_true(support_weights(model, 2)[1] < 0.05);
    support_check_predictions_of_a_file(ctx, model, v.data);
    kfe_model_free(model);
    free_views(&v);
}

static void test_the_order_of_views_does_not_matter(void **state)
{
    kfe_context *ctx = *state;
    two_views v[2] = {make_views(ctx, 0), make_views(ctx, 1)};
    support_request request = {"mkl", "solver=gradient" EXACT, {"rbf:gamma=0.3"}};
    kfe_model *a = support_request_model(ctx, &request, v[0].data);
    kfe_model *b = support_request_model(ctx, &request, v[1].data);
    kfe_matrix same = support_transform(ctx, a, v[0].data);
    kfe_matrix by_name = support_transform(ctx, a, v[1].data);
    kfe_matrix other = support_transform(ctx, b, v[0].data);

    assert_memory_equal(same.values, by_name.values, ROWS * sizeof *same.values);
    assert_below(support_distance(ROWS, same.values, other.values), 1e-5);
    assert_below(fabs(support_weights(a, 2)[0] - support_weights(b, 2)[1]), 1e-5);
    kfe_matrix_free(&same);
    kfe_matrix_free(&by_name);
    kfe_matrix_free(&other);
    kfe_model_free(a);
    kfe_model_free(b);
    free_views(&v[0]);
    free_views(&v[1]);
}

/* ---- kinds of kernels ---- */

static void test_given_and_string_kernels(void **state)
{
    static const char *const words[] = {"abcabcabc", "abcabbabc", "xyzxyzxyz",
                                        "xyzzyzxyz", "abcabcab",  "xyzxyz"};
    static const int class_of[] = {0, 0, 1, 1, 0, 1};
    static const char *const names[] = {"sequence", "matrix"};
    kfe_context *ctx = *state;
    double k[36];
    kfe_data *parts[2] = {NULL, NULL};
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    for (int i = 0; i < 36; i++)
        k[i] = (i / 6 == i % 6) + (class_of[i / 6] == class_of[i % 6]);
    assert_ok(ctx, kfe_data_from_text(ctx, 6, words, &parts[0]));
    parts[1] = support_dense(ctx, 6, 6, k, class_of);
    assert_ok(ctx, kfe_data_join_views(ctx, 2, (const kfe_data *const *)parts, names, &data));
    assert_ok(ctx, kfe_spec_parse(ctx, "mkl", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_set_view_kernel(ctx, spec, "sequence", "spectrum:length=2"));
    assert_ok(ctx, kfe_spec_set_view_kernel(ctx, spec, "matrix", "precomputed"));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    support_check_predictions_of_a_file(ctx, model, data);
    kfe_matrix predictions = {0};
    assert_ok(ctx, kfe_predict(ctx, model, data, &predictions, NULL));
    for (int i = 0; i < 6; i++)
        assert_true(predictions.values[i] == class_of[i]);
    kfe_matrix_free(&predictions);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_data_free(parts[0]);
    kfe_data_free(parts[1]);
}

/* A constant kernel gets no weight, and nothing can be learned from a constant kernel alone. */
static void test_constant_kernels(void **state)
{
    kfe_context *ctx = *state;
    double constant[ROWS];
    support_sample p = make_problem(ctx, 2);
    static const char *const names[] = {"clouds", "constant"};
    support_request request = {"mkl", NULL, {"rbf:gamma=0.5"}};
    kfe_model *model = NULL;
    kfe_data *joined = NULL;

    for (int i = 0; i < ROWS; i++)
        constant[i] = 3;
    kfe_data *flat = support_dense(ctx, ROWS, 1, constant, p.class_of);
    const kfe_data *parts[] = {p.data, flat};
    assert_ok(ctx, kfe_data_join_views(ctx, 2, parts, names, &joined));
    assert_fails(ctx, KFE_EINPUT, "same for all pairs", support_request_fit(ctx, &request, flat, &model));
    model = support_request_model(ctx, &request, joined);
    assert_true(support_weights(model, 2)[1] == 0);
    kfe_model_free(model);
    kfe_data_free(joined);
    kfe_data_free(flat);
    support_sample_free(&p);
}

static void test_kernels_that_are_not_definite(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 3);
    support_request request = {"mkl", NULL, {"sigmoid:gamma=2,coef0=-1", "rbf:gamma=0.5"}};
    kfe_model *model = support_request_model(ctx, &request, p.data);
    kfe_matrix z = support_transform(ctx, model, p.data);

    for (int64_t i = 0; i < z.rows * z.cols; i++)
        assert_true(isfinite(z.values[i]));
    kfe_matrix_free(&z);
    kfe_model_free(model);
    support_sample_free(&p);
}

static void test_every_allocation_may_fail(void **state)
{
    double *x = NULL;
    int *class_of = NULL;
    (void)state;

    support_clouds(3, 18, 2, 3, 1, &x, &class_of);
    support_request request = {"mkl", "tolerance=1e-06", {"rbf:gamma=0.2", "rbf:gamma=2", "linear"}};
    support_check_memory(&request, 18, 2, x, class_of);
    free(x);
    free(class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_the_optimum_is_that_of_linear_programs),
        with_context(test_nothing_is_below_the_gap),
        with_context(test_one_kernel_is_the_plain_svm),
        with_context(test_a_kernel_given_twice_changes_nothing),
        with_context(test_units_matter_only_if_asked),
        with_context(test_noise_gets_next_to_nothing),
        with_context(test_the_order_of_views_does_not_matter),
        with_context(test_given_and_string_kernels),
        with_context(test_constant_kernels),
        with_context(test_kernels_that_are_not_definite),
        with_context(test_every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
