/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVMs on a kernel that depends on weights (svm_weights.h), for mkl and svm-mkl.
 *
 * Second derivatives come from the free support vectors F (0 < α < C): α_F solves linear equations with K_FF
 * and the condition yᵀα = 0, so that with rᵢ = (Rᵢ)_F and Z = K_FF⁻¹ each SVM adds
 *   r_iᵀ[Z − Z11ᵀZ/(1ᵀZ1)]r_j
 * to ∂²J/∂d_i∂d_j, beside the second derivative of −½aᵀKa itself, which is the caller's. Where K and Rᵢ carry the roots s
 * of weights (kfe_i_onevsrest_carry), the vector 1 is s.
 *
 * Chapelle & Rakotomamonjy (2008), Second order optimization of kernel parameters.
 */
#include "method/mkl/svm_weights.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"

/* Added to the diagonal of K_FF, which may be singular, relative to its mean; only the steps depend on it. */
#define RIDGE 1e-9

kfe_status kfe_i_svm_weights_open(kfe_context *ctx, kfe_i_onevsrest *svms, int64_t p, kfe_i_svm_weights *out)
{
    kfe_status status = KFE_OK;
    int64_t n = svms->n;

    *out = (kfe_i_svm_weights){.ctx = ctx, .svms = svms, .n = n, .p = p, .k = svms->count};
    KFE_TRY(kfe_i_check_memory(ctx, 16.0 * (double)n * (double)n, "finding weights of kernels",
                               "raise {memory} or use fewer rows"));
    KFE_TRY(kfe_i_table_new_dense(ctx, n, n, &out->kernel));
    memset(out->kernel.values, 0, (size_t)(n * n) * sizeof *out->kernel.values);
    KFE_TRY(kfe_i_gram_precomputed(ctx, &out->kernel, &out->gram));
    KFE_ALLOC_ZERO(ctx, out->images, p * n * out->k);
    KFE_ALLOC(ctx, out->factor, n * n);
    KFE_ALLOC(ctx, out->right, n * (p + 1));
    KFE_ALLOC(ctx, out->sums, p + 1);
    KFE_ALLOC(ctx, out->free_set, n);
cleanup:
    return status;
}

void kfe_i_svm_weights_free(kfe_i_svm_weights *w)
{
    if (!w->ctx)
        return;
    kfe_i_gram_free(w->gram);
    kfe_i_table_free(&w->kernel);
    kfe_i_free(w->ctx, w->images);
    kfe_i_free(w->ctx, w->factor);
    kfe_i_free(w->ctx, w->right);
    kfe_i_free(w->ctx, w->sums);
    kfe_i_free(w->ctx, w->free_set);
    memset(w, 0, sizeof *w);
}

kfe_status kfe_i_svm_weights_solve(kfe_i_svm_weights *w, double tolerance, double *objective, double *excess)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_onevsrest_solve_until(w->svms, w->gram, tolerance));
    *objective = w->svms->objective;
    *excess = w->svms->gap;
cleanup:
    return status;
}

void kfe_i_svm_weights_slopes(const kfe_i_svm_weights *w, double *q)
{
    int64_t block = w->n * w->k;

    for (int64_t m = 0; m < w->p; m++)
        q[m] = 0.5 * cblas_ddot((blasint)block, w->svms->weights, 1, w->images + m * block, 1);
}

/* ---- second derivatives ---- */

static int64_t list_free(kfe_i_svm_weights *w, int64_t svm)
{
    const double *alpha = w->svms->alpha + svm * w->n;
    int64_t count = 0;

    for (int64_t i = 0; i < w->n; i++)
        if (alpha[i] > 0 && alpha[i] < w->svms->upper[i])
            w->free_set[count++] = i;
    return count;
}

static double image_at(const kfe_i_svm_weights *w, int64_t m, int64_t row, int64_t svm)
{
    return w->images[(m * w->n + row) * w->k + svm];
}

static double one_at(const kfe_i_svm_weights *w, int64_t row)
{
    return w->svms->roots ? w->svms->roots[row] : 1;
}

/* K_FF with the ridge, and the columns r_1 … r_p and 1. */
static void gather_free(kfe_i_svm_weights *w, int64_t svm, int64_t count)
{
    int64_t width = w->p + 1;
    double trace = 0;

    for (int64_t i = 0; i < count; i++) {
        const double *row = w->kernel.values + w->free_set[i] * w->n;
        for (int64_t j = 0; j < count; j++)
            w->factor[i * count + j] = row[w->free_set[j]];
        trace += fabs(row[w->free_set[i]]);
        for (int64_t m = 0; m < w->p; m++)
            w->right[i * width + m] = image_at(w, m, w->free_set[i], svm);
        w->right[i * width + w->p] = one_at(w, w->free_set[i]);
    }
    for (int64_t i = 0; i < count; i++)
        w->factor[i * count + i] += RIDGE * trace / (double)count;
}

/* hessian += r_iᵀ[Z − Z11ᵀZ/(1ᵀZ1)]r_j, from w->right = Z[r 1] */
static void add_curvature(kfe_i_svm_weights *w, int64_t svm, int64_t count, double *hessian)
{
    int64_t p = w->p;
    int64_t width = p + 1;
    double *sums = w->sums; /* 1ᵀZr_1 … 1ᵀZr_p, 1ᵀZ1 */

    memset(sums, 0, (size_t)width * sizeof *sums);
    for (int64_t i = 0; i < count; i++)
        cblas_daxpy((blasint)width, one_at(w, w->free_set[i]), w->right + i * width, 1, sums, 1);
    for (int64_t i = 0; i < count; i++)
        for (int64_t m = 0; m < p; m++)
            cblas_daxpy((blasint)p, image_at(w, m, w->free_set[i], svm), w->right + i * width, 1,
                        hessian + m * p, 1);
    for (int64_t m = 0; m < p; m++)
        cblas_daxpy((blasint)p, -sums[m] / sums[p], sums, 1, hessian + m * p, 1);
}

kfe_status kfe_i_svm_weights_curvature(kfe_i_svm_weights *w, double *hessian)
{
    kfe_status status = KFE_OK;

    memset(hessian, 0, (size_t)(w->p * w->p) * sizeof *hessian);
    for (int64_t g = 0; g < w->k; g++) {
        int64_t count = list_free(w, g);
        if (count == 0)
            continue;
        gather_free(w, g, count);
        status = kfe_i_cholesky(w->ctx, count, w->factor, "the kernel of the free support vectors");
        if (status == KFE_ENUMERIC) { /* an indefinite kernel: the other SVMs decide the step */
            status = KFE_OK;
            continue;
        }
        KFE_TRY(status);
        kfe_i_solve_cholesky(count, w->factor, w->p + 1, w->right);
        add_curvature(w, g, count, hessian);
    }
cleanup:
    return status;
}
