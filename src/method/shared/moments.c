/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of squares and products of the training data, learned by kfe_fit and kept in the model. */
#include "method/shared/moments.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"

void kfe_i_moments_free(kfe_i_moments *m)
{
    double *arrays[] = {m->column_means, m->column_squares, m->cross,        m->feature_means, m->products,
                        m->target_means, m->target_squares, m->target_cross, m->spread};

    for (size_t i = 0; m->ctx && i < sizeof arrays / sizeof *arrays; i++)
        kfe_i_free(m->ctx, arrays[i]);
    memset(m, 0, sizeof *m);
}

/* ---- learning ---- */

/* Subtracts the mean of each column of values (rows × cols), twice: the second pass removes what rounding left. Rows count by the
 * weights of the target. */
static void centre(const kfe_i_target *target, int64_t rows, int64_t cols, double *values, double *means)
{
    double mass = kfe_i_target_mass(target, rows);

    memset(means, 0, (size_t)cols * sizeof *means);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < cols; j++) {
            double mean = 0;
            for (int64_t i = 0; i < rows; i++)
                mean += kfe_i_weight_of(target, i) * values[i * cols + j];
            mean /= mass;
            for (int64_t i = 0; i < rows; i++)
                values[i * cols + j] -= mean;
            means[j] += mean;
        }
}

/* Multiplies every row by the root of its weight. */
static void weigh(const kfe_i_target *target, int64_t rows, int64_t cols, double *values)
{
    for (int64_t i = 0; target->weights && i < rows; i++)
        cblas_dscal((blasint)cols, sqrt(target->weights[i]), values + i * cols, 1);
}

static int64_t target_count(const kfe_i_target *target)
{
    if (target->task == KFE_TASK_REAL)
        return target->cols;
    return target->task == KFE_TASK_CLASSES ? target->class_count : 0;
}

static double target_value(const kfe_i_target *target, int64_t i, int64_t m)
{
    if (target->task == KFE_TASK_REAL)
        return target->values[i * target->cols + m];
    return target->codes[i] == m ? 1 : -1;
}

/* The entries of one row: its values and, of a sparse table, their columns. */
typedef struct row {
    const double *values;
    const int32_t *columns; /* NULL: all columns */
    int64_t count;
    double weight;
} row;

static row row_at(const kfe_i_table *x, const kfe_i_target *target, int64_t i)
{
    int sparse = x->kind == KFE_TABLE_CSR;
    int64_t begin = sparse ? x->row_start[i] : i * x->stride;

    return (row){.values = x->values + begin,
                 .columns = sparse ? x->columns + begin : NULL,
                 .count = sparse ? x->row_start[i + 1] - begin : x->cols,
                 .weight = kfe_i_weight_of(target, i)};
}

static void find_means(const kfe_i_table *x, const kfe_i_target *target, double mass, double *means)
{
    memset(means, 0, (size_t)x->cols * sizeof *means);
    for (int64_t i = 0; i < x->rows; i++) {
        row r = row_at(x, target, i);
        for (int64_t e = 0; e < r.count; e++)
            means[r.columns ? r.columns[e] : e] += r.weight * r.values[e];
    }
    for (int64_t j = 0; j < x->cols; j++)
        means[j] /= mass;
}

/* Entries that a sparse table does not store are zeros, which lie a mean away from the mean. */
static void find_columns(const kfe_i_table *x, const kfe_i_target *target, double *means, double *squares)
{
    double mass = kfe_i_target_mass(target, x->rows);
    int sparse = x->kind == KFE_TABLE_CSR;

    find_means(x, target, mass, means);
    for (int64_t j = 0; j < x->cols; j++)
        squares[j] = sparse ? mass * means[j] * means[j] : 0;
    for (int64_t i = 0; i < x->rows; i++) {
        row r = row_at(x, target, i);
        for (int64_t e = 0; e < r.count; e++) {
            int64_t j = r.columns ? r.columns[e] : e;
            double left = r.values[e] - means[j];
            squares[j] += r.weight * (sparse ? r.values[e] * (r.values[e] - 2 * means[j]) : left * left);
        }
    }
}

/* The features sum to zero up to rounding, so the means of the columns need only a correction of that size. */
static void correct_cross(const kfe_i_moments *m, int64_t first, int64_t cols, const double *rest)
{
    for (int64_t j = first; j < first + cols; j++)
        for (int64_t a = 0; a < m->dim; a++)
            m->cross[j * m->dim + a] -= m->column_means[j] * rest[a];
}

static kfe_status learn_columns(const kfe_i_moment_data *data, const double *centred, kfe_i_moments *m)
{
    kfe_status status = KFE_OK;
    int64_t first = 0;
    int64_t rows = data->features->rows;
    double *rest = NULL;

    KFE_ALLOC_ZERO(m->ctx, rest, m->dim);
    KFE_ALLOC(m->ctx, m->column_means, m->cols);
    KFE_ALLOC(m->ctx, m->column_squares, m->cols);
    KFE_ALLOC(m->ctx, m->cross, m->cols * m->dim);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t a = 0; a < m->dim; a++)
            rest[a] += centred[i * m->dim + a];
    for (int v = 0; v < data->views; v++) {
        const kfe_i_table *x = &data->scaled[v];
        find_columns(x, data->target, m->column_means + first, m->column_squares + first);
        KFE_TRY(kfe_i_table_transpose_times(m->ctx, x, centred, m->dim, m->cross + first * m->dim));
        correct_cross(m, first, x->cols, rest);
        first += x->cols;
    }
cleanup:
    kfe_i_free(m->ctx, rest);
    return status;
}

static kfe_status learn_targets(const kfe_i_moment_data *data, const double *centred, kfe_i_moments *m)
{
    kfe_status status = KFE_OK;
    int64_t rows = data->features->rows;
    double *y = NULL;

    KFE_ALLOC(m->ctx, y, rows * m->targets);
    KFE_ALLOC(m->ctx, m->target_means, m->targets);
    KFE_ALLOC_ZERO(m->ctx, m->target_squares, m->targets);
    KFE_ALLOC_ZERO(m->ctx, m->target_cross, m->targets * m->dim);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < m->targets; t++)
            y[i * m->targets + t] = target_value(data->target, i, t);
    centre(data->target, rows, m->targets, y, m->target_means);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < m->targets; t++)
            m->target_squares[t] +=
                kfe_i_weight_of(data->target, i) * (y[i * m->targets + t] * y[i * m->targets + t]);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m->targets, (blasint)m->dim, (blasint)rows,
                1, y, (blasint)m->targets, centred, (blasint)m->dim, 0, m->target_cross, (blasint)m->dim);
cleanup:
    kfe_i_free(m->ctx, y);
    return status;
}

static kfe_status learn_features(const kfe_i_moment_data *data, kfe_i_moments *m, double **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *t = data->features;

    KFE_ALLOC(m->ctx, *out, t->rows * t->cols);
    KFE_ALLOC(m->ctx, m->feature_means, m->dim);
    KFE_ALLOC_ZERO(m->ctx, m->products, m->dim * m->dim);
    for (int64_t i = 0; i < t->rows; i++)
        memcpy(*out + i * t->cols, t->values + i * t->stride, (size_t)t->cols * sizeof **out);
    centre(data->target, t->rows, t->cols, *out, m->feature_means);
    weigh(data->target, t->rows, t->cols, *out);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)m->dim, (blasint)t->rows, 1, *out,
                (blasint)m->dim, 0, m->products, (blasint)m->dim);
    weigh(data->target, t->rows, t->cols,
          *out); /* by the whole weight: what it is multiplied with has none */
    kfe_i_mirror(m->dim, m->products);
cleanup:
    return status;
}

/* A model is saved only if it loads, and what loads is finite. */
static int is_finite(const kfe_i_moments *m)
{
    double sum = 0;

    for (int64_t j = 0; j < m->cols; j++)
        sum += fabs(m->column_squares[j]);
    for (int64_t j = 0; j < m->cols * m->dim; j++)
        sum += fabs(m->cross[j]);
    for (int64_t a = 0; a < m->dim * m->dim; a++)
        sum += fabs(m->products[a]);
    for (int64_t t = 0; t < m->targets; t++)
        sum += fabs(m->target_squares[t]) + fabs(m->target_means[t]);
    for (int64_t t = 0; t < m->targets * m->dim; t++)
        sum += fabs(m->target_cross[t]);
    return isfinite(sum);
}

kfe_status kfe_i_moments_learn(kfe_context *ctx, const kfe_i_moment_data *data, kfe_i_moments *out)
{
    kfe_status status = KFE_OK;
    double *centred = NULL;

    *out = (kfe_i_moments){.ctx = ctx, .dim = data->features->cols, .targets = target_count(data->target)};
    for (int v = 0; v < data->views; v++)
        out->cols += data->scaled[v].cols;
    KFE_TRY(learn_features(data, out, &centred));
    if (out->cols > 0)
        KFE_TRY(learn_columns(data, centred, out));
    if (out->targets > 0)
        KFE_TRY(learn_targets(data, centred, out));
    if (!is_finite(out))
        kfe_i_moments_free(out);
cleanup:
    kfe_i_free(ctx, centred);
    if (status != KFE_OK)
        kfe_i_moments_free(out);
    return status;
}

/* ---- learning from sums ---- */

static kfe_status sum_columns(const kfe_i_column_sums *x, kfe_i_moments *m)
{
    kfe_status status = KFE_OK;
    size_t bytes = (size_t)x->cols * sizeof(double);

    m->cols = x->cols;
    KFE_ALLOC(m->ctx, m->column_means, x->cols);
    KFE_ALLOC(m->ctx, m->column_squares, x->cols);
    KFE_ALLOC(m->ctx, m->cross, x->cols * m->dim);
    memcpy(m->column_means, x->means, bytes);
    memcpy(m->column_squares, x->squares, bytes);
    memcpy(m->cross, x->cross, bytes * (size_t)m->dim);
cleanup:
    return status;
}

/* Classes are +1 for members and −1 for others, as in learn/ls_sums.c. */
static kfe_status sum_targets(const kfe_i_sums *z, kfe_i_moments *m)
{
    kfe_status status = KFE_OK;
    int classes = z->task == KFE_TASK_CLASSES;

    m->targets = classes ? z->classes : z->targets;
    KFE_ALLOC(m->ctx, m->target_means, m->targets);
    KFE_ALLOC(m->ctx, m->target_squares, m->targets);
    KFE_ALLOC(m->ctx, m->target_cross, m->targets * m->dim);
    for (int64_t t = 0; t < m->targets; t++) {
        double share = classes ? z->class_rows[t] / z->rows : 0;
        m->target_means[t] = classes ? 2 * share - 1 : z->target_mean[t];
        m->target_squares[t] =
            classes ? 4 * z->class_rows[t] * (1 - share) : z->target_scatter[t * (z->targets + 1)];
        for (int64_t a = 0; a < m->dim; a++)
            m->target_cross[t * m->dim + a] =
                classes ? 2 * z->class_rows[t] * (z->class_means[t * m->dim + a] - z->mean[a])
                        : z->cross[a * z->targets + t];
    }
cleanup:
    return status;
}

kfe_status kfe_i_moments_from_sums(kfe_context *ctx, const kfe_i_column_sums *columns,
                                   const kfe_i_sums *features, kfe_i_moments *out)
{
    kfe_status status = KFE_OK;
    kfe_i_moments *m = out;

    *m = (kfe_i_moments){.ctx = ctx, .dim = features->cols};
    KFE_ALLOC(ctx, m->feature_means, m->dim);
    KFE_ALLOC(ctx, m->products, m->dim * m->dim);
    memcpy(m->feature_means, features->mean, (size_t)m->dim * sizeof *m->feature_means);
    for (int64_t i = 0; i < m->dim; i++)
        for (int64_t j = 0; j <= i; j++)
            m->products[i * m->dim + j] = features->scatter[j * m->dim + i];
    kfe_i_mirror(m->dim, m->products);
    if (columns)
        KFE_TRY(sum_columns(columns, m));
    if (features->task != KFE_TASK_NONE)
        KFE_TRY(sum_targets(features, m));
    if (!is_finite(m))
        kfe_i_moments_free(m);
cleanup:
    return status;
}

kfe_status kfe_i_moments_of_observed(kfe_context *ctx, kfe_i_nipals *nipals, kfe_i_moments *m)
{
    kfe_status status = KFE_OK;
    int64_t k = m->dim;

    KFE_ALLOC_ZERO(m->ctx, m->cross, nipals->cols * k);
    m->cols = nipals->cols;
    m->column_means = nipals->means; /* shifted by what the features' means explain */
    nipals->means = NULL;
    m->column_squares = nipals->squares;
    nipals->squares = NULL;
    KFE_ALLOC(ctx, nipals->means, m->cols);
    memcpy(nipals->means, m->column_means, (size_t)m->cols * sizeof *nipals->means);
    for (int64_t s = 0; s < k; s++) {
        int64_t at = nipals->places[s];
        const double *pattern = nipals->patterns + s * m->cols;
        cblas_daxpy((blasint)m->cols, m->feature_means[at], pattern, 1, m->column_means, 1);
        cblas_dger(CblasRowMajor, (blasint)m->cols, (blasint)k, 1, pattern, 1, m->products + at * k, 1,
                   m->cross, (blasint)k);
    }
    kfe_i_free(nipals->ctx, nipals->patterns);
    nipals->patterns = NULL;
cleanup:
    return status;
}

/* ---- least squares on the first features ---- */

kfe_status kfe_i_moments_factor(kfe_context *ctx, const kfe_i_moments *m, double l2, double **factor)
{
    kfe_status status = KFE_OK;
    int64_t k = m->dim;

    KFE_ALLOC(ctx, *factor, k * k);
    memcpy(*factor, m->products, (size_t)(k * k) * sizeof **factor);
    for (int64_t a = 0; a < k; a++) {
        (*factor)[a * k + a] += l2;
        if (!((*factor)[a * k + a] > 0))
            (*factor)[a * k + a] = 1;
    }
    KFE_TRY(kfe_i_cholesky(ctx, k, *factor, "the matrix of products of the features"));
cleanup:
    return status;
}

void kfe_i_moments_regress(const kfe_i_moments *m, const double *factor, int64_t count, double *coefficients)
{
    int64_t k = m->dim;
    int64_t t = m->targets;

    memset(coefficients, 0, (size_t)(k * t) * sizeof *coefficients);
    for (int64_t a = 0; a < count; a++)
        for (int64_t y = 0; y < t; y++)
            coefficients[a * t + y] = m->target_cross[y * k + a];
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)count, (blasint)t,
                1, factor, (blasint)k, coefficients, (blasint)t);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (blasint)count, (blasint)t, 1,
                factor, (blasint)k, coefficients, (blasint)t);
}
