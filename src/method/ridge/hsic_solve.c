/* SPDX-License-Identifier: Apache-2.0 */
#include "method/ridge/hsic_solve.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/basis.h"
#include "gram/positive.h"
#include "method/ridge/label_kernel.h"
#include "method/ridge/ridge.h"

typedef struct dependence_state {
    kfe_context *ctx;
    const kfe_i_dependence *what;
    kfe_i_kept kept; /* of the operator, where that is cheap */
    kfe_i_gram *centred;
    const kfe_i_gram *gram; /* the centred operator, or its positive part */
    kfe_i_positive positive;
    kfe_i_label_factor labels; /* L, divided by the root of `scale` */
    double scale;              /* what eigenvalues are divided by, so that none is above one */
    double ridge, rounding;
    double *b, *image; /* n × m: B, and GB (uhsic) or GL (hsic) */
    double *small;     /* m × m */
} dependence_state;

static void free_state(dependence_state *s)
{
    kfe_i_gram_free(s->centred);
    kfe_i_gram_keep_free(&s->kept);
    kfe_i_positive_free(&s->positive);
    kfe_i_label_factor_free(&s->labels);
    kfe_i_free(s->ctx, s->b);
    kfe_i_free(s->ctx, s->image);
    kfe_i_free(s->ctx, s->small);
}

/* λ or ξ, the rounding of the operator, and the scale: G(G + λI)⁻¹G ≤ G ≤ tr(G), and G(G + ξI)⁻¹ ≤ 1. */
static kfe_status measure(dependence_state *s, const kfe_i_gram *plain)
{
    kfe_status status = KFE_OK;
    double mean = 0;

    KFE_TRY(kfe_i_gram_mean_diagonal(s->centred, &mean));
    KFE_TRY(kfe_i_gram_rounding(plain, &s->rounding));
    if (!(mean > s->rounding))
        KFE_FAIL(s->ctx, KFE_EINPUT, "%s: all examples are the same to the kernel; there is nothing to learn",
                 s->what->method);
    double trace = mean * (double)plain->size;
    s->ridge = kfe_i_chosen_ridge(s->what->ridge, mean, 1);
    s->scale = s->labels.squared_norm * (s->what->uncorrelated ? 1 : trace);
    if (s->what->uncorrelated)
        s->rounding /= s->ridge;
    else
        s->rounding *= s->rounding / (s->rounding + s->ridge) / trace;
    cblas_dscal((blasint)(s->labels.rows * s->labels.rank), 1 / sqrt(s->scale), s->labels.values, 1);
cleanup:
    return status;
}

/* Means, right-hand side and solver each pass over the operator. Where the matrix and a copy of it leave half
 * of the memory, kernels are evaluated once; else the solver keeps what fits. */
static kfe_status keep(dependence_state *s, const kfe_i_gram *plain)
{
    double n = (double)plain->size;
    double needed = 16 * n * n + 80 * n * (double)s->labels.rank;

    s->kept.gram = plain;
    if (needed > 0.5 * (double)kfe_context_memory(s->ctx))
        return KFE_OK;
    return kfe_i_gram_keep(plain, needed - 8 * n * n, &s->kept);
}

static kfe_status begin(kfe_context *ctx, const kfe_i_problem *problem, dependence_state *s)
{
    kfe_status status = KFE_OK;
    int64_t n = problem->gram->size;

    s->ctx = ctx;
    KFE_TRY(
        kfe_i_label_factor_make(ctx, s->what->method, problem->target, s->what->label_kernel, &s->labels));
    KFE_TRY(keep(s, problem->gram));
    KFE_TRY(kfe_i_gram_centred(ctx, s->kept.gram, &s->centred));
    s->gram = s->centred;
    KFE_TRY(measure(s, problem->gram));
    KFE_ALLOC(ctx, s->b, n * s->labels.rank);
    KFE_ALLOC(ctx, s->image, n * s->labels.rank);
    KFE_ALLOC(ctx, s->small, s->labels.rank * s->labels.rank);
cleanup:
    return status;
}

/* B and M. */
static kfe_status solve(dependence_state *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->gram->size;
    int64_t m = s->labels.rank;
    const double *l = s->labels.values;

    if (s->what->uncorrelated) {
        KFE_TRY(kfe_i_gram_solve(s->gram, s->ridge, l, m, KFE_TOLERANCE, s->b, NULL));
        for (int64_t i = 0; i < n * m; i++) /* what was solved says it without a product */
            s->image[i] = l[i] - s->ridge * s->b[i];
        kfe_i_inner_products(n, m, l, m, m, s->image, m, s->small);
    } else {
        KFE_TRY(kfe_i_gram_times(s->gram, l, m, s->image));
        KFE_TRY(kfe_i_gram_solve(s->gram, s->ridge, s->image, m, KFE_TOLERANCE, s->b, NULL));
        kfe_i_inner_products(n, m, s->image, m, m, s->b, m, s->small);
    }
cleanup:
    return status;
}

/* A solve that fails for the sake of numbers met a negative eigenvalue of G + λI: without those, again. */
static kfe_status solve_surely(dependence_state *s)
{
    kfe_status status = solve(s);

    if (status != KFE_ENUMERIC)
        return status;
    KFE_TRY(kfe_i_positive_part(s->ctx, s->what->method, s->centred, &s->positive));
    s->gram = s->positive.gram;
    KFE_TRY(solve(s));
    KFE_TRY(kfe_i_positive_project(&s->positive, s->b, s->labels.rank));
cleanup:
    return status;
}

static kfe_status directions(dependence_state *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_candidates candidates = {
        .method = s->what->method,
        .rows = s->gram->size,
        .count = s->labels.rank,
        .b = s->b,
        .h = s->small,
        .rounding = s->rounding,
        .most = s->labels.most,
        .exhausted = "the target depends on the data in no more directions",
        .none = "the data says nothing about the target: their covariance is zero up to rounding",
    };

    KFE_TRY(kfe_i_best_directions(s->ctx, &candidates, s->gram->size, s->what->dim, out));
    /* what was divided to judge rounding is multiplied again */
    for (int64_t j = 0; j < out->dim; j++)
        out->records[0].values[j] *= s->scale;
    KFE_TRY(kfe_i_solution_record(out, "ridge", &s->ridge, 1));
    KFE_TRY(kfe_i_solution_centre(out, s->centred));
    kfe_i_solution_fix_signs(out);
cleanup:
    return status;
}

kfe_status kfe_i_dependence_fit(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_dependence *what,
                                kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    dependence_state state = {.ctx = ctx, .what = what};

    KFE_TRY(begin(ctx, problem, &state));
    KFE_TRY(solve_surely(&state));
    KFE_TRY(directions(&state, out));
cleanup:
    free_state(&state);
    return status;
}
