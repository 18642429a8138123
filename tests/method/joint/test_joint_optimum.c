/* SPDX-License-Identifier: Apache-2.0 */
/* The optimum of svm-joint and usvm-joint over six decades of C and of the ridge, certified independently of
 * the solver; the path that never forms the kernel; and warnings about a gap that stays open. */
#include "support/mkl.h"

#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "linalg/linalg.h"
#include "method/joint/joint.h"
#include "method/mkl/svm_weights.h"
#include "model/model.h"
#include "oracles/libsvm.h"
#include "support/sample.h"

enum { ROWS = 36, COLS = 3, CLASSES = 3 };
#define GAMMA 0.2
#define KERNEL "rbf:gamma=0.2"

static const char *const methods[] = {"svm-joint", "usvm-joint"};
static const char *const ridges[] = {"lambda", "xi"};

static support_sample make_problem(kfe_context *ctx)
{
    support_sample p = support_sample_make(
        ctx, &(support_shape){.seed = 5, .rows = ROWS, .cols = COLS, .classes = CLASSES, .apart = 1});

    support_sample_kernels(&p, 1, &(double){GAMMA});
    support_sample_centre(&p, 1, 0);
    return p;
}

/* G(G + ridge·I)⁻¹G or G(G + ridge·I)⁻¹, by elimination. */
static double *closed_form_kernel(const double *g, double ridge, int uncorrelated)
{
    double *shifted = malloc(ROWS * ROWS * sizeof *shifted);

    memcpy(shifted, g, ROWS * ROWS * sizeof *shifted);
    for (int64_t i = 0; i < ROWS; i++)
        shifted[i * ROWS + i] += ridge;
    double *k = support_solve(ROWS, ROWS, shifted, g);
    if (!uncorrelated) {
        double *product = support_product(ROWS, ROWS, ROWS, g, k);
        free(k);
        k = product;
    }
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < i; j++)
            k[i * ROWS + j] = k[j * ROWS + i] = (k[i * ROWS + j] + k[j * ROWS + i]) / 2;
    free(shifted);
    return k;
}

/* The cost of the model, measured on its features, equals the recorded objective. No other features cost
 * less: the cost equals the optimum of SVMs on the kernel that bounds the kernels of all features. */
static void check_optimum(kfe_context *ctx, const support_sample *p, int m, double c, double ridge)
{
    char params[128];

    snprintf(params, sizeof params, "%s=%g,svm-C=%g,settled=1e-5", ridges[m], ridge, c);
    kfe_model *model = support_fit(ctx, methods[m], params, KERNEL, p->data);
    double *k = closed_form_kernel(p->k[0], ridge, m);
    double optimum = oracle_svms_optimum(ROWS, k, p->class_of, CLASSES, c, NULL);
    double cost = support_svms_cost(ctx, model, p->data, p->class_of, c);
    double objective = support_number(model, "objective");

    assert_below(fabs(cost - objective), 1e-6 * cost);
    assert_below(objective, optimum * (1 + 1e-5));
    assert_true(objective >= optimum * (1 - 1e-7));
    assert_true(support_number(model, "bound") <= optimum * (1 + 1e-7));
    assert_below(fabs(support_number(model, "gap") - (1 - support_number(model, "bound") / objective)), 1e-9);
    assert_below(support_number(model, "gap"), 1e-5);
    free(k);
    kfe_model_free(model);
}

static void test_the_optimum_is_reached_over_six_decades(void **state)
{
    static const double values[] = {1e-3, 1e-1, 10, 1e3};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                check_optimum(ctx, &p, m, values[i], values[j]);
    support_sample_free(&p);
}

/* ---- without forming the kernel ---- */

/* With roots, on the weighted operator. */
static double solve_kernel(kfe_context *ctx, const support_sample *p, int uncorrelated, int formed,
                           const double *roots, double *bound)
{
    kfe_i_joint_kernel kernel = {.ctx = ctx,
                                 .method = "test",
                                 .n = ROWS,
                                 .uncorrelated = uncorrelated,
                                 .ridge = 0.05,
                                 .max_iterations = 60};
    kfe_i_joint_certificate certificate = {0};
    kfe_i_onevsrest svms = {0};
    int64_t index[ROWS];
    double right[ROWS * CLASSES];
    kfe_i_gram *gram = NULL;
    kfe_i_gram *weighted = NULL;

    for (int64_t i = 0; i < ROWS; i++)
        index[i] = i;
    assert_ok(ctx, kfe_i_gram_subset(ctx, ROWS, p->k[0], index, ROWS, &gram));
    if (roots)
        assert_ok(ctx, kfe_i_gram_weighted(ctx, gram, roots, &weighted));
    kernel.gram = roots ? weighted : gram;
    kernel.right = right;
    if (formed)
        assert_ok(ctx, kfe_i_joint_form(&kernel));
    assert_ok(ctx, kfe_i_onevsrest_open(ctx, &p->data->target, CLASSES, 10, 1e-6, &svms));
    assert_ok(ctx, kfe_i_onevsrest_carry(&svms, roots));
    assert_ok(ctx, kfe_i_joint_solve(&kernel, &svms, formed ? 1e-6 : 1e-8, &certificate));
    double upper = svms.objective + svms.gap;
    *bound = certificate.bound;
    kfe_i_onevsrest_free(&svms);
    kfe_i_gram_free(kernel.formed);
    kfe_i_table_free(&kernel.values);
    kfe_i_gram_free(weighted);
    kfe_i_gram_free(gram);
    return upper;
}

static void test_the_growing_subspace_finds_the_same_optimum(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    double weights[ROWS];
    double roots[ROWS];

    for (int i = 0; i < ROWS; i++) {
        weights[i] = 0.5 + (double)(i % 5);
        roots[i] = sqrt(weights[i]);
    }
    for (int run = 0; run < 4; run++) {
        int m = run % 2;
        double bounds[2];
        if (run == 2)
            assert_ok(ctx, kfe_data_set_weights(ctx, p.data, weights));
        double formed = solve_kernel(ctx, &p, m, 1, run < 2 ? NULL : roots, &bounds[0]);
        double never_formed = solve_kernel(ctx, &p, m, 0, run < 2 ? NULL : roots, &bounds[1]);
        assert_below(fabs(formed - never_formed), 3e-6 * formed);
        assert_below(never_formed - bounds[1], 2e-6 * never_formed);
        assert_true(bounds[1] <= formed * (1 + 1e-9));
    }
    support_sample_free(&p);
}

/* ---- second derivatives ---- */

/* The second derivative of the SVMs' value by a factor of their kernel, where operators carry `roots` (NULL: they carry nothing). */
static double curvature_of(kfe_context *ctx, const support_sample *p, const double *roots)
{
    kfe_i_onevsrest svms = {0};
    kfe_i_svm_weights weights = {0};
    double objective = 0;
    double excess = 0;
    double hessian = 0;

    assert_ok(ctx, kfe_i_onevsrest_open(ctx, &p->data->target, 0, 1, 1e-10, &svms));
    assert_ok(ctx, kfe_i_onevsrest_carry(&svms, roots));
    assert_ok(ctx, kfe_i_svm_weights_open(ctx, &svms, 1, &weights));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++)
            weights.kernel.values[i * ROWS + j] =
                (p->k[0][i * ROWS + j] + 0.1 * (double)(i == j)) * (roots ? roots[i] * roots[j] : 1);
    assert_ok(ctx, kfe_i_svm_weights_solve(&weights, 1e-12, &objective, &excess));
    assert_ok(ctx, kfe_i_gram_times(weights.gram, svms.weights, weights.k, weights.images));
    assert_ok(ctx, kfe_i_svm_weights_curvature(&weights, &hessian));
    kfe_i_svm_weights_free(&weights);
    kfe_i_onevsrest_free(&svms);
    return hessian;
}

/* The SVMs are the same, whether operators carry the roots of their weights or not. */
static void test_second_derivatives_do_not_depend_on_coordinates(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    double weights[ROWS];
    double roots[ROWS];

    for (int i = 0; i < ROWS; i++) {
        weights[i] = 0.5 + (double)(i % 5);
        roots[i] = sqrt(weights[i]);
    }
    assert_ok(ctx, kfe_data_set_weights(ctx, p.data, weights));
    double plain = curvature_of(ctx, &p, NULL);
    assert_true(plain > 0);
    assert_below(fabs(curvature_of(ctx, &p, roots) - plain), 1e-6 * plain);
    support_sample_free(&p);
}

/* ---- open gaps ---- */

/* Of three classes a third feature explains almost nothing here, but without it the gap stays open. */
static void test_small_features_are_kept_where_the_gap_needs_them(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_generate(ctx, "waveform", "n=150", &data));
    kfe_model *model = support_fit(ctx, "usvm-joint", "svm-C=1,xi=0.00077", "rbf:gamma=0.02", data);
    assert_int_equal(kfe_model_dim(model), 3);
    assert_below(support_number(model, "gap"), 1e-5);
    kfe_model_free(model);
    kfe_data_free(data);
}

/* With a ridge below the rounding error of the kernel, the result would be noise. */
static void test_a_tiny_ridge_is_raised(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    for (int m = 0; m < 2; m++) {
        char params[64];
        snprintf(params, sizeof params, "svm-C=1,%s=1e-18", ridges[m]);
        support_catch_log(ctx);
        kfe_model *model = support_fit(ctx, methods[m], params, KERNEL, p.data);
        assert_non_null(strstr(support_log(), "below the rounding"));
        assert_true(support_number(model, ridges[m]) > 1e-15);
        double cost = support_svms_cost(ctx, model, p.data, p.class_of, 1);
        assert_below(fabs(cost - support_number(model, "objective")), 1e-3 * cost);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

static void test_an_open_gap_is_reported(void **state)
{
    static const char *const params[] = {"step=plain,svm-C=100", "dim=1,svm-C=100"};
    static const char *const words[] = {"finds the optimum", "fewer features than SVMs"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    for (int i = 0; i < 2; i++) {
        support_catch_log(ctx);
        kfe_model *model = support_fit(ctx, "svm-joint", params[i], KERNEL, p.data);
        double objective = support_number(model, "objective");
        assert_true(support_number(model, "gap") > 1e-4);
        assert_non_null(strstr(support_log(), words[i]));
        assert_below(fabs(support_svms_cost(ctx, model, p.data, p.class_of, 100) - objective),
                     1e-4 * objective);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_the_optimum_is_reached_over_six_decades),
        with_context(test_the_growing_subspace_finds_the_same_optimum),
        with_context(test_second_derivatives_do_not_depend_on_coordinates),
        with_context(test_small_features_are_kept_where_the_gap_needs_them),
        with_context(test_a_tiny_ridge_is_raised),
        with_context(test_an_open_gap_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
