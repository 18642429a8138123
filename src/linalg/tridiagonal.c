/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tridiagonal reduction by LAPACK, and inverses of shifted matrices from it; used by the choice of ridges by leave-one-out.
 *
 * With W = QL⁻ᵀ the diagonal of (A + ρI)⁻¹ = WD⁻¹Wᵀ is a sum of squares, and the columns of W follow from those of Q,
 *
 *     w₁ = q₁,     w_k = q_k − l_(k−1) w_(k−1).
 */
#include "linalg/tridiagonal.h"

#include <lapacke.h>
#include <string.h>

#include "core/context.h"
#include "core/instructions.h"
#include "core/memory.h"

enum { BLOCK = 64 }; /* blocking of dsytrd and dorgtr */

kfe_status kfe_i_tridiagonal_new(kfe_context *ctx, int64_t n, double *a, kfe_i_tridiagonal *out)
{
    kfe_status status = KFE_OK;
    lapack_int order = (lapack_int)n;
    double *reflectors = NULL;
    double *work = NULL;

    *out = (kfe_i_tridiagonal){.ctx = ctx, .n = n, .q = a};
    KFE_ALLOC(ctx, out->diagonal, n);
    KFE_ALLOC(ctx, out->beside, n);
    KFE_ALLOC(ctx, reflectors, n);
    KFE_ALLOC(ctx, work, n * BLOCK);
    int saved = kfe_i_enter_order(n);
    LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', order, a, order, out->diagonal, out->beside, reflectors, work,
                        order * BLOCK);
    LAPACKE_dorgtr_work(LAPACK_COL_MAJOR, 'L', order, a, order, reflectors, work, order * BLOCK);
    kfe_i_leave_order(saved);
cleanup:
    kfe_i_free(ctx, reflectors);
    kfe_i_free(ctx, work);
    return status;
}

void kfe_i_tridiagonal_free(kfe_i_tridiagonal *t)
{
    kfe_i_free(t->ctx, t->diagonal);
    kfe_i_free(t->ctx, t->beside);
    t->diagonal = t->beside = NULL;
}

int kfe_i_tridiagonal_factor(const kfe_i_tridiagonal *t, double shift, double *pivots, double *ratios)
{
    double pivot = t->diagonal[0] + shift;

    for (int64_t k = 0;; k++) {
        if (!(pivot > 0))
            return 0;
        pivots[k] = pivot;
        if (k == t->n - 1)
            return 1;
        ratios[k] = t->beside[k] / pivot;
        pivot = t->diagonal[k + 1] + shift - ratios[k] * t->beside[k];
    }
}

void kfe_i_tridiagonal_solve(int64_t n, const double *pivots, const double *ratios, int64_t k, double *b)
{
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            b[i * k + j] -= ratios[i - 1] * b[(i - 1) * k + j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            b[i * k + j] /= pivots[i];
    for (int64_t i = n - 2; i >= 0; i--)
        for (int64_t j = 0; j < k; j++)
            b[i * k + j] -= ratios[i] * b[(i + 1) * k + j];
}

/* ---- diagonals of inverses ---- */

enum { STRIP = 32 }; /* rows of W at a time: enough independent sums to fill the vector units */

/* sums[i] = Σ_k w_ki²/d_k for the rows i of a strip of Q, whose columns lie STRIP numbers apart. */
KFE_LOOP void sum_squares(int64_t n, const double *restrict q, const double *restrict pivots,
                          const double *restrict ratios, double *restrict sums)
{
    double w[STRIP] = {0};
    double sum[STRIP] = {0};

    for (int64_t k = 0; k < n; k++) {
        double ratio = k > 0 ? ratios[k - 1] : 0;
        double inverse = 1 / pivots[k];
        for (int i = 0; i < STRIP; i++) {
            w[i] = q[k * STRIP + i] - ratio * w[i];
            sum[i] += w[i] * w[i] * inverse;
        }
    }
    memcpy(sums, sum, sizeof sum);
}

static void sum_best(int64_t n, const double *q, const double *pivots, const double *ratios, double *sums);
KFE_CHOOSE_LOOP(void, , sum_best, sum_squares,
                (int64_t n, const double *q, const double *pivots, const double *ratios, double *sums),
                (n, q, pivots, ratios, sums))

/* Copies `rows` rows of Q from `first` on; the rest of the strip is zero. */
static void copy_strip(const kfe_i_tridiagonal *t, int64_t first, int64_t rows, double *out)
{
    memset(out, 0, (size_t)(t->n * STRIP) * sizeof *out);
    for (int64_t k = 0; k < t->n; k++)
        memcpy(out + k * STRIP, t->q + k * t->n + first, (size_t)rows * sizeof *out);
}

kfe_status kfe_i_tridiagonal_inverse_diagonals(const kfe_i_tridiagonal *t, int64_t count,
                                               const double *pivots, const double *ratios, double *out)
{
    kfe_status status = KFE_OK;
    double sums[STRIP];
    double *strip = NULL;
    int64_t n = t->n;

    KFE_ALLOC(t->ctx, strip, n * STRIP);
    for (int64_t first = 0; first < n; first += STRIP) {
        int64_t rows = n - first < STRIP ? n - first : STRIP;
        copy_strip(t, first, rows, strip);
        for (int64_t s = 0; s < count; s++) {
            sum_best(n, strip, pivots + s * n, ratios + s * n, sums);
            memcpy(out + s * n + first, sums, (size_t)rows * sizeof *out);
        }
    }
cleanup:
    kfe_i_free(t->ctx, strip);
    return status;
}
