/* SPDX-License-Identifier: Apache-2.0 */
/*
 * J(Z) = max over α of Σ_c eᵀα_c − ½ a_cᵀK_Z a_c with K_Z = Ψκ(Z,Z)⁻¹Ψᵀ, Ψ = κ(X,Z), a_c = α_c·y_c. At the
 * maximum the α do not contribute to the derivative, and with b_c = κ(Z,Z)⁻¹Ψᵀa_c
 *   dJ = −Σ_il P_il dκ(x_i, z_l) + ½ Σ_kl Q_kl dκ(z_k, z_l),   P = Σ a_cb_cᵀ,   Q = Σ b_cb_cᵀ.
 * By the second argument, rbf: ∂κ(x,z) = 2γκ·(x − z); poly and linear: ∂κ(x,z) = κ'(⟨x,z⟩)·x. So the gradient
 * at z_l is a combination of the examples and points, two products of matrices.
 *
 * Wu & Farquhar (2007), eq. (16); Wu, Schölkopf & Bakır (2005). Time O(n·m·d), memory O(n·m).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/linalg.h"
#include "kernel/expansion.h"
#include "method/slmc.h"

#define KFE_JITTER 1e-8

static kfe_status allocate(kfe_i_slmc *s)
{
    kfe_status status = KFE_OK;
    int64_t m = s->m;

    KFE_ALLOC_ZERO(s->ctx, s->identity, m * m);
    KFE_ALLOC(s->ctx, s->inner, m * m);
    KFE_ALLOC(s->ctx, s->factor, m * m);
    KFE_ALLOC(s->ctx, s->psi, s->n * m);
    KFE_ALLOC(s->ctx, s->features, s->n * m);
    KFE_ALLOC(s->ctx, s->dual, m * s->machines.count);
    KFE_ALLOC(s->ctx, s->pull, s->n * m);
    KFE_ALLOC(s->ctx, s->pull_inner, m * m);
    KFE_ALLOC(s->ctx, s->slope, s->n * m);
    KFE_ALLOC(s->ctx, s->slope_inner, m * m);
    KFE_ALLOC(s->ctx, s->columns, s->cols * m);
    for (int64_t l = 0; l < m; l++)
        s->identity[l * m + l] = 1;
cleanup:
    return status;
}

kfe_status kfe_i_slmc_open(kfe_context *ctx, const kfe_i_problem *problem, int64_t m, double c, double stop,
                           kfe_i_slmc *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &problem->views[0];
    kfe_i_kernel linear = {0};

    *out = (kfe_i_slmc){.ctx = ctx,
                        .kernels = problem->kernels,
                        .table = table,
                        .n = table->rows,
                        .m = m,
                        .cols = table->cols};
    kfe_i_kernel_list_init(ctx, &out->linear);
    KFE_TRY(kfe_i_onevsrest_open(ctx, problem->target, c, stop, &out->machines));
    KFE_TRY(allocate(out));
    KFE_TRY(kfe_i_kernel_parse(ctx, "linear", &linear));
    KFE_TRY(kfe_i_kernel_list_add(&out->linear, &linear));
cleanup:
    return status;
}

void kfe_i_slmc_free(kfe_i_slmc *s)
{
    if (!s->ctx)
        return;
    kfe_i_onevsrest_free(&s->machines);
    kfe_i_kernel_list_free(&s->linear);
    kfe_i_free(s->ctx, s->identity);
    kfe_i_free(s->ctx, s->inner);
    kfe_i_free(s->ctx, s->factor);
    kfe_i_free(s->ctx, s->psi);
    kfe_i_free(s->ctx, s->features);
    kfe_i_free(s->ctx, s->dual);
    kfe_i_free(s->ctx, s->pull);
    kfe_i_free(s->ctx, s->pull_inner);
    kfe_i_free(s->ctx, s->slope);
    kfe_i_free(s->ctx, s->slope_inner);
    kfe_i_free(s->ctx, s->columns);
    memset(s, 0, sizeof *s);
}

/* ---- the value ---- */

/* κ(Z, Z) with the jitter, which the first points decide. */
static kfe_status inner_products(kfe_i_slmc *s, const kfe_i_table *points)
{
    kfe_status status = KFE_OK;
    int64_t m = s->m;
    double trace = 0;

    KFE_TRY(kfe_i_expand(s->ctx, s->kernels, points, points, s->identity, m, s->inner));
    for (int64_t l = 0; l < m; l++)
        trace += s->inner[l * m + l];
    if (s->jitter == 0)
        s->jitter = trace > 0 ? KFE_JITTER * trace / (double)m : 1;
    for (int64_t l = 0; l < m; l++)
        s->inner[l * m + l] += s->jitter;
cleanup:
    return status;
}

/* A kernel that is not positive definite may need more than the first jitter. */
static kfe_status factorise(kfe_i_slmc *s)
{
    int64_t m = s->m;
    kfe_status status = KFE_ENUMERIC;

    for (int attempt = 0; attempt < 40 && status == KFE_ENUMERIC; attempt++) {
        memcpy(s->factor, s->inner, (size_t)(m * m) * sizeof *s->factor);
        status = kfe_i_cholesky(s->ctx, m, s->factor, "the kernel between the points");
        for (int64_t l = 0; status == KFE_ENUMERIC && l < m; l++)
            s->inner[l * m + l] += s->jitter;
        s->jitter *= status == KFE_ENUMERIC ? 2 : 1;
    }
    return status;
}

kfe_status kfe_i_slmc_value(kfe_i_slmc *s, const kfe_i_table *points, double *value)
{
    kfe_status status = KFE_OK;

    KFE_TRY(inner_products(s, points));
    KFE_TRY(factorise(s));
    KFE_TRY(kfe_i_expand(s->ctx, s->kernels, s->table, points, s->identity, s->m, s->psi));
    memcpy(s->features, s->psi, (size_t)(s->n * s->m) * sizeof *s->features);
    kfe_i_solve_lower_transposed(s->n, s->m, s->factor, s->features);
    KFE_TRY(kfe_i_onevsrest_solve(&s->machines, s->m, s->features));
    *value = s->machines.objective;
cleanup:
    return status;
}

/* ---- the gradient ---- */

static const void *setting(const kfe_i_kernel *kernel, const char *name)
{
    const kfe_i_param *row = kfe_i_param_find(&kernel->def->params, name);
    return row ? (const char *)kernel->settings + row->offset : NULL;
}

static int is_kernel(const kfe_i_kernel *kernel, const char *name)
{
    return strcmp(kernel->def->name, name) == 0;
}

int kfe_i_slmc_has_gradient(const kfe_i_kernel_list *kernels)
{
    const kfe_i_kernel *kernel = &kernels->items[0];

    return kernels->count == 1 &&
           (is_kernel(kernel, "rbf") || is_kernel(kernel, "poly") || is_kernel(kernel, "linear"));
}

/* values (count): from κ (rbf) or dot products to what multiplies x − z or x in ∂κ. */
static void differentiate(const kfe_i_kernel *kernel, int64_t count, double *values)
{
    const double *gamma = setting(kernel, "gamma");
    const double *coef0 = setting(kernel, "coef0");
    const int64_t *degree = setting(kernel, "degree");

    for (int64_t i = 0; i < count; i++) {
        if (is_kernel(kernel, "rbf"))
            values[i] *= 2 * *gamma;
        else if (is_kernel(kernel, "poly"))
            values[i] = kernel->common.weight * (double)*degree * *gamma *
                        pow(*gamma * values[i] + *coef0, (double)*degree - 1);
        else
            values[i] = kernel->common.weight;
    }
}

static kfe_status slopes(kfe_i_slmc *s, const kfe_i_table *points)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = &s->kernels->items[0];
    int64_t m = s->m;

    if (is_kernel(kernel, "rbf")) {
        memcpy(s->slope, s->psi, (size_t)(s->n * m) * sizeof *s->slope);
        memcpy(s->slope_inner, s->inner, (size_t)(m * m) * sizeof *s->slope_inner);
    } else {
        KFE_TRY(kfe_i_expand(s->ctx, &s->linear, s->table, points, s->identity, m, s->slope));
        KFE_TRY(kfe_i_expand(s->ctx, &s->linear, points, points, s->identity, m, s->slope_inner));
    }
    differentiate(kernel, s->n * m, s->slope);
    differentiate(kernel, m * m, s->slope_inner);
cleanup:
    return status;
}

/* pull = −P∘slope and pull_inner = Q∘slope_inner. */
static void pulls(kfe_i_slmc *s)
{
    int64_t m = s->m;
    int64_t c = s->machines.count;

    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m, (blasint)c, (blasint)s->n, 1, s->psi,
                (blasint)m, s->machines.weights, (blasint)c, 0, s->dual, (blasint)c);
    kfe_i_solve_cholesky(m, s->factor, c, s->dual);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)s->n, (blasint)m, (blasint)c, -1,
                s->machines.weights, (blasint)c, s->dual, (blasint)c, 0, s->pull, (blasint)m);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)m, (blasint)m, (blasint)c, 1, s->dual,
                (blasint)c, s->dual, (blasint)c, 0, s->pull_inner, (blasint)m);
    for (int64_t i = 0; i < s->n * m; i++)
        s->pull[i] *= s->slope[i];
    for (int64_t i = 0; i < m * m; i++)
        s->pull_inner[i] *= s->slope_inner[i];
}

/* What z_l itself gets: minus the sum of all that pulls at it, for x − z; nothing for x. */
static void add_own_share(const kfe_i_slmc *s, const kfe_i_table *points, double *gradient)
{
    for (int64_t l = 0; l < s->m; l++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++)
            sum += s->pull[i * s->m + l];
        for (int64_t k = 0; k < s->m; k++)
            sum += s->pull_inner[k * s->m + l];
        cblas_daxpy((blasint)s->cols, -sum, points->values + l * points->stride, 1, gradient + l * s->cols,
                    1);
    }
}

kfe_status kfe_i_slmc_gradient(kfe_i_slmc *s, const kfe_i_table *points, double *gradient)
{
    kfe_status status = KFE_OK;
    int64_t m = s->m;

    KFE_TRY(slopes(s, points));
    pulls(s);
    KFE_TRY(kfe_i_table_transpose_times(s->ctx, s->table, s->pull, m, s->columns));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m, (blasint)s->cols, (blasint)m, 1,
                s->pull_inner, (blasint)m, points->values, (blasint)points->stride, 0, gradient,
                (blasint)s->cols);
    for (int64_t l = 0; l < m; l++)
        for (int64_t j = 0; j < s->cols; j++)
            gradient[l * s->cols + j] += s->columns[j * m + l];
    if (is_kernel(&s->kernels->items[0], "rbf"))
        add_own_share(s, points, gradient);
cleanup:
    return status;
}
