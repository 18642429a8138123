/* SPDX-License-Identifier: Apache-2.0 */
/* The average gradient outer product from the gradients of all rows, panel by panel; called by gradient.c. */
#include "kernel/tile/gradient_parts.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/tile/panels.h"

/* Numbers of all gradients of one panel: 32 MB a thread. Wide data gets panels of fewer rows. */
enum { PANEL_NUMBERS = 1 << 22, LEAST_SIDE = 8 };

typedef struct rows_job {
    const kfe_i_agop_job *whole;
    int64_t side;
    double *work; /* per thread: sums, gradients, factors, a block of support rows, a tile, scratch */
    int64_t own;
} rows_job;

/* The workspace of one thread, in its parts. */
typedef struct panel_work {
    double *sums;      /* the AGOP of this thread's rows */
    double *gradients; /* side × k × d */
    double *factors;   /* side × k: Σ_i A[i, c] φ'_i */
    double *block;     /* KFE_TILE_SIDE × d: rows of the support, then times A[:, c] */
    double *weighted;
    double *tile, *scratch;
} panel_work;

static panel_work parts_of(const rows_job *job, int thread)
{
    int64_t k = job->whole->f->k;
    panel_work w = {.sums = job->work + job->own * thread};

    w.gradients = w.sums + kfe_i_agop_size(job->whole);
    w.factors = w.gradients + job->side * k * job->whole->d;
    w.block = w.factors + job->side * k;
    w.weighted = w.block + KFE_TILE_SIDE * job->whole->d;
    w.tile = w.weighted + KFE_TILE_SIDE * job->whole->d;
    w.scratch = w.tile + KFE_TILE_SIZE;
    return w;
}

/* weighted = diag(A[first …, c])·block */
static void weigh_block(const rows_job *job, const panel_work *w, int64_t first, int64_t count, int64_t c)
{
    for (int64_t i = 0; i < count; i++) {
        double a = job->whole->f->coefficients[(first + i) * job->whole->f->k + c];
        for (int64_t j = 0; j < job->whole->d; j++)
            w->weighted[i * job->whole->d + j] = a * w->block[i * job->whole->d + j];
    }
}

/* Adds one tile of φ', rows × cols, to gradients and factors. */
static void add_tile(const rows_job *job, const kfe_i_slope_term *t, const panel_work *w, int64_t rows,
                     kfe_i_range cols)
{
    int64_t k = job->whole->f->k;
    int64_t d = job->whole->d;
    int by_distance = t->kernel.def->base == KFE_BASE_DISTANCE;

    kfe_i_agop_points(&t->support, cols.first, cols.count, w->block);
    for (int64_t c = 0; c < k; c++) {
        weigh_block(job, w, cols.first, cols.count, c);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)d, (blasint)cols.count,
                    t->weight, w->tile, KFE_TILE_STRIDE, w->weighted, (blasint)d, 1, w->gradients + c * d,
                    (blasint)(k * d));
    }
    if (by_distance)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)k, (blasint)cols.count,
                    -t->weight, w->tile, KFE_TILE_STRIDE, job->whole->f->coefficients + cols.first * k,
                    (blasint)k, 1, w->factors, (blasint)k);
}

/* gradients += factor·x for each row x of the panel */
static void add_rows(const rows_job *job, const kfe_i_slope_term *t, const panel_work *w, int64_t row,
                     int64_t rows)
{
    int64_t k = job->whole->f->k;
    int64_t d = job->whole->d;

    for (int64_t i = 0; i < rows; i++) {
        kfe_i_table_dense_row(&t->rows.table, row + i, w->block);
        for (int64_t c = 0; c < k; c++)
            cblas_daxpy((blasint)d, w->factors[i * k + c], w->block, 1, w->gradients + (i * k + c) * d, 1);
    }
}

static void add_term(const rows_job *job, const kfe_i_slope_term *t, const panel_work *w, int64_t row,
                     int64_t rows)
{
    int64_t n = t->support.table.rows;

    memset(w->factors, 0, (size_t)(rows * job->whole->f->k) * sizeof *w->factors);
    memset(w->scratch, 0, (size_t)kfe_i_tile_scratch(&t->rows, &t->support) * sizeof *w->scratch);
    for (int64_t col = 0; col < n; col += KFE_TILE_SIDE) {
        kfe_i_range cols = {&t->support, col, n - col < KFE_TILE_SIDE ? n - col : KFE_TILE_SIDE};
        kfe_i_tile_eval(&t->kernel, (kfe_i_range){&t->rows, row, rows}, cols, w->tile, KFE_TILE_STRIDE,
                        w->scratch);
        add_tile(job, t, w, rows, cols);
    }
    if (t->kernel.def->base == KFE_BASE_DISTANCE)
        add_rows(job, t, w, row, rows);
}

/* The lower triangle of gᵀg, or its diagonal, into the thread's sums. */
static void add_outer_products(const rows_job *job, const panel_work *w, int64_t rows)
{
    int64_t count = rows * job->whole->f->k;
    int64_t d = job->whole->d;

    if (!job->whole->diagonal) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)d, (blasint)count, 1, w->gradients,
                    (blasint)d, 1, w->sums, (blasint)d);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < d; j++)
            w->sums[j] += w->gradients[i * d + j] * w->gradients[i * d + j];
}

static void agop_panel(const void *user, int64_t row, int thread)
{
    const rows_job *job = user;
    panel_work w = parts_of(job, thread);
    int64_t rows = job->whole->n - row < job->side ? job->whole->n - row : job->side;

    memset(w.gradients, 0, (size_t)(rows * job->whole->f->k * job->whole->d) * sizeof *w.gradients);
    for (int64_t m = 0; m < job->whole->f->kernels->count; m++)
        add_term(job, &job->whole->terms[m], &w, row, rows);
    for (int64_t i = 0; job->whole->weights && i < rows; i++)
        cblas_dscal((blasint)(job->whole->f->k * job->whole->d), sqrt(job->whole->weights[row + i]),
                    w.gradients + i * job->whole->f->k * job->whole->d, 1);
    add_outer_products(job, &w, rows);
}

/* ---- beginning and end ---- */

static kfe_status make_workspace(rows_job *job, int threads)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = job->whole->ctx;
    int64_t k = job->whole->f->k;
    int64_t d = job->whole->d;

    job->side = PANEL_NUMBERS / (k * d > 0 ? k * d : 1);
    job->side = job->side > KFE_TILE_SIDE ? KFE_TILE_SIDE : job->side < LEAST_SIDE ? LEAST_SIDE : job->side;
    job->own = kfe_i_agop_size(job->whole) + job->side * k * (d + 1) + 2 * KFE_TILE_SIDE * d + KFE_TILE_SIZE +
               kfe_i_agop_scratch(job->whole);
    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)job->own * threads, "gradients of so many columns",
                               "use {distance=diagonal} or raise {memory}"));
    KFE_ALLOC_ZERO(ctx, job->work, job->own * threads);
cleanup:
    return status;
}

/* out = the sums of all threads, in the order of threads. */
static void combine(const rows_job *job, int threads, double *out)
{
    for (int64_t p = 0; p < kfe_i_agop_size(job->whole); p++) {
        out[p] = 0;
        for (int t = 0; t < threads; t++)
            out[p] += job->work[job->own * t + p];
    }
}

kfe_status kfe_i_agop_by_rows(const kfe_i_agop_job *whole, double *out)
{
    kfe_status status = KFE_OK;
    int threads = kfe_context_threads(whole->ctx);
    rows_job job = {.whole = whole};

    KFE_TRY(make_workspace(&job, threads));
    KFE_TRY(kfe_i_each_dealt_panel(
        whole->ctx, &(kfe_i_panels){"computing gradients", threads, whole->n, job.side, KFE_SHARE_FIXED},
        whole->share, agop_panel, &job));
    combine(&job, threads, out);
cleanup:
    kfe_i_free(whole->ctx, job.work);
    return status;
}
