/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel Fisher discriminant, for any number c of classes: at most c−1 directions w = Φα that maximise the
 * between-class against the regularised total scatter.
 *
 * G = PKP, Y the n×c class indicator, L = PY(YᵀY)^(−1/2), so that the between-class scatter of the features
 * Gα is αᵀGLLᵀGα.
 *
 * ridge-on norm: the denominator is αᵀ(GG + μG)α, total scatter plus μ‖w‖². All maximisers lie in the span of
 *   B = (G + μI)⁻¹L, and there the problem is H²v = λHv with H = LᵀGB (c×c): no eigenproblem of size n. The
 *   same directions maximise between- against within-class scatter plus μ‖w‖².
 * ridge-on coefficients (Mika et al.): N + μI with N = K(I − Y(YᵀY)⁻¹Yᵀ)K the within-class scatter; then
 *   B = (N + μI)⁻¹KL and H = (KL)ᵀB.
 * In both, A = BVΛ^(−1/2) from H = VΛVᵀ gives unit denominators.
 *
 * Mika, Rätsch, Weston, Schölkopf & Müller (1999); Baudat & Anouar (2000) for c classes.
 * Time: one block solve of the operator (norm), or O(n³) and 16n² bytes (coefficients).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/basis.h"
#include "gram/linalg.h"
#include "method/groups.h"
#include "method/ridge/ridge.h"

enum { RIDGE_ON_NORM, RIDGE_ON_COEFFICIENTS };

typedef struct kfd_settings {
    int64_t dim;
    double ridge;
    int ridge_on;
} kfd_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(kfd_settings, dim, "number of features; auto: one fewer than classes"),
    KFE_RIDGE_ROW(kfd_settings, ridge,
                  "regularisation mu; auto: a thousandth of the mean diagonal of what it is added to"),
    KFE_CHOICE(kfd_settings, ridge_on, "ridge-on", "norm", "norm|coefficients",
               "what the ridge is on: the direction's norm (mu |w|^2) or its coefficients (mu |alpha|^2)"),
};

/* L = PY(YᵀY)^(−1/2), n × c. */
static void scaled_indicator(const kfe_i_groups *groups, double *l)
{
    int64_t c = groups->count;

    for (int64_t i = 0; i < groups->rows; i++)
        for (int64_t g = 0; g < c; g++)
            l[i * c + g] =
                ((groups->of[i] == g) - groups->sizes[g] / (double)groups->rows) / sqrt(groups->sizes[g]);
}

/* The directions that B and H give, H overwritten. */
static kfe_status directions_from(kfe_context *ctx, int64_t n, int64_t c, const double *b, double *h,
                                  double rounding, int64_t asked, kfe_i_solution *out)
{
    kfe_i_candidates candidates = {
        .method = "kfd",
        .rows = n,
        .count = c,
        .b = b,
        .h = h,
        .rounding = rounding,
        .most = c - 1,
        .exhausted = "classes differ in no more directions",
        .none = "the classes have the same centroid; there is nothing to discriminate",
    };

    return kfe_i_best_directions(ctx, &candidates, n, asked, out);
}

/* ---- μ‖w‖² ---- */

static kfe_status fit_norm(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_groups *groups,
                           const kfd_settings *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t n = groups->rows;
    int64_t c = groups->count;
    kfe_i_gram *centred = NULL;
    double *l = NULL;
    double *b = NULL;
    double *image = NULL;
    double *h = NULL;
    double ridge = 0;
    double rounding = 0;

    KFE_TRY(kfe_i_gram_centred(ctx, problem->gram, &centred));
    KFE_ALLOC(ctx, l, n * c);
    KFE_ALLOC(ctx, b, n * c);
    KFE_ALLOC(ctx, image, n * c);
    KFE_ALLOC(ctx, h, c * c);
    scaled_indicator(groups, l);
    KFE_TRY(kfe_i_gram_chosen_ridge(centred, s->ridge, &ridge));
    KFE_TRY(kfe_i_gram_solve(centred, ridge, l, c, KFE_TOLERANCE, b, NULL));
    KFE_TRY(kfe_i_gram_times(centred, b, c, image));
    kfe_i_inner_products(n, c, l, c, c, image, c, h);
    KFE_TRY(kfe_i_gram_rounding(problem->gram, &rounding));
    KFE_TRY(directions_from(ctx, n, c, b, h, rounding / ridge, s->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &ridge, 1));
    KFE_TRY(kfe_i_solution_centre(out, centred));
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_free(ctx, l);
    kfe_i_free(ctx, b);
    kfe_i_free(ctx, image);
    kfe_i_free(ctx, h);
    return status;
}

/* ---- μ‖α‖² ---- */

/* Subtracts from every row of K (n × n) the mean row of its class: (I − Y(YᵀY)⁻¹Yᵀ)K. */
static kfe_status subtract_class_means(kfe_context *ctx, const kfe_i_groups *groups, double *k)
{
    kfe_status status = KFE_OK;
    int64_t n = groups->rows;
    double *means = NULL;

    KFE_ALLOC_ZERO(ctx, means, groups->count * n);
    for (int64_t i = 0; i < n; i++)
        cblas_daxpy((blasint)n, 1 / groups->sizes[groups->of[i]], k + i * n, 1, means + groups->of[i] * n, 1);
    for (int64_t i = 0; i < n; i++)
        cblas_daxpy((blasint)n, -1, means + groups->of[i] * n, 1, k + i * n, 1);
cleanup:
    kfe_i_free(ctx, means);
    return status;
}

/* scatter (n × n) = N + μI, and μ. */
static kfe_status within_scatter(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_groups *groups,
                                 double asked, double *scatter, double *ridge)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    double *k = NULL;
    double trace = 0;

    KFE_TRY(kfe_i_gram_materialise(gram, &k));
    KFE_TRY(subtract_class_means(ctx, groups, k));
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)n, (blasint)n, 1, k, (blasint)n, 0, scatter,
                (blasint)n);
    for (int64_t i = 0; i < n; i++)
        trace += scatter[i * n + i];
    *ridge = kfe_i_chosen_ridge(asked, trace, n);
    for (int64_t i = 0; i < n; i++)
        scatter[i * n + i] += *ridge;
cleanup:
    kfe_i_free(ctx, k);
    return status;
}

/* The features of the training examples get mean zero: offset = Aᵀ(Ke/n). */
static kfe_status centre_features(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    double *uniform = NULL;
    double *means = NULL;

    KFE_ALLOC(ctx, uniform, n);
    KFE_ALLOC(ctx, means, n);
    KFE_ALLOC_ZERO(ctx, out->offset, out->dim);
    for (int64_t i = 0; i < n; i++)
        uniform[i] = 1 / (double)n;
    KFE_TRY(kfe_i_gram_times(gram, uniform, 1, means));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < out->dim; j++)
            out->offset[j] += out->coefficients[i * out->dim + j] * means[i];
cleanup:
    kfe_i_free(ctx, uniform);
    kfe_i_free(ctx, means);
    return status;
}

static kfe_status fit_coefficients(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_groups *groups,
                                   const kfd_settings *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t n = groups->rows;
    int64_t c = groups->count;
    double *l = NULL;
    double *image = NULL;
    double *b = NULL;
    double *h = NULL;
    double *scatter = NULL;
    double ridge = 0;
    double rounding = 0;

    KFE_TRY(kfe_i_check_memory(ctx, 16.0 * (double)n * (double)n, "kfd with a ridge on coefficients",
                               "raise --memory or use --ridge-on norm, which needs half"));
    KFE_ALLOC(ctx, l, n * c);
    KFE_ALLOC(ctx, image, n * c);
    KFE_ALLOC(ctx, b, n * c);
    KFE_ALLOC(ctx, h, c * c);
    KFE_ALLOC(ctx, scatter, n * n);
    scaled_indicator(groups, l);
    KFE_TRY(kfe_i_gram_times(problem->gram, l, c, image));
    KFE_TRY(within_scatter(ctx, problem->gram, groups, s->ridge, scatter, &ridge));
    memcpy(b, image, (size_t)(n * c) * sizeof *b);
    KFE_TRY(kfe_i_cholesky_solve(ctx, n, scatter, c, b, "the within-class scatter plus the ridge"));
    kfe_i_inner_products(n, c, image, c, c, b, c, h);
    KFE_TRY(kfe_i_gram_rounding(problem->gram, &rounding));
    KFE_TRY(directions_from(ctx, n, c, b, h, rounding * rounding / ridge, s->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &ridge, 1));
    KFE_TRY(centre_features(ctx, problem->gram, out));
cleanup:
    kfe_i_free(ctx, l);
    kfe_i_free(ctx, image);
    kfe_i_free(ctx, b);
    kfe_i_free(ctx, h);
    kfe_i_free(ctx, scatter);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfd_settings *s = settings;
    kfe_i_groups groups = {0};

    KFE_TRY(kfe_i_groups_from_classes(ctx, problem->target, &groups));
    if (s->ridge_on == RIDGE_ON_NORM)
        KFE_TRY(fit_norm(ctx, problem, &groups, s, out));
    else
        KFE_TRY(fit_coefficients(ctx, problem, &groups, s, out));
    kfe_i_solution_fix_signs(out);
cleanup:
    kfe_i_groups_free(&groups);
    return status;
}

const kfe_i_method kfe_i_method_kfd = {
    .name = "kfd",
    .summary = "kernel Fisher discriminant, any number of classes, regularised",
    .reference = "Mika et al. 1999; Baudat & Anouar 2000; Park & Park 2002, section 4.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING,
    .params = KFE_PARAM_TABLE(rows, kfd_settings),
    .fit = fit,
};
