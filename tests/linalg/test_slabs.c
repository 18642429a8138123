/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over slabs of rows and the products of one slab, against plain loops; columns of operators slab by slab, against whole ones. */
#include "support/support.h"

#include <math.h>

#include "gram/column_slabs.h"
#include "linalg/slabs.h"
#include "support/gram_cases.h"
#include "support/tolerance.h"

/* ---- one slab ---- */

static void check_products(int64_t rows, int64_t a_count, int64_t b_count)
{
    int64_t stride = b_count + 1;
    double *a = support_random(1, rows * a_count);
    double *b = support_random(2, rows * b_count);
    double *before = support_random(3, a_count * stride);
    double *out = support_random(3, a_count * stride);

    kfe_i_slab_products(rows, a_count, a, b_count, b, out, stride);
    for (int64_t i = 0; i < a_count; i++)
        for (int64_t j = 0; j < stride; j++) {
            long double sum = before[i * stride + j];
            for (int64_t l = 0; j < b_count && l < rows; l++)
                sum += (long double)a[i * rows + l] * b[j * rows + l];
            assert_true(fabs((double)(sum - out[i * stride + j])) <= tolerance_sum(rows, (double)rows));
        }
    free(a);
    free(b);
    free(before);
    free(out);
}

static void check_vectors(int64_t rows, int64_t count)
{
    double *a = support_random(4, rows * count);
    double *v = support_random(5, rows);
    double *kept = support_random(5, rows);
    double *weights = support_random(6, count);
    double *out = calloc((size_t)count, sizeof *out);
    float *narrow = malloc((size_t)(rows * count) * sizeof *narrow);

    for (int64_t c = 0; c < count; c++) {
        double square = kfe_i_slab_narrow(rows, a + c * rows, narrow + c * rows);
        long double sum = 0;
        for (int64_t i = 0; i < rows; i++) {
            assert_true(narrow[c * rows + i] == (float)a[c * rows + i]);
            sum += (long double)narrow[c * rows + i] * narrow[c * rows + i];
        }
        assert_true(fabs((double)sum - square) <= tolerance_sum(rows, (double)rows));
    }
    kfe_i_slab_dots(rows, count, narrow, v, out);
    kfe_i_slab_subtract(rows, count, a, weights, v);
    for (int64_t c = 0; c < count; c++) {
        long double sum = 0;
        for (int64_t i = 0; i < rows; i++)
            sum += (long double)narrow[c * rows + i] * kept[i];
        assert_true(fabs((double)sum - out[c]) <= tolerance_sum(rows, (double)rows));
    }
    for (int64_t i = 0; i < rows; i++) {
        long double left = kept[i];
        for (int64_t c = 0; c < count; c++)
            left -= (long double)weights[c] * a[c * rows + i];
        assert_true(fabs((double)left - v[i]) <= tolerance_sum(count, (double)(count + 1)));
    }
    free(a);
    free(v);
    free(kept);
    free(weights);
    free(out);
    free(narrow);
}

static void test_products(void **state)
{
    (void)state;
    for (int64_t rows = 8; rows <= 40; rows += 8)
        for (int64_t a_count = 0; a_count <= 9; a_count++) {
            for (int64_t b_count = 0; b_count <= 7; b_count++)
                check_products(rows, a_count, b_count);
            check_vectors(rows, a_count);
        }
}

/* ---- passes ---- */

enum { WIDTH = 3 };

typedef struct pass_job {
    kfe_i_slabs slabs;
    const double *values;
    int *seen; /* how often each row was */
} pass_job;

static void add_rows(const void *user, int64_t s, int thread, double *sums)
{
    const pass_job *job = user;

    (void)thread;
    for (int64_t i = s * job->slabs.rows; i < s * job->slabs.rows + kfe_i_slab_used(&job->slabs, s); i++) {
        job->seen[i]++;
        for (int w = 0; w < WIDTH; w++)
            sums[w] += job->values[i] * (w + 1);
    }
}

/* Every row is in one slab, and sums are the same bits for any number of threads. */
static void test_passes(void **state)
{
    static const int64_t sizes[] = {0, 1, 5, 127, 128, 129, 4099, 61441, 400003};

    (void)state;
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
        int64_t n = sizes[z];
        double *values = support_random(7, n + 1);
        pass_job job = {kfe_i_slabs_of(n), values, calloc((size_t)n + 1, sizeof *job.seen)};
        double *room = malloc((size_t)(job.slabs.groups * WIDTH + 1) * sizeof *room);
        double first[WIDTH];
        double out[WIDTH];
        long double sum = 0;

        assert_true(job.slabs.rows % 8 == 0 && job.slabs.rows <= KFE_SLAB_ROWS);
        for (int threads = 1; threads <= 7; threads++) {
            kfe_i_each_slab(&job.slabs, threads, add_rows, &job, WIDTH, room, threads == 1 ? first : out);
            if (threads > 1)
                assert_memory_equal(first, out, sizeof out);
        }
        for (int64_t i = 0; i < n; i++) {
            assert_int_equal(job.seen[i], 7);
            sum += values[i];
        }
        for (int w = 0; w < WIDTH; w++)
            assert_true(fabs((double)sum * (w + 1) - first[w]) <= tolerance_sum(n + 1, (double)n + 1));
        free(values);
        free(job.seen);
        free(room);
    }
}

/* ---- columns ---- */

static void check_columns(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_row_part *part,
                          double tolerance)
{
    static const int64_t index[] = {5, 0, 149, 5, 77};
    enum { COUNT = sizeof index / sizeof *index };
    kfe_i_slabs slabs = kfe_i_slabs_of(gram->size);
    kfe_i_column_slabs columns = {0};
    double *expected = malloc((size_t)(gram->size * COUNT) * sizeof *expected);
    double *room = malloc((size_t)(gram->size * COUNT) * sizeof *room);
    double *out = malloc((size_t)(slabs.rows * COUNT) * sizeof *out);

    assert_int_equal(slabs.count, 2);
    assert_ok(ctx, kfe_i_gram_columns(gram, index, COUNT, expected));
    assert_ok(ctx, kfe_i_column_slabs_begin(part, index, COUNT, 2, room, &columns));
    for (int64_t s = 0; s < slabs.count; s++) {
        kfe_i_column_slab(&columns, &slabs, s, (int)s, out);
        for (int64_t c = 0; c < COUNT; c++)
            for (int64_t i = 0; i < slabs.rows; i++) {
                int64_t row = s * slabs.rows + i;
                double value = row < gram->size ? expected[row * COUNT + c] : 0;
                assert_true(fabs(out[c * slabs.rows + i] - value) <= tolerance);
            }
    }
    kfe_i_column_slabs_end(&columns);
    free(expected);
    free(room);
    free(out);
}

/* Of every form of the operator, plain and centred. */
static void test_columns(void **state)
{
    gram_data data;
    int with_slabs = 0;

    gram_data_make(&data, 150);
    for (const gram_case *one = gram_cases; one->name; one++)
        for (int centred = 0; centred < 2; centred++) {
            gram_opened opened;
            assert_ok(*state, gram_case_open(*state, one, &data, centred, &opened));
            kfe_i_row_part part = kfe_i_all_rows(opened.gram);
            with_slabs += part.kernel != NULL;
            check_columns(*state, opened.gram, &part, 2 * one->slack(&data));
            gram_case_close(&opened);
        }
    assert_int_equal(with_slabs, 3); /* dense, sparse and strings */
    gram_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_passes),
        with_context(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
