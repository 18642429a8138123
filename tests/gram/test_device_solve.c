/* SPDX-License-Identifier: Apache-2.0 */
/* Systems and eigenvectors on a device: their residuals, with products of the CPU. */
#include "support/device.h"

#include <stdio.h>

#include "gram/form.h"
#include "gram/solve/solve.h"

enum { ROWS = 83, COLS = 7, VECTORS = 5 };

/* ‖(G + λI)x − r‖ relative to ‖r‖, with products of the CPU. */
static double residual_of(const support_pair *p, const kfe_i_gram *gram, double ridge, const double *right,
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
    support_pair p;
    kfe_i_gram *on_cpu = NULL;
    kfe_i_gram *on_device = NULL;
    double *right = support_random(8, ROWS * VECTORS);
    double *x = calloc(ROWS * VECTORS, sizeof *x);
    double reached = 1;

    support_points_make(&points, 5, ROWS, COLS, 0);
    support_pair_open(ctx, "rbf:gamma=0.5", &points, 0, KFE_GRAM_AUTO, &p);
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
    support_pair_close(&p);
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
    if (strcmp(support_device_name(), "host") != 0)
        skip(); /* other devices need more for themselves */
    limit_memory(72000);
    check_solve(*state, 0, "Cholesky in single precision on host");
    check_solve(*state, 1, "Cholesky in single precision on host");
    limit_memory(20000);
    check_solve(*state, 0, "runs on the CPU");
    limit_memory(0);
}

/* The operator for many passes on a device with so much memory: its form, products and entries. */
static void check_kept(kfe_context *ctx, const char *kernel, int64_t cols, int64_t bytes, const char *form)
{
    support_points points;
    support_pair p;
    kfe_i_gram *kept = NULL;
    double *v = support_random(3, ROWS * VECTORS);
    support_results product = support_results_make(ROWS * VECTORS);
    support_results part = support_results_make(20 * 30);

    limit_memory(bytes);
    support_points_make(&points, 5, ROWS, cols, 1);
    support_pair_open(ctx, kernel, &points, 0, KFE_GRAM_AUTO, &p);
    assert_ok(ctx, kfe_i_device_keep(p.device, 0, 0, &kept));
    assert_non_null(kept);
    if (!strstr(kept->form->name, form))
        fail_msg("%s with %lld bytes: %s", kernel, (long long)bytes, kept->form->name);
    assert_ok(ctx, kfe_i_gram_times(p.cpu, v, VECTORS, product.cpu));
    assert_ok(ctx, kfe_i_gram_times(kept, v, VECTORS, product.device));
    support_results_check(form, product, ROWS * VECTORS, ROWS * support_pair_slack(&p, 1));
    assert_ok(ctx, kfe_i_gram_block(p.cpu, 7, 20, 45, 30, part.cpu, 30));
    assert_ok(ctx, kfe_i_gram_block(kept, 7, 20, 45, 30, part.device, 30));
    support_results_check(form, part, 20 * 30, support_pair_slack(&p, 1));
    kfe_i_gram_free(kept);
    support_pair_close(&p);
    support_points_free(&points);
    limit_memory(0);
    free(v);
}

/* The examples take 5 to 15 kB, or 175 kB with 131 columns; 50 kB are for vectors and panels. Rows are kept unless computing them takes no longer than reading them. */
static void test_as_many_rows_as_fit_are_kept(void **state)
{
    static const char *const kernels[] = {"poly:degree=2,gamma=0.5", "laplacian:gamma=0.3",
                                          "rbf:gamma=0.5 poly:degree=2,gamma=0.5"};

    if (strcmp(support_device_name(), "host") != 0)
        skip();
    for (int i = 0; i < 3; i++) {
        check_kept(*state, kernels[i], COLS, 200000, "stored on the device in double");
        check_kept(*state, kernels[i], COLS, 105000, "stored on the device in single");
        check_kept(*state, kernels[i], COLS, 78000, "some rows stored");
        check_kept(*state, kernels[i], COLS, 55000, "not stored");
    }
    check_kept(*state, "rbf:gamma=0.5", COLS, 78000, "not stored");
    check_kept(*state, "rbf:gamma=0.5", 131, 245000, "some rows stored");
}

static void test_an_indefinite_matrix_is_refused(void **state)
{
    support_points points;
    support_pair p;
    double *right = support_random(8, ROWS);
    double x[ROWS];

    support_points_make(&points, 5, ROWS, COLS, 0);
    support_pair_open(*state, "sigmoid:gamma=1,coef0=-1", &points, 0, KFE_GRAM_AUTO, &p);
    assert_fails(*state, KFE_ENUMERIC, "not positive definite",
                 kfe_i_gram_solve(p.device, 1e-6, right, 1, KFE_TOLERANCE, x, NULL));
    support_pair_close(&p);
    free(right);
    support_points_free(&points);
}

/* ‖Gv − λv‖ for unit vectors v in the columns of `vectors`, with products of the CPU. */
static void check_eigenpairs(const support_pair *p, const kfe_i_gram *gram, int64_t k, const double *values,
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
        support_assert_near("the length of an eigenvector", sqrt(length), 1, 1e-12);
        support_assert_near("the residual of an eigenvector", sqrt(residual), 0,
                            4 * KFE_TOLERANCE * values[0]);
    }
    free(product);
}

static void check_eigen(kfe_context *ctx, int64_t rows, int64_t k, int centred)
{
    support_points points;
    support_pair p;
    kfe_i_gram *on_cpu = NULL;
    kfe_i_gram *on_device = NULL;
    double *values = calloc((size_t)k, sizeof *values);
    double *vectors = calloc((size_t)(rows * k), sizeof *vectors);

    support_points_make(&points, 9, rows, COLS, 0);
    support_pair_open(ctx, "rbf:gamma=0.2", &points, 0, KFE_GRAM_AUTO, &p);
    assert_ok(ctx, kfe_i_gram_centred(ctx, p.cpu, &on_cpu));
    assert_ok(ctx, kfe_i_gram_centred(ctx, p.device, &on_device));
    assert_ok(ctx, kfe_i_gram_eigen(centred ? on_device : p.device, k, KFE_TOLERANCE, values, vectors));
    check_eigenpairs(&p, centred ? on_cpu : p.cpu, k, values, vectors);
    kfe_i_gram_free(on_cpu);
    kfe_i_gram_free(on_device);
    support_pair_close(&p);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_systems_are_solved_on_the_device),
        with_context(test_less_memory_means_single_precision_and_then_the_cpu),
        with_context(test_as_many_rows_as_fit_are_kept),
        with_context(test_an_indefinite_matrix_is_refused),
        with_context(test_eigenvectors_are_found_on_the_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
