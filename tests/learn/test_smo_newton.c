/* SPDX-License-Identifier: Apache-2.0 */
/* SMO with Newton steps ("jumps") finds the same solutions as without, also for kernel matrices of low rank. */
#include "support/smo.h"

#include <math.h>

#include "oracles/libsvm.h"
#include "support/fit.h"

static kfe_i_smo_result solve(kfe_context *ctx, smo_problem *p, int jumps, double tolerance)
{
    kfe_i_table table = {
        .ctx = ctx, .kind = KFE_TABLE_DENSE, .rows = p->n, .cols = p->n, .stride = p->n, .values = p->kernel};
    kfe_i_gram *gram = NULL;
    kfe_i_smo_result result = {0};
    kfe_i_smo_options options = {.tolerance = tolerance, .shrinking = 1, .newton = jumps};

    assert_ok(ctx, kfe_i_gram_precomputed(ctx, &table, &gram));
    kfe_i_smo_problem problem = {.gram = gram, .sign = p->sign, .upper = p->upper};
    assert_ok(ctx, kfe_i_smo_solve(ctx, &problem, &options, p->alpha, &result));
    kfe_i_gram_free(gram);
    return result;
}

static void forget(smo_problem *p)
{
    memset(p->alpha, 0, (size_t)p->n * sizeof *p->alpha);
}

/* Linear kernels in 2 and 5 dimensions and a Gaussian kernel, soft and hard margins, cold starts. */
static void test_jumps_give_the_optimum(void **state)
{
    static const double costs[] = {0.1, 1, 100};
    kfe_context *ctx = *state;

    for (int kind = 0; kind < 3; kind++)
        for (int c = 0; c < 3; c++) {
            smo_problem p = smo_make_points(7 + (uint64_t)kind, 120, kind == 0 ? 2 : 5, 1);
            if (kind == 2)
                smo_rbf_kernel(&p, 0.3);
            else
                smo_linear_kernel(&p);
            smo_set_upper(&p, costs[c], costs[c]);
            forget(&p);
            kfe_i_smo_result result = solve(ctx, &p, 1, 1e-6);
            assert_true(result.converged);
            smo_assert_solved(&p, &result, 1e-6);
            oracle_compare_smo(&p, &result, costs[c], costs[c], 1e-6);
            smo_free_problem(&p);
        }
}

/* The purpose of jumps: a hard margin in few dimensions, started from a neighbouring problem. */
static void test_jumps_need_far_fewer_iterations(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(3, 200, 4, 0.8);
    int64_t iterations[2];

    for (int jumps = 0; jumps < 2; jumps++) {
        forget(&p);
        smo_linear_kernel(&p);
        smo_set_upper(&p, 50, 50);
        solve(ctx, &p, jumps, 1e-6);
        for (int64_t i = 0; i < p.n * p.cols; i++)
            p.x[i] *= i % p.cols == 0 ? 1.125 : 1;
        smo_linear_kernel(&p);
        kfe_i_smo_result result = solve(ctx, &p, jumps, 1e-6);
        smo_assert_solved(&p, &result, 1e-6);
        iterations[jumps] = result.iterations;
        for (int64_t i = 0; i < p.n * p.cols; i++)
            p.x[i] /= i % p.cols == 0 ? 1.125 : 1;
    }
    assert_true(10 * iterations[1] < iterations[0]);
    smo_free_problem(&p);
}

/* Kernels of k dimensions usually have k + 1 free coefficients, so that their matrix is singular. Newton steps still reach
 * the tolerance: pairs alone would need millions of iterations for it. */
static void test_digits_where_free_coefficients_exceed_dimensions(void **state)
{
    kfe_context *ctx = *state;

    for (int cols = 2; cols <= 5; cols++) {
        smo_problem p = smo_make_points(9, 50, cols, 0.3);
        smo_linear_kernel(&p);
        smo_set_upper(&p, 100, 100);
        forget(&p);
        kfe_i_smo_result result = solve(ctx, &p, 1, 1e-12);
        assert_true(result.converged);
        assert_below((double)result.iterations, 1000);
        assert_below(smo_violation_of(&p, p.alpha), 1e-11);
        smo_free_problem(&p);
    }
}

/* Equal points, points with both labels at one place, and a kernel of zeros: the system is singular at every
 * jump. */
static void test_singular_kernels(void **state)
{
    kfe_context *ctx = *state;

    for (int kind = 0; kind < 2; kind++) {
        smo_problem p = smo_make_points(11, 60, 3, 1);
        for (int64_t i = 0; i < p.n; i++)
            for (int64_t j = 0; j < p.cols; j++)
                p.x[i * p.cols + j] = kind == 0 ? p.x[(i % 6) * p.cols + j] : 0;
        smo_linear_kernel(&p);
        smo_set_upper(&p, 2, 2);
        forget(&p);
        kfe_i_smo_result plain = solve(ctx, &p, 0, 1e-7);
        for (int64_t i = 0; i < p.n; i++) /* all coefficients inside, with yᵀα = 0 */
            p.alpha[i] = 0.5;
        kfe_i_smo_result result = solve(ctx, &p, 1, 1e-7);
        smo_assert_feasible(&p, result.iterations);
        assert_below(fabs(result.objective - plain.objective), 1e-5 * fabs(plain.objective));
        smo_free_problem(&p);
    }
}

/* For kernels that are not positive definite, solutions are feasible and stationary. */
static void test_indefinite_kernels(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(13, 80, 3, 1);

    smo_linear_kernel(&p);
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t j = 0; j < p.n; j++)
            p.kernel[i * p.n + j] = tanh(p.kernel[i * p.n + j] - 1);
    smo_set_upper(&p, 1, 1);
    forget(&p);
    kfe_i_smo_result result = solve(ctx, &p, 1, 1e-5);
    smo_assert_feasible(&p, result.iterations);
    assert_true(result.converged);
    assert_below(smo_violation_of(&p, p.alpha), 1e-4);
    smo_free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_jumps_give_the_optimum),
        with_context(test_jumps_need_far_fewer_iterations),
        with_context(test_digits_where_free_coefficients_exceed_dimensions),
        with_context(test_singular_kernels),
        with_context(test_indefinite_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
