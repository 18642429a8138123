/* SPDX-License-Identifier: Apache-2.0 */
/* Random problems, fits through the public header, and the dense linear algebra that tests compare with. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

static void *get(int64_t count, size_t size)
{
    void *block = calloc((size_t)(count > 0 ? count : 1), size);
    if (!block)
        fail_msg("out of memory");
    return block;
}

static double *reals(int64_t count)
{
    return get(count, sizeof(double));
}

/* ---- random problems ---- */

/* splitmix64 */
double support_uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double support_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - support_uniform(state)));
    return radius * cos(2 * acos(-1.0) * support_uniform(state));
}

double *support_normals(uint64_t seed, int64_t count)
{
    double *values = reals(count);

    for (int64_t i = 0; i < count; i++)
        values[i] = support_normal(&seed);
    return values;
}

void support_clouds(uint64_t seed, int64_t rows, int64_t cols, int classes, double apart, double **values,
                    int **class_of)
{
    double *centres = support_normals(seed + 1, classes * cols);

    *values = support_normals(seed, rows * cols);
    *class_of = get(rows, sizeof(int));
    for (int64_t i = 0; i < rows; i++) {
        int class = i % 7 == 6 ? 0 : (int)(i % classes);
        (*class_of)[i] = class;
        for (int64_t j = 0; j < cols; j++)
            (*values)[i * cols + j] += apart * centres[class * cols + j];
    }
    free(centres);
}

/* ---- data in memory ---- */

void support_label(kfe_context *ctx, kfe_data *data, int64_t rows, const int *class_of)
{
    const char **labels = get(rows, sizeof *labels);
    char(*names)[16] = get(rows, sizeof *names);

    for (int64_t i = 0; i < rows; i++) {
        snprintf(names[i], sizeof names[i], "c%d", class_of[i]);
        labels[i] = names[i];
    }
    assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    free(labels);
    free(names);
}

kfe_data *support_dense(kfe_context *ctx, int64_t rows, int64_t cols, const double *values,
                        const int *class_of)
{
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, rows, cols, cols, values, &data));
    if (class_of)
        support_label(ctx, data, rows, class_of);
    return data;
}

kfe_data *support_sparse(kfe_context *ctx, int64_t rows, int64_t cols, const double *values,
                         const int *class_of, support_csr *arrays)
{
    kfe_data *data = NULL;
    int64_t entries = 0;

    arrays->row_start = get(rows + 1, sizeof(int64_t));
    arrays->columns = get(rows * cols, sizeof(int32_t));
    arrays->values = reals(rows * cols);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            if (values[i * cols + j] == 0)
                continue;
            arrays->columns[entries] = (int32_t)j;
            arrays->values[entries++] = values[i * cols + j];
        }
        arrays->row_start[i + 1] = entries;
    }
    assert_ok(ctx,
              kfe_data_wrap_csr(ctx, rows, cols, arrays->row_start, arrays->columns, arrays->values, &data));
    if (class_of)
        support_label(ctx, data, rows, class_of);
    return data;
}

void support_csr_free(support_csr *arrays)
{
    free(arrays->row_start);
    free(arrays->columns);
    free(arrays->values);
    memset(arrays, 0, sizeof *arrays);
}

/* ---- fitting ---- */

/* The columns are not scaled, so that a test knows what the method saw. */
kfe_model *support_fit(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                       const kfe_data *train)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, params, kernel, &spec));
    if (!params || !strstr(params, "scale="))
        assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", "none"));
    assert_ok(ctx, kfe_fit(ctx, spec, train, &model));
    kfe_spec_free(spec);
    return model;
}

kfe_matrix support_transform(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_matrix features;

    assert_ok(ctx, kfe_transform(ctx, model, data, &features));
    assert_int_equal(features.rows, kfe_data_rows(data));
    assert_int_equal(features.cols, kfe_model_dim(model));
    assert_int_equal(features.stride, features.cols);
    return features;
}

kfe_matrix support_features(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                            const kfe_data *train, const kfe_data *data)
{
    kfe_model *model = support_fit(ctx, method, params, kernel, train);
    kfe_matrix features = support_transform(ctx, model, data);

    kfe_model_free(model);
    return features;
}

static kfe_status set_classes(kfe_context *ctx, kfe_data *data, const support_fit_case *one)
{
    const char **labels = get(one->rows, sizeof *labels);
    char(*names)[16] = get(one->rows, sizeof *names);

    for (int64_t i = 0; i < one->rows; i++) {
        snprintf(names[i], sizeof names[i], "c%d", one->class_of[i]);
        labels[i] = names[i];
    }
    kfe_status status = kfe_data_set_labels(ctx, data, labels);
    free(labels);
    free(names);
    return status;
}

kfe_status support_fit_use(kfe_context *ctx, void *fit_case)
{
    const support_fit_case *one = fit_case;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_status status = kfe_data_wrap_dense(ctx, one->rows, one->cols, one->cols, one->x, &data);

    if (status == KFE_OK && one->class_of)
        status = set_classes(ctx, data, one);
    else if (status == KFE_OK && one->y)
        status = kfe_data_set_targets(ctx, data, one->targets, one->y);
    if (status == KFE_OK)
        status = kfe_spec_parse(ctx, one->method, one->params, one->kernel, &spec);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, data, &model);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

/* ---- linear algebra ---- */

double *support_product(int64_t m, int64_t n, int64_t k, const double *a, const double *b)
{
    double *c = reals(m * k);

    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < n; l++)
            for (int64_t j = 0; j < k; j++)
                c[i * k + j] += a[i * n + l] * b[l * k + j];
    return c;
}

double *support_transpose(int64_t m, int64_t n, const double *a)
{
    double *t = reals(m * n);

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            t[j * m + i] = a[i * n + j];
    return t;
}

/* a ← JᵀaJ and v ← vJ with the rotation J that makes a[p,q] zero. */
static void rotate(int64_t n, double *a, double *v, int64_t p, int64_t q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double cosine = 1 / sqrt(t * t + 1);
    double sine = t * cosine;

    for (int64_t i = 0; i < n; i++) {
        double x = a[i * n + p];
        double y = a[i * n + q];
        a[i * n + p] = cosine * x - sine * y;
        a[i * n + q] = sine * x + cosine * y;
    }
    for (int64_t i = 0; i < n; i++) {
        double x = a[p * n + i];
        double y = a[q * n + i];
        a[p * n + i] = cosine * x - sine * y;
        a[q * n + i] = sine * x + cosine * y;
        x = v[i * n + p];
        y = v[i * n + q];
        v[i * n + p] = cosine * x - sine * y;
        v[i * n + q] = sine * x + cosine * y;
    }
}

static void sort_eigenpairs(int64_t n, const double *diagonal, const double *v, double *values,
                            double *vectors)
{
    int *used = get(n, sizeof *used);

    for (int64_t j = 0; j < n; j++) {
        int64_t best = -1;
        for (int64_t l = 0; l < n; l++)
            if (!used[l] && (best < 0 || diagonal[l * n + l] > diagonal[best * n + best]))
                best = l;
        used[best] = 1;
        values[j] = diagonal[best * n + best];
        for (int64_t i = 0; i < n; i++)
            vectors[i * n + j] = v[i * n + best];
    }
    free(used);
}

void support_jacobi(int64_t n, const double *a, double *values, double *vectors)
{
    enum { SWEEPS = 30 };
    double *work = reals(n * n);
    double *v = reals(n * n);

    memcpy(work, a, (size_t)(n * n) * sizeof *work);
    for (int64_t i = 0; i < n; i++)
        v[i * n + i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++)
                if (work[p * n + q] != 0)
                    rotate(n, work, v, p, q);
    sort_eigenpairs(n, work, v, values, vectors);
    free(work);
    free(v);
}

static void eliminate(int64_t n, int64_t k, double *a, double *x, int64_t p)
{
    int64_t pivot = p;

    for (int64_t i = p; i < n; i++)
        if (fabs(a[i * n + p]) > fabs(a[pivot * n + p]))
            pivot = i;
    for (int64_t j = 0; j < n; j++) {
        double swap = a[p * n + j];
        a[p * n + j] = a[pivot * n + j];
        a[pivot * n + j] = swap;
    }
    for (int64_t j = 0; j < k; j++) {
        double swap = x[p * k + j];
        x[p * k + j] = x[pivot * k + j];
        x[pivot * k + j] = swap;
    }
    for (int64_t i = 0; i < n; i++) {
        double factor = i == p ? 0 : a[i * n + p] / a[p * n + p];
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] -= factor * a[p * n + j];
        for (int64_t j = 0; j < k; j++)
            x[i * k + j] -= factor * x[p * k + j];
    }
}

double *support_solve(int64_t n, int64_t k, const double *a, const double *b)
{
    double *work = reals(n * n);
    double *x = reals(n * k);

    memcpy(work, a, (size_t)(n * n) * sizeof *work);
    memcpy(x, b, (size_t)(n * k) * sizeof *x);
    for (int64_t p = 0; p < n; p++)
        eliminate(n, k, work, x, p);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            x[i * k + j] /= work[i * n + i];
    free(work);
    return x;
}

void support_generalized(int64_t n, const double *a, const double *b, double *values, double *vectors)
{
    double *root = reals(n * n);
    double *spread = reals(n);

    support_jacobi(n, b, spread, root);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            root[i * n + j] /= sqrt(spread[j]);
    double *turned = support_transpose(n, n, root);
    double *half = support_product(n, n, n, turned, a);
    double *whitened = support_product(n, n, n, half, root);
    double *v = reals(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            whitened[i * n + j] = whitened[j * n + i] = (whitened[i * n + j] + whitened[j * n + i]) / 2;
    support_jacobi(n, whitened, values, v);
    double *back = support_product(n, n, n, root, v);
    memcpy(vectors, back, (size_t)(n * n) * sizeof *vectors);
    free(root);
    free(spread);
    free(turned);
    free(half);
    free(whitened);
    free(v);
    free(back);
}

double support_condition(int64_t n, const double *a)
{
    double *values = reals(n);
    double *vectors = reals(n * n);

    support_jacobi(n, a, values, vectors);
    double condition = values[0] / values[n - 1];
    free(values);
    free(vectors);
    return condition;
}

double *support_centre_columns(int64_t rows, int64_t cols, double *a)
{
    double *means = reals(cols);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            means[j] += a[i * cols + j] / (double)rows;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            a[i * cols + j] -= means[j];
    return means;
}

void support_centre_kernel(int64_t n, double *k)
{
    free(support_centre_columns(n, n, k));
    double *turned = support_transpose(n, n, k);
    free(support_centre_columns(n, n, turned));
    memcpy(k, turned, (size_t)(n * n) * sizeof *k);
    free(turned);
}

static void add_outer(int64_t k, double weight, const double *x, const double *origin, double *out)
{
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++)
            out[i * k + j] += weight * (x[i] - origin[i]) * (x[j] - origin[j]);
}

void support_scatters(int64_t rows, int64_t k, const double *z, const int *class_of, int classes,
                      double **between, double **within)
{
    double *means = reals((classes + 1) * k);
    double *sizes = reals(classes);
    double *overall = means + classes * k;

    *between = reals(k * k);
    *within = reals(k * k);
    for (int64_t i = 0; i < rows; i++)
        sizes[class_of[i]] += 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < k; j++) {
            means[class_of[i] * k + j] += z[i * k + j] / sizes[class_of[i]];
            overall[j] += z[i * k + j] / (double)rows;
        }
    for (int64_t i = 0; i < rows; i++)
        add_outer(k, 1, z + i * k, means + class_of[i] * k, *within);
    for (int64_t g = 0; g < classes; g++)
        add_outer(k, sizes[g], means + g * k, overall, *between);
    free(means);
    free(sizes);
}

int64_t support_square_map_width(int64_t cols)
{
    return (cols + 1) * (cols + 2) / 2;
}

double *support_square_map(int64_t rows, int64_t cols, const double *x, double gamma)
{
    int64_t width = support_square_map_width(cols);
    double *mapped = reals(rows * width);

    for (int64_t i = 0; i < rows; i++) {
        const double *row = x + i * cols;
        double *out = mapped + i * width;
        *out++ = 1;
        for (int64_t j = 0; j < cols; j++)
            *out++ = sqrt(2 * gamma) * row[j];
        for (int64_t j = 0; j < cols; j++)
            for (int64_t l = 0; l <= j; l++)
                *out++ = (l == j ? 1 : sqrt(2.0)) * gamma * row[j] * row[l];
    }
    return mapped;
}

double *support_rbf(int64_t m, const double *x, int64_t n, const double *y, int64_t cols, double gamma)
{
    double *k = reals(m * n);

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double squared = 0;
            for (int64_t l = 0; l < cols; l++)
                squared += (x[i * cols + l] - y[j * cols + l]) * (x[i * cols + l] - y[j * cols + l]);
            k[i * n + j] = exp(-gamma * squared);
        }
    return k;
}

/* ---- distances ---- */

double support_largest(int64_t count, const double *a)
{
    double largest = 0;

    for (int64_t i = 0; i < count; i++)
        largest = fabs(a[i]) > largest || isnan(a[i]) ? fabs(a[i]) : largest;
    return largest;
}

double support_distance(int64_t count, const double *a, const double *b)
{
    double largest = support_largest(count, a);
    double difference = 0;

    for (int64_t i = 0; i < count; i++)
        if (fabs(a[i] - b[i]) > difference || isnan(a[i] - b[i]))
            difference = isnan(a[i] - b[i]) ? (double)INFINITY : fabs(a[i] - b[i]);
    return largest > 0 ? difference / largest : difference;
}

double support_distance_up_to_sign(int64_t rows, int64_t k, const double *a, const double *b)
{
    double *turned = reals(rows * k);

    for (int64_t j = 0; j < k; j++) {
        double along = 0;
        for (int64_t i = 0; i < rows; i++)
            along += a[i * k + j] * b[i * k + j];
        for (int64_t i = 0; i < rows; i++)
            turned[i * k + j] = along < 0 ? -b[i * k + j] : b[i * k + j];
    }
    double distance = support_distance(rows * k, a, turned);
    free(turned);
    return distance;
}

static double *outer(int64_t rows, int64_t k, const double *a)
{
    double *turned = support_transpose(rows, k, a);
    double *product = support_product(rows, k, rows, a, turned);

    free(turned);
    return product;
}

double support_distance_up_to_rotation(int64_t rows, int64_t ka, const double *a, int64_t kb, const double *b)
{
    double *left = outer(rows, ka, a);
    double *right = outer(rows, kb, b);
    double distance = support_distance(rows * rows, left, right);

    free(left);
    free(right);
    return distance;
}

static double dot(int64_t rows, const double *x, int64_t x_step, const double *y, int64_t y_step)
{
    double sum = 0;

    for (int64_t i = 0; i < rows; i++)
        sum += x[i * x_step] * y[i * y_step];
    return sum;
}

/* Orthogonalises x against the first `count` columns of the orthonormal q (rows × stride). It does so twice,
 * because one pass leaves a rounding error as large as what it removed. */
static void take_out(int64_t rows, const double *q, int64_t stride, int64_t count, double *x, int64_t step)
{
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < count; j++) {
            double along = dot(rows, q + j, stride, x, step);
            for (int64_t i = 0; i < rows; i++)
                x[i * step] -= along * q[i * stride + j];
        }
}

double support_outside_span(int64_t rows, int64_t ka, const double *a, int64_t kb, const double *b)
{
    double *q = reals(rows * ka);
    double *left = reals(rows * kb);
    double worst = 0;

    memcpy(q, a, (size_t)(rows * ka) * sizeof *q);
    memcpy(left, b, (size_t)(rows * kb) * sizeof *left);
    for (int64_t j = 0; j < ka; j++) {
        take_out(rows, q, ka, j, q + j, ka);
        double length = sqrt(dot(rows, q + j, ka, q + j, ka));
        for (int64_t i = 0; i < rows; i++)
            q[i * ka + j] /= length;
    }
    for (int64_t j = 0; j < kb; j++) {
        double before = dot(rows, b + j, kb, b + j, kb);
        take_out(rows, q, ka, ka, left + j, kb);
        worst = fmax(worst, sqrt(dot(rows, left + j, kb, left + j, kb) / before));
    }
    free(q);
    free(left);
    return worst;
}
