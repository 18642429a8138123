/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of devices: formulas of kernels, the functions of the table, and operators, solutions and eigenvectors on a
 * device, each against the same on the CPU or computed entry by entry. The device is the host plug-in, or the one that
 * KFE_TEST_DEVICE names.
 */
#include "support/support.h"

#include <stdio.h>

#include "gram/device/device_pool.h"
#include "gram/device/expand.h"
#include "gram/device/form.h"
#include "gram/solve/solve.h"
#include "kernel/expansion.h"
#include "kernel/tile/tile.h"
#include "support/points.h"
#include "support/tolerance.h"

enum { ROWS = 83, COLS = 7, VECTORS = 5, GROUPS = 3 };

static const char *device_name(void)
{
    const char *name = getenv("KFE_TEST_DEVICE");
    return name && *name ? name : "host";
}

static void assert_near(const char *what, double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%s: %.17g instead of %.17g, off by %.3g, allowed %.3g", what, got, expected,
                 fabs(got - expected), tolerance);
}

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

static void test_every_kernel_of_numbers_has_a_formula(void **state)
{
    const kfe_i_kernel_def *def;

    (void)state;
    for (int i = 0; (def = kfe_i_kernel_def_at(i)) != NULL; i++) {
        int of_numbers =
            def->base == KFE_BASE_DOT || def->base == KFE_BASE_DISTANCE || def->base == KFE_BASE_COORDINATE;
        if ((def->describe != NULL) != of_numbers)
            fail_msg("%s: %s", def->name, of_numbers ? "no formula" : "a formula, but it is not for numbers");
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
    kernel.def->describe(kernel.settings, &formula);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++) {
            const double *x = support_points_row(points, i);
            const double *y = support_points_row(points, j);
            double expected = values[i * ROWS + j];
            assert_near(text, by_formula(&formula, x, y, 0), expected, 1e-12 * (1 + fabs(expected)));
            assert_near(text, by_formula(&formula, x, y, 1), expected, 1e-4 * (1 + fabs(expected)));
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

/* The same operator on the CPU and on the device. */
typedef struct pair {
    kfe_context *ctx;
    kfe_i_kernel_list kernels;
    kfe_i_table table;
    kfe_i_gram *cpu, *device;
    double largest; /* entry */
} pair;

static void open_pair(kfe_context *ctx, const char *kernels, const support_points *points, int sparse,
                      kfe_i_gram_storage storage, pair *out)
{
    char text[256];

    *out = (pair){.ctx = ctx, .table = support_points_table(points, sparse)};
    kfe_i_kernel_list_init(ctx, &out->kernels);
    (void)snprintf(text, sizeof text, "%s", kernels);
    for (char *one = strtok(text, " "); one; one = strtok(NULL, " ")) {
        kfe_i_kernel kernel = {0};
        assert_ok(ctx, kfe_i_kernel_parse(ctx, one, &kernel));
        assert_ok(ctx, kfe_i_kernel_list_add(&out->kernels, &kernel));
    }
    assert_ok(ctx, kfe_context_set_device(ctx, "cpu"));
    assert_ok(ctx, kfe_i_gram_open(ctx, &out->kernels, &out->table, KFE_GRAM_AUTO, &out->cpu));
    assert_ok(ctx, kfe_context_set_device(ctx, device_name()));
    assert_ok(ctx, kfe_i_gram_open(ctx, &out->kernels, &out->table, storage, &out->device));
    double *diagonal = calloc((size_t)out->cpu->size, sizeof *diagonal);
    assert_ok(ctx, kfe_i_gram_diagonal(out->cpu, diagonal));
    for (int64_t i = 0; i < out->cpu->size; i++)
        out->largest = fmax(out->largest, fabs(diagonal[i]));
    free(diagonal);
}

static void close_pair(pair *p)
{
    kfe_i_gram_free(p->cpu);
    kfe_i_gram_free(p->device);
    kfe_i_kernel_list_free(&p->kernels);
}

static void compare(const char *what, const double *got, const double *expected, int64_t count,
                    double tolerance)
{
    for (int64_t i = 0; i < count; i++)
        assert_near(what, got[i], expected[i], tolerance);
}

/* Two results of the same call; the tolerance is for numbers made of `terms` entries. */
typedef struct results {
    double *cpu, *device;
} results;

static results make_results(int64_t count)
{
    return (results){calloc((size_t)count, sizeof(double)), calloc((size_t)count, sizeof(double))};
}

static void check_results(const char *what, results r, int64_t count, double tolerance)
{
    compare(what, r.device, r.cpu, count, tolerance);
    free(r.cpu);
    free(r.device);
}

static void check_reading(const pair *p, double slack)
{
    const int64_t index[] = {ROWS - 1, 0, 2, 2, ROWS / 2};
    results whole = make_results(ROWS * ROWS);
    results part = make_results(10 * 20);
    results columns = make_results(ROWS * 5);
    results among = make_results(25);
    results diagonal = make_results(ROWS);

    assert_ok(p->ctx, kfe_i_gram_block(p->cpu, 0, ROWS, 0, ROWS, whole.cpu, ROWS));
    assert_ok(p->ctx, kfe_i_gram_block(p->device, 0, ROWS, 0, ROWS, whole.device, ROWS));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < i; j++)
            assert_true(whole.device[i * ROWS + j] == whole.device[j * ROWS + i]);
    check_results("the whole matrix", whole, ROWS * ROWS, slack);
    assert_ok(p->ctx, kfe_i_gram_block(p->cpu, 5, 10, 17, 13, part.cpu, 20));
    assert_ok(p->ctx, kfe_i_gram_block(p->device, 5, 10, 17, 13, part.device, 20));
    check_results("a block", part, 10 * 20, slack);
    assert_ok(p->ctx, kfe_i_gram_columns(p->cpu, index, 5, columns.cpu));
    assert_ok(p->ctx, kfe_i_gram_columns(p->device, index, 5, columns.device));
    check_results("columns", columns, ROWS * 5, slack);
    assert_ok(p->ctx, kfe_i_gram_among(p->cpu, index, 5, among.cpu));
    assert_ok(p->ctx, kfe_i_gram_among(p->device, index, 5, among.device));
    check_results("entries among examples", among, 25, slack);
    assert_ok(p->ctx, kfe_i_gram_diagonal(p->cpu, diagonal.cpu));
    assert_ok(p->ctx, kfe_i_gram_diagonal(p->device, diagonal.device));
    check_results("the diagonal", diagonal, ROWS, slack);
}

static void check_products(const pair *p, double slack)
{
    int32_t group[ROWS];
    results product = make_results(ROWS * VECTORS);
    results sums = make_results(GROUPS * GROUPS);
    double *v = support_random(7, ROWS * VECTORS);

    for (int i = 0; i < ROWS; i++)
        group[i] = i * i % GROUPS;
    assert_ok(p->ctx, kfe_i_gram_times(p->cpu, v, VECTORS, product.cpu));
    assert_ok(p->ctx, kfe_i_gram_times(p->device, v, VECTORS, product.device));
    check_results("a product", product, ROWS * VECTORS, ROWS * slack);
    assert_ok(p->ctx, kfe_i_gram_group_sums(p->cpu, group, GROUPS, sums.cpu));
    assert_ok(p->ctx, kfe_i_gram_group_sums(p->device, group, GROUPS, sums.device));
    check_results("sums over groups", sums, GROUPS * GROUPS, ROWS * ROWS * slack);
    free(v);
}

/* Entries differ by the order of summation of dot products, which exp and powers of three multiply by a few units. */
static double slack_of(const pair *p, int single)
{
    return p->largest * (single ? 8 * TOLERANCE_SINGLE : tolerance_distance_relative(COLS));
}

static void check_operator(kfe_context *ctx, const char *kernels, int sparse, kfe_i_gram_storage storage)
{
    support_points points;
    pair p;
    int linear = strcmp(kernels, "linear") == 0;

    support_points_make(&points, 5, ROWS, COLS, 1);
    open_pair(ctx, kernels, &points, sparse, storage, &p);
    assert_int_equal(kfe_i_gram_device(p.device) == NULL, linear);
    check_reading(&p, slack_of(&p, storage == KFE_GRAM_F32));
    check_products(&p, slack_of(&p, storage == KFE_GRAM_F32));
    close_pair(&p);
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
    pair p;

    support_points_make(&points, 5, ROWS, COLS, 1);
    support_catch_log(*state);
    open_pair(*state, "linear", &points, 0, KFE_GRAM_AUTO, &p);
    assert_null(kfe_i_gram_device(p.device));
    assert_non_null(strstr(support_log(), "on the CPU"));
    close_pair(&p);
    support_points_free(&points);
}

/* ---- systems and eigenvectors ---- */

/* ‖(G + λI)x − r‖ relative to ‖r‖, with products of the CPU. */
static double residual_of(const pair *p, const kfe_i_gram *gram, double ridge, const double *right,
                          const double *x)
{
    double *product = calloc(ROWS * VECTORS, sizeof *product);
    double left = 0;
    double whole = 0;

    assert_ok(p->ctx, kfe_i_gram_times(gram, x, VECTORS, product));
    for (int64_t i = 0; i < ROWS * VECTORS; i++) {
        double r = product[i] + ridge * x[i] - right[i];
        left += r * r;
        whole += right[i] * right[i];
    }
    free(product);
    return sqrt(left / whole);
}

static void check_solve(kfe_context *ctx, int centred, const char *expected)
{
    support_points points;
    pair p;
    kfe_i_gram *on_cpu = NULL;
    kfe_i_gram *on_device = NULL;
    double *right = support_random(8, ROWS * VECTORS);
    double *x = calloc(ROWS * VECTORS, sizeof *x);
    double reached = 1;

    support_points_make(&points, 5, ROWS, COLS, 0);
    open_pair(ctx, "rbf:gamma=0.5", &points, 0, KFE_GRAM_AUTO, &p);
    assert_ok(ctx, kfe_i_gram_centred(ctx, p.cpu, &on_cpu));
    assert_ok(ctx, kfe_i_gram_centred(ctx, p.device, &on_device));
    support_catch_log(ctx);
    assert_ok(ctx, kfe_i_gram_solve(centred ? on_device : p.device, 0.01, right, VECTORS, KFE_TOLERANCE, x,
                                    &reached));
    if (!strstr(support_log(), expected))
        fail_msg("the log does not say '%s'", expected);
    assert_true(reached <= KFE_TOLERANCE);
    assert_true(residual_of(&p, centred ? on_cpu : p.cpu, 0.01, right, x) <= 2 * KFE_TOLERANCE);
    kfe_i_gram_free(on_cpu);
    kfe_i_gram_free(on_device);
    close_pair(&p);
    free(right);
    free(x);
    support_points_free(&points);
}

/* Bytes of device memory for these tests; 0: no limit. */
static void limit_memory(int64_t bytes)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%lld", (long long)bytes);
    assert_int_equal(bytes ? setenv("KFE_DEVICE_MEMORY", text, 1) : unsetenv("KFE_DEVICE_MEMORY"), 0);
}

static void test_systems_are_solved_on_the_device(void **state)
{
    check_solve(*state, 0, "Cholesky in double precision on");
    check_solve(*state, 1, "Cholesky in double precision on");
}

/* 83 examples: 55 kB in double precision, 28 kB in single precision, and some vectors. */
static void test_less_memory_means_single_precision_and_then_the_cpu(void **state)
{
    if (strcmp(device_name(), "host") != 0)
        skip(); /* other devices need more for themselves */
    limit_memory(72000);
    check_solve(*state, 0, "Cholesky in single precision on host");
    check_solve(*state, 1, "Cholesky in single precision on host");
    limit_memory(20000);
    check_solve(*state, 0, "runs on the CPU");
    limit_memory(0);
}

static void test_an_indefinite_matrix_is_refused(void **state)
{
    support_points points;
    pair p;
    double *right = support_random(8, ROWS);
    double x[ROWS];

    support_points_make(&points, 5, ROWS, COLS, 0);
    open_pair(*state, "sigmoid:gamma=1,coef0=-1", &points, 0, KFE_GRAM_AUTO, &p);
    assert_fails(*state, KFE_ENUMERIC, "not positive definite",
                 kfe_i_gram_solve(p.device, 1e-6, right, 1, KFE_TOLERANCE, x, NULL));
    close_pair(&p);
    free(right);
    support_points_free(&points);
}

/* ‖Gv − λv‖ for unit vectors v in the columns of `vectors`, with products of the CPU. */
static void check_eigenpairs(const pair *p, const kfe_i_gram *gram, int64_t k, const double *values,
                             const double *vectors)
{
    int64_t n = gram->size;
    double *product = calloc((size_t)(n * k), sizeof *product);

    assert_ok(p->ctx, kfe_i_gram_times(gram, vectors, k, product));
    for (int64_t j = 0; j < k; j++) {
        double residual = 0;
        double length = 0;
        for (int64_t i = 0; i < n; i++) {
            double r = product[i * k + j] - values[j] * vectors[i * k + j];
            residual += r * r;
            length += vectors[i * k + j] * vectors[i * k + j];
        }
        assert_near("the length of an eigenvector", sqrt(length), 1, 1e-12);
        assert_near("the residual of an eigenvector", sqrt(residual), 0, 4 * KFE_TOLERANCE * values[0]);
    }
    free(product);
}

static void check_eigen(kfe_context *ctx, int64_t rows, int64_t k, int centred)
{
    support_points points;
    pair p;
    kfe_i_gram *on_cpu = NULL;
    kfe_i_gram *on_device = NULL;
    double *values = calloc((size_t)k, sizeof *values);
    double *vectors = calloc((size_t)(rows * k), sizeof *vectors);

    support_points_make(&points, 9, rows, COLS, 0);
    open_pair(ctx, "rbf:gamma=0.2", &points, 0, KFE_GRAM_AUTO, &p);
    assert_ok(ctx, kfe_i_gram_centred(ctx, p.cpu, &on_cpu));
    assert_ok(ctx, kfe_i_gram_centred(ctx, p.device, &on_device));
    assert_ok(ctx, kfe_i_gram_eigen(centred ? on_device : p.device, k, KFE_TOLERANCE, values, vectors));
    check_eigenpairs(&p, centred ? on_cpu : p.cpu, k, values, vectors);
    kfe_i_gram_free(on_cpu);
    kfe_i_gram_free(on_device);
    close_pair(&p);
    free(values);
    free(vectors);
    support_points_free(&points);
}

static void test_eigenvectors_are_found_on_the_device(void **state)
{
    for (int centred = 0; centred < 2; centred++) {
        check_eigen(*state, ROWS, 6, centred); /* all of them, by syevd */
        check_eigen(*state, 1100, 4, centred); /* by the block Krylov method */
    }
}

/* ---- features of new rows ---- */

static void test_features_equal_those_of_the_cpu(void **state)
{
    kfe_context *ctx = *state;
    support_points points;
    support_points support;
    pair p;

    support_points_make(&points, 11, 5000, COLS, 1);
    support_points_make(&support, 12, 40, COLS, 1);
    for (int i = 0; i < KERNELS; i++) {
        results features = make_results(5000 * 2);
        double *v = support_random(13, 40 * 2);
        open_pair(ctx, kernels_with_formulas[i], &points, 0, KFE_GRAM_AUTO, &p);
        kfe_i_table landmarks = support_points_table(&support, 0);
        assert_ok(ctx, kfe_i_expand(ctx, &p.kernels, &p.table, &landmarks, v, 2, features.cpu));
        assert_ok(ctx, kfe_i_expand_anywhere(ctx, &p.kernels, &p.table, &landmarks, v, 2, features.device));
        check_results(kernels_with_formulas[i], features, 5000 * 2, 40 * slack_of(&p, 0));
        close_pair(&p);
        free(v);
    }
    support_points_free(&points);
    support_points_free(&support);
}

/* ---- pools of columns ---- */

/* Columns of the CPU's operator, n numbers after each other. */
static double *cpu_columns(const pair *p, const int64_t *index, int64_t count)
{
    double *columns = calloc((size_t)(ROWS * count), sizeof *columns);
    double *transposed = calloc((size_t)(ROWS * count), sizeof *transposed);

    assert_ok(p->ctx, kfe_i_gram_columns(p->cpu, index, count, columns));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t c = 0; c < count; c++)
            transposed[c * ROWS + i] = columns[i * count + c];
    free(columns);
    return transposed;
}

static double dot(const double *a, const double *b, int64_t stride)
{
    double sum = 0;

    for (int64_t i = 0; i < ROWS; i++)
        sum += a[i] * b[i * stride];
    return sum;
}

enum { CANDIDATES = 3, TARGETS = 2, FEATURES = 2 };
static const int64_t candidates[CANDIDATES] = {3, 40, 77};
static const int64_t places[CANDIDATES] = {2, 0, 1};
static const int64_t picks[FEATURES] = {5, 60};

/* A pool on the device, and the same on the CPU. */
typedef struct pool_check {
    kfe_context *ctx;
    kfe_i_device_pool pool;
    double *residual; /* ROWS × TARGETS */
    double *columns;  /* of the candidates, one after the other */
    double *q;        /* the features, one after the other */
    double slack;
} pool_check;

/* Makes column j of c->q orthogonal to those before it, and compares what the pool says of it. */
static void check_feature(pool_check *c, int64_t j)
{
    double *v = c->q + j * ROWS;
    double before = sqrt(dot(v, v, 1));
    double shared = j ? dot(c->q, v, 1) : 0;
    double part = 0;
    double whole = 0;
    double length = 0;
    double slopes[TARGETS];

    for (int64_t i = 0; j && i < ROWS; i++)
        v[i] -= shared * c->q[i];
    double after = sqrt(dot(v, v, 1));
    assert_ok(c->ctx, kfe_i_device_pool_pick(&c->pool, picks[j], 2, j, &part, &whole, &length));
    assert_near("the norm of a column", whole, 2 * before, c->slack);
    assert_near("the norm of what is new", length, 2 * after, c->slack);
    if (j)
        assert_near("the part along a feature", part, 2 * shared, c->slack);
    assert_ok(c->ctx, kfe_i_device_pool_accept(&c->pool, j, length, slopes));
    for (int64_t i = 0; i < ROWS; i++)
        v[i] /= after;
    for (int t = 0; t < TARGETS; t++) {
        double slope = dot(v, c->residual + t, TARGETS);
        assert_near("the slope of a target", slopes[t], slope, c->slack);
        for (int64_t i = 0; i < ROWS; i++)
            c->residual[i * TARGETS + t] -= slope * v[i];
    }
}

static void check_candidates(pool_check *c)
{
    double squares[CANDIDATES];
    double covariance[CANDIDATES * TARGETS];
    double along[CANDIDATES * FEATURES];
    kfe_i_device_pool_measures measures = {squares, covariance, along};

    assert_ok(c->ctx, kfe_i_device_pool_load(&c->pool, candidates, places, CANDIDATES, FEATURES, &measures));
    for (int i = 0; i < CANDIDATES; i++) {
        const double *column = c->columns + i * ROWS;
        assert_near("a squared norm", squares[i], dot(column, column, 1), c->slack);
        for (int t = 0; t < TARGETS; t++)
            assert_near("a covariance", covariance[i * TARGETS + t], dot(column, c->residual + t, TARGETS),
                        c->slack);
        for (int j = 0; j < FEATURES; j++)
            assert_near("a product with a feature", along[j * CANDIDATES + i],
                        dot(c->q + j * ROWS, column, 1), c->slack);
    }
    assert_ok(c->ctx, kfe_i_device_pool_along(&c->pool, 1, along));
    for (int i = 0; i < CANDIDATES; i++)
        assert_near("a candidate along the last feature", along[places[i]],
                    dot(c->q + ROWS, c->columns + i * ROWS, 1), c->slack);
}

/* Picks two features and loads three candidates; every number that comes back is compared. */
static void check_pool(const pair *p, kfe_device_type type)
{
    kfe_i_device_pool_shape shape = {
        .size = CANDIDATES, .most = FEATURES, .targets = TARGETS, .type = type, .scale = 1};
    pool_check c = {.ctx = p->ctx,
                    .residual = support_random(41, ROWS * TARGETS),
                    .columns = cpu_columns(p, candidates, CANDIDATES),
                    .q = cpu_columns(p, picks, FEATURES),
                    .slack = ROWS * slack_of(p, type == KFE_DEVICE_F32)};
    int open = 0;

    assert_ok(p->ctx, kfe_i_device_pool_open(p->device, &shape, c.residual, &c.pool, &open));
    assert_true(open);
    for (int64_t j = 0; j < FEATURES; j++)
        check_feature(&c, j);
    check_candidates(&c);
    kfe_i_device_pool_close(&c.pool);
    free(c.residual);
    free(c.columns);
    free(c.q);
}

static void test_pools_of_columns(void **state)
{
    static const kfe_i_gram_storage storages[] = {KFE_GRAM_TILED, KFE_GRAM_F64};
    support_points points;
    pair p;

    support_points_make(&points, 5, ROWS, COLS, 1);
    for (int i = 0; i < 2; i++) {
        open_pair(*state, "rbf:gamma=0.5 poly:degree=2,weight=0.1", &points, 0, storages[i], &p);
        check_pool(&p, KFE_DEVICE_F64);
        check_pool(&p, KFE_DEVICE_F32);
        close_pair(&p);
    }
    support_points_free(&points);
}

/* ---- the functions of the table that operators do not use ---- */

static kfe_device_matrix put(const kfe_i_device *d, const double *values, int64_t rows, int64_t cols,
                             kfe_device_type type)
{
    kfe_device_matrix m;

    assert_int_equal(kfe_i_device_matrix_new(d, rows, cols, type, &m), KFE_DEVICE_OK);
    assert_int_equal(d->table->upload(d->handle, values, cols, &m), KFE_DEVICE_OK);
    return m;
}

static void take(const kfe_i_device *d, kfe_device_matrix *m, const char *what, const double *expected,
                 double tolerance)
{
    double *got = calloc((size_t)(m->rows * m->cols), sizeof *got);

    assert_int_equal(d->table->download(d->handle, m, got, m->cols), KFE_DEVICE_OK);
    compare(what, got, expected, m->rows * m->cols, tolerance);
    free(got);
    kfe_i_device_matrix_free(d, m);
}

/* c = alpha·op(a)op(b) + beta·c in plain loops; a is ROWS × COLS or its transpose. */
static void check_gemm(const kfe_i_device *d, int transpose_a, int transpose_b, kfe_device_type type_a)
{
    int64_t a_rows = transpose_a ? COLS : ROWS;
    double *a = support_random(21, ROWS * COLS);
    double *b = support_random(22, COLS * VECTORS);
    double *c = support_random(23, ROWS * VECTORS);
    kfe_device_matrix da = put(d, a, a_rows, ROWS * COLS / a_rows, type_a);
    kfe_device_matrix db =
        put(d, b, transpose_b ? VECTORS : COLS, transpose_b ? COLS : VECTORS, KFE_DEVICE_F64);
    kfe_device_matrix dc = put(d, c, ROWS, VECTORS, KFE_DEVICE_F64);

    assert_int_equal(d->table->gemm(d->handle, transpose_a, transpose_b, 0.5, &da, &db, -2, &dc),
                     KFE_DEVICE_OK);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < VECTORS; k++) {
            double sum = 0;
            for (int64_t j = 0; j < COLS; j++) {
                double left = transpose_a ? a[j * ROWS + i] : a[i * COLS + j];
                left = type_a == KFE_DEVICE_F32 ? (double)(float)left : left;
                sum += left * (transpose_b ? b[k * COLS + j] : b[j * VECTORS + k]);
            }
            c[i * VECTORS + k] = 0.5 * sum - 2 * c[i * VECTORS + k];
        }
    take(d, &dc, "gemm", c, tolerance_sum(COLS, 10));
    kfe_i_device_matrix_free(d, &da);
    kfe_i_device_matrix_free(d, &db);
    free(a);
    free(b);
    free(c);
}

static kfe_i_device *open_device(kfe_context *ctx)
{
    assert_ok(ctx, kfe_context_set_device(ctx, device_name()));
    return ctx->device;
}

static void test_products_of_matrices(void **state)
{
    kfe_i_device *d = open_device(*state);

    for (int t = 0; t < 4; t++) {
        check_gemm(d, t & 1, t >> 1, KFE_DEVICE_F64);
        check_gemm(d, t & 1, t >> 1, KFE_DEVICE_F32);
    }
}

static void test_entries_of_matrices(void **state)
{
    kfe_i_device *d = open_device(*state);
    const int64_t rows[] = {4, 0, 4};
    const int64_t cols[] = {1, 2};
    double *a = support_random(31, 5 * 3);
    double expected[5 * 3];
    double dots[5];
    double by_row[] = {1, 2, 3, 4, 5};
    double by_col[] = {10, 20, 30};
    kfe_device_matrix m = put(d, a, 5, 3, KFE_DEVICE_F64);
    kfe_device_matrix diagonal = kfe_device_diagonal(kfe_device_part(m, 0, 3, 0, 3));
    kfe_device_matrix picked;

    assert_int_equal(d->table->column_dots(d->handle, &m, &m, dots), KFE_DEVICE_OK);
    for (int j = 0; j < 3; j++) {
        double sum = 0;
        for (int i = 0; i < 5; i++)
            sum += a[i * 3 + j] * a[i * 3 + j];
        assert_near("column_dots", dots[j], sum, tolerance_sum(5, 5));
    }
    assert_int_equal(d->table->row_dots(d->handle, &m, NULL, dots), KFE_DEVICE_OK);
    for (int i = 0; i < 5; i++)
        assert_near("row_dots", dots[i], a[i * 3] + a[i * 3 + 1] + a[i * 3 + 2], tolerance_sum(3, 3));
    assert_int_equal(d->table->shift(d->handle, &m, by_row, by_col), KFE_DEVICE_OK);
    assert_int_equal(d->table->scale(d->handle, &m, by_row, by_col), KFE_DEVICE_OK);
    assert_int_equal(d->table->shift(d->handle, &diagonal, NULL, by_col), KFE_DEVICE_OK);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++)
            expected[i * 3 + j] =
                (a[i * 3 + j] + by_row[i] + by_col[j]) * by_row[i] * by_col[j] + (i == j ? 10 : 0);
    assert_int_equal(kfe_i_device_matrix_new(d, 3, 2, KFE_DEVICE_F32, &picked), KFE_DEVICE_OK);
    assert_int_equal(d->table->gather(d->handle, &m, rows, cols, &picked), KFE_DEVICE_OK);
    double chosen[] = {expected[13], expected[14], expected[1], expected[2], expected[13], expected[14]};
    take(d, &picked, "gather", chosen, 1e4 * TOLERANCE_SINGLE);
    take(d, &m, "shift and scale", expected, 1e4 * 8 * DBL_EPSILON);
    free(a);
}

/* Distances once, and several kernels mapped from them. */
static void test_kernels_are_mapped_from_distances(void **state)
{
    kfe_i_device *d = open_device(*state);
    support_points points;
    kfe_device_points *prepared = NULL;
    kfe_device_kernel plain = {.weight = 1, .formula = {.base = KFE_FORMULA_DISTANCE}};
    kfe_device_kernel rbf = {.weight = 0.5,
                             .formula = {.base = KFE_FORMULA_DISTANCE, .map = KFE_MAP_RBF, .params = {0.3}}};
    kfe_device_matrix base;
    kfe_device_matrix direct;
    double *expected = calloc(ROWS * ROWS, sizeof *expected);

    support_points_make(&points, 5, ROWS, COLS, 0);
    kfe_i_table table = support_points_table(&points, 0);
    kfe_device_rows rows = kfe_i_device_rows(&table);
    assert_int_equal(d->table->points_new(d->handle, &rows, KFE_FORMULA_DISTANCE, KFE_DEVICE_F64, &prepared),
                     KFE_DEVICE_OK);
    kfe_device_range all = {prepared, 0, ROWS};
    assert_int_equal(kfe_i_device_matrix_new(d, ROWS, ROWS, KFE_DEVICE_F64, &base), KFE_DEVICE_OK);
    assert_int_equal(kfe_i_device_matrix_new(d, ROWS, ROWS, KFE_DEVICE_F64, &direct), KFE_DEVICE_OK);
    assert_int_equal(d->table->block(d->handle, &plain, all, all, &base, KFE_DEVICE_MIRROR), KFE_DEVICE_OK);
    assert_int_equal(d->table->map(d->handle, &rbf, &base, all, all, &base), KFE_DEVICE_OK);
    assert_int_equal(d->table->block(d->handle, &rbf, all, all, &direct, KFE_DEVICE_MIRROR), KFE_DEVICE_OK);
    assert_int_equal(d->table->download(d->handle, &direct, expected, ROWS), KFE_DEVICE_OK);
    take(d, &base, "map", expected, 4 * DBL_EPSILON);
    kfe_i_device_matrix_free(d, &direct);
    d->table->points_free(d->handle, prepared);
    free(expected);
    support_points_free(&points);
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
    pair p;
    double *v = support_random(7, ROWS);
    double out[ROWS];

    support_points_make(&points, 5, ROWS, COLS, 0);
    open_pair(*state, "rbf:gamma=0.5", &points, 0, KFE_GRAM_AUTO, &p);
    kfe_context_on_cancel(*state, stop_at_once, NULL);
    if (strcmp(device_name(), "host") == 0) /* others may be faster than they ask */
        assert_fails(*state, KFE_ECANCEL, "cancelled", kfe_i_gram_times(p.device, v, 1, out));
    assert_fails(*state, KFE_ECANCEL, "cancelled",
                 kfe_i_gram_solve(p.device, 0.1, v, 1, KFE_TOLERANCE, out, NULL));
    kfe_context_on_cancel(*state, NULL, NULL);
    close_pair(&p);
    free(v);
    support_points_free(&points);
}

/* Every allocation of the device fails in turn: the results stay those of the CPU. */
static void test_failing_allocations_fall_back(void **state)
{
    kfe_context *ctx = *state;
    support_points points;
    char number[16];

    support_points_make(&points, 5, ROWS, COLS, 0);
    for (int k = 1; k <= 40; k++) {
        pair p;
        results product = make_results(ROWS * VECTORS);
        results solution = make_results(ROWS * VECTORS);
        double *v = support_random(7, ROWS * VECTORS);
        (void)snprintf(number, sizeof number, "%d", k);
        assert_int_equal(setenv("KFE_DEVICE_FAIL_ALLOCATION", number, 1), 0);
        open_pair(ctx, "rbf:gamma=0.5", &points, 0, k % 2 ? KFE_GRAM_AUTO : KFE_GRAM_F64, &p);
        assert_ok(ctx, kfe_i_gram_times(p.cpu, v, VECTORS, product.cpu));
        assert_ok(ctx, kfe_i_gram_times(p.device, v, VECTORS, product.device));
        assert_ok(ctx, kfe_i_gram_solve(p.cpu, 0.1, v, VECTORS, KFE_TOLERANCE, solution.cpu, NULL));
        assert_ok(ctx, kfe_i_gram_solve(p.device, 0.1, v, VECTORS, KFE_TOLERANCE, solution.device, NULL));
        check_results("a product", product, ROWS * VECTORS, ROWS * slack_of(&p, 0));
        check_results("a solution", solution, ROWS * VECTORS, 1e-7);
        close_pair(&p);
        free(v);
    }
    assert_int_equal(unsetenv("KFE_DEVICE_FAIL_ALLOCATION"), 0);
    support_points_free(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_every_kernel_of_numbers_has_a_formula),
        with_context(test_formulas_are_those_of_the_cpu),
        with_context(test_operators_equal_those_of_the_cpu),
        with_context(test_stored_operators_equal_those_of_the_cpu),
        with_context(test_what_has_no_formula_stays_on_the_cpu),
        with_context(test_systems_are_solved_on_the_device),
        with_context(test_less_memory_means_single_precision_and_then_the_cpu),
        with_context(test_an_indefinite_matrix_is_refused),
        with_context(test_eigenvectors_are_found_on_the_device),
        with_context(test_features_equal_those_of_the_cpu),
        with_context(test_pools_of_columns),
        with_context(test_products_of_matrices),
        with_context(test_entries_of_matrices),
        with_context(test_kernels_are_mapped_from_distances),
        with_context(test_cancelling_reaches_the_device),
        with_context(test_failing_allocations_fall_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
