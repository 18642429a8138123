/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svm-joint and usvm-joint: the features for given SVMs, on the centred operator G of one kernel or a sum.
 *   svm-joint    maximise tr((Wᵀ(G+λI)W)⁻¹WᵀGAAᵀGW)             B = (G + λI)⁻¹GA
 *   usvm-joint   maximise tr(QᵀGAAᵀGQ) with Qᵀ(GG+ξG)Q = I      B = (G + ξI)⁻¹A
 * and in both H = AᵀGB. Where memory allows, the kernel K of the closed form (joint_kernel.c) is formed once, and
 *   svm-joint    B = (GA − KA)/λ
 *   usvm-joint   B = (A − KA)/ξ
 * costs O(n²m); else B is one block solve by the operator's own solver. GB is multiplied out, not derived from
 * the equation that B solves, so that the features are those that the model will have even where a tiny ridge
 * leaves nothing of B but rounding: the gap then tells.
 */
#include <cblas.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/joint/joint.h"
#include "method/joint/svm_choice.h"
#include "method/ridge/ridge.h"

/* Forming K takes n³ operations: at this size some twenty minutes on two cores. */
enum { FORMED_ROWS = 40000 };
/* The share of the memory limit that K may take. */
#define FORMED_SHARE 0.7
/* Share of the memory left for the span of features (joint_kernel.c), if K is not formed. */
#define SPAN_SHARE 0.4

/* Where the kernel is not positive definite, the ridge is raised until the sum is. */
static kfe_status form_with_ridge(kfe_i_joint_kernel *s)
{
    kfe_status status = KFE_OK;
    double before = s->ridge;

    while ((status = kfe_i_joint_form(s)) == KFE_ENUMERIC && s->ridge < 1e6 * before)
        s->ridge *= 4;
    if (status == KFE_OK && s->ridge > before)
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: the kernel is not positive definite, so the ridge was raised from %g to %g; prefer "
                  "kernels such as rbf or poly",
                  s->method, before, s->ridge);
    return status;
}

/* B from KA, without a solve. */
static kfe_status transform_by_kernel(kfe_i_joint_kernel *s, const double *right, const double *a, int64_t m,
                                      double *b)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_gram_times(s->formed, a, m, b));
    for (int64_t i = 0; i < s->n * m; i++)
        b[i] = (right[i] - b[i]) / s->ridge;
cleanup:
    return status;
}

kfe_status kfe_i_joint_transform(kfe_i_joint_kernel *s, const double *a, int64_t m, double *b, double *image)
{
    kfe_status status = KFE_OK;
    const double *right = a;

    if (!s->uncorrelated) {
        KFE_TRY(kfe_i_gram_times(s->gram, a, m, s->right));
        right = s->right;
    }
    if (s->formed)
        KFE_TRY(transform_by_kernel(s, right, a, m, b));
    else
        KFE_TRY(kfe_i_gram_solve(s->gram, s->ridge, right, m, KFE_TOLERANCE, b, NULL));
    KFE_TRY(kfe_i_gram_times(s->gram, b, m, image));
cleanup:
    return status;
}

static kfe_status find(void *user, const double *a, int64_t m, double *b, double *image, double *h)
{
    kfe_status status = KFE_OK;
    kfe_i_joint_kernel *s = user;

    KFE_TRY(kfe_i_joint_transform(s, a, m, b, image));
    kfe_i_inner_products(s->n, kfe_i_packed(a, m), kfe_i_packed(image, m), h);
    /* rounding must not make H asymmetric */
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++)
            h[i * m + j] = h[j * m + i] = (h[i * m + j] + h[j * m + i]) / 2;
cleanup:
    return status;
}

/* A ridge below the rounding of the entries would invert nothing but rounding. */
static kfe_status raise_tiny_ridge(kfe_i_joint_kernel *s, const kfe_i_gram *gram, double *rounding)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_gram_rounding(gram, rounding));
    if (s->ridge >= *rounding)
        return KFE_OK;
    if (s->uncorrelated)
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: {xi=%g} is below the rounding of the kernel matrix; it was raised to %g", s->method,
                  s->ridge, *rounding);
    else
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: {lambda=%g} is below the rounding of the kernel matrix; it was raised to %g",
                  s->method, s->ridge, *rounding);
    s->ridge = *rounding;
cleanup:
    return status;
}

/* Settings that are automatic. svm-joint keeps a small λ and takes C by leave-one-out, usvm-joint its ξ. */
static kfe_status choose_settings(kfe_i_joint_kernel *s, const kfe_i_fit_source *source, double *c)
{
    kfe_status status = KFE_OK;
    int needs_choice = s->uncorrelated ? s->ridge == KFE_RIDGE_AUTO : *c == KFE_SVM_C_AUTO;

    if (needs_choice)
        KFE_TRY(kfe_i_class_ridge(s->ctx, s->method, s->gram, source->target, &s->choice));
    if (s->uncorrelated && s->choice.rows > 0)
        s->ridge = s->choice.ridge;
    else
        KFE_TRY(kfe_i_gram_chosen_ridge(s->gram, s->ridge, &s->ridge));
    if (*c == KFE_SVM_C_AUTO)
        *c = s->uncorrelated ? KFE_SHRUNK_SVM_C : kfe_i_svm_c(&s->choice);
cleanup:
    return status;
}

static kfe_status open_kernel(kfe_i_joint_kernel *s, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                              double *c, double *rounding)
{
    kfe_status status = KFE_OK;
    double matrix = 8 * (double)s->n * (double)s->n;
    int is_formed = s->n <= FORMED_ROWS && matrix <= FORMED_SHARE * (double)kfe_i_memory_left(s->ctx);
    double later = is_formed ? matrix : SPAN_SHARE * (double)kfe_i_memory_left(s->ctx);

    KFE_TRY(kfe_i_gram_centred(s->ctx, gram, &s->centred));
    KFE_TRY(kfe_i_gram_keep(s->centred, KFE_KEEP_ANY, later, &s->kept));
    s->gram = s->kept.gram;
    KFE_ALLOC(s->ctx, s->right, s->n * source->target->class_count);
    KFE_TRY(choose_settings(s, source, c));
    KFE_TRY(raise_tiny_ridge(s, gram, rounding));
    if (is_formed)
        KFE_TRY(form_with_ridge(s));
cleanup:
    return status;
}

/* What the kernel of the closed form makes of an eigenvalue of G that is rounding alone:
 *   svm-joint    δ²/(δ + λ)
 *   usvm-joint   δ/(δ + ξ)
 */
static double rounding_of_kernel(const kfe_i_joint_kernel *s, double rounding)
{
    double share = rounding / (rounding + s->ridge);

    return s->uncorrelated ? share : rounding * share;
}

kfe_status kfe_i_joint_fit_kernel(kfe_context *ctx, const kfe_i_fit_source *source,
                                  const kfe_i_joint_settings *settings, kfe_i_joint_kernel *s,
                                  kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_joint_settings chosen = *settings;
    kfe_i_joint_method method = {.name = s->method, .find = find, .solve = kfe_i_joint_solve, .user = s};
    const kfe_i_gram *gram = NULL;

    s->ctx = ctx;
    KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
    method.roots = gram->roots;
    s->n = gram->size;
    s->max_iterations = settings->max_iterations;
    KFE_TRY(open_kernel(s, source, gram, &chosen.c, &method.rounding));
    method.rounding = rounding_of_kernel(s, method.rounding);
    KFE_TRY(kfe_i_joint_fit(ctx, &method, source->target, &chosen, out));
    KFE_TRY(kfe_i_solution_centre(out, s->centred));
    KFE_TRY(kfe_i_solution_record(out, s->uncorrelated ? "xi" : "lambda", &s->ridge, 1));
    KFE_TRY(kfe_i_loo_record(out, &s->choice));
cleanup:
    kfe_i_gram_free(s->formed);
    kfe_i_table_free(&s->values);
    kfe_i_free(ctx, s->right);
    kfe_i_gram_keep_free(&s->kept);
    kfe_i_gram_free(s->centred);
    return status;
}
