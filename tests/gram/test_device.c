/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: formulas of kernels, operators and features of new rows on a device, and what happens when it fails, each against the
 * same on the CPU. The device is the host plug-in, or the one that KFE_TEST_DEVICE names.
 */
#include "support/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/cluster.h"
#include "gram/place.h"
#include "kernel/expansion.h"
#include "kernel/tile/tile.h"

enum { ROWS = 83, COLS = 7, VECTORS = 5, GROUPS = 3 };

/* ---- formulas ---- */

static const char *const kernels_with_formulas[] = {
    "rbf:gamma=0.7",    "poly:degree=3,gamma=0.5,coef0=0.5",
    "cosine",           "sigmoid:gamma=0.3,coef0=0.1",
    "linear",           "laplacian:gamma=0.4",
    "chi2:gamma=0.6",   "intersection",
    "exp:sigma=2",      "exp:sigma=2,power=1.5",
    "matern:sigma=1.5", "matern:sigma=1.5,nu=2.5",
};
enum { KERNELS = sizeof kernels_with_formulas / sizeof *kernels_with_formulas };

static void test_kernels_name_their_own_formulas(void **state)
{
    const kfe_i_kernel_def *def;

    (void)state;
    for (int i = 0; (def = kfe_i_kernel_def_at(i)) != NULL; i++) {
        if (def->map != i + 1 &&
            !(def->map == KFE_KERNEL_NONE && (def->base == KFE_BASE_DOT || def->base == KFE_BASE_GIVEN)))
            fail_msg("%s is kernel %d, but names formula %d", def->name, i + 1, def->map);
    }
}

/* κ(x, y) from the formula, in double or single precision. */
static double by_formula(const kfe_i_formula *f, const double *x, const double *y, int single)
{
    double base = 0;
    double nx = 0;
    double ny = 0;
    float params[KFE_FORMULA_PARAMS];

    for (int j = 0; j < COLS; j++) {
        double difference = x[j] - y[j];
        nx += x[j] * x[j];
        ny += y[j] * y[j];
        base += f->base == KFE_FORMULA_DOT        ? x[j] * y[j]
                : f->base == KFE_FORMULA_DISTANCE ? difference * difference
                : single                          ? (double)kfe_i_term_f32(f->term, (float)x[j], (float)y[j])
                                                  : kfe_i_term_f64(f->term, x[j], y[j]);
    }
    for (int p = 0; p < KFE_FORMULA_PARAMS; p++)
        params[p] = (float)f->params[p];
    return single ? (double)kfe_i_map_f32(f->map, (float)base, (float)nx, (float)ny, params)
                  : kfe_i_map_f64(f->map, base, nx, ny, f->params);
}

static void check_formula(kfe_context *ctx, const char *text, const support_points *points)
{
    kfe_i_kernel kernel = {0};
    kfe_i_points prepared = {0};
    kfe_i_formula formula = {0};
    kfe_i_table table = support_points_table(points, 0);
    double *values = calloc(ROWS * ROWS, sizeof *values);
    double *scratch;

    assert_ok(ctx, kfe_i_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, kfe_i_points_prepare(ctx, &kernel, &table, NULL, &prepared));
    scratch = calloc((size_t)kfe_i_tile_scratch(&prepared, &prepared), sizeof *scratch);
    kfe_i_tile_eval(&kernel, (kfe_i_range){&prepared, 0, ROWS}, (kfe_i_range){&prepared, 0, ROWS}, values,
                    ROWS, scratch);
    formula = kfe_i_kernel_formula(&kernel);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++) {
            const double *x = support_points_row(points, i);
            const double *y = support_points_row(points, j);
            double expected = values[i * ROWS + j];
            support_assert_near(text, by_formula(&formula, x, y, 0), expected, 1e-12 * (1 + fabs(expected)));
            support_assert_near(text, by_formula(&formula, x, y, 1), expected, 1e-4 * (1 + fabs(expected)));
        }
    free(values);
    free(scratch);
    kfe_i_points_free(&prepared);
    kfe_i_kernel_free(&kernel);
}

static void test_formulas_are_those_of_the_cpu(void **state)
{
    support_points points;

    support_points_make(&points, 3, ROWS, COLS, 1);
    for (int i = 0; i < KERNELS; i++)
        check_formula(*state, kernels_with_formulas[i], &points);
    support_points_free(&points);
}

/* ---- operators ---- */

static void check_reading(const support_pair *p, double slack)
{
    const int64_t index[] = {ROWS - 1, 0, 2, 2, ROWS / 2};
    support_results whole = support_results_make(ROWS * ROWS);
    support_results part = support_results_make(10 * 20);
    support_results columns = support_results_make(ROWS * 5);
    support_results among = support_results_make(25);
    support_results diagonal = support_results_make(ROWS);

    assert_ok(p->ctx, kfe_i_gram_block(p->cpu, 0, ROWS, 0, ROWS, whole.cpu, ROWS));
    assert_ok(p->ctx, kfe_i_gram_block(p->device, 0, ROWS, 0, ROWS, whole.device, ROWS));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < i; j++)
            assert_true(whole.device[i * ROWS + j] == whole.device[j * ROWS + i]);
    support_results_check("the whole matrix", whole, ROWS * ROWS, slack);
    assert_ok(p->ctx, kfe_i_gram_block(p->cpu, 5, 10, 17, 13, part.cpu, 20));
    assert_ok(p->ctx, kfe_i_gram_block(p->device, 5, 10, 17, 13, part.device, 20));
    support_results_check("a block", part, 10 * 20, slack);
    assert_ok(p->ctx, kfe_i_gram_columns(p->cpu, index, 5, columns.cpu));
    assert_ok(p->ctx, kfe_i_gram_columns(p->device, index, 5, columns.device));
    support_results_check("columns", columns, ROWS * 5, slack);
    assert_ok(p->ctx, kfe_i_gram_among(p->cpu, index, 5, among.cpu));
    assert_ok(p->ctx, kfe_i_gram_among(p->device, index, 5, among.device));
    support_results_check("entries among examples", among, 25, slack);
    assert_ok(p->ctx, kfe_i_gram_diagonal(p->cpu, diagonal.cpu));
    assert_ok(p->ctx, kfe_i_gram_diagonal(p->device, diagonal.device));
    support_results_check("the diagonal", diagonal, ROWS, slack);
}

static void check_products(const support_pair *p, double slack)
{
    int32_t group[ROWS];
    support_results product = support_results_make(ROWS * VECTORS);
    support_results sums = support_results_make(GROUPS * GROUPS);
    double *v = support_random(7, ROWS * VECTORS);

    for (int i = 0; i < ROWS; i++)
        group[i] = i * i % GROUPS;
    assert_ok(p->ctx, kfe_i_gram_times(p->cpu, v, VECTORS, product.cpu));
    assert_ok(p->ctx, kfe_i_gram_times(p->device, v, VECTORS, product.device));
    support_results_check("a product", product, ROWS * VECTORS, ROWS * slack);
    assert_ok(p->ctx, kfe_i_gram_group_sums(p->cpu, group, GROUPS, sums.cpu));
    assert_ok(p->ctx, kfe_i_gram_group_sums(p->device, group, GROUPS, sums.device));
    support_results_check("sums over groups", sums, GROUPS * GROUPS, ROWS * ROWS * slack);
    free(v);
}

/* A plug-in may leave sums over the coordinates of sparse rows to the CPU; the host's does not. */
static int may_refuse(const support_pair *p, int sparse)
{
    int sums = 0;

    for (int64_t m = 0; m < p->kernels.count; m++)
        sums |= p->kernels.items[m].def->base == KFE_BASE_COORDINATE;
    return sparse && sums && strcmp(support_device_name(), "host") != 0;
}

static void check_operator(kfe_context *ctx, const char *kernels, int sparse, kfe_i_gram_storage storage)
{
    support_points points;
    support_pair p;
    const kfe_i_gram *alone = NULL;
    int linear = strcmp(kernels, "linear") == 0;

    support_points_make(&points, 5, ROWS, COLS, 1);
    support_pair_open(ctx, kernels, &points, sparse, storage, &p);
    if (!may_refuse(&p, sparse))
        assert_int_equal(kfe_i_gram_device(p.device, &alone) == NULL, linear);
    check_reading(&p, support_pair_slack(&p, storage == KFE_GRAM_F32));
    check_products(&p, support_pair_slack(&p, storage == KFE_GRAM_F32));
    support_pair_close(&p);
    support_points_free(&points);
}

static void test_operators_equal_those_of_the_cpu(void **state)
{
    for (int i = 0; i < KERNELS; i++)
        for (int sparse = 0; sparse < 2; sparse++)
            check_operator(*state, kernels_with_formulas[i], sparse, KFE_GRAM_TILED);
    check_operator(*state, "rbf:gamma=0.5 rbf:gamma=2,weight=0.3 linear:weight=0.1", 0, KFE_GRAM_TILED);
}

static void test_stored_operators_equal_those_of_the_cpu(void **state)
{
    static const kfe_i_gram_storage storages[] = {KFE_GRAM_F64, KFE_GRAM_F32};

    for (int i = 0; i < 2; i++) {
        check_operator(*state, "rbf:gamma=0.5", 0, storages[i]);
        check_operator(*state, "rbf:gamma=0.5 poly:degree=2", 0, storages[i]);
    }
}

static void test_what_has_no_formula_stays_on_the_cpu(void **state)
{
    support_points points;
    support_pair p;
    const kfe_i_gram *alone = NULL;

    support_points_make(&points, 5, ROWS, COLS, 1);
    support_catch_log(*state);
    support_pair_open(*state, "linear", &points, 0, KFE_GRAM_AUTO, &p);
    assert_null(kfe_i_gram_device(p.device, &alone));
    assert_non_null(strstr(support_log(), "on the CPU"));
    support_pair_close(&p);
    support_points_free(&points);
}

/* ---- features of new rows ---- */

static void test_features_equal_those_of_the_cpu(void **state)
{
    kfe_context *ctx = *state;
    support_points points;
    support_points support;
    support_pair p;

    support_points_make(&points, 11, 5000, COLS, 1);
    support_points_make(&support, 12, 40, COLS, 1);
    for (int i = 0; i < KERNELS; i++) {
        support_results features = support_results_make(5000 * 2);
        double *v = support_random(13, 40 * 2);
        support_pair_open(ctx, kernels_with_formulas[i], &points, 0, KFE_GRAM_AUTO, &p);
        kfe_i_table landmarks = support_points_table(&support, 0);
        assert_ok(ctx, kfe_i_expand(ctx, &p.kernels, &p.table, &landmarks, v, 2, features.cpu));
        assert_ok(ctx, kfe_i_expand_anywhere(ctx, &p.kernels, &p.table, &landmarks, v, 2, features.device));
        support_results_check(kernels_with_formulas[i], features, 5000 * 2, 40 * support_pair_slack(&p, 0));
        support_pair_close(&p);
        free(v);
    }
    support_points_free(&points);
    support_points_free(&support);
}

/* ---- failures ---- */

static int stop_at_once(void *user)
{
    (void)user;
    return 1;
}

static void test_cancelling_reaches_the_device(void **state)
{
    support_points points;
    support_pair p;
    double *v = support_random(7, ROWS);
    double out[ROWS];

    support_points_make(&points, 5, ROWS, COLS, 0);
    support_pair_open(*state, "rbf:gamma=0.5", &points, 0, KFE_GRAM_AUTO, &p);
    kfe_context_on_cancel(*state, stop_at_once, NULL);
    if (strcmp(support_device_name(), "host") == 0) /* others may be faster than they ask */
        assert_fails(*state, KFE_ECANCEL, "cancelled", kfe_i_gram_times(p.device, v, 1, out));
    assert_fails(*state, KFE_ECANCEL, "cancelled",
                 kfe_i_gram_solve(p.device, 0.1, v, 1, KFE_TOLERANCE, out, NULL));
    kfe_context_on_cancel(*state, NULL, NULL);
    support_pair_close(&p);
    free(v);
    support_points_free(&points);
}

/* Every allocation of the device fails in turn: the results stay those of the CPU. */
static void test_failing_allocations_fall_back(void **state)
{
    kfe_context *ctx = *state;
    support_points points;
    char number[16];
    int falls = 0;

    support_points_make(&points, 5, ROWS, COLS, 0);
    for (int k = 1; k <= 40; k++) {
        support_pair p;
        (void)snprintf(number, sizeof number, "%d", k);
        assert_int_equal(setenv("KFE_DEVICE_FAIL_ALLOCATION", number, 1), 0);
        if (kfe_context_set_device(ctx, support_device_name()) !=
            KFE_OK) { /* it allocates when it is opened */
            assert_non_null(strstr(kfe_error_message(ctx), "no memory left"));
            assert_string_not_equal(support_device_name(), "host");
            continue;
        }
        support_results product = support_results_make(ROWS * VECTORS);
        support_results solution = support_results_make(ROWS * VECTORS);
        double *v = support_random(7, ROWS * VECTORS);
        support_catch_log(ctx);
        support_pair_open(ctx, "rbf:gamma=0.5", &points, 0, k % 2 ? KFE_GRAM_AUTO : KFE_GRAM_F64, &p);
        assert_ok(ctx, kfe_i_gram_times(p.cpu, v, VECTORS, product.cpu));
        assert_ok(ctx, kfe_i_gram_times(p.device, v, VECTORS, product.device));
        assert_ok(ctx, kfe_i_gram_solve(p.cpu, 0.1, v, VECTORS, KFE_TOLERANCE, solution.cpu, NULL));
        assert_ok(ctx, kfe_i_gram_solve(p.device, 0.1, v, VECTORS, KFE_TOLERANCE, solution.device, NULL));
        falls += strstr(support_log(), "so it runs on the CPU") != NULL;
        support_results_check("a product", product, ROWS * VECTORS, ROWS * support_pair_slack(&p, 0));
        support_results_check("a solution", solution, ROWS * VECTORS, 1e-7);
        support_pair_close(&p);
        free(v);
    }
    assert_int_equal(unsetenv("KFE_DEVICE_FAIL_ALLOCATION"), 0);
    assert_true(falls >= 2); /* without the first numbers there is nothing to compute with */
    support_points_free(&points);
}

/* ---- several processes on one machine ---- */

/* The device that a process with this place on its machine opens by name. */
static void check_device_of_process(kfe_context *ctx, int local_process, const char *name,
                                    const char *expected)
{
    kfe_i_cluster cluster = {
        .info = {
            .process = local_process, .processes = 5, .local_process = local_process, .local_processes = 5}};

    ctx->cluster = &cluster;
    assert_ok(ctx, kfe_context_set_device(ctx, name));
    assert_non_null(strstr(ctx->device->info.name, expected));
    assert_ok(ctx, kfe_context_set_device(ctx, "cpu"));
    ctx->cluster = NULL;
}

static void test_processes_of_a_machine_take_its_devices_in_turn(void **state)
{
    assert_int_equal(setenv("KFE_DEVICE_COUNT", "3", 1), 0);
    check_device_of_process(*state, 0, "host", "the CPU");
    check_device_of_process(*state, 1, "host", "device 1 ");
    check_device_of_process(*state, 2, "host", "device 2 ");
    check_device_of_process(*state, 3, "host", "the CPU");
    check_device_of_process(*state, 1, "host:2", "device 2 ");
    assert_int_equal(unsetenv("KFE_DEVICE_COUNT"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_kernels_name_their_own_formulas),
        with_context(test_formulas_are_those_of_the_cpu),
        with_context(test_operators_equal_those_of_the_cpu),
        with_context(test_stored_operators_equal_those_of_the_cpu),
        with_context(test_what_has_no_formula_stays_on_the_cpu),
        with_context(test_features_equal_those_of_the_cpu),
        with_context(test_cancelling_reaches_the_device),
        with_context(test_failing_allocations_fall_back),
        with_context(test_processes_of_a_machine_take_its_devices_in_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
