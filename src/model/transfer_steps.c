/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learns the steps pds and epo from the same samples on two instruments, the master and the slave.
 *
 *     pds   for each column y of the master, X the columns of the slave in the window around it, both centred: y ≈ XF by PLS with
 *           one target (NIPALS, X is deflated); b = ȳ − x̄F. Wang, Veltkamp & Kowalski (1991). Time O(n·d·window·dim).
 *     epo   Vᵀ: the first right singular vectors of the differences slave − master, which are not centred.
 *           Roger, Chauchard & Bellon-Maurel (2003). Time O(nd·min(n, d)).
 *
 * Rows count by their weights: their square roots multiply the rows.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/steps/transfer_settings.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "model/transfer.h"

static double weight_of(const kfe_i_pairs *pairs, int64_t i)
{
    return pairs->weights ? pairs->weights[i] : 1;
}

static double mass_of(const kfe_i_pairs *pairs)
{
    double mass = 0;

    for (int64_t i = 0; i < pairs->rows; i++)
        mass += weight_of(pairs, i);
    return mass;
}

/* ---- pds ---- */

/* What is left of X'y below this share of ‖X‖‖y‖ is rounding. */
#define ROUNDING 1e-13

/* One window: x (rows × cols) and y, centred and weighted; x is used up. */
typedef struct window {
    int64_t rows, cols, dim;
    double *x, *y;
    double *t;     /* rows: scores */
    double *w, *b; /* cols: weights, coefficients */
    double *p, *r; /* dim × cols: loadings, rotations */
} window;

/* The next component; 0: X'y is zero. */
static int add_component(window *z, int64_t a, double least)
{
    blasint rows = (blasint)z->rows;
    blasint cols = (blasint)z->cols;
    double *p = z->p + a * z->cols;
    double *r = z->r + a * z->cols;

    cblas_dgemv(CblasRowMajor, CblasTrans, rows, cols, 1, z->x, cols, z->y, 1, 0, z->w, 1);
    double length = cblas_dnrm2(cols, z->w, 1);
    if (!(length > least))
        return 0;
    cblas_dscal(cols, 1 / length, z->w, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, cols, 1, z->x, cols, z->w, 1, 0, z->t, 1);
    double squares = cblas_ddot(rows, z->t, 1, z->t, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, rows, cols, 1 / squares, z->x, cols, z->t, 1, 0, p, 1);
    memcpy(r, z->w, (size_t)z->cols * sizeof *r);
    for (int64_t c = 0; c < a; c++)
        cblas_daxpy(cols, -cblas_ddot(cols, z->p + c * z->cols, 1, z->w, 1), z->r + c * z->cols, 1, r, 1);
    cblas_daxpy(cols, cblas_ddot(rows, z->t, 1, z->y, 1) / squares, r, 1, z->b, 1);
    cblas_dger(CblasRowMajor, rows, cols, -1, z->t, 1, p, 1, z->x, cols);
    return 1;
}

static void fit_window(window *z)
{
    double size = cblas_dnrm2((blasint)(z->rows * z->cols), z->x, 1) * cblas_dnrm2((blasint)z->rows, z->y, 1);
    int64_t most = z->dim < z->cols ? z->dim : z->cols;

    memset(z->b, 0, (size_t)z->cols * sizeof *z->b);
    for (int64_t a = 0; a < most && add_component(z, a, ROUNDING * size); a++)
        ;
}

static void mean_rows(const kfe_i_pairs *pairs, const double *rows, double *mean)
{
    double mass = mass_of(pairs);

    memset(mean, 0, (size_t)pairs->cols * sizeof *mean);
    for (int64_t i = 0; i < pairs->rows; i++)
        cblas_daxpy((blasint)pairs->cols, weight_of(pairs, i) / mass, rows + i * pairs->cols, 1, mean, 1);
}

/* Column j of the master and its window of the slave, from column `first` on. */
static void take_window(const kfe_i_pairs *pairs, const double *master_mean, const double *slave_mean,
                        int64_t j, int64_t first, window *z)
{
    for (int64_t i = 0; i < pairs->rows; i++) {
        double root = sqrt(weight_of(pairs, i));
        const double *slave = pairs->slave + i * pairs->cols + first;
        z->y[i] = root * (pairs->master[i * pairs->cols + j] - master_mean[j]);
        for (int64_t k = 0; k < z->cols; k++)
            z->x[i * z->cols + k] = root * (slave[k] - slave_mean[first + k]);
    }
}

static void learn_windows(const kfe_i_pairs *pairs, const double *master_mean, const double *slave_mean,
                          int64_t width, window *z, double *learned)
{
    int64_t cols = pairs->cols;
    int64_t half = width / 2;

    memset(learned, 0, (size_t)((width + 1) * cols) * sizeof *learned);
    for (int64_t j = 0; j < cols; j++) {
        int64_t first = j < half ? 0 : j - half;
        int64_t last = j + half < cols ? j + half : cols - 1;
        double *constant = learned + width * cols + j;
        z->cols = last - first + 1;
        take_window(pairs, master_mean, slave_mean, j, first, z);
        fit_window(z);
        *constant = master_mean[j];
        for (int64_t k = 0; k < z->cols; k++) {
            learned[(first + k - j + half) * cols + j] = z->b[k];
            *constant -= z->b[k] * slave_mean[first + k];
        }
    }
}

static kfe_status check_pairs(kfe_context *ctx, const kfe_i_pairs *pairs)
{
    int64_t counted = 0;

    for (int64_t i = 0; i < pairs->rows; i++)
        counted += weight_of(pairs, i) > 0;
    if (counted < 2)
        return kfe_i_fail(ctx, KFE_EINPUT, "pds needs two or more samples on both instruments, not %lld",
                          (long long)counted);
    return KFE_OK;
}

kfe_status kfe_i_pds_learn(kfe_context *ctx, const kfe_i_pairs *pairs, kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;
    const kfe_i_pds_settings *s = fit->settings;
    kfe_i_arena memory = {.ctx = ctx};
    int64_t width = s->window < 2 * pairs->cols ? s->window : 2 * pairs->cols - 1;
    int64_t dim = s->dim < width ? s->dim : width;
    window z = {.rows = pairs->rows, .dim = dim};
    double *means;

    KFE_TRY(check_pairs(ctx, pairs));
    KFE_TAKE(&memory, means, 2 * pairs->cols);
    KFE_TAKE(&memory, z.x, pairs->rows * width);
    KFE_TAKE(&memory, z.y, pairs->rows);
    KFE_TAKE(&memory, z.t, pairs->rows);
    KFE_TAKE(&memory, z.w, width);
    KFE_TAKE(&memory, z.b, width);
    KFE_TAKE(&memory, z.p, dim * width);
    KFE_TAKE(&memory, z.r, dim * width);
    mean_rows(pairs, pairs->master, means);
    mean_rows(pairs, pairs->slave, means + pairs->cols);
    learn_windows(pairs, means, means + pairs->cols, s->window, &z, fit->learned);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* ---- epo ---- */

/* vt (dim × cols): eigenvectors of DᵀD. */
static kfe_status directions_by_columns(kfe_context *ctx, int64_t rows, int64_t cols, const double *d,
                                        int64_t dim, double *vt, int64_t *found)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    double *inner, *squares, *v;

    KFE_TAKE(&memory, inner, cols * cols);
    KFE_TAKE(&memory, squares, dim);
    KFE_TAKE(&memory, v, cols * dim);
    kfe_i_transpose_times(cols, rows, cols, d, d, inner);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, cols, inner, dim, squares, v));
    *found = squares[0] > 0 ? kfe_i_count_above(dim, squares, KFE_RANK_TOLERANCE * squares[0]) : 0;
    for (int64_t a = 0; a < *found; a++)
        cblas_dcopy((blasint)cols, v + a, (blasint)dim, vt + a * cols, 1);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* The same from DDᵀ, for few rows: Vᵀ = S⁻¹UᵀD, made orthonormal to the last digit. */
static kfe_status directions_by_rows(kfe_context *ctx, int64_t rows, int64_t cols, const double *d,
                                     int64_t dim, double *vt, int64_t *found)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    double *inner, *squares, *u;

    KFE_TAKE(&memory, inner, rows * rows);
    KFE_TAKE(&memory, squares, dim);
    KFE_TAKE(&memory, u, rows * dim);
    kfe_i_times_transpose(rows, cols, rows, d, d, inner);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, rows, inner, dim, squares, u));
    *found = squares[0] > 0 ? kfe_i_count_above(dim, squares, KFE_RANK_TOLERANCE * squares[0]) : 0;
    kfe_i_copy_block(rows, *found, u, dim, u, *found);
    kfe_i_divide_by_roots(rows, *found, squares, u);
    kfe_i_transpose_times(*found, rows, cols, u, d, vt);
    KFE_TRY(kfe_i_orthonormalise(ctx, cols, *found, vt));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

static void take_differences(const kfe_i_pairs *pairs, double *out)
{
    for (int64_t i = 0; i < pairs->rows; i++)
        for (int64_t e = i * pairs->cols; e < (i + 1) * pairs->cols; e++)
            out[e] = sqrt(weight_of(pairs, i)) * (pairs->slave[e] - pairs->master[e]);
}

kfe_status kfe_i_epo_learn(kfe_context *ctx, const kfe_i_pairs *pairs, kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;
    int64_t wanted = ((const kfe_i_epo_settings *)fit->settings)->dim;
    int64_t least = pairs->rows < pairs->cols ? pairs->rows : pairs->cols;
    int64_t dim = wanted < least ? wanted : least;
    int64_t found = 0;
    double *d = NULL;

    KFE_ALLOC(ctx, d, pairs->rows * pairs->cols);
    take_differences(pairs, d);
    memset(fit->learned, 0, (size_t)(wanted * pairs->cols) * sizeof *fit->learned);
    KFE_TRY((pairs->rows < pairs->cols ? directions_by_rows : directions_by_columns)(
        ctx, pairs->rows, pairs->cols, d, dim, fit->learned, &found));
    if (found < wanted)
        kfe_i_log(
            ctx, KFE_LOG_WARNING,
            "epo: the differences of the samples have only %lld directions, so %lld are removed, not %lld",
            (long long)found, (long long)found, (long long)wanted);
cleanup:
    kfe_i_free(ctx, d);
    return status;
}
