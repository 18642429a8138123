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
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/ridge/label_kernel.h"
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
        "regularisation mu; auto: by leave-one-out, in closed form (on a sample if there are more than 200 "
        "examples); thousandth, and auto with ridge-on=coefficients: a thousandth of the mean diagonal of "
        "the matrix to which it is added"),
    KFE_CHOICE(
        kfd_settings, ridge_on, "ridge-on", "norm", "norm|coefficients",
        "what the ridge penalises: the direction's norm (mu |w|^2) or its coefficients (mu |alpha|^2)"),
};

static const char exhausted[] = "classes differ in no more directions";
static const char same_centroid[] = "the classes have the same centroid; there is nothing to discriminate";

/* ---- a ridge on coefficients ---- */

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
static kfe_status within_scatter(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                 double asked, double *scatter, double *ridge)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    kfe_i_groups groups = {0};
    double *k = NULL;

    KFE_TRY(kfe_i_groups_from_classes(ctx, target, &groups));
    KFE_TRY(kfe_i_gram_materialise(gram, &k));
    KFE_TRY(subtract_class_means(ctx, &groups, k));
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)n, (blasint)n, 1, k, (blasint)n, 0, scatter,
                (blasint)n);
    *ridge = kfe_i_chosen_ridge(asked, kfe_i_trace(n, scatter) / kfe_i_gram_mass(gram), 1);
    kfe_i_add_to_diagonal(n, *ridge, scatter);
cleanup:
    kfe_i_free(ctx, k);
    kfe_i_groups_free(&groups);
    return status;
}

/* Gives the features of the training examples mean zero: offset = Aᵀ(Ke/n). work: 2n. */
static kfe_status centre_features(kfe_context *ctx, const kfe_i_gram *gram, double *work, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    double mass = kfe_i_gram_mass(gram);

    KFE_ALLOC_ZERO(ctx, out->offset, out->dim);
    for (int64_t i = 0; i < n; i++)
        work[i] = (gram->roots ? gram->roots[i] : 1) / mass;
    KFE_TRY(kfe_i_gram_times(gram, work, 1, work + n));
    kfe_i_transpose_times(out->dim, n, 1, out->coefficients, work + n, out->offset);
cleanup:
    return status;
}

static kfe_status fit_coefficients(kfe_context *ctx, const kfe_i_fit_source *source, const kfd_settings *s,
                                   kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    const kfe_i_gram *gram = NULL;
    kfe_i_label_factor labels = {0};
    double *image, *b, *h, *scatter; /* KL and B, n × m; m × m; n × n */
    double noise = 0;
    double ridge = 0;

    KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
    int64_t n = gram->size;
    KFE_TRY(kfe_i_check_memory(ctx, 16.0 * (double)n * (double)n, "kfd with a ridge on coefficients",
                               "raise {memory} or use {ridge-on=norm}, which needs half"));
    KFE_TRY(kfe_i_label_factor_make(ctx, "kfd", source->target, "h2", 1, &labels));
    int64_t m = labels.rank;
    KFE_TAKE(&memory, image, n * (m + 2));
    KFE_TAKE(&memory, b, n * m);
    KFE_TAKE(&memory, h, m * m);
    KFE_TAKE(&memory, scatter, n * n);
    KFE_TRY(kfe_i_gram_times(gram, labels.values, m, image));
    KFE_TRY(within_scatter(ctx, gram, source->target, s->ridge, scatter, &ridge));
    memcpy(b, image, (size_t)(n * m) * sizeof *b);
    KFE_TRY(kfe_i_cholesky_solve(ctx, n, scatter, m, b, "the within-class scatter plus the ridge"));
    kfe_i_transpose_times(m, n, m, image, b, h);
    KFE_TRY(kfe_i_gram_rounding(gram, &noise));
    const kfe_i_candidates candidates = {
        .method = "kfd",
        .rows = n,
        .count = m,
        .b = b,
        .h = h,
        .rounding = noise * (noise / ridge),
        .most = labels.most,
        .exhausted = exhausted,
        .none = same_centroid,
    };
    KFE_TRY(kfe_i_best_directions(ctx, &candidates, n, s->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &ridge, 1));
    KFE_TRY(centre_features(ctx, gram, image, out));
    KFE_TRY(kfe_i_solution_fix_signs(out));
cleanup:
    kfe_i_label_factor_free(&labels);
    kfe_i_arena_free(&memory);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const kfd_settings *s = settings;
    const kfe_i_ridge_problem problem = {
        .method = "kfd",
        .centred = 1,
        .label_kernel = "h2",
        .ridge = s->ridge,
        .dim = s->dim,
        .exhausted = exhausted,
        .none = same_centroid,
    };

    return s->ridge_on == RIDGE_ON_NORM ? kfe_i_ridge_fit(ctx, source, &problem, out)
                                        : fit_coefficients(ctx, source, s, out);
}

static kfe_i_use uses(const void *settings, kfe_i_offer offer, const char **why)
{
    const kfd_settings *s = settings;

    if (offer != KFE_OFFER_SUMS || !s || s->ridge_on == RIDGE_ON_NORM)
        return kfe_i_prefer_sums(settings, offer, why);
    *why = "kfd: a ridge on coefficients needs all rows in memory; use {ridge-on=norm}";
    return KFE_USE_NOT;
}

const kfe_i_method kfe_i_method_kfd = {
    .name = "kfd",
    .summary = "kernel Fisher discriminant, any number of classes, regularised",
    .reference = "Mika et al. 1999; Baudat & Anouar 2000; Park & Park 2002, section 4.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_SAMPLE_WEIGHTS,
    .feature = "LD",
    .params = KFE_PARAM_TABLE(rows, kfd_settings),
    .uses = uses,
    .fit = fit,
};
