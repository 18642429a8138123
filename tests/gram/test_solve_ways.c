/* SPDX-License-Identifier: Apache-2.0 */
/* Every way of solving (G + λI)B = R, on small problems: residuals are computed apart from the solver, solutions compared
 * with LAPACK's. */
#include "support/support.h"

#include <lapacke.h>
#include <math.h>

#include "core/memory.h"
#include "gram/solve/cost.h"
#include "gram/solve/precondition.h"
#include "gram/solve/solve.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/points.h"
#include "support/tolerance.h"

enum { SIZE = 161 };

typedef struct solved {
    engine_problem problem;
    double *matrix, *right, *solution;
    int64_t n, k;
} solved;

static void open_sized(kfe_context *ctx, const char *name, int64_t n, int64_t k, int centred, solved *out)
{
    *out = (solved){.n = n, .k = k};
    assert_ok(ctx, engine_open(ctx, engine_case_named(name), n, centred, &out->problem));
    out->matrix = engine_matrix(&out->problem, centred);
    out->right = support_random(11, n * k);
    out->solution = support_random(12, n * k);
}

static void close_solved(solved *s)
{
    engine_close(&s->problem);
    free(s->matrix);
    free(s->right);
    free(s->solution);
}

/* The largest relative residual of a column. */
static double residual_of(const solved *s, double ridge)
{
    double *product = engine_product(s->n, s->matrix, ridge, s->solution, s->k);
    double largest = 0;

    for (int64_t j = 0; j < s->k; j++) {
        double off = 0;
        double whole = 0;
        for (int64_t i = 0; i < s->n; i++) {
            off += pow(s->right[i * s->k + j] - product[i * s->k + j], 2);
            whole += pow(s->right[i * s->k + j], 2);
        }
        largest = fmax(largest, whole > 0 ? sqrt(off / whole) : sqrt(off));
    }
    free(product);
    return largest;
}

static void check(kfe_context *ctx, solved *s, double ridge, kfe_i_solve_way way)
{
    kfe_i_solve_effort effort = {0};
    const char *name = s->problem.origin->name;
    double slack = 4 * (double)s->n * DBL_EPSILON * fmax(1, 1 / ridge);

    if (kfe_i_solve_by(&(kfe_i_system){s->problem.gram, ridge, KFE_TOLERANCE, s->right, s->k, s->solution},
                       way, &effort))
        fail_msg("%s, ridge %g, way %d: %s", name, ridge, (int)way, kfe_error_message(ctx));
    double residual = residual_of(s, ridge);
    if (!(residual <= KFE_TOLERANCE + slack))
        fail_msg("%s, ridge %g, way %d: residual %.2g", name, ridge, (int)way, residual);
    if (!(fabs(residual - effort.residual) <= 0.01 * residual + slack))
        fail_msg("%s, ridge %g, way %d: residual %.3g, but it reports %.3g", name, ridge, (int)way, residual,
                 effort.residual);
}

/* ---- nasty inputs ---- */

static void test_nasty(void **state)
{
    static const struct {
        const char *name;
        double ridge;
        int centred;
    } cases[] = {
        {"ordinary", 1e-2, 1},        {"ordinary", 1e4, 0},
        {"duplicates", 1e-3, 0},      {"duplicates", 1e-7, 0},
        {"one column", 1e-6, 1},      {"nearly the identity", 1e-3, 0},
        {"the identity", 1e-4, 1},    {"nearly constant", 1e-2, 0},
        {"nearly constant", 1e-3, 1}, {"far away", 1e-3, 0},
        {"low rank", 1e-2, 0},        {"low rank", 1e-6, 0},
        {"groups", 1e-3, 0},          {"zero", 1e-3, 1},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int way = KFE_SOLVE_F64; way < KFE_SOLVE_WAYS; way++) {
            solved s;
            open_sized(*state, cases[c].name, SIZE, 3, cases[c].centred, &s);
            check(*state, &s, cases[c].ridge, (kfe_i_solve_way)way);
            close_solved(&s);
        }
}

/* One example, one right-hand side, more right-hand sides than examples, an even order. */
static void test_shapes(void **state)
{
    static const int64_t shapes[][2] = {{1, 1}, {1, 4}, {2, 1}, {2, 5}, {3, 2}, {20, 33}, {64, 1}, {65, 65}};

    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++)
        for (int way = KFE_SOLVE_AUTO; way < KFE_SOLVE_WAYS; way++) {
            solved s;
            open_sized(*state, "ordinary", shapes[c][0], shapes[c][1], 0, &s);
            check(*state, &s, 1e-2, (kfe_i_solve_way)way);
            close_solved(&s);
        }
}

/* Columns of zeros, equal columns and multiples of each other: the block loses rank, and nothing breaks down. */
static void test_dependent_columns(void **state)
{
    for (int way = KFE_SOLVE_F64; way < KFE_SOLVE_WAYS; way++) {
        solved s;
        open_sized(*state, "one column", SIZE, 6, 0, &s);
        for (int64_t i = 0; i < SIZE; i++) {
            double *row = s.right + i * 6;
            row[1] = 0;
            row[2] = row[0];
            row[3] = -1e12 * row[0];
            row[4] = row[0] + 1e-9 * row[5];
        }
        check(*state, &s, 1e-3, (kfe_i_solve_way)way);
        for (int64_t i = 0; i < SIZE; i++)
            if (s.solution[i * 6 + 1] != 0)
                fail_msg("the solution for zeros is %g", s.solution[i * 6 + 1]);
        close_solved(&s);
    }
}

static void test_against_lapack(void **state)
{
    for (int way = KFE_SOLVE_F64; way < KFE_SOLVE_WAYS; way++) {
        solved s;
        open_sized(*state, "ordinary", SIZE, 4, 0, &s);
        check(*state, &s, 1, (kfe_i_solve_way)way);
        for (int64_t i = 0; i < SIZE; i++)
            s.matrix[i * SIZE + i] += 1;
        assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', SIZE, 4, s.matrix, SIZE, s.right, 4), 0);
        assert_below(support_distance(SIZE * 4, s.right, s.solution), 100 * KFE_TOLERANCE);
        close_solved(&s);
    }
}

/* ---- honest failures ---- */

static void test_indefinite(void **state)
{
    for (int way = KFE_SOLVE_F64; way < KFE_SOLVE_WAYS; way++) {
        solved s;
        open_sized(*state, "indefinite", SIZE, 2, 0, &s);
        kfe_i_system system = {s.problem.gram, 1e-9, KFE_TOLERANCE, s.right, 2, s.solution};
        assert_fails(*state, KFE_ENUMERIC, "increase the ridge",
                     kfe_i_solve_by(&system, (kfe_i_solve_way)way, NULL));
        close_solved(&s);
    }
}

/* ---- parts ---- */

/* The packed factor is that of LAPACK's own conversion, for even and odd orders. */
static void test_packed_factor(void **state)
{
    for (int64_t n = 1; n <= 36; n += n < 8 ? 1 : 7) {
        solved s;
        kfe_i_single_factor factor = {0};
        int definite = 0;

        open_sized(*state, "ordinary", n, 1, 0, &s);
        assert_ok(*state, kfe_i_single_factor_new(s.problem.gram, 0.5, 1, &factor, &definite));
        assert_int_equal(definite, 1);
        float *full = calloc((size_t)(n * n), sizeof *full);
        float *unpacked = calloc((size_t)(n * n), sizeof *unpacked);
        for (int64_t i = 0; i < n * n; i++)
            full[i] =
                (float)(factor.scale * s.matrix[i]) + (float)(i % (n + 1) == 0 ? factor.scale * 0.5 : 0);
        assert_int_equal(LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, full, (lapack_int)n), 0);
        assert_int_equal(LAPACKE_stfttr_work(LAPACK_COL_MAJOR, 'N', 'L', (lapack_int)n, factor.values,
                                             unpacked, (lapack_int)n),
                         0);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = j; i < n; i++)
                if (!(fabsf(full[j * n + i] - unpacked[j * n + i]) <= 1e-5F))
                    fail_msg("order %d, entry %d, %d: %g, expected %g", (int)n, (int)i, (int)j,
                             (double)unpacked[j * n + i], (double)full[j * n + i]);
        free(full);
        free(unpacked);
        kfe_i_single_factor_free(&factor);
        close_solved(&s);
    }
}

/* Entries among chosen examples, some of them twice, for evaluated, centred and stored operators. */
static void test_among(void **state)
{
    static const int64_t index[] = {5, 0, 160, 5, 77};
    kfe_context *ctx = *state;

    for (int form = 0; form < 4; form++) {
        double entries[25];
        solved s;
        kfe_i_gram *stored = NULL;
        int centred = form == 1;
        open_sized(ctx, "ordinary", SIZE, 1, centred, &s);
        if (form >= 2)
            assert_ok(ctx, form == 3 ? kfe_i_gram_packed(ctx, s.problem.gram, 1, &stored)
                                     : kfe_i_gram_stored(ctx, s.problem.gram, &stored));
        assert_ok(ctx, kfe_i_gram_among(stored ? stored : s.problem.gram, index, 5, entries));
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                assert_below(fabs(entries[5 * i + j] - s.matrix[index[i] * SIZE + index[j]]),
                             form == 3 ? 1e-6 : 1e-12);
        kfe_i_gram_free(stored);
        close_solved(&s);
    }
}

/* Rates are measured once, and a faster machine is predicted to be faster. */
static void test_rates(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_rates first = {0};
    kfe_i_rates second = {0};

    assert_ok(ctx, kfe_i_measure_rates(ctx, &first));
    assert_ok(ctx, kfe_i_measure_rates(ctx, &second));
    assert_memory_equal(&first, &second, sizeof first);
    assert_true(first.dgemm > 1e7 && first.sgemm > 1e7 && first.bytes > 1e6);
    kfe_i_cost cost = {.rates = first, .n = 1e4, .k = 10, .entry_bytes = 8, .ridge = 1e-3, .mean = 1};
    cost.processes = cost.dealt = 1;
    cost.tolerance = KFE_TOLERANCE;
    kfe_i_decay decay = {.rank = 100, .trace = 1000, .slope = 1};
    double slow = kfe_i_f32_seconds(&cost, &decay);
    double slow64 = kfe_i_f64_seconds(&cost);
    cost.rates.sgemm *= 2;
    cost.rates.spftrf *= 2;
    assert_true(kfe_i_f32_seconds(&cost, &decay) < slow);
    assert_true(kfe_i_f64_seconds(&cost) == slow64);
}

/* A spectrum that has fallen below the ridge needs hardly an iteration; one that falls slowly needs many. */
static void test_decay_decides(void **state)
{
    kfe_i_cost cost = {
        .n = 2e4, .k = 10, .entry_bytes = 8, .ridge = 1, .mean = 1, .tolerance = KFE_TOLERANCE};
    int64_t rank = 0;
    (void)state;

    cost.processes = cost.dealt = 1;
    cost.rates = (kfe_i_rates){
        .threads = 2, .dgemm = 1e11, .sgemm = 2e11, .dpotrf = 5e10, .spftrf = 1e11, .bytes = 2e10};
    double fast = kfe_i_cg_seconds(&cost, &(kfe_i_decay){100, 1, 4}, 4000, &rank);
    assert_true(rank >= 1 && rank <= 4000);
    double slow = kfe_i_cg_seconds(&cost, &(kfe_i_decay){100, 19000, 0.1}, 4000, &rank);
    assert_true(fast < kfe_i_f32_seconds(&cost, &(kfe_i_decay){100, 1, 4}));
    assert_true(slow > kfe_i_f32_seconds(&cost, &(kfe_i_decay){100, 19000, 0.1}) || slow > 2 * fast);
    assert_true(kfe_i_cg_iterations(1, 1e-10) < kfe_i_cg_iterations(100, 1e-10));
}

/* Processes factor together if messages are not too slow for that, and in no less than their part of the time. */
static void test_messages_decide(void **state)
{
    kfe_i_cost cost = {
        .n = 2e4, .k = 10, .entry_bytes = 8, .ridge = 1, .mean = 1, .processes = 4, .dealt = 4};
    kfe_i_decay decay = {100, 19000, 0.1};
    (void)state;

    cost.tolerance = KFE_TOLERANCE;
    cost.rates = (kfe_i_rates){.threads = 1, .dgemm = 1e11, .sgemm = 2e11, .dpotrf = 5e10, .spftrf = 1e11};
    cost.rates.bytes = 2e10;
    cost.rates.gathered = 2e9;
    cost.rates.message = 2e-5;
    double whole = kfe_i_f32_seconds(&cost, &decay);
    double divided = kfe_i_divided_seconds(&cost, &decay);
    assert_true(divided < 0.6 * whole && divided > whole / 4);
    cost.dealt = 1; /* every process has the matrix */
    cost.rates.gathered = 1e7;
    assert_true(kfe_i_divided_seconds(&cost, &decay) > kfe_i_f32_seconds(&cost, &decay));
}

/* ---- predicted against measured seconds ---- */

/* Measured / predicted seconds of the way that is chosen; other programs disturb both, so that the best of some tries counts. */
static double best_ratio(kfe_context *ctx, double ridge)
{
    enum { LARGE = 3200, COLUMNS = 5, TRIES = 6 };
    double *right = support_random(11, (int64_t)LARGE * COLUMNS);
    double *solution = support_random(12, (int64_t)LARGE * COLUMNS);
    double best = INFINITY;
    engine_problem p;

    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), LARGE, 0, &p));
    for (int i = 0; i < TRIES && !(fabs(log(best)) < log(2)); i++) {
        kfe_i_solve_effort effort = {0};
        ctx->rates.threads = 0; /* measured anew */
        kfe_i_system system = {p.gram, ridge, KFE_TOLERANCE, right, COLUMNS, solution};
        assert_ok(ctx, kfe_i_solve_by(&system, KFE_SOLVE_AUTO, &effort));
        assert_true(effort.predicted > 0 && effort.way == effort.first);
        double ratio = effort.seconds / effort.predicted;
        best = fabs(log(ratio)) < fabs(log(best)) ? ratio : best;
    }
    engine_close(&p);
    free(right);
    free(solution);
    return best;
}

/* One ridge that conjugate gradients solve in a few iterations, and one that needs a factorisation. */
static void test_predictions(void **state)
{
    static const double ridges[] = {100, 1e-4};

    for (int r = 0; !SUPPORT_SANITIZED && r < 2; r++) {
        double ratio = best_ratio(*state, ridges[r]);
        if (!(ratio > 0.5 && ratio < 2))
            fail_msg("ridge %g: measured %.2f times the predicted seconds", ridges[r], ratio);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nasty),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_dependent_columns),
        cmocka_unit_test(test_against_lapack),
        cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_packed_factor),
        cmocka_unit_test(test_among),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_decay_decides),
        cmocka_unit_test(test_messages_decide),
        cmocka_unit_test(test_predictions),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
