/* SPDX-License-Identifier: Apache-2.0 */
/* Boosted latent features: the derivatives of the losses against differences, the refit against the
 * conditions of a minimum, the directions against the paper's formula, and ls against partial least
 * squares. */
#include "support/deflation.h"

#include <math.h>
#include <stdio.h>

#include "method/deflation/loss.h"
#include "support/tolerance.h"

enum { ROWS = DEFLATION_ROWS, TEST_ROWS = DEFLATION_TEST_ROWS, COLS = 4, DIM = 3 };

/* Iterations and refits add to the rounding error. */
#define TOLERANCE_ITERATIONS 1e-9
#define GAMMA "rbf:gamma=0.3"

static void test_losses_against_differences(void **state)
{
    static const double points[] = {-3.1, -0.7, -0.2, 0.05, 0.6, 2.4};
    const double h = 1e-5;

    (void)state;
    for (int kind = KFE_LOSS_LS; kind < KFE_LOSS_COUNT; kind++) {
        const kfe_i_loss *loss = kfe_i_loss_of((kfe_i_loss_kind)kind);
        for (int i = 0; i < 6; i++)
            for (double y = -1; y <= 1; y += 2) {
                double f = points[i];
                double up = loss->value(y, f + h, 0.01);
                double down = loss->value(y, f - h, 0.01);
                double curvature = (loss->pull(y, f - h, 0.01) - loss->pull(y, f + h, 0.01)) / (2 * h);
                assert_below(fabs(loss->pull(y, f, 0.01) - (down - up) / (2 * h)), 1e-8 * (1 + up));
                assert_below(fabs(loss->curvature(y, f, 0.01) - curvature), 1e-8 * (1 + up));
            }
    }
    /* within the width in which lad is smoothed */
    const kfe_i_loss *lad = kfe_i_loss_of(KFE_LOSS_LAD);
    assert_below(fabs(lad->curvature(1, 1.003, 0.01) - 100), 1e-9);
    assert_below(fabs(lad->pull(1, 1.003, 0.01) + 0.3), 1e-9);
    assert_null(kfe_i_loss_of(KFE_LOSS_AUTO));
}

/* The losses by their formulas, independent of the library. */
static double own_loss(const char *name, double y, double f)
{
    if (strcmp(name, "ls") == 0)
        return (y - f) * (y - f) / 2;
    if (strcmp(name, "lad") == 0)
        return fabs(y - f);
    return strcmp(name, "exp") == 0 ? exp(-y * f) : log(1 + exp(-y * f));
}

static double own_pull(const char *name, double y, double f)
{
    if (strcmp(name, "ls") == 0)
        return y - f;
    return strcmp(name, "exp") == 0 ? y * exp(-y * f) : y / (1 + exp(y * f));
}

/* Predictions for the training examples from the recorded coefficients on the features, for one target. */
static void predictions(const kfe_model *model, const kfe_matrix *features, int64_t target, double *f)
{
    int64_t count = 0;
    const double *c = kfe_model_record(model, "loss-coefficients", &count) + target * features->cols;
    const double *b = kfe_model_record(model, "loss-intercepts", &count);

    for (int64_t i = 0; i < features->rows; i++) {
        f[i] = b[target];
        for (int64_t j = 0; j < features->cols; j++)
            f[i] += c[j] * features->values[i * features->cols + j];
    }
}

static double mean_loss(const char *name, const double *y, const double *f)
{
    double sum = 0;

    for (int64_t i = 0; i < ROWS; i++)
        sum += own_loss(name, y[i], f[i]) / ROWS;
    return sum;
}

static kfe_model *fit_loss(kfe_context *ctx, const char *method, const char *loss, int dim,
                           const kfe_data *data)
{
    char params[64];

    snprintf(params, sizeof params, "dim=%d,loss=%s", dim, loss);
    return support_fit(ctx, method, params, method[0] == 'k' || method[0] == 's' ? GAMMA : NULL, data);
}

/* ---- the refit ---- */

/* The coefficients of separable classes stay finite by a ridge of 1e-8. Returns the gradient that this ridge
 * leaves on feature j, or on the intercept (-1). */
static double kept_finite(const kfe_model *model, int64_t j)
{
    int64_t count = 0;
    double size = j < 0 ? ROWS * kfe_model_record(model, "loss-intercepts", &count)[0]
                        : kfe_model_record(model, "loss-coefficients", &count)[j];

    return 1.001e-8 * fabs(size) + 1e-8;
}

/* Checks that no step along the intercept or a feature lowers the loss, for examples times `scale`. */
static void check_minimum(kfe_context *ctx, const char *method, const char *loss, double scale)
{
    deflation_problem p = deflation_make_classes(ctx, 21, COLS);
    for (int64_t i = 0; i < ROWS * COLS; i++) /* the data wraps x without copying it */
        p.x[i] *= scale;
    kfe_model *model = fit_loss(ctx, method, loss, DIM, p.data);
    kfe_matrix features = support_transform(ctx, model, p.data);
    double f[ROWS];
    double moved[ROWS];
    int64_t count = 0;

    predictions(model, &features, 0, f);
    double least = mean_loss(loss, p.y, f);
    assert_below(fabs(kfe_model_record(model, "loss", &count)[features.cols - 1] - least), 1e-7);
    assert_int_equal(count, features.cols);
    for (int64_t j = -1; j < features.cols; j++) {
        double slope = 0;
        for (int64_t i = 0; i < ROWS && strcmp(loss, "lad") != 0; i++)
            slope += own_pull(loss, p.y[i], f[i]) * (j < 0 ? 1 : features.values[i * features.cols + j]);
        assert_below(fabs(slope), kept_finite(model, j));
        for (double step = -0.1; step <= 0.1; step += 0.04) {
            for (int64_t i = 0; i < ROWS; i++)
                moved[i] = f[i] + step * (j < 0 ? 1 : features.values[i * features.cols + j]);
            assert_true(mean_loss(loss, p.y, moved) >= least - 1e-7);
        }
    }
    kfe_matrix_free(&features);
    kfe_model_free(model);
    deflation_free(&p);
}

static void test_refit_is_at_a_minimum(void **state)
{
    static const char *const losses[] = {"ls", "lad", "exp", "logistic"};
    static const char *const methods[] = {"blf", "kblf", "skblf"};

    for (int m = 0; m < 3; m++)
        for (int l = 0; l < 4; l++)
            check_minimum(*state, methods[m], losses[l], 1);
    for (int l = 0; l < 4; l++)
        for (double scale = 1e-3; scale < 2e3; scale *= 10)
            check_minimum(*state, "blf", losses[l], scale);
}

/* Two of three points determine the line that least absolute deviations fit; least squares give another line. */
static void test_lad_ignores_an_outlier(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS];
    double y[ROWS];
    double f[ROWS];
    kfe_data *data = NULL;

    for (int64_t i = 0; i < ROWS; i++) {
        x[i] = (double)i;
        y[i] = 2 * x[i] + 1 + (i == 4 ? 1000 : 0);
    }
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, 1, 1, x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    kfe_model *model = fit_loss(ctx, "blf", "lad", 1, data);
    kfe_matrix features = support_transform(ctx, model, data);
    predictions(model, &features, 0, f);
    for (int64_t i = 0; i < ROWS; i++)
        assert_below(fabs(f[i] - 2 * x[i] - 1), 1e-4);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_data_free(data);
}

/* ---- directions ---- */

/* The second feature by hand: w at the predictions of the first, β = (I − qqᵀ)w, τ = (I − qqᵀ)Kβ, scaled to
 * norm one. */
static void check_second_direction(kfe_context *ctx, const char *loss)
{
    deflation_problem p = deflation_make_classes(ctx, 22, COLS);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.3);
    double f[ROWS];
    double w[ROWS];
    double q[ROWS];
    double square = 0;
    kfe_model *one = fit_loss(ctx, "kblf", loss, 1, p.data);
    kfe_model *two = fit_loss(ctx, "kblf", loss, 2, p.data);
    kfe_matrix first = support_transform(ctx, one, p.data);
    kfe_matrix both = support_transform(ctx, two, p.data);

    support_centre_kernel(ROWS, k);
    predictions(one, &first, 0, f);
    for (int64_t i = 0; i < ROWS; i++) {
        w[i] = own_pull(loss, p.y[i], f[i]);
        q[i] = both.values[2 * i];
        square += q[i] * q[i];
    }
    assert_below(fabs(square - 1), TOLERANCE_ITERATIONS);
    assert_below(1 - deflation_cosine(ROWS, first.values, 1, q, 1), TOLERANCE_ITERATIONS);
    deflation_remove(ROWS, 1, q, w);
    double *tau = support_product(ROWS, ROWS, 1, k, w);
    deflation_remove(ROWS, 1, q, tau);
    assert_below(1 - deflation_cosine(ROWS, tau, 1, both.values + 1, 2), TOLERANCE_ITERATIONS);
    free(k);
    free(tau);
    kfe_matrix_free(&first);
    kfe_matrix_free(&both);
    kfe_model_free(one);
    kfe_model_free(two);
    deflation_free(&p);
}

static void test_second_direction_follows_the_gradient(void **state)
{
    check_second_direction(*state, "ls");
    check_second_direction(*state, "exp");
    check_second_direction(*state, "logistic");
}

static void compare_up_to_scale(const kfe_matrix *a, const kfe_matrix *b)
{
    assert_int_equal(a->cols, b->cols);
    for (int64_t j = 0; j < a->cols; j++)
        assert_below(1 - deflation_cosine(a->rows, a->values + j, a->cols, b->values + j, b->cols),
                     TOLERANCE_ITERATIONS);
}

static void test_least_squares_is_pls(void **state)
{
    static const char *const pairs[][3] = {{"pls", "blf", NULL}, {"kpls", "kblf", GAMMA}};
    kfe_context *ctx = *state;

    for (int i = 0; i < 2; i++)
        for (int64_t targets = 1; targets <= 3; targets++) {
            deflation_problem p = deflation_make(ctx, 23, COLS, targets);
            kfe_matrix a = support_features(ctx, pairs[i][0], "dim=3", pairs[i][2], p.data, p.test_data);
            kfe_matrix b = support_features(ctx, pairs[i][1], "dim=3", pairs[i][2], p.data, p.test_data);
            compare_up_to_scale(&a, &b);
            kfe_matrix_free(&a);
            kfe_matrix_free(&b);
            deflation_free(&p);
        }
}

static void test_linear_kblf_is_blf(void **state)
{
    static const char *const params[] = {"dim=3,loss=logistic", "dim=3,loss=exp", "dim=3,loss=ls"};
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make_classes(ctx, 24, COLS);

    for (int i = 0; i < 3; i++) {
        kfe_matrix a = support_features(ctx, "blf", params[i], NULL, p.data, p.test_data);
        kfe_matrix b = support_features(ctx, "kblf", params[i], "linear", p.data, p.test_data);
        compare_up_to_scale(&a, &b);
        kfe_matrix_free(&a);
        kfe_matrix_free(&b);
    }
    deflation_free(&p);
}

/* ---- edge cases ---- */

static void test_losses_of_classes_refuse_real_targets(void **state)
{
    static const char *const methods[][2] = {{"blf", NULL}, {"kblf", GAMMA}, {"skblf", GAMMA}};
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 25, COLS, 1);

    for (int m = 0; m < 3; m++) {
        kfe_spec *spec = NULL;
        kfe_model *model = NULL;
        assert_ok(ctx, kfe_spec_parse(ctx, methods[m][0], "loss=exp", methods[m][1], &spec));
        assert_fails(ctx, KFE_EINVAL, "is for classes", kfe_fit(ctx, spec, p.data, &model));
        kfe_spec_free(spec);
    }
    deflation_free(&p);
}

/* Separable classes: coefficients stay finite, and each class lies on its side of the boundary to the rest. */
static void test_separable_classes(void **state)
{
    static const char *const losses[] = {"exp", "logistic"};
    kfe_context *ctx = *state;
    double *x;
    int *class_of;
    double f[ROWS];

    support_clouds(31, ROWS, 5, 3, 8, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, 5, x, class_of);
    for (int l = 0; l < 2; l++) {
        kfe_model *model = fit_loss(ctx, "blf", losses[l], 4, data);
        kfe_matrix features = support_transform(ctx, model, data);
        for (int64_t t = 0; t < 3; t++) {
            predictions(model, &features, t, f);
            for (int64_t i = 0; i < ROWS; i++) {
                assert_true(isfinite(f[i]) && fabs(f[i]) < 1000);
                assert_int_equal(f[i] > 0, class_of[i] == t);
            }
        }
        kfe_matrix_free(&features);
        kfe_model_free(model);
    }
    kfe_data_free(data);
    free(x);
    free(class_of);
}

static void test_auto_is_logistic_for_classes_and_ls_otherwise(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem classes = deflation_make_classes(ctx, 26, COLS);
    deflation_problem real = deflation_make(ctx, 26, COLS, 1);
    kfe_matrix a = support_features(ctx, "blf", "dim=2", NULL, classes.data, classes.data);
    kfe_matrix b = support_features(ctx, "blf", "dim=2,loss=logistic", NULL, classes.data, classes.data);
    kfe_matrix c = support_features(ctx, "blf", "dim=2", NULL, real.data, real.data);
    kfe_matrix d = support_features(ctx, "blf", "dim=2,loss=ls", NULL, real.data, real.data);

    assert_memory_equal(a.values, b.values, ROWS * 2 * sizeof(double));
    assert_memory_equal(c.values, d.values, ROWS * 2 * sizeof(double));
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_matrix_free(&c);
    kfe_matrix_free(&d);
    deflation_free(&classes);
    deflation_free(&real);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses_against_differences),
        with_context(test_refit_is_at_a_minimum),
        with_context(test_lad_ignores_an_outlier),
        with_context(test_second_direction_follows_the_gradient),
        with_context(test_least_squares_is_pls),
        with_context(test_linear_kblf_is_blf),
        with_context(test_losses_of_classes_refuse_real_targets),
        with_context(test_separable_classes),
        with_context(test_auto_is_logistic_for_classes_and_ls_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
