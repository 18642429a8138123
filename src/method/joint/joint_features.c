/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subspace step of svm-joint and usvm-joint, on the centred operator G of one kernel or a sum.
 *   svm-joint    maximise tr((Wᵀ(G+λI)W)⁻¹WᵀGAAᵀGW): B = (G + λI)⁻¹GA, H = AᵀGB, and GB = GA − λB
 *   usvm-joint   maximise tr(QᵀGAAᵀGQ) with Qᵀ(GG+ξG)Q = I: B = (G + ξI)⁻¹A, H = AᵀGB, and GB = A − ξB
 * The matrix is the same in every iteration: up to FACTORED_ROWS examples it is factored once, and an
 * iteration costs O(n²c); beyond, an iteration is one block solve by the operator's own solver.
 */
#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "gram/basis.h"
#include "gram/linalg.h"
#include "method/joint/joint.h"
#include "method/ridge/ridge.h"

enum { FACTORED_ROWS = 5000 };

typedef struct plain {
    kfe_context *ctx;
    const char *method;
    kfe_i_gram *centred;
    kfe_i_kept kept;
    const kfe_i_gram *gram;
    int64_t n;
    int uncorrelated;
    double ridge;
    double *factor;          /* Cholesky factor of G + ridge·I; NULL: solved by the operator */
    double *right, *scratch; /* n × classes */
} plain;

/* Where the kernel is not positive definite, the ridge is raised until the sum is. */
static kfe_status factorise(plain *s)
{
    kfe_status status = KFE_OK;
    double before = s->ridge;

    do {
        kfe_i_free(s->ctx, s->factor);
        s->factor = NULL;
        KFE_TRY(kfe_i_gram_materialise(s->gram, &s->factor));
        for (int64_t i = 0; i < s->n; i++)
            s->factor[i * s->n + i] += s->ridge;
        status = kfe_i_cholesky(s->ctx, s->n, s->factor, "the centred kernel plus the ridge");
        s->ridge *= status == KFE_ENUMERIC ? 4 : 1;
    } while (status == KFE_ENUMERIC && s->ridge < 1e6 * before);
    if (status == KFE_OK && s->ridge > before)
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: the kernel is not positive definite, so the ridge was raised from %g to %g; prefer "
                  "kernels such as rbf or poly",
                  s->method, before, s->ridge);
cleanup:
    return status;
}

static kfe_status solve(const plain *s, const double *right, int64_t m, double *out)
{
    if (!s->factor)
        return kfe_i_gram_solve(s->gram, s->ridge, right, m, KFE_TOLERANCE, out, NULL);
    memcpy(out, right, (size_t)(s->n * m) * sizeof *out);
    kfe_i_solve_cholesky(s->n, s->factor, m, out);
    return KFE_OK;
}

/* B and GB for A. */
static kfe_status transform(plain *s, const double *a, int64_t m, double *b, double *image)
{
    kfe_status status = KFE_OK;
    const double *right = a;

    if (!s->uncorrelated) {
        KFE_TRY(kfe_i_gram_times(s->gram, a, m, s->right));
        right = s->right;
    }
    KFE_TRY(solve(s, right, m, b));
    for (int64_t i = 0; i < s->n * m; i++)
        image[i] = right[i] - s->ridge * b[i];
cleanup:
    return status;
}

static kfe_status apply(void *user, const double *a, int64_t m, double *image)
{
    plain *s = user;
    return transform(s, a, m, s->scratch, image);
}

static kfe_status find(void *user, const double *a, int64_t m, double *b, double *image, double *h)
{
    kfe_status status = KFE_OK;
    plain *s = user;

    KFE_TRY(transform(s, a, m, b, image));
    kfe_i_inner_products(s->n, m, a, m, m, image, m, h);
    /* rounding must not make H asymmetric */
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++)
            h[i * m + j] = h[j * m + i] = (h[i * m + j] + h[j * m + i]) / 2;
cleanup:
    return status;
}

static kfe_status open_state(plain *s, const kfe_i_problem *problem, double ridge)
{
    kfe_status status = KFE_OK;
    double n = (double)s->n;

    KFE_TRY(kfe_i_gram_centred(s->ctx, problem->gram, &s->centred));
    KFE_TRY(kfe_i_gram_keep(s->centred, s->n <= FACTORED_ROWS ? 8 * n * n : 0, &s->kept));
    s->gram = s->kept.gram;
    KFE_ALLOC(s->ctx, s->right, s->n * problem->target->class_count);
    KFE_ALLOC(s->ctx, s->scratch, s->n * problem->target->class_count);
    KFE_TRY(kfe_i_gram_chosen_ridge(s->gram, ridge, &s->ridge));
    if (s->n <= FACTORED_ROWS)
        KFE_TRY(factorise(s));
cleanup:
    return status;
}

kfe_status kfe_i_joint_plain(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                             const kfe_i_joint_settings *settings, double ridge, int uncorrelated,
                             kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    plain s = {.ctx = ctx, .method = method, .n = problem->gram->size, .uncorrelated = uncorrelated};
    kfe_i_subspace_step step = {.find = find, .apply = apply, .user = &s};

    KFE_TRY(open_state(&s, problem, ridge));
    KFE_TRY(kfe_i_gram_rounding(problem->gram, &step.rounding));
    if (uncorrelated)
        step.rounding /= s.ridge;
    KFE_TRY(kfe_i_joint_fit(ctx, method, problem->target, settings, &step, out));
    KFE_TRY(kfe_i_solution_centre(out, s.centred));
    KFE_TRY(kfe_i_solution_record(out, uncorrelated ? "xi" : "lambda", &s.ridge, 1));
cleanup:
    kfe_i_free(ctx, s.factor);
    kfe_i_free(ctx, s.right);
    kfe_i_free(ctx, s.scratch);
    kfe_i_gram_keep_free(&s.kept);
    kfe_i_gram_free(s.centred);
    return status;
}
