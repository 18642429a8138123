/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-block partial least squares. View b of the centred data is divided by the root of its total variance, Z_b = X_b/√v_b, so that every view
 * counts as much as every other, however many columns it has. With the weights w_j (length one) of PLS on Z = [Z_1 … Z_B], part w_bj on view b:
 *
 *     super score      t_j = Σ_b ‖w_bj‖ t_bj, the feature: that of PLS on Z
 *     super weight     ‖w_bj‖, what view b contributes; the squares of all views add up to one
 *     block score      t_bj = Z_b^(j) w_bj / ‖w_bj‖, where Z^(j) is Z less what the super scores before explain
 *     importance       BIP_b = √(B Σ_j s_j ‖w_bj‖² / Σ_j s_j), s_j the squares of the targets that t_j explains; above 1: more than the
 *                      average view
 *
 * Westerhuis, Kourti & MacGregor (1998), "Analysis of multiblock and hierarchical PCA and PLS models", J. Chemometrics 12: deflation by super
 * scores gives PLS on Z. Time: that of pls on all columns, and O(n·d·dim).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"
#include "method/deflation/pls_sums.h"
#include "method/multiblock/view_source.h"
#include "method/shared/targets.h"

typedef struct mbpls_settings {
    int64_t dim;
    int features;
} mbpls_settings;

static const kfe_i_param rows[] = {
    KFE_CHOSEN_DIM_ROW(mbpls_settings, dim, "10"),
    KFE_CHOICE(mbpls_settings, features, "features", "joint", "joint|all",
               "joint: the super scores; all: the block scores of every view, side by side"),
};

typedef struct mbpls {
    kfe_context *ctx;
    const kfe_i_fit_source *source;
    kfe_i_arena memory;
    int views;
    int64_t rows, cols, dim;
    int64_t *first; /* views + 1: where the columns of a view begin */
    double *factor; /* views: 1/√v_b */
    kfe_i_table joined;
    double *w, *scores, *loadings; /* cols × dim; rows × dim, times the roots of weights; cols × dim */
    double *squares;               /* dim: tᵀt */
    double *super;                 /* views × dim: ‖w_bj‖ */
    double *blocks; /* cols × views·dim: the block scores as functions of the joined columns */
} mbpls;

/* ---- the joined table ---- */

static int all_are_sparse(const mbpls *m)
{
    for (int v = 0; v < m->views; v++)
        if (m->source->views[v].kind != KFE_TABLE_CSR)
            return 0;
    return 1;
}

static kfe_status join_dense(mbpls *m)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_table_new_dense(m->ctx, m->rows, m->cols, &m->joined));
    for (int64_t i = 0; i < m->rows; i++)
        for (int v = 0; v < m->views; v++) {
            double *row = m->joined.values + i * m->joined.stride + m->first[v];
            kfe_i_table_dense_row(&m->source->views[v], i, row);
            cblas_dscal((blasint)m->source->views[v].cols, m->factor[v], row, 1);
        }
cleanup:
    return status;
}

static kfe_status join_sparse(mbpls *m)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *views = m->source->views;
    int64_t entries = 0;

    for (int v = 0; v < m->views; v++)
        entries += views[v].row_start[m->rows] - views[v].row_start[0];
    KFE_TRY(kfe_i_table_new_csr(m->ctx, m->rows, m->cols, entries, &m->joined));
    entries = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        for (int v = 0; v < m->views; v++)
            for (int64_t p = views[v].row_start[i]; p < views[v].row_start[i + 1]; p++, entries++) {
                m->joined.values[entries] = m->factor[v] * views[v].values[p];
                m->joined.columns[entries] = (int32_t)(m->first[v] + views[v].columns[p]);
            }
        m->joined.row_start[i + 1] = entries;
    }
cleanup:
    return status;
}

static kfe_status join(mbpls *m)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *views = m->source->views;

    KFE_TAKE_ZERO(&m->memory, m->first, m->views + 1);
    KFE_TAKE(&m->memory, m->factor, m->views);
    for (int v = 0; v < m->views; v++) {
        KFE_TRY(kfe_i_view_factor(m->ctx, &views[v], m->source->target, &m->factor[v]));
        m->first[v + 1] = m->first[v] + views[v].cols;
    }
    m->rows = views[0].rows;
    m->cols = m->first[m->views];
    KFE_TRY(all_are_sparse(m) ? join_sparse(m) : join_dense(m));
cleanup:
    return status;
}

/* ---- what the features are made of ---- */

/* w = the orthonormal vectors that span the first 1, 2, … rotations; PLS has no others. */
static void find_weights(const mbpls *m, const double *rotations)
{
    int64_t k = m->dim;
    blasint d = (blasint)m->cols;

    memcpy(m->w, rotations, (size_t)(m->cols * k) * sizeof *m->w);
    for (int64_t j = 0; j < k; j++) {
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i < j; i++)
                cblas_daxpy(d, -cblas_ddot(d, m->w + i, (blasint)k, m->w + j, (blasint)k), m->w + i,
                            (blasint)k, m->w + j, (blasint)k);
        double length = cblas_dnrm2(d, m->w + j, (blasint)k);
        cblas_dscal(d, length > 0 ? 1 / length : 0, m->w + j, (blasint)k);
    }
}

static double norm_on_view(const mbpls *m, const double *matrix, int64_t stride, int v)
{
    return cblas_dnrm2((blasint)(m->first[v + 1] - m->first[v]), matrix + m->first[v] * stride,
                       (blasint)stride);
}

/* Features on the rows, times the powers of the roots of the weights. */
static void project(const mbpls *m, const double *coefficients, const double *offset, int64_t dim, int power,
                    double *out)
{
    const kfe_i_target *target = m->source->target;

    kfe_i_tables_times(m->ctx, &m->joined, 1, coefficients, dim, out);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < dim; j++)
            out[i * dim + j] = (out[i * dim + j] - offset[j]) * pow(kfe_i_weight_of(target, i), power / 2.0);
}

/* Weights, scores and loadings of the solution on the joined table. */
static kfe_status decompose(mbpls *m, const kfe_i_solution *pls)
{
    kfe_status status = KFE_OK;
    int64_t k = m->dim = pls->dim;

    KFE_TAKE(&m->memory, m->w, m->cols * k);
    KFE_TAKE(&m->memory, m->scores, m->rows * k);
    KFE_TAKE(&m->memory, m->loadings, m->cols * k);
    KFE_TAKE(&m->memory, m->squares, k);
    KFE_TAKE(&m->memory, m->super, m->views * k);
    find_weights(m, pls->coefficients);
    project(m, pls->coefficients, pls->offset, k, 2, m->scores);
    KFE_TRY(kfe_i_table_transpose_times(m->ctx, &m->joined, m->scores, k, m->loadings));
    project(m, pls->coefficients, pls->offset, k, 1, m->scores);
    for (int64_t j = 0; j < k; j++) {
        double length = cblas_dnrm2((blasint)m->rows, m->scores + j, (blasint)k);
        m->squares[j] = length * length;
        cblas_dscal((blasint)m->cols, 1 / m->squares[j], m->loadings + j, (blasint)k);
        for (int v = 0; v < m->views; v++)
            m->super[v * k + j] = norm_on_view(m, m->w + j, k, v);
    }
cleanup:
    return status;
}

/* t_bj = Z_b w_bj − Σ_{i<j} t_i p_ibᵀw_bj, where t_i is Z times rotation i; all over ‖w_bj‖. */
static void fill_block(const mbpls *m, const double *rotations, int v, int64_t j)
{
    int64_t k = m->dim;
    blasint stride = (blasint)(m->views * k);
    blasint own = (blasint)(m->first[v + 1] - m->first[v]);
    const double *w = m->w + m->first[v] * k + j;
    double *block = m->blocks + v * k + j;
    double size = m->super[v * k + j];

    if (!(size > 0))
        return;
    cblas_daxpy(own, 1 / size, w, (blasint)k, block + m->first[v] * stride, stride);
    for (int64_t i = 0; i < j; i++) {
        double part = cblas_ddot(own, m->loadings + m->first[v] * k + i, (blasint)k, w, (blasint)k);
        cblas_daxpy((blasint)m->cols, -part / size, rotations + i, (blasint)k, block, stride);
    }
}

static kfe_status find_blocks(mbpls *m, const kfe_i_solution *pls)
{
    kfe_status status = KFE_OK;

    KFE_TAKE_ZERO(&m->memory, m->blocks, m->cols * m->views * m->dim);
    for (int v = 0; v < m->views; v++)
        for (int64_t j = 0; j < m->dim; j++)
            fill_block(m, pls->coefficients, v, j);
cleanup:
    return status;
}

/* ---- records ---- */

/* explained (dim): the squares of the targets that each feature explains. */
static kfe_status explain_targets(const mbpls *m, double *explained)
{
    kfe_status status = KFE_OK;
    double *y = NULL;
    int64_t targets = 0;
    double unit = 1;

    KFE_TRY(kfe_i_centred_targets(m->ctx, m->source->target, &y, &targets, &unit));
    for (int64_t j = 0; j < m->dim; j++) {
        explained[j] = 0;
        for (int64_t t = 0; t < targets; t++)
            explained[j] +=
                pow(cblas_ddot((blasint)m->rows, y + t, (blasint)targets, m->scores + j, (blasint)m->dim),
                    2) /
                m->squares[j];
    }
cleanup:
    kfe_i_free(m->ctx, y);
    return status;
}

static kfe_status record_importance(mbpls *m, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *explained, *importance;
    double total = 0;

    KFE_TAKE(&m->memory, explained, m->dim);
    KFE_TAKE_ZERO(&m->memory, importance, m->views);
    KFE_TRY(explain_targets(m, explained));
    for (int64_t j = 0; j < m->dim; j++)
        total += explained[j];
    for (int v = 0; v < m->views; v++) {
        for (int64_t j = 0; j < m->dim; j++)
            importance[v] += total > 0 ? explained[j] / total * pow(m->super[v * m->dim + j], 2) : 0;
        importance[v] = sqrt(m->views * importance[v]);
    }
    KFE_TRY(kfe_i_solution_record(out, "view-importance", importance, m->views));
cleanup:
    return status;
}

/* Of the total variance of each view, which is 1 or, if it does not vary, 0. */
static kfe_status record_variance(mbpls *m, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double mass = kfe_i_target_mass(m->source->target, m->rows);
    double *share;

    KFE_TAKE(&m->memory, share, m->views * m->dim);
    for (int v = 0; v < m->views; v++)
        for (int64_t j = 0; j < m->dim; j++)
            share[v * m->dim + j] =
                pow(norm_on_view(m, m->loadings + j, m->dim, v), 2) * m->squares[j] / mass;
    KFE_TRY(kfe_i_solution_record(out, "view-variance", share, m->views * m->dim));
cleanup:
    return status;
}

/* offset of the block scores: what they are at the mean of the rows. */
static kfe_status block_offset(mbpls *m, double **out)
{
    kfe_status status = KFE_OK;
    int64_t width = m->views * m->dim;
    double mass = kfe_i_target_mass(m->source->target, m->rows);
    double *means, *share;

    KFE_TAKE(&m->memory, share, m->rows);
    KFE_TAKE(&m->memory, means, m->cols);
    KFE_TAKE(&m->memory, *out, width);
    for (int64_t i = 0; i < m->rows; i++)
        share[i] = kfe_i_weight_of(m->source->target, i) / mass;
    KFE_TRY(kfe_i_table_transpose_times(m->ctx, &m->joined, share, 1, means));
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)m->cols, (blasint)width, 1, m->blocks, (blasint)width,
                means, 1, 0, *out, 1);
cleanup:
    return status;
}

static kfe_status record(mbpls *m, const double *offset, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *scores;

    KFE_TAKE(&m->memory, scores, m->rows * m->views * m->dim);
    project(m, m->blocks, offset, m->views * m->dim, 1, scores);
    KFE_TRY(kfe_i_solution_record(out, "view-weights", m->super, m->views * m->dim));
    KFE_TRY(record_importance(m, out));
    KFE_TRY(record_variance(m, out));
    KFE_TRY(kfe_i_record_score_correlations(m->ctx, m->rows, m->views, m->dim, scores, out));
cleanup:
    return status;
}

/* ---- the fit ---- */

/* Makes the block scores the features. */
static kfe_status show_blocks(const mbpls *m, const double *offset, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t width = m->views * m->dim;

    kfe_i_free(m->ctx, out->coefficients);
    kfe_i_free(m->ctx, out->offset);
    out->coefficients = out->offset = NULL;
    KFE_ALLOC(m->ctx, out->coefficients, m->cols * width);
    KFE_ALLOC(m->ctx, out->offset, width);
    memcpy(out->coefficients, m->blocks, (size_t)(m->cols * width) * sizeof *m->blocks);
    memcpy(out->offset, offset, (size_t)width * sizeof *offset);
    out->dim = width;
    KFE_TRY(kfe_i_solution_record(out, KFE_RECORD_VIEW_DIM, &(double){(double)m->dim}, 1));
cleanup:
    return status;
}

/* Coefficients on the joined columns become those on the columns of the views. */
static void undo_factors(const mbpls *m, kfe_i_solution *out)
{
    for (int v = 0; v < m->views; v++)
        cblas_dscal((blasint)((m->first[v + 1] - m->first[v]) * out->dim), m->factor[v],
                    out->coefficients + m->first[v] * out->dim, 1);
}

static kfe_status run(mbpls *m, const mbpls_settings *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_view_source own = {0};
    double *offset = NULL;

    KFE_TRY(join(m));
    KFE_TRY(kfe_i_view_source_open(m->ctx, m->source, &m->joined, &own));
    KFE_TRY(kfe_i_pls_fit(m->ctx, &own.source, "mbpls", 1, settings->dim, out));
    if (out->moments.dim > 0) /* of the joined columns, not of those of the views */
        kfe_i_moments_free(&out->moments);
    KFE_TRY(decompose(m, out));
    KFE_TRY(find_blocks(m, out));
    KFE_TRY(block_offset(m, &offset));
    KFE_TRY(record(m, offset, out));
    if (settings->features == 1)
        KFE_TRY(show_blocks(m, offset, out));
    undo_factors(m, out);
cleanup:
    kfe_i_view_source_free(&own);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    mbpls m = {.ctx = ctx, .source = source, .memory.ctx = ctx, .views = source->view_count};
    kfe_status status = run(&m, settings, out);

    kfe_i_table_free(&m.joined);
    kfe_i_arena_free(&m.memory);
    return status;
}

const kfe_i_method kfe_i_method_mbpls = {
    .name = "mbpls",
    .summary = "multi-block PLS: partial least squares on views that count equally",
    .reference = "Westerhuis, Kourti & MacGregor 1998",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kpls",
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, mbpls_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
