/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and reference solutions for the tests of the solver and the eigenvectors. */
#include "support/engine.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>

#include "support/fit.h"
#include "support/sweep.h"

const engine_case engine_cases[] = {
    {"ordinary", ENGINE_RBF, 0.2, ENGINE_CLOUD, 5},
    {"duplicates", ENGINE_RBF, 0.2, ENGINE_DUPLICATES, 4},
    {"one column", ENGINE_RBF, 1, ENGINE_CLOUD, 1},
    {"nearly the identity", ENGINE_RBF, 1.5, ENGINE_CLOUD, 12},
    {"the identity", ENGINE_RBF, 1e7, ENGINE_CLOUD, 6},
    {"nearly constant", ENGINE_RBF, 1e-9, ENGINE_CLOUD, 5},
    {"far away", ENGINE_RBF, 0.2, ENGINE_FAR, 3},
    {"low rank", ENGINE_LINEAR, 0, ENGINE_CLOUD, 7},
    {"groups", ENGINE_RBF, 1000, ENGINE_GROUPS, 1},
    {"indefinite", ENGINE_SIGMOID, 0.3, ENGINE_CLOUD, 4},
    {"pairs", ENGINE_RBF, 1000, ENGINE_PAIRS, 1},
    {"zero", ENGINE_LINEAR, 0, ENGINE_ZEROS, 3},
    {NULL, ENGINE_RBF, 0, ENGINE_CLOUD, 0},
};

const engine_case *engine_case_named(const char *name)
{
    for (const engine_case *one = engine_cases; one->name; one++)
        if (strcmp(one->name, name) == 0)
            return one;
    fail_msg("there is no case %s", name);
    return NULL;
}

/* ---- points ---- */

/* The point of the cloud, or the position on the line, that example i takes. */
static int64_t place_of(engine_shape shape, int64_t i)
{
    switch (shape) {
    case ENGINE_DUPLICATES:
        return i / 3;
    case ENGINE_GROUPS:
        return i < 200 ? i % 5 : i;
    case ENGINE_PAIRS:
        return i < 200 ? i / 2 : i;
    default:
        return i;
    }
}

static double *make_points(const engine_case *one, int64_t n)
{
    double *cloud = support_normals(5, n * one->cols);
    double *values = support_normals(6, n * one->cols);
    int on_line = one->shape == ENGINE_GROUPS || one->shape == ENGINE_PAIRS;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < one->cols; j++) {
            int64_t place = place_of(one->shape, i);
            double value = on_line ? (double)place : cloud[place * one->cols + j];
            value += one->shape == ENGINE_FAR ? 1e4 : 0;
            values[i * one->cols + j] = one->shape == ENGINE_ZEROS ? 0 : value;
        }
    free(cloud);
    return values;
}

/* ---- the operator ---- */

static void kernel_text(const engine_case *one, char *out, size_t size)
{
    if (one->kernel == ENGINE_LINEAR)
        snprintf(out, size, "linear");
    else
        snprintf(out, size, "%s:gamma=%.17g", one->kernel == ENGINE_RBF ? "rbf" : "sigmoid", one->gamma);
}

kfe_status engine_open(kfe_context *ctx, const engine_case *one, int64_t n, int centred, engine_problem *out)
{
    kfe_i_kernel kernel = {0};
    char text[64];
    kfe_status status;

    memset(out, 0, sizeof *out);
    out->origin = one;
    out->n = n;
    out->values = make_points(one, n);
    out->table = (kfe_i_table){
        .kind = KFE_TABLE_DENSE, .rows = n, .cols = one->cols, .stride = one->cols, .values = out->values};
    kfe_i_kernel_list_init(ctx, &out->kernels);
    kernel_text(one, text, sizeof text);
    status = kfe_i_kernel_parse(ctx, text, &kernel);
    if (status == KFE_OK)
        status = kfe_i_kernel_list_add(&out->kernels, &kernel);
    if (status == KFE_OK)
        status = kfe_i_gram_open(ctx, &out->kernels, &out->table, KFE_GRAM_AUTO, &out->plain);
    if (status == KFE_OK && centred)
        status = kfe_i_gram_centred(ctx, out->plain, &out->centred);
    out->gram = centred ? out->centred : out->plain;
    return status;
}

void engine_close(engine_problem *problem)
{
    kfe_i_gram_free(problem->centred);
    kfe_i_gram_free(problem->plain);
    kfe_i_kernel_list_free(&problem->kernels);
    free(problem->values);
    memset(problem, 0, sizeof *problem);
}

/* ---- the explicit matrix ---- */

static double entry(const engine_case *one, const double *x, const double *y)
{
    double dot = 0;
    double distance = 0;

    for (int64_t j = 0; j < one->cols; j++) {
        dot += x[j] * y[j];
        distance += (x[j] - y[j]) * (x[j] - y[j]);
    }
    if (one->kernel == ENGINE_RBF)
        return exp(-one->gamma * distance);
    return one->kernel == ENGINE_LINEAR ? dot : tanh(one->gamma * dot);
}

double *engine_matrix(const engine_problem *problem, int centred)
{
    int64_t n = problem->n;
    int64_t cols = problem->origin->cols;
    double *matrix = malloc((size_t)(n * n) * sizeof *matrix);

    assert_non_null(matrix);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            matrix[i * n + j] = matrix[j * n + i] =
                entry(problem->origin, problem->values + i * cols, problem->values + j * cols);
    if (centred)
        support_centre_kernel(n, matrix);
    return matrix;
}

double *engine_product(int64_t n, const double *matrix, double ridge, const double *v, int64_t k)
{
    double *out = malloc((size_t)(n * k) * sizeof *out);

    assert_non_null(out);
    memcpy(out, v, (size_t)(n * k) * sizeof *out);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)n, (blasint)k, (blasint)n, 1, matrix,
                (blasint)n, v, (blasint)k, ridge, out, (blasint)k);
    return out;
}

double engine_largest_column(int64_t n, int64_t k, const double *block)
{
    double largest = 0;

    for (int64_t j = 0; j < k; j++)
        largest = fmax(largest, cblas_dnrm2((blasint)n, block + j, (blasint)k));
    return largest;
}

double engine_orthonormality(int64_t n, int64_t k, const double *v)
{
    double largest = 0;

    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b <= a; b++)
            largest = fmax(largest, fabs(cblas_ddot((blasint)n, v + a, (blasint)k, v + b, (blasint)k) -
                                         (a == b ? 1 : 0)));
    return largest;
}

/* ---- cancellation and memory ---- */

int engine_stop_asked(void *user)
{
    engine_stop *stop = user;
    return ++stop->asked == stop->stop_at;
}

kfe_status engine_run_watched(engine_run_fn run, support_allocator *allocator, engine_stop *stop,
                              int64_t memory, double tolerance)
{
    kfe_status status = support_use_with(allocator, run, &(engine_watched){stop, memory, tolerance});

    assert_int_equal(allocator->live, 0);
    return status;
}

void engine_check_iterations_do_not_allocate(engine_run_fn run, int64_t memory, double loose, double tight)
{
    support_allocator first = {0};
    support_allocator second = {0};
    engine_stop few = {0};
    engine_stop many = {0};

    assert_int_equal(engine_run_watched(run, &first, &few, memory, loose), KFE_OK);
    assert_int_equal(engine_run_watched(run, &second, &many, memory, tight), KFE_OK);
    assert_true(many.asked > few.asked);
    assert_int_equal(first.calls, second.calls);
}

double engine_number_after(const char *log, const char *text)
{
    const char *place = strstr(log, text);
    return place ? strtod(place + strlen(text), NULL) : -1;
}
