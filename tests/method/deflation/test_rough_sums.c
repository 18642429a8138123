/* SPDX-License-Identifier: Apache-2.0 */
/* Rough sums against plain ones: means, products with targets, the diagonal, and products with the scatter, which are exact near
 * directions that were sharpened, and everywhere if rows are read. Columns that they are no good for are refused. */
#include "method/deflation/rough_sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "data/data.h"
#include "support/fit.h"
#include "support/support.h"

enum { ROWS = 3001, COLS = 37, TARGETS = 3, SOME = 5 };
/* Of products relative to the trace: single precision; double precision. */
#define ROUGH 1e-6
#define EXACT (1e-13)

typedef struct problem {
    kfe_data *data;
    double *x, *y;
    kfe_i_sums plain, sums;
    kfe_i_rough *rough;
} problem;

/* Columns of different means and spreads, some of which are mixtures of others. */
static problem make(kfe_context *ctx, int classes)
{
    problem p = {.x = support_normals(11, (int64_t)ROWS * COLS),
                 .y = support_normals(12, (int64_t)ROWS * TARGETS)};
    static const char *const names[] = {"a", "b", "c"};
    const char *labels[ROWS];

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            p.x[i * COLS + j] = (double)(j % 5) * 3 + (1 + (double)(j % 3)) * p.x[i * COLS + j] +
                                (j > 0 ? 0.5 * p.x[i * COLS] : 0) + (j == 4 ? p.y[i * TARGETS] : 0);
    for (int64_t i = 0; i < ROWS; i++)
        labels[i] = names[i % 7 < 3 ? 0 : i % 7 < 5 ? 1 : 2];
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, p.x, &p.data));
    if (classes)
        assert_ok(ctx, kfe_data_set_labels(ctx, p.data, labels));
    else
        assert_ok(ctx, kfe_data_set_targets(ctx, p.data, TARGETS, p.y));
    return p;
}

static int add_up(kfe_context *ctx, problem *p, kfe_i_rough_form form)
{
    const kfe_i_table *table = &p->data->views[0].table;
    const kfe_i_sum_rows all = {.table = table, .count = ROWS, .target = &p->data->target};
    int usable = 0;

    assert_ok(ctx, kfe_i_sums_begin_with(ctx, COLS, &p->data->target, &p->plain));
    assert_ok(ctx, kfe_i_sums_add(&p->plain, &all));
    assert_ok(ctx, kfe_i_rough_new(ctx, table, &p->data->target, form, &p->rough, &p->sums, &usable));
    return usable;
}

static void release(problem *p)
{
    kfe_i_sums_free(&p->plain);
    kfe_i_sums_free(&p->sums);
    kfe_i_rough_free(p->rough);
    kfe_data_free(p->data);
    free(p->x);
    free(p->y);
}

static double trace_of(const kfe_i_sums *s)
{
    double diagonal[COLS];
    double trace = 0;

    kfe_i_sums_diagonal(s, diagonal);
    for (int64_t j = 0; j < COLS; j++)
        trace += diagonal[j];
    return trace;
}

static void assert_near(const double *a, const double *b, int64_t count, double scale)
{
    for (int64_t i = 0; i < count; i++)
        assert_below(fabs(a[i] - b[i]), scale);
}

/* The largest difference of the products of v (COLS × k), relative to the trace. */
static double error_of(const problem *p, const double *v, int64_t k)
{
    double one[COLS], a[COLS], b[COLS];
    double worst = 0;

    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < COLS; i++)
            one[i] = v[i * k + c];
        kfe_i_sums_times(&p->plain, one, 1, NULL, a);
        kfe_i_rough_times(p->rough, one, b);
        for (int64_t i = 0; i < COLS; i++)
            worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst / trace_of(&p->plain);
}

static void check_sums(const problem *p)
{
    double a[COLS];

    kfe_i_sums_diagonal(&p->plain, a);
    assert_near(a, kfe_i_rough_squares(p->rough), COLS, EXACT * trace_of(&p->plain));
    assert_near(p->plain.mean, p->sums.mean, COLS, 1e-13);
    assert_true(p->sums.rows == ROWS && p->sums.classes == p->plain.classes);
    assert_near(p->plain.class_means, p->sums.class_means, COLS * p->plain.classes, 1e-13);
    assert_near(p->plain.class_rows, p->sums.class_rows, p->plain.classes, DBL_MIN);
    assert_near(p->plain.cross, p->sums.cross, COLS * p->plain.targets, 1e-13 * ROWS * 10);
    assert_near(p->plain.target_mean, p->sums.target_mean, p->plain.targets, 1e-14);
    assert_near(p->plain.target_scatter, p->sums.target_scatter, p->plain.targets * p->plain.targets,
                1e-13 * ROWS);
}

static void test_sums(void **state)
{
    static const kfe_i_rough_form forms[] = {KFE_ROUGH_ROWS, KFE_ROUGH_MATRIX};

    for (int threads = 1; threads <= 3; threads++)
        for (int i = 0; i < 4; i++) {
            assert_ok(*state, kfe_context_set_threads(*state, threads));
            problem p = make(*state, i / 2);
            assert_true(add_up(*state, &p, forms[i % 2]));
            check_sums(&p);
            release(&p);
        }
}

static void test_rows_give_exact_products(void **state)
{
    problem p = make(*state, 0);
    double *v = support_normals(13, (int64_t)COLS * SOME);

    assert_true(add_up(*state, &p, KFE_ROUGH_ROWS));
    assert_below(error_of(&p, v, SOME), EXACT);
    assert_below(error_of(&p, v, 1), EXACT);
    assert_true(kfe_i_rough_distance(p.rough) == 0);
    free(v);
    release(&p);
}

static void test_sharpened_directions(void **state)
{
    problem p = make(*state, 0);
    double *v = support_normals(14, (int64_t)COLS * SOME);
    double *noise = support_normals(15, (int64_t)COLS * SOME);
    double w[SOME * COLS];

    assert_true(add_up(*state, &p, KFE_ROUGH_MATRIX));
    double before = error_of(&p, v, SOME);
    assert_below(before, ROUGH);
    assert_true(before > 1e-11); /* otherwise there would be nothing to sharpen */
    assert_true(kfe_i_rough_distance(p.rough) == 1);
    for (int64_t i = 0; i < SOME; i++)
        for (int64_t j = 0; j < COLS; j++)
            w[i * COLS + j] = v[j * SOME + i];
    assert_ok(*state, kfe_i_rough_sharpen(p.rough, w, SOME));
    assert_below(error_of(&p, v, SOME), EXACT);
    assert_below(kfe_i_rough_distance(p.rough), 1e-14);
    for (int64_t i = 0; i < COLS * SOME; i++)
        v[i] += 1e-5 * noise[i];
    assert_below(error_of(&p, v, SOME), 1e-4 * ROUGH);
    assert_below(kfe_i_rough_distance(p.rough), 1e-4);
    assert_true(kfe_i_rough_distance(p.rough) > 1e-6);
    free(v);
    free(noise);
    release(&p);
}

/* Means far from zero, numbers beyond single precision, and columns that do not vary at all. */
static void test_unsuitable_columns_are_refused(void **state)
{
    for (int c = 0; c < 4; c++) {
        problem p = make(*state, 0);
        for (int64_t i = 0; i < ROWS * COLS; i++) {
            if (c == 0 && i % COLS == 3)
                p.x[i] += 1e6;
            if (c == 1 && i / COLS == 17)
                p.x[i] *= 1e45;
            if (c == 2)
                p.x[i] = 4;
            if (c == 3 && i % COLS == 3)
                p.x[i] = 4;
        }
        assert_int_equal(add_up(*state, &p, KFE_ROUGH_MATRIX), c == 3);
        release(&p);
    }
}

/* pls from rough sums has the features of pls from the rows: rows that are there twice, against weights of two, which a rough
 * scatter does not take. */
static void check_pls(kfe_context *ctx, int64_t rows, int64_t cols, int64_t targets)
{
    double *x = support_normals(21, 2 * rows * cols);
    double *y = support_normals(22, 2 * rows * targets);
    double *weights = malloc((size_t)rows * sizeof *weights);
    kfe_data *once = NULL;
    kfe_data *twice = NULL;

    for (int64_t i = 0; i < rows; i++) {
        weights[i] = 2;
        for (int64_t j = 1; j < cols; j++)
            x[i * cols + j] = x[i * cols + j] * (double)(j % 9 + 1) + 0.8 * x[i * cols + j - 1];
        for (int64_t t = 0; t < targets; t++)
            y[i * targets + t] += x[i * cols + t] + x[i * cols + t + 5] * x[i * cols + 2];
        for (int64_t j = 0; j < cols; j++)
            x[(rows + i) * cols + j] = x[i * cols + j];
        for (int64_t t = 0; t < targets; t++)
            y[(rows + i) * targets + t] = y[i * targets + t];
    }
    assert_ok(ctx, kfe_data_wrap_dense(ctx, rows, cols, cols, x, &once));
    assert_ok(ctx, kfe_data_set_targets(ctx, once, targets, y));
    assert_ok(ctx, kfe_data_set_weights(ctx, once, weights));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2 * rows, cols, cols, x, &twice));
    assert_ok(ctx, kfe_data_set_targets(ctx, twice, targets, y));
    kfe_model *by_rows = support_fit(ctx, "pls", "dim=9", NULL, once);
    kfe_model *by_sums = support_fit(ctx, "pls", "dim=9", NULL, twice);
    kfe_matrix a = support_transform(ctx, by_rows, once);
    kfe_matrix b = support_transform(ctx, by_sums, once);
    for (int64_t j = 0; j < a.cols; j++) { /* the length of a feature is another convention */
        double inner = 0;
        double left = 0;
        double right = 0;
        for (int64_t i = 0; i < rows; i++) {
            inner += a.values[i * a.cols + j] * b.values[i * a.cols + j];
            left += a.values[i * a.cols + j] * a.values[i * a.cols + j];
            right += b.values[i * a.cols + j] * b.values[i * a.cols + j];
        }
        assert_below(1 - inner * inner / (left * right), 1e-13);
    }
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_model_free(by_rows);
    kfe_model_free(by_sums);
    kfe_data_free(once);
    kfe_data_free(twice);
    free(weights);
    free(x);
    free(y);
}

static void test_pls(void **state)
{
    check_pls(*state, 3000, 300, 2); /* the matrix */
    check_pls(*state, 300, 900, 1);  /* the rows */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_sums),
        with_context(test_rows_give_exact_products),
        with_context(test_sharpened_directions),
        with_context(test_unsuitable_columns_are_refused),
        with_context(test_pls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
