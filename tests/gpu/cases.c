/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of compare.c: one function for each call of the device interface, and the sizes that it runs with. */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 900 };

static const kfe_i_formula formulas[] = {
    {.base = KFE_FORMULA_DOT},
    {.base = KFE_FORMULA_DOT, .map = KFE_KERNEL_poly, .params = {3, 0.5, 1}},
    {.base = KFE_FORMULA_DOT, .map = KFE_KERNEL_cosine},
    {.base = KFE_FORMULA_DOT, .map = KFE_KERNEL_sigmoid, .params = {0.3, 0.1}},
    {.base = KFE_FORMULA_DISTANCE, .map = KFE_KERNEL_rbf, .params = {0.4}},
    {.base = KFE_FORMULA_DISTANCE},
    {.base = KFE_FORMULA_COORDINATE,
     .map = KFE_KERNEL_laplacian,
     .term = KFE_KERNEL_laplacian,
     .params = {0.2}},
    {.base = KFE_FORMULA_COORDINATE, .map = KFE_KERNEL_chi2, .term = KFE_KERNEL_chi2, .params = {0.7}},
    {.base = KFE_FORMULA_COORDINATE, .term = KFE_KERNEL_intersection},
};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

int formula_takes_sparse(int formula)
{
    return formulas[formula].base != KFE_FORMULA_COORDINATE;
}

static void case_block(session *s, const setting *c)
{
    static const int hows[] = {0, KFE_DEVICE_ADD, KFE_DEVICE_LOWER, KFE_DEVICE_MIRROR};
    kfe_device_kernel kernel = {formulas[c->formula], 1.5};
    point_set p;
    kfe_device_matrix out = random_matrix(s, c->n, c->n, c->type);
    kfe_device_matrix part = kfe_device_part(out, 0, c->n - c->n / 3, 0, c->n / 2);

    new_points(s, c->n, c->d, kernel.formula.base, c->sparse, &p);
    for (int h = 0; h < 4 && s->status == KFE_DEVICE_OK; h++) {
        kfe_device_range all = {p.points, 0, c->n};
        CALL(block, &kernel, all, all, &out, hows[h]);
        keep_matrix(s, &out, hows[h] == KFE_DEVICE_LOWER);
        if (h == 0) {
            kfe_device_range rows = {p.points, c->n / 3, c->n - c->n / 3};
            kfe_device_range cols = {p.points, c->n - c->n / 2, c->n / 2};
            CALL(block, &kernel, rows, cols, &part, 0);
            keep_matrix(s, &part, 0);
        }
    }
    free_points(s, &p);
    free_matrix(s, &out);
}

static void case_map(session *s, const setting *c)
{
    kfe_device_kernel kernel = {formulas[c->formula], 0.5};
    kfe_device_kernel plain = {formulas[c->formula], 1};
    point_set p;
    kfe_device_matrix base = new_matrix(s, c->n, c->n, c->n, c->type);

    plain.formula.map = KFE_KERNEL_NONE;
    new_points(s, c->n, c->d, kernel.formula.base, c->sparse, &p);
    kfe_device_range all = {p.points, 0, c->n};
    if (s->status == KFE_DEVICE_OK)
        CALL(block, &plain, all, all, &base, 0);
    if (s->status == KFE_DEVICE_OK)
        CALL(map, &kernel, &base, all, all, &base);
    keep_matrix(s, &base, 0);
    free_points(s, &p);
    free_matrix(s, &base);
}

static void case_times(session *s, const setting *c)
{
    kfe_device_kernel kernel = {formulas[c->formula], 1.5};
    point_set p;
    kfe_device_matrix v = random_matrix(s, c->n, c->k, KFE_DEVICE_F64);
    kfe_device_matrix out = random_matrix(s, c->n, c->k, KFE_DEVICE_F64);

    new_points(s, c->n, c->d, kernel.formula.base, c->sparse, &p);
    for (int add = 0; add < 2 && s->status == KFE_DEVICE_OK; add++) {
        kfe_device_product product = {c->type, add, &v, &out};
        kfe_device_range all = {p.points, 0, c->n};
        CALL(times, &kernel, all, all, &product);
        keep_matrix(s, &out, 0);
    }
    kfe_device_matrix part = kfe_device_part(out, 0, c->n / 2, 0, c->k);
    kfe_device_matrix some = kfe_device_part(v, 0, c->n - c->n / 4, 0, c->k);
    kfe_device_product product = {c->type, 0, &some, &part};
    kfe_device_range rows = {p.points, c->n - c->n / 2, c->n / 2};
    kfe_device_range cols = {p.points, c->n / 4, c->n - c->n / 4};
    if (s->status == KFE_DEVICE_OK)
        CALL(times, &kernel, rows, cols, &product);
    keep_matrix(s, &part, 0);
    free_points(s, &p);
    free_matrix(s, &v);
    free_matrix(s, &out);
}

static void case_groups(session *s, const setting *c)
{
    kfe_device_kernel kernel = {formulas[c->formula], 2};
    point_set p;
    int32_t *group = malloc((size_t)c->n * sizeof *group);
    double sums[64];

    new_points(s, c->n, c->d, kernel.formula.base, c->sparse, &p);
    for (int64_t i = 0; i < c->n; i++)
        group[i] = (int32_t)(i * 7 % c->k);
    if (s->status == KFE_DEVICE_OK && !CALL(group_sums, &kernel, p.points, group, c->k, c->type, sums))
        keep(s, sums, c->k * c->k);
    free(group);
    free_points(s, &p);
}

static void case_stream(session *s, const setting *c)
{
    kfe_device_kernel kernel = {formulas[c->formula], 1};
    point_set p, rows;
    kfe_device_matrix v = random_matrix(s, c->n / 5 + 1, c->k, KFE_DEVICE_F64);
    double *out = random_numbers(s, c->n * (c->k + 1));

    new_points(s, c->n / 5 + 1, c->d, kernel.formula.base, c->sparse, &p);
    new_points(s, c->n, c->d, kernel.formula.base, c->sparse, &rows);
    if (!c->sparse && kernel.formula.base == KFE_FORMULA_DISTANCE) { /* the same centre */
        memset(rows.centre, 0, (size_t)c->d * sizeof(double));
        s->table->points_free(s->device, p.points);
        memset(p.centre, 0, (size_t)c->d * sizeof(double));
        p.points = NULL;
        CALL(points_new, &p.rows, KFE_FORMULA_DISTANCE, KFE_DEVICE_F32, &p.points);
    }
    for (int add = 0; add < 2 && s->status == KFE_DEVICE_OK; add++) {
        kfe_device_output output = {out, c->k + 1, add};
        CALL(stream, &kernel, &rows.rows, p.points, &v, c->type, &output);
        keep(s, out, c->n * (c->k + 1));
    }
    free(out);
    free_points(s, &p);
    free_points(s, &rows);
    free_matrix(s, &v);
}

static void case_gather(session *s, const setting *c)
{
    int64_t index[] = {5, 0, 5, 3, 2};
    kfe_device_kernel kernel = {formulas[c->formula], 1};
    kfe_device_points *some = NULL;
    point_set p;
    kfe_device_matrix a = random_matrix(s, c->n, c->n, c->type);
    kfe_device_matrix b = new_matrix(s, 5, 5, 6, KFE_DEVICE_F64);
    kfe_device_matrix k = new_matrix(s, 5, c->n, c->n, KFE_DEVICE_F64);

    new_points(s, c->n, c->d, kernel.formula.base, c->sparse, &p);
    if (s->status == KFE_DEVICE_OK && !CALL(gather, &a, index, index, &b))
        keep_matrix(s, &b, 0);
    if (s->status == KFE_DEVICE_OK && !CALL(points_gather, p.points, index, 5, &some)) {
        kfe_device_range rows = {some, 0, 5};
        kfe_device_range cols = {p.points, 0, c->n};
        CALL(block, &kernel, rows, cols, &k, 0);
        keep_matrix(s, &k, 0);
    }
    s->table->points_free(s->device, some);
    free_points(s, &p);
    free_matrix(s, &a);
    free_matrix(s, &b);
    free_matrix(s, &k);
}

/* type 0: a in single, b and c in double precision */
static void case_gemm(session *s, const setting *c)
{
    kfe_device_type type_a = c->type ? c->type : KFE_DEVICE_F32;
    kfe_device_type type = c->type ? c->type : KFE_DEVICE_F64;

    for (int how = 0; how < 4 && s->status == KFE_DEVICE_OK; how++) {
        int ta = how & 1;
        int tb = how >> 1;
        kfe_device_matrix a = random_matrix(s, ta ? c->d : c->n, ta ? c->n : c->d, type_a);
        kfe_device_matrix b = random_matrix(s, tb ? c->k : c->d, tb ? c->d : c->k, type);
        kfe_device_matrix out = random_matrix(s, c->n, c->k, type);
        for (int beta = 0; beta < 2 && s->status == KFE_DEVICE_OK; beta++) {
            CALL(gemm, ta, tb, 1.25, &a, &b, -0.5 * beta, &out);
            keep_matrix(s, &out, 0);
        }
        free_matrix(s, &a);
        free_matrix(s, &b);
        free_matrix(s, &out);
    }
}

static void case_elements(session *s, const setting *c)
{
    kfe_device_matrix a = random_matrix(s, c->n, c->d, c->type);
    kfe_device_matrix b = random_matrix(s, c->n, c->d, KFE_DEVICE_F64);
    double *by_row = random_numbers(s, c->n);
    double *by_column = random_numbers(s, c->d);
    double *sums = malloc((size_t)(c->n + c->d) * sizeof *sums);

    if (s->status == KFE_DEVICE_OK && !CALL(add, 0.5, &a, 2, &b) && !CALL(add, -1, &b, 0, &a) &&
        !CALL(shift, &a, by_row, NULL) && !CALL(shift, &b, by_row, by_column) &&
        !CALL(scale, &a, NULL, by_column) && !CALL(scale, &b, by_row, by_column) && !CALL(copy, &b, &a))
        keep_matrix(s, &a, 0);
    kfe_device_matrix square = kfe_device_part(b, 0, c->n < c->d ? c->n : c->d, 0, c->n < c->d ? c->n : c->d);
    kfe_device_matrix diagonal = kfe_device_diagonal(square);
    if (s->status == KFE_DEVICE_OK && !CALL(fill, &diagonal, 3))
        keep_matrix(s, &b, 0);
    keep_matrix(s, &diagonal, 0);
    if (s->status == KFE_DEVICE_OK && !CALL(column_dots, &a, &b, sums))
        keep(s, sums, c->d);
    if (s->status == KFE_DEVICE_OK && !CALL(column_dots, &b, NULL, sums))
        keep(s, sums, c->d);
    if (s->status == KFE_DEVICE_OK && !CALL(row_dots, &a, &b, sums))
        keep(s, sums, c->n);
    if (s->status == KFE_DEVICE_OK && !CALL(row_dots, &a, NULL, sums))
        keep(s, sums, c->n);
    free(by_row);
    free(by_column);
    free(sums);
    free_matrix(s, &a);
    free_matrix(s, &b);
}

/* a = random·randomᵀ + n·I */
static kfe_device_matrix definite_matrix(session *s, int64_t n, kfe_device_type type)
{
    kfe_device_matrix factor = random_matrix(s, n, n, type);
    kfe_device_matrix a = new_matrix(s, n, n, n + 3, type);
    kfe_device_matrix diagonal = kfe_device_diagonal(a);
    double *by_row = malloc((size_t)n * sizeof *by_row);

    for (int64_t i = 0; i < n; i++)
        by_row[i] = 0.1 * (double)n;
    if (s->status == KFE_DEVICE_OK)
        CALL(gemm, 0, 1, 1, &factor, &factor, 0, &a);
    if (s->status == KFE_DEVICE_OK)
        CALL(shift, &diagonal, by_row, NULL);
    free(by_row);
    free_matrix(s, &factor);
    return a;
}

static void case_factor(session *s, const setting *c)
{
    kfe_device_matrix a = definite_matrix(s, c->n, c->type);
    kfe_device_matrix b = random_matrix(s, c->n, c->k, KFE_DEVICE_F64);
    kfe_device_matrix same = random_matrix(s, c->n, c->k, c->type);
    int definite = -1;

    if (s->status == KFE_DEVICE_OK && !CALL(potrf, &a, &definite)) {
        double number = definite;
        keep(s, &number, 1);
        keep_matrix(s, &a, 1);
    }
    if (s->status == KFE_DEVICE_OK && !CALL(potrs, &a, &b))
        keep_matrix(s, &b, 0);
    for (int transpose = 0; transpose < 2 && s->status == KFE_DEVICE_OK; transpose++) {
        CALL(trsm, transpose, &a, &same);
        keep_matrix(s, &same, 0);
    }
    if (s->status == KFE_DEVICE_OK && !CALL(fill, &a, -1) && !CALL(potrf, &a, &definite)) {
        double number = definite;
        keep(s, &number, 1);
    }
    free_matrix(s, &a);
    free_matrix(s, &b);
    free_matrix(s, &same);
}

/* Eigenvalues, and Σ λᵢ vᵢvᵢᵀ, which does not depend on signs. */
static void case_eigen(session *s, const setting *c)
{
    kfe_device_matrix a = definite_matrix(s, c->n, c->type);
    kfe_device_matrix scaled = new_matrix(s, c->n, c->n, c->n, c->type);
    kfe_device_matrix back = new_matrix(s, c->n, c->n, c->n, c->type);
    double *values = malloc((size_t)c->n * sizeof *values);

    if (s->status == KFE_DEVICE_OK && !CALL(syevd, &a, values)) {
        keep(s, values, c->n);
        if (!CALL(copy, &a, &scaled) && !CALL(scale, &scaled, values, NULL) &&
            !CALL(gemm, 1, 0, 1, &a, &scaled, 0, &back))
            keep_matrix(s, &back, 0);
    }
    free(values);
    free_matrix(s, &a);
    free_matrix(s, &scaled);
    free_matrix(s, &back);
}

/* Far too much memory is refused, and the device works afterwards. */
static void case_memory(session *s, const setting *c)
{
    uint64_t address = 0;
    double refused =
        s->table->allocate(s->device, (uint64_t)1 << 50, &address) == KFE_DEVICE_NO_MEMORY && address == 0
            ? 1
            : 0;
    kfe_device_matrix a = random_matrix(s, c->n, c->d, c->type);

    keep(s, &refused, 1);
    keep_matrix(s, &a, 0);
    free_matrix(s, &a);
}

/* Memory is released and handed out again while work that reads it has not been waited for. */
static void case_reuse(session *s, const setting *c)
{
    for (int round = 0; round < 8 && s->status == KFE_DEVICE_OK; round++) {
        kfe_device_matrix a = random_matrix(s, c->n, c->d, c->type);
        kfe_device_matrix product = random_matrix(s, c->n, c->n, c->type);
        if (s->status == KFE_DEVICE_OK)
            CALL(gemm, 0, 1, 1, &a, &a, 0, &product);
        free_matrix(s, &a);
        kfe_device_matrix other = random_matrix(s, c->n, c->d, c->type);
        if (s->status == KFE_DEVICE_OK)
            CALL(fill, &other, round);
        keep_matrix(s, &other, 0);
        keep_matrix(s, &product, 0);
        free_matrix(s, &other);
        free_matrix(s, &product);
    }
}

/* Clouds of three classes that overlap, the second column much larger than the others; k problems. */
static void case_svms(session *s, const setting *c)
{
    static const signed char sides[] = {1, -1, -1, -1, 1, -1, 1, 0, -1};
    kfe_device_matrix rows = random_matrix(s, c->n, c->d, KFE_DEVICE_F64);
    double *numbers = random_numbers(s, c->n * c->d);
    double *values = random_numbers(s, 3 * c->n);
    double *cost = malloc((size_t)(2 * c->k) * sizeof *cost);
    int32_t *codes = malloc((size_t)c->n * sizeof *codes);
    int64_t *target = malloc((size_t)c->k * sizeof *target);
    double *w = malloc((size_t)(c->k * (c->d + 1)) * sizeof *w);
    kfe_device_svm *results = malloc((size_t)c->k * sizeof *results);

    for (int64_t i = 0; i < c->n; i++) {
        codes[i] = (int32_t)(i * 7 % 3);
        numbers[i * c->d] += 0.4 * codes[i];
        numbers[i * c->d + c->d / 2] *= 20;
        for (int64_t t = 0; t < 3; t++)
            values[t * c->n + i] += (double)(t + 1) * numbers[i * c->d];
    }
    for (int64_t p = 0; p < c->k; p++) {
        target[p] = p % 3;
        cost[2 * p] = pow(10, (double)(p % 5) - 2);
        cost[2 * p + 1] = cost[2 * p] * (1 + (double)(p % 2));
    }
    if (s->status == KFE_DEVICE_OK)
        CALL(upload, numbers, c->d, &rows);
    for (int how = 0; how < 3 && s->status == KFE_DEVICE_OK;
         how++) { /* classes with and without bias; real targets */
        kfe_device_svms svms = {.rows = &rows,
                                .bias = how != 1,
                                .targets = 3,
                                .problems = c->k,
                                .classes = 3,
                                .codes = how < 2 ? codes : NULL,
                                .sides = sides,
                                .values = values,
                                .epsilon = 0.1,
                                .target = target,
                                .cost = cost,
                                .steps_most = 100,
                                .halvings_most = 40,
                                .decrease = 1e-4,
                                .rounding = 1e-13};
        if (CALL(linear_svms, &svms, w, results))
            break;
        for (int64_t p = 0; p < c->k; p++) {
            double measured[] = {results[p].objective / results[p].start,
                                 results[p].gradient / results[p].start, (double)results[p].solved};
            keep(s, measured, 3);
            keep(s, w + p * (c->d + svms.bias), c->d + svms.bias);
        }
    }
    free(numbers);
    free(values);
    free(cost);
    free(codes);
    free(target);
    free(w);
    free(results);
    free_matrix(s, &rows);
}

/* Rows that are equal or almost make ties; the numbers must be the same, and so the distances. */
static void case_nearest(session *s, const setting *c)
{
    point_set p;
    int64_t *numbers = malloc((size_t)(c->n * c->k) * sizeof *numbers);
    double *distances = malloc((size_t)(c->n * c->k) * sizeof *distances);

    new_points(s, c->n, c->d, KFE_FORMULA_DISTANCE, 0, &p);
    for (int part = 0; part < 2 && s->status == KFE_DEVICE_OK; part++) {
        kfe_device_range rows = {p.points, part ? c->n / 3 : 0, part ? c->n / 2 : c->n};
        kfe_device_range cols = {p.points, part ? c->n - c->k : 0, part ? c->k : c->n};
        if (CALL(nearest, rows, cols, c->k, numbers, distances))
            break;
        for (int64_t i = 0; i < rows.count * c->k; i++) {
            double number = (double)numbers[i];
            keep(s, &number, 1);
        }
        keep(s, distances, rows.count * c->k);
    }
    free(numbers);
    free(distances);
    free_points(s, &p);
}

const kind kinds[] = {
    {"block", case_block, FORMULAS, 1, 2, {{.n = 6, .d = 1}, {.n = 150, .d = 50}, {.n = 301, .d = 131}}},
    {"map", case_map, FORMULAS, 0, 2, {{.n = 100, .d = 7}}},
    {"times",
     case_times,
     FORMULAS,
     1,
     2,
     {{.n = 4, .d = 3, .k = 1},
      {.n = 300, .d = 50, .k = 16},
      {.n = 515, .d = 17, .k = 5},
      {.n = 300, .d = 100, .k = 40},
      {.n = POINTS, .d = 20, .k = 3}}},
    {"group_sums", case_groups, FORMULAS, 1, 2, {{.n = 300, .d = 20, .k = 4}}},
    {"stream", case_stream, FORMULAS, 1, 2, {{.n = 11, .d = 3, .k = 1}, {.n = POINTS, .d = 50, .k = 10}}},
    {"linear_svms",
     case_svms,
     1,
     0,
     1,
     {{.n = 40, .d = 1, .k = 3},
      {.n = 1500, .d = 10, .k = 17},
      {.n = 1027, .d = 63, .k = 6},
      {.n = 2100, .d = 30, .k = 5}}},
    {"linear_svms_small", case_svms, 1, 0, 1, {{.n = 40, .d = 1, .k = 3}, {.n = 600, .d = 11, .k = 2}}},
    {"nearest_small", case_nearest, 1, 0, 1, {{.n = 5, .d = 1, .k = 1}, {.n = 60, .d = 3, .k = 40}}},
    {"nearest",
     case_nearest,
     1,
     0,
     1,
     {{.n = 5, .d = 1, .k = 1},
      {.n = 300, .d = 3, .k = 25},
      {.n = POINTS, .d = 20, .k = 60},
      {.n = 5000, .d = 2, .k = 7},
      {.n = 200, .d = 50, .k = 128}}},
    {"gather", case_gather, FORMULAS, 1, 2, {{.n = 40, .d = 9}}},
    {"gemm",
     case_gemm,
     1,
     0,
     3,
     {{.n = 1, .d = 1, .k = 1},
      {.n = 70, .d = 33, .k = 20},
      {.n = 300, .d = 5000, .k = 1},
      {.n = 1, .d = 300, .k = 50},
      {.n = 600, .d = 4099, .k = 17},
      {.n = 3, .d = 10001, .k = 8},
      {.n = 2, .d = 66000, .k = 1}, /* few long sums */
      {.n = 40, .d = 70001, .k = 16},
      {.n = 130, .d = 65537, .k = 25},
      {.n = 5000, .d = 41, .k = 1}, /* many short sums */
      {.n = 1, .d = 41, .k = 5000},
      {.n = 5001, .d = 1, .k = 2}}},
    {"elements",
     case_elements,
     1,
     0,
     2,
     {{.n = 1, .d = 1}, {.n = 1500, .d = 3}, {.n = 7, .d = 3000}, {.n = 129, .d = 65}, {.n = 3, .d = 40001}}},
    {"factor", case_factor, 1, 0, 2, {{.n = 1, .k = 1}, {.n = 33, .k = 3}, {.n = 1500, .k = 11}}},
    {"eigen", case_eigen, 1, 0, 2, {{.n = 2}, {.n = 65}, {.n = 300}}},
    {"memory", case_memory, 1, 0, 1, {{.n = 5, .d = 4}}},
    {"reuse", case_reuse, 1, 0, 2, {{.n = 5, .d = 4}, {.n = 300, .d = 900}}},
};
const int kind_count = sizeof kinds / sizeof *kinds;
