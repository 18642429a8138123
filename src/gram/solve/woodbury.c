/* SPDX-License-Identifier: Apache-2.0 */
/* The low-rank preconditioner FFᵀ + λI of conjugate gradients; solve.c uses it where no factorisation pays. */
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/solve/precondition.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

/* The rows of F that this process multiplies; the processes of a cluster divide them. */
static kfe_i_columns own_factor(const kfe_i_woodbury *w)
{
    const kfe_i_rpcholesky *f = w->low_rank;

    return kfe_i_strided(f->factor + w->first * f->capacity, f->rank, f->capacity);
}

/* out (rank × b.count) = Fᵀb, added over the processes; `b` has the rows of this one. */
static kfe_status times_transposed(const kfe_i_woodbury *w, kfe_i_columns b, double *out)
{
    kfe_i_inner_products(w->own, own_factor(w), b, out);
    return w->own < w->low_rank->rows ? kfe_i_cluster_sum(w->ctx, out, w->low_rank->rank * b.count) : KFE_OK;
}

kfe_status kfe_i_woodbury_new(const kfe_i_rpcholesky *low_rank, double ridge, int64_t k, kfe_i_share share,
                              kfe_i_woodbury *out)
{
    kfe_status status = KFE_OK;
    int64_t r = low_rank->rank;

    *out = (kfe_i_woodbury){.ctx = low_rank->ctx, .low_rank = low_rank};
    if (low_rank->rows < share.parts)
        share = (kfe_i_share){0, 1};
    out->first = kfe_i_share_begin(low_rank->rows, share.part, share.parts);
    out->own = kfe_i_share_begin(low_rank->rows, share.part + 1, share.parts) - out->first;
    KFE_ALLOC(out->ctx, out->core, r * r + 1);
    KFE_ALLOC(out->ctx, out->small, r * k + 1);
    if (r == 0)
        return KFE_OK;
    KFE_TRY(times_transposed(out, own_factor(out), out->core));
    for (int64_t i = 0; i < r; i++)
        out->core[i * r + i] += ridge;
    KFE_TRY(kfe_i_cholesky(out->ctx, r, out->core, "the preconditioner"));
cleanup:
    return status;
}

void kfe_i_woodbury_free(kfe_i_woodbury *woodbury)
{
    if (woodbury->ctx) {
        kfe_i_free(woodbury->ctx, woodbury->core);
        kfe_i_free(woodbury->ctx, woodbury->small);
    }
    memset(woodbury, 0, sizeof *woodbury);
}

/* z = λ(FFᵀ + λI)⁻¹ x; the factor λ keeps z of the size of x. */
static kfe_status apply(void *state, int64_t k, const double *x, double *z)
{
    kfe_status status = KFE_OK;
    const kfe_i_woodbury *w = state;
    int64_t n = w->low_rank->rows;
    int64_t r = w->low_rank->rank;

    memcpy(z, x, (size_t)(n * k) * sizeof *z);
    if (r == 0)
        return KFE_OK;
    KFE_TRY(times_transposed(w, kfe_i_packed(x + w->first * k, k), w->small));
    kfe_i_solve_cholesky(r, w->core, k, w->small);
    kfe_i_combine(w->own, -1, own_factor(w), kfe_i_packed(w->small, k), 1, z + w->first * k);
    if (w->own < n)
        KFE_TRY(kfe_i_cluster_gather_rows(w->ctx, z, n, k));
cleanup:
    return status;
}

kfe_i_preconditioner kfe_i_woodbury_preconditioner(kfe_i_woodbury *woodbury)
{
    return (kfe_i_preconditioner){.apply = apply, .state = woodbury};
}
