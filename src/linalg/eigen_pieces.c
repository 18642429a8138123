/* SPDX-License-Identifier: Apache-2.0 */
/* Eigenvectors of a symmetric matrix in pieces, for linalg.c:
 *     A = Q T Qᵀ with T tridiagonal, panel by panel as in LAPACK's dsytrd,
 *     eigenvectors of T by dstemr (one call, O(n k)),
 *     Q times these, a block of them at a time (dormtr).
 * Everything is column-major, as LAPACK has it; A's upper triangle is used. */
#include "linalg/eigen_pieces.h"

#include <cblas.h>
#include <lapacke.h>
#include <stddef.h>

#include "core/memory.h"

/* LAPACKE does not declare this one. Reduces the last nb columns of the upper triangle of order n. */
void dlatrd_(const char *uplo, const lapack_int *n, const lapack_int *nb, double *a, const lapack_int *lda,
             double *e, double *tau, double *w, const lapack_int *ldw, size_t uplo_length);

enum { PANEL = 32, LAST_ORDER = 256, BACK_COLUMNS = 128, BACK_ROOM = 64 };

static const char stage[] = "computing eigenvectors";

typedef struct eigen_pieces {
    kfe_context *ctx;
    lapack_int n;
    double *a;
    double *diagonal, *beside, *reflectors; /* n each: T, and the factors of Q */
    double *work;                           /* n · PANEL, and what dstemr and dormtr need */
} eigen_pieces;

static void reduce_panel(const eigen_pieces *p, int64_t first)
{
    int64_t n = p->n;
    lapack_int order = (lapack_int)(first + PANEL), width = PANEL;
    double *columns = p->a + first * n;

    dlatrd_("U", &order, &width, p->a, &p->n, p->beside, p->reflectors, p->work, &p->n, 1);
    cblas_dsyr2k(CblasColMajor, CblasUpper, CblasNoTrans, (blasint)first, PANEL, -1, columns, (blasint)n,
                 p->work, (blasint)n, 1, p->a, (blasint)n);
    for (int64_t j = first; j < first + PANEL; j++) {
        if (j > 0)
            p->a[j * n + j - 1] = p->beside[j - 1];
        p->diagonal[j] = p->a[j * n + j];
    }
}

static kfe_status reduce(const eigen_pieces *p)
{
    kfe_status status = KFE_OK;
    int64_t left = p->n;

    for (; left > LAST_ORDER + PANEL; left -= PANEL) {
        reduce_panel(p, left - PANEL);
        KFE_TRY(kfe_i_progress(p->ctx, stage, p->n - left, p->n));
    }
    LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'U', (lapack_int)left, p->a, p->n, p->diagonal, p->beside,
                        p->reflectors, p->work, p->n * PANEL);
cleanup:
    return status;
}

static kfe_status solve_tridiagonal(const eigen_pieces *p, int64_t k, double *rising, double *columns,
                                    int *found)
{
    kfe_status status = KFE_OK;
    lapack_int *support = NULL, *integers = NULL;
    lapack_int count = 0, n = p->n;
    lapack_logical accurate = 1;

    KFE_ALLOC(p->ctx, support, 2 * (int64_t)n);
    KFE_ALLOC(p->ctx, integers, 10 * (int64_t)n);
    lapack_int info = LAPACKE_dstemr_work(LAPACK_COL_MAJOR, 'V', 'I', n, p->diagonal, p->beside, 0, 0,
                                          n - (lapack_int)k + 1, n, &count, rising, columns, n, (lapack_int)k,
                                          support, &accurate, p->work, 18 * n, integers, 10 * n);
    *found = info == 0 && count == (lapack_int)k;
cleanup:
    kfe_i_free(p->ctx, support);
    kfe_i_free(p->ctx, integers);
    return status;
}

static kfe_status transform_back(const eigen_pieces *p, int64_t k, double *columns)
{
    kfe_status status = KFE_OK;

    for (int64_t j = 0; j < k; j += BACK_COLUMNS) {
        lapack_int width = (lapack_int)(k - j < BACK_COLUMNS ? k - j : BACK_COLUMNS);
        LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'U', 'N', p->n, width, p->a, p->n, p->reflectors,
                            columns + j * p->n, p->n, p->work, BACK_COLUMNS * BACK_ROOM + 4160);
        KFE_TRY(kfe_i_progress(p->ctx, stage, j, k));
    }
cleanup:
    return status;
}

kfe_status kfe_i_eigen_in_pieces(kfe_context *ctx, int64_t n, double *a, int64_t k, double *rising,
                                 double *columns, int *found)
{
    kfe_status status = KFE_OK;
    eigen_pieces p = {.ctx = ctx, .n = (lapack_int)n, .a = a};
    kfe_i_arena memory = {.ctx = ctx};

    *found = 0;
    KFE_TAKE(&memory, p.diagonal, n);
    KFE_TAKE(&memory, p.beside, n);
    KFE_TAKE(&memory, p.reflectors, n);
    KFE_TAKE(&memory, p.work, n * PANEL + BACK_COLUMNS * BACK_ROOM + 4160);
    KFE_TRY(reduce(&p));
    KFE_TRY(solve_tridiagonal(&p, k, rising, columns, found));
    if (*found)
        KFE_TRY(transform_back(&p, k, columns));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}
