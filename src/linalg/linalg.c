/* SPDX-License-Identifier: Apache-2.0 */
/* LAPACK calls for the methods and the iterative solvers. LAPACK runs in its own column-major order with workspace
 * from the context, so that it neither transposes nor allocates. A full symmetric matrix is the same in both
 * orders. */
#include "linalg/linalg.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/cholesky.h"
#include "linalg/eigen_pieces.h"

static kfe_status check_order(kfe_context *ctx, int64_t n)
{
    if (n > INT_MAX / 2)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "a matrix of order %lld is beyond LAPACK's integers",
                          (long long)n);
    return KFE_OK;
}

/* From here on one call of LAPACK may take half a second on one core. */
enum { STOPPABLE_ORDER = 2000 };

static kfe_status lapack_failure(kfe_context *ctx, const char *routine, lapack_int info)
{
    return kfe_i_fail(ctx, KFE_ENUMERIC,
                      "%s did not converge (%d); the data may hold extreme values: try {scale}", routine,
                      (int)info);
}

/* ---- Cholesky ---- */

static kfe_status not_definite(kfe_context *ctx, const char *what)
{
    return kfe_i_fail(
        ctx, KFE_ENUMERIC,
        "%s is not positive definite to rounding; increase the ridge, or use a positive definite kernel",
        what);
}

/* A small matrix by LAPACK on one thread, a large one by our own code on all threads, which the user can stop. */
static kfe_status factorise(kfe_context *ctx, int64_t n, double *a, const char *what)
{
    kfe_status status = KFE_OK;
    int definite = 0;

    if (n > KFE_SERIAL_ORDER) {
        status = kfe_i_factorise(ctx, n, a, &definite);
    } else {
        int saved = kfe_i_enter_order(n);
        /* column-major "upper" is row-major lower */
        definite = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)n) == 0;
        kfe_i_leave_order(saved);
    }
    return status == KFE_OK && !definite ? not_definite(ctx, what) : status;
}

kfe_status kfe_i_cholesky(kfe_context *ctx, int64_t n, double *a, const char *what)
{
    kfe_status status = check_order(ctx, n);

    assert(n >= 0);
    if (status == KFE_OK)
        status = factorise(ctx, n, a, what);
    if (status != KFE_OK)
        return status;
    for (int64_t i = 0; i < n; i++)
        memset(a + i * n + i + 1, 0, (size_t)(n - i - 1) * sizeof *a);
    return KFE_OK;
}

/* Right-hand sides are row-major n × k. BLAS, which accepts row-major, solves L y = b and Lᵀ x = y. */
/* In squares that fit into the cache. */
void kfe_i_mirror(int64_t n, double *a)
{
    enum { SIDE = 32 };

    for (int64_t row = 0; row < n; row += SIDE)
        for (int64_t col = 0; col <= row; col += SIDE)
            for (int64_t i = row; i < n && i < row + SIDE; i++)
                for (int64_t j = col; j < i && j < col + SIDE; j++)
                    a[j * n + i] = a[i * n + j];
}

kfe_status kfe_i_invert_cholesky(kfe_context *ctx, int64_t n, double *lower)
{
    kfe_status status = check_order(ctx, n);

    assert(n >= 0);
    if (status != KFE_OK)
        return status;
    int saved = kfe_i_enter_order(n);
    lapack_int info = LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, lower, (lapack_int)n);
    kfe_i_leave_order(saved);
    if (info != 0)
        return not_definite(ctx, "a triangle with a zero on its diagonal");
    kfe_i_mirror(n, lower);
    return KFE_OK;
}

kfe_status kfe_i_lower_condition(kfe_context *ctx, int64_t n, const double *lower, double *out)
{
    kfe_status status = KFE_OK;
    double *work = NULL;
    lapack_int *numbers = NULL;

    *out = 0;
    KFE_ALLOC(ctx, work, 3 * n);
    KFE_ALLOC(ctx, numbers, n);
    /* the lower triangle by rows is the upper one by columns */
    if (n > 0)
        (void)LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', 'U', 'N', (lapack_int)n, lower, (lapack_int)n, out,
                                  work, numbers);
cleanup:
    kfe_i_free(ctx, work);
    kfe_i_free(ctx, numbers);
    return status;
}

void kfe_i_solve_cholesky(int64_t n, const double *lower, int64_t k, double *b)
{
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)n, (blasint)k, 1,
                lower, (blasint)n, b, (blasint)k);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (blasint)n, (blasint)k, 1,
                lower, (blasint)n, b, (blasint)k);
}

kfe_status kfe_i_cholesky_solve(kfe_context *ctx, int64_t n, double *a, int64_t k, double *b,
                                const char *what)
{
    kfe_status status = check_order(ctx, n);

    assert(n >= 0 && k >= 0);
    if (status == KFE_OK)
        status = factorise(ctx, n, a, what);
    if (status != KFE_OK)
        return status;
    kfe_i_solve_cholesky(n, a, k, b);
    return KFE_OK;
}

void kfe_i_solve_lower_transposed(int64_t rows, int64_t n, const double *lower, double *b)
{
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)rows, (blasint)n, 1,
                lower, (blasint)n, b, (blasint)n);
}

static int compare_index(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double largest_diagonal(int64_t n, const double *a)
{
    double largest = 0;

    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, a[i * n + i]);
    return largest;
}

kfe_status kfe_i_independent(kfe_context *ctx, int64_t n, const double *a, double tolerance, int64_t *kept,
                             int64_t *rank)
{
    kfe_status status = check_order(ctx, n);
    kfe_i_arena memory = {.ctx = ctx};
    double *copy = NULL;
    double *work = NULL;
    lapack_int *pivots = NULL;
    lapack_int found = 0;
    double threshold = tolerance * largest_diagonal(n, a);

    *rank = 0;
    if (status != KFE_OK || threshold <= 0)
        return status;
    KFE_TAKE(&memory, copy, n * n);
    KFE_TAKE(&memory, work, 2 * n);
    KFE_TAKE(&memory, pivots, n);
    memcpy(copy, a, (size_t)(n * n) * sizeof *copy);
    LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, copy, (lapack_int)n, pivots, &found, threshold,
                        work);
    for (lapack_int i = 0; i < found; i++)
        kept[i] = pivots[i] - 1;
    qsort(kept, (size_t)found, sizeof *kept, compare_index);
    *rank = found;
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* ---- eigenvectors ---- */

/* LAPACK returns columns in rising order of their eigenvalues; callers get rows of k numbers in falling order. */
static void reverse_into_rows(int64_t n, int64_t k, const double *columns, const double *rising,
                              double *values, double *vectors)
{
    for (int64_t j = 0; j < k; j++) {
        const double *column = columns + (k - 1 - j) * n;
        values[j] = rising[k - 1 - j];
        for (int64_t i = 0; i < n; i++)
            vectors[i * k + j] = column[i];
    }
}

struct kfe_i_eigen_work {
    kfe_i_arena memory; /* of the arrays */
    double *columns, *rising, *work;
    lapack_int *support, *integers;
    lapack_int work_size, integer_count;
};

void kfe_i_eigen_work_free(kfe_i_eigen_work *work)
{
    if (!work)
        return;
    kfe_i_arena_free(&work->memory);
    kfe_i_free(work->memory.ctx, work);
}

static kfe_status new_eigen_work(kfe_context *ctx, int64_t n, int64_t k, kfe_i_eigen_work **out)
{
    kfe_status status = check_order(ctx, n);
    kfe_i_eigen_work *work = NULL;
    lapack_int order = (lapack_int)n;
    lapack_int found = 0;
    double size = 0;

    *out = NULL;
    if (status != KFE_OK)
        return status;
    KFE_ALLOC_ZERO(ctx, work, 1);
    work->memory.ctx = ctx;
    KFE_TAKE(&work->memory, work->columns, n * k);
    KFE_TAKE(&work->memory, work->rising, n);
    KFE_TAKE(&work->memory, work->support, 2 * n);
    LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'U', order, NULL, order, 0, 0, (lapack_int)(n - k + 1),
                        order, 0, &found, work->rising, work->columns, order, work->support, &size, -1,
                        &work->integer_count, -1);
    work->work_size = (lapack_int)size;
    KFE_TAKE(&work->memory, work->work, work->work_size);
    KFE_TAKE(&work->memory, work->integers, work->integer_count);
    *out = work;
    work = NULL;
cleanup:
    kfe_i_eigen_work_free(work);
    return status;
}

kfe_status kfe_i_eigen_work_new(kfe_context *ctx, int64_t most, kfe_i_eigen_work **out)
{
    return new_eigen_work(ctx, most, most, out);
}

kfe_status kfe_i_symmetric_eigen_with(kfe_context *ctx, int64_t n, double *a, int64_t k, double *eigenvalues,
                                      double *vectors, kfe_i_eigen_work *work)
{
    lapack_int order = (lapack_int)n;
    lapack_int found = 0;
    int saved = kfe_i_enter_order(n);
    lapack_int info =
        LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'U', order, a, order, 0, 0, (lapack_int)(n - k + 1),
                            order, 0, &found, work->rising, work->columns, order, work->support, work->work,
                            work->work_size, work->integers, work->integer_count);

    assert(k >= 0 && k <= n);
    kfe_i_leave_order(saved);
    if (info != 0 || found != k)
        return lapack_failure(ctx, "the eigenvalue computation", info);
    reverse_into_rows(n, k, work->columns, work->rising, eigenvalues, vectors);
    return KFE_OK;
}

/* All eigenpairs by the QR algorithm, of which the k largest are returned. Slower than dsyevr, which may miss some of many
 * equal eigenvalues, as a kernel that is far too narrow has them. `a` still has its lower triangle. */
static kfe_status qr_eigen(kfe_context *ctx, int64_t n, double *a, const double *diagonal, int64_t k,
                           double *eigenvalues, double *vectors)
{
    kfe_status status = KFE_OK;
    lapack_int order = (lapack_int)n;
    lapack_int work_size = 3 * order;
    double *rising = NULL;
    double *work = NULL;
    lapack_int info;

    KFE_ALLOC(ctx, rising, n);
    KFE_ALLOC(ctx, work, work_size);
    for (int64_t j = 0; j < n; j++)
        a[j * n + j] = diagonal[j];
    info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', order, a, order, rising, work, work_size);
    if (info != 0)
        status = lapack_failure(ctx, "the eigenvalue computation", info);
    else
        reverse_into_rows(n, k, a + (n - k) * n, rising + (n - k), eigenvalues, vectors);
cleanup:
    kfe_i_free(ctx, rising);
    kfe_i_free(ctx, work);
    return status;
}

/* LAPACK's dsyevr scales matrices with entries outside this range, which the way in pieces does not. */
#define LEAST_ENTRY 1e-100
#define LARGEST_ENTRY 1e100

static int can_be_in_pieces(int64_t n, const double *diagonal)
{
    double largest = 0;

    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(diagonal[i]));
    return n > STOPPABLE_ORDER && largest > LEAST_ENTRY && largest < LARGEST_ENTRY;
}

/* KFE_ENUMERIC if LAPACK does not find them all. */
static kfe_status eigen_in_pieces(kfe_context *ctx, int64_t n, double *a, int64_t k, double *eigenvalues,
                                  double *vectors)
{
    kfe_status status = KFE_OK;
    double *columns = NULL;
    double *rising = NULL;
    int found = 0;

    KFE_TRY(check_order(ctx, n));
    KFE_ALLOC(ctx, columns, n * k);
    KFE_ALLOC(ctx, rising, n);
    KFE_TRY(kfe_i_eigen_in_pieces(ctx, n, a, k, rising, columns, &found));
    if (found)
        reverse_into_rows(n, k, columns, rising, eigenvalues, vectors);
    else
        status = lapack_failure(ctx, "the eigenvalue computation", 0);
cleanup:
    kfe_i_free(ctx, columns);
    kfe_i_free(ctx, rising);
    return status;
}

kfe_status kfe_i_symmetric_eigen(kfe_context *ctx, int64_t n, double *a, int64_t k, double *eigenvalues,
                                 double *vectors)
{
    kfe_status status = KFE_OK;
    kfe_i_eigen_work *work = NULL;
    double *diagonal = NULL;

    assert(k >= 0 && k <= n);
    if (n == 0 || k == 0)
        return KFE_OK;
    KFE_ALLOC(ctx, diagonal, n);
    for (int64_t j = 0; j < n; j++)
        diagonal[j] = a[j * n + j];
    if (can_be_in_pieces(n, diagonal)) {
        status = eigen_in_pieces(ctx, n, a, k, eigenvalues, vectors);
    } else {
        KFE_TRY(new_eigen_work(ctx, n, k, &work));
        status = kfe_i_symmetric_eigen_with(ctx, n, a, k, eigenvalues, vectors, work);
    }
    if (status == KFE_ENUMERIC)
        status = qr_eigen(ctx, n, a, diagonal, k, eigenvalues, vectors);
cleanup:
    kfe_i_free(ctx, diagonal);
    kfe_i_eigen_work_free(work);
    return status;
}

void kfe_i_from_spectrum(int64_t order, const double *q, const double *values, double *scratch, double *out)
{
    for (int64_t i = 0; i < order; i++)
        for (int64_t j = 0; j < order; j++)
            scratch[i * order + j] = q[i * order + j] * values[j];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)order, (blasint)order, (blasint)order, 1,
                scratch, (blasint)order, q, (blasint)order, 0, out, (blasint)order);
}

kfe_status kfe_i_inverse_root(kfe_context *ctx, int64_t order, double *a, double *values, double *vectors,
                              double *root, kfe_i_eigen_work *work)
{
    kfe_status status = kfe_i_symmetric_eigen_with(ctx, order, a, order, values, vectors, work);

    if (status != KFE_OK)
        return status;
    if (!(values[order - 1] > DBL_EPSILON * values[0]))
        return kfe_i_fail(
            ctx, KFE_ENUMERIC,
            "the kernel is not positive definite on this data; change its parameters or use another kernel");
    for (int64_t j = 0; j < order; j++)
        values[j] = 1 / sqrt(values[j]);
    kfe_i_from_spectrum(order, vectors, values, a, root);
    return KFE_OK;
}

kfe_status kfe_i_left_vectors(kfe_context *ctx, int64_t n, int64_t k, const double *a, int64_t most,
                              double tolerance, double *squares, double *vectors, int64_t *found)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    double *inner, *right;

    KFE_TAKE(&memory, inner, k * k);
    KFE_TAKE(&memory, right, k * k);
    kfe_i_transpose_times(k, n, k, a, a, inner);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, k, inner, k, squares, right));
    *found = kfe_i_count_above(most < k ? most : k, squares, fmax(0, tolerance * squares[0]));
    kfe_i_copy_block(k, *found, right, k, right, *found);
    kfe_i_divide_by_roots(k, *found, squares, right);
    kfe_i_times(n, k, *found, a, right, vectors);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* With B = LLᵀ, the eigenvectors of L⁻¹AL⁻ᵀ are Lᵀ times those wanted. LAPACK's dsygv does the same, but without the second
 * attempt of kfe_i_symmetric_eigen. */
kfe_status kfe_i_generalized_eigen(kfe_context *ctx, int64_t n, double *a, double *b, double *eigenvalues,
                                   double *vectors)
{
    kfe_status status = check_order(ctx, n);
    blasint order = (blasint)n;

    assert(n >= 0);
    if (status != KFE_OK || n == 0)
        return status;
    KFE_TRY(factorise(ctx, n, b, "the second matrix of a generalized eigenvalue problem"));
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, order, order, 1, b, order,
                a, order);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, order, order, 1, b, order, a,
                order);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, n, a, n, eigenvalues, vectors));
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, order, order, 1, b, order,
                vectors, order);
cleanup:
    return status;
}

/* ---- QR ---- */

static void transpose(int64_t rows, int64_t cols, const double *a, double *out)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            out[j * rows + i] = a[i * cols + j];
}

/* Pivoted QR of a copy (column-major): which columns are independent. */
static kfe_status independent_columns(kfe_context *ctx, int64_t rows, int64_t n, double *columns,
                                      int64_t *kept, int64_t *rank)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    lapack_int *pivots = NULL;
    double *factors = NULL;
    double *work = NULL;
    lapack_int length = (lapack_int)(3 * n + 1);
    int64_t steps = rows < n ? rows : n;

    *rank = 0;
    KFE_TAKE_ZERO(&memory, pivots, n);
    KFE_TAKE(&memory, factors, n);
    KFE_TAKE(&memory, work, length);
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, (lapack_int)rows, (lapack_int)n, columns, (lapack_int)rows, pivots,
                        factors, work, length);
    for (int64_t j = 0; j < steps; j++)
        if (fabs(columns[j * rows + j]) > sqrt(KFE_RANK_TOLERANCE) * fabs(columns[0]))
            kept[(*rank)++] = pivots[j] - 1;
    qsort(kept, (size_t)*rank, sizeof *kept, compare_index);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

kfe_status kfe_i_orthonormalise(kfe_context *ctx, int64_t rows, int64_t n, double *columns)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    double *factors = NULL;
    double *work = NULL;
    double *signs = NULL;
    lapack_int length = (lapack_int)(32 * n + 1);
    lapack_int r = (lapack_int)rows;
    lapack_int c = (lapack_int)n;

    KFE_TAKE(&memory, factors, n + 1);
    KFE_TAKE(&memory, signs, n + 1);
    KFE_TAKE(&memory, work, length);
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, r, c, columns, r, factors, work, length);
    for (int64_t j = 0; j < n; j++)
        signs[j] = columns[j * rows + j] < 0 ? -1 : 1;
    LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, r, c, c, columns, r, factors, work, length);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < rows; i++)
            columns[j * rows + i] *= signs[j];
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

kfe_status kfe_i_orthonormal_columns(kfe_context *ctx, int64_t rows, int64_t n, const double *a, double *q,
                                     int64_t *kept, int64_t *rank)
{
    kfe_status status = check_order(ctx, rows > n ? rows : n);
    double *columns = NULL;

    assert(rows >= 0 && n >= 0);
    *rank = 0;
    if (status != KFE_OK)
        return status;
    KFE_ALLOC(ctx, columns, rows * n);
    transpose(rows, n, a, columns);
    KFE_TRY(independent_columns(ctx, rows, n, columns, kept, rank));
    for (int64_t j = 0; j < *rank; j++)
        for (int64_t i = 0; i < rows; i++)
            columns[j * rows + i] = a[i * n + kept[j]];
    if (*rank > 0)
        KFE_TRY(kfe_i_orthonormalise(ctx, rows, *rank, columns));
    transpose(*rank, rows, columns, q);
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}
