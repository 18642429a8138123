/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of the Gram operator, plain and centred, against the matrix that it represents. */
#include "support/support.h"

#include <stdio.h>

#include "core/memory.h"
#include "gram/form.h"
#include "support/gram_cases.h"
#include "support/tolerance.h"

/* SIZE spans several panels of every kind and is no multiple of a panel's size. RIGHT is more than the
 * operators handle at once (16). */
enum { SIZE = 301, RIGHT = 19, LEADING = 5 };

/* An opened case, the expected matrix, and the allowed errors. */
typedef struct check {
    kfe_context *ctx;
    const char *name;
    const kfe_i_gram *gram;
    const double *expected;
    int64_t n;
    double magnitude; /* largest entry before centring */
    double slack;     /* allowed error of one entry */
    double norm;      /* Frobenius norm of the expected matrix */
} check;

static void assert_close(const check *c, const char *what, double got, long double expected, double tolerance)
{
    if (!(fabsl(got - expected) <= tolerance))
        fail_msg("%s, %s: %.17g instead of %.17Lg, off by %.3Lg, allowed %.3g", c->name, what, got, expected,
                 fabsl(got - expected), tolerance);
}

static double norm_of(const double *values, int64_t count)
{
    long double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (long double)values[i] * values[i];
    return (double)sqrtl(sum);
}

/* ---- entries ---- */

static void check_block(const check *c, int64_t row, int64_t rows, int64_t col, int64_t cols)
{
    enum { GAP = 2 };
    int64_t stride = cols + GAP;
    double *out = support_random(1, rows * stride);
    double *before = support_random(1, rows * stride);

    assert_ok(c->ctx, kfe_i_gram_block(c->gram, row, rows, col, cols, out, stride));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < stride; j++) {
            if (j < cols)
                assert_close(c, "block", out[i * stride + j], c->expected[(row + i) * c->n + col + j],
                             c->slack);
            else
                assert_true(out[i * stride + j] == before[i * stride + j]);
        }
    free(out);
    free(before);
}

static void check_columns(const check *c)
{
    const int64_t index[] = {c->n - 1, 0, 2, 2, c->n / 2};
    double *out = support_random(2, c->n * 5);

    assert_ok(c->ctx, kfe_i_gram_columns(c->gram, index, 5, out));
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < 5; j++)
            assert_close(c, "columns", out[i * 5 + j], c->expected[i * c->n + index[j]], c->slack);
    free(out);
}

static void check_entries(const check *c)
{
    double *diagonal = support_random(3, c->n);
    double *whole = NULL;
    double squared = 0;

    check_block(c, 0, c->n, 0, c->n);
    check_block(c, 5, 270, 129, c->n - 129);
    check_block(c, c->n - 1, 1, 7, 1);
    check_columns(c);
    assert_ok(c->ctx, kfe_i_gram_diagonal(c->gram, diagonal));
    for (int64_t i = 0; i < c->n; i++)
        assert_close(c, "diagonal", diagonal[i], c->expected[i * c->n + i], c->slack);
    assert_ok(c->ctx, kfe_i_gram_materialise(c->gram, &whole));
    for (int64_t i = 0; i < c->n * c->n; i++)
        assert_close(c, "materialised", whole[i], c->expected[i], c->slack);
    assert_ok(c->ctx, kfe_i_gram_squared_norm(c->gram, &squared));
    assert_close(c, "squared norm", squared, powl(c->norm, 2),
                 2 * c->slack * c->norm * (double)c->n + tolerance_sum(c->n * c->n, c->norm * c->norm));
    kfe_i_free(c->ctx, whole);
    free(diagonal);
}

/* ---- products ---- */

/* out = (expected + ridge·I) v */
static void multiply(const check *c, double ridge, const double *v, int64_t k, double *out)
{
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t l = 0; l < k; l++) {
            long double sum = (long double)ridge * v[i * k + l];
            for (int64_t j = 0; j < c->n; j++)
                sum += (long double)c->expected[i * c->n + j] * v[j * k + l];
            out[i * k + l] = (double)sum;
        }
}

static void check_times(const check *c)
{
    double *v = support_random(4, c->n * RIGHT);
    double *out = support_random(5, c->n * RIGHT);
    double *expected = support_random(6, c->n * RIGHT);
    double each = c->slack + tolerance_sum(c->n, c->magnitude);

    multiply(c, 0, v, RIGHT, expected);
    assert_ok(c->ctx, kfe_i_gram_times(c->gram, v, RIGHT, out));
    for (int64_t i = 0; i < c->n * RIGHT; i++)
        assert_close(c, "times", out[i], expected[i], (double)c->n * each);
    free(v);
    free(out);
    free(expected);
}

/* Group 1 is empty and group 3 has one member. */
static void check_group_sums(const check *c)
{
    enum { GROUPS = 4 };
    int32_t group[SIZE];
    long double expected[GROUPS * GROUPS] = {0};
    double out[GROUPS * GROUPS];
    double each = c->slack + tolerance_sum(2 * c->n, c->magnitude);

    for (int64_t i = 0; i < c->n; i++)
        group[i] = i == 4 ? 3 : i % 3 == 0 ? 2 : 0;
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < c->n; j++)
            expected[group[i] * GROUPS + group[j]] += c->expected[i * c->n + j];
    assert_ok(c->ctx, kfe_i_gram_group_sums(c->gram, group, GROUPS, out));
    for (int g = 0; g < GROUPS * GROUPS; g++)
        assert_close(c, "group sums", out[g], expected[g], (double)(c->n * c->n) * each);
}

/* ---- solving and eigenvectors, by their residuals ---- */

static void check_solve(const check *c)
{
    const double ridge = 0.5;
    double *right = support_random(7, c->n * RIGHT);
    double *solution = support_random(8, c->n * RIGHT);
    double *residual = support_random(9, c->n * RIGHT);

    assert_ok(c->ctx, kfe_i_gram_solve(c->gram, ridge, right, RIGHT, KFE_TOLERANCE, solution, NULL));
    multiply(c, ridge, solution, RIGHT, residual);
    for (int64_t i = 0; i < c->n * RIGHT; i++)
        residual[i] -= right[i];
    double allowed = tolerance_factorisation(c->n, c->norm + ridge) + (double)c->n * c->slack;
    assert_close(c, "residual of solve", norm_of(residual, c->n * RIGHT), 0,
                 allowed * norm_of(solution, c->n * RIGHT));
    free(right);
    free(solution);
    free(residual);
}

static void check_eigenpairs(const check *c, int64_t k, const double *values, const double *vectors)
{
    double allowed = tolerance_factorisation(c->n, c->norm) + (double)c->n * c->slack;
    double *product = support_random(10, c->n * k);

    multiply(c, 0, vectors, k, product);
    for (int64_t l = 0; l < k; l++) {
        long double square = 0;
        for (int64_t i = 0; i < c->n; i++)
            square += powl(product[i * k + l] - (long double)values[l] * vectors[i * k + l], 2);
        assert_close(c, "residual of eigenvector", (double)sqrtl(square), 0, allowed);
        assert_true(l == 0 || values[l] <= values[l - 1]);
    }
    for (int64_t l = 0; l < k; l++)
        for (int64_t m = 0; m <= l; m++) {
            long double inner = 0;
            for (int64_t i = 0; i < c->n; i++)
                inner += (long double)vectors[i * k + l] * vectors[i * k + m];
            assert_close(c, "orthonormality", (double)inner, l == m, tolerance_factorisation(c->n, 1));
        }
    free(product);
}

/* Any eigenpair has a small residual. That these are the largest follows from all of them, whose sum is the
 * trace. */
static void check_eigen(const check *c)
{
    double *values = support_random(11, c->n);
    double *vectors = support_random(12, c->n * c->n);
    double leading[LEADING];
    long double trace = 0;
    long double sum = 0;
    double allowed = tolerance_factorisation(c->n, c->norm) + (double)c->n * c->slack;

    assert_ok(c->ctx, kfe_i_gram_eigen(c->gram, LEADING, KFE_TOLERANCE, leading, vectors));
    check_eigenpairs(c, LEADING, leading, vectors);
    assert_ok(c->ctx, kfe_i_gram_eigen(c->gram, c->n, KFE_TOLERANCE, values, vectors));
    for (int64_t i = 0; i < c->n; i++) {
        trace += c->expected[i * c->n + i];
        sum += values[i];
        if (i < LEADING)
            assert_close(c, "eigenvalue", leading[i], values[i], allowed);
    }
    assert_close(c, "trace", (double)sum, trace, (double)c->n * allowed);
    free(values);
    free(vectors);
}

/* ---- all cases ---- */

static void for_every_case(kfe_context *ctx, void (*run)(const check *))
{
    gram_data data;

    gram_data_make(&data, SIZE);
    for (const gram_case *one = gram_cases; one->name; one++)
        for (int centred = 0; centred < 2; centred++) {
            gram_opened opened;
            char name[64];
            double *plain = gram_case_expected(one, &data, 0);
            double *expected = gram_case_expected(one, &data, centred);
            snprintf(name, sizeof name, "%s%s", one->name, centred ? ", centred" : "");
            assert_ok(ctx, gram_case_open(ctx, one, &data, centred, &opened));
            check c = {.ctx = ctx, .name = name, .gram = opened.gram, .expected = expected, .n = SIZE};
            for (int64_t i = 0; i < SIZE * SIZE; i++)
                c.magnitude = fmax(c.magnitude, fabs(plain[i]));
            c.slack = one->slack(&data);
            if (centred)
                c.slack = 4 * (c.slack + tolerance_sum(SIZE, c.magnitude));
            c.norm = norm_of(expected, SIZE * SIZE);
            run(&c);
            gram_case_close(&opened);
            free(plain);
            free(expected);
        }
    gram_data_free(&data);
}

static void test_entries(void **state)
{
    for_every_case(*state, check_entries);
}

static void test_times(void **state)
{
    for_every_case(*state, check_times);
}

static void test_group_sums(void **state)
{
    for_every_case(*state, check_group_sums);
}

static void test_solve(void **state)
{
    for_every_case(*state, check_solve);
}

static void test_eigen(void **state)
{
    for_every_case(*state, check_eigen);
}

/* ---- properties of single forms ---- */

static void test_forms(void **state)
{
    kfe_context *ctx = *state;
    gram_data data;

    gram_data_make(&data, 40);
    for (const gram_case *one = gram_cases; one->name; one++) {
        gram_opened opened;
        const kfe_i_table *transposed = NULL;
        double overall = 0;
        assert_ok(ctx, gram_case_open(ctx, one, &data, 1, &opened));
        if (!getenv("KFE_DEVICE") && !getenv("KFE_TEST_CLUSTER")) /* divided forms have other names too */
            assert_non_null(strstr(opened.plain->form->name, one->form));
        assert_int_equal(opened.plain->size, 40);
        assert_int_equal(kfe_i_gram_factor(opened.plain, &transposed) != NULL,
                         strcmp(one->form, "factored") == 0);
        const double *means = NULL;
        assert_ok(ctx, kfe_i_gram_row_means(opened.centred, &means, &overall));
        double *expected = gram_case_expected(one, &data, 0);
        for (int64_t i = 0; i < 40; i++) {
            long double mean = 0;
            for (int64_t j = 0; j < 40; j++)
                mean += expected[i * 40 + j] / 40.0L;
            assert_true(fabsl(means[i] - mean) <= one->slack(&data) + tolerance_sum(40, 100));
        }
        free(expected);
        gram_case_close(&opened);
    }
    gram_data_free(&data);
}

/* The stored forms contain the values of the tiles; single precision adds the rounding of dot products and
 * entries. */
static void test_stored_bits(void **state)
{
    kfe_context *ctx = *state;
    gram_data data;
    gram_opened opened;
    kfe_i_gram *narrow = NULL;
    kfe_i_gram *wide = NULL;
    double *evaluated = NULL;
    double *from_narrow = NULL;
    double *from_wide = NULL;

    gram_data_make(&data, SIZE);
    assert_ok(ctx, gram_case_open(ctx, &gram_cases[0], &data, 0, &opened));
    assert_ok(ctx, kfe_i_gram_packed(ctx, opened.plain, 1, &narrow));
    assert_ok(ctx, kfe_i_gram_stored(ctx, opened.plain, &wide));
    assert_ok(ctx, kfe_i_gram_materialise(opened.plain, &evaluated));
    assert_ok(ctx, kfe_i_gram_materialise(narrow, &from_narrow));
    assert_ok(ctx, kfe_i_gram_materialise(wide, &from_wide));
    for (int64_t i = 0; i < SIZE * SIZE; i++) {
        assert_true(from_wide[i] == evaluated[i]);
        assert_true(fabs(from_narrow[i] - evaluated[i]) <= 32 * TOLERANCE_SINGLE);
        assert_true(from_narrow[i] == (double)(float)from_narrow[i]);
    }
    kfe_i_free(ctx, evaluated);
    kfe_i_free(ctx, from_narrow);
    kfe_i_free(ctx, from_wide);
    kfe_i_gram_free(narrow);
    kfe_i_gram_free(wide);
    gram_case_close(&opened);
    gram_data_free(&data);
}

/* The form that is kept for many passes under a falling memory limit: 80 kB in double precision, 40 kB in
 * single precision, then a part. */
static void test_many_passes(void **state)
{
    static const struct {
        int64_t limit;
        const char *tiles, *sums; /* the form that a tiled operator and a sum become */
    } cases[] = {
        {110000, "double precision", "double precision"},
        {60000, "stored in single precision", "stored in single precision"},
        {20000, "partly stored", "partly stored"},
        {2000, "tile by tile", "sum"},
    };
    kfe_context *ctx = *state;
    gram_data data;

    if (getenv("KFE_TEST_CLUSTER")) /* several processes need other limits: tests/mpi/divided.c */
        skip();
    gram_data_make(&data, 100);
    assert_ok(ctx, kfe_context_set_device(ctx, "cpu")); /* the limit is that of its memory */
    for (const gram_case *one = gram_cases; one->name; one++) {
        gram_opened opened;
        int tiled = strcmp(one->form, "tile by tile") == 0;
        int sum = strcmp(one->form, "sum") == 0;
        int has_linear = strstr(one->kernels, "linear") != NULL; /* which is kept as a whole or not at all */
        assert_ok(ctx, gram_case_open(ctx, one, &data, 0, &opened));
        opened.plain->pinned = 0;
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            kfe_i_kept kept;
            assert_ok(ctx, kfe_context_set_memory(ctx, cases[c].limit));
            assert_ok(ctx, kfe_i_gram_keep(opened.plain, KFE_KEEP_ANY, 0, &kept));
            assert_ptr_equal(kept.gram, kept.stored ? kept.stored : opened.plain);
            if (tiled || sum)
                assert_non_null(strstr(kept.gram->form->name, tiled ? cases[c].tiles
                                                              : has_linear && cases[c].limit < 40000
                                                                  ? "sum"
                                                                  : cases[c].sums));
            else
                assert_null(kept.stored);
            kfe_i_gram_keep_free(&kept);
        }
        assert_ok(ctx, kfe_context_set_memory(ctx, 0));
        opened.plain->pinned = 1; /* --gram tiled */
        kfe_i_kept as_it_is;
        assert_ok(ctx, kfe_i_gram_keep(opened.plain, KFE_KEEP_ANY, 0, &as_it_is));
        assert_ptr_equal(as_it_is.gram, opened.plain);
        gram_case_close(&opened);
    }
    gram_data_free(&data);
}

/* Another number of threads: equal up to rounding, and bit by bit where the library promises it. */
static void test_threads(void **state)
{
    kfe_context *ctx = *state;
    gram_data data;
    gram_opened opened;
    int32_t group[SIZE];
    double sums[2][9];
    double *products[2] = {support_random(1, SIZE * RIGHT), support_random(1, SIZE * RIGHT)};
    double *v = support_random(2, SIZE * RIGHT);

    gram_data_make(&data, SIZE);
    assert_ok(ctx, gram_case_open(ctx, &gram_cases[0], &data, 0, &opened));
    for (int i = 0; i < SIZE; i++)
        group[i] = i % 3;
    for (int t = 0; t < 2; t++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, t + 1));
        assert_ok(ctx, kfe_i_gram_times(opened.gram, v, RIGHT, products[t]));
        assert_ok(ctx, kfe_i_gram_group_sums(opened.gram, group, 3, sums[t]));
    }
    assert_memory_equal(products[0], products[1], SIZE * RIGHT * sizeof *v);
    for (int g = 0; g < 9; g++)
        assert_true(fabs(sums[0][g] - sums[1][g]) <= tolerance_sum(2 * SIZE, fabs(sums[0][g])));
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    gram_case_close(&opened);
    gram_data_free(&data);
    free(products[0]);
    free(products[1]);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),     cmocka_unit_test(test_times),
        cmocka_unit_test(test_group_sums),  cmocka_unit_test(test_solve),
        cmocka_unit_test(test_eigen),       cmocka_unit_test(test_forms),
        cmocka_unit_test(test_stored_bits), cmocka_unit_test(test_many_passes),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
