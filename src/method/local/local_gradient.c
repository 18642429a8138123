/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derivatives of the objective of lmkl and sldr (local_problem.h), as products of matrices. At the optimum of the SVMs
 * their α do not contribute, so that only support examples count. With the weights A (examples × SVMs, αᵢyᵢ) and
 * A_m = diag(η_m)A,
 *     J = … − ½ Σ_m tr(A_mᵀK_mA_m).
 *
 * Projections, with M = (A_mA_mᵀ)∘κ':
 *     kernels of dot products         ∂J/∂z_i = −Σ_j M_ij z_j
 *     kernels of squared distances    ∂J/∂z_i = −2 Σ_j M_ij(z_i − z_j), the Laplacian of M
 *     then                            ∂J/∂W_m = X_mᵀ ∂J/∂Z_m
 * A linear kernel, κ' = 1, needs no M: the product is A_m(A_mᵀZ_m).
 *
 * Gate, with q_im = Σ_c A_ic (K_mA_m)_ic = −∂J/∂η_im:
 *     by the logits    D_im = −η_im(q_im − Σ_h η_ih q_ih)
 *     then             ∂J/∂V = (Z^G)ᵀD + ridge·V,   ∂J/∂v₀ = Dᵀe,   ∂J/∂T = (X^G)ᵀ(DVᵀ)
 *
 * Gönen & Alpaydın (2010), appendix A. Time for s support examples: s²·Σdim_m (linear kernels: s·Σdim_m) and
 * s·Σcols_m·dim_m. Nothing allocates.
 */
#include <cblas.h>
#include <string.h>

#include "core/share.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"
#include "linalg/basis.h"
#include "method/local/local_problem.h"

/* ---- support examples ---- */

/* Kernels without projections that are not kept are evaluated in whole panels; then all examples count as support. */
static int counts_all(const kfe_i_local_problem *p)
{
    return !p->projects && !p->parts[0].kept;
}

static void find_support(kfe_i_local_problem *p)
{
    p->work.support_count = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (counts_all(p) || kfe_i_local_is_support(p, i))
            p->work.support[p->work.support_count++] = i;
}

/* A_m of the support examples */
static void scale_weights(kfe_i_local_problem *p, int64_t m)
{
    int64_t c = p->svms.count;

    for (int64_t s = 0; s < p->work.support_count; s++) {
        int64_t i = p->work.support[s];
        for (int64_t k = 0; k < c; k++)
            p->work.scaled[s * c + k] = p->now.shares[i * p->count + m] * p->svms.weights[i * c + k];
    }
}

static void gather_projection(kfe_i_local_problem *p, kfe_i_local_source *part)
{
    for (int64_t s = 0; s < p->work.support_count; s++)
        memcpy(part->support_z.values + s * part->dim, part->z.values + p->work.support[s] * part->dim,
               (size_t)part->dim * sizeof *part->z.values);
    if (!part->linear)
        kfe_i_points_renew(&part->support_points, p->work.support_count);
}

/* ---- products with K_m and with M, tile by tile ---- */

typedef struct tile_job {
    kfe_i_local_problem *p;
    const kfe_i_local_source *part;
    kfe_i_kernel base;          /* the part's kernel without its map */
    const kfe_i_points *points; /* of the support examples; NULL: the kernel is kept */
} tile_job;

static void base_tile(const tile_job *job, int64_t row, int64_t rows, int64_t col, int64_t cols, double *tile)
{
    const kfe_i_local_problem *p = job->p;

    if (job->points) {
        kfe_i_tile_eval(&job->base, (kfe_i_range){job->points, row, rows},
                        (kfe_i_range){job->points, col, cols}, tile, KFE_TILE_STRIDE,
                        tile + 2 * KFE_TILE_SIZE);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        const double *from = job->part->kept + p->work.support[row + i] * p->n;
        for (int64_t j = 0; j < cols; j++)
            tile[i * KFE_TILE_STRIDE + j] = from[p->work.support[col + j]];
    }
}

/* product = weight·K_m A_m, the rows of one panel */
static void product_panel(const void *user, int64_t row, int thread)
{
    const tile_job *job = user;
    const kfe_i_local_problem *p = job->p;
    const kfe_i_kernel *kernel = &job->part->kernel;
    int64_t c = p->svms.count;
    int64_t rows = kfe_i_least(KFE_TILE_SIDE, p->work.support_count - row);
    kfe_i_tile tile = {
        .values = p->work.tiles + p->work.own * thread, .rows = rows, .stride = KFE_TILE_STRIDE};

    for (int64_t col = 0; col < p->work.support_count; col += KFE_TILE_SIDE) {
        tile.cols = kfe_i_least(KFE_TILE_SIDE, p->work.support_count - col);
        base_tile(job, row, rows, col, tile.cols, tile.values);
        if (job->points)
            kfe_i_kernel_map(kernel, &tile);
        kfe_i_combine(rows, kernel->common.weight, kfe_i_strided(tile.values, tile.cols, KFE_TILE_STRIDE),
                      kfe_i_packed(p->work.scaled + col * c, c), col > 0, p->work.product + row * c);
    }
}

/* tile ← M: the slopes times A_mA_mᵀ */
static void weigh_slopes(const tile_job *job, int64_t row, int64_t col, kfe_i_tile *tile)
{
    const kfe_i_local_problem *p = job->p;
    int64_t c = p->svms.count;
    double *weights = tile->values + KFE_TILE_SIZE;

    kfe_i_kernel_slope(&job->part->kernel, tile);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)tile->rows, (blasint)tile->cols, (blasint)c,
                job->part->kernel.common.weight, p->work.scaled + row * c, (blasint)c,
                p->work.scaled + col * c, (blasint)c, 0, weights, KFE_TILE_STRIDE);
    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->cols; j++)
            tile->values[i * KFE_TILE_STRIDE + j] *= weights[i * KFE_TILE_STRIDE + j];
}

/* pull = MZ and sums = Me, the rows of one panel */
static void pull_panel(const void *user, int64_t row, int thread)
{
    const tile_job *job = user;
    const kfe_i_local_problem *p = job->p;
    int64_t dim = job->part->dim;
    int64_t rows = kfe_i_least(KFE_TILE_SIDE, p->work.support_count - row);
    kfe_i_tile tile = {
        .values = p->work.tiles + p->work.own * thread, .rows = rows, .stride = KFE_TILE_STRIDE};

    memset(p->work.sums + row, 0, (size_t)rows * sizeof *p->work.sums);
    for (int64_t col = 0; col < p->work.support_count; col += KFE_TILE_SIDE) {
        tile.cols = kfe_i_least(KFE_TILE_SIDE, p->work.support_count - col);
        base_tile(job, row, rows, col, tile.cols, tile.values);
        weigh_slopes(job, row, col, &tile);
        kfe_i_combine(rows, 1, kfe_i_strided(tile.values, tile.cols, KFE_TILE_STRIDE),
                      kfe_i_packed(job->part->support_z.values + col * dim, dim), col > 0,
                      p->work.pull + row * dim);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < tile.cols; j++)
                p->work.sums[row + i] += tile.values[i * KFE_TILE_STRIDE + j];
    }
}

static kfe_status each_panel(kfe_i_local_problem *p, int64_t m, kfe_i_panel_fn run)
{
    const kfe_i_local_source *part = &p->parts[m];
    tile_job job = {.p = p, .part = part, .base = part->kernel};

    job.base.part = KFE_PART_BASE;
    if (!part->kept)
        job.points = p->projects ? &part->support_points : &part->points;
    memset(p->work.tiles, 0, (size_t)(p->work.own * p->threads) * sizeof *p->work.tiles);
    return kfe_i_each_panel(
        p->ctx,
        &(kfe_i_panels){"differentiating", p->threads, p->work.support_count, KFE_TILE_SIDE, KFE_SHARE_FREE},
        run, &job);
}

/* ---- columns ---- */

static void sparse_transpose_times(const kfe_i_local_problem *p, const kfe_i_table *x, const double *v,
                                   int64_t k, double *out)
{
    memset(out, 0, (size_t)(x->cols * k) * sizeof *out);
    for (int64_t s = 0; s < p->work.support_count; s++) {
        int64_t i = p->work.support[s];
        for (int64_t e = x->row_start[i]; e < x->row_start[i + 1]; e++)
            cblas_daxpy((blasint)k, x->values[e], v + s * k, 1, out + x->columns[e] * k, 1);
    }
}

/* out (cols × k) = Xᵀv over the support examples, v having a row for each */
static void transpose_times(kfe_i_local_problem *p, const kfe_i_table *x, const double *v, int64_t k,
                            double *out)
{
    if (x->kind == KFE_TABLE_CSR) {
        sparse_transpose_times(p, x, v, k, out);
        return;
    }
    for (int64_t s = 0; s < p->work.support_count; s++)
        memcpy(p->work.gathered + s * x->cols, x->values + p->work.support[s] * x->stride,
               (size_t)x->cols * sizeof *p->work.gathered);
    kfe_i_inner_products(p->work.support_count, kfe_i_packed(p->work.gathered, x->cols), kfe_i_packed(v, k),
                         out);
}

/* ---- projections ---- */

/* pull = A_m(A_mᵀZ) */
static void pull_linear(kfe_i_local_problem *p, const kfe_i_local_source *part)
{
    int64_t c = p->svms.count;

    kfe_i_inner_products(p->work.support_count, kfe_i_packed(p->work.scaled, c),
                         kfe_i_packed(part->support_z.values, part->dim), p->work.small);
    kfe_i_combine(p->work.support_count, part->kernel.common.weight, kfe_i_packed(p->work.scaled, c),
                  kfe_i_packed(p->work.small, part->dim), 0, p->work.pull);
}

/* pull = MZ becomes ∂J/∂Z */
static void finish_pull(kfe_i_local_problem *p, const kfe_i_local_source *part)
{
    int by_distance = part->kernel.def->base == KFE_BASE_DISTANCE;

    for (int64_t s = 0; s < p->work.support_count; s++)
        for (int64_t j = 0; j < part->dim; j++) {
            double *pull = &p->work.pull[s * part->dim + j];
            *pull = by_distance ? 2 * (*pull - p->work.sums[s] * part->support_z.values[s * part->dim + j])
                                : -*pull;
        }
}

static kfe_status projection_gradient(kfe_i_local_problem *p, double *gradient)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < p->count; m++) {
        kfe_i_local_source *part = &p->parts[m];
        scale_weights(p, m);
        gather_projection(p, part);
        if (part->linear)
            pull_linear(p, part);
        else
            KFE_TRY(each_panel(p, m, pull_panel));
        finish_pull(p, part);
        transpose_times(p, &part->columns, p->work.pull, part->dim, gradient + part->projection_at);
    }
cleanup:
    return status;
}

/* ---- the gate ---- */

/* product = weight·K_m A_m for a linear kernel on projections: Z(ZᵀA_m) */
static void product_linear(kfe_i_local_problem *p, const kfe_i_local_source *part)
{
    int64_t c = p->svms.count;

    kfe_i_inner_products(p->work.support_count, kfe_i_packed(part->support_z.values, part->dim),
                         kfe_i_packed(p->work.scaled, c), p->work.small);
    kfe_i_combine(p->work.support_count, part->kernel.common.weight,
                  kfe_i_packed(part->support_z.values, part->dim), kfe_i_packed(p->work.small, c), 0,
                  p->work.product);
}

/* logits = q */
static kfe_status share_gradient(kfe_i_local_problem *p)
{
    kfe_status status = KFE_OK;
    int64_t c = p->svms.count;

    for (int64_t m = 0; m < p->count; m++) {
        kfe_i_local_source *part = &p->parts[m];
        scale_weights(p, m);
        if (p->projects)
            gather_projection(p, part);
        if (p->projects && part->linear)
            product_linear(p, part);
        else
            KFE_TRY(each_panel(p, m, product_panel));
        for (int64_t s = 0; s < p->work.support_count; s++)
            p->work.logits[s * p->count + m] = cblas_ddot(
                (blasint)c, p->svms.weights + p->work.support[s] * c, 1, p->work.product + s * c, 1);
    }
cleanup:
    return status;
}

/* logits: from q to D */
static void through_softmax(kfe_i_local_problem *p)
{
    for (int64_t s = 0; s < p->work.support_count; s++) {
        const double *shares = p->now.shares + p->work.support[s] * p->count;
        double *row = p->work.logits + s * p->count;
        double mean = cblas_ddot((blasint)p->count, shares, 1, row, 1);
        for (int64_t m = 0; m < p->count; m++)
            row[m] = -shares[m] * (row[m] - mean);
    }
}

/* Xᵀv for the columns that the gate sees */
static void gate_columns_times(kfe_i_local_problem *p, const double *v, double *gradient)
{
    for (int64_t m = 0; m < p->count; m++)
        if (p->parts[m].gating_at >= 0)
            transpose_times(p, &p->parts[m].columns, v, p->at.gate_dim, gradient + p->parts[m].gating_at);
}

static void gate_map_gradient(kfe_i_local_problem *p, const double *parameters, double *gradient)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)p->work.support_count,
                (blasint)p->at.gate_dim, (blasint)p->count, 1, p->work.logits, (blasint)p->count,
                parameters + p->at.weights, (blasint)p->count, 0, p->work.pull, (blasint)p->at.gate_dim);
    gate_columns_times(p, p->work.pull, gradient);
}

static void gate_weight_gradient(kfe_i_local_problem *p, const double *parameters, double *gradient)
{
    int64_t first = p->projects ? p->at.weights : p->at.gate;
    double *offset = gradient + p->at.offset;

    for (int64_t s = 0; p->projects && s < p->work.support_count; s++)
        memcpy(p->work.pull + s * p->at.gate_dim, p->now.gate + p->work.support[s] * p->at.gate_dim,
               (size_t)p->at.gate_dim * sizeof *p->work.pull);
    if (p->projects)
        kfe_i_inner_products(p->work.support_count, kfe_i_packed(p->work.pull, p->at.gate_dim),
                             kfe_i_packed(p->work.logits, p->count), gradient + p->at.weights);
    else
        gate_columns_times(p, p->work.logits, gradient);
    cblas_daxpy((blasint)(p->at.offset - first), p->ridge, parameters + first, 1, gradient + first, 1);
    memset(offset, 0, (size_t)p->count * sizeof *offset);
    for (int64_t s = 0; s < p->work.support_count; s++)
        cblas_daxpy((blasint)p->count, 1, p->work.logits + s * p->count, 1, offset, 1);
}

kfe_status kfe_i_local_gradient(kfe_i_local_problem *p, kfe_i_local_block block, const double *parameters,
                                double *gradient)
{
    kfe_status status = KFE_OK;

    find_support(p);
    if (block == KFE_LOCAL_PROJECTIONS)
        return projection_gradient(p, gradient);
    KFE_TRY(share_gradient(p));
    through_softmax(p);
    if (block == KFE_LOCAL_GATE_MAP)
        gate_map_gradient(p, parameters, gradient);
    else
        gate_weight_gradient(p, parameters, gradient);
cleanup:
    return status;
}
