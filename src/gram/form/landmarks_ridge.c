/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ridge regression on the factor F = CT of a landmark operator, for coefficients on the landmarks alone. Called by method/distance, which
 * fits many examples again and again.
 *
 *     (M + λI)β = FᵀY,   M = FᵀF,   coefficients Tβ
 *
 * If C is evaluated again at every pass, M comes from CᵀC in one pass, without the triangular solve that makes each row of F. M then lacks
 * digits if the landmarks are nearly dependent, so β is refined:
 *
 *     β ← β + (M + λI)⁻¹g,   g = Fᵀ(Y − Fβ) − λβ
 *
 * Each g takes one pass. If that does not converge, M is computed from the rows of F. Time O(nm²) at the speed of matrix products, memory O(m²).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "gram/form/landmarks_factor.h"
#include "linalg/linalg.h"

enum { PANEL = 1024, MAX_REFINEMENTS = 6 };

/* ---- sums over rows ---- */

/* Whether sums are over C instead of F. */
static int sums_kernel(const kfe_i_landmark_regression *r)
{
    const kfe_i_landmark_factor *f = r->factor;

    return f->source && f->lower && !r->exact;
}

static kfe_status read_rows(const kfe_i_landmark_regression *r, int64_t first, int64_t rows, double *panel,
                            double *scratch)
{
    const kfe_i_landmark_factor *f = r->factor;
    kfe_status status = sums_kernel(r) ? kfe_i_landmark_kernel_rows(f, f->source, first, rows, panel)
                                       : kfe_i_factor_rows(f, first, rows, panel, scratch);

    for (int64_t i = 0; status == KFE_OK && r->roots && i < rows; i++)
        cblas_dscal((blasint)f->rank, r->roots[first + i], panel + i * f->rank, 1);
    return status;
}

/* sum += panelᵀv for v (rows × k) */
static void add_transposed(const kfe_i_landmark_regression *r, int64_t rows, const double *panel,
                           const double *v, double *sum)
{
    blasint m = (blasint)r->factor->rank;
    blasint k = (blasint)r->k;

    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, k, (blasint)rows, 1, panel, m, v, k, 1, sum, k);
}

/* z (rank × k) = L⁻¹z or L⁻ᵀz, if sums are over C = FLᵀ. */
static void solve_lower(const kfe_i_landmark_regression *r, CBLAS_TRANSPOSE transposed, int64_t k, double *z)
{
    blasint m = (blasint)r->factor->rank;

    if (sums_kernel(r))
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed, CblasNonUnit, m, (blasint)k, 1,
                    r->factor->lower, m, z, (blasint)k);
}

/* M, FᵀY and the trace from one pass. */
static kfe_status sum_rows(kfe_i_landmark_regression *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_landmark_factor *f = r->factor;
    int64_t m = f->rank;
    double *panel = NULL;
    double *scratch = NULL;

    KFE_ALLOC(r->ctx, panel, PANEL * f->count);
    KFE_ALLOC(r->ctx, scratch, PANEL * f->count);
    memset(r->products, 0, (size_t)(m * m) * sizeof *r->products);
    memset(r->projected, 0, (size_t)(m * r->k) * sizeof *r->projected);
    for (int64_t first = 0; first < f->rows; first += PANEL) {
        int64_t rows = kfe_i_least(PANEL, f->rows - first);
        KFE_TRY(kfe_i_progress(r->ctx, "computing the kernel with the landmarks", first, f->rows));
        KFE_TRY(read_rows(r, first, rows, panel, scratch));
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)m, (blasint)rows, 1, panel, (blasint)m, 1,
                    r->products, (blasint)m);
        add_transposed(r, rows, panel, r->right + first * r->k, r->projected);
    }
    kfe_i_mirror(m, r->products);
    solve_lower(r, CblasNoTrans, m, r->products);
    if (sums_kernel(r))
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)m, (blasint)m,
                    1, f->lower, (blasint)m, r->products, (blasint)m);
    solve_lower(r, CblasNoTrans, r->k, r->projected);
    r->trace = 0;
    for (int64_t j = 0; j < m; j++)
        r->trace += r->products[j * m + j];
cleanup:
    kfe_i_free(r->ctx, panel);
    kfe_i_free(r->ctx, scratch);
    return status;
}

kfe_status kfe_i_landmark_regression_begin(const kfe_i_gram *gram, const double *roots, const double *right,
                                           int64_t k, kfe_i_landmark_regression *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_landmark_regression){.ctx = gram->ctx, .roots = roots, .right = right, .k = k};
    out->factor = kfe_i_landmark_factor_of(gram);
    if (out->factor->rank == 0)
        return KFE_OK;
    KFE_ALLOC(gram->ctx, out->products, out->factor->rank * out->factor->rank);
    KFE_ALLOC(gram->ctx, out->projected, out->factor->rank * k);
    KFE_ALLOC_ZERO(gram->ctx, out->squares, k);
    for (int64_t p = 0; p < gram->size * k; p++)
        out->squares[p % k] += right[p] * right[p];
    KFE_TRY(sum_rows(out));
cleanup:
    return status;
}

void kfe_i_landmark_regression_free(kfe_i_landmark_regression *r)
{
    if (r->ctx) {
        kfe_i_free(r->ctx, r->products);
        kfe_i_free(r->ctx, r->projected);
        kfe_i_free(r->ctx, r->squares);
    }
    memset(r, 0, sizeof *r);
}

/* ---- one ridge ---- */

typedef struct refinement {
    double ridge;
    double *lower;    /* Cholesky factor of M + λI */
    double *beta;     /* rank × k */
    double *gradient; /* g, rank × k */
    double *mapped;   /* rank × k */
    double reached;   /* error of Fβ relative to Y, in the worst column */
} refinement;

static void free_refinement(kfe_context *ctx, refinement *way)
{
    kfe_i_free(ctx, way->lower);
    kfe_i_free(ctx, way->beta);
    kfe_i_free(ctx, way->gradient);
    kfe_i_free(ctx, way->mapped);
}

static kfe_status factorise(const kfe_i_landmark_regression *r, refinement *way)
{
    int64_t m = r->factor->rank;

    memcpy(way->lower, r->products, (size_t)(m * m) * sizeof *way->lower);
    for (int64_t j = 0; j < m; j++)
        way->lower[j * m + j] += way->ridge;
    return kfe_i_cholesky(r->ctx, m, way->lower, "the kernel matrix of the landmarks plus the ridge");
}

/* Computes M again, from the rows of F. */
static kfe_status make_exact(kfe_i_landmark_regression *r, refinement *way)
{
    kfe_status status = KFE_OK;

    kfe_i_log(r->ctx, KFE_LOG_DEBUG,
              "landmarks: sums over kernel values have too few digits; they are "
              "computed again over the factor");
    r->exact = 1;
    KFE_TRY(sum_rows(r));
    KFE_TRY(factorise(r, way));
cleanup:
    return status;
}

/* Adds up Fᵀ(Y − Fβ) into the gradient. */
static kfe_status sum_residuals(const kfe_i_landmark_regression *r, refinement *way, double *panel,
                                double *scratch, double *rest)
{
    kfe_status status = KFE_OK;
    int64_t m = r->factor->rank;
    int64_t k = r->k;

    for (int64_t first = 0; first < r->factor->rows; first += PANEL) {
        int64_t rows = kfe_i_least(PANEL, r->factor->rows - first);
        KFE_TRY(kfe_i_progress(r->ctx, "refining the regression", first, r->factor->rows));
        KFE_TRY(read_rows(r, first, rows, panel, scratch));
        memcpy(rest, r->right + first * k, (size_t)(rows * k) * sizeof *rest);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)k, (blasint)m, -1,
                    panel, (blasint)m, way->mapped, (blasint)k, 1, rest, (blasint)k);
        add_transposed(r, rows, panel, rest, way->gradient);
    }
cleanup:
    return status;
}

/* The gradient at β. */
static kfe_status find_gradient(const kfe_i_landmark_regression *r, refinement *way)
{
    kfe_status status = KFE_OK;
    int64_t size = r->factor->rank * r->k;
    double *panel = NULL;
    double *scratch = NULL;
    double *rest = NULL;

    KFE_ALLOC(r->ctx, panel, PANEL * r->factor->count);
    KFE_ALLOC(r->ctx, scratch, PANEL * r->factor->count);
    KFE_ALLOC(r->ctx, rest, PANEL * r->k);
    memset(way->gradient, 0, (size_t)size * sizeof *way->gradient);
    memcpy(way->mapped, way->beta, (size_t)size * sizeof *way->mapped);
    solve_lower(r, CblasTrans, r->k, way->mapped);
    KFE_TRY(sum_residuals(r, way, panel, scratch, rest));
    solve_lower(r, CblasNoTrans, r->k, way->gradient);
    cblas_daxpy((blasint)size, -way->ridge, way->beta, 1, way->gradient, 1);
cleanup:
    kfe_i_free(r->ctx, panel);
    kfe_i_free(r->ctx, scratch);
    kfe_i_free(r->ctx, rest);
    return status;
}

/* With the error e = (M + λI)⁻¹g of β, gᵀ(M + λI)⁻¹g = ‖Fe‖² + λ‖e‖². */
static void measure(const kfe_i_landmark_regression *r, refinement *way)
{
    blasint m = (blasint)r->factor->rank;
    blasint k = (blasint)r->k;

    memcpy(way->mapped, way->gradient, (size_t)(r->factor->rank * r->k) * sizeof *way->mapped);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, m, k, 1, way->lower, m,
                way->mapped, k);
    way->reached = 0;
    for (int64_t c = 0; c < r->k; c++)
        if (r->squares[c] > 0)
            way->reached = fmax(way->reached, cblas_dnrm2(m, way->mapped + c, k) / sqrt(r->squares[c]));
}

/* Solves for β, and corrects it by the gradient as long as that at least halves the error. */
static kfe_status refine(kfe_i_landmark_regression *r, refinement *way, double tolerance)
{
    kfe_status status = KFE_OK;
    int64_t m = r->factor->rank;
    double before = INFINITY;

    memcpy(way->beta, r->projected, (size_t)(m * r->k) * sizeof *way->beta);
    kfe_i_solve_cholesky(m, way->lower, r->k, way->beta);
    for (int pass = 0;; pass++) {
        KFE_TRY(find_gradient(r, way));
        measure(r, way);
        kfe_i_log(r->ctx, KFE_LOG_DEBUG, "landmarks: error %.1e after %d refinements", way->reached, pass);
        if (way->reached <= tolerance || pass == MAX_REFINEMENTS || !(way->reached <= 0.5 * before))
            break;
        before = way->reached;
        kfe_i_solve_cholesky(m, way->lower, r->k, way->gradient);
        cblas_daxpy((blasint)(m * r->k), 1, way->gradient, 1, way->beta, 1);
    }
cleanup:
    return status;
}

static kfe_status solve(kfe_i_landmark_regression *r, refinement *way, double tolerance)
{
    kfe_status status = factorise(r, way);

    if (status == KFE_OK)
        KFE_TRY(refine(r, way, tolerance));
    else if (status != KFE_ENUMERIC || !sums_kernel(r))
        return status;
    if (sums_kernel(r) && (status != KFE_OK || !(way->reached <= tolerance))) {
        KFE_TRY(make_exact(r, way));
        KFE_TRY(refine(r, way, tolerance));
    }
    if (!(way->reached <= tolerance))
        KFE_FAIL(
            r->ctx, KFE_ENUMERIC,
            "the regression on the landmarks reached a relative error of %.1e, not %.1e; increase the ridge",
            way->reached, tolerance);
cleanup:
    return status;
}

kfe_status kfe_i_landmark_regression_solve(kfe_i_landmark_regression *r, double ridge, double tolerance,
                                           double *out, double *error)
{
    kfe_status status = KFE_OK;
    int64_t m = r->factor->rank;
    refinement way = {.ridge = ridge};

    assert(ridge > 0);
    *error = 0;
    if (m == 0)
        return KFE_OK;
    KFE_ALLOC(r->ctx, way.lower, m * m);
    KFE_ALLOC(r->ctx, way.beta, m * r->k);
    KFE_ALLOC(r->ctx, way.gradient, m * r->k);
    KFE_ALLOC(r->ctx, way.mapped, m * r->k);
    KFE_TRY(solve(r, &way, tolerance));
    KFE_TRY(kfe_i_factor_map(r->factor, way.beta, r->k, out));
    *error = way.reached;
cleanup:
    free_refinement(r->ctx, &way);
    return status;
}
