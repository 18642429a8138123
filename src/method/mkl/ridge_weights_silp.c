/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of kernels by a semi-infinite linear program: f(d) is the maximum over B of the functions
 *   −¼tr(BᵀB) + tr(BᵀL) − Σ dᵢ·tr(BᵀGᵢB)/4ξ,
 * linear in d. The maximising B at a point is 2M⁻¹L = 2U, and its function there is the tangent
 * f(d) + Σ dᵢqᵢ − Σ d'ᵢqᵢ of simplex_silp.c, which gathers them.
 *
 * Chen et al. (2008), sections 5.3 and 5.4, eqs. (35)–(38). Cost of a round: one Cholesky factorisation and
 * O(p·n²·k).
 */
#include <string.h>

#include "core/memory.h"
#include "method/mkl/ridge_weights.h"
#include "method/mkl/simplex.h"

static kfe_status value_at(void *user, const double *d, double *value, double *excess)
{
    *excess = 0;
    return kfe_i_ridge_weights_value(user, d, value);
}

static kfe_status slopes(void *user, double *q)
{
    kfe_i_ridge_weights *mkl = user;
    kfe_status status = kfe_i_ridge_weights_slopes(mkl);

    memcpy(q, mkl->q, (size_t)mkl->p * sizeof *q);
    return status;
}

kfe_status kfe_i_ridge_weights_silp(kfe_i_ridge_weights *mkl)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex weights = {.ctx = mkl->ctx,
                             .p = mkl->p,
                             .usable = mkl->bank->traces,
                             .tolerance = mkl->tolerance,
                             .max_rounds = mkl->max_rounds,
                             .value = value_at,
                             .slopes = slopes,
                             .user = mkl,
                             .d = mkl->d};

    KFE_ALLOC(mkl->ctx, weights.q, mkl->p);
    KFE_TRY(kfe_i_simplex_silp(&weights));
    mkl->rounds += weights.rounds;
    mkl->bound = weights.objective - weights.gap;
cleanup:
    kfe_i_free(mkl->ctx, weights.q);
    return status;
}
