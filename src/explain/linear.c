/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains models that are linear in their columns, one of the parts of kfe_explain. With scaled, centred columns X,
 * features T = XR and targets Y of the training data (their products are the model's moments):
 *
 *     rotations           R
 *     weights             W, the columns of R made orthonormal in their order: R = W·(triangle), as in PLS
 *     x-loadings          P = XᵀT(TᵀT)⁻¹, so that X ≈ TPᵀ
 *     y-loadings          Q = YᵀT(TᵀT)⁻¹, so that Y ≈ TQᵀ; y_scores.c adds the scores of targets
 *     x-variance          the share of ‖X‖² that feature a explains beyond the features before it; y-variance: of ‖Y‖²
 *     vip                 sqrt(d · Σ_a s_a w_ja² / Σ_a s_a), s_a the part of ‖Y‖² that feature a explains
 *     selectivity-ratio   of column j for one target: e/(‖x_j‖² − e), e = (x_jᵀŷ)²/‖ŷ‖² and ŷ = TQᵀ
 *     smc                 significance multivariate correlation of column j for one target: F of x_j = ŷb_j/‖b‖² + rest, with b the
 *                         coefficients on scaled columns, 1 and n − 2 degrees of freedom (Tran et al. 2014)
 *     coefficients        outputs(x) = coefficientsᵀx + intercept for raw x: steps, scaling and centring are undone. After a step that is
 *                         not affine, x are the columns that the steps make
 *
 * For the orthogonal features of pls these are the attributes of scikit-learn's PLSRegression.
 * Wold, Sjöström & Eriksson (2001); Rajalahti et al. (2009); Tran et al. (2014). Time O(d·k²).
 */
#include "model/linear.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "explain/explain.h"
#include "linalg/linalg.h"
#include "model/chain_views.h"

/* ---- coefficients in the units of the data ---- */

/* Undoes the scaling and, if all steps are affine, the steps; *axis: the columns that the map is then on. */
static kfe_status undo_preparation(kfe_i_explaining *job, kfe_i_linear_map *map, int *axis)
{
    kfe_status status = KFE_OK;
    const char *step = NULL;

    kfe_i_linear_map_undo_scaling(job->model, map);
    if (kfe_i_model_prepares_linearly(job->model, &step)) {
        *axis = KFE_BY_COLUMN;
        return kfe_i_linear_map_undo_steps(job->ctx, job->model, map);
    }
    *axis = KFE_BY_PREPARED;
    kfe_i_log(job->ctx, KFE_LOG_NOTICE,
              "step %s is not linear, so coefficients are on the columns that the steps make", step);
    return status;
}

static void copy_intercept(const kfe_i_linear_map *map, double *out)
{
    for (int64_t o = 0; o < map->dim; o++)
        out[o] = -map->offset[o];
}

/* What the tables of a map are called, and what they say of columns of the data and of those that steps make. */
typedef struct map_names {
    const char *weights, *about[2], *intercept, *about_intercept[2];
} map_names;

static kfe_status add_raw_map(kfe_i_explaining *job, kfe_i_linear_map *map, int axis, const map_names *names)
{
    kfe_status status = KFE_OK;
    int columns = 0;
    int single = 0;
    double *values = NULL;

    KFE_TRY(undo_preparation(job, map, &columns));
    int made = columns == KFE_BY_PREPARED;
    KFE_TRY(kfe_i_explain_table(job, names->weights, names->about[made], columns, axis, &values));
    memcpy(values, map->weights, (size_t)(map->cols * map->dim) * sizeof *values);
    KFE_TRY(kfe_i_explain_axis(job, "value", 1, (const char *const[]){"intercept"}, &single));
    KFE_TRY(kfe_i_explain_table(job, names->intercept, names->about_intercept[made], axis, single, &values));
    copy_intercept(map, values);
cleanup:
    return status;
}

static kfe_status explain_outputs(kfe_i_explaining *job)
{
    static const map_names names = {
        "coefficients",
        {"outputs per unit of each column, in the units of the data",
         "outputs per unit of each column that the steps make"},
        "intercept",
        {"the output where every column is 0", "the output where every column that the steps make is 0"}};
    kfe_status status = KFE_OK;
    kfe_i_linear_map map = {0};

    if (kfe_i_outputs_not_linear(job->model) || kfe_i_scaling_not_linear(job->model))
        return KFE_OK;
    KFE_TRY(kfe_i_linear_outputs(job->ctx, job->model, &map));
    KFE_TRY(add_raw_map(job, &map, KFE_BY_OUTPUT, &names));
cleanup:
    kfe_i_linear_map_free(&map);
    return status;
}

static kfe_status explain_raw_features(kfe_i_explaining *job, kfe_i_linear_map *rotations)
{
    static const map_names names = {
        "feature-coefficients",
        {"features per unit of each column, in the units of the data",
         "features per unit of each column that the steps make"},
        "feature-intercept",
        {"the feature where every column is 0", "the feature where every column that the steps make is 0"}};
    kfe_status status = KFE_OK;

    if (kfe_i_scaling_not_linear(job->model))
        return KFE_OK;
    KFE_TRY(add_raw_map(job, rotations, KFE_BY_FEATURE, &names));
cleanup:
    return status;
}

/* ---- weights ---- */

/* Makes the columns of w (d × k) orthonormal in their order, each twice against those before it; columns that depend on
 * them become zero. */
static void orthonormalise(int64_t d, int64_t k, double *w)
{
    for (int64_t a = 0; a < k; a++) {
        double before = cblas_dnrm2((blasint)d, w + a, (blasint)k);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t b = 0; b < a; b++) {
                double part = cblas_ddot((blasint)d, w + a, (blasint)k, w + b, (blasint)k);
                cblas_daxpy((blasint)d, -part, w + b, (blasint)k, w + a, (blasint)k);
            }
        double after = cblas_dnrm2((blasint)d, w + a, (blasint)k);
        cblas_dscal((blasint)d, after > 1e-12 * before ? 1 / after : 0, w + a, (blasint)k);
    }
}

static kfe_status explain_weights(kfe_i_explaining *job, const kfe_i_linear_map *rotations,
                                  const double **out)
{
    kfe_status status = KFE_OK;
    double *values = NULL;
    size_t size = (size_t)(rotations->cols * rotations->dim) * sizeof *values;

    KFE_TRY(kfe_i_explain_table(job, "rotations", "features per unit of each scaled column", KFE_BY_PREPARED,
                                KFE_BY_FEATURE, &values));
    memcpy(values, rotations->weights, size);
    KFE_TRY(kfe_i_explain_table(job, "weights", "the rotations made orthonormal, feature after feature",
                                KFE_BY_PREPARED, KFE_BY_FEATURE, &values));
    memcpy(values, rotations->weights, size);
    orthonormalise(rotations->cols, rotations->dim, values);
    *out = values;
cleanup:
    return status;
}

/* ---- loadings and variance ---- */

/* The factor of TᵀT; features that depend on each other get a ridge of rounding size. */
static kfe_status factor_products(kfe_context *ctx, const kfe_i_moments *m, double **factor)
{
    double largest = 0;
    kfe_status status = kfe_i_moments_factor(ctx, m, 0, factor);

    if (status != KFE_ENUMERIC)
        return status;
    kfe_i_free(ctx, *factor);
    *factor = NULL;
    for (int64_t a = 0; a < m->dim; a++)
        largest = fmax(largest, m->products[a * m->dim + a]);
    return kfe_i_moments_factor(ctx, m, 1e-12 * largest, factor);
}

/* b (rows × k) ← b·L⁻ᵀ, and if `both`, ← that·L⁻¹. */
static void divide(int64_t rows, int64_t k, const double *factor, int both, double *b)
{
    kfe_i_solve_lower_transposed(rows, k, factor, b);
    if (both)
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)rows,
                    (blasint)k, 1, factor, (blasint)k, b, (blasint)k);
}

kfe_status kfe_i_loadings(kfe_context *ctx, const kfe_model *model, double **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &model->moments;
    double *factor = NULL;

    *out = NULL;
    KFE_TRY(factor_products(ctx, m, &factor));
    KFE_ALLOC(ctx, *out, m->cols * m->dim);
    memcpy(*out, m->cross, (size_t)(m->cols * m->dim) * sizeof **out);
    divide(m->cols, m->dim, factor, 1, *out);
cleanup:
    kfe_i_free(ctx, factor);
    return status;
}

/* What each feature explains of ‖X‖² or ‖Y‖² beyond the features before it: the squared columns of XᵀT·L⁻ᵀ. */
static kfe_status explained_squares(kfe_context *ctx, int64_t rows, int64_t k, const double *cross,
                                    const double *factor, double *squares)
{
    kfe_status status = KFE_OK;
    double *copy = NULL;

    KFE_ALLOC(ctx, copy, rows * k);
    memcpy(copy, cross, (size_t)(rows * k) * sizeof *copy);
    divide(rows, k, factor, 0, copy);
    memset(squares, 0, (size_t)k * sizeof *squares);
    for (int64_t j = 0; j < rows; j++)
        for (int64_t a = 0; a < k; a++)
            squares[a] += copy[j * k + a] * copy[j * k + a];
cleanup:
    kfe_i_free(ctx, copy);
    return status;
}

static void fill_shares(int64_t k, const double *squares, double total, double *out)
{
    double sum = 0;

    for (int64_t a = 0; a < k; a++) {
        out[2 * a] = total > 0 ? squares[a] / total : 0;
        out[2 * a + 1] = sum += out[2 * a];
    }
}

static double sum_of(int64_t count, const double *values)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static kfe_status explain_columns(kfe_i_explaining *job, const double *factor, int shares)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    double *values = NULL;
    double *squares = NULL;

    KFE_TRY(kfe_i_explain_table(job, "x-loadings",
                                "how each scaled column of the training data rises with the features",
                                KFE_BY_PREPARED, KFE_BY_FEATURE, &values));
    memcpy(values, m->cross, (size_t)(m->cols * m->dim) * sizeof *values);
    divide(m->cols, m->dim, factor, 1, values);
    KFE_ALLOC(job->ctx, squares, m->dim);
    KFE_TRY(explained_squares(job->ctx, m->cols, m->dim, m->cross, factor, squares));
    KFE_TRY(kfe_i_explain_table(job, "x-variance",
                                "share of the variance of the scaled columns that each feature explains",
                                KFE_BY_FEATURE, shares, &values));
    fill_shares(m->dim, squares, sum_of(m->cols, m->column_squares), values);
cleanup:
    kfe_i_free(job->ctx, squares);
    return status;
}

/* ---- targets ---- */

static kfe_status explain_vip(kfe_i_explaining *job, const double *weights, const double *squares)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    double total = sum_of(m->dim, squares);
    double *values = NULL;
    int single = 0;

    KFE_TRY(kfe_i_explain_axis(job, "value", 1, (const char *const[]){"vip"}, &single));
    KFE_TRY(kfe_i_explain_table(job, "vip",
                                "variable importance in projection; above 1: more than the average column",
                                KFE_BY_PREPARED, single, &values));
    for (int64_t j = 0; j < m->cols; j++) {
        double sum = 0;
        for (int64_t a = 0; a < m->dim; a++)
            sum += squares[a] * weights[j * m->dim + a] * weights[j * m->dim + a];
        values[j] = total > 0 ? sqrt((double)m->cols * sum / total) : 0;
    }
cleanup:
    return status;
}

/* The selectivity ratio of every column for target t, given its y-loadings q[dim]. */
static void fill_selectivity(const kfe_i_moments *m, const double *q, int64_t t, double *out)
{
    double size = 0;

    for (int64_t a = 0; a < m->dim; a++)
        for (int64_t b = 0; b < m->dim; b++)
            size += q[a] * m->products[a * m->dim + b] * q[b];
    for (int64_t j = 0; j < m->cols; j++) {
        double part = cblas_ddot((blasint)m->dim, m->cross + j * m->dim, 1, q, 1);
        double explained = size > 0 ? part * part / size : 0;
        double rest = m->column_squares[j] - explained;
        out[j * m->targets + t] = explained <= 0 ? 0 : rest > 0 ? explained / rest : (double)INFINITY;
    }
}

static kfe_status explain_selectivity(kfe_i_explaining *job, const double *y_loadings, int targets)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    double *values = NULL;

    KFE_TRY(kfe_i_explain_table(
        job, "selectivity-ratio",
        "explained over unexplained variance of each column when it is fitted to the predicted target",
        KFE_BY_PREPARED, targets, &values));
    for (int64_t t = 0; t < m->targets; t++)
        fill_selectivity(m, y_loadings + t * m->dim, t, values);
cleanup:
    return status;
}

/* F of every column for target t; b: coefficients on scaled columns. */
static void fill_smc(const kfe_i_moments *m, const double *q, const double *b, int64_t t, double *out)
{
    double length = cblas_ddot((blasint)m->cols, b, 1, b, 1);
    double size = 0;

    for (int64_t a = 0; a < m->dim; a++)
        size += q[a] * cblas_ddot((blasint)m->dim, m->products + a * m->dim, 1, q, 1);
    for (int64_t j = 0; j < m->cols; j++) {
        double slope = length > 0 ? b[j] / length : 0;
        double explained = slope * slope * size;
        double part = cblas_ddot((blasint)m->dim, m->cross + j * m->dim, 1, q, 1);
        double rest = m->column_squares[j] - 2 * slope * part + explained;
        double degrees = m->spread[KFE_SPREAD_MASS] - 2;
        out[j * m->targets + t] = explained <= 0 ? 0
                                  : rest > 0     ? explained / rest * degrees
                                                 : (double)INFINITY;
    }
}

static kfe_status explain_smc(kfe_i_explaining *job, const double *rotations, const double *y_loadings)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    double *values = NULL;
    double *b = NULL;

    if (!m->spread) /* an older model, which does not know the number of rows */
        return KFE_OK;
    KFE_ALLOC(job->ctx, b, m->cols);
    KFE_TRY(kfe_i_explain_table(
        job, "smc", "F of each column against its part along the regression (1 and n − 2 degrees of freedom)",
        KFE_BY_PREPARED, KFE_BY_TARGET, &values));
    for (int64_t t = 0; t < m->targets; t++) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)m->cols, (blasint)m->dim, 1, rotations,
                    (blasint)m->dim, y_loadings + t * m->dim, 1, 0, b, 1);
        fill_smc(m, y_loadings + t * m->dim, b, t, values);
    }
cleanup:
    kfe_i_free(job->ctx, b);
    return status;
}

static kfe_status explain_targets(kfe_i_explaining *job, const double *rotations, const double *weights,
                                  const double *factor, int shares)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    double *values = NULL;
    double *loadings = NULL;
    double *squares = NULL;

    KFE_TRY(kfe_i_explain_table(job, "y-loadings",
                                "how each target rises with the features; a class counts +1, the rest -1",
                                KFE_BY_TARGET, KFE_BY_FEATURE, &loadings));
    memcpy(loadings, m->target_cross, (size_t)(m->targets * m->dim) * sizeof *loadings);
    divide(m->targets, m->dim, factor, 1, loadings);
    KFE_ALLOC(job->ctx, squares, m->dim);
    KFE_TRY(explained_squares(job->ctx, m->targets, m->dim, m->target_cross, factor, squares));
    KFE_TRY(kfe_i_explain_table(job, "y-variance",
                                "share of the variance of the targets that each feature explains",
                                KFE_BY_FEATURE, shares, &values));
    fill_shares(m->dim, squares, sum_of(m->targets, m->target_squares), values);
    KFE_TRY(explain_vip(job, weights, squares));
    KFE_TRY(explain_selectivity(job, loadings, KFE_BY_TARGET));
    KFE_TRY(explain_smc(job, rotations, loadings));
    KFE_TRY(kfe_i_explain_y_scores(job, loadings));
cleanup:
    kfe_i_free(job->ctx, squares);
    return status;
}

static kfe_status explain_moments(kfe_i_explaining *job, const double *rotations, const double *weights)
{
    static const char *const words[] = {"share", "cumulative"};
    kfe_status status = KFE_OK;
    double *factor = NULL;
    int shares = 0;

    KFE_TRY(factor_products(job->ctx, &job->model->moments, &factor));
    KFE_TRY(kfe_i_explain_axis(job, "value", 2, words, &shares));
    KFE_TRY(explain_columns(job, factor, shares));
    if (job->model->moments.targets > 0)
        KFE_TRY(explain_targets(job, rotations, weights, factor, shares));
cleanup:
    kfe_i_free(job->ctx, factor);
    return status;
}

/* ---- all together ---- */

static kfe_status explain_scores(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    double *values = NULL;

    if (!job->data || !job->settings.examples)
        return KFE_OK;
    KFE_TRY(kfe_i_explain_table(job, "scores", "the features of each example", KFE_BY_EXAMPLE, KFE_BY_FEATURE,
                                &values));
    KFE_TRY(kfe_i_model_project(job->ctx, job->model, job->data, values));
cleanup:
    return status;
}

kfe_status kfe_i_explain_linear(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    const char *reason = kfe_i_features_not_linear(job->model);
    kfe_i_linear_map rotations = {0};
    const double *weights = NULL;

    if (reason)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "this model has no coefficients on columns: %s",
                          reason);
    KFE_TRY(explain_outputs(job));
    if (job->model->projector == KFE_PROJECT_IDENTITY || job->model->predictor.kind == KFE_PREDICTOR_DIRECT)
        goto cleanup; /* the features are the columns, or the outputs */
    KFE_TRY(kfe_i_linear_features(job->ctx, job->model, &rotations));
    KFE_TRY(explain_weights(job, &rotations, &weights));
    if (job->model->moments.cols > 0)
        KFE_TRY(explain_moments(job, rotations.weights, weights));
    else
        kfe_i_log(
            job->ctx, KFE_LOG_WARNING,
            "the model keeps no loadings: it was fitted before kfe knew them, or a learned distance mixed the columns");
    KFE_TRY(explain_raw_features(job, &rotations));
    KFE_TRY(explain_scores(job));
cleanup:
    kfe_i_linear_map_free(&rotations);
    return status;
}
