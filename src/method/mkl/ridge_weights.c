/* SPDX-License-Identifier: Apache-2.0 */
#include "method/mkl/ridge_weights.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/basis.h"
#include "gram/linalg.h"

/* Weights below this share are taken for zero: they change the objective by less, relatively. */
#define KFE_NO_WEIGHT 1e-9

kfe_status kfe_i_ridge_weights_open(kfe_context *ctx, const kfe_i_bank *bank, int64_t most,
                                    kfe_i_ridge_weights *out)
{
    kfe_status status = KFE_OK;
    int64_t n = bank->size;
    int64_t p = bank->count;
    int64_t live = 0;

    *out = (kfe_i_ridge_weights){.ctx = ctx, .bank = bank, .n = n, .p = p, .k = most, .most = most};
    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)n * (double)n, "finding weights of kernels",
                               "raise --memory or use fewer rows"));
    KFE_ALLOC(ctx, out->labels, n * most);
    KFE_ALLOC(ctx, out->d, p);
    KFE_ALLOC(ctx, out->factor, n * n);
    KFE_ALLOC(ctx, out->factored, p);
    KFE_ALLOC(ctx, out->scaled, p);
    KFE_ALLOC(ctx, out->u, n * most);
    KFE_ALLOC(ctx, out->images, p * n * most);
    KFE_ALLOC(ctx, out->q, p);
    KFE_ALLOC(ctx, out->panel, KFE_PANEL_ROWS * n);
    KFE_ALLOC(ctx, out->scratch, n * most);
    for (int64_t i = 0; i < p; i++)
        live += bank->traces[i] > 0;
    for (int64_t i = 0; i < p; i++)
        out->d[i] = bank->traces[i] > 0 ? 1 / (double)live : 0;
cleanup:
    return status;
}

void kfe_i_ridge_weights_free(kfe_i_ridge_weights *mkl)
{
    if (!mkl->ctx)
        return;
    kfe_i_free(mkl->ctx, mkl->labels);
    kfe_i_free(mkl->ctx, mkl->d);
    kfe_i_free(mkl->ctx, mkl->factor);
    kfe_i_free(mkl->ctx, mkl->factored);
    kfe_i_free(mkl->ctx, mkl->scaled);
    kfe_i_free(mkl->ctx, mkl->u);
    kfe_i_free(mkl->ctx, mkl->images);
    kfe_i_free(mkl->ctx, mkl->q);
    kfe_i_free(mkl->ctx, mkl->panel);
    kfe_i_free(mkl->ctx, mkl->scratch);
    kfe_i_ridge_newton_free(mkl->newton);
    memset(mkl, 0, sizeof *mkl);
}

void kfe_i_ridge_weights_configure(kfe_i_ridge_weights *mkl, const char *method,
                                   const kfe_i_ridge_weights_settings *settings)
{
    mkl->method = method;
    mkl->xi = settings->xi > 0 ? settings->xi : 1 / (double)mkl->n;
    mkl->tolerance = settings->tolerance;
    mkl->max_rounds = settings->max_rounds;
}

/* ---- one point ---- */

/* The Cholesky factor of I + Σ dᵢGᵢ/ξ, unless there it is. */
static kfe_status factorise(kfe_i_ridge_weights *mkl, const double *d)
{
    kfe_status status = KFE_OK;
    int64_t n = mkl->n;
    size_t bytes = (size_t)mkl->p * sizeof *d;

    if (mkl->factored_xi == mkl->xi && memcmp(d, mkl->factored, bytes) == 0)
        return KFE_OK;
    mkl->factored_xi = 0;
    for (int64_t i = 0; i < mkl->p; i++)
        mkl->scaled[i] = d[i] / mkl->xi;
    KFE_TRY(kfe_i_bank_combine(mkl->bank, mkl->scaled, mkl->panel, mkl->factor));
    for (int64_t i = 0; i < n; i++)
        mkl->factor[i * n + i] += 1;
    status = kfe_i_cholesky(mkl->ctx, n, mkl->factor, "the weighted kernels plus the ridge");
    mkl->indefinite = status == KFE_ENUMERIC;
    KFE_TRY(status);
    memcpy(mkl->factored, d, bytes);
    mkl->factored_xi = mkl->xi;
cleanup:
    return status;
}

kfe_status kfe_i_ridge_weights_value(kfe_i_ridge_weights *mkl, const double *d, double *objective)
{
    kfe_status status = KFE_OK;
    size_t block = (size_t)(mkl->n * mkl->k);

    KFE_TRY(factorise(mkl, d));
    memcpy(mkl->u, mkl->labels, block * sizeof *mkl->u);
    kfe_i_solve_cholesky(mkl->n, mkl->factor, mkl->k, mkl->u);
    *objective = cblas_ddot((blasint)block, mkl->u, 1, mkl->labels, 1);
cleanup:
    return status;
}

kfe_status kfe_i_ridge_weights_slopes(kfe_i_ridge_weights *mkl)
{
    kfe_status status = KFE_OK;
    int64_t block = mkl->n * mkl->k;

    for (int64_t i = 0; i < mkl->p; i++) {
        double *image = mkl->images + i * block;
        KFE_TRY(kfe_i_bank_times(mkl->bank, i, mkl->u, mkl->k, image));
        cblas_dscal((blasint)block, 1 / mkl->xi, image, 1);
        mkl->q[i] = cblas_ddot((blasint)block, mkl->u, 1, image, 1);
    }
cleanup:
    return status;
}

double kfe_i_ridge_weights_gap(const kfe_i_ridge_weights *mkl, const double *d)
{
    double largest = -HUGE_VAL;
    double mean = 0;

    for (int64_t i = 0; i < mkl->p; i++) {
        if (mkl->bank->traces[i] > 0)
            largest = fmax(largest, mkl->q[i]);
        mean += d[i] * mkl->q[i];
    }
    return fmax(0, largest - mean);
}

/* ---- solving ---- */

/* Where nothing has to change the weights stay as they are, to the last bit: their factor is there. */
static void drop_traces_of_weight(kfe_i_ridge_weights *mkl)
{
    double sum = 0;
    int changed = 0;

    for (int64_t i = 0; i < mkl->p; i++) {
        int kept = mkl->d[i] > KFE_NO_WEIGHT && mkl->bank->traces[i] > 0;
        changed |= !kept && mkl->d[i] != 0;
        mkl->d[i] = kept ? mkl->d[i] : 0;
        sum += mkl->d[i];
    }
    changed |= fabs(sum - 1) > (double)mkl->p * DBL_EPSILON;
    for (int64_t i = 0; changed && i < mkl->p; i++)
        mkl->d[i] /= sum;
}

static kfe_status solve_once(kfe_i_ridge_weights *mkl, int solver)
{
    kfe_status status = KFE_OK;

    mkl->rounds = 0;
    mkl->bound = 0;
    if (solver == KFE_SOLVER_SILP)
        KFE_TRY(kfe_i_ridge_weights_silp(mkl));
    else if (solver == KFE_SOLVER_SDP)
        KFE_TRY(kfe_i_ridge_weights_sdp(mkl));
    else
        KFE_TRY(kfe_i_ridge_weights_newton(mkl));
    drop_traces_of_weight(mkl);
    KFE_TRY(kfe_i_ridge_weights_value(mkl, mkl->d, &mkl->objective));
    mkl->gap = fmax(0, mkl->objective - mkl->bound);
    if (mkl->gap > mkl->tolerance * mkl->objective) {
        KFE_TRY(kfe_i_ridge_weights_slopes(mkl));
        mkl->gap = fmin(mkl->gap, kfe_i_ridge_weights_gap(mkl, mkl->d));
    }
cleanup:
    return status;
}

/* M of any weights is positive definite if that of each kernel alone is. */
static kfe_status raise_xi(kfe_i_ridge_weights *mkl)
{
    kfe_status status = KFE_OK;
    double before = mkl->xi;
    double objective = 0;

    for (int64_t i = 0; i < mkl->p; i++) {
        for (int64_t j = 0; j < mkl->p; j++)
            mkl->q[j] = i == j && mkl->bank->traces[i] > 0;
        while ((status = kfe_i_ridge_weights_value(mkl, mkl->q, &objective)) == KFE_ENUMERIC && mkl->xi < 1e6)
            mkl->xi *= 2;
        KFE_TRY(status);
    }
    kfe_i_log(mkl->ctx, KFE_LOG_WARNING,
              "%s: a kernel is not positive definite, so xi was raised from %g to %g; prefer kernels such as "
              "rbf or poly",
              mkl->method, before, mkl->xi);
cleanup:
    return status;
}

kfe_status kfe_i_ridge_weights_solve(kfe_i_ridge_weights *mkl, int solver)
{
    kfe_status status = kfe_i_checkpoint(mkl->ctx, "weights", 0, 0);

    if (status == KFE_OK)
        status = solve_once(mkl, solver);
    if (status == KFE_ENUMERIC && mkl->indefinite) {
        KFE_TRY(raise_xi(mkl));
        KFE_TRY(solve_once(mkl, solver));
    }
    if (status == KFE_OK && mkl->gap > fmax(10 * mkl->tolerance, 1e-6) * mkl->objective)
        kfe_i_log(
            mkl->ctx, KFE_LOG_WARNING,
            "%s: after %lld rounds the weights of the kernels are within %.2g of the optimum, relative to "
            "the objective; raise --max-rounds or use --solver gradient",
            mkl->method, (long long)mkl->rounds, mkl->gap / mkl->objective);
cleanup:
    return status;
}

void kfe_i_ridge_weights_directions(const kfe_i_ridge_weights *mkl, double *b, double *h)
{
    int64_t block = mkl->n * mkl->k;

    /* ĜU/ξ = (M − I)U = L − U, so that H = LᵀĜU/ξ = Lᵀ(L − U) */
    for (int64_t i = 0; i < block; i++)
        b[i] = mkl->labels[i] - mkl->u[i];
    kfe_i_inner_products(mkl->n, mkl->k, mkl->labels, mkl->k, mkl->k, b, mkl->k, h);
    for (int64_t i = 0; i < block; i++)
        b[i] = mkl->u[i] / mkl->xi;
}

kfe_status kfe_i_ridge_weights_record(const kfe_i_ridge_weights *mkl, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    double rounds = (double)mkl->rounds;

    KFE_TRY(kfe_i_solution_record(solution, "xi", &mkl->xi, 1));
    KFE_TRY(kfe_i_solution_record(solution, "objective", &mkl->objective, 1));
    KFE_TRY(kfe_i_solution_record(solution, "gap", &mkl->gap, 1));
    KFE_TRY(kfe_i_solution_record(solution, "rounds", &rounds, 1));
cleanup:
    return status;
}
