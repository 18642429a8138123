/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least squares by QR and SVD, for the classifier and regressor `ls`.
 *
 * LAPACK reads a row-major X (n × d) as its transpose A = Xᵀ, column-major. With s = min(n, d):
 *     d < n:  A = LQ,  so that X = QᵀLᵀ and W minimises ‖LᵀW − QY‖;
 *     n ≤ d:  A = QR,  so that X = RᵀQᵀ and W = QT, where T minimises ‖RᵀT − Y‖.
 * Both leave a triangle B (s × s, L or R) and a right-hand side C: with the SVD B = PΣZᵀ,
 *     (ZΣPᵀ)T ≈ C,   T = P·diag(σ/(σ² + l2))·ZᵀC   over the singular values that count.
 * A singular value counts if it exceeds both `noise` and 2·√max(n, d)·ε times the largest one: rounding in the
 * factorisations changes singular values by about √max(n, d)·ε·σ₁.
 *
 * Time O(n·d·s), memory 7s² beside X.
 */
#include "linalg/least_squares.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/memory.h"

/* Up to this many entries of X LAPACK runs on one thread, where waiting would take longer than working. */
#define SERIAL_ENTRIES 262144.0

typedef struct factors {
    kfe_context *ctx;
    kfe_i_arena memory; /* of the arrays, but `work`, which grows */
    const kfe_i_least_squares_problem *given;
    int64_t s;
    double *reflectors; /* s: the scalars of the Householder reflectors of Q */
    double *triangle;   /* s × s, column-major: B, then overwritten */
    double *left;       /* s × s, column-major: P */
    double *right;      /* s × s, column-major: Zᵀ */
    double *values;     /* s: falling */
    double *small;      /* s × targets, twice: C and T, column-major with s rows */
    double *work;
    int64_t work_count;
} factors;

static int is_tall(const kfe_i_least_squares_problem *p)
{
    return p->cols < p->rows;
}

static kfe_status factors_open(factors *f)
{
    kfe_status status = KFE_OK;
    int64_t s = f->s;

    KFE_TAKE(&f->memory, f->reflectors, s);
    KFE_TAKE(&f->memory, f->triangle, s * s);
    KFE_TAKE(&f->memory, f->left, s * s);
    KFE_TAKE(&f->memory, f->right, s * s);
    KFE_TAKE(&f->memory, f->values, s);
    KFE_TAKE(&f->memory, f->small, 2 * s * f->given->targets);
cleanup:
    return status;
}

static kfe_status failure(kfe_context *ctx, const char *routine, lapack_int info)
{
    return kfe_i_fail(ctx, KFE_ENUMERIC,
                      "least squares: LAPACK's %s failed (%d); the data may hold extreme values", routine,
                      (int)info);
}

/* ---- Q and the triangle ---- */

static kfe_status factorise(factors *f)
{
    kfe_status status = KFE_OK;
    const kfe_i_least_squares_problem *p = f->given;
    lapack_int d = (lapack_int)p->cols;
    lapack_int n = (lapack_int)p->rows;
    int tall = is_tall(p);
    double size = 0;

    if (tall)
        LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, d, n, p->x, d, f->reflectors, &size, -1);
    else
        LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, d, n, p->x, d, f->reflectors, &size, -1);
    KFE_GROW(f->ctx, f->work, f->work_count, (int64_t)size);
    lapack_int room = (lapack_int)f->work_count;
    lapack_int info =
        tall ? LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, d, n, p->x, d, f->reflectors, f->work, room)
             : LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, d, n, p->x, d, f->reflectors, f->work, room);
    if (info != 0)
        KFE_TRY(failure(f->ctx, tall ? "dgelqf" : "dgeqrf", info));
cleanup:
    return status;
}

/* L: on and below the diagonal; R: on and above it. */
static void copy_triangle(factors *f)
{
    const kfe_i_least_squares_problem *p = f->given;
    int tall = is_tall(p);

    memset(f->triangle, 0, (size_t)(f->s * f->s) * sizeof *f->triangle);
    for (int64_t j = 0; j < f->s; j++)
        for (int64_t i = tall ? j : 0; i < (tall ? f->s : j + 1); i++)
            f->triangle[j * f->s + i] = p->x[j * p->cols + i];
}

/* b ← Qᵀ-products: `rows` × `cols` column-major; side R of Qᵀ (tall), or side L of Q (wide). */
static kfe_status apply_q(factors *f, int64_t rows, int64_t cols, double *b)
{
    kfe_status status = KFE_OK;
    const kfe_i_least_squares_problem *p = f->given;
    lapack_int d = (lapack_int)p->cols;
    lapack_int s = (lapack_int)f->s;
    lapack_int r = (lapack_int)rows;
    lapack_int c = (lapack_int)cols;
    double size = 0;

    if (is_tall(p))
        LAPACKE_dormlq_work(LAPACK_COL_MAJOR, 'R', 'T', r, c, s, p->x, d, f->reflectors, b, r, &size, -1);
    else
        LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'N', r, c, s, p->x, d, f->reflectors, b, r, &size, -1);
    KFE_GROW(f->ctx, f->work, f->work_count, (int64_t)size);
    lapack_int room = (lapack_int)f->work_count;
    lapack_int info = is_tall(p) ? LAPACKE_dormlq_work(LAPACK_COL_MAJOR, 'R', 'T', r, c, s, p->x, d,
                                                       f->reflectors, b, r, f->work, room)
                                 : LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'N', r, c, s, p->x, d,
                                                       f->reflectors, b, r, f->work, room);
    if (info != 0)
        KFE_TRY(failure(f->ctx, "product with Q", info));
cleanup:
    return status;
}

/* ---- the small problem ---- */

/* Divide and conquer: fast, but it may fail to converge: LAPACK's *info is not 0 then. This was seen once, on finite
 * features of an rbf kernel, and not again in the same fit. It is a known weakness of dgesdd, not of the data: OpenBLAS
 * has reports of ordinary matrices on which dgesdd fails and dgesvd does not, depending on the number of threads and on
 * the processor, whose kernels round differently (OpenBLAS issue 3044, NumPy issues 11887 and 12941). Some 8,000
 * triangles did not provoke it: kernel columns of the same data at all widths, graded ones, rank-deficient ones, with
 * subnormal numbers, with equal singular values. NaN cannot be the cause: it is reported as info = -4, and dgesvd
 * fails on it too. */
static kfe_status divide_and_conquer(factors *f, lapack_int *info)
{
    kfe_status status = KFE_OK;
    lapack_int s = (lapack_int)f->s;
    lapack_int *integers = NULL;
    double size = 0;

    copy_triangle(f);
    KFE_ALLOC(f->ctx, integers, 8 * f->s);
    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', s, s, f->triangle, s, f->values, f->left, s, f->right, s,
                        &size, -1, integers);
    KFE_GROW(f->ctx, f->work, f->work_count, (int64_t)size);
    *info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', s, s, f->triangle, s, f->values, f->left, s, f->right,
                                s, f->work, (lapack_int)f->work_count, integers);
cleanup:
    kfe_i_free(f->ctx, integers);
    return status;
}

/* QR iterations: slower, and without the secular equations that divide and conquer fails to solve. */
static kfe_status iterate_qr(factors *f)
{
    kfe_status status = KFE_OK;
    lapack_int s = (lapack_int)f->s;
    double size = 0;

    copy_triangle(f);
    LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'S', 'S', s, s, f->triangle, s, f->values, f->left, s, f->right, s,
                        &size, -1);
    KFE_GROW(f->ctx, f->work, f->work_count, (int64_t)size);
    lapack_int info = LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'S', 'S', s, s, f->triangle, s, f->values,
                                          f->left, s, f->right, s, f->work, (lapack_int)f->work_count);
    if (info != 0)
        KFE_TRY(failure(f->ctx, "dgesvd", info));
cleanup:
    return status;
}

static kfe_status decompose(factors *f)
{
    kfe_status status = KFE_OK;
    lapack_int info = 0;

    KFE_TRY(divide_and_conquer(f, &info));
    if (info != 0)
        KFE_TRY(iterate_qr(f));
cleanup:
    return status;
}

static void count_rank(const factors *f, kfe_i_least_squares_result *out)
{
    const kfe_i_least_squares_problem *p = f->given;
    double larger = (double)(p->rows > p->cols ? p->rows : p->cols);
    double cutoff = fmax(p->noise, 2 * sqrt(larger) * DBL_EPSILON * f->values[0]);

    while (out->rank < f->s && f->values[out->rank] > cutoff)
        out->rank++;
    out->largest = out->rank > 0 ? f->values[0] : 0;
    out->least = out->rank > 0 ? f->values[out->rank - 1] : 0;
}

/* T (second half of `small`) from C (first half). σ/(σ² + l2) is written so that σ² cannot overflow. */
static void solve_small(const factors *f, int64_t rank)
{
    blasint s = (blasint)f->s;
    blasint k = (blasint)f->given->targets;
    double *c = f->small;
    double *t = f->small + f->s * f->given->targets;

    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, s, k, s, 1, f->right, s, c, s, 0, t, s);
    for (int64_t j = 0; j < f->given->targets; j++)
        for (int64_t r = 0; r < f->s; r++)
            t[j * f->s + r] *= r < rank ? 1 / (f->values[r] + f->given->l2 / f->values[r]) : 0;
    memcpy(c, t, (size_t)(f->s * f->given->targets) * sizeof *c);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, s, k, s, 1, f->left, s, c, s, 0, t, s);
}

/* ---- both shapes ---- */

static kfe_status solve_tall(factors *f, double *w, kfe_i_least_squares_result *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_least_squares_problem *p = f->given;
    int64_t k = p->targets;

    KFE_TRY(apply_q(f, k, p->rows, p->y)); /* row-major Y is column-major Yᵀ, k × n */
    for (int64_t i = 0; i < f->s; i++)
        for (int64_t j = 0; j < k; j++)
            f->small[j * f->s + i] = p->y[i * k + j];
    KFE_TRY(decompose(f));
    count_rank(f, out);
    solve_small(f, out->rank);
    const double *t = f->small + f->s * k;
    for (int64_t i = 0; i < f->s; i++)
        for (int64_t j = 0; j < k; j++)
            w[i * k + j] = t[j * f->s + i];
cleanup:
    return status;
}

static kfe_status solve_wide(factors *f, double *w, kfe_i_least_squares_result *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_least_squares_problem *p = f->given;
    int64_t k = p->targets;
    double *columns = NULL; /* d × k, column-major */

    KFE_ALLOC_ZERO(f->ctx, columns, p->cols * k);
    for (int64_t i = 0; i < f->s; i++)
        for (int64_t j = 0; j < k; j++)
            f->small[j * f->s + i] = p->y[i * k + j];
    KFE_TRY(decompose(f));
    count_rank(f, out);
    solve_small(f, out->rank);
    for (int64_t j = 0; j < k; j++)
        memcpy(columns + j * p->cols, f->small + f->s * k + j * f->s, (size_t)f->s * sizeof *columns);
    KFE_TRY(apply_q(f, p->cols, k, columns));
    for (int64_t i = 0; i < p->cols; i++)
        for (int64_t j = 0; j < k; j++)
            w[i * k + j] = columns[j * p->cols + i];
cleanup:
    kfe_i_free(f->ctx, columns);
    return status;
}

kfe_status kfe_i_least_squares(kfe_context *ctx, const kfe_i_least_squares_problem *problem, double *w,
                               kfe_i_least_squares_result *out)
{
    kfe_status status = KFE_OK;
    int64_t s = is_tall(problem) ? problem->cols : problem->rows;
    factors f = {.ctx = ctx, .memory.ctx = ctx, .given = problem, .s = s};
    int saved_threads = omp_get_max_threads();

    *out = (kfe_i_least_squares_result){0};
    if (problem->rows > INT_MAX / 2 || problem->cols > INT_MAX / 2 || s > 10000000)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "least squares: %lld examples of %lld features are beyond LAPACK's integers",
                          (long long)problem->rows, (long long)problem->cols);
    if ((double)problem->rows * (double)problem->cols <= SERIAL_ENTRIES)
        omp_set_num_threads(1);
    KFE_TRY(kfe_i_check_memory(ctx, 56.0 * (double)s * (double)s, "the factors of the features",
                               "extract fewer features, or raise {memory}"));
    KFE_TRY(factors_open(&f));
    KFE_TRY(factorise(&f));
    if (is_tall(problem))
        KFE_TRY(solve_tall(&f, w, out));
    else
        KFE_TRY(solve_wide(&f, w, out));
cleanup:
    omp_set_num_threads(saved_threads);
    kfe_i_arena_free(&f.memory);
    kfe_i_free(ctx, f.work);
    return status;
}
