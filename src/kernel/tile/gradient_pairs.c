/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The average gradient outer product without the gradients; called by gradient.c.
 *
 * Let Ψ (n × m) be the derivatives of the kernel between rows X and support S, times −2 for distances, A (m × k) the coefficients, and
 * F = −ΨA for distances, 0 for dot products. The gradients of output c are the rows of diag(F_c)X + Ψ diag(A_c)S, so that
 *
 *     Σ_c G_cᵀG_c = Xᵀdiag(Σ_c F_c²)X + XᵀCS + SᵀCᵀX + SᵀBS,   C = Ψ ∘ (FAᵀ),   B = (ΨᵀΨ) ∘ (AAᵀ).
 *
 * The outputs appear in products of m × k matrices only: O(nm² + nm(d + k)) operations, where the gradients take O(nmdk). Memory is O(m²)
 * per thread. The terms are differences of squares, so that digits are lost where gradients are small; gradient.c looks after that.
 */
#include "kernel/tile/gradient_parts.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/tile/panels.h"

enum { LEAST_SIDE = 32 };

typedef struct pairs_job {
    const kfe_i_agop_job *whole;
    double *support; /* m × d */
    int64_t m, side, own;
    int threads;
    double *work;
} pairs_job;

/* The workspace of one thread, in its parts. */
typedef struct pairs_work {
    double *scale;   /* one number */
    double *sums;    /* the part of the result that needs the rows */
    double *squares; /* m × m: the lower triangle of ΨᵀΨ */
    double *psi;     /* side × m: Ψ, then C */
    double *factors; /* side × k: F */
    double *rows;    /* side × d: X */
    double *carried; /* side × d: CS + ½ diag(Σ F²)X */
    double *tile, *scratch;
} pairs_work;

static pairs_work parts_of(const pairs_job *job, int thread)
{
    const kfe_i_agop_job *whole = job->whole;
    pairs_work w = {.scale = job->work + job->own * thread};

    w.sums = w.scale + 1;
    w.squares = w.sums + kfe_i_agop_size(whole);
    w.psi = w.squares + job->m * job->m;
    w.factors = w.psi + job->side * job->m;
    w.rows = w.factors + job->side * whole->f->k;
    w.carried = w.rows + job->side * whole->d;
    w.tile = w.carried + job->side * whole->d;
    w.scratch = w.tile + KFE_TILE_SIZE;
    return w;
}

static void add_term(const pairs_job *job, const kfe_i_slope_term *t, const pairs_work *w, int64_t row,
                     int64_t rows)
{
    memset(w->scratch, 0, (size_t)kfe_i_tile_scratch(&t->rows, &t->support) * sizeof *w->scratch);
    for (int64_t col = 0; col < job->m; col += KFE_TILE_SIDE) {
        int64_t cols = job->m - col < KFE_TILE_SIDE ? job->m - col : KFE_TILE_SIDE;
        kfe_i_tile_eval(&t->kernel, (kfe_i_range){&t->rows, row, rows}, (kfe_i_range){&t->support, col, cols},
                        w->tile, KFE_TILE_STRIDE, w->scratch);
        for (int64_t i = 0; i < rows; i++)
            cblas_daxpy((blasint)cols, t->weight, w->tile + i * KFE_TILE_STRIDE, 1, w->psi + i * job->m + col,
                        1);
    }
}

/* Ψ of a panel, its rows times the roots of their weights. */
static void make_psi(const pairs_job *job, const pairs_work *w, int64_t row, int64_t rows)
{
    const kfe_i_agop_job *whole = job->whole;

    memset(w->psi, 0, (size_t)(rows * job->m) * sizeof *w->psi);
    for (int64_t t = 0; t < whole->f->kernels->count; t++)
        add_term(job, &whole->terms[t], w, row, rows);
    for (int64_t i = 0; whole->weights && i < rows; i++)
        cblas_dscal((blasint)job->m, sqrt(whole->weights[row + i]), w->psi + i * job->m, 1);
}

/* Ψ ← Ψ ∘ (FAᵀ) */
static void multiply_psi(const pairs_job *job, const pairs_work *w, int64_t rows)
{
    int64_t k = job->whole->f->k;

    for (int64_t col = 0; col < job->m; col += KFE_TILE_SIDE) {
        int64_t cols = job->m - col < KFE_TILE_SIDE ? job->m - col : KFE_TILE_SIDE;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)cols, (blasint)k, 1,
                    w->factors, (blasint)k, job->whole->f->coefficients + col * k, (blasint)k, 0, w->tile,
                    KFE_TILE_STRIDE);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++)
                w->psi[i * job->m + col + j] *= w->tile[i * KFE_TILE_STRIDE + j];
    }
}

/* carried = CS + ½ diag(Σ F²)X */
static void carry_rows(const pairs_job *job, const pairs_work *w, int64_t rows)
{
    blasint k = (blasint)job->whole->f->k;
    blasint d = (blasint)job->whole->d;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, d, (blasint)job->m, 1, w->psi,
                (blasint)job->m, job->support, d, 0, w->carried, d);
    for (int64_t i = 0; i < rows; i++) {
        const double *f = w->factors + i * k;
        const double *x = w->rows + i * d;
        double squares = cblas_ddot(k, f, 1, f, 1);
        cblas_daxpy(d, squares / 2, x, 1, w->carried + i * d, 1);
        *w->scale += squares * cblas_ddot(d, x, 1, x, 1);
    }
}

/* The terms with X: only distances have them. */
static void add_row_terms(const pairs_job *job, const pairs_work *w, int64_t row, int64_t rows)
{
    const kfe_i_agop_job *whole = job->whole;
    blasint k = (blasint)whole->f->k;
    blasint d = (blasint)whole->d;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, k, (blasint)job->m, -1, w->psi,
                (blasint)job->m, whole->f->coefficients, k, 0, w->factors, k);
    multiply_psi(job, w, rows);
    kfe_i_agop_points(&whole->terms[0].rows, row, rows, w->rows);
    carry_rows(job, w, rows);
    if (!whole->diagonal) {
        cblas_dsyr2k(CblasRowMajor, CblasLower, CblasTrans, d, (blasint)rows, 1, w->rows, d, w->carried, d, 1,
                     w->sums, d);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < d; j++)
            w->sums[j] += 2 * w->rows[i * d + j] * w->carried[i * d + j];
}

static void pairs_panel(const void *user, int64_t row, int thread)
{
    const pairs_job *job = user;
    pairs_work w = parts_of(job, thread);
    int64_t rows = job->whole->n - row < job->side ? job->whole->n - row : job->side;
    blasint m = (blasint)job->m;

    make_psi(job, &w, row, rows);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, m, (blasint)rows, 1, w.psi, m, 1, w.squares, m);
    if (job->whole->terms[0].kernel.def->base == KFE_BASE_DISTANCE)
        add_row_terms(job, &w, row, rows);
}

/* ---- beginning and end ---- */

static void plan(pairs_job *job)
{
    const kfe_i_agop_job *whole = job->whole;
    int64_t threads = kfe_context_threads(whole->ctx);
    int64_t share = whole->n / (threads * whole->share.parts) + 1;
    int64_t panels;

    job->m = whole->f->support->rows;
    job->side = share < LEAST_SIDE ? LEAST_SIDE : share > KFE_TILE_SIDE ? KFE_TILE_SIDE : share;
    panels = (whole->n + job->side - 1) / job->side;
    job->threads = (int)(panels < threads ? panels : threads);
    job->own = 1 + kfe_i_agop_size(whole) + job->m * job->m +
               job->side * (job->m + whole->f->k + 2 * whole->d) + KFE_TILE_SIZE + kfe_i_agop_scratch(whole);
}

double kfe_i_agop_pairs_bytes(const kfe_i_agop_job *whole)
{
    pairs_job job = {.whole = whole};

    plan(&job);
    return 8.0 * ((double)job.own * job.threads + 2.0 * (double)job.m * (double)whole->d);
}

/* The sums of thread 0 become those of all threads, in the order of threads. */
static void combine(const pairs_job *job)
{
    int64_t count = 1 + kfe_i_agop_size(job->whole) + job->m * job->m;

    for (int t = 1; t < job->threads; t++)
        for (int64_t p = 0; p < count; p++)
            job->work[p] += job->work[job->own * t + p];
}

/* The lower triangle of B from that of ΨᵀΨ. */
static void weigh_pairs(const pairs_job *job, double *squares)
{
    int64_t m = job->m;
    int64_t k = job->whole->f->k;
    const double *a = job->whole->f->coefficients;

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++)
            squares[i * m + j] *= cblas_ddot((blasint)k, a + i * k, 1, a + j * k, 1);
}

/* out += SᵀBS */
static kfe_status add_support_terms(const pairs_job *job, const double *b, double *out, double *scale)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = job->whole->ctx;
    blasint m = (blasint)job->m;
    blasint d = (blasint)job->whole->d;
    double *product = NULL;

    KFE_ALLOC(ctx, product, job->m * d);
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, m, d, 1, b, m, job->support, d, 0, product, d);
    for (int64_t i = 0; i < m; i++) {
        const double *s = job->support + i * d;
        *scale += b[i * m + i] * cblas_ddot(d, s, 1, s, 1);
        for (int64_t j = 0; job->whole->diagonal && j < d; j++)
            out[j] += s[j] * product[i * d + j];
    }
    if (!job->whole->diagonal)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, d, m, 1, job->support, d, product, d, 1, out,
                    d);
cleanup:
    kfe_i_free(ctx, product);
    return status;
}

kfe_status kfe_i_agop_by_pairs(const kfe_i_agop_job *whole, double *out, double *scale)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = whole->ctx;
    pairs_job job = {.whole = whole};
    pairs_work w;

    plan(&job);
    KFE_ALLOC(ctx, job.support, job.m * whole->d);
    KFE_ALLOC_ZERO(ctx, job.work, job.own * job.threads);
    kfe_i_agop_points(&whole->terms[0].support, 0, job.m, job.support);
    KFE_TRY(kfe_i_each_dealt_panel(
        ctx, &(kfe_i_panels){"computing gradients", job.threads, whole->n, job.side, KFE_SHARE_FIXED},
        whole->share, pairs_panel, &job));
    combine(&job);
    w = parts_of(&job, 0);
    weigh_pairs(&job, w.squares);
    memcpy(out, w.sums, (size_t)kfe_i_agop_size(whole) * sizeof *out);
    *scale = *w.scale;
    KFE_TRY(add_support_terms(&job, w.squares, out, scale));
cleanup:
    kfe_i_free(ctx, job.work);
    kfe_i_free(ctx, job.support);
    return status;
}
