/* SPDX-License-Identifier: Apache-2.0 */
/* Ridge systems above the size that always goes to Cholesky, with residuals computed independently of the solver.
 * test_solve_ways.c has every way of solving on small problems. */
#include "support/support.h"

#include <lapacke.h>
#include <math.h>

#include "core/memory.h"
#include "gram/solve/solve.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/points.h"
#include "support/sweep.h"
#include "support/tolerance.h"

/* Above the sizes that go to Cholesky, and a prime number. */
enum { SIZE = 3001, RIGHT = 10, ZERO_COLUMN = 4 };

/* Right-hand sides, one of them zero. The caller frees them. */
static double *right_sides(int64_t n, int64_t k)
{
    double *right = support_random(11, n * k);

    for (int64_t i = 0; k > ZERO_COLUMN && i < n; i++)
        right[i * k + ZERO_COLUMN] = 0;
    return right;
}

/* The largest ‖r_j − (G + ridge·I) b_j‖ / ‖r_j‖ over the nonzero columns. */
static double true_residual(int64_t n, const double *matrix, double ridge, int64_t k, const double *right,
                            const double *solution)
{
    double *product = engine_product(n, matrix, ridge, solution, k);
    double largest = 0;

    for (int64_t j = 0; j < k; j++) {
        double square = 0;
        double scale = 0;
        for (int64_t i = 0; i < n; i++) {
            double off = right[i * k + j] - product[i * k + j];
            square += off * off;
            scale += right[i * k + j] * right[i * k + j];
            if (scale == 0 && solution[i * k + j] != 0)
                fail_msg("the solution for zeros is %g", solution[i * k + j]);
        }
        if (scale > 0)
            largest = fmax(largest, sqrt(square / scale));
    }
    free(product);
    return largest;
}

/* A bound on what rounding of entries and products adds to a residual: n·ε·‖G‖·‖b‖/‖r‖ with ‖b‖ ≤ ‖r‖/ridge. */
static double rounding_of(int64_t n, double ridge)
{
    return 4 * (double)n * DBL_EPSILON * fmax(1, 1 / ridge);
}

typedef struct solved {
    engine_problem problem;
    double *matrix, *right, *solution;
    double ridge, reported;
} solved;

static void open_problem(kfe_context *ctx, const char *name, int centred, int64_t k, solved *out)
{
    memset(out, 0, sizeof *out);
    assert_ok(ctx, engine_open(ctx, engine_case_named(name), SIZE, centred, &out->problem));
    out->matrix = engine_matrix(&out->problem, centred);
    out->right = right_sides(SIZE, k);
    out->solution = support_random(12, SIZE * k);
}

static void close_problem(solved *s)
{
    engine_close(&s->problem);
    free(s->matrix);
    free(s->right);
    free(s->solution);
}

/* Solves, and checks the residual and the log. */
static void check_way(kfe_context *ctx, solved *s, double ridge, int64_t k, kfe_i_solve_way way)
{
    const char *name = s->problem.origin->name;
    kfe_i_solve_effort effort = {0};

    assert_ok(ctx,
              kfe_i_solve_by(&(kfe_i_system){s->problem.gram, ridge, KFE_TOLERANCE, s->right, k, s->solution},
                             way, &effort));
    s->reported = effort.residual;
    double residual = true_residual(SIZE, s->matrix, ridge, k, s->right, s->solution);
    double slack = rounding_of(SIZE, ridge);
    if (!(residual <= KFE_TOLERANCE + slack))
        fail_msg("%s, ridge %g: residual %.2g", name, ridge, residual);
    if (!(fabs(residual - s->reported) <= 0.01 * residual + slack))
        fail_msg("%s, ridge %g: residual %.3g, but it reports %.3g", name, ridge, residual, s->reported);
}

static void check_solution(kfe_context *ctx, solved *s, double ridge, int64_t k)
{
    check_way(ctx, s, ridge, k, KFE_SOLVE_AUTO);
}

/* ---- against Cholesky ---- */

static void test_against_cholesky(void **state)
{
    static const double ridges[] = {1e4, 1e-2, 1};
    kfe_context *ctx = *state;
    solved s;

    open_problem(ctx, "ordinary", 1, RIGHT, &s);
    for (int r = 0; r < 3; r++)
        check_solution(ctx, &s, ridges[r], r == 2 ? RIGHT : 1);
    for (int64_t i = 0; i < SIZE; i++)
        s.matrix[i * SIZE + i] += 1;
    assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', SIZE, RIGHT, s.matrix, SIZE, s.right, RIGHT), 0);
    assert_below(support_distance(SIZE * RIGHT, s.right, s.solution), 100 * KFE_TOLERANCE);
    close_problem(&s);
}

/* ---- nasty inputs ---- */

static void test_nasty(void **state)
{
    static const struct {
        const char *name;
        double ridge;
        int centred;
    } cases[] = {
        {"duplicates", 1e-3, 0},   {"one column", 1e-2, 1},      {"nearly the identity", 1e-3, 0},
        {"the identity", 1e-4, 1}, {"nearly constant", 1e-2, 0}, {"nearly constant", 1e-3, 1},
        {"far away", 1e-3, 0},     {"low rank", 1e-2, 0},        {"groups", 1e-3, 0},
        {"zero", 1e-3, 1},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        solved s;
        open_problem(*state, cases[c].name, cases[c].centred, 2, &s);
        check_solution(*state, &s, cases[c].ridge, 2);
        close_problem(&s);
    }
}

/* ---- storage ---- */

/* The matrix takes 72 MB in double precision. Residuals in double precision correct iterations in single
 * precision. */
static void test_storage(void **state)
{
    static const struct {
        int64_t memory;
        const char *form;
    } cases[] = {
        {100000000, "stored in double precision"},
        {38000000, "stored in single precision"},
        {19000000, "partly stored in single precision"},
    };
    kfe_context *ctx = *state;
    solved s;

    open_problem(ctx, "one column", 1, RIGHT, &s);
    for (int c = 0; c < 3; c++) {
        assert_ok(ctx, kfe_context_set_memory(ctx, cases[c].memory));
        support_catch_log(ctx);
        check_way(ctx, &s, 1e-2, RIGHT, KFE_SOLVE_CG);
        if (!strstr(support_log(), cases[c].form))
            fail_msg("not %s", cases[c].form);
        kfe_context_on_log(ctx, NULL, NULL);
    }
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
    close_problem(&s);
}

/* ---- failures that are reported ---- */

/* The ridge is too small to make the matrix positive definite: the solver must effort that it failed. */
static void test_cannot_converge(void **state)
{
    kfe_context *ctx = *state;
    solved s;

    open_problem(ctx, "indefinite", 0, 2, &s);
    assert_fails(ctx, KFE_ENUMERIC, "increase the ridge",
                 kfe_i_gram_solve(s.problem.gram, 1e-9, s.right, 2, KFE_TOLERANCE, s.solution, &s.reported));
    assert_true(true_residual(SIZE, s.matrix, 1e-9, 2, s.right, s.solution) > 1e-3);
    close_problem(&s);
}

/* A badly conditioned system that can be solved: the residual is as small as the solver reports. */
static void test_small_ridge(void **state)
{
    kfe_context *ctx = *state;
    solved s;

    open_problem(ctx, "one column", 1, 2, &s);
    assert_ok(ctx,
              kfe_i_gram_solve(s.problem.gram, 1e-6, s.right, 2, KFE_TOLERANCE, s.solution, &s.reported));
    assert_below(s.reported, KFE_TOLERANCE + fmin(1e-6, rounding_of(SIZE, 1e-6)));
    assert_below(true_residual(SIZE, s.matrix, 1e-6, 2, s.right, s.solution),
                 KFE_TOLERANCE + rounding_of(SIZE, 1e-6));
    close_problem(&s);
}

/* Part of the right-hand side lies outside the range of G: the solution is that part divided by the ridge,
 * and rounding exceeds the requested tolerance. The message contains the residual that was reached. */
static void test_absurd_ridge(void **state)
{
    kfe_context *ctx = *state;
    solved s;

    open_problem(ctx, "low rank", 0, 1, &s);
    assert_fails(ctx, KFE_ENUMERIC, "the solver reached a relative residual of ",
                 kfe_i_gram_solve(s.problem.gram, 1e-13, s.right, 1, KFE_TOLERANCE, s.solution, &s.reported));
    double said = engine_number_after(kfe_error_message(ctx), "relative residual of ");
    assert_true(said > KFE_TOLERANCE);
    assert_below(fabs(said - s.reported), 0.06 * s.reported);
    assert_non_null(strstr(kfe_error_message(ctx), "increase the ridge"));
    close_problem(&s);
}

/* The direct path reports its residual too. */
static void test_small(void **state)
{
    kfe_context *ctx = *state;
    engine_problem p;
    double *right = right_sides(101, 2);
    double *solution = support_random(3, 101 * 2);
    double reported = -1;

    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), 101, 0, &p));
    double *matrix = engine_matrix(&p, 0);
    assert_ok(ctx, kfe_i_gram_solve(p.gram, 1e-2, right, 2, KFE_TOLERANCE, solution, &reported));
    assert_below(true_residual(101, matrix, 1e-2, 2, right, solution), rounding_of(101, 1e-2));
    assert_true(reported >= 0);
    assert_below(reported, rounding_of(101, 1e-2));
    engine_close(&p);
    free(matrix);
    free(right);
    free(solution);
}

/* ---- repeatability ---- */

static void run_with(kfe_context *ctx, int threads, kfe_i_solve_way way, const double *right,
                     double *solution)
{
    engine_problem p;

    assert_ok(ctx, kfe_context_set_threads(ctx, threads));
    kfe_i_thread_state saved = kfe_i_threads_enter(ctx);
    assert_ok(ctx, engine_open(ctx, engine_case_named("one column"), SIZE, 1, &p));
    assert_ok(ctx,
              kfe_i_solve_by(&(kfe_i_system){p.gram, 1e-2, KFE_TOLERANCE, right, 2, solution}, way, NULL));
    engine_close(&p);
    kfe_i_threads_leave(saved);
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
}

static void test_repeated(void **state)
{
    double *right = right_sides(SIZE, 2);
    double *first = support_random(1, SIZE * 2);
    double *second = support_random(2, SIZE * 2);

    for (int way = KFE_SOLVE_F64; way < KFE_SOLVE_WAYS; way++) {
        run_with(*state, 2, (kfe_i_solve_way)way, right, first);
        run_with(*state, 2, (kfe_i_solve_way)way, right, second);
        assert_memory_equal(first, second, SIZE * 2 * sizeof *first);
    }
    run_with(*state, 1, KFE_SOLVE_AUTO, right, second);
    assert_below(support_distance(SIZE * 2, first, second), 1e-7);
    free(right);
    free(first);
    free(second);
}

/* ---- cancellation and failing allocations ---- */

/* Without a limit the way is chosen; within a limit it is conjugate gradients, which fit. */
static kfe_i_solve_way way_of(const engine_watched *w)
{
    return w->memory > 0 ? KFE_SOLVE_CG : KFE_SOLVE_AUTO;
}

/* One run in a context whose allocator may fail and whose user may cancel. */
static kfe_status run_watched(kfe_context *ctx, void *user)
{
    const engine_watched *w = user;
    engine_problem p;

    double *right = right_sides(SIZE, 2);
    double *solution = support_random(12, SIZE * 2);
    assert_ok(ctx, kfe_context_set_memory(ctx, w->memory));
    kfe_context_on_cancel(ctx, engine_stop_asked, w->stop);
    kfe_status status = engine_open(ctx, engine_case_named("one column"), SIZE, 1, &p);
    if (status == KFE_OK)
        status =
            kfe_i_solve_by(&(kfe_i_system){p.gram, 1e-2, w->tolerance, right, 2, solution}, way_of(w), NULL);
    if (status == KFE_ENOMEM)
        assert_non_null(strstr(kfe_error_message(ctx), "memory"));
    engine_close(&p);
    free(right);
    free(solution);
    return status;
}

static void test_cancel(void **state)
{
    support_allocator allocator = {0};
    engine_stop whole = {0};
    (void)state;

    assert_int_equal(engine_run_watched(run_watched, &allocator, &whole, 0, KFE_TOLERANCE), KFE_OK);
    assert_true(whole.asked > 4);
    for (int64_t at = 1; at <= whole.asked; at += 1 + whole.asked / 6) {
        engine_stop stop = {.stop_at = at};
        assert_int_equal(engine_run_watched(run_watched, &allocator, &stop, 0, KFE_TOLERANCE), KFE_ECANCEL);
        assert_int_equal(stop.asked, at);
    }
}

static void test_failing_allocations(void **state)
{
    engine_stop never = {0};
    engine_watched w = {&never, 30000000, KFE_TOLERANCE};
    (void)state;

    int64_t step = 1 + support_count_allocations(run_watched, &w) / 16;
    support_sweep_run(&(support_sweep){.name = "solving", .use = run_watched, .user = &w, .step = step});
}

/* More iterations make no more allocations, in double and in single precision. */
static void test_iterations_do_not_allocate(void **state)
{
    static const int64_t memories[] = {100000000, 38000000};
    (void)state;

    for (int m = 0; m < 2; m++)
        engine_check_iterations_do_not_allocate(run_watched, memories[m], 1e-2, 1e-11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_cholesky),
        cmocka_unit_test(test_nasty),
        cmocka_unit_test(test_storage),
        cmocka_unit_test(test_cannot_converge),
        cmocka_unit_test(test_small_ridge),
        cmocka_unit_test(test_absurd_ridge),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_iterations_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
