/* SPDX-License-Identifier: Apache-2.0 */
/* The average gradient outer product of kernel expansions, panel by panel; methods that learn a metric use it. */
#include "kernel/tile/gradient.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"

/* Numbers of all gradients of one panel: 32 MB a thread. Wide data gets panels of fewer rows. */
enum { PANEL_NUMBERS = 1 << 22, LEAST_SIDE = 8 };

/* One kernel with its map replaced by its derivative, and both sets of points prepared for it. */
typedef struct term {
    kfe_i_kernel_def def;
    kfe_i_kernel kernel;
    kfe_i_points rows, support;
} term;

typedef struct agop_job {
    const kfe_i_expansion_sum *f;
    term *terms;
    int64_t n, d, side;
    int diagonal;
    const double *weights; /* of the rows; NULL: ones */
    double *work; /* per thread: sums, gradients, factors, a block of support rows, a tile, scratch */
    int64_t own, sum_size;
} agop_job;

/* The workspace of one thread, in its parts. */
typedef struct panel_work {
    double *sums;      /* the AGOP of this thread's rows */
    double *gradients; /* side × k × d */
    double *factors;   /* side × k: Σ_i A[i, c] φ'_i */
    double *block;     /* KFE_TILE_SIDE × d: rows of the support, then times A[:, c] */
    double *weighted;
    double *tile, *scratch;
} panel_work;

static panel_work parts_of(const agop_job *job, int thread)
{
    int64_t k = job->f->k;
    panel_work w = {.sums = job->work + job->own * thread};

    w.gradients = w.sums + job->sum_size;
    w.factors = w.gradients + job->side * k * job->d;
    w.block = w.factors + job->side * k;
    w.weighted = w.block + KFE_TILE_SIDE * job->d;
    w.tile = w.weighted + KFE_TILE_SIDE * job->d;
    w.scratch = w.tile + KFE_TILE_SIZE;
    return w;
}

/* weighted = diag(A[first …, c])·block */
static void weigh_block(const agop_job *job, const panel_work *w, int64_t first, int64_t count, int64_t c)
{
    for (int64_t i = 0; i < count; i++) {
        double a = job->f->coefficients[(first + i) * job->f->k + c];
        for (int64_t j = 0; j < job->d; j++)
            w->weighted[i * job->d + j] = a * w->block[i * job->d + j];
    }
}

/* Adds one tile of φ', rows × cols, to gradients and factors. */
static void add_tile(const agop_job *job, const term *t, const panel_work *w, int64_t rows, kfe_i_range cols)
{
    int64_t k = job->f->k;
    int64_t d = job->d;
    int by_distance = t->kernel.def->base == KFE_BASE_DISTANCE;
    double weight = (by_distance ? -2 : 1) * t->kernel.common.weight;

    for (int64_t i = 0; i < cols.count; i++)
        kfe_i_table_dense_row(&t->support.table, cols.first + i, w->block + i * d);
    for (int64_t c = 0; c < k; c++) {
        weigh_block(job, w, cols.first, cols.count, c);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)d, (blasint)cols.count,
                    weight, w->tile, KFE_TILE_STRIDE, w->weighted, (blasint)d, 1, w->gradients + c * d,
                    (blasint)(k * d));
    }
    if (by_distance)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)k, (blasint)cols.count,
                    -weight, w->tile, KFE_TILE_STRIDE, job->f->coefficients + cols.first * k, (blasint)k, 1,
                    w->factors, (blasint)k);
}

/* gradients += factor·x for each row x of the panel */
static void add_rows(const agop_job *job, const term *t, const panel_work *w, int64_t row, int64_t rows)
{
    int64_t k = job->f->k;
    int64_t d = job->d;

    for (int64_t i = 0; i < rows; i++) {
        kfe_i_table_dense_row(&t->rows.table, row + i, w->block);
        for (int64_t c = 0; c < k; c++)
            cblas_daxpy((blasint)d, w->factors[i * k + c], w->block, 1, w->gradients + (i * k + c) * d, 1);
    }
}

static void add_term(const agop_job *job, const term *t, const panel_work *w, int64_t row, int64_t rows)
{
    int64_t n = t->support.table.rows;

    memset(w->factors, 0, (size_t)(rows * job->f->k) * sizeof *w->factors);
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
static void add_outer_products(const agop_job *job, const panel_work *w, int64_t rows)
{
    int64_t count = rows * job->f->k;
    int64_t d = job->d;

    if (!job->diagonal) {
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
    const agop_job *job = user;
    panel_work w = parts_of(job, thread);
    int64_t rows = job->n - row < job->side ? job->n - row : job->side;

    memset(w.gradients, 0, (size_t)(rows * job->f->k * job->d) * sizeof *w.gradients);
    for (int64_t m = 0; m < job->f->kernels->count; m++)
        add_term(job, &job->terms[m], &w, row, rows);
    for (int64_t i = 0; job->weights && i < rows; i++)
        cblas_dscal((blasint)(job->f->k * job->d), sqrt(job->weights[row + i]),
                    w.gradients + i * job->f->k * job->d, 1);
    add_outer_products(job, &w, rows);
}

/* ---- beginning and end ---- */

static kfe_status prepare_terms(kfe_context *ctx, agop_job *job, const kfe_i_table *rows)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(ctx, job->terms, job->f->kernels->count);
    for (int64_t m = 0; m < job->f->kernels->count; m++) {
        term *t = &job->terms[m];
        t->kernel = job->f->kernels->items[m];
        t->def = *t->kernel.def;
        assert(t->def.slope);
        t->def.map = t->def.slope;
        t->def.describe = NULL; /* the formula that it describes is that of the kernel */
        t->kernel.def = &t->def;
        KFE_TRY(kfe_i_points_prepare(ctx, &t->kernel, job->f->support, NULL, &t->support));
        KFE_TRY(kfe_i_points_prepare(ctx, &t->kernel, rows, &t->support, &t->rows));
    }
cleanup:
    return status;
}

static kfe_status make_workspace(kfe_context *ctx, agop_job *job, int threads)
{
    kfe_status status = KFE_OK;
    int64_t k = job->f->k;
    int64_t d = job->d;
    int64_t scratch = 0;

    for (int64_t m = 0; m < job->f->kernels->count; m++) {
        int64_t mine = kfe_i_tile_scratch(&job->terms[m].rows, &job->terms[m].support);
        scratch = mine > scratch ? mine : scratch;
    }
    job->side = PANEL_NUMBERS / (k * d > 0 ? k * d : 1);
    job->side = job->side > KFE_TILE_SIDE ? KFE_TILE_SIDE : job->side < LEAST_SIDE ? LEAST_SIDE : job->side;
    job->sum_size = job->diagonal ? d : d * d;
    job->own = job->sum_size + job->side * k * (d + 1) + 2 * KFE_TILE_SIDE * d + KFE_TILE_SIZE + scratch;
    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)job->own * threads, "gradients of so many columns",
                               "use {metric=diagonal} or raise {memory}"));
    KFE_ALLOC_ZERO(ctx, job->work, job->own * threads);
cleanup:
    return status;
}

/* out = the sums of all threads divided by n, or by the sum of the weights, in the order of threads. */
static void combine(const agop_job *job, int threads, double *out)
{
    int64_t d = job->d;
    double mass = job->weights ? 0 : (double)job->n;

    for (int64_t i = 0; job->weights && i < job->n; i++)
        mass += job->weights[i];

    for (int64_t p = 0; p < job->sum_size; p++) {
        out[p] = 0;
        for (int t = 0; t < threads; t++)
            out[p] += job->work[job->own * t + p] / mass;
    }
    for (int64_t i = 0; !job->diagonal && i < d; i++)
        for (int64_t j = 0; j < i; j++)
            out[j * d + i] = out[i * d + j];
}

kfe_status kfe_i_agop(kfe_context *ctx, const kfe_i_expansion_sum *f, const kfe_i_table *rows, int diagonal,
                      double *out)
{
    kfe_status status = KFE_OK;
    int threads = kfe_context_threads(ctx);
    agop_job job = {.f = f, .n = rows->rows, .d = rows->cols, .diagonal = diagonal, .weights = rows->weights};

    assert(rows->rows > 0 && rows->cols == f->support->cols);
    KFE_TRY(prepare_terms(ctx, &job, rows));
    KFE_TRY(make_workspace(ctx, &job, threads));
    KFE_TRY(kfe_i_each_panel(
        ctx, &(kfe_i_panels){"computing gradients", threads, job.n, job.side, KFE_SHARE_FIXED}, agop_panel,
        &job));
    combine(&job, threads, out);
cleanup:
    for (int64_t m = 0; job.terms && m < f->kernels->count; m++) {
        kfe_i_points_free(&job.terms[m].support);
        kfe_i_points_free(&job.terms[m].rows);
    }
    kfe_i_free(ctx, job.terms);
    kfe_i_free(ctx, job.work);
    return status;
}
