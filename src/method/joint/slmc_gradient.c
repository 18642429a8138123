/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objective of slmc as a function of its points, and its gradient; slmc.c minimises it.
 *   J(Z) = max over α of Σ_c eᵀα_c − ½ a_cᵀK_Z a_c,   K_Z = Ψκ(Z,Z)⁻¹Ψᵀ,   Ψ = κ(X,Z),   a_c = α_c·y_c.
 * At the maximum the α do not contribute to the derivative, and with b_c = κ(Z,Z)⁻¹Ψᵀa_c
 *   dJ = −Σ_il P_il dκ(x_i, z_l) + ½ Σ_kl Q_kl dκ(z_k, z_l),   P = Σ a_cb_cᵀ,   Q = Σ b_cb_cᵀ.
 * The derivative by the second argument is
 *   rbf               ∂κ(x,z) = 2γκ·(x − z)
 *   poly and linear   ∂κ(x,z) = κ'(⟨x,z⟩)·x
 * so that the gradient at z_l is a combination of the examples and points: two products of matrices.
 *
 * Wu & Farquhar (2007), eq. (16); Wu, Schölkopf & Bakır (2005). Time O(n·m·d), memory O(n·(m + d)).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/tile/cross.h"
#include "linalg/linalg.h"
#include "method/joint/slmc.h"

#define KFE_JITTER 1e-8

static kfe_status allocate(kfe_i_slmc *s)
{
    kfe_status status = KFE_OK;
    int64_t m = s->m;

    KFE_ALLOC_ZERO(s->ctx, s->at.identity, m * m);
    KFE_ALLOC(s->ctx, s->at.inner, m * m);
    KFE_ALLOC(s->ctx, s->factor, m * m);
    KFE_ALLOC(s->ctx, s->at.psi, s->n * m);
    KFE_ALLOC(s->ctx, s->features, s->n * m);
    KFE_ALLOC(s->ctx, s->pulls.dual, m * s->svms.count);
    KFE_ALLOC(s->ctx, s->pulls.pull, s->n * m);
    KFE_ALLOC(s->ctx, s->pulls.pull_inner, m * m);
    KFE_ALLOC(s->ctx, s->pulls.slope, s->n * m);
    KFE_ALLOC(s->ctx, s->pulls.slope_inner, m * m);
    KFE_ALLOC(s->ctx, s->pulls.columns, s->cols * m);
    for (int64_t l = 0; l < m; l++)
        s->at.identity[l * m + l] = 1;
cleanup:
    return status;
}

static const kfe_i_kernel *kernel_at(const kfe_i_slmc *s, int64_t index)
{
    return index < s->at.kernels->count ? &s->at.kernels->items[index] : &s->at.linear.items[0];
}

/* Examples and points made ready for every kernel, and the workspace that the largest product takes. */
static kfe_status prepare(kfe_i_slmc *s)
{
    kfe_status status = KFE_OK;
    int64_t count = s->at.kernels->count + 1;
    int64_t most = 0;

    KFE_TRY(kfe_i_table_new_dense(s->ctx, s->m, s->cols, &s->at.place));
    memset(s->at.place.values, 0, (size_t)(s->m * s->at.place.stride) * sizeof *s->at.place.values);
    KFE_ALLOC_ZERO(s->ctx, s->at.examples, count);
    KFE_ALLOC_ZERO(s->ctx, s->at.points, count);
    for (int64_t k = 0; k < count; k++) {
        const kfe_i_kernel *kernel = kernel_at(s, k);
        KFE_TRY(kfe_i_points_prepare(s->ctx, kernel, s->table, NULL, &s->at.examples[k]));
        KFE_TRY(kfe_i_points_prepare(s->ctx, kernel, &s->at.place, &s->at.examples[k], &s->at.points[k]));
        int64_t outer = kfe_i_cross_times_work(s->ctx, kernel, &s->at.examples[k], &s->at.points[k]);
        int64_t inner = kfe_i_cross_times_work(s->ctx, kernel, &s->at.points[k], &s->at.points[k]);
        most = outer > most ? outer : most;
        most = inner > most ? inner : most;
    }
    KFE_ALLOC(s->ctx, s->at.work, most);
cleanup:
    return status;
}

kfe_status kfe_i_slmc_open(kfe_context *ctx, const kfe_i_fit_source *source, int64_t m, double c, double stop,
                           kfe_i_slmc *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &source->views[0];
    kfe_i_kernel linear = {0};

    *out = (kfe_i_slmc){.ctx = ctx,
                        .at.kernels = source->kernels,
                        .table = table,
                        .n = table->rows,
                        .m = m,
                        .cols = table->cols};
    kfe_i_kernel_list_init(ctx, &out->at.linear);
    KFE_TRY(kfe_i_onevsrest_open(ctx, source->target, m, c, stop, &out->svms));
    out->svms.who = "slmc";
    KFE_TRY(allocate(out));
    KFE_TRY(kfe_i_kernel_parse(ctx, "linear", &linear));
    KFE_TRY(kfe_i_kernel_list_add(&out->at.linear, &linear));
    KFE_TRY(prepare(out));
cleanup:
    return status;
}

void kfe_i_slmc_free(kfe_i_slmc *s)
{
    if (!s->ctx)
        return;
    for (int64_t k = 0; k <= s->at.kernels->count; k++) {
        if (s->at.examples)
            kfe_i_points_free(&s->at.examples[k]);
        if (s->at.points)
            kfe_i_points_free(&s->at.points[k]);
    }
    kfe_i_free(s->ctx, s->at.examples);
    kfe_i_free(s->ctx, s->at.points);
    kfe_i_free(s->ctx, s->at.work);
    kfe_i_table_free(&s->at.place);
    kfe_i_onevsrest_free(&s->svms);
    kfe_i_kernel_list_free(&s->at.linear);
    kfe_i_free(s->ctx, s->at.identity);
    kfe_i_free(s->ctx, s->at.inner);
    kfe_i_free(s->ctx, s->factor);
    kfe_i_free(s->ctx, s->at.psi);
    kfe_i_free(s->ctx, s->features);
    kfe_i_free(s->ctx, s->pulls.dual);
    kfe_i_free(s->ctx, s->pulls.pull);
    kfe_i_free(s->ctx, s->pulls.pull_inner);
    kfe_i_free(s->ctx, s->pulls.slope);
    kfe_i_free(s->ctx, s->pulls.slope_inner);
    kfe_i_free(s->ctx, s->pulls.columns);
    memset(s, 0, sizeof *s);
}

/* ---- the value ---- */

static void move_points(kfe_i_slmc *s, const kfe_i_table *points)
{
    for (int64_t l = 0; l < s->m; l++)
        memcpy(s->at.place.values + l * s->at.place.stride, points->values + l * points->stride,
               (size_t)s->cols * sizeof *points->values);
    for (int64_t k = 0; k <= s->at.kernels->count; k++)
        kfe_i_points_refresh(&s->at.points[k]);
}

static kfe_status add_kernel(kfe_i_slmc *s, int64_t k, const kfe_i_points *of, double *out)
{
    const kfe_i_kernel *kernel = kernel_at(s, k);

    return kfe_i_cross_times(s->ctx, kernel, &of[k], &s->at.points[k],
                             &(kfe_i_product){kernel->common.weight, s->at.identity, s->m, out}, s->at.work);
}

/* out (rows × m): the sum of the kernels between `of`, the examples or the points, and the points. */
static kfe_status sum_kernels(kfe_i_slmc *s, int64_t rows, const kfe_i_points *of, double *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, (size_t)(rows * s->m) * sizeof *out);
    for (int64_t k = 0; status == KFE_OK && k < s->at.kernels->count; k++)
        status = add_kernel(s, k, of, out);
    return status;
}

/* The same for dot products. */
static kfe_status dot_products(kfe_i_slmc *s, int64_t rows, const kfe_i_points *of, double *out)
{
    memset(out, 0, (size_t)(rows * s->m) * sizeof *out);
    return add_kernel(s, s->at.kernels->count, of, out);
}

/* κ(Z, Z) with the jitter, which the first points decide. */
static kfe_status inner_products(kfe_i_slmc *s)
{
    kfe_status status = KFE_OK;
    int64_t m = s->m;
    double trace = 0;

    KFE_TRY(sum_kernels(s, m, s->at.points, s->at.inner));
    for (int64_t l = 0; l < m; l++)
        trace += s->at.inner[l * m + l];
    if (s->jitter == 0)
        s->jitter = trace > 0 ? KFE_JITTER * trace / (double)m : 1;
    for (int64_t l = 0; l < m; l++)
        s->at.inner[l * m + l] += s->jitter;
cleanup:
    return status;
}

/* A kernel that is not positive definite may need more than the first jitter. */
static kfe_status factorise(kfe_i_slmc *s)
{
    int64_t m = s->m;
    kfe_status status = KFE_ENUMERIC;

    for (int attempt = 0; attempt < 40 && status == KFE_ENUMERIC; attempt++) {
        memcpy(s->factor, s->at.inner, (size_t)(m * m) * sizeof *s->factor);
        status = kfe_i_cholesky(s->ctx, m, s->factor, "the kernel between the points");
        for (int64_t l = 0; status == KFE_ENUMERIC && l < m; l++)
            s->at.inner[l * m + l] += s->jitter;
        s->jitter *= status == KFE_ENUMERIC ? 2 : 1;
    }
    return status;
}

kfe_status kfe_i_slmc_value(kfe_i_slmc *s, const kfe_i_table *points, double *value)
{
    kfe_status status = KFE_OK;

    move_points(s, points);
    KFE_TRY(inner_products(s));
    KFE_TRY(factorise(s));
    KFE_TRY(sum_kernels(s, s->n, s->at.examples, s->at.psi));
    memcpy(s->features, s->at.psi, (size_t)(s->n * s->m) * sizeof *s->features);
    kfe_i_solve_lower_transposed(s->n, s->m, s->factor, s->features);
    KFE_TRY(kfe_i_onevsrest_solve(&s->svms, s->m, s->features));
    *value = s->svms.objective;
cleanup:
    return status;
}

/* ---- the gradient ---- */

static const void *setting(const kfe_i_kernel *kernel, const char *name)
{
    const kfe_i_param *row = kfe_i_param_find(&kernel->def->params, name);
    return row ? (const char *)kernel->settings + row->offset : NULL;
}

static int is_rbf(const kfe_i_kernel *kernel)
{
    return strcmp(kernel->def->name, "rbf") == 0;
}

int kfe_i_slmc_has_gradient(const kfe_i_kernel_list *kernels)
{
    const kfe_i_kernel *kernel = &kernels->items[0];

    return kernels->count == 1 && kernel->def->slope && (is_rbf(kernel) || kernel->def->base == KFE_BASE_DOT);
}

/* values (rows × m): from κ (rbf, which needs no distances) or dot products to what multiplies x − z or x in
 * ∂κ. */
static void differentiate(const kfe_i_kernel *kernel, int64_t rows, int64_t m, double *values)
{
    kfe_i_tile tile = {.values = values, .rows = rows, .cols = m, .stride = m};
    double factor = kernel->common.weight;

    if (is_rbf(kernel))
        factor = 2 * *(const double *)setting(kernel, "gamma");
    else
        kfe_i_kernel_slope(kernel, &tile);
    cblas_dscal((blasint)(rows * m), factor, values, 1);
}

static kfe_status slopes(kfe_i_slmc *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = &s->at.kernels->items[0];
    int64_t m = s->m;

    if (is_rbf(kernel)) {
        memcpy(s->pulls.slope, s->at.psi, (size_t)(s->n * m) * sizeof *s->pulls.slope);
        memcpy(s->pulls.slope_inner, s->at.inner, (size_t)(m * m) * sizeof *s->pulls.slope_inner);
    } else {
        KFE_TRY(dot_products(s, s->n, s->at.examples, s->pulls.slope));
        KFE_TRY(dot_products(s, m, s->at.points, s->pulls.slope_inner));
    }
    differentiate(kernel, s->n, m, s->pulls.slope);
    differentiate(kernel, m, m, s->pulls.slope_inner);
cleanup:
    return status;
}

/* pull = −P∘slope and pull_inner = Q∘slope_inner. */
static void pulls(kfe_i_slmc *s)
{
    int64_t m = s->m;
    int64_t c = s->svms.count;

    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m, (blasint)c, (blasint)s->n, 1, s->at.psi,
                (blasint)m, s->svms.weights, (blasint)c, 0, s->pulls.dual, (blasint)c);
    kfe_i_solve_cholesky(m, s->factor, c, s->pulls.dual);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)s->n, (blasint)m, (blasint)c, -1,
                s->svms.weights, (blasint)c, s->pulls.dual, (blasint)c, 0, s->pulls.pull, (blasint)m);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)m, (blasint)m, (blasint)c, 1, s->pulls.dual,
                (blasint)c, s->pulls.dual, (blasint)c, 0, s->pulls.pull_inner, (blasint)m);
    for (int64_t i = 0; i < s->n * m; i++)
        s->pulls.pull[i] *= s->pulls.slope[i];
    for (int64_t i = 0; i < m * m; i++)
        s->pulls.pull_inner[i] *= s->pulls.slope_inner[i];
}

/* What z_l itself gets: minus the sum of all that pulls at it, for x − z; nothing for x. */
static void add_own_share(const kfe_i_slmc *s, double *gradient)
{
    for (int64_t l = 0; l < s->m; l++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++)
            sum += s->pulls.pull[i * s->m + l];
        for (int64_t k = 0; k < s->m; k++)
            sum += s->pulls.pull_inner[k * s->m + l];
        cblas_daxpy((blasint)s->cols, -sum, s->at.place.values + l * s->at.place.stride, 1,
                    gradient + l * s->cols, 1);
    }
}

kfe_status kfe_i_slmc_gradient(kfe_i_slmc *s, double *gradient)
{
    kfe_status status = KFE_OK;
    int64_t m = s->m;

    KFE_TRY(slopes(s));
    pulls(s);
    KFE_TRY(kfe_i_table_transpose_times(s->ctx, s->table, s->pulls.pull, m, s->pulls.columns));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m, (blasint)s->cols, (blasint)m, 1,
                s->pulls.pull_inner, (blasint)m, s->at.place.values, (blasint)s->at.place.stride, 0, gradient,
                (blasint)s->cols);
    for (int64_t l = 0; l < m; l++)
        for (int64_t j = 0; j < s->cols; j++)
            gradient[l * s->cols + j] += s->pulls.columns[j * m + l];
    if (is_rbf(&s->at.kernels->items[0]))
        add_own_share(s, gradient);
cleanup:
    return status;
}
