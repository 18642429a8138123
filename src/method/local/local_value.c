/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of the objective of lmkl and sldr (local_problem.h),
 *     J = Σ over SVMs of max_α eᵀα − ½ aᵀK_η a,   a = α·y,   plus the ridge;
 *     K_η = Σ_m diag(η_m) K_m diag(η_m).
 * Linear kernels on projections need no K_m: together they are FFᵀ with F = [√weight_m·η_m z^m]. Others are added tile by
 * tile, evaluated or read from where they are kept. Only the lower half of K_η is computed; then it is mirrored.
 *
 * Gönen & Alpaydın (2010), eq. (5). Time: n²·Σdim_m and the SVMs. Memory: K_η.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/share.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"
#include "linalg/linalg.h"
#include "method/local/local_problem.h"
#include "system/system.h"

/* ---- projections and shares ---- */

static kfe_status update_projections(kfe_i_local_problem *p, const double *parameters)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < p->count; m++) {
        kfe_i_local_source *part = &p->parts[m];
        KFE_TRY(kfe_i_table_times(p->ctx, &part->columns, parameters + part->projection_at, part->dim,
                                  part->z.values));
        if (!part->linear)
            kfe_i_points_renew(&part->points, p->n);
    }
cleanup:
    return status;
}

static kfe_status update_gate_map(kfe_i_local_problem *p, const double *parameters)
{
    kfe_status status = KFE_OK;
    int64_t entries = p->n * p->at.gate_dim;

    memset(p->now.gate, 0, (size_t)entries * sizeof *p->now.gate);
    for (int64_t m = 0; m < p->count; m++) {
        const kfe_i_local_source *part = &p->parts[m];
        if (part->gating_at < 0)
            continue;
        KFE_TRY(kfe_i_table_times(p->ctx, &part->columns, parameters + part->gating_at, p->at.gate_dim,
                                  p->work.pull));
        cblas_daxpy((blasint)entries, 1, p->work.pull, 1, p->now.gate, 1);
    }
cleanup:
    return status;
}

static void update_shares(kfe_i_local_problem *p, const double *parameters)
{
    for (int64_t i = 0; i < p->n; i++)
        memcpy(p->now.shares + i * p->count, parameters + p->at.offset,
               (size_t)p->count * sizeof *p->now.shares);
    if (p->projects)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)p->n, (blasint)p->count,
                    (blasint)p->at.gate_dim, 1, p->now.gate, (blasint)p->at.gate_dim,
                    parameters + p->at.weights, (blasint)p->count, 1, p->now.shares, (blasint)p->count);
    else
        cblas_daxpy((blasint)(p->n * p->count), 1, p->now.gate, 1, p->now.shares, 1);
    kfe_i_softmax_rows(p->n, p->count, p->now.shares);
}

kfe_status kfe_i_local_update(kfe_i_local_problem *p, kfe_i_local_block changed, const double *parameters)
{
    kfe_status status = KFE_OK;

    if (changed == KFE_LOCAL_PROJECTIONS)
        return p->projects ? update_projections(p, parameters) : KFE_OK;
    if (changed == KFE_LOCAL_GATE_MAP || !p->projects)
        KFE_TRY(update_gate_map(p, parameters));
    update_shares(p, parameters);
cleanup:
    return status;
}

/* ---- the localized kernel ---- */

/* Returns whether all parts are linear. Then both halves of the matrix are written, which is faster than mirroring one. */
static int fill_linear(kfe_i_local_problem *p)
{
    int64_t first = 0;
    int all = p->projects;
    blasint n = (blasint)p->n;
    blasint k = (blasint)p->now.factor_cols;

    for (int64_t m = 0; m < p->count; m++) {
        const kfe_i_local_source *part = &p->parts[m];
        double root = sqrt(part->kernel.common.weight);
        all &= part->linear;
        if (!part->linear || !p->projects)
            continue;
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t j = 0; j < part->dim; j++)
                p->now.factor[i * p->now.factor_cols + first + j] =
                    root * p->now.shares[i * p->count + m] * part->z.values[i * part->dim + j];
        first += part->dim;
    }
    if (all)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, k, 1, p->now.factor, k, p->now.factor, k,
                    0, p->now.matrix.values, n);
    else
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, k, 1, p->now.factor, k, 0,
                    p->now.matrix.values, n);
    return all;
}

typedef struct part_job {
    kfe_i_local_problem *p;
    const kfe_i_local_source *part;
    int64_t m;
} part_job;

/* matrix[i, j] += weight·η_i·η_j·κ[i, j] over one tile */
static void add_tile(const part_job *job, int64_t row, int64_t rows, int64_t col, int64_t cols,
                     const double *tile, int64_t stride)
{
    const kfe_i_local_problem *p = job->p;
    const double *shares = p->now.shares + job->m;

    for (int64_t i = 0; i < rows; i++) {
        double factor = job->part->kernel.common.weight * shares[(row + i) * p->count];
        double *out = p->now.matrix.values + (row + i) * p->n + col;
        for (int64_t j = 0; j < cols; j++)
            out[j] += factor * shares[(col + j) * p->count] * tile[i * stride + j];
    }
}

static void add_panel(const void *user, int64_t row, int thread)
{
    const part_job *job = user;
    const kfe_i_local_problem *p = job->p;
    double *tile = p->work.tiles + p->work.own * thread;
    int64_t rows = kfe_i_least(KFE_TILE_SIDE, p->n - row);

    for (int64_t col = 0; col <= row; col += KFE_TILE_SIDE) {
        int64_t cols = kfe_i_least(KFE_TILE_SIDE, p->n - col);
        if (job->part->kept) {
            add_tile(job, row, rows, col, cols, job->part->kept + row * p->n + col, p->n);
            continue;
        }
        kfe_i_tile_eval(&job->part->kernel, (kfe_i_range){&job->part->points, row, rows},
                        (kfe_i_range){&job->part->points, col, cols}, tile, KFE_TILE_STRIDE,
                        tile + 2 * KFE_TILE_SIZE);
        add_tile(job, row, rows, col, cols, tile, KFE_TILE_STRIDE);
    }
}

/* Copies the rows of the panel, left of the diagonal, to the columns above it. */
static void mirror_panel(const void *user, int64_t row, int thread)
{
    enum { SIDE = 32 };
    const kfe_i_local_problem *p = user;
    double *a = p->now.matrix.values;
    int64_t end = kfe_i_least(row + KFE_TILE_SIDE, p->n);

    (void)thread;
    for (int64_t first = row; first < end; first += SIDE)
        for (int64_t col = 0; col < end; col += SIDE)
            for (int64_t i = first; i < kfe_i_least(first + SIDE, end); i++)
                for (int64_t j = col; j < kfe_i_least(col + SIDE, i); j++)
                    a[j * p->n + i] = a[i * p->n + j];
}

static kfe_status fill_matrix(kfe_i_local_problem *p)
{
    kfe_status status = KFE_OK;

    if (p->now.factor_cols == 0)
        memset(p->now.matrix.values, 0, (size_t)(p->n * p->n) * sizeof *p->now.matrix.values);
    else if (fill_linear(p))
        return KFE_OK;
    for (int64_t m = 0; m < p->count; m++) {
        part_job job = {p, &p->parts[m], m};
        if (p->parts[m].linear && p->projects)
            continue;
        memset(p->work.tiles, 0, (size_t)(p->work.own * p->threads) * sizeof *p->work.tiles);
        KFE_TRY(kfe_i_each_panel(
            p->ctx, &(kfe_i_panels){"localizing the kernel", p->threads, p->n, KFE_TILE_SIDE, KFE_SHARE_FREE},
            add_panel, &job));
    }
    KFE_TRY(kfe_i_each_panel(
        p->ctx, &(kfe_i_panels){"localizing the kernel", p->threads, p->n, KFE_TILE_SIDE, KFE_SHARE_FREE},
        mirror_panel, p));
cleanup:
    return status;
}

kfe_status kfe_i_local_value(kfe_i_local_problem *p, const double *parameters, double *value)
{
    kfe_status status = KFE_OK;

    KFE_TRY(fill_matrix(p));
    double began = kfe_i_clock();
    KFE_TRY(kfe_i_onevsrest_solve_on(&p->svms, p->now.gram));
    p->watch.svm_seconds += kfe_i_clock() - began;
    if (p->watch.call)
        p->watch.call(p->watch.user, p, parameters);
    *value = p->svms.objective;
    if (p->count > 1 && p->ridge > 0)
        *value += 0.5 * p->ridge * kfe_i_local_gate_length(p, parameters);
    if (!isfinite(*value))
        KFE_FAIL(p->ctx, KFE_ENUMERIC,
                 "%s: the objective is not a number; the data may hold extreme values: use {scale}",
                 p->method);
cleanup:
    return status;
}
