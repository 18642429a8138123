/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far rows lie from the training data. With whitened scores u of n training rows (shared/spread.h) and scaled columns x ≈ x̄ + Bu,
 *
 *     T² = (n − 1)‖u‖²        Hotelling's T², the distance from the centre within the features
 *     Q  = ‖x − x̄ − Bu‖²      the squared prediction error (SPE), the distance from what the features can show; with missing values the mean
 *                             over observed columns, times the number of columns
 *
 * Jackson & Mudholkar (1979). Time O(ndr), memory for some rows per thread. kfe_fit learns the spread of both; explain/diagnostics.c makes
 * limits of it and measures new rows.
 */
#include "model/diagnose.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

const char *const kfe_i_diagnostic_names[KFE_DIAGNOSTICS] = {"t2",    "q",       "leverage", "distance",
                                                             "dmodx", "p-value", "outlier"};

/* Numbers of a thread's residuals, which should stay in the cache. */
enum { BLOCK_NUMBERS = 1 << 17, MOST_BLOCK_ROWS = 256 };

typedef struct measuring {
    const kfe_model *model;
    kfe_i_whitening whitening;
    const kfe_i_table *scaled;
    const double *features;
    kfe_i_row_distances out;
    double *products; /* BᵀB, for sparse tables */
    double *shift;    /* Bᵀx̄ of them */
    double mean_square;
    int64_t rows, block_rows;
} measuring;

/* ---- a block of rows ---- */

/* u (count × rank) and T² of the rows from `first` on; `work` has room for their features. */
static void score_rows(const measuring *job, int64_t first, int64_t count, double *work, double *u)
{
    const kfe_i_moments *m = &job->model->moments;
    int64_t r = job->whitening.rank;

    for (int64_t i = 0; i < count; i++)
        for (int64_t a = 0; a < m->dim; a++)
            work[i * m->dim + a] = job->features[(first + i) * m->dim + a] - m->feature_means[a];
    if (r > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)count, (blasint)r, (blasint)m->dim, 1,
                    work, (blasint)m->dim, job->whitening.map, (blasint)r, 0, u, (blasint)r);
    for (int64_t i = 0; job->out.t2 && i < count; i++)
        job->out.t2[first + i] =
            (m->spread[KFE_SPREAD_MASS] - 1) * cblas_ddot((blasint)r, u + i * r, 1, u + i * r, 1);
}

/* x − x̄ of the rows, all views side by side. */
static void centre_rows(const measuring *job, int64_t first, int64_t count, double *out)
{
    const kfe_i_moments *m = &job->model->moments;

    for (int64_t i = 0; i < count; i++) {
        double *row = out + i * m->cols;
        for (int v = 0; v < job->model->view_count; row += job->scaled[v++].cols)
            kfe_i_table_dense_row(&job->scaled[v], first + i, row);
        row = out + i * m->cols;
        for (int64_t j = 0; j < m->cols; j++)
            row[j] -= m->column_means[j];
    }
}

/* Residuals of missing values become zero. The share of values that are not missing; 1 if all are. */
static double drop_missing(int64_t d, double *rest)
{
    int64_t observed = 0;

    for (int64_t j = 0; j < d; j++)
        if (isnan(rest[j]))
            rest[j] = 0;
        else
            observed++;
    return observed > 0 ? (double)observed / (double)d : 1;
}

static void measure_dense(const measuring *job, int64_t first, int64_t count, const double *u, double *rest)
{
    int64_t d = job->model->moments.cols;
    int64_t r = job->whitening.rank;

    centre_rows(job, first, count, rest);
    if (r > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count, (blasint)d, (blasint)r, -1, u,
                    (blasint)r, job->whitening.basis, (blasint)r, 1, rest, (blasint)d);
    for (int64_t i = 0; i < count; i++) {
        double share = job->model->nipals.dim > 0 ? drop_missing(d, rest + i * d) : 1;
        if (job->out.q)
            job->out.q[first + i] = cblas_ddot((blasint)d, rest + i * d, 1, rest + i * d, 1) / share;
    }
}

/* ‖x − x̄‖², and z = Bᵀ(x − x̄), from the entries of a row. */
static double project_entries(const measuring *job, int64_t i, double *z)
{
    const kfe_i_moments *m = &job->model->moments;
    int64_t r = job->whitening.rank;
    int64_t before = 0;
    double square = job->mean_square;

    for (int64_t e = 0; e < r; e++)
        z[e] = -job->shift[e];
    for (int v = 0; v < job->model->view_count; before += job->scaled[v++].cols) {
        const kfe_i_table *x = &job->scaled[v];
        for (int64_t p = x->row_start[i]; p < x->row_start[i + 1]; p++) {
            int64_t j = before + x->columns[p];
            square += x->values[p] * (x->values[p] - 2 * m->column_means[j]);
            cblas_daxpy((blasint)r, x->values[p], job->whitening.basis + j * r, 1, z, 1);
        }
    }
    return square;
}

/* Q = ‖x − x̄‖² − 2uᵀz + uᵀBᵀBu */
static void measure_sparse(const measuring *job, int64_t first, int64_t count, const double *u, double *z)
{
    int64_t r = job->whitening.rank;

    for (int64_t i = 0; i < count; i++) {
        const double *row = u + i * r;
        double q = project_entries(job, first + i, z);
        for (int64_t a = 0; a < r; a++)
            q += row[a] * (cblas_ddot((blasint)r, job->products + a * r, 1, row, 1) - 2 * z[a]);
        job->out.q[first + i] = fmax(q, 0);
    }
}

/* ---- all rows ---- */

static int is_sparse(const measuring *job)
{
    for (int v = 0; v < job->model->view_count; v++)
        if (job->scaled[v].kind != KFE_TABLE_CSR)
            return 0;
    return !job->out.residuals;
}

static kfe_status prepare_sparse(kfe_context *ctx, measuring *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    int64_t r = job->whitening.rank;

    KFE_ALLOC_ZERO(ctx, job->products, r * r);
    KFE_ALLOC_ZERO(ctx, job->shift, r);
    job->mean_square = cblas_ddot((blasint)m->cols, m->column_means, 1, m->column_means, 1);
    for (int64_t j = 0; j < m->cols; j++) {
        const double *row = job->whitening.basis + j * r;
        cblas_daxpy((blasint)r, m->column_means[j], row, 1, job->shift, 1);
        for (int64_t a = 0; a < r; a++)
            cblas_daxpy((blasint)r, row[a], row, 1, job->products + a * r, 1);
    }
cleanup:
    return status;
}

/* `work`: what one thread needs for a block. */
static void measure_block(const measuring *job, int64_t first, int sparse, double *work)
{
    const kfe_i_moments *m = &job->model->moments;
    int64_t count = job->rows - first < job->block_rows ? job->rows - first : job->block_rows;
    double *u = work;
    double *rest = u + job->block_rows * m->dim;

    score_rows(job, first, count, rest, u);
    if (sparse)
        measure_sparse(job, first, count, u, rest);
    else if (job->out.residuals)
        measure_dense(job, first, count, u, job->out.residuals + first * m->cols);
    else if (job->out.q)
        measure_dense(job, first, count, u, rest);
}

static kfe_status measure_blocks(kfe_context *ctx, measuring *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    int sparse = job->out.q && is_sparse(job);
    int64_t width = sparse || !job->out.q || m->cols < m->dim ? m->dim : m->cols;
    int64_t blocks = 0;
    int threads = 0;
    double *work = NULL;

    job->block_rows = BLOCK_NUMBERS / width < 1                 ? 1
                      : BLOCK_NUMBERS / width < MOST_BLOCK_ROWS ? BLOCK_NUMBERS / width
                                                                : MOST_BLOCK_ROWS;
    blocks = (job->rows + job->block_rows - 1) / job->block_rows;
    threads = (int64_t)kfe_context_threads(ctx) < blocks ? kfe_context_threads(ctx) : (int)blocks;
    int64_t size = job->block_rows * (m->dim + width);
    KFE_ALLOC(ctx, work, threads * size);
    if (sparse)
        KFE_TRY(prepare_sparse(ctx, job));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++)
        for (int64_t b = blocks * t / threads; b < blocks * (t + 1) / threads; b++)
            measure_block(job, b * job->block_rows, sparse, work + t * size);
cleanup:
    kfe_i_free(ctx, work);
    kfe_i_free(ctx, job->products);
    kfe_i_free(ctx, job->shift);
    return status;
}

kfe_status kfe_i_measure_rows(kfe_context *ctx, const kfe_model *model, const kfe_i_table *scaled,
                              const double *features, kfe_i_row_distances out)
{
    kfe_status status = KFE_OK;
    measuring job = {
        .model = model, .scaled = scaled, .features = features, .out = out, .rows = scaled[0].rows};

    KFE_TRY(kfe_i_whiten(ctx, &model->moments, &job.whitening));
    KFE_TRY(measure_blocks(ctx, &job));
cleanup:
    kfe_i_whitening_free(&job.whitening);
    return status;
}

/* ---- learning ---- */

/* The mean and the variance over rows that count by their weights. */
static void find_spread(const kfe_i_target *target, int64_t rows, const double *values, double *mean,
                        double *variance)
{
    double mass = kfe_i_target_mass(target, rows);

    *mean = *variance = 0;
    for (int64_t i = 0; i < rows; i++)
        *mean += kfe_i_weight_of(target, i) * values[i] / mass;
    for (int64_t i = 0; i < rows; i++)
        *variance += kfe_i_weight_of(target, i) * (values[i] - *mean) * (values[i] - *mean);
    *variance = mass > 1 ? *variance / (mass - 1) : 0;
}

/* The features of rows that are scaled already. */
static kfe_status features_of(kfe_context *ctx, const kfe_model *model, const kfe_i_table *scaled,
                              double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_ready ready = {.model = model, .scaled = (kfe_i_table *)(uintptr_t)scaled /* read only */};

    KFE_ALLOC_ZERO(ctx, ready.supports, model->view_count);
    kfe_i_ready_supports(&ready);
    KFE_TRY(kfe_i_ready_features(ctx, &ready, out));
cleanup:
    kfe_i_free(ctx, ready.supports);
    return status;
}

/* Distances of huge values are not finite: the model does without. */
static void keep_if_finite(kfe_context *ctx, kfe_i_moments *m)
{
    double sum = 0;

    for (int64_t i = 0; i < kfe_i_spread_count(m); i++)
        sum += m->spread[i];
    if (isfinite(sum))
        return;
    kfe_i_free(ctx, m->spread);
    m->spread = NULL;
}

/* Rows whose features and distances are computed at once. */
enum { LEARN_ROWS = 8192 };

static kfe_status measure_training(kfe_context *ctx, const kfe_model *model, const kfe_i_table *scaled,
                                   const double *features, kfe_i_row_distances all)
{
    kfe_status status = KFE_OK;
    int64_t rows = scaled[0].rows;
    double *own = NULL;
    kfe_i_table *part = NULL;

    if (!features)
        KFE_ALLOC(ctx, own, (rows < LEARN_ROWS ? rows : LEARN_ROWS) * model->dim);
    KFE_ALLOC(ctx, part, model->view_count);
    for (int64_t first = 0; first < rows; first += LEARN_ROWS) {
        int64_t count = rows - first < LEARN_ROWS ? rows - first : LEARN_ROWS;
        for (int v = 0; v < model->view_count; v++)
            part[v] = kfe_i_table_slice(&scaled[v], first, count);
        if (own)
            KFE_TRY(features_of(ctx, model, part, own));
        kfe_i_row_distances some = {.t2 = all.t2 + first, .q = all.q ? all.q + first : NULL};
        KFE_TRY(kfe_i_measure_rows(ctx, model, part, own ? own : features + first * model->dim, some));
    }
cleanup:
    kfe_i_free(ctx, own);
    kfe_i_free(ctx, part);
    return status;
}

kfe_status kfe_i_spread_learn(kfe_context *ctx, kfe_model *model, const kfe_i_table *scaled,
                              const kfe_i_table *features, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    kfe_i_moments *m = &model->moments;
    int64_t rows = scaled[0].rows;
    kfe_i_row_distances all = {0};
    double mean = 0;

    KFE_ALLOC_ZERO(ctx, m->spread, kfe_i_spread_count(m));
    m->spread[KFE_SPREAD_MASS] = kfe_i_target_mass(target, rows);
    KFE_ALLOC(ctx, all.t2, rows);
    if (m->cols > 0)
        KFE_ALLOC(ctx, all.q, rows);
    KFE_TRY(measure_training(ctx, model, scaled, features ? features->values : NULL, all));
    find_spread(target, rows, all.t2, &mean, &m->spread[KFE_SPREAD_T2_VARIANCE]);
    if (all.q)
        find_spread(target, rows, all.q, &m->spread[KFE_SPREAD_Q_MEAN], &m->spread[KFE_SPREAD_Q_VARIANCE]);
    keep_if_finite(ctx, m);
cleanup:
    kfe_i_free(ctx, all.t2);
    kfe_i_free(ctx, all.q);
    return status;
}
