/* SPDX-License-Identifier: Apache-2.0 */
/* The low-rank preconditioner FFᵀ + λI of conjugate gradients; solve.c uses it where no factorisation pays. */
#include <string.h>

#include "core/memory.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "gram/solve/precondition.h"

static kfe_i_columns factor_of(const kfe_i_rpcholesky *f)
{
    return kfe_i_strided(f->factor, f->rank, f->capacity);
}

kfe_status kfe_i_woodbury_new(const kfe_i_rpcholesky *low_rank, double ridge, int64_t k, kfe_i_woodbury *out)
{
    kfe_status status = KFE_OK;
    int64_t r = low_rank->rank;

    *out = (kfe_i_woodbury){.ctx = low_rank->ctx, .low_rank = low_rank};
    KFE_ALLOC(out->ctx, out->core, r * r + 1);
    KFE_ALLOC(out->ctx, out->small, r * k + 1);
    if (r == 0)
        return KFE_OK;
    kfe_i_inner_products(low_rank->rows, factor_of(low_rank), factor_of(low_rank), out->core);
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
    kfe_i_woodbury *w = state;
    int64_t n = w->low_rank->rows;
    int64_t r = w->low_rank->rank;

    memcpy(z, x, (size_t)(n * k) * sizeof *z);
    if (r == 0)
        return KFE_OK;
    kfe_i_inner_products(n, factor_of(w->low_rank), kfe_i_packed(x, k), w->small);
    kfe_i_solve_cholesky(r, w->core, k, w->small);
    kfe_i_combine(n, -1, factor_of(w->low_rank), kfe_i_packed(w->small, k), 1, z);
    return KFE_OK;
}

kfe_i_preconditioner kfe_i_woodbury_preconditioner(kfe_i_woodbury *woodbury)
{
    return (kfe_i_preconditioner){.apply = apply, .state = woodbury};
}
