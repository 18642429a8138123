/* SPDX-License-Identifier: Apache-2.0 */
/* The average gradient outer product against finite differences of the expansion itself. */
#include "support/support.h"

#include <math.h>

#include "kernel/expansion.h"
#include "kernel/tile/gradient.h"
#include "support/fit.h"
#include "support/points.h"

typedef struct shape {
    int64_t rows, support, cols, outputs;
    int weighted;
} shape;

/* Of these, the second and third have so many columns or outputs that no gradients are formed (gradient_pairs.c). */
static const shape shapes[] = {
    {37, 300, 5, 2, 0}, {37, 20, 30, 12, 0}, {70, 9, 6, 40, 1}, {37, 300, 5, 2, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* f (rows × outputs) at the rows moved by `step` along column `col`. */
static void move_and_expand(kfe_context *ctx, const kfe_i_expansion_sum *f, const kfe_i_table *rows,
                            int64_t col, double step, double *out)
{
    kfe_i_table moved;

    assert_ok(ctx, kfe_i_table_new_dense(ctx, rows->rows, rows->cols, &moved));
    for (int64_t i = 0; i < rows->rows; i++) {
        kfe_i_table_dense_row(rows, i, moved.values + i * moved.stride);
        moved.values[i * moved.stride + col] += step;
    }
    assert_ok(ctx, kfe_i_expand(ctx, f->kernels, &moved, f->support, f->coefficients, f->k, out));
    kfe_i_table_free(&moved);
}

/* gradients[(j·outputs + c)·cols + a] by central differences, times the roots of the rows' weights. */
static double *differences(kfe_context *ctx, const kfe_i_expansion_sum *f, const kfe_i_table *rows)
{
    double *gradients = calloc((size_t)(rows->rows * f->k * rows->cols), sizeof *gradients);
    double *up = calloc((size_t)(rows->rows * f->k), sizeof *up);
    double *down = calloc((size_t)(rows->rows * f->k), sizeof *down);
    double step = 1e-5;

    for (int64_t a = 0; a < rows->cols; a++) {
        move_and_expand(ctx, f, rows, a, step, up);
        move_and_expand(ctx, f, rows, a, -step, down);
        for (int64_t p = 0; p < rows->rows * f->k; p++)
            gradients[p * rows->cols + a] =
                sqrt(kfe_i_row_weight(rows, p / f->k)) * (up[p] - down[p]) / (2 * step);
    }
    free(up);
    free(down);
    return gradients;
}

static void compare(const char *text, const double *gradients, int64_t count, int64_t cols, double mass,
                    const double *full, const double *diagonal)
{
    for (int64_t a = 0; a < cols; a++)
        for (int64_t b = 0; b < cols; b++) {
            double expected = 0;
            double size = 0;
            for (int64_t p = 0; p < count; p++) {
                expected += gradients[p * cols + a] * gradients[p * cols + b] / mass;
                size += fabs(gradients[p * cols + a] * gradients[p * cols + b]) / mass;
            }
            if (!(fabs(full[a * cols + b] - expected) <= 1e-7 * size))
                fail_msg("%s, %d columns, (%d, %d): %.12g, differences give %.12g", text, (int)cols, (int)a,
                         (int)b, full[a * cols + b], expected);
            if (a == b && !(fabs(diagonal[a] - full[a * cols + a]) <= 1e-13 * size))
                fail_msg("%s, %d columns: the diagonal differs at %d", text, (int)cols, (int)a);
        }
}

/* `first` and `second` are kernels of a sum; second NULL: one kernel. */
static void make_kernels(kfe_context *ctx, const char *first, const char *second, kfe_i_kernel_list *kernels)
{
    kfe_i_kernel_list_init(ctx, kernels);
    for (int m = 0; m < (second ? 2 : 1); m++) {
        kfe_i_kernel kernel;
        assert_ok(ctx, kfe_i_kernel_parse(ctx, m ? second : first, &kernel));
        assert_ok(ctx, kfe_i_kernel_list_add(kernels, &kernel));
    }
}

static double *normal_numbers(int64_t count)
{
    uint64_t random = 3;
    double *values = malloc((size_t)count * sizeof *values);

    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        values[i] = support_normal(&random);
    return values;
}

static void check_shape(kfe_context *ctx, const shape *s, const char *first, const char *second, int sparse)
{
    support_points rows;
    support_points support;
    kfe_i_kernel_list kernels;
    double *coefficients = normal_numbers(s->support * s->outputs);
    double *weights = normal_numbers(s->rows);
    double *full = normal_numbers(s->cols * s->cols);
    double *diagonal = normal_numbers(s->cols);
    double mass = 0;

    make_kernels(ctx, first, second, &kernels);
    support_points_make(&rows, 4, s->rows, s->cols, 0);
    support_points_make(&support, 5, s->support, s->cols, 0);
    kfe_data *row_data = support_points_data(ctx, &rows, sparse);
    kfe_data *support_data = support_points_data(ctx, &support, sparse);
    kfe_i_expansion_sum f = {&kernels, &support_data->views[0].table, coefficients, s->outputs};
    kfe_i_table at = row_data->views[0].table;
    for (int64_t i = 0; i < s->rows; i++) {
        weights[i] = s->weighted ? fabs(weights[i]) : 1;
        mass += weights[i];
    }
    at.weights = s->weighted ? weights : NULL;
    double *gradients = differences(ctx, &f, &at);
    assert_ok(ctx, kfe_i_agop(ctx, &f, &at, 0, full));
    assert_ok(ctx, kfe_i_agop(ctx, &f, &at, 1, diagonal));
    compare(first, gradients, s->rows * s->outputs, s->cols, mass, full, diagonal);
    free(gradients);
    free(coefficients);
    free(weights);
    free(full);
    free(diagonal);
    kfe_data_free(row_data);
    kfe_data_free(support_data);
    support_points_free(&rows);
    support_points_free(&support);
    kfe_i_kernel_list_free(&kernels);
}

static void check_agop(kfe_context *ctx, const char *first, const char *second, int sparse)
{
    for (int s = 0; s < SHAPES; s++)
        check_shape(ctx, &shapes[s], first, second, sparse);
}

static void test_agop_of_every_kernel(void **state)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        check_agop(*state, "linear:weight=1.5", NULL, sparse);
        check_agop(*state, "poly:degree=3,gamma=0.5", NULL, sparse);
        check_agop(*state, "rbf:gamma=0.3", NULL, sparse);
        check_agop(*state, "matern:sigma=2", NULL, sparse);
        check_agop(*state, "matern:sigma=2,nu=2.5,weight=0.2", NULL, sparse);
        check_agop(*state, "rbf:gamma=0.3", "poly:degree=2,weight=0.1", sparse);
    }
}

/* exp has a kink at every support example, so that no row may be near one. */
static void test_agop_of_exp(void **state)
{
    kfe_context *ctx = *state;
    double support[] = {0, 0, 4, 0, 0, 4};
    double row[] = {1, 1};
    double coefficients[] = {1, -2, 0.5};
    double agop[4];
    double g[2] = {0, 0};
    kfe_i_table at = {.kind = KFE_TABLE_DENSE, .rows = 1, .cols = 2, .stride = 2, .values = row};
    kfe_i_table s = {.kind = KFE_TABLE_DENSE, .rows = 3, .cols = 2, .stride = 2, .values = support};
    kfe_i_kernel_list kernels;
    kfe_i_kernel kernel;

    for (int i = 0; i < 3; i++) {
        double x = row[0] - support[2 * i];
        double y = row[1] - support[2 * i + 1];
        double r = hypot(x, y);
        g[0] -= coefficients[i] * exp(-r / 2) / (2 * r) * x;
        g[1] -= coefficients[i] * exp(-r / 2) / (2 * r) * y;
    }
    kfe_i_kernel_list_init(ctx, &kernels);
    assert_ok(ctx, kfe_i_kernel_parse(ctx, "exp:sigma=2", &kernel));
    assert_ok(ctx, kfe_i_kernel_list_add(&kernels, &kernel));
    assert_ok(ctx, kfe_i_agop(ctx, &(kfe_i_expansion_sum){&kernels, &s, coefficients, 1}, &at, 0, agop));
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            assert_true(fabs(agop[2 * a + b] - g[a] * g[b]) < 1e-14);
    kfe_i_kernel_list_free(&kernels);
}

/* An example adds nothing to the gradient at itself or at a copy of itself. */
static void test_equal_points_are_harmless(void **state)
{
    kfe_context *ctx = *state;
    double points[] = {3, 1, 3, 1};
    double coefficients[] = {1, 1};
    double agop[4];
    kfe_i_table t = {.kind = KFE_TABLE_DENSE, .rows = 2, .cols = 2, .stride = 2, .values = points};
    kfe_i_kernel_list kernels;
    kfe_i_kernel kernel;

    kfe_i_kernel_list_init(ctx, &kernels);
    assert_ok(ctx, kfe_i_kernel_parse(ctx, "exp:sigma=2", &kernel));
    assert_ok(ctx, kfe_i_kernel_list_add(&kernels, &kernel));
    assert_ok(ctx, kfe_i_agop(ctx, &(kfe_i_expansion_sum){&kernels, &t, coefficients, 1}, &t, 0, agop));
    for (int p = 0; p < 4; p++)
        assert_true(agop[p] == 0);
    kfe_i_kernel_list_free(&kernels);
}

/* f = a·(κ(·, s) − κ(·, s + h)) for a tiny h and a large a, far from the mean of the support: what is left of squares of a is smaller than their rounding, so that the sums
 * must be made of gradients, however many outputs there are. */
static void test_small_differences_keep_their_digits(void **state)
{
    enum { COPIES = 60, COLS = 6 };
    kfe_context *ctx = *state;
    double h = 1e-6;
    double support[3 * COLS] = {0.5, 0, 0, 0, 0, 0, 0.5 + h, 0, 0, 0, 0, 0, -6, 3, 9, 6, 3, 3};
    double row[] = {1, 0.25, -0.5, 0.125, 0, 0.5};
    double coefficients[3 * COPIES] = {0};
    double agop[COLS * COLS];
    double g[COLS];
    kfe_i_table at = {.kind = KFE_TABLE_DENSE, .rows = 1, .cols = COLS, .stride = COLS, .values = row};
    kfe_i_table s = {.kind = KFE_TABLE_DENSE, .rows = 3, .cols = COLS, .stride = COLS, .values = support};
    kfe_i_kernel_list kernels;

    for (int c = 0; c < COPIES; c++) {
        coefficients[c] = 1 / h;
        coefficients[COPIES + c] = -1 / h;
    }
    for (int a = 0; a < COLS; a++) {
        long double parts[2];
        for (int i = 0; i < 2; i++) {
            long double square = 0;
            for (int b = 0; b < COLS; b++)
                square += powl((long double)row[b] - support[COLS * i + b], 2);
            parts[i] = -2 * expl(-square) * ((long double)row[a] - support[COLS * i + a]);
        }
        g[a] = (double)((parts[0] - parts[1]) / h);
    }
    make_kernels(ctx, "rbf:gamma=1", NULL, &kernels);
    assert_ok(ctx, kfe_i_agop(ctx, &(kfe_i_expansion_sum){&kernels, &s, coefficients, COPIES}, &at, 0, agop));
    for (int a = 0; a < COLS; a++)
        for (int b = 0; b < COLS; b++)
            if (!(fabs(agop[COLS * a + b] - COPIES * g[a] * g[b]) <= 1e-7 * COPIES * fabs(g[0] * g[0])))
                fail_msg("(%d, %d): %.12g instead of %.12g", a, b, agop[COLS * a + b], COPIES * g[a] * g[b]);
    kfe_i_kernel_list_free(&kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_agop_of_every_kernel),
        with_context(test_agop_of_exp),
        with_context(test_equal_points_are_harmless),
        with_context(test_small_differences_keep_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
