/* SPDX-License-Identifier: Apache-2.0 */
/* The SVM solver by working sets against LIBSVM, by optimality conditions from the explicit kernel matrix, and by duality
 * gaps; its cache of kernel rows against the operator. */
#include <math.h>

#include "learn/blocks/blocks.h"
#include "learn/blocks/kernel_rows.h"
#include "learn/svm_dual.h"
#include "oracles/libsvm.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/smo.h"
#include "support/sweep.h"

/* ---- solving ---- */

static int64_t *count_up(int64_t n)
{
    int64_t *out = malloc((size_t)n * sizeof *out);

    assert_non_null(out);
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    return out;
}

static kfe_status solve_on(kfe_context *ctx, smo_problem *p, const kfe_i_gram *gram,
                           kfe_i_blocks_options options, kfe_i_smo_result *out)
{
    double *beta = smo_zeros(p->n);
    double *values = smo_zeros(p->n);
    int64_t *rows = count_up(p->n);
    kfe_i_svm_dual dual = {.count = p->n, .rows = rows, .target = p->sign, .beta = beta, .values = values};

    for (int64_t i = 0; i < p->n; i++) {
        beta[i] = p->sign[i] * p->alpha[i];
        dual.upper[p->sign[i] < 0] = p->upper[i];
    }
    kfe_status status = kfe_i_blocks_solve(ctx, gram, &dual, 1, &options);
    for (int64_t i = 0; i < p->n; i++)
        p->alpha[i] = fabs(beta[i]);
    *out = (kfe_i_smo_result){.objective = smo_objective_of(p, p->alpha),
                              .offset = dual.offset,
                              .violation = dual.violation,
                              .iterations = dual.iterations,
                              .converged = dual.violation <= options.stop};
    free(beta);
    free(values);
    free(rows);
    return status;
}

static kfe_i_smo_result solve(kfe_context *ctx, smo_problem *p, double stop, int64_t working_set)
{
    kfe_i_smo_result result;
    smo_opened o;

    assert_ok(ctx, smo_open_gram(ctx, p, "precomputed", KFE_GRAM_AUTO, &o));
    assert_ok(ctx, solve_on(ctx, p, o.gram, (kfe_i_blocks_options){.stop = stop, .working_set = working_set},
                            &result));
    smo_close_gram(&o);
    return result;
}

static void forget_start(smo_problem *p)
{
    memset(p->alpha, 0, (size_t)p->n * sizeof *p->alpha);
}

static void check(kfe_context *ctx, smo_problem *p, double positive, double negative, double stop,
                  int64_t working_set)
{
    smo_set_upper(p, positive, negative);
    forget_start(p);
    kfe_i_smo_result result = solve(ctx, p, stop, working_set);
    smo_assert_solved(p, &result, stop);
    oracle_compare_smo(p, &result, positive, negative, stop);
}

/* ---- against LIBSVM ---- */

static const double bounds[][2] = {{1e-4, 1e-4}, {1, 1}, {10, 0.5}, {0.1, 30}, {1000, 1000}};
static const int64_t working_sets[] = {2, 9, 32, 0};
enum { BOUNDS = sizeof bounds / sizeof *bounds, SETS = sizeof working_sets / sizeof *working_sets };

static void test_random_problems(void **state)
{
    static const int64_t sizes[] = {2, 5, 40, 150};

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int kernel = 0; kernel < 3; kernel++) {
            smo_problem p = smo_make_points(10 * k + (size_t)kernel, sizes[k], 6, 1);
            if (kernel == 0)
                smo_linear_kernel(&p);
            else
                smo_rbf_kernel(&p, kernel == 1 ? 0.05 : 2);
            smo_round_kernel_to_single(&p);
            for (int b = 0; b < BOUNDS; b++)
                if (kernel > 0 || bounds[b][0] < 100) /* LIBSVM takes minutes */
                    check(*state, &p, bounds[b][0], bounds[b][1], 1e-6, working_sets[(b + kernel) % SETS]);
            smo_free_problem(&p);
        }
}

/* Every point three times, some with the other label too: pairs without curvature. */
static void test_duplicates(void **state)
{
    smo_problem p = smo_make_points(3, 90, 3, 1);

    for (int64_t i = 30; i < 90; i++)
        memcpy(p.x + i * p.cols, p.x + (i % 30) * p.cols, (size_t)p.cols * sizeof *p.x);
    smo_rbf_kernel(&p, 0.5);
    smo_round_kernel_to_single(&p);
    for (int b = 0; b < BOUNDS; b++)
        check(*state, &p, bounds[b][0], bounds[b][1], 1e-6, working_sets[b % SETS]);
    smo_free_problem(&p);
}

static void test_one_example_of_a_class(void **state)
{
    smo_problem p = smo_make_points(4, 80, 3, 2);

    for (int64_t i = 0; i < p.n; i++)
        p.sign[i] = i == 17 ? 1 : -1;
    smo_rbf_kernel(&p, 0.5);
    smo_round_kernel_to_single(&p);
    for (int b = 0; b < BOUNDS; b++)
        check(*state, &p, bounds[b][0], bounds[b][1], 1e-7, working_sets[b % SETS]);
    smo_free_problem(&p);
}

/* The problem of an indefinite kernel may have several stationary points. The answer is one of them, and steps only
 * lower the objective, which is 0 at the start. */
static void test_indefinite_kernels(void **state)
{
    smo_problem p = smo_make_points(5, 120, 4, 1);

    smo_linear_kernel(&p);
    for (int64_t i = 0; i < p.n * p.n; i++)
        p.kernel[i] = tanh(0.3 * p.kernel[i] - 1);
    smo_set_upper(&p, 10, 10);
    for (int s = 0; s < SETS; s++) {
        forget_start(&p);
        kfe_i_smo_result result = solve(*state, &p, 1e-4, working_sets[s]);
        smo_assert_feasible(&p, result.iterations);
        assert_below(smo_violation_of(&p, p.alpha), 1e-4 + smo_rounding_of(&p));
        assert_true(result.objective < 0);
    }
    smo_free_problem(&p);
}

/* In single precision alone the violation would stay near ε·C·n, above 1e-3. */
static void test_large_c_is_refined(void **state)
{
    smo_problem p = smo_make_points(6, 200, 2, 0.3);

    smo_rbf_kernel(&p, 20);
    smo_set_upper(&p, 1e6, 1e6);
    kfe_i_smo_result result = solve(*state, &p, 1e-3, 64);
    smo_assert_solved(&p, &result, 1e-3);
    assert_true(smo_total(p.n, p.alpha) * 6e-8 > 1e-3);
    smo_free_problem(&p);
}

/* ---- operators, order, memory, threads ---- */

static void test_forms_of_the_operator(void **state)
{
    static const struct {
        const char *kernel;
        kfe_i_gram_storage storage;
    } forms[] = {{"precomputed", KFE_GRAM_AUTO},
                 {"rbf:gamma=0.25", KFE_GRAM_TILED},
                 {"rbf:gamma=0.25", KFE_GRAM_F64},
                 {"rbf:gamma=0.25", KFE_GRAM_F32}};
    smo_problem p = smo_make_points(7, 400, 4, 1);
    double first = 0;

    smo_rbf_kernel(&p, 0.25);
    smo_set_upper(&p, 3, 1);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        kfe_i_smo_result result;
        smo_opened o;
        forget_start(&p);
        assert_ok(*state, smo_open_gram(*state, &p, forms[f].kernel, forms[f].storage, &o));
        assert_ok(*state, solve_on(*state, &p, o.gram, (kfe_i_blocks_options){.stop = 1e-5}, &result));
        smo_close_gram(&o);
        assert_below(smo_violation_of(&p, p.alpha), f == 3 ? 1e-3 : 1e-5 + smo_rounding_of(&p));
        first = f == 0 ? result.objective : first;
        assert_below(fabs(result.objective - first), 1e-6 * fabs(first));
    }
    smo_free_problem(&p);
}

/* Pairs of three classes, together and one by one, with rows in the order of classes and in their own. */
static void test_problems_together_equal_problems_alone(void **state)
{
    enum { N = 300, PAIRS = 3 };
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(8, N, 3, 1);
    int64_t position[N], rows[PAIRS][N], count[PAIRS] = {0};
    double sign[PAIRS][N], beta[2][PAIRS][N] = {0}, values[2][PAIRS][N];
    kfe_i_svm_dual duals[2][PAIRS];
    smo_opened o;

    for (int64_t i = 0; i < N; i++) {
        position[i] = (i % 3) * (N / 3) + i / 3;
        for (int k = 0; k < PAIRS; k++)
            if (i % 3 != k) {
                sign[k][count[k]] = i % 3 == (k + 1) % 3 ? 1 : -1;
                rows[k][count[k]++] = i;
            }
    }
    assert_ok(ctx, smo_open_gram(ctx, &p, "rbf:gamma=1", KFE_GRAM_TILED, &o));
    for (int together = 0; together < 2; together++)
        for (int k = 0; k < PAIRS; k++)
            duals[together][k] = (kfe_i_svm_dual){.count = count[k],
                                                  .rows = rows[k],
                                                  .target = sign[k],
                                                  .upper = {2, 5},
                                                  .beta = beta[together][k],
                                                  .values = values[together][k]};
    kfe_i_blocks_options options = {.stop = 1e-4, .working_set = 40, .position = position};
    assert_ok(ctx, kfe_i_blocks_solve(ctx, o.gram, duals[1], PAIRS, &options));
    for (int k = 0; k < PAIRS; k++) {
        assert_ok(ctx, kfe_i_blocks_solve(ctx, o.gram, &duals[0][k], 1, &options));
        assert_memory_equal(beta[0][k], beta[1][k], (size_t)count[k] * sizeof(double));
        options.position = NULL;
        memset(beta[0][k], 0, sizeof beta[0][k]);
        assert_ok(ctx, kfe_i_blocks_solve(ctx, o.gram, &duals[0][k], 1, &options));
        options.position = position;
        assert_below(support_distance(count[k], values[0][k], values[1][k]), 1e-2);
        assert_below(duals[0][k].violation, 1e-4);
    }
    smo_close_gram(&o);
    smo_free_problem(&p);
}

typedef struct one_solve {
    smo_problem *problem;
    const char *kernel;
} one_solve;

static kfe_status solve_once(kfe_context *ctx, void *user)
{
    one_solve *one = user;
    kfe_i_smo_result result = {0};
    smo_opened o = {0};
    kfe_status status = smo_open_gram(ctx, one->problem, one->kernel, KFE_GRAM_TILED, &o);

    for (int64_t i = 0; i < one->problem->n; i++)
        one->problem->alpha[i] = 0.3; /* a warm start */
    if (status == KFE_OK)
        status = solve_on(ctx, one->problem, o.gram, (kfe_i_blocks_options){.stop = 1e-4, .working_set = 16},
                          &result);
    smo_close_gram(&o);
    return status;
}

static void test_threads_give_the_same_bits(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(9, 2100, 3, 0.7);
    double *first = smo_zeros(p.n);
    kfe_i_smo_result result;
    smo_opened o;

    smo_set_upper(&p, 1, 1);
    p.kernel = smo_zeros(p.n * p.n); /* only its size matters */
    for (int threads = 1; threads <= 3; threads++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, threads));
        forget_start(&p);
        assert_ok(ctx, smo_open_gram(ctx, &p, "rbf:gamma=0.5", KFE_GRAM_TILED, &o));
        assert_ok(ctx, solve_on(ctx, &p, o.gram, (kfe_i_blocks_options){.stop = 1e-2}, &result));
        smo_close_gram(&o);
        assert_true(result.violation <= 1e-2);
        if (threads == 1)
            memcpy(first, p.alpha, (size_t)p.n * sizeof *first);
        /* the values at the end are sums over threads; steps before do not depend on these */
        assert_memory_equal(first, p.alpha, (size_t)p.n * sizeof *first);
    }
    free(first);
    smo_free_problem(&p);
}

static void test_little_memory(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(10, 800, 3, 0.7);
    double objective[2];

    smo_set_upper(&p, 1, 1);
    smo_rbf_kernel(&p, 0.5);
    for (int limited = 0; limited < 2; limited++) {
        kfe_i_smo_result result;
        smo_opened o;
        forget_start(&p);
        assert_ok(ctx, smo_open_gram(ctx, &p, "rbf:gamma=0.5", KFE_GRAM_TILED, &o));
        if (limited) /* few rows instead of 800 */
            assert_ok(ctx, kfe_context_set_memory(ctx, 5000000));
        assert_ok(ctx, solve_on(ctx, &p, o.gram, (kfe_i_blocks_options){.stop = 1e-4}, &result));
        smo_close_gram(&o);
        smo_assert_solved(&p, &result, 1e-4);
        objective[limited] = result.objective;
    }
    assert_below(fabs(objective[1] - objective[0]), 1e-6 * fabs(objective[0]));
    smo_free_problem(&p);
}

static void test_every_allocation_may_fail(void **state)
{
    smo_problem p = smo_make_points(5, 40, 3, 0.5);

    (void)state;
    p.kernel = smo_zeros(p.n * p.n);
    for (int64_t i = 0; i < p.n; i++)
        p.kernel[i * (p.n + 1)] = 1;
    support_sweep_all("rbf", solve_once, &(one_solve){&p, "rbf:gamma=0.5"}, 20);
    support_sweep_all("precomputed", solve_once, &(one_solve){&p, "precomputed"}, 20);
    smo_free_problem(&p);
}

static void test_cancel(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(5, 300, 3, 0.5);

    p.kernel = smo_zeros(p.n * p.n);
    for (int64_t at = 2; at <= 12; at += 5) {
        engine_stop stop = {.stop_at = at};
        kfe_context_on_cancel(ctx, engine_stop_asked, &stop);
        assert_fails(ctx, KFE_ECANCEL, "cancelled", solve_once(ctx, &(one_solve){&p, "rbf:gamma=9"}));
        assert_int_equal(stop.asked, at);
    }
    smo_free_problem(&p);
}

/* ---- starts ---- */

static void test_warm_starts(void **state)
{
    smo_problem p = smo_make_points(11, 200, 3, 0.7);

    smo_rbf_kernel(&p, 0.5);
    smo_set_upper(&p, 2, 2);
    kfe_i_smo_result cold = solve(*state, &p, 1e-5, 32);
    kfe_i_smo_result again = solve(*state, &p, 1e-5, 32);
    assert_true(again.iterations * 4 <= cold.iterations); /* the start is in single precision */
    for (int64_t i = 0; i < p.n; i++)
        p.alpha[i] *= i % 7 == 0 ? 3 : 1.01; /* outside of the box and not balanced */
    kfe_i_smo_result warm = solve(*state, &p, 1e-5, 32);
    smo_assert_solved(&p, &warm, 1e-5);
    assert_below(fabs(warm.objective - cold.objective), 1e-6 * fabs(cold.objective));
    assert_true(warm.iterations < cold.iterations);
    smo_free_problem(&p);
}

/* ---- real targets ---- */

/* A violation v costs at most v·C for each example, which bounds the duality gap. */
static void test_regression_gaps(void **state)
{
    static const double cases[][2] = {{0.01, 0}, {1, 0.1}, {100, 0.1}, {10, 5}}; /* C, tube */
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(12, 150, 3, 0.7);
    double *beta = smo_zeros(p.n);
    double *values = smo_zeros(p.n);
    double *target = support_normals(13, p.n);
    int64_t *rows = count_up(p.n);
    smo_opened o;

    assert_ok(ctx, smo_open_gram(ctx, &p, "rbf:gamma=0.5", KFE_GRAM_TILED, &o));
    for (int c = 0; c < 4; c++) {
        double most = cases[c][0];
        kfe_i_svm_dual dual = {.count = p.n,
                               .rows = rows,
                               .target = target,
                               .real = 1,
                               .tube = cases[c][1],
                               .upper = {most, most},
                               .beta = beta,
                               .values = values};
        memset(beta, 0, (size_t)p.n * sizeof *beta);
        assert_ok(ctx, kfe_i_blocks_solve(ctx, o.gram, &dual, 1,
                                          &(kfe_i_blocks_options){.stop = 1e-6, .working_set = 50}));
        kfe_i_svm_targets real = {target, p.n, 1, cases[c][1]};
        kfe_i_svm_column column = {beta, values, 1, dual.offset, NULL};
        kfe_i_svm_certificate found = kfe_i_svm_certify_real(&real, most, &column);
        assert_below(found.violation, 1e-6);
        assert_below(fabs(found.gap), 2e-6 * most * (double)p.n + 1e-9 * fabs(found.objective));
    }
    smo_close_gram(&o);
    free(beta);
    free(values);
    free(target);
    free(rows);
    smo_free_problem(&p);
}

/* ---- rows ---- */

static void check_row(const kfe_i_kernel_rows *rows, const smo_problem *p, const int64_t *position, int64_t i)
{
    const float *row = kfe_i_kernel_rows_get(rows, i);

    for (int64_t j = 0; j < p->n; j++)
        assert_below(fabs((double)row[position ? position[j] : j] - p->kernel[i * p->n + j]), 2e-6);
}

static void test_rows_give_way_in_order(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(14, 300, 3, 0.7);
    int64_t position[300];
    smo_opened o;

    smo_rbf_kernel(&p, 0.5);
    for (int64_t i = 0; i < p.n; i++)
        position[i] = (7 * i) % p.n;
    for (int form = 0; form < 4; form++) {
        kfe_i_kernel_rows *rows = NULL;
        const int64_t *order = form % 2 ? position : NULL;
        assert_ok(ctx, smo_open_gram(ctx, &p, form < 2 ? "precomputed" : "rbf:gamma=0.5", KFE_GRAM_AUTO, &o));
        assert_ok(ctx, kfe_i_kernel_rows_new(o.gram, order, (kfe_i_room_for_rows){4, 4}, &rows));
        uint64_t all = kfe_i_kernel_rows_parts(rows, 0, p.n);
        for (int64_t first = 0; first < 40; first++) {
            int64_t wanted[] = {first, first + 100, first + 1};
            uint64_t parts[] = {all, all, all};
            assert_ok(ctx, kfe_i_kernel_rows_fetch(rows, wanted, parts, 3));
            for (int k = 0; k < 3; k++)
                check_row(rows, &p, order, wanted[k]);
        }
        assert_int_equal(kfe_i_kernel_rows_evaluated(rows), 3 + 39 * 2); /* the third one becomes the first */
        kfe_i_kernel_rows_free(rows);
        smo_close_gram(&o);
    }
    smo_free_problem(&p);
}

/* Entries of the rows that lie in [from, to) by position agree with the kernel. */
static void check_part(const kfe_i_kernel_rows *rows, const smo_problem *p, const int64_t *position,
                       int64_t i, int64_t from, int64_t to)
{
    const float *row = kfe_i_kernel_rows_get(rows, i);

    for (int64_t j = 0; j < p->n; j++)
        if (position[j] >= from && position[j] < to)
            assert_below(fabs((double)row[position[j]] - p->kernel[i * p->n + j]), 2e-6);
}

enum { PART_ROWS = 600, PART = 256 }; /* three parts */

static void test_rows_are_evaluated_in_parts(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(15, PART_ROWS, 3, 0.7);
    int64_t position[PART_ROWS];
    int64_t wanted[] = {5, 400, 17};
    smo_opened o;

    smo_rbf_kernel(&p, 0.05);
    for (int64_t i = 0; i < p.n; i++)
        position[i] = (7 * i) % p.n;
    for (int form = 0; form < 2; form++) {
        kfe_i_kernel_rows *rows = NULL;
        assert_ok(ctx, smo_open_gram(ctx, &p, form ? "rbf:gamma=0.05" : "precomputed", KFE_GRAM_TILED, &o));
        assert_ok(ctx, kfe_i_kernel_rows_new(o.gram, position, (kfe_i_room_for_rows){4, 4}, &rows));
        uint64_t first = kfe_i_kernel_rows_parts(rows, 0, PART);
        uint64_t last = kfe_i_kernel_rows_parts(rows, PART_ROWS - 1, 1);
        assert_int_equal(first, 1);
        assert_int_equal(last, 4);
        assert_int_equal(kfe_i_kernel_rows_parts(rows, PART - 1, 2), 3);
        uint64_t some[] = {first, last, first};
        assert_ok(ctx, kfe_i_kernel_rows_fetch(rows, wanted, some, 3));
        check_part(rows, &p, position, 5, 0, PART);
        check_part(rows, &p, position, 400, 2 * PART, PART_ROWS);
        /* three thirds of a row where parts are evaluated, three rows elsewhere */
        assert_int_equal(kfe_i_kernel_rows_evaluated(rows), form ? 1 : 3);
        uint64_t more[] = {first | last, last, first};
        assert_ok(ctx, kfe_i_kernel_rows_fetch(rows, wanted, more, 3));
        check_part(rows, &p, position, 5, 0, PART);
        check_part(rows, &p, position, 5, 2 * PART, PART_ROWS);
        check_part(rows, &p, position, 17, 0, PART);
        kfe_i_kernel_rows_free(rows);
        smo_close_gram(&o);
    }
    smo_free_problem(&p);
}

static void test_blocks_of_rows(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(16, PART_ROWS, 3, 0.7);
    int64_t wanted[] = {5, 400, 17, 5};
    float out[4 * 6];
    smo_opened o;

    smo_rbf_kernel(&p, 0.05);
    for (int form = 0; form < 2; form++) {
        kfe_i_kernel_rows *rows = NULL;
        assert_ok(ctx, smo_open_gram(ctx, &p, form ? "rbf:gamma=0.05" : "precomputed", KFE_GRAM_TILED, &o));
        assert_ok(ctx, kfe_i_kernel_rows_new(o.gram, NULL, (kfe_i_room_for_rows){4, 4}, &rows));
        uint64_t all = kfe_i_kernel_rows_parts(rows, 0, p.n);
        uint64_t parts[] = {all, all, all};
        assert_ok(ctx, kfe_i_kernel_rows_fetch(rows, wanted, parts, 3));
        float *work = calloc((size_t)kfe_i_kernel_rows_block_work(rows, 4), sizeof *work);
        assert_non_null(work);
        kfe_i_kernel_rows_block(rows, wanted, 4, work, out, 6);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                assert_below(fabs((double)out[a * 6 + b] - p.kernel[wanted[a] * p.n + wanted[b]]), 2e-6);
        free(work);
        kfe_i_kernel_rows_free(rows);
        smo_close_gram(&o);
    }
    smo_free_problem(&p);
}

/* ---- products with few coefficients ---- */

/* Every eighth to every example has coefficients, in one of two columns each. */
static void test_support_product(void **state)
{
    kfe_context *ctx = *state;
    smo_problem p = smo_make_points(17, PART_ROWS, 3, 0.7);
    double beta[2 * PART_ROWS];
    double plain[2 * PART_ROWS];
    double ours[2 * PART_ROWS];
    smo_opened o;

    smo_rbf_kernel(&p, 0.05);
    for (int form = 0; form < 2; form++) {
        assert_ok(ctx, smo_open_gram(ctx, &p, form ? "rbf:gamma=0.05" : "precomputed", KFE_GRAM_TILED, &o));
        for (int64_t every = 1; every <= 8; every *= 2) {
            memset(beta, 0, sizeof beta);
            memset(plain, 0, sizeof plain);
            for (int64_t i = 0; i < p.n; i += every)
                beta[2 * i + i % 3 % 2] = 1 + (double)(i % 7);
            for (int64_t i = 0; i < p.n; i++)
                for (int64_t j = 0; j < p.n; j++)
                    for (int c = 0; c < 2; c++)
                        plain[2 * i + c] += p.kernel[i * p.n + j] * beta[2 * j + c];
            assert_ok(ctx, kfe_i_gram_times_sparse(o.gram, beta, 2, ours));
            for (int64_t i = 0; i < 2 * p.n; i++)
                assert_below(fabs(ours[i] - plain[i]), 1e-12 * fabs(plain[i]) + 1e-12);
        }
        memset(beta, 0, sizeof beta);
        assert_ok(ctx, kfe_i_gram_times_sparse(o.gram, beta, 2, ours));
        for (int64_t i = 0; i < 2 * p.n; i++)
            assert_true(ours[i] == 0);
        smo_close_gram(&o);
    }
    smo_free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_random_problems),
        with_context(test_duplicates),
        with_context(test_one_example_of_a_class),
        with_context(test_indefinite_kernels),
        with_context(test_large_c_is_refined),
        with_context(test_forms_of_the_operator),
        with_context(test_problems_together_equal_problems_alone),
        with_context(test_threads_give_the_same_bits),
        with_context(test_little_memory),
        with_context(test_every_allocation_may_fail),
        with_context(test_cancel),
        with_context(test_warm_starts),
        with_context(test_regression_gaps),
        with_context(test_rows_give_way_in_order),
        with_context(test_rows_are_evaluated_in_parts),
        with_context(test_blocks_of_rows),
        with_context(test_support_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
