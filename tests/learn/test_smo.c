/* SPDX-License-Identifier: Apache-2.0 */
/* The SMO solver against LIBSVM, against enumeration of all sets of bounds, and by optimality conditions
 * computed from the explicit kernel matrix. */
#include <math.h>

#include "oracles/libsvm.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/smo.h"
#include "support/sweep.h"

/* ---- against LIBSVM ---- */

typedef struct form {
    const char *kernel;
    kfe_i_gram_storage storage;
} form;

static const double bounds[][2] = {{0.1, 0.1}, {1, 1}, {10, 2}, {0.5, 20}, {1000, 1000}};
static const int64_t sizes[] = {2, 3, 10, 60, 400};

/* Operators that give `p->kernel` up to rounding. */
static void compare_with_libsvm(kfe_context *ctx, smo_problem *p, const form *forms, size_t count,
                                double most)
{
    for (size_t c = 0; c < sizeof bounds / sizeof *bounds; c++) {
        double tolerance = bounds[c][0] > 100 ? 1e-6 : 1e-8;
        double first = 0;
        if (bounds[c][0] > most)
            continue;
        smo_set_upper(p, bounds[c][0], bounds[c][1]);
        for (size_t f = 0; f < 2 * count; f++) {
            kfe_i_smo_result result;
            smo_opened o;
            memset(p->alpha, 0, (size_t)p->n * sizeof *p->alpha);
            assert_ok(ctx, smo_open_gram(ctx, p, forms[f / 2].kernel, forms[f / 2].storage, &o));
            assert_ok(ctx, smo_solve_on(ctx, p, o.gram, tolerance, f % 2 == 1, &result));
            smo_close_gram(&o);
            smo_assert_solved(p, &result, tolerance);
            if (f == 0)
                oracle_compare_smo(p, &result, bounds[c][0], bounds[c][1], tolerance);
            first = f == 0 ? result.objective : first;
            assert_below(fabs(result.objective - first), 1e-6 * fabs(first));
        }
    }
}

static void test_linear_equals_libsvm(void **state)
{
    static const form forms[] = {
        {"linear", KFE_GRAM_AUTO}, {"linear", KFE_GRAM_F64}, {"precomputed", KFE_GRAM_AUTO}};

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        smo_problem p = smo_make_points(k + 1, sizes[k], 5, 1);
        smo_linear_kernel(&p);
        compare_with_libsvm(*state, &p, forms, 3, sizes[k] < 400 ? 1000 : 100);
        smo_free_problem(&p);
    }
}

static void test_rbf_equals_libsvm(void **state)
{
    static const form forms[] = {{"precomputed", KFE_GRAM_AUTO}, {"precomputed", KFE_GRAM_F64}};

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        smo_problem p = smo_make_points(k + 1, sizes[k], 4, 1);
        smo_rbf_kernel(&p, 0.3);
        smo_round_kernel_to_single(&p);
        compare_with_libsvm(*state, &p, forms, 2, 1000);
        smo_free_problem(&p);
    }
}

/* LIBSVM rounds kernel values to single precision, so the comparison uses problems where that matters little. */
static void test_evaluated_rows_equal_libsvm(void **state)
{
    static const form forms[] = {{"rbf:gamma=0.3", KFE_GRAM_TILED}, {"rbf:gamma=0.3", KFE_GRAM_F64}};
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(9, 150, 4, 1);

    smo_rbf_kernel(&p, 0.3);
    compare_with_libsvm(ctx, &p, forms, 2, 10);
    smo_free_problem(&p);
}

static void test_sparse_factor_equals_dense(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(10, 80, 6, 1);
    int64_t starts[81] = {0};
    int32_t columns[480];
    kfe_i_gram *gram = NULL;
    kfe_i_smo_result result;

    for (int64_t e = 0; e < 480; e++) {
        columns[e] = (int32_t)(e % 6);
        starts[e / 6 + 1] = e + 1;
    }
    kfe_i_table table = {
        .kind = KFE_TABLE_CSR, .rows = 80, .cols = 6, .values = p.x, .row_start = starts, .columns = columns};
    smo_linear_kernel(&p);
    assert_ok(ctx, kfe_i_gram_factored(ctx, &table, &gram));
    assert_ok(ctx, smo_solve_on(ctx, &p, gram, 1e-8, 1, &result));
    smo_assert_solved(&p, &result, 1e-8);
    kfe_i_gram_free(gram);
    smo_free_problem(&p);
}

/* ---- against enumeration ---- */

enum { AT_ZERO, AT_UPPER, INSIDE };

/* The objective of the stationary point with every coefficient at a bound or inside, as `where` says;
 * infinity if it lies outside the box. */
static double pattern_objective(const smo_problem *p, const int *where)
{
    double matrix[36] = {0};
    double right[6] = {0};
    double alpha[5];
    int64_t m = p->n + 1;

    for (int64_t i = 0; i < p->n; i++) {
        right[i] = where[i] == INSIDE ? 1 : where[i] == AT_UPPER ? p->upper[i] : 0;
        for (int64_t j = 0; j < p->n && where[i] == INSIDE; j++)
            matrix[i * m + j] = p->sign[i] * p->sign[j] * p->kernel[i * p->n + j];
        matrix[i * m + p->n] = where[i] == INSIDE ? p->sign[i] : 0;
        matrix[i * m + i] += where[i] == INSIDE ? 0 : 1;
        matrix[p->n * m + i] = p->sign[i];
    }
    double *solution = support_solve(m, 1, matrix, right);
    double slack = 1e-12 * support_largest(p->n, p->upper);
    int inside_box = 1;
    for (int64_t i = 0; i < p->n; i++) {
        alpha[i] = solution[i];
        inside_box &= alpha[i] >= -slack && alpha[i] <= p->upper[i] + slack;
    }
    free(solution);
    return inside_box ? smo_objective_of(p, alpha) : INFINITY;
}

/* Without a coefficient inside, the system has no unique solution; such an optimum equals that of a
 * neighbouring pattern with one coefficient inside. */
static double enumerate(const smo_problem *p)
{
    double best = INFINITY;
    int patterns = (int)pow(3, (double)p->n);

    for (int code = 0; code < patterns; code++) {
        int where[5];
        int inside = 0;
        for (int i = 0, rest = code; i < p->n; i++, rest /= 3) {
            where[i] = rest % 3;
            inside += where[i] == INSIDE;
        }
        if (inside > 0)
            best = fmin(best, pattern_objective(p, where));
    }
    return best;
}

static void test_small_problems_by_enumeration(void **state)
{
    uint64_t random = 3;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        smo_problem p = smo_make_points(seed, 2 + (int64_t)(seed % 4), 3, 0.5);
        smo_rbf_kernel(&p, 0.4);
        for (int64_t i = 0; i < p.n; i++)
            p.upper[i] = exp(3 * support_normal(&random));
        kfe_i_smo_result result = smo_solve(*state, &p, 1e-10, 1);
        double expected = enumerate(&p);
        smo_assert_solved(&p, &result, 1e-10);
        assert_below(fabs(result.objective - expected), 1e-9 * fabs(expected));
        smo_free_problem(&p);
    }
}

/* ---- warm starts ---- */

typedef struct change {
    const char *name;
    double gamma, c, mixed; /* factors of gamma and C; share of another kernel */
} change;

static const change changes[] = {
    {"gamma up 1 %", 1.01, 1, 0}, {"gamma down 2 %", 0.98, 1, 0}, {"another kernel 1 %", 1, 1, 0.01},
    {"C up 2 %", 1, 1.02, 0},     {"C down 5 %", 1, 0.95, 0},
};

static void apply_change(smo_problem *p, const change *one, double gamma, double c)
{
    smo_set_upper(p, c * one->c, c * one->c);
    smo_rbf_kernel(p, gamma * one->gamma);
    double *other = support_rbf(p->n, p->x, p->n, p->x, p->cols, 2);
    for (int64_t i = 0; i < p->n * p->n; i++)
        p->kernel[i] = (1 - one->mixed) * p->kernel[i] + one->mixed * other[i];
    free(other);
}

static void check_warm_starts(kfe_context *ctx, double c, double tolerance)
{
    static const change none = {"none", 1, 1, 0};
    smo_problem p = smo_make_points(5, 700, 4, 0.5);
    double *old = smo_zeros(p.n);

    apply_change(&p, &none, 0.3, c);
    smo_solve(ctx, &p, tolerance, 1);
    memcpy(old, p.alpha, (size_t)p.n * sizeof *old);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        apply_change(&p, &changes[k], 0.3, c);
        memset(p.alpha, 0, (size_t)p.n * sizeof *p.alpha);
        kfe_i_smo_result cold = smo_solve(ctx, &p, tolerance, 1);
        for (int64_t i = 0; i < p.n; i++)
            p.alpha[i] = old[i] * changes[k].c;
        kfe_i_smo_result warm = smo_solve(ctx, &p, tolerance, 1);
        smo_assert_solved(&p, &warm, tolerance);
        assert_below(fabs(cold.objective - warm.objective), 1e-6 * fabs(cold.objective));
        print_message("C %g, tolerance %g, %s: %d rows cold, %d warm\n", c, tolerance, changes[k].name,
                      (int)cold.row_touches, (int)warm.row_touches);
        assert_true(3 * warm.row_touches <= cold.row_touches);
    }
    free(old);
    smo_free_problem(&p);
}

static void test_warm_start_touches_a_third_of_the_rows(void **state)
{
    check_warm_starts(*state, 1, 1e-5);
    check_warm_starts(*state, 10, 1e-3);
    check_warm_starts(*state, 100, 1e-3);
}

static void test_answer_is_a_start_without_work(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(6, 200, 3, 1);
    double *first = smo_zeros(p.n);

    smo_set_upper(&p, 10, 3);
    smo_rbf_kernel(&p, 0.5);
    kfe_i_smo_result cold = smo_solve(ctx, &p, 1e-4, 1);
    memcpy(first, p.alpha, (size_t)p.n * sizeof *first);
    kfe_i_smo_result warm = smo_solve(ctx, &p, 1e-4, 1);
    assert_int_equal(warm.iterations, 0);
    assert_memory_equal(first, p.alpha, (size_t)p.n * sizeof *first);
    assert_below(fabs(cold.objective - warm.objective), 1e-12 * fabs(cold.objective));
    memset(p.alpha, 0, (size_t)p.n * sizeof *p.alpha);
    kfe_i_smo_result again = smo_solve(ctx, &p, 1e-4, 1);
    assert_memory_equal(&again, &cold, sizeof cold);
    assert_memory_equal(first, p.alpha, (size_t)p.n * sizeof *first);
    free(first);
    smo_free_problem(&p);
}

/* The nearest feasible point is clip(start − λy) with one λ for all coefficients: those inside the box
 * determine λ, and the others agree with it. With a tolerance that every point meets, the solver returns
 * its start. */
static void test_infeasible_start_is_projected(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(7, 90, 3, 1);
    double *start = support_normals(8, p.n);
    double multiplier = NAN;

    smo_rbf_kernel(&p, 0.5);
    for (int64_t i = 0; i < p.n; i++) {
        p.upper[i] = 0.5 + (double)(i % 5);
        p.alpha[i] = 2 * start[i] + (p.sign[i] > 0);
        start[i] = fmin(fmax(p.alpha[i], 0), p.upper[i]);
    }
    kfe_i_smo_result result = smo_solve(ctx, &p, 1e10, 1);
    assert_int_equal(result.iterations, 0);
    smo_assert_feasible(&p, 0);
    for (int64_t i = 0; i < p.n; i++)
        if (p.alpha[i] > 0 && p.alpha[i] < p.upper[i])
            multiplier = p.sign[i] * (start[i] - p.alpha[i]);
    assert_true(fabs(multiplier) > 0.01);
    for (int64_t i = 0; i < p.n; i++)
        assert_below(fabs(fmin(fmax(start[i] - multiplier * p.sign[i], 0), p.upper[i]) - p.alpha[i]), 1e-12);
    kfe_i_smo_result solved = smo_solve(ctx, &p, 1e-6, 1);
    smo_assert_solved(&p, &solved, 1e-6);
    free(start);
    smo_free_problem(&p);
}

/* ---- degenerate problems ---- */

static void test_one_class_gets_its_side(void **state)
{
    for (int64_t n = 1; n < 6; n += 4)
        for (double sign = -1; sign < 2; sign += 2) {
            smo_problem p = smo_make_points(1, 6, 3, 1);
            p.n = n;
            smo_rbf_kernel(&p, 1);
            for (int64_t i = 0; i < n; i++) {
                p.sign[i] = sign;
                p.alpha[i] = 0.5;
            }
            kfe_i_smo_result result = smo_solve(*state, &p, 1e-3, 1);
            assert_true(result.objective == 0 && result.violation == 0 && result.converged);
            assert_true(-result.offset == sign);
            for (int64_t i = 0; i < n; i++)
                assert_true(p.alpha[i] == 0);
            smo_free_problem(&p);
        }
}

/* With a kernel of zeros the objective is −Σα: all coefficients of the smaller side reach their bound. Equal
 * points with both labels behave in the same way. */
static void test_zero_kernel(void **state)
{
    smo_problem p = smo_make_points(2, 30, 2, 1);
    double positive = 0;
    double negative = 0;

    p.kernel = smo_zeros(p.n * p.n);
    for (int64_t i = 0; i < p.n; i++) {
        p.upper[i] = 1 + (double)(i % 3);
        *(p.sign[i] > 0 ? &positive : &negative) += p.upper[i];
    }
    kfe_i_smo_result result = smo_solve(*state, &p, 1e-6, 1);
    smo_assert_solved(&p, &result, 1e-6);
    assert_below(fabs(result.objective + 2 * fmin(positive, negative)), 1e-12 * positive);
    smo_free_problem(&p);
}

static void test_equal_points_with_both_labels(void **state)
{
    smo_problem p = smo_make_points(3, 40, 2, 1);

    memcpy(p.x + 20 * p.cols, p.x, (size_t)(20 * p.cols) * sizeof *p.x);
    for (int64_t i = 20; i < 40; i++)
        p.sign[i] = -p.sign[i - 20];
    smo_rbf_kernel(&p, 0.5);
    kfe_i_smo_result result = smo_solve(*state, &p, 1e-6, 1);
    smo_assert_solved(&p, &result, 1e-6);
    /* all labels contradict each other: f = 0 is optimal, and every coefficient is at its bound */
    assert_below(fabs(result.objective + smo_total(p.n, p.upper)), 1e-9);
    smo_free_problem(&p);
}

static void test_indefinite_kernels_end_at_stationary_points(void **state)
{
    for (int negate = 0; negate < 2; negate++) {
        smo_problem p = smo_make_points(4, 120, 3, 0.5);
        smo_linear_kernel(&p);
        smo_set_upper(&p, 5, 5);
        for (int64_t i = 0; i < p.n * p.n; i++)
            p.kernel[i] = negate ? -p.kernel[i] : tanh(p.kernel[i] - 1);
        kfe_i_smo_result result = smo_solve(*state, &p, 1e-5, 1);
        smo_assert_solved(&p, &result, 1e-5);
        assert_true(result.objective < 0);
        smo_free_problem(&p);
    }
}

/* ---- certificates ---- */

/* Weak duality bounds the distance to the optimum: the gap, computed here from the matrix, is small at any C
 * and equals the one that the solver reports. A violation v costs at most v·C per example. */
static void test_duality_gap_over_six_decades(void **state)
{
    static const double tolerance = 1e-7;

    for (double c = 1e-3; c < 2e3; c *= 10)
        for (int rbf = 0; rbf < 2; rbf++) {
            smo_problem p = smo_make_points(9, 150, 3, 0.7);
            if (rbf)
                smo_rbf_kernel(&p, 0.5);
            else
                smo_linear_kernel(&p);
            smo_set_upper(&p, c, 2 * c);
            kfe_i_smo_result result = smo_solve(*state, &p, tolerance, 1);
            double gap = smo_duality_gap_of(&p, p.alpha, result.offset);
            double rounding = smo_rounding_of(&p) * smo_total(p.n, p.alpha);
            smo_assert_solved(&p, &result, tolerance);
            assert_below(gap, (double)p.n * 2 * c * tolerance + rounding);
            assert_below(gap, 1e-5 * -result.objective);
            assert_below(fabs(gap - result.gap), rounding + 1e-9 * (1 + smo_total(p.n, p.alpha)));
            smo_free_problem(&p);
        }
}

/* ---- limits and failures ---- */

static void test_iteration_limit_is_a_warning(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(5, 100, 3, 0.5);
    kfe_i_smo_result result;
    smo_opened o;

    smo_rbf_kernel(&p, 0.5);
    assert_ok(ctx, smo_open_gram(ctx, &p, "precomputed", KFE_GRAM_AUTO, &o));
    kfe_i_smo_problem smo = {.gram = o.gram, .sign = p.sign, .upper = p.upper};
    kfe_i_smo_options options = {.tolerance = 1e-6, .max_iterations = 7, .shrinking = 1, .who = "mkl"};
    support_catch_log(ctx);
    assert_ok(ctx, kfe_i_smo_solve(ctx, &smo, &options, p.alpha, &result));
    assert_non_null(strstr(support_log(), "mkl: the SVM did not reach its optimum"));
    assert_int_equal(result.converged, 0);
    assert_int_equal(result.iterations, 7);
    smo_assert_feasible(&p, 7);
    assert_true(result.violation > 1e-6);
    assert_below(fabs(result.violation - smo_violation_of(&p, p.alpha)), smo_rounding_of(&p));
    /* a tolerance below rounding does not loop forever */
    assert_ok(ctx, smo_solve_on(ctx, &p, o.gram, 1e-300, 1, &result));
    assert_below(smo_violation_of(&p, p.alpha), 1e-9);
    smo_close_gram(&o);
    smo_free_problem(&p);
}

/* Kernel values of 10⁴⁰ leave no digits of decision values near 1: the solver stops at its rounding limit,
 * not after millions of iterations. */
static void test_huge_kernel_values_end_soon(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(5, 100, 3, 0.5);
    kfe_i_smo_result result;
    smo_opened o;

    smo_linear_kernel(&p);
    for (int64_t i = 0; i < p.n * p.n; i++)
        p.kernel[i] *= 1e40;
    for (int64_t i = 0; i < p.n; i++)
        p.alpha[i] = p.upper[i] / 2; /* far from the tiny coefficients of the solution */
    assert_ok(ctx, smo_open_gram(ctx, &p, "precomputed", KFE_GRAM_AUTO, &o));
    support_catch_log(ctx);
    kfe_i_smo_problem smo = {.gram = o.gram, .sign = p.sign, .upper = p.upper};
    kfe_i_smo_options options = {.tolerance = 1e-4, .shrinking = 1, .newton = 1, .who = "mkl"};
    assert_ok(ctx, kfe_i_smo_solve(ctx, &smo, &options, p.alpha, &result));
    assert_int_equal(result.converged, 0);
    assert_true(result.iterations < 100000);
    assert_non_null(strstr(support_log(), "scale the columns"));
    smo_close_gram(&o);
    smo_free_problem(&p);
}

static void test_bad_arguments(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(5, 10, 3, 0.5);
    kfe_i_smo_result result;
    smo_opened o;

    assert_ok(ctx, smo_open_gram(ctx, &p, "linear", KFE_GRAM_AUTO, &o));
    assert_fails(ctx, KFE_EINVAL, "tolerance is 0", smo_solve_on(ctx, &p, o.gram, 0, 1, &result));
    p.upper[3] = 0;
    assert_fails(ctx, KFE_EINVAL, "the C of example 4 is 0", smo_solve_on(ctx, &p, o.gram, 1, 1, &result));
    p.upper[3] = 1;
    p.sign[2] = 2;
    assert_fails(ctx, KFE_EINVAL, "sign of example 3 is 2", smo_solve_on(ctx, &p, o.gram, 1, 1, &result));
    p.sign[2] = 1;
    p.alpha[1] = NAN;
    assert_fails(ctx, KFE_EINVAL, "coefficient 2", smo_solve_on(ctx, &p, o.gram, 1, 1, &result));
    smo_close_gram(&o);
    smo_free_problem(&p);
}

static void test_huge_kernel_values_are_refused(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(5, 10, 3, 0.5);
    kfe_i_smo_result result;
    smo_opened o;

    smo_linear_kernel(&p);
    for (int64_t i = 0; i < 100; i++)
        p.kernel[i] *= 1e308;
    assert_ok(ctx, smo_open_gram(ctx, &p, "precomputed", KFE_GRAM_AUTO, &o));
    assert_fails(ctx, KFE_ENUMERIC, "too large", smo_solve_on(ctx, &p, o.gram, 1e-3, 1, &result));
    smo_close_gram(&o);
    smo_free_problem(&p);
}

static void test_cancel(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(5, 300, 3, 0.5);
    kfe_i_smo_result result;
    smo_opened o;

    smo_set_upper(&p, 1000, 1000);
    smo_linear_kernel(&p);
    assert_ok(ctx, smo_open_gram(ctx, &p, "precomputed", KFE_GRAM_AUTO, &o));
    for (int64_t at = 1; at <= 3; at++) {
        engine_stop stop = {.stop_at = at};
        kfe_context_on_cancel(ctx, engine_stop_asked, &stop);
        memset(p.alpha, 0, (size_t)p.n * sizeof *p.alpha);
        assert_fails(ctx, KFE_ECANCEL, "cancelled", smo_solve_on(ctx, &p, o.gram, 1e-6, 1, &result));
        assert_int_equal(stop.asked, at);
    }
    smo_close_gram(&o);
    smo_free_problem(&p);
}

typedef struct small_solve {
    smo_problem *problem;
    const form *form;
    const support_allocator *counting; /* NULL: do not count */
    int64_t calls;                     /* allocations of the solver alone */
} small_solve;

static kfe_status solve_small(kfe_context *ctx, void *user)
{
    small_solve *one = user;
    smo_problem *p = one->problem;
    kfe_i_smo_result result = {0};
    smo_opened o = {0};

    for (int64_t i = 0; i < p->n; i++)
        p->alpha[i] = 0.5; /* inside the box, so that the solver has work to do */
    kfe_status status = smo_open_gram(ctx, p, one->form->kernel, one->form->storage, &o);
    int64_t before = one->counting ? one->counting->calls : 0;
    if (status == KFE_OK)
        status = smo_solve_on(ctx, p, o.gram, 1e-6, 1, &result);
    one->calls = one->counting ? one->counting->calls - before : 0;
    smo_close_gram(&o);
    return status;
}

/* Allocations of the solver alone. */
static int64_t count_solver_allocations(smo_problem *p, const form *one)
{
    support_allocator counting = {0};
    small_solve solve = {p, one, &counting, 0};

    assert_int_equal(support_use_with(&counting, solve_small, &solve), KFE_OK);
    return solve.calls;
}

static const form every_form[] = {{"linear", KFE_GRAM_AUTO},
                                  {"linear", KFE_GRAM_F64},
                                  {"rbf:gamma=0.5", KFE_GRAM_TILED},
                                  {"precomputed", KFE_GRAM_AUTO}};

static void test_every_allocation_may_fail(void **state)
{
    smo_problem p = smo_make_points(5, 30, 3, 0.5);

    (void)state;
    smo_linear_kernel(&p);
    for (size_t f = 0; f < 4; f++)
        support_sweep_all(every_form[f].kernel, solve_small,
                          &(small_solve){.problem = &p, .form = &every_form[f]}, 4);
    smo_free_problem(&p);
}

/* A hundred times the iterations make no more allocations if rows are stored. */
static void test_iterations_do_not_allocate(void **state)
{
    smo_problem p = smo_make_points(5, 60, 3, 0.5);

    (void)state;
    smo_linear_kernel(&p);
    for (size_t f = 0; f < 4; f += f == 1 ? 2 : 1) {
        smo_set_upper(&p, 0.6, 0.6);
        int64_t few = count_solver_allocations(&p, &every_form[f]);
        smo_set_upper(&p, 1000, 1000);
        assert_int_equal(count_solver_allocations(&p, &every_form[f]), few);
    }
    smo_free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_linear_equals_libsvm),
        with_context(test_rbf_equals_libsvm),
        with_context(test_evaluated_rows_equal_libsvm),
        with_context(test_sparse_factor_equals_dense),
        with_context(test_small_problems_by_enumeration),
        with_context(test_warm_start_touches_a_third_of_the_rows),
        with_context(test_answer_is_a_start_without_work),
        with_context(test_infeasible_start_is_projected),
        with_context(test_one_class_gets_its_side),
        with_context(test_zero_kernel),
        with_context(test_equal_points_with_both_labels),
        with_context(test_indefinite_kernels_end_at_stationary_points),
        with_context(test_duality_gap_over_six_decades),
        with_context(test_iteration_limit_is_a_warning),
        with_context(test_huge_kernel_values_end_soon),
        with_context(test_bad_arguments),
        with_context(test_huge_kernel_values_are_refused),
        with_context(test_cancel),
        with_context(test_every_allocation_may_fail),
        with_context(test_iterations_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
