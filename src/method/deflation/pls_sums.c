/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial least squares from sums over rows: with S = XᵀX and C_1 = XᵀY of centred columns and targets,
 *
 *     w_j   the leading left singular vector of C_j,
 *     r_j = w_j − Σ_{i<j} r_i(p_iᵀw_j),   τ_j = r_jᵀSr_j,   p_j = Sr_j/τ_j,   C_{j+1} = C_j − p_j(r_jᵀC_j).
 *
 * Then Xr_j are the features of pls.c: r_iᵀSr_j = 0, and w_j is the direction of data and targets less what the features so far explain.
 *
 * Dayal & MacGregor (1997), "Improved PLS algorithms", the second algorithm. Time for k features: k products with S, and O(dk²).
 * Where S has the digits of single precision only (rough_sums.h), the features are found twice: first roughly, then with products
 * that are exact near the first ones.
 *
 * Rounding moves τ by about ε·‖S‖·‖r‖², so that a feature with less than 10⁻⁹ of tr(S)‖r‖² is not computed here; nor are directions of
 * targets that are almost explained.
 */
#include "method/deflation/pls_sums.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "linalg/linalg.h"
#include "method/shared/stand_in.h"

/* Features keep at least seven digits above this share of tr(S)‖r‖². */
#define LEAST_SHARE 1e-9
/* Directions at this distance from those with exact products have products with an error of about 10⁻¹⁰‖S‖: again seven digits. */
#define LARGEST_DISTANCE 1e-3
/* How often directions are sharpened before the sums count as unsuitable. */
enum { MOST_SHARPENINGS = 3 };
/* Covariances below this share of the first one have lost their digits. */
#define LEAST_COVARIANCE 1e-7

typedef struct pls_state {
    kfe_context *ctx;
    const kfe_i_sums *sums;
    kfe_i_rough *rough; /* the scatter, if the sums have none */
    int64_t cols, targets, most;
    double *cross;              /* cols × targets: C_j */
    double *target_squares;     /* targets × targets */
    double *weights, *loads;    /* most × cols: r_j; p_j */
    double *diagonal;           /* cols: of S */
    double *direction;          /* cols */
    double *overlap, *along;    /* most; targets */
    double *inner, *leading;    /* targets × targets; targets */
    double *scratch;            /* removed rows */
    double *gains;              /* most × targets: r_jᵀC_j */
    double *squares;            /* most: τ_j */
    double trace, total, first; /* tr(S); tr(YᵀY); ‖C_1w_1‖ */
    kfe_i_eigen_work *eigen;
} pls_state;

static void release(pls_state *s)
{
    double *const blocks[] = {s->cross,   s->target_squares, s->weights,  s->loads,   s->diagonal,
                              s->overlap, s->along,          s->inner,    s->leading, s->scratch,
                              s->gains,   s->squares,        s->direction};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(s->ctx, blocks[i]);
    kfe_i_eigen_work_free(s->eigen);
}

static kfe_status begin(pls_state *s)
{
    kfe_status status = KFE_OK;
    int64_t d = s->cols;
    int64_t t = s->targets;

    KFE_ALLOC(s->ctx, s->cross, d * t);
    KFE_ALLOC(s->ctx, s->target_squares, t * t);
    KFE_ALLOC(s->ctx, s->weights, s->most * d);
    KFE_ALLOC(s->ctx, s->loads, s->most * d);
    KFE_ALLOC(s->ctx, s->diagonal, d);
    KFE_ALLOC(s->ctx, s->direction, d);
    KFE_ALLOC(s->ctx, s->overlap, s->most);
    KFE_ALLOC(s->ctx, s->along, t);
    KFE_ALLOC(s->ctx, s->inner, t * t);
    KFE_ALLOC(s->ctx, s->leading, t);
    KFE_ALLOC(s->ctx, s->scratch, s->sums->removed_count);
    KFE_ALLOC(s->ctx, s->gains, s->most * t);
    KFE_ALLOC(s->ctx, s->squares, s->most);
    KFE_TRY(kfe_i_eigen_work_new(s->ctx, t, &s->eigen));
    kfe_i_stand_in_products(s->sums, s->cross, s->target_squares);
    if (s->rough)
        memcpy(s->diagonal, kfe_i_rough_squares(s->rough), (size_t)d * sizeof *s->diagonal);
    else
        kfe_i_sums_diagonal(s->sums, s->diagonal);
    for (int64_t j = 0; j < d; j++)
        s->trace += s->diagonal[j];
    for (int64_t y = 0; y < t; y++)
        s->total += s->target_squares[y * (t + 1)];
cleanup:
    return status;
}

/* The leading left singular vector of C; *found is 0 if C is too small. */
static kfe_status choose_direction(pls_state *s, int64_t j, int *found)
{
    kfe_status status = KFE_OK;
    blasint d = (blasint)s->cols;
    blasint t = (blasint)s->targets;
    double value = 0;

    s->leading[0] = 1;
    if (t > 1) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, t, t, d, 1, s->cross, t, s->cross, t, 0,
                    s->inner, t);
        KFE_TRY(kfe_i_symmetric_eigen_with(s->ctx, t, s->inner, 1, &value, s->leading, s->eigen));
    }
    cblas_dgemv(CblasRowMajor, CblasNoTrans, d, t, 1, s->cross, t, s->leading, 1, 0, s->direction, 1);
    double length = cblas_dnrm2(d, s->direction, 1);
    s->first = j == 0 ? length : s->first;
    *found = length > LEAST_COVARIANCE * s->first && isfinite(length);
    if (*found)
        cblas_dscal(d, 1 / length, s->direction, 1);
cleanup:
    return status;
}

/* r_j, p_j and τ_j from the direction; returns 0 if τ_j is too small. */
static int add_feature(pls_state *s, int64_t j)
{
    blasint d = (blasint)s->cols;
    double *r = s->weights + j * s->cols;
    double *p = s->loads + j * s->cols;

    memcpy(r, s->direction, (size_t)s->cols * sizeof *r);
    for (int pass = 0; pass < 2 && j > 0; pass++) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)j, d, 1, s->loads, d, r, 1, 0, s->overlap, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)j, d, -1, s->weights, d, s->overlap, 1, 1, r, 1);
    }
    if (s->rough)
        kfe_i_rough_times(s->rough, r, p);
    else
        kfe_i_sums_times(s->sums, r, 1, s->scratch, p);
    double square = cblas_ddot(d, r, 1, p, 1);
    s->squares[j] = square;
    if (!(square > LEAST_SHARE * s->trace * cblas_ddot(d, r, 1, r, 1)) || !isfinite(square))
        return 0;
    cblas_dscal(d, 1 / square, p, 1);
    return 1;
}

static void deflate(pls_state *s, int64_t j)
{
    blasint d = (blasint)s->cols;
    blasint t = (blasint)s->targets;
    double *gain = s->gains + j * s->targets;

    cblas_dgemv(CblasRowMajor, CblasTrans, d, t, 1, s->cross, t, s->weights + j * s->cols, 1, 0, gain, 1);
    cblas_dger(CblasRowMajor, d, t, -1, s->loads + j * s->cols, 1, gain, 1, s->cross, t);
}

/* The records of deflation.c. With a gain g_jy = r_jᵀXᵀy, feature j explains g²/τ of ‖y‖². */
static kfe_status record_quality(const pls_state *s, const double *signs, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t k = s->most;
    int64_t t = s->targets;
    double *regression = NULL;
    double *quality = NULL;

    KFE_ALLOC(s->ctx, regression, t * k);
    KFE_ALLOC_ZERO(s->ctx, quality, 2 * k);
    for (int64_t j = 0; j < k; j++) {
        double squares = 0;
        for (int64_t y = 0; y < t; y++) {
            double gain = s->gains[j * t + y];
            squares += gain * gain;
            regression[y * k + j] = gain / s->squares[j] * signs[j];
        }
        quality[j] = (j > 0 ? quality[j - 1] : 0) + squares / s->sums->rows / s->sums->rows;
        quality[k + j] = (j > 0 ? quality[k + j - 1] : 0) + squares / s->squares[j] / s->total;
    }
    KFE_TRY(kfe_i_solution_record(out, "covariance", quality, k));
    KFE_TRY(kfe_i_solution_record(out, "alignment", quality + k, k));
    KFE_TRY(kfe_i_solution_record(out, "regression", regression, t * k));
cleanup:
    kfe_i_free(s->ctx, regression);
    kfe_i_free(s->ctx, quality);
    return status;
}

/* What the model keeps of the training data: the products S r_j are τ_jp_j. */
static kfe_status make_moments(const pls_state *s, const double *signs, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t k = s->most;
    double *images = NULL;
    kfe_i_sums features = {0};

    KFE_ALLOC(s->ctx, images, s->cols * k);
    for (int64_t i = 0; i < s->cols; i++)
        for (int64_t j = 0; j < k; j++)
            images[i * k + j] = signs[j] * s->squares[j] * s->loads[j * s->cols + i];
    KFE_TRY(kfe_i_sums_map_by(s->sums, out->coefficients, images, k, out->offset, &features));
    const kfe_i_column_sums columns = {s->cols, s->sums->mean, s->diagonal, images};
    KFE_TRY(kfe_i_moments_from_sums(s->ctx, &columns, &features, &out->moments));
cleanup:
    kfe_i_free(s->ctx, images);
    kfe_i_sums_free(&features);
    return status;
}

static kfe_status make_solution(const pls_state *s, int moments, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t k = s->most;
    double *signs = NULL;

    KFE_ALLOC(s->ctx, signs, k);
    KFE_TRY(kfe_i_solution_begin(s->ctx, KFE_SOLUTION_PRIMAL, s->cols, k, out));
    for (int64_t i = 0; i < s->cols; i++)
        for (int64_t j = 0; j < k; j++)
            out->coefficients[i * k + j] = s->weights[j * s->cols + i];
    KFE_ALLOC(s->ctx, out->offset, k);
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)s->cols, (blasint)k, 1, out->coefficients, (blasint)k,
                s->sums->mean, 1, 0, out->offset, 1);
    KFE_TRY(kfe_i_solution_take_signs(out, signs));
    KFE_TRY(record_quality(s, signs, out));
    if (moments)
        KFE_TRY(make_moments(s, signs, out));
cleanup:
    kfe_i_free(s->ctx, signs);
    return status;
}

/* All features by the products that the sums give now; *found: how many. */
static kfe_status find_features(pls_state *s, int64_t *found)
{
    kfe_status status = KFE_OK;

    *found = 0;
    kfe_i_stand_in_products(s->sums, s->cross, s->target_squares);
    for (int64_t j = 0; j < s->most; j++) {
        int is_left = 0;
        KFE_TRY(kfe_i_progress(s->ctx, "extracting features", j, s->most));
        KFE_TRY(choose_direction(s, j, &is_left));
        if (!is_left || !add_feature(s, j))
            break;
        deflate(s, j);
        *found = j + 1;
    }
cleanup:
    return status;
}

/* The same with a rough scatter: features are found again until their products were exact. */
static kfe_status find_features_sharply(pls_state *s, int64_t *found)
{
    kfe_status status = KFE_OK;

    KFE_TRY(find_features(s, found));
    for (int i = 0; s->rough && i < MOST_SHARPENINGS && *found == s->most; i++) {
        double distance = kfe_i_rough_distance(s->rough);
        kfe_i_log(s->ctx, KFE_LOG_DEBUG, "pls: directions are %.1e from those with exact products", distance);
        if (distance <= LARGEST_DISTANCE)
            return KFE_OK;
        KFE_TRY(kfe_i_rough_sharpen(s->rough, s->weights, s->most));
        KFE_TRY(find_features(s, found));
    }
    if (s->rough && kfe_i_rough_distance(s->rough) > LARGEST_DISTANCE)
        *found = 0;
cleanup:
    return status;
}

kfe_status kfe_i_pls_from_sums(kfe_context *ctx, const kfe_i_pls_sums *from, int64_t dim, kfe_i_solution *out,
                               int *done)
{
    kfe_status status = KFE_OK;
    const kfe_i_sums *sums = from->sums;
    pls_state s = {.ctx = ctx, .sums = sums, .rough = from->rough, .cols = sums->cols, .most = dim};
    int64_t found = 0;
    /* A rough scatter divides its rows over threads by itself; all other vectors are multiplied sooner than threads wake up. */
    int saved = kfe_i_enter_order(from->rough ? 0 : KFE_SERIAL_ORDER + 1);

    *done = 0;
    s.targets = kfe_i_stand_in_target_columns(sums, KFE_STAND_IN_CENTRED);
    if (s.targets < 1 || dim > s.cols || (double)dim >= sums->rows)
        goto cleanup;
    KFE_TRY(begin(&s));
    if (!isnormal(s.trace) || !isnormal(s.total))
        goto cleanup;
    KFE_TRY(find_features_sharply(&s, &found));
    if (found == s.most) {
        KFE_TRY(make_solution(&s, from->moments, out));
        *done = 1;
    }
cleanup:
    kfe_i_leave_order(saved);
    release(&s);
    return status;
}
