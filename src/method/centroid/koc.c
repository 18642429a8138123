/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel Orthogonal Centroid: Orthogonal Centroid in the feature space of the kernel.
 *
 * With M_ig = 1/n_g for example i of class g, the centroids are C = ΦM and CᵀC = MᵀKM. From CᵀC = RᵀR, the orthonormal basis is
 * Q = CR⁻¹ and features(x) = R⁻ᵀMᵀk(x). There are two ways to R⁻¹, which agree to rounding: Cholesky (algorithm 2), and modified
 * Gram-Schmidt (algorithm 3) on coefficients over centroids, since every vector of algorithm 3 is a combination of centroids.
 * Clusters inside the classes, found by kernel k-means, may take the place of classes.
 *
 * Park & Park, "Nonlinear Feature Extraction based on Centroids and Kernel Functions" (2002).
 * Time: n²/2 kernel evaluations. Memory: O(nd + r²), since the kernel matrix is summed tile by tile.
 */
#include <math.h>
#include <string.h>

#include "method/centroid/centroid.h"

enum { SOLVER_CHOLESKY, SOLVER_MGS };

typedef struct koc_settings {
    int64_t dim, clusters;
    int solver;
} koc_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(koc_settings, dim, "number of features; auto: one for each centroid"),
    KFE_CHOICE(koc_settings, solver, "solver", "cholesky", "cholesky|mgs",
               "how the centroids are orthonormalised"),
    KFE_INT(koc_settings, clusters, "clusters-per-class", "1", 1, 1000000,
            "clusters in each class, found by kernel k-means, each with its own centroid"),
};

/* ⟨Cx, Cy⟩ = xᵀ(CᵀC)y for coefficients x, y on the centroids. */
static double product(int64_t count, const double *inner, const double *x, const double *y, int64_t stride)
{
    double sum = 0;

    for (int64_t g = 0; g < count; g++)
        for (int64_t h = 0; h < count; h++)
            sum += x[g * stride] * inner[g * count + h] * y[h * stride];
    return sum;
}

/* Algorithm 3: column t of the basis starts as centroid t and loses its parts along the columns before. */
static void gram_schmidt(int64_t count, const double *inner, const int64_t *kept, int64_t rank, double *basis)
{
    memset(basis, 0, (size_t)(count * rank) * sizeof *basis);
    for (int64_t s = 0; s < rank; s++)
        basis[kept[s] * rank + s] = 1;
    for (int64_t s = 0; s < rank; s++) {
        double length = sqrt(product(count, inner, basis + s, basis + s, rank));
        for (int64_t g = 0; g < count; g++)
            basis[g * rank + s] /= length;
        for (int64_t t = s + 1; t < rank; t++) {
            double along = product(count, inner, basis + s, basis + t, rank);
            for (int64_t g = 0; g < count; g++)
                basis[g * rank + t] -= along * basis[g * rank + s];
        }
    }
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const koc_settings *s = settings;
    kfe_i_centroids c = {0};

    KFE_TRY(kfe_i_centroids_open(ctx, "koc", source, s->clusters, &c));
    if (s->solver == SOLVER_MGS)
        gram_schmidt(c.count, c.inner, c.kept, c.rank, c.basis);
    int64_t dim = kfe_i_clamp_dim(ctx, "koc", s->dim, c.rank, "there are no more independent centroids");
    KFE_TRY(kfe_i_centroids_solution(&c, dim, out));
    KFE_TRY(kfe_i_solution_record(out, "centroid-sizes", c.sizes, c.count));
cleanup:
    kfe_i_centroids_free(&c);
    return status;
}

static kfe_i_use uses(const void *settings, kfe_i_offer offer, const char **why)
{
    const koc_settings *s = settings;

    if (offer != KFE_OFFER_SUMS || !s || s->clusters == 1)
        return kfe_i_use_sums(settings, offer, why);
    *why = "koc: clusters are found by looking at the rows again and again; use {clusters-per-class=1}";
    return KFE_USE_NOT;
}

const kfe_i_method kfe_i_method_koc = {
    .name = "koc",
    .summary = "Kernel Orthogonal Centroid: coordinates in the span of feature-space centroids",
    .reference = "Park & Park 2002, algorithms 2 and 3",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, koc_settings),
    .uses = uses,
    .fit = fit,
};
