/* SPDX-License-Identifier: Apache-2.0 */
/* One Gram operator of every form, with the matrix that it should equal. */
#include "support/gram_cases.h"

#include "core/rng.h"
#include "support/tolerance.h"

/* ---- the data ---- */

static void make_strings(gram_data *data)
{
    kfe_i_rng rng;

    kfe_i_rng_init(&rng, 3, 3);
    data->bytes = calloc((size_t)data->size * 10, 1);
    data->starts = calloc((size_t)data->size + 1, sizeof *data->starts);
    assert_true(data->bytes && data->starts);
    for (int64_t i = 0; i < data->size; i++) {
        int64_t length = i % 10;
        data->starts[i + 1] = data->starts[i] + length;
        for (int64_t k = 0; k < length; k++)
            data->bytes[data->starts[i] + k] = (char)('a' + kfe_i_rng_below(&rng, 2));
    }
}

/* Lists every second row, then some of the others in descending order. */
static void make_subset(gram_data *data)
{
    int64_t all = data->all = data->size + data->size / 2 + 3;

    data->whole = calloc((size_t)(all * all), sizeof *data->whole);
    data->index = calloc((size_t)data->size, sizeof *data->index);
    assert_true(data->whole && data->index);
    for (int64_t i = 0; i < all; i++)
        for (int64_t j = 0; j < all; j++)
            data->whole[i * all + j] = exp(-0.05 * fabs((double)(i - j))) + 1.0 / (double)(i + j + 1);
    for (int64_t i = 0; i < data->size; i++)
        data->index[i] = 2 * i < all ? 2 * i : 2 * (data->size - i) - 1;
}

void gram_data_make(gram_data *out, int64_t size)
{
    memset(out, 0, sizeof *out);
    out->size = size;
    support_points_make(&out->points, 17, size, 6, 0);
    for (int64_t i = 0; i < size; i++) {
        const double *x = support_points_row(&out->points, i);
        double norm = 0;
        for (int64_t j = 0; j < out->points.cols; j++)
            norm += x[j] * x[j];
        out->largest_norm = fmax(out->largest_norm, norm);
    }
    out->given = calloc((size_t)(size * (size + 1)), sizeof *out->given);
    assert_non_null(out->given);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++)
            out->given[i * (size + 1) + j] = exp(-0.1 * fabs((double)(i - j)));
    make_strings(out);
    make_subset(out);
}

void gram_data_free(gram_data *data)
{
    support_points_free(&data->points);
    free(data->given);
    free(data->bytes);
    free(data->starts);
    free(data->whole);
    free(data->index);
    memset(data, 0, sizeof *data);
}

/* ---- entries by the formulas ---- */

static long double dot(const gram_data *data, int64_t i, int64_t j)
{
    const double *x = support_points_row(&data->points, i);
    const double *y = support_points_row(&data->points, j);
    long double sum = 0;

    for (int64_t l = 0; l < data->points.cols; l++)
        sum += (long double)x[l] * y[l];
    return sum;
}

static long double gaussian(const gram_data *data, int64_t i, int64_t j)
{
    return expl(-0.4L * (dot(data, i, i) + dot(data, j, j) - 2 * dot(data, i, j)));
}

static long double given(const gram_data *data, int64_t i, int64_t j)
{
    return data->given[i * (data->size + 1) + j];
}

static long double part(const gram_data *data, int64_t i, int64_t j)
{
    return data->whole[data->index[i] * data->all + data->index[j]];
}

static long double weighted(const gram_data *data, int64_t i, int64_t j)
{
    return 0.5L * gaussian(data, i, j) + 2 * dot(data, i, j) + 0.25L * powl(dot(data, i, j) + 1, 2);
}

static long double scaled(const gram_data *data, int64_t i, int64_t j)
{
    return 3 * gaussian(data, i, j);
}

/* The number of pairs of positions with the same two letters. */
static long double strings(const gram_data *data, int64_t i, int64_t j)
{
    int places = 0;

    for (int64_t p = data->starts[i]; p + 2 <= data->starts[i + 1]; p++)
        for (int64_t q = data->starts[j]; q + 2 <= data->starts[j + 1]; q++)
            places += memcmp(data->bytes + p, data->bytes + q, 2) == 0;
    return places;
}

/* ---- allowed errors of an entry ---- */

static double slack_dot(const gram_data *data)
{
    return tolerance_sum(data->points.cols, data->largest_norm);
}

static double slack_gaussian(const gram_data *data)
{
    return 0.4 * tolerance_distance(data->points.cols, data->largest_norm) + 8 * DBL_EPSILON;
}

static double slack_single(const gram_data *data)
{
    return slack_gaussian(data) + TOLERANCE_SINGLE;
}

static double slack_weighted(const gram_data *data)
{
    double polynomial = data->largest_norm + 1;
    return 0.5 * slack_gaussian(data) + 2 * slack_dot(data) +
           0.25 * 2 * polynomial * (slack_dot(data) + 4 * DBL_EPSILON * polynomial);
}

static double slack_scaled(const gram_data *data)
{
    return 4 * slack_gaussian(data);
}

static double slack_none(const gram_data *data)
{
    (void)data;
    return 0;
}

#define SUM "rbf:gamma=0.4,weight=0.5 linear:weight=2 poly:degree=2,weight=0.25"

const gram_case gram_cases[] = {
    {"tiled", "rbf:gamma=0.4", GRAM_DENSE, KFE_GRAM_TILED, "tile by tile", gaussian, slack_gaussian},
    {"tiled csr", "rbf:gamma=0.4", GRAM_CSR, KFE_GRAM_AUTO, "tile by tile", gaussian, slack_gaussian},
    {"tiled strings", "spectrum:length=2", GRAM_STRINGS, KFE_GRAM_AUTO, "tile by tile", strings, slack_none},
    {"stored f64", "rbf:gamma=0.4", GRAM_DENSE, KFE_GRAM_F64, "double", gaussian, slack_gaussian},
    {"stored f32", "rbf:gamma=0.4", GRAM_CSR, KFE_GRAM_F32, "single", gaussian, slack_single},
    {"factored", "linear", GRAM_DENSE, KFE_GRAM_AUTO, "factored", dot, slack_dot},
    {"factored csr", "linear", GRAM_CSR, KFE_GRAM_TILED, "factored", dot, slack_dot},
    {"precomputed", "precomputed", GRAM_GIVEN, KFE_GRAM_AUTO, "given", given, slack_none},
    {"sum", SUM, GRAM_DENSE, KFE_GRAM_AUTO, "sum", weighted, slack_weighted},
    {"sum csr", SUM, GRAM_CSR, KFE_GRAM_AUTO, "sum", weighted, slack_weighted},
    {"stored sum", SUM, GRAM_DENSE, KFE_GRAM_F64, "double", weighted, slack_weighted},
    {"one weighted", "rbf:gamma=0.4,weight=3", GRAM_DENSE, KFE_GRAM_AUTO, "sum", scaled, slack_scaled},
    {"subset", "", GRAM_SUBSET, KFE_GRAM_AUTO, "part of", part, slack_none},
    {NULL, NULL, GRAM_DENSE, KFE_GRAM_AUTO, NULL, NULL, NULL},
};

/* ---- opening ---- */

static kfe_i_table table_of(const gram_case *one, const gram_data *data)
{
    kfe_i_table given_table = {.kind = KFE_TABLE_DENSE,
                               .rows = data->size,
                               .cols = data->size,
                               .stride = data->size + 1,
                               .values = data->given};
    kfe_i_table text_table = {.kind = KFE_TABLE_TEXT,
                              .rows = data->size,
                              .cols = 1,
                              .row_start = data->starts,
                              .bytes = data->bytes};

    if (one->table == GRAM_GIVEN)
        return given_table;
    return one->table == GRAM_STRINGS ? text_table
                                      : support_points_table(&data->points, one->table == GRAM_CSR);
}

static kfe_status add_kernels(kfe_context *ctx, const char *texts, gram_opened *out)
{
    kfe_status status = KFE_OK;

    for (const char *text = texts; status == KFE_OK && *text;) {
        kfe_i_kernel kernel = {0};
        char one[64] = "";
        size_t length = strcspn(text, " ");
        memcpy(one, text, length);
        status = kfe_i_kernel_parse(ctx, one, &kernel);
        if (status == KFE_OK)
            status = kfe_i_kernel_prepare(ctx, &kernel, &out->table);
        if (status == KFE_OK)
            status = kfe_i_kernel_list_add(&out->kernels, &kernel);
        kfe_i_kernel_free(&kernel);
        text += length + (text[length] == ' ');
    }
    return status;
}

static kfe_status open_plain(kfe_context *ctx, const gram_case *one, const gram_data *data, gram_opened *out)
{
    kfe_status status;

    if (one->table == GRAM_SUBSET)
        return kfe_i_gram_subset(ctx, data->all, data->whole, data->index, data->size, &out->plain);
    out->table = table_of(one, data);
    status = add_kernels(ctx, one->kernels, out);
    if (status == KFE_OK)
        status = kfe_i_kernel_list_bind(&out->kernels, 1, NULL);
    if (status == KFE_OK)
        status = kfe_i_gram_open(ctx, &out->kernels, &out->table, one->storage, &out->plain);
    return status;
}

kfe_status gram_case_open(kfe_context *ctx, const gram_case *one, const gram_data *data, int centred,
                          gram_opened *out)
{
    kfe_status status;

    memset(out, 0, sizeof *out);
    kfe_i_kernel_list_init(ctx, &out->kernels);
    status = open_plain(ctx, one, data, out);
    if (status == KFE_OK && centred)
        status = kfe_i_gram_centred(ctx, out->plain, &out->centred);
    out->gram = centred ? out->centred : out->plain;
    return status;
}

void gram_case_close(gram_opened *opened)
{
    kfe_i_gram_free(opened->centred);
    kfe_i_gram_free(opened->plain);
    kfe_i_kernel_list_free(&opened->kernels);
}

/* ---- the matrix ---- */

static void centre(int64_t n, double *matrix)
{
    for (int pass = 0; pass < 2; pass++) /* rows, then columns */
        for (int64_t i = 0; i < n; i++) {
            int64_t first = pass ? i : i * n;
            int64_t step = pass ? n : 1;
            long double mean = 0;
            for (int64_t j = 0; j < n; j++)
                mean += matrix[first + j * step] / (long double)n;
            for (int64_t j = 0; j < n; j++)
                matrix[first + j * step] -= (double)mean;
        }
}

double *gram_case_expected(const gram_case *one, const gram_data *data, int centred)
{
    int64_t n = data->size;
    double *matrix = calloc((size_t)(n * n), sizeof *matrix);

    assert_non_null(matrix);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            matrix[i * n + j] = (double)one->entry(data, i, j);
    if (centred)
        centre(n, matrix);
    return matrix;
}
