/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of squares and products of the training data, learned by kfe_fit and kept in the model. */
#include "model/moments.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/dense/linalg.h"

void kfe_i_moments_free(kfe_i_moments *m)
{
    double *arrays[] = {m->column_means, m->column_squares, m->cross,          m->feature_means,
                        m->products,     m->target_means,   m->target_squares, m->target_cross};

    for (size_t i = 0; m->ctx && i < sizeof arrays / sizeof *arrays; i++)
        kfe_i_free(m->ctx, arrays[i]);
    memset(m, 0, sizeof *m);
}

/* ---- learning ---- */

/* Subtracts the mean of each column of values (rows × cols), twice: the second pass removes what rounding left. */
static void centre(int64_t rows, int64_t cols, double *values, double *means)
{
    memset(means, 0, (size_t)cols * sizeof *means);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < cols; j++) {
            double mean = 0;
            for (int64_t i = 0; i < rows; i++)
                mean += values[i * cols + j];
            mean /= (double)rows;
            for (int64_t i = 0; i < rows; i++)
                values[i * cols + j] -= mean;
            means[j] += mean;
        }
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

static void add_column_sums(const kfe_i_table *x, double *means)
{
    int64_t first = x->kind == KFE_TABLE_CSR ? x->row_start[0] : 0;
    int64_t end = x->kind == KFE_TABLE_CSR ? x->row_start[x->rows] : 0;

    memset(means, 0, (size_t)x->cols * sizeof *means);
    for (int64_t e = first; e < end; e++)
        means[x->columns[e]] += x->values[e];
    for (int64_t i = 0; x->kind == KFE_TABLE_DENSE && i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++)
            means[j] += x->values[i * x->stride + j];
}

static void add_square(double value, double mean, double *sum)
{
    *sum += (value - mean) * (value - mean);
}

/* Entries that a sparse table does not store are zeros, which lie a mean away from the mean. */
static void find_columns(const kfe_i_table *x, double *means, double *squares)
{
    int64_t first = x->kind == KFE_TABLE_CSR ? x->row_start[0] : 0;
    int64_t end = x->kind == KFE_TABLE_CSR ? x->row_start[x->rows] : 0;

    add_column_sums(x, means);
    for (int64_t j = 0; j < x->cols; j++) {
        means[j] /= (double)x->rows;
        squares[j] = x->kind == KFE_TABLE_CSR ? (double)x->rows * means[j] * means[j] : 0;
    }
    for (int64_t e = first; e < end; e++) {
        double mean = means[x->columns[e]];
        squares[x->columns[e]] += x->values[e] * (x->values[e] - 2 * mean);
    }
    for (int64_t i = 0; x->kind == KFE_TABLE_DENSE && i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++)
            add_square(x->values[i * x->stride + j], means[j], &squares[j]);
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
        find_columns(x, m->column_means + first, m->column_squares + first);
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
    centre(rows, m->targets, y, m->target_means);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < m->targets; t++)
            m->target_squares[t] += y[i * m->targets + t] * y[i * m->targets + t];
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
    centre(t->rows, t->cols, *out, m->feature_means);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)m->dim, (blasint)t->rows, 1, *out,
                (blasint)m->dim, 0, m->products, (blasint)m->dim);
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
