/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cholesky factors in single precision whose rows are divided over the processes of a cluster; solve.c uses them as preconditioners.
 *
 * Rows are dealt in panels of 64, like those of the stored matrix (dealt.c): a process fills its rows of the factor from those that it stores.
 * Columns are eliminated in steps of 256. With the matrix cut at a step into
 *     A11
 *     A21  A22
 * the processes gather A11, and each factors it. Each replaces its rows of A21 by those of L21 = A21 L11⁻ᵀ. They gather L21, and each
 * subtracts its rows of L21 L21ᵀ from A22. That takes n³/(3p) operations and about 2n²/p bytes of memory in each of p processes, and each
 * receives 2n²(p − 1)/p bytes.
 *
 * A process keeps its rows in strips of 256. The rows of a strip are as long as its last one, so that one call of BLAS serves them all.
 *
 * Triangular systems are solved in the same steps, with one message for each step: n²/p operations for each right-hand side.
 *
 * ScaLAPACK has the same factorisation (pspotrf), but its processes wait busily and notice neither that another has failed nor that the
 * user has cancelled.
 */
#include "gram/cluster/divided_factor.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/context.h"
#include "core/memory.h"
#include "core/share.h"
#include "linalg/symmetric.h"

enum {
    PANEL = KFE_SYMMETRIC_PANEL,
    STEP = KFE_DIVIDED_STEP,
    STRIP = 4 * PANEL,
    SMALL = 128, /* triangles of this order are updated as squares */
    APART = 16   /* floats between rows, so that their distance is not a power of two */
};

/* ---- rows ---- */

/* How many of the rows before `row` a process has; `row` is a multiple of PANEL, or n. */
static int64_t rows_before(const kfe_i_divided_factor *f, int process, int64_t row)
{
    kfe_i_share share = {process, f->share.parts};
    int64_t panels = (row + PANEL - 1) / PANEL;
    int64_t count = kfe_i_dealt_count(share, panels);
    int is_last = count > 0 && kfe_i_dealt(share, count - 1) == panels - 1;

    return count * PANEL - (is_last ? panels * PANEL - row : 0);
}

static int64_t own_before(const kfe_i_divided_factor *f, int64_t row)
{
    return rows_before(f, f->share.part, row);
}

/* Some rows of this process that lie in one strip, `stride` apart. */
typedef struct strip {
    int64_t first, rows;
    int64_t begin, end; /* the rows of all processes that the whole strip spans */
    int64_t stride;
    float *values;
} strip;

/* The rows of all processes that this number of strips spans. */
static int64_t spanned(int processes, int64_t strips)
{
    return STRIP * processes * strips;
}

/* Where a strip begins in memory: the strips before it span 1, 2, … times the rows of the first, which is the length of their rows. */
static int64_t strip_offset(int processes, int64_t number)
{
    return STRIP * (spanned(processes, number * (number + 1) / 2) + APART * number);
}

/* The strip of this process's row `first`, from that row on. */
static strip strip_from(const kfe_i_divided_factor *f, int64_t first)
{
    int64_t number = first / STRIP;
    int64_t before = first - number * STRIP;
    int64_t begin = spanned(f->share.parts, number);
    int64_t end = kfe_i_least(spanned(f->share.parts, number + 1), f->n);
    int64_t stride = end + APART;

    return (strip){.first = first,
                   .rows = kfe_i_least(STRIP - before, f->own - first),
                   .begin = begin,
                   .end = end,
                   .stride = stride,
                   .values = f->values + strip_offset(f->share.parts, number) + before * stride};
}

/* ---- steps and messages ---- */

/* A step: its first column and how many it has. */
typedef struct step {
    int64_t first, width;
} step;

static step step_at(const kfe_i_divided_factor *f, int64_t first)
{
    return (step){first, kfe_i_least(STEP, f->n - first)};
}

/* Where this process puts its part of rows [begin, end), `width` numbers each, for `exchange`. */
static float *outgoing(const kfe_i_divided_factor *f, int64_t begin, int64_t end, int64_t width)
{
    int64_t before = 0;

    for (int r = 0; r < f->share.parts; r++) {
        int64_t numbers = (rows_before(f, r, end) - rows_before(f, r, begin)) * width;
        f->bytes[r] = numbers * (int64_t)sizeof(float);
        before += r < f->share.part ? numbers : 0;
    }
    return f->arrived + before;
}

/* Gathers rows [begin, end) of all processes, and puts them into `out` in their order. */
static kfe_status exchange(const kfe_i_divided_factor *f, int64_t begin, int64_t end, int64_t width,
                           float *out)
{
    kfe_status status = KFE_OK;
    const float *place = f->arrived;

    KFE_TRY(kfe_i_cluster_gather(f->ctx, f->arrived, f->bytes));
    for (int r = 0; r < f->share.parts; r++) {
        kfe_i_share share = {r, f->share.parts};
        int64_t last = kfe_i_dealt_count(share, (end + PANEL - 1) / PANEL);
        for (int64_t turn = kfe_i_dealt_count(share, begin / PANEL); turn < last; turn++) {
            int64_t row = kfe_i_dealt(share, turn) * PANEL;
            int64_t numbers = kfe_i_least(PANEL, end - row) * width;
            memcpy(out + (row - begin) * width, place, (size_t)numbers * sizeof *out);
            place += numbers;
        }
    }
cleanup:
    return status;
}

/* Gathers the columns of a step in rows [begin, end) of all processes. */
static kfe_status exchange_columns(const kfe_i_divided_factor *f, step s, int64_t begin, int64_t end,
                                   float *out)
{
    float *place = outgoing(f, begin, end, s.width);

    for (int64_t first = own_before(f, begin); first < own_before(f, end);) {
        strip own = strip_from(f, first);
        own.rows = kfe_i_least(own.rows, own_before(f, end) - first);
        for (int64_t i = 0; i < own.rows; i++, place += s.width)
            memcpy(place, own.values + i * own.stride + s.first, (size_t)s.width * sizeof *place);
        first += own.rows;
    }
    return exchange(f, begin, end, s.width, out);
}

/* ---- filling ---- */

/* Entries above the diagonal become zero: products include them, though nothing reads the results. */
static void narrow_rows(const kfe_i_divided_factor *f, const double *block, int64_t row, int64_t rows,
                        double add)
{
    int64_t cols = row + rows;
    strip own = strip_from(f, own_before(f, row)); /* a panel lies in one strip */

#pragma omp parallel for num_threads(kfe_context_threads(f->ctx))
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            own.values[i * own.stride + j] = (float)(f->scale * block[i * cols + j]);
        own.values[i * own.stride + row + i] = (float)(f->scale * (block[i * cols + row + i] + add));
        for (int64_t j = cols; j < own.end; j++)
            own.values[i * own.stride + j] = 0;
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
        KFE_TRY(kfe_i_progress(f->ctx, "computing the kernel matrix", turn, turns));
        KFE_TRY(kfe_i_gram_block(gram, row, rows, 0, row + rows, block, row + rows));
        narrow_rows(f, block, row, rows, add);
    }
cleanup:
    kfe_i_free(f->ctx, block);
    return status;
}

/* Every process fills its own rows, alone. A first block makes a centred operator compute its means, which takes all processes. */
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

static float *corner_of(const kfe_i_divided_factor *f, step s)
{
    return f->corners + s.first * STEP;
}

/* A22 ← A22 − L21 L21ᵀ for this process's rows among [row, end), which lie in one strip, and columns [col, col + cols). */
static void subtract(const kfe_i_divided_factor *f, step s, int64_t row, int64_t end, int64_t col,
                     int64_t cols)
{
    int64_t first = own_before(f, row);
    int64_t rows = own_before(f, end) - first;

    if (rows == 0 || cols == 0)
        return;
    strip own = strip_from(f, first);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)cols, (blasint)s.width, -1,
                own.values + s.first, (blasint)own.stride, f->panel + (col - s.first - s.width) * s.width,
                (blasint)s.width, 1, own.values + col, (blasint)own.stride);
}

/* The same for the lower triangle of rows and columns [begin, end): the block below its middle, then the two smaller triangles. */
static void update_triangle(const kfe_i_divided_factor *f, step s, int64_t begin, int64_t end)
{
    int64_t middle = begin + (end - begin) / (2 * PANEL) * PANEL;

    if (end - begin <= SMALL) {
        subtract(f, s, begin, end, begin, end - begin);
        return;
    }
    subtract(f, s, middle, end, begin, middle - begin);
    update_triangle(f, s, begin, middle);
    update_triangle(f, s, middle, end);
}

/* The same for all of A22, strip by strip: the columns before the strip's triangle, then the triangle. */
static void update(const kfe_i_divided_factor *f, step s)
{
    int64_t next = s.first + s.width;

    for (int64_t first = own_before(f, next); first < f->own;) {
        strip own = strip_from(f, first);
        int64_t begin = own.begin > next ? own.begin : next;
        subtract(f, s, begin, own.end, next, begin - next);
        update_triangle(f, s, begin, own.end);
        first += own.rows;
    }
}

/* This process's rows of L21. */
static void solve_below(const kfe_i_divided_factor *f, step s)
{
    for (int64_t first = own_before(f, s.first + s.width); first < f->own;) {
        strip own = strip_from(f, first);
        cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)own.rows,
                    (blasint)s.width, 1, corner_of(f, s), (blasint)s.width, own.values + s.first,
                    (blasint)own.stride);
        first += own.rows;
    }
}

/* Gives the same bits in every process. Column-major "upper" is row-major lower. */
static int factor_corner(float *corner, int64_t width)
{
    int saved = kfe_i_enter_order(width);
    lapack_int info =
        LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)width, corner, (lapack_int)width);

    kfe_i_leave_order(saved);
    return info == 0;
}

static kfe_status eliminate(const kfe_i_divided_factor *f, step s, int *definite)
{
    kfe_status status = KFE_OK;
    int64_t next = s.first + s.width;
    float *corner = corner_of(f, s);

    KFE_TRY(exchange_columns(f, s, s.first, next, corner));
    *definite = factor_corner(corner, s.width);
    if (!*definite || next == f->n)
        goto cleanup;
    solve_below(f, s);
    KFE_TRY(exchange_columns(f, s, next, f->n, f->panel));
    update(f, s);
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
            KFE_TRY(kfe_i_progress(f->ctx, "factorising the kernel matrix", 0, 0));
            KFE_TRY(eliminate(f, step_at(f, first), definite));
        }
        if (!*definite)
            f->shift = kfe_i_next_shift(f->shift, rounding);
    }
cleanup:
    return status;
}

/* ---- the factor ---- */

static int64_t strips_of(int64_t own)
{
    return (own + STRIP - 1) / STRIP;
}

/* The most floats that `own` rows of the factor take; rows of the last strip have at most n. */
static int64_t numbers_of(int processes, int64_t own, int64_t n)
{
    int64_t full = own > 0 ? strips_of(own) - 1 : 0;

    return strip_offset(processes, full) + (own - full * STRIP) * (n + APART) + 1;
}

double kfe_i_divided_factor_bytes(int processes, int64_t n, int64_t k)
{
    int64_t rows = n / processes + 2 * PANEL; /* of the process that has most */

    return 4.0 * (double)numbers_of(processes, rows, n) + 4.0 * (double)n * (3.0 * STEP + (double)k) +
           4.0 * (double)rows * (double)k + 8.0 * PANEL * (double)n + 16.0 * STEP * (double)k;
}

static kfe_status allocate(kfe_i_divided_factor *f, int64_t k)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(f->ctx, f->values, numbers_of(f->share.parts, f->own, f->n));
    KFE_ALLOC(f->ctx, f->corners, f->n * STEP);
    KFE_ALLOC(f->ctx, f->panel, f->n * STEP);
    KFE_ALLOC(f->ctx, f->arrived, (f->n > k ? f->n : k) * STEP);
    KFE_ALLOC(f->ctx, f->bytes, f->share.parts);
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

static void solve_corner(const kfe_i_divided_factor *f, step s, int64_t k, enum CBLAS_TRANSPOSE transpose)
{
    cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, (blasint)s.width, (blasint)k,
                1, corner_of(f, s), (blasint)s.width, f->block + s.first * k, (blasint)k);
}

/* own_block −= L[:, step]·y for the rows of this process below the step. */
static void subtract_solved(const kfe_i_divided_factor *f, step s, int64_t k)
{
    for (int64_t first = own_before(f, s.first + s.width); first < f->own;) {
        strip own = strip_from(f, first);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)own.rows, (blasint)k,
                    (blasint)s.width, -1, own.values + s.first, (blasint)own.stride, f->block + s.first * k,
                    (blasint)k, 1, f->own_block + first * k, (blasint)k);
        first += own.rows;
    }
}

/* L y = b: a step's rows of y are known when all steps before it have been subtracted from b. */
static kfe_status forward(const kfe_i_divided_factor *f, int64_t k)
{
    kfe_status status = KFE_OK;

    for (int64_t first = 0; first < f->n; first += STEP) {
        step s = step_at(f, first);
        int64_t next = first + s.width;
        float *place = outgoing(f, first, next, k);
        memcpy(place, f->own_block + own_before(f, first) * k,
               (size_t)((own_before(f, next) - own_before(f, first)) * k) * sizeof *place);
        KFE_TRY(exchange(f, first, next, k, f->block + first * k));
        solve_corner(f, s, k, CblasNoTrans);
        subtract_solved(f, s, k);
    }
cleanup:
    return status;
}

/* sums = L[below, step]ᵀ·x[below], added over the processes. */
static kfe_status sum_below(const kfe_i_divided_factor *f, step s, int64_t k)
{
    int64_t size = s.width * k;

    memset(f->arrived, 0, (size_t)size * sizeof *f->arrived);
    for (int64_t first = own_before(f, s.first + s.width); first < f->own;) {
        strip own = strip_from(f, first);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)s.width, (blasint)k, (blasint)own.rows,
                    1, own.values + s.first, (blasint)own.stride, f->own_block + first * k, (blasint)k, 1,
                    f->arrived, (blasint)k);
        first += own.rows;
    }
    for (int64_t i = 0; i < size; i++)
        f->sums[i] = (double)f->arrived[i];
    return kfe_i_cluster_sum(f->ctx, f->sums, size);
}

/* Copies this process's rows among [begin, end) from `block` to `own_block`. */
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
