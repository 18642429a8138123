/* SPDX-License-Identifier: Apache-2.0 */
/* Random dense and sparse points for the tests of kernels and operators. */
#include "support/points.h"

#include "core/rng.h"

enum { GAP = 3 };

static void *allocate(int64_t count, size_t size)
{
    void *block = calloc((size_t)count + 1, size);
    if (!block)
        fail_msg("out of memory");
    return block;
}

static double draw_entry(kfe_i_rng *rng, int nonnegative)
{
    double value = kfe_i_rng_normal(rng);

    if (kfe_i_rng_uniform(rng) < 0.5)
        return 0;
    return nonnegative && value < 0 ? -value : value;
}

static void make_degenerate(support_points *points)
{
    for (int64_t i = 0; points->cols >= 3 && i < points->rows; i++)
        points->values[i * points->stride + 1] = 0;
    for (int64_t j = 0; j < points->cols; j++) {
        if (points->rows > 1)
            points->values[points->stride + j] = 0;
        if (points->rows > 2)
            points->values[2 * points->stride + j] = points->values[j];
    }
}

void support_points_make(support_points *out, uint64_t seed, int64_t rows, int64_t cols, int nonnegative)
{
    kfe_i_rng rng;

    memset(out, 0, sizeof *out);
    kfe_i_rng_init(&rng, seed, 1);
    out->rows = rows;
    out->cols = cols;
    out->stride = cols + GAP;
    out->values = allocate(rows * out->stride, sizeof *out->values);
    out->row_start = allocate(rows + 1, sizeof *out->row_start);
    out->columns = allocate(rows * cols, sizeof *out->columns);
    out->entries = allocate(rows * cols, sizeof *out->entries);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < out->stride; j++)
            out->values[i * out->stride + j] = j < cols ? draw_entry(&rng, nonnegative) : -1e300;
    make_degenerate(out);
    support_points_update(out);
}

void support_points_update(support_points *points)
{
    int64_t filled = 0;

    for (int64_t i = 0; i < points->rows; i++) {
        points->row_start[i] = filled;
        for (int64_t j = 0; j < points->cols; j++) {
            double value = points->values[i * points->stride + j];
            points->columns[filled] = (int32_t)j;
            points->entries[filled] = value;
            filled += value != 0;
        }
    }
    points->row_start[points->rows] = filled;
}

void support_points_free(support_points *points)
{
    free(points->values);
    free(points->row_start);
    free(points->columns);
    free(points->entries);
    memset(points, 0, sizeof *points);
}

const double *support_points_row(const support_points *points, int64_t row)
{
    return points->values + row * points->stride;
}

kfe_i_table support_points_table(const support_points *points, int sparse)
{
    kfe_i_table table = {.kind = sparse ? KFE_TABLE_CSR : KFE_TABLE_DENSE,
                         .rows = points->rows,
                         .cols = points->cols,
                         .values = sparse ? points->entries : points->values,
                         .stride = sparse ? 0 : points->stride,
                         .row_start = sparse ? points->row_start : NULL,
                         .columns = sparse ? points->columns : NULL};
    return table;
}

kfe_data *support_points_data(kfe_context *ctx, const support_points *points, int sparse)
{
    kfe_data *data = NULL;

    if (sparse)
        assert_ok(ctx, kfe_data_wrap_csr(ctx, points->rows, points->cols, points->row_start, points->columns,
                                         points->entries, &data));
    else
        assert_ok(
            ctx, kfe_data_wrap_dense(ctx, points->rows, points->cols, points->stride, points->values, &data));
    return data;
}

int support_single_setup(void **state)
{
    if (support_context_setup(state) != 0 || kfe_context_set_threads(*state, 1) != KFE_OK)
        return -1;
    kfe_i_threads_enter(*state);
    return 0;
}

double *support_random(uint64_t seed, int64_t count)
{
    double *values = allocate(count, sizeof *values);
    kfe_i_rng rng;

    kfe_i_rng_init(&rng, seed, 2);
    for (int64_t i = 0; i < count; i++)
        values[i] = 2 * kfe_i_rng_uniform(&rng) - 1;
    return values;
}

long double support_squared_distance(const double *x, const double *y, int64_t cols)
{
    long double sum = 0;
    for (int64_t j = 0; j < cols; j++)
        sum += ((long double)x[j] - y[j]) * ((long double)x[j] - y[j]);
    return sum;
}

double *support_points_kernel(kfe_context *ctx, const char *kernel, const support_points *points, int sparse,
                              kfe_matrix *out)
{
    kfe_data *data = support_points_data(ctx, points, sparse);

    assert_ok(ctx, kfe_kernel_matrix(ctx, kernel, data, NULL, out));
    kfe_data_free(data);
    return out->values;
}
