/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cholesky factors in single precision whose rows are divided over the processes of a cluster; solve.c takes them as preconditioners.
 *
 * Rows are dealt in panels of 64, as those of the stored matrix are (dealt.c), so that a process fills its rows from what it keeps. Columns
 * are eliminated in steps of 256. For a matrix that is cut at a step into
 *     A11
 *     A21  A22
 * the processes gather A11 and factor it, each for itself. Each replaces its rows of A21 by those of L21 = A21 L11⁻ᵀ. They gather L21, and each
 * subtracts its rows of L21 L21ᵀ from A22. That is n³/(3p) operations and 4n²/p bytes of memory in each of p processes, which sends
 * 2n²(p − 1)/p bytes.
 *
 * Triangular systems are solved in the same steps, by two messages for each: n²/p operations for each right-hand side.
 *
 * ScaLAPACK has the same factorisation (pspotrf), but its processes wait busily and never ask whether another has failed or the user has
 * cancelled.
 */
#include "gram/cluster/divided_factor.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/least.h"
#include "core/memory.h"
#include "gram/dense/symmetric.h"

enum {
    PANEL = KFE_SYMMETRIC_PANEL,
    STEP = KFE_DIVIDED_STEP,
    SMALL = 128, /* triangles of this order are updated as squares */
    APART = 16   /* floats between rows, so that their distance is no power of two */
};

/* ---- rows ---- */

/* Rows of a process before `row`, which is a multiple of PANEL or n. */
static int64_t rows_before(const kfe_i_divided_factor *f, int rank, int64_t row)
{
    kfe_i_share share = {rank, f->share.ranks};
    int64_t panels = (row + PANEL - 1) / PANEL;
    int64_t count = kfe_i_dealt_count(share, panels);
    int is_last = count > 0 && kfe_i_dealt(share, count - 1) == panels - 1;

    return count * PANEL - (is_last ? panels * PANEL - row : 0);
}

static int64_t own_before(const kfe_i_divided_factor *f, int64_t row)
{
    return rows_before(f, f->share.rank, row);
}

/* A matrix of which this process has its rows. */
typedef struct own_rows {
    const float *values;
    int64_t stride, width;
} own_rows;

/* out: rows [begin, end) of all processes, one after the other. */
static kfe_status exchange(const kfe_i_divided_factor *f, own_rows from, int64_t begin, int64_t end,
                           float *out)
{
    kfe_status status = KFE_OK;
    int64_t row_bytes = from.width * (int64_t)sizeof *out;
    int64_t *bytes = f->bytes;
    char *place = (char *)f->arrived;

    for (int r = 0; r < f->share.ranks; r++) {
        bytes[r] = (rows_before(f, r, end) - rows_before(f, r, begin)) * row_bytes;
        for (int64_t i = own_before(f, begin); r == f->share.rank && i < own_before(f, end); i++)
            memcpy(place + (i - own_before(f, begin)) * row_bytes, from.values + i * from.stride,
                   (size_t)row_bytes);
        place += bytes[r];
    }
    KFE_TRY(kfe_i_cluster_gather(f->ctx, f->arrived, bytes));
    place = (char *)f->arrived;
    for (int r = 0; r < f->share.ranks; r++) {
        kfe_i_share share = {r, f->share.ranks};
        for (int64_t turn = kfe_i_dealt_count(share, begin / PANEL); bytes[r] > 0; turn++) {
            int64_t row = kfe_i_dealt(share, turn) * PANEL;
            int64_t size = kfe_i_least(PANEL, end - row) * row_bytes;
            memcpy(out + (row - begin) * from.width, place, (size_t)size);
            place += size;
            bytes[r] -= size;
        }
    }
cleanup:
    return status;
}

/* ---- filling ---- */

static void narrow_rows(const kfe_i_divided_factor *f, const double *block, int64_t row, int64_t rows,
                        double add)
{
    int64_t cols = row + rows;
    float *out = f->values + own_before(f, row) * f->stride;

#pragma omp parallel for num_threads(kfe_context_threads(f->ctx))
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            out[i * f->stride + j] = (float)(f->scale * block[i * cols + j]);
        out[i * f->stride + row + i] = (float)(f->scale * (block[i * cols + row + i] + add));
    }
}

static kfe_status fill_own(const kfe_i_gram *gram, double add, const kfe_i_divided_factor *f)
{
    kfe_status status = KFE_OK;
    int64_t turns = kfe_i_dealt_count(f->share, (f->n + PANEL - 1) / PANEL);
    double *block = NULL;

    KFE_ALLOC(f->ctx, block, PANEL * f->n);
    for (int64_t turn = 0; turn < turns; turn++) {
        int64_t row = kfe_i_dealt(f->share, turn) * PANEL;
        int64_t rows = kfe_i_least(PANEL, f->n - row);
        KFE_TRY(kfe_i_checkpoint(f->ctx, "computing the kernel matrix", turn, turns));
        KFE_TRY(kfe_i_gram_block(gram, row, rows, 0, row + rows, block, row + rows));
        narrow_rows(f, block, row, rows, add);
    }
cleanup:
    kfe_i_free(f->ctx, block);
    return status;
}

/* Every process asks for its own rows. Means of centred operators take a pass of all processes, so they are computed before. */
static kfe_status fill(const kfe_i_gram *gram, double ridge, const kfe_i_divided_factor *f)
{
    double first = 0;
    kfe_status status = kfe_i_gram_block(gram, 0, 1, 0, 1, &first, 1);

    if (status != KFE_OK)
        return status;
    kfe_i_cluster *cluster = kfe_i_cluster_pause(f->ctx);
    status = fill_own(gram, ridge + f->shift, f);
    kfe_i_cluster_resume(f->ctx, cluster);
    return status;
}

/* ---- factorising ---- */

/* A step: its first column and how many it has. */
typedef struct step {
    int64_t first, width;
} step;

static step step_at(const kfe_i_divided_factor *f, int64_t first)
{
    return (step){first, kfe_i_least(STEP, f->n - first)};
}

static float *corner_of(const kfe_i_divided_factor *f, step s)
{
    return f->corners + s.first * STEP;
}

/* This process's rows among [row, end) lose what the step explains of their columns [col, col + cols). */
static void subtract(const kfe_i_divided_factor *f, step s, int64_t row, int64_t end, int64_t col,
                     int64_t cols)
{
    int64_t begin = own_before(f, row);
    int64_t rows = own_before(f, end) - begin;
    float *out = f->values + begin * f->stride;

    if (rows > 0)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)cols, (blasint)s.width,
                    -1, out + s.first, (blasint)f->stride, f->panel + (col - s.first - s.width) * s.width,
                    (blasint)s.width, 1, out + col, (blasint)f->stride);
}

/* The triangle of rows and columns [begin, end): its square in the corner, and the two triangles that are left. */
static void update(const kfe_i_divided_factor *f, step s, int64_t begin, int64_t end)
{
    int64_t middle = begin + (end - begin) / (2 * PANEL) * PANEL;

    if (end - begin <= SMALL) {
        subtract(f, s, begin, end, begin, end - begin);
        return;
    }
    subtract(f, s, middle, end, begin, middle - begin);
    update(f, s, begin, middle);
    update(f, s, middle, end);
}

static kfe_status eliminate(const kfe_i_divided_factor *f, step s, int *definite)
{
    kfe_status status = KFE_OK;
    int64_t next = s.first + s.width;
    own_rows columns = {f->values + s.first, f->stride, s.width};
    float *corner = corner_of(f, s);
    int64_t below = own_before(f, next);

    KFE_TRY(exchange(f, columns, s.first, next, corner));
    /* the same bits in every process; column-major "upper" is row-major lower */
    *definite =
        LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)s.width, corner, (lapack_int)s.width) == 0;
    if (!*definite || next == f->n)
        goto cleanup;
    if (f->own > below)
        cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                    (blasint)(f->own - below), (blasint)s.width, 1, corner, (blasint)s.width,
                    f->values + below * f->stride + s.first, (blasint)f->stride);
    KFE_TRY(exchange(f, columns, next, f->n, f->panel));
    update(f, s, next, f->n);
cleanup:
    return status;
}

static kfe_status factorise(const kfe_i_gram *gram, double ridge, kfe_i_divided_factor *f, int *definite)
{
    kfe_status status = KFE_OK;
    double rounding = 0;

    *definite = 0;
    KFE_TRY(kfe_i_single_scale(gram, ridge, &f->scale, &rounding));
    f->shift = 0;
    for (int attempt = 0; attempt < KFE_SHIFT_TRIES && !*definite; attempt++) {
        *definite = 1;
        KFE_TRY(fill(gram, ridge, f));
        for (int64_t first = 0; first < f->n && *definite; first += STEP) {
            KFE_TRY(kfe_i_checkpoint(f->ctx, "factorising the kernel matrix", 0, 0));
            KFE_TRY(eliminate(f, step_at(f, first), definite));
        }
        if (!*definite)
            f->shift = kfe_i_next_shift(f->shift, rounding);
    }
cleanup:
    return status;
}

/* ---- the factor ---- */

static int64_t stride_of(int64_t n)
{
    return (n + APART - 1) / APART * APART + APART;
}

double kfe_i_divided_factor_bytes(int ranks, int64_t n, int64_t k)
{
    double rows = (double)n / ranks + 2 * PANEL;
    double columns = 3.0 * STEP + (double)k;

    return 4 * (rows * (double)(stride_of(n) + k) + (double)n * columns) + 8.0 * PANEL * (double)n +
           16.0 * STEP * (double)k;
}

static kfe_status allocate(kfe_i_divided_factor *f, int64_t k)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(f->ctx, f->values, (f->own > 0 ? f->own : 1) * f->stride);
    KFE_ALLOC(f->ctx, f->corners, f->n * STEP);
    KFE_ALLOC(f->ctx, f->panel, f->n * STEP);
    KFE_ALLOC(f->ctx, f->arrived, (f->n > k ? f->n : k) * STEP);
    KFE_ALLOC(f->ctx, f->bytes, f->share.ranks);
    KFE_ALLOC(f->ctx, f->block, f->n * k);
    KFE_ALLOC(f->ctx, f->own_block, (f->own > 0 ? f->own : 1) * k);
    KFE_ALLOC(f->ctx, f->sums, STEP * k);
    KFE_ALLOC(f->ctx, f->largest, k);
cleanup:
    return status;
}

kfe_status kfe_i_divided_factor_new(const kfe_i_gram *gram, double ridge, int64_t k,
                                    kfe_i_divided_factor *out, int *definite)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_divided_factor){.ctx = gram->ctx, .share = kfe_i_own_share(gram->ctx), .n = gram->size};
    *definite = 0;
    if (gram->size > INT_MAX / 2)
        KFE_FAIL(gram->ctx, KFE_EUNSUPPORTED, "a matrix of order %lld is beyond LAPACK's integers",
                 (long long)gram->size);
    out->own = own_before(out, out->n);
    out->stride = stride_of(out->n);
    KFE_TRY(allocate(out, k));
    KFE_TRY(factorise(gram, ridge, out, definite));
cleanup:
    if (status != KFE_OK || !*definite)
        kfe_i_divided_factor_free(out);
    return status;
}

void kfe_i_divided_factor_free(kfe_i_divided_factor *f)
{
    if (f->ctx) {
        kfe_i_free(f->ctx, f->values);
        kfe_i_free(f->ctx, f->corners);
        kfe_i_free(f->ctx, f->panel);
        kfe_i_free(f->ctx, f->arrived);
        kfe_i_free(f->ctx, f->bytes);
        kfe_i_free(f->ctx, f->block);
        kfe_i_free(f->ctx, f->own_block);
        kfe_i_free(f->ctx, f->sums);
        kfe_i_free(f->ctx, f->largest);
    }
    memset(f, 0, sizeof *f);
}

/* ---- using the factor ---- */

/* The rows of a step among those of this process. */
typedef struct span {
    int64_t first, count;
} span;

static span own_span(const kfe_i_divided_factor *f, int64_t begin, int64_t end)
{
    return (span){own_before(f, begin), own_before(f, end) - own_before(f, begin)};
}

static void solve_corner(const kfe_i_divided_factor *f, step s, int64_t k, enum CBLAS_TRANSPOSE transpose)
{
    cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, (blasint)s.width, (blasint)k,
                1, corner_of(f, s), (blasint)s.width, f->block + s.first * k, (blasint)k);
}

/* L y = b: a step's rows of y are known when all steps before it have been subtracted from b. */
static kfe_status forward(const kfe_i_divided_factor *f, int64_t k)
{
    kfe_status status = KFE_OK;

    for (int64_t first = 0; first < f->n; first += STEP) {
        step s = step_at(f, first);
        span rest = own_span(f, first + s.width, f->n);
        KFE_TRY(exchange(f, (own_rows){f->own_block, k, k}, first, first + s.width, f->block + first * k));
        solve_corner(f, s, k, CblasNoTrans);
        if (rest.count > 0)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rest.count, (blasint)k,
                        (blasint)s.width, -1, f->values + rest.first * f->stride + first, (blasint)f->stride,
                        f->block + first * k, (blasint)k, 1, f->own_block + rest.first * k, (blasint)k);
    }
cleanup:
    return status;
}

/* sums = what the rows below a step explain of it, added over the processes. */
static kfe_status sum_below(const kfe_i_divided_factor *f, step s, int64_t k)
{
    span rest = own_span(f, s.first + s.width, f->n);
    int64_t size = s.width * k;

    memset(f->arrived, 0, (size_t)size * sizeof *f->arrived);
    if (rest.count > 0)
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)s.width, (blasint)k,
                    (blasint)rest.count, 1, f->values + rest.first * f->stride + s.first, (blasint)f->stride,
                    f->own_block + rest.first * k, (blasint)k, 0, f->arrived, (blasint)k);
    for (int64_t i = 0; i < size; i++)
        f->sums[i] = (double)f->arrived[i];
    return kfe_i_cluster_sum(f->ctx, f->sums, size);
}

/* The rows [begin, end) of `block` that this process has, into its own block. */
static void take_own(const kfe_i_divided_factor *f, int64_t begin, int64_t end, int64_t k)
{
    for (int64_t turn = own_before(f, begin) / PANEL; turn * PANEL < own_before(f, end); turn++) {
        int64_t row = kfe_i_dealt(f->share, turn) * PANEL;
        memcpy(f->own_block + turn * PANEL * k, f->block + row * k,
               (size_t)(kfe_i_least(PANEL, f->n - row) * k) * sizeof *f->block);
    }
}

/* Lᵀ x = y, from the last step to the first. */
static kfe_status backward(const kfe_i_divided_factor *f, int64_t k)
{
    kfe_status status = KFE_OK;

    for (int64_t first = (f->n - 1) / STEP * STEP; first >= 0; first -= STEP) {
        step s = step_at(f, first);
        KFE_TRY(sum_below(f, s, k));
        for (int64_t i = 0; i < s.width * k; i++)
            f->block[first * k + i] -= (float)f->sums[i];
        solve_corner(f, s, k, CblasTrans);
        take_own(f, first, first + s.width, k);
    }
cleanup:
    return status;
}

/* Every column is scaled to entries of at most 1, far from the limits of single precision. */
static kfe_status apply(void *state, int64_t k, const double *x, double *z)
{
    kfe_status status = KFE_OK;
    const kfe_i_divided_factor *f = state;

    memset(f->largest, 0, (size_t)k * sizeof *f->largest);
    for (int64_t i = 0; i < f->n * k; i++)
        f->largest[i % k] = fmax(f->largest[i % k], fabs(x[i]));
    for (int64_t i = 0; i < f->n * k; i++)
        f->block[i] = f->largest[i % k] > 0 ? (float)(x[i] / f->largest[i % k]) : 0;
    take_own(f, 0, f->n, k);
    KFE_TRY(forward(f, k));
    KFE_TRY(backward(f, k));
    for (int64_t i = 0; i < f->n * k; i++)
        z[i] = f->scale * f->largest[i % k] * (double)f->block[i];
cleanup:
    return status;
}

kfe_i_preconditioner kfe_i_divided_preconditioner(kfe_i_divided_factor *factor)
{
    return (kfe_i_preconditioner){.apply = apply, .state = factor};
}
