/* SPDX-License-Identifier: Apache-2.0 */
/* Cholesky factorisations in pieces, for linalg.c (double precision) and the preconditioners (single precision).
 *
 * Right-looking, by panels of PANEL columns. For the row-major lower triangle of a matrix that is cut at a panel into
 *     A11
 *     A21  A22
 * a step replaces A11 by its factor L11, A21 by L21 = A21 L11⁻ᵀ, and A22 by A22 − L21 L21ᵀ. The last of these takes
 * nearly all the time; it is done by strips of rows, and after each strip the cancel callback is asked. */
#include "gram/dense/cholesky.h"

#include <cblas.h>
#include <lapacke.h>

#include "core/least.h"
#include "core/memory.h"

/* A strip of a matrix of order 20,000 takes 512 · 512 · 20,000 multiplications, about a third of a second on one core. */
enum { PANEL = 512, DEPTH = 2048 };

static const char stage[] = "factorising a matrix";

/* ---- double precision ---- */

/* Rows [row, row + height) of the trailing matrix. `panel`: L21, whose first row belongs to row 0 of `trailing`. */
static void update_strip(int64_t width, int64_t row, int64_t rows, const double *panel, double *trailing,
                         blasint ld)
{
    int64_t height = kfe_i_least(PANEL, rows - row);
    const double *strip = panel + row * ld;
    double *out = trailing + row * ld;

    if (row > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)height, (blasint)row, (blasint)width,
                    -1, strip, ld, panel, ld, 1, out, ld);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)height, (blasint)width, -1, strip, ld, 1,
                out + row, ld);
}

kfe_status kfe_i_factorise(kfe_context *ctx, int64_t n, double *a, int *definite)
{
    kfe_status status = KFE_OK;
    blasint ld = (blasint)n;

    *definite = 1;
    for (int64_t first = 0; first < n && *definite; first += PANEL) {
        int64_t width = kfe_i_least(PANEL, n - first), rest = n - first - width;
        double *corner = a + first * n + first, *panel = corner + width * n, *trailing = panel + width;

        /* column-major "upper" is row-major lower */
        *definite = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)width, corner, (lapack_int)n) == 0;
        if (!*definite || rest == 0)
            break;
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)rest,
                    (blasint)width, 1, corner, ld, panel, ld);
        for (int64_t row = 0; row < rest; row += PANEL) {
            update_strip(width, row, rest, panel, trailing, ld);
            KFE_TRY(kfe_i_checkpoint(ctx, stage, 0, 0));
        }
    }
cleanup:
    return status;
}

/* ---- single precision, packed ---- */

/* The packed form keeps three parts of the lower triangle in one rectangle of n + 1 (n even) or n rows, here called
 * column-major: the lower triangle A11 of order n1 = ⌈n/2⌉, below it A21, and above it the transpose of A22, an upper
 * triangle of order n2 = ⌊n/2⌋. */
typedef struct packed {
    int64_t n1, n2;
    blasint ld;
    float *a11, *a21, *a22;
} packed;

static packed unpack(int64_t n, float *a)
{
    int64_t half = n / 2, ld = n % 2 ? n : n + 1;

    if (n % 2)
        return (packed){
            .n1 = n - half, .n2 = half, .ld = (blasint)ld, .a11 = a, .a21 = a + n - half, .a22 = a + n};
    return (packed){.n1 = half, .n2 = half, .ld = (blasint)ld, .a11 = a + 1, .a21 = a + half + 1, .a22 = a};
}

/* A lower triangle in one of the two orders; an upper triangle in column-major order is a lower one in row-major order. */
typedef struct triangle {
    enum CBLAS_ORDER order;
    float *values;
    int64_t n, down, right; /* down, right: the distance to the next row and the next column */
    blasint ld;
} triangle;

static triangle make_triangle(enum CBLAS_ORDER order, int64_t n, float *values, blasint ld)
{
    int by_columns = order == CblasColMajor;

    return (triangle){order, values, n, by_columns ? 1 : ld, by_columns ? ld : 1, ld};
}

/* The rows from `row` on, at most a panel of them, of the triangle that `trailing` begins lose what the `width` columns to its left,
 * which `panel` begins, explain. */
static void update_rows(const triangle *t, int64_t width, int64_t row, int64_t height, const float *panel,
                        float *trailing)
{
    if (row > 0)
        cblas_sgemm(t->order, CblasNoTrans, CblasTrans, (blasint)height, (blasint)row, (blasint)width, -1,
                    panel + row * t->down, t->ld, panel, t->ld, 1, trailing + row * t->down, t->ld);
    cblas_ssyrk(t->order, CblasLower, CblasNoTrans, (blasint)height, (blasint)width, -1,
                panel + row * t->down, t->ld, 1, trailing + row * (t->down + t->right), t->ld);
}

static kfe_status factorise(kfe_context *ctx, const triangle *t, int *definite)
{
    kfe_status status = KFE_OK;
    char stored = t->order == CblasColMajor ? 'L' : 'U';

    for (int64_t first = 0; first < t->n; first += PANEL) {
        int64_t width = kfe_i_least(PANEL, t->n - first);
        int64_t rest = t->n - first - width;
        float *corner = t->values + first * (t->down + t->right);
        float *panel = corner + width * t->down;
        float *trailing = panel + width * t->right;

        *definite =
            LAPACKE_spotrf_work(LAPACK_COL_MAJOR, stored, (lapack_int)width, corner, (lapack_int)t->ld) == 0;
        if (!*definite || rest == 0)
            break;
        cblas_strsm(t->order, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)rest, (blasint)width,
                    1, corner, t->ld, panel, t->ld);
        for (int64_t row = 0; row < rest; row += PANEL) {
            update_rows(t, width, row, kfe_i_least(PANEL, rest - row), panel, trailing);
            KFE_TRY(kfe_i_checkpoint(ctx, stage, 0, 0));
        }
    }
cleanup:
    return status;
}

/* Columns [first, first + width) of A21 lose what the columns before them explain. */
static kfe_status subtract_columns_before(kfe_context *ctx, const packed *p, int64_t first, int64_t width)
{
    kfe_status status = KFE_OK;

    for (int64_t k = 0; k < first; k += DEPTH) {
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, (blasint)p->n2, (blasint)width,
                    (blasint)kfe_i_least(DEPTH, first - k), -1, p->a21 + k * p->ld, p->ld,
                    p->a11 + k * p->ld + first, p->ld, 1, p->a21 + first * p->ld, p->ld);
        KFE_TRY(kfe_i_checkpoint(ctx, stage, 0, 0));
    }
cleanup:
    return status;
}

/* A21 ← A21 L11⁻ᵀ, panel by panel. */
static kfe_status solve_below(kfe_context *ctx, const packed *p)
{
    kfe_status status = KFE_OK;

    for (int64_t first = 0; first < p->n1; first += PANEL) {
        int64_t width = kfe_i_least(PANEL, p->n1 - first);
        KFE_TRY(subtract_columns_before(ctx, p, first, width));
        cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)p->n2,
                    (blasint)width, 1, p->a11 + first * p->ld + first, p->ld, p->a21 + first * p->ld, p->ld);
    }
cleanup:
    return status;
}

/* Columns [first, first + width) of A22, an upper triangle, lose those of A21 A21ᵀ. */
static kfe_status subtract_square(kfe_context *ctx, const packed *p, int64_t first, int64_t width)
{
    kfe_status status = KFE_OK;
    float *out = p->a22 + first * p->ld;

    for (int64_t k = 0; k < p->n1; k += DEPTH) {
        blasint depth = (blasint)kfe_i_least(DEPTH, p->n1 - k);
        const float *rows = p->a21 + k * p->ld;
        if (first > 0)
            cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, (blasint)first, (blasint)width, depth, -1,
                        rows, p->ld, rows + first, p->ld, 1, out, p->ld);
        cblas_ssyrk(CblasColMajor, CblasUpper, CblasNoTrans, (blasint)width, depth, -1, rows + first, p->ld,
                    1, out + first, p->ld);
        KFE_TRY(kfe_i_checkpoint(ctx, stage, 0, 0));
    }
cleanup:
    return status;
}

kfe_status kfe_i_factorise_packed(kfe_context *ctx, int64_t n, float *a, int *definite)
{
    kfe_status status = KFE_OK;
    packed p = unpack(n, a);
    triangle left = make_triangle(CblasColMajor, p.n1, p.a11, p.ld);
    triangle right = make_triangle(CblasRowMajor, p.n2, p.a22, p.ld);

    *definite = 1;
    KFE_TRY(factorise(ctx, &left, definite));
    if (!*definite || p.n2 == 0)
        goto cleanup;
    KFE_TRY(solve_below(ctx, &p));
    for (int64_t first = 0; first < p.n2; first += PANEL)
        KFE_TRY(subtract_square(ctx, &p, first, kfe_i_least(PANEL, p.n2 - first)));
    KFE_TRY(factorise(ctx, &right, definite));
cleanup:
    return status;
}
