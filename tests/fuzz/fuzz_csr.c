/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of compressed sparse rows wrapped by a caller: rows are accepted exactly if they are
 * sound, and accepted rows equal the same numbers in a dense table: row by row, as taken rows, and for every
 * kernel.
 *
 * The input contains the format of positions, the numbers of rows and columns, then positions, columns and
 * values. The arrays are as long as the last position says, which is all that a caller promises; the address
 * sanitizer detects any read beyond them.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfe.h"

enum { MEMORY_LIMIT = 16 << 20, MOST_ROWS = 6, MOST_COLS = 20, MOST_ENTRIES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct input {
    const uint8_t *bytes;
    size_t size;
} input;

static void take(input *in, void *out, size_t size)
{
    size_t have = in->size < size ? in->size : size;

    memset(out, 0, size);
    memcpy(out, in->bytes, have);
    in->bytes += have;
    in->size -= have;
}

static unsigned take_byte(input *in)
{
    uint8_t byte = 0;

    take(in, &byte, 1);
    return byte;
}

/* ---- the arrays ---- */

typedef struct rows {
    int64_t rows, cols, entries;
    unsigned which; /* chooses the quarter of the kernels that is tried */
    int64_t *row_start;
    int32_t *columns;
    double *values;
} rows;

static int64_t take_position(input *in, unsigned form, int64_t before)
{
    int64_t position = 0;

    if (form & 1)
        take(in, &position, sizeof position);
    else if (form & 2)
        position = (int64_t)take_byte(in) - 2;
    else
        position = before + (int64_t)take_byte(in) % 8;
    return position;
}

static int32_t take_column(input *in, unsigned form, int32_t before)
{
    int32_t column = 0;

    if (form & 4)
        take(in, &column, sizeof column);
    else if (form & 8)
        column = (int32_t)take_byte(in) - 2;
    else
        column = before + 1 + (int32_t)take_byte(in) % 2;
    return column;
}

static double take_value(input *in)
{
    double value = 0;
    unsigned kind = take_byte(in);

    if (kind == 0)
        take(in, &value, sizeof value);
    else
        value = ((double)kind - 128) / 16;
    return value;
}

static int is_row_start(const rows *r, int64_t entry)
{
    for (int64_t i = 0; i <= r->rows; i++)
        if (r->row_start[i] == entry)
            return 1;
    return 0;
}

static int take_rows(input *in, rows *r)
{
    unsigned form = take_byte(in);

    r->rows = 1 + (int64_t)take_byte(in) % MOST_ROWS;
    r->cols = 1 + (int64_t)take_byte(in) % MOST_COLS;
    r->which = form >> 5;
    r->row_start = calloc((size_t)r->rows + 1, sizeof *r->row_start);
    if (!r->row_start)
        return 0;
    r->row_start[0] = form & 16 ? take_position(in, form, 0) : 0;
    for (int64_t i = 0; i < r->rows; i++)
        r->row_start[i + 1] = take_position(in, form, r->row_start[i]);
    r->entries = r->row_start[r->rows];
    if (r->entries < 0 || r->entries > MOST_ENTRIES)
        r->entries = 0;
    if (r->row_start[r->rows] > MOST_ENTRIES)
        return 0; /* the input breaks the caller's promise */
    r->columns = calloc((size_t)r->entries + 1, sizeof *r->columns);
    r->values = calloc((size_t)r->entries + 1, sizeof *r->values);
    if (!r->columns || !r->values)
        return 0;
    r->columns = realloc(r->columns, (size_t)(r->entries ? r->entries : 1) * sizeof *r->columns);
    r->values = realloc(r->values, (size_t)(r->entries ? r->entries : 1) * sizeof *r->values);
    for (int64_t p = 0; p < r->entries; p++)
        r->columns[p] = take_column(in, form, p == 0 || is_row_start(r, p) ? -1 : r->columns[p - 1]);
    for (int64_t p = 0; p < r->entries; p++)
        r->values[p] = take_value(in);
    return 1;
}

/* ---- properties ---- */

static int is_sound(const rows *r)
{
    if (r->row_start[0] < 0)
        return 0;
    for (int64_t i = 0; i < r->rows; i++)
        if (r->row_start[i + 1] < r->row_start[i])
            return 0;
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t p = r->row_start[i]; p < r->row_start[i + 1]; p++)
            if (r->columns[p] < 0 || r->columns[p] >= r->cols ||
                (p > r->row_start[i] && r->columns[p] <= r->columns[p - 1]))
                return 0;
    return 1;
}

static void fail(const kfe_context *ctx, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, kfe_error_message(ctx));
    abort();
}

static void expand(const rows *r, double *dense)
{
    memset(dense, 0, sizeof(double) * MOST_ROWS * MOST_COLS);
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t p = r->row_start[i]; p < r->row_start[i + 1]; p++)
            dense[i * r->cols + r->columns[p]] = r->values[p];
}

/* Whether products of the numbers neither overflow nor vanish. */
static int is_tame(const rows *r)
{
    for (int64_t p = r->row_start[0]; p < r->row_start[r->rows]; p++)
        if (!(fabs(r->values[p]) <= 1e6) || (r->values[p] != 0 && fabs(r->values[p]) < 1e-6))
            return 0;
    return 1;
}

static void compare_rows(kfe_context *ctx, const rows *r, const kfe_data *data, const double *dense)
{
    double row[MOST_COLS];

    for (int64_t i = 0; i < r->rows; i++) {
        if (kfe_data_row(ctx, data, 0, i, row) != KFE_OK)
            fail(ctx, "a row cannot be read");
        for (int64_t j = 0; j < r->cols; j++)
            if (!(row[j] == dense[i * r->cols + j] || (isnan(row[j]) && isnan(dense[i * r->cols + j]))))
                fail(ctx, "a row differs from its entries");
    }
}

static void compare_taken(kfe_context *ctx, const rows *r, const kfe_data *data, const double *dense)
{
    const int64_t which[] = {r->rows - 1, 0, r->rows - 1};
    double row[MOST_COLS];
    kfe_data *taken = NULL;

    if (kfe_data_take(ctx, data, 3, which, &taken) != KFE_OK)
        fail(ctx, "rows cannot be taken");
    for (int64_t i = 0; i < 3; i++) {
        if (kfe_data_row(ctx, taken, 0, i, row) != KFE_OK)
            fail(ctx, "a taken row cannot be read");
        for (int64_t j = 0; j < r->cols; j++)
            if (row[j] != dense[which[i] * r->cols + j])
                fail(ctx, "a taken row differs");
    }
    kfe_data_free(taken);
}

static double largest_of(const kfe_matrix *m)
{
    double largest = 0;

    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->cols; j++)
            largest = fmax(largest, fabs(m->values[i * m->stride + j]));
    return largest;
}

/* Both forms are accepted or refused alike, and differ only by rounding. Every input tries a quarter of the
 * kernels. */
static void compare_kernels(kfe_context *ctx, unsigned which, const kfe_data *sparse, const kfe_data *dense)
{
    const kfe_entry_info *kernel;

    for (int k = (int)which % 4; (kernel = kfe_kernel(k)); k += 4) {
        kfe_matrix a = {0};
        kfe_matrix b = {0};
        if (kernel->flags & KFE_HAS_STRINGS || strcmp(kernel->name, "precomputed") == 0)
            continue;
        kfe_status status = kfe_kernel_matrix(ctx, kernel->name, dense, NULL, &a);
        if (kfe_kernel_matrix(ctx, kernel->name, sparse, NULL, &b) != status)
            fail(ctx, kernel->name);
        for (int64_t i = 0; status == KFE_OK && i < a.rows; i++)
            for (int64_t j = 0; j < a.cols; j++)
                if (!(fabs(a.values[i * a.stride + j] - b.values[i * b.stride + j]) <=
                      1e-6 * fmax(largest_of(&a), 1e-12))) {
                    fprintf(stderr, "%s: (%d, %d) is %.17g dense and %.17g sparse\n", kernel->name, (int)i,
                            (int)j, a.values[i * a.stride + j], b.values[i * b.stride + j]);
                    abort();
                }
        kfe_matrix_free(&a);
        kfe_matrix_free(&b);
    }
}

static void check(kfe_context *ctx, const rows *r)
{
    static double dense[MOST_ROWS * MOST_COLS];
    kfe_data *sparse = NULL;
    kfe_data *same = NULL;
    kfe_status status =
        kfe_data_wrap_csr(ctx, r->rows, r->cols, r->row_start, r->columns, r->values, &sparse);

    if ((status == KFE_OK) != is_sound(r))
        fail(ctx, status == KFE_OK ? "accepted, but not sound" : "sound, but refused");
    if (status != KFE_OK)
        return;
    expand(r, dense);
    compare_rows(ctx, r, sparse, dense);
    if (is_tame(r)) {
        compare_taken(ctx, r, sparse, dense);
        if (kfe_data_wrap_dense(ctx, r->rows, r->cols, r->cols, dense, &same) != KFE_OK)
            fail(ctx, "the dense table is refused");
        compare_kernels(ctx, r->which, sparse, same);
    }
    kfe_data_free(same);
    kfe_data_free(sparse);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    input in = {bytes, size};
    rows r = {0};
    kfe_context *ctx = NULL;

    if (kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    kfe_context_set_threads(ctx, 1);
    if (take_rows(&in, &r))
        check(ctx, &r);
    free(r.row_start);
    free(r.columns);
    free(r.values);
    kfe_context_free(ctx);
    return 0;
}
