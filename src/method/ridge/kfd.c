/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel Fisher discriminant for any number c of classes: at most c − 1 directions w = Φα that maximise the
 * between-class scatter relative to a regularised scatter.
 *
 * G = PKP is the centred kernel matrix, Y the n × c class indicator and L = PY(YᵀY)^(−1/2), so that the
 * between-class scatter of the features Gα is αᵀGLLᵀGα. The denominator is
 *
 *     ridge-on norm           αᵀ(GG + μG)α, total scatter plus μ‖w‖². The same directions maximise between-
 *                             relative to within-class scatter plus μ‖w‖². ridge.h solves it.
 *     ridge-on coefficients   αᵀ(N + μI)α with the within-class scatter N = K(I − Y(YᵀY)⁻¹Yᵀ)K (Mika et al.):
 *                             B = (N + μI)⁻¹KL and H = (KL)ᵀB, then as in ridge.h.
 *
 * Mika, Rätsch, Weston, Schölkopf & Müller (1999); Baudat & Anouar (2000) for c classes.
 * Time: one block solve of the operator (norm), or O(n³) and 16n² bytes (coefficients).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "method/ridge/ridge.h"
#include "method/shared/groups.h"

enum { RIDGE_ON_NORM, RIDGE_ON_COEFFICIENTS };

typedef struct kfd_settings {
    int64_t dim;
    double ridge;
    int ridge_on;
} kfd_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(kfd_settings, dim, "number of features; auto: one fewer than classes"),
    KFE_CHOSEN_RIDGE_ROW(
        kfd_settings, ridge, "ridge",
        "regularisation mu; auto: by leave-one-out, in closed form (of more than 85 examples, on a sample); "
        "thousandth, and auto with ridge-on=coefficients: of the mean diagonal of the matrix that it is "
        "added to"),
    KFE_CHOICE(
        kfd_settings, ridge_on, "ridge-on", "norm", "norm|coefficients",
        "what the ridge penalises: the direction's norm (mu |w|^2) or its coefficients (mu |alpha|^2)"),
};

/* L = PY(YᵀY)^(−1/2), n × c. */
static void scaled_indicator(const kfe_i_groups *groups, double *l)
{
    int64_t c = groups->count;
    double mass = kfe_i_groups_mass(groups);

    for (int64_t i = 0; i < groups->rows; i++)
        for (int64_t g = 0; g < c; g++)
            l[i * c + g] = kfe_i_group_root(groups, i) * ((groups->of[i] == g) - groups->sizes[g] / mass) /
                           sqrt(groups->sizes[g]);
}

static const char exhausted[] = "classes differ in no more directions";
static const char same_centroid[] = "the classes have the same centroid; there is nothing to discriminate";

/* ---- μ‖w‖² ---- */

static kfe_status fit_norm(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_groups *groups,
                           const kfd_settings *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *l = NULL;

    KFE_ALLOC(ctx, l, groups->rows * groups->count);
    scaled_indicator(groups, l);
    const kfe_i_ridge_problem ridge = {
        .method = "kfd",
        .gram = problem->gram,
        .centred = 1,
        .targets = l,
        .columns = groups->count,
        .squared_norm = 1, /* the largest eigenvalue of LLᵀ */
        .ridge = s->ridge,
        .classes = 1,
        .dim = s->dim,
        .most = groups->count - 1,
        .exhausted = exhausted,
        .none = same_centroid,
    };
    KFE_TRY(kfe_i_ridge_fit(ctx, &ridge, out));
cleanup:
    kfe_i_free(ctx, l);
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
        cblas_daxpy((blasint)n, kfe_i_group_root(groups, i) / groups->sizes[groups->of[i]], k + i * n, 1,
                    means + groups->of[i] * n, 1);
    for (int64_t i = 0; i < n; i++)
        cblas_daxpy((blasint)n, -kfe_i_group_root(groups, i), means + groups->of[i] * n, 1, k + i * n, 1);
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
    *ridge = kfe_i_chosen_ridge(asked, trace / kfe_i_gram_mass(gram), 1);
    for (int64_t i = 0; i < n; i++)
        scatter[i * n + i] += *ridge;
cleanup:
    kfe_i_free(ctx, k);
    return status;
}

/* Gives the features of the training examples mean zero: offset = Aᵀ(Ke/n). */
static kfe_status centre_features(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    double mass = kfe_i_gram_mass(gram);
    double *uniform = NULL;
    double *means = NULL;

    KFE_ALLOC(ctx, uniform, n);
    KFE_ALLOC(ctx, means, n);
    KFE_ALLOC_ZERO(ctx, out->offset, out->dim);
    for (int64_t i = 0; i < n; i++)
        uniform[i] = (gram->roots ? gram->roots[i] : 1) / mass;
    KFE_TRY(kfe_i_gram_times(gram, uniform, 1, means));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < out->dim; j++)
            out->offset[j] += out->coefficients[i * out->dim + j] * means[i];
cleanup:
    kfe_i_free(ctx, uniform);
    kfe_i_free(ctx, means);
    return status;
}

typedef struct coefficient_work {
    double *l, *image, *b; /* L, KL and B, n × c */
    double *h;             /* c × c */
    double *scatter;       /* N + μI, n × n */
    double ridge;
} coefficient_work;

static void free_work(kfe_context *ctx, coefficient_work *w)
{
    kfe_i_free(ctx, w->l);
    kfe_i_free(ctx, w->image);
    kfe_i_free(ctx, w->b);
    kfe_i_free(ctx, w->h);
    kfe_i_free(ctx, w->scatter);
}

/* B and H. */
static kfe_status solve_coefficients(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_groups *groups,
                                     double asked, coefficient_work *w)
{
    kfe_status status = KFE_OK;
    int64_t n = groups->rows;
    int64_t c = groups->count;

    KFE_ALLOC(ctx, w->l, n * c);
    KFE_ALLOC(ctx, w->image, n * c);
    KFE_ALLOC(ctx, w->b, n * c);
    KFE_ALLOC(ctx, w->h, c * c);
    KFE_ALLOC(ctx, w->scatter, n * n);
    scaled_indicator(groups, w->l);
    KFE_TRY(kfe_i_gram_times(gram, w->l, c, w->image));
    KFE_TRY(within_scatter(ctx, gram, groups, asked, w->scatter, &w->ridge));
    memcpy(w->b, w->image, (size_t)(n * c) * sizeof *w->b);
    KFE_TRY(kfe_i_cholesky_solve(ctx, n, w->scatter, c, w->b, "the within-class scatter plus the ridge"));
    kfe_i_inner_products(n, kfe_i_packed(w->image, c), kfe_i_packed(w->b, c), w->h);
cleanup:
    return status;
}

static kfe_status fit_coefficients(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_groups *groups,
                                   const kfd_settings *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double n = (double)groups->rows;
    double noise = 0;
    coefficient_work w = {0};

    KFE_TRY(kfe_i_check_memory(ctx, 16.0 * n * n, "kfd with a ridge on coefficients",
                               "raise {memory} or use {ridge-on=norm}, which needs half"));
    KFE_TRY(solve_coefficients(ctx, problem->gram, groups, s->ridge, &w));
    KFE_TRY(kfe_i_gram_rounding(problem->gram, &noise));
    const kfe_i_candidates candidates = {
        .method = "kfd",
        .rows = groups->rows,
        .count = groups->count,
        .b = w.b,
        .h = w.h,
        .rounding = noise * (noise / w.ridge),
        .most = groups->count - 1,
        .exhausted = exhausted,
        .none = same_centroid,
    };
    KFE_TRY(kfe_i_best_directions(ctx, &candidates, groups->rows, s->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &w.ridge, 1));
    KFE_TRY(centre_features(ctx, problem->gram, out));
    kfe_i_solution_fix_signs(out);
cleanup:
    free_work(ctx, &w);
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
cleanup:
    kfe_i_groups_free(&groups);
    return status;
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfd_settings *s = settings;
    double *roots = NULL;
    const kfe_i_ridge_problem ridge = {.method = "kfd",
                                       .centred = 1,
                                       .squared_norm = 1,
                                       .ridge = s->ridge,
                                       .classes = 1,
                                       .dim = s->dim,
                                       .most = problem->sums->classes - 1,
                                       .exhausted = exhausted,
                                       .none = same_centroid};

    if (s->ridge_on != RIDGE_ON_NORM)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "kfd: a ridge on coefficients needs all rows in memory; use {ridge-on=norm}");
    KFE_TRY(kfe_i_inverse_class_roots(ctx, problem->sums, &roots));
    const kfe_i_ridge_sums targets = {.map = roots, .columns = problem->sums->classes};
    KFE_TRY(kfe_i_ridge_fit_sums(ctx, problem, &ridge, &targets, out));
cleanup:
    kfe_i_free(ctx, roots);
    return status;
}

const kfe_i_method kfe_i_method_kfd = {
    .name = "kfd",
    .summary = "kernel Fisher discriminant, any number of classes, regularised",
    .reference = "Mika et al. 1999; Baudat & Anouar 2000; Park & Park 2002, section 4.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfd_settings),
    .sums_of_landmarks = 1,
    .fit = fit,
    .fit_sums = fit_sums,
};
