/* SPDX-License-Identifier: Apache-2.0 */
/* Cholesky factorisations on all threads, for linalg.c (double precision) and the preconditioners (single precision).
 *
 * Left-looking, by panels of columns. With the panel's columns cut at its diagonal block into A11 above A21, and the finished columns to
 * their left into L10 above L20, a step is
 *     A11 ← A11 − L10 L10ᵀ,  A21 ← A21 − L20 L10ᵀ,  A11 ← L11,  A21 ← A21 L11⁻ᵀ.
 * Threads take tasks of 128 rows of the panel and call BLAS on one thread each. LAPACK's threads wait for each other after each of its small
 * products, which takes longer than the work up to an order of several thousand. Tasks do not depend on the number of threads, so the
 * factor has the same bits for any number. The cancel callback is asked after every few tasks.
 *
 * Time: n³/3 operations. Memory: none. */
#include "linalg/cholesky.h"

#include <cblas.h>
#include <lapacke.h>

#include "core/context.h"
#include "core/memory.h"
#include "core/share.h"

enum {
    PANEL = 512,       /* columns; the diagonal block is factored on one thread */
    SMALL_PANEL = 256, /* up to the following order */
    SMALL_ORDER = 6000,
    /* Of a task; divides a panel. The same for any number of threads, so that products round alike */
    ROWS = 128
};
/* Operations of a thread between two questions to the cancel callback: a third of a second. */
#define OPERATIONS 1e10

static const char stage[] = "factorising a matrix";

/* ---- matrices ---- */

/* A part of a matrix in one of the two orders. The lower triangle in row-major order is the upper one in column-major order. */
typedef struct part {
    enum CBLAS_ORDER order;
    int single;
    void *values;
    int64_t down, right; /* the distance to the next row and the next column */
    blasint ld;
} part;

static part make_part(enum CBLAS_ORDER order, int single, void *values, int64_t ld)
{
    int by_columns = order == CblasColMajor;

    return (part){order, single, values, by_columns ? 1 : ld, by_columns ? ld : 1, (blasint)ld};
}

static part part_at(part p, int64_t row, int64_t col)
{
    int64_t place = row * p.down + col * p.right;

    p.values = p.single ? (void *)((float *)p.values + place) : (void *)((double *)p.values + place);
    return p;
}

/* C ← C − ABᵀ for A (rows × depth) and B (cols × depth), which have one order; that of C may be the other. */
static void subtract(part c, part a, part b, int64_t rows, int64_t cols, int64_t depth)
{
    int turned = c.order != a.order; /* then Cᵀ is computed */
    part first = turned ? b : a, second = turned ? a : b;
    blasint m = (blasint)(turned ? cols : rows), n = (blasint)(turned ? rows : cols);

    if (c.single)
        cblas_sgemm(first.order, CblasNoTrans, CblasTrans, m, n, (blasint)depth, -1, first.values, first.ld,
                    second.values, second.ld, 1, c.values, c.ld);
    else
        cblas_dgemm(first.order, CblasNoTrans, CblasTrans, m, n, (blasint)depth, -1, first.values, first.ld,
                    second.values, second.ld, 1, c.values, c.ld);
}

/* The lower triangle of C ← C − AAᵀ. */
static void subtract_square(part c, part a, int64_t rows, int64_t depth)
{
    enum CBLAS_UPLO uplo = c.order == a.order ? CblasLower : CblasUpper;

    if (c.single)
        cblas_ssyrk(a.order, uplo, CblasNoTrans, (blasint)rows, (blasint)depth, -1, a.values, a.ld, 1,
                    c.values, c.ld);
    else
        cblas_dsyrk(a.order, uplo, CblasNoTrans, (blasint)rows, (blasint)depth, -1, a.values, a.ld, 1,
                    c.values, c.ld);
}

/* C ← CL⁻ᵀ for a lower triangle L. */
static void solve(part c, part l, int64_t rows, int64_t cols)
{
    if (c.single)
        cblas_strsm(c.order, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)rows, (blasint)cols,
                    1, l.values, l.ld, c.values, c.ld);
    else
        cblas_dtrsm(c.order, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)rows, (blasint)cols,
                    1, l.values, l.ld, c.values, c.ld);
}

/* A diagonal block ← its factor. Returns 0 if it is not positive definite. */
static int factor_block(part c, int64_t n)
{
    char stored = c.order == CblasColMajor ? 'L' : 'U';
    int saved = kfe_i_enter_order(n);
    lapack_int info =
        c.single ? LAPACKE_spotrf_work(LAPACK_COL_MAJOR, stored, (lapack_int)n, c.values, (lapack_int)c.ld)
                 : LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, stored, (lapack_int)n, c.values, (lapack_int)c.ld);

    kfe_i_leave_order(saved);
    return info == 0;
}

/* ---- rows of a panel, on all threads ---- */

/* A step for the rows of a panel: out ← (out − left·aboveᵀ)·corner⁻ᵀ, or one half of it. */
typedef struct panel {
    part out;             /* the first row */
    int64_t count, width; /* rows and columns of the panel */
    part left, above; /* `depth` finished columns: in the rows of `out`, and in those of the diagonal block */
    int64_t depth;    /* 0: nothing is subtracted */
    const part *corner; /* the factor of the diagonal block; NULL: no solve */
    int is_triangle;    /* the first `width` rows are a lower triangle */
} panel;

/* These rows lose what the columns to their left explain. */
static void update_rows(const panel *p, int64_t row, int64_t rows, part out)
{
    part left = part_at(p->left, row, 0);
    int on_diagonal = p->is_triangle && row < p->width;
    int64_t cols = on_diagonal ? row : p->width;

    if (cols > 0)
        subtract(out, left, p->above, rows, cols, p->depth);
    if (on_diagonal)
        subtract_square(part_at(out, 0, row), left, rows, p->depth);
}

static void do_rows(const panel *p, int64_t task)
{
    int64_t row = task * ROWS;
    int64_t rows = kfe_i_least(ROWS, p->count - row);
    part out = part_at(p->out, row, 0);

    if (p->depth > 0)
        update_rows(p, row, rows, out);
    if (p->corner)
        solve(out, *p->corner, rows, p->width);
}

static kfe_status do_panel(kfe_context *ctx, const panel *p)
{
    kfe_status status = KFE_OK;
    int threads = kfe_context_threads(ctx);
    int saved = kfe_i_enter_order(0); /* BLAS has one thread, also in a team of one */
    double operations = 2.0 * ROWS * (double)p->width * (double)(p->depth + p->width);
    int64_t batch = threads * (int64_t)(1 + OPERATIONS / operations);
    int64_t tasks = (p->count + ROWS - 1) / ROWS;
    for (int64_t first = 0; first < tasks; first += batch) {
        int64_t end = kfe_i_least(first + batch, tasks);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int64_t task = first; task < end; task++)
            do_rows(p, task);
        KFE_TRY(kfe_i_progress(ctx, stage, 0, 0));
    }
cleanup:
    kfe_i_leave_order(saved);
    return status;
}

static int64_t panel_width(int64_t n)
{
    return n <= SMALL_ORDER ? SMALL_PANEL : PANEL;
}

/* A lower triangle ← its factor. */
static kfe_status factorise(kfe_context *ctx, part a, int64_t n, int *definite)
{
    kfe_status status = KFE_OK;

    for (int64_t first = 0; first < n && *definite; first += panel_width(n)) {
        int64_t width = kfe_i_least(panel_width(n), n - first);
        part corner = part_at(a, first, first), left = part_at(a, first, 0);
        panel update = {.out = corner,
                        .count = n - first,
                        .width = width,
                        .left = left,
                        .above = left,
                        .depth = first,
                        .is_triangle = 1};
        panel below = {
            .out = part_at(corner, width, 0), .count = n - first - width, .width = width, .corner = &corner};
        KFE_TRY(first > 0 ? do_panel(ctx, &update) : KFE_OK);
        *definite = factor_block(corner, width);
        if (*definite)
            KFE_TRY(do_panel(ctx, &below));
    }
cleanup:
    return status;
}

kfe_status kfe_i_factorise(kfe_context *ctx, int64_t n, double *a, int *definite)
{
    *definite = 1;
    return factorise(ctx, make_part(CblasRowMajor, 0, a, n), n, definite);
}

/* ---- single precision, packed ---- */

/* The packed form keeps three parts of the lower triangle in one rectangle of n + 1 (n even) or n rows, here called
 * column-major: the lower triangle A11 of order n1 = ⌈n/2⌉, below it A21, and above it the transpose of A22, an upper
 * triangle of order n2 = ⌊n/2⌋. */
typedef struct packed {
    int64_t n1, n2;
    part a11, a21, a22;
} packed;

static packed unpack(int64_t n, float *a)
{
    int64_t n2 = n / 2, n1 = n - n2, ld = n % 2 ? n : n + 1, even = n % 2 == 0;

    return (packed){.n1 = n1,
                    .n2 = n2,
                    .a11 = make_part(CblasColMajor, 1, a + even, ld),
                    .a21 = make_part(CblasColMajor, 1, a + even + n1, ld),
                    .a22 = make_part(CblasRowMajor, 1, even ? a : a + n, ld)};
}

/* A21 ← A21 L11⁻ᵀ */
static kfe_status solve_a21(kfe_context *ctx, const packed *p)
{
    kfe_status status = KFE_OK;

    for (int64_t first = 0; first < p->n1; first += PANEL) {
        part corner = part_at(p->a11, first, first);
        panel rows = {.out = part_at(p->a21, 0, first),
                      .count = p->n2,
                      .width = kfe_i_least(PANEL, p->n1 - first),
                      .left = p->a21,
                      .above = part_at(p->a11, first, 0),
                      .depth = first,
                      .corner = &corner};
        KFE_TRY(do_panel(ctx, &rows));
    }
cleanup:
    return status;
}

/* A22 ← A22 − A21 A21ᵀ, below the diagonal. */
static kfe_status update_a22(kfe_context *ctx, const packed *p)
{
    kfe_status status = KFE_OK;

    for (int64_t first = 0; first < p->n2; first += PANEL) {
        part left = part_at(p->a21, first, 0);
        panel rows = {.out = part_at(p->a22, first, first),
                      .count = p->n2 - first,
                      .width = kfe_i_least(PANEL, p->n2 - first),
                      .left = left,
                      .above = left,
                      .depth = p->n1,
                      .is_triangle = 1};
        KFE_TRY(do_panel(ctx, &rows));
    }
cleanup:
    return status;
}

kfe_status kfe_i_factorise_packed(kfe_context *ctx, int64_t n, float *a, int *definite)
{
    kfe_status status = KFE_OK;
    packed p = unpack(n, a);

    *definite = 1;
    KFE_TRY(factorise(ctx, p.a11, p.n1, definite));
    if (!*definite || p.n2 == 0)
        return KFE_OK;
    KFE_TRY(solve_a21(ctx, &p));
    KFE_TRY(update_a22(ctx, &p));
    KFE_TRY(factorise(ctx, p.a22, p.n2, definite));
cleanup:
    return status;
}
