/* SPDX-License-Identifier: Apache-2.0 */
/* The radius-margin bound: its gradient against differences, and cases with known values. */
#include "support/fit.h"

#include <math.h>

#include "method/subspace/ball.h"
#include "method/subspace/radius_margin.h"

enum { ROWS = 24, DIM = 2 };

static void test_gradient_of_radius_margin(void **state)
{
    kfe_context *ctx = *state;
    const char *labels[ROWS];
    kfe_i_target target;
    double *x = support_normals(6, ROWS * DIM);
    double gradient[ROWS * DIM];
    double ignored[ROWS * DIM];
    kfe_i_radius_margin bound = {0};
    const double step = 1e-4;
    double up = 0;
    double down = 0;

    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c";
    assert_ok(ctx, kfe_i_target_from_labels(ctx, ROWS, labels, &target));
    assert_ok(ctx, kfe_i_radius_margin_begin(ctx, &target, DIM, 2, &bound));
    assert_ok(ctx, kfe_i_radius_margin_of(&bound, x, DIM, &up, gradient));
    double largest = support_largest(ROWS * DIM, gradient);
    for (int64_t i = 0; i < ROWS * DIM; i++) {
        double before = x[i];
        x[i] = before + step;
        assert_ok(ctx, kfe_i_radius_margin_of(&bound, x, DIM, &up, ignored));
        x[i] = before - step;
        assert_ok(ctx, kfe_i_radius_margin_of(&bound, x, DIM, &down, ignored));
        x[i] = before;
        assert_below(fabs((up - down) / (2 * step) - gradient[i]), 1e-3 * largest);
    }
    kfe_i_radius_margin_free(&bound);
    free(x);
    kfe_i_target_free(&target);
}

/* Two examples at ±1: ‖w‖² = 4 / ‖φ₁ − φ₂‖² and R² = ‖φ₁ − φ₂‖² / 4, with squared distance 4 + 2/C. */
static void test_radius_margin_of_two_points(void **state)
{
    kfe_context *ctx = *state;
    const char *labels[] = {"a", "b"};
    double x[] = {1, -1};
    double gradient[2];
    double value = 1;
    kfe_i_target target;
    kfe_i_radius_margin bound = {0};

    assert_ok(ctx, kfe_i_target_from_labels(ctx, 2, labels, &target));
    assert_ok(ctx, kfe_i_radius_margin_begin(ctx, &target, 1, 10, &bound));
    assert_ok(ctx, kfe_i_radius_margin_of(&bound, x, 1, &value, gradient));
    assert_below(fabs(value), 1e-6);
    kfe_i_radius_margin_free(&bound);
    kfe_i_target_free(&target);
}

/* The corners of a square and points inside: the radius is half the diagonal. */
static void test_smallest_ball(void **state)
{
    const double points[6][2] = {{0, 0}, {2, 0}, {0, 2}, {2, 2}, {1, 0.5}, {0.3, 1}};
    double k[36];
    double beta[6] = {0};
    double work[6];
    kfe_i_ball ball = {0};
    double total = 0;

    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            k[i * 6 + j] = points[i][0] * points[j][0] + points[i][1] * points[j][1];
    assert_ok(*state, kfe_i_smallest_ball(*state, 6, k, NULL, 1e-10, beta, work, &ball));
    assert_true(ball.converged);
    assert_below(fabs(ball.squared_radius - 2), 1e-8);
    for (int i = 0; i < 6; i++) {
        assert_true(beta[i] >= 0);
        total += beta[i];
    }
    assert_below(fabs(total - 1), 1e-12);
}

/* Far from the origin the kernel values leave no digits for the radius; one warning reports it. */
static void test_an_inexact_radius_is_reported(void **state)
{
    kfe_context *ctx = *state;
    const char *labels[ROWS];
    kfe_i_target target;
    double *x = support_normals(6, ROWS * DIM);
    double gradient[ROWS * DIM];
    double value = 0;
    kfe_i_radius_margin bound = {0};

    support_catch_log(ctx);
    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 2 ? "a" : "b";
    assert_ok(ctx, kfe_i_target_from_labels(ctx, ROWS, labels, &target));
    assert_ok(ctx, kfe_i_radius_margin_begin(ctx, &target, DIM, 2, &bound));
    assert_ok(ctx, kfe_i_radius_margin_of(&bound, x, DIM, &value, gradient));
    assert_null(strstr(support_log(), "radius"));
    for (int i = 0; i < ROWS * DIM; i++)
        x[i] += 3e6;
    for (int again = 0; again < 2; again++)
        assert_ok(ctx, kfe_i_radius_margin_of(&bound, x, DIM, &value, gradient));
    const char *first = strstr(support_log(), "the radius of the radius-margin bound did not reach");
    assert_non_null(first);
    assert_null(strstr(first + 1, "the radius of the radius-margin bound did not reach"));
    kfe_i_radius_margin_free(&bound);
    free(x);
    kfe_i_target_free(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_gradient_of_radius_margin),
        with_context(test_radius_margin_of_two_points),
        with_context(test_smallest_ball),
        with_context(test_an_inexact_radius_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
