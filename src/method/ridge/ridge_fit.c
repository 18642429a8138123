/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of kfd, kopls, hsic and uhsic: the block solve of ridge.h, and what to do when the kernel is not
 * positive definite. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/dense/basis.h"
#include "gram/solve/positive.h"
#include "method/ridge/leave_one_out.h"
#include "method/ridge/ridge.h"

typedef struct ridge_state {
    kfe_context *ctx;
    const kfe_i_ridge_problem *problem;
    kfe_i_kept kept; /* the operator, in memory where that is cheap */
    kfe_i_gram *centred;
    kfe_i_positive positive;
    const kfe_i_gram *gram; /* G: one of these three */
    double ridge, residual;
    kfe_i_loo_choice choice; /* rows 0: the ridge was not chosen by leave-one-out */
    double mean;             /* mean diagonal of G */
    double noise;            /* what rounding makes of a zero eigenvalue of the kernel matrix */
    double *b, *image;       /* B and GL or GB, n × m */
    double *small;           /* H, m × m */
} ridge_state;

static void free_state(ridge_state *s)
{
    kfe_i_gram_free(s->centred);
    kfe_i_gram_keep_free(&s->kept);
    kfe_i_positive_free(&s->positive);
    kfe_i_free(s->ctx, s->b);
    kfe_i_free(s->ctx, s->image);
    kfe_i_free(s->ctx, s->small);
}

/* Row means, products and the solver each pass over the operator. If the matrix and the solver's factor of it
 * take at most half of the memory, kernels are evaluated once; otherwise the solver keeps what fits. */
static kfe_status keep_matrix(ridge_state *s)
{
    const kfe_i_gram *gram = s->problem->gram;
    double n = (double)gram->size;
    double matrix = kfe_i_gram_packed_bytes(gram->size, 0);
    double later = 8 * n * n + 80 * n * (double)s->problem->columns;

    s->kept.gram = gram;
    if (matrix + later > 0.5 * (double)kfe_i_memory_left(s->ctx) || !kfe_i_gram_wide_fits(gram, later))
        return KFE_OK;
    return kfe_i_gram_keep(gram, later, &s->kept);
}

static kfe_status open_operator(ridge_state *s)
{
    kfe_status status = KFE_OK;

    KFE_TRY(keep_matrix(s));
    s->gram = s->kept.gram;
    if (s->problem->centred) {
        KFE_TRY(kfe_i_gram_centred(s->ctx, s->kept.gram, &s->centred));
        s->gram = s->centred;
    }
    KFE_TRY(kfe_i_gram_rounding(s->problem->gram, &s->noise));
cleanup:
    return status;
}

static void set_ridge(ridge_state *s)
{
    s->ridge = s->choice.rows > 0 ? s->choice.ridge : kfe_i_chosen_ridge(s->problem->ridge, s->mean, 1);
}

static kfe_status leave_one_out(ridge_state *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_ridge_problem *p = s->problem;
    const kfe_i_loo_problem problem = {.gram = s->kept.gram,
                                       .centred = p->centred,
                                       .targets = p->targets,
                                       .columns = p->columns,
                                       .rule = p->on_images ? KFE_LOO_SMALLEST_RIDGE
                                                            : kfe_i_loo_feature_rule(p->classes)};

    if (p->ridge != KFE_RIDGE_AUTO)
        return KFE_OK;
    KFE_TRY(kfe_i_loo_choose(s->ctx, &problem, &s->choice));
    if (s->choice.rows > 0)
        kfe_i_log(s->ctx, KFE_LOG_INFO, "%s: ridge %g, chosen by leave-one-out on %lld of %lld examples",
                  p->method, s->choice.ridge, (long long)s->choice.rows, (long long)s->gram->size);
cleanup:
    return status;
}

static kfe_status use_positive_part(ridge_state *s)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_positive_part(s->ctx, s->problem->method, s->gram, &s->positive));
    s->gram = s->positive.gram;
    KFE_TRY(kfe_i_gram_mean_diagonal(s->gram, &s->mean));
    set_ridge(s);
cleanup:
    return status;
}

/* A diagonal of zeros or less means equal examples, unless the kernel is not positive definite. */
static kfe_status check_that_examples_differ(const ridge_state *s)
{
    kfe_status status = KFE_OK;
    double squared_norm = 0;

    if (s->mean > s->noise)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_squared_norm(s->gram, &squared_norm));
    if (!(sqrt(squared_norm) > (double)s->gram->size * s->noise))
        KFE_FAIL(s->ctx, KFE_EINPUT, "%s: all examples are the same to the kernel; there is nothing to learn",
                 s->problem->method);
cleanup:
    return status;
}

/* Leave-one-out comes after the check: it would take the rounding errors of equal examples for a kernel. */
static kfe_status choose_ridge(ridge_state *s)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_gram_mean_diagonal(s->gram, &s->mean));
    KFE_TRY(check_that_examples_differ(s));
    KFE_TRY(leave_one_out(s));
    set_ridge(s);
    if (s->choice.indefinite || !(s->mean > s->noise))
        KFE_TRY(use_positive_part(s));
cleanup:
    return status;
}

static kfe_status make_workspace(ridge_state *s)
{
    kfe_status status = KFE_OK;
    int64_t size = s->gram->size * s->problem->columns;

    KFE_ALLOC(s->ctx, s->b, size);
    KFE_ALLOC(s->ctx, s->image, size);
    KFE_ALLOC(s->ctx, s->small, s->problem->columns * s->problem->columns);
cleanup:
    return status;
}

/* B and H. */
static kfe_status solve(ridge_state *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->gram->size;
    int64_t m = s->problem->columns;
    const double *l = s->problem->targets;

    if (s->problem->on_images) {
        KFE_TRY(kfe_i_gram_times(s->gram, l, m, s->image));
        KFE_TRY(kfe_i_gram_solve(s->gram, s->ridge, s->image, m, KFE_TOLERANCE, s->b, &s->residual));
        kfe_i_inner_products(n, kfe_i_packed(s->image, m), kfe_i_packed(s->b, m), s->small);
    } else {
        KFE_TRY(kfe_i_gram_solve(s->gram, s->ridge, l, m, KFE_TOLERANCE, s->b, &s->residual));
        KFE_TRY(kfe_i_gram_times(s->gram, s->b, m, s->image));
        kfe_i_inner_products(n, kfe_i_packed(l, m), kfe_i_packed(s->image, m), s->small);
    }
cleanup:
    return status;
}

/* KFE_ENUMERIC means that G + ρI is not positive definite: solve again on the positive part of G. */
static kfe_status solve_or_use_positive_part(ridge_state *s)
{
    kfe_status status = solve(s);

    if (status == KFE_ENUMERIC && !s->positive.gram) {
        KFE_TRY(use_positive_part(s));
        status = solve(s);
    }
    if (status == KFE_OK && s->positive.gram)
        KFE_TRY(kfe_i_positive_project(&s->positive, s->b, s->problem->columns));
cleanup:
    return status;
}

/*
 * Criteria are compared with rounding after division by their upper bound:
 *     L:   G(G + ρI)⁻¹ ≼ I,        so λ ≤ ‖L‖²
 *     GL:  G(G + ρI)⁻¹G ≼ tr(G)·I,  so λ ≤ ‖L‖² tr(G)
 */
static kfe_status make_solution(ridge_state *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_ridge_problem *p = s->problem;
    int64_t n = s->gram->size;
    double trace = s->mean * kfe_i_gram_mass(s->gram);
    kfe_i_candidates candidates = {
        .method = p->method,
        .rows = n,
        .count = p->columns,
        .b = s->b,
        .h = s->small,
        .scale = p->squared_norm * (p->on_images ? trace : 1),
        .rounding =
            p->on_images ? s->noise * (s->noise / (s->noise + s->ridge)) / trace : s->noise / s->ridge,
        .most = p->most,
        .exhausted = p->exhausted,
        .none = p->none,
    };

    cblas_dscal((blasint)(p->columns * p->columns), 1 / candidates.scale, s->small, 1);
    KFE_TRY(kfe_i_best_directions(s->ctx, &candidates, n, p->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &s->ridge, 1));
    KFE_TRY(kfe_i_solution_record(out, "residual", &s->residual, 1));
    KFE_TRY(kfe_i_loo_record(out, &s->choice));
    if (s->centred)
        KFE_TRY(kfe_i_solution_centre(out, s->centred));
    kfe_i_solution_fix_signs(out);
cleanup:
    return status;
}

kfe_status kfe_i_ridge_fit(kfe_context *ctx, const kfe_i_ridge_problem *problem, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    ridge_state s = {.ctx = ctx, .problem = problem};

    KFE_TRY(open_operator(&s));
    KFE_TRY(choose_ridge(&s));
    KFE_TRY(make_workspace(&s));
    KFE_TRY(solve_or_use_positive_part(&s));
    KFE_TRY(make_solution(&s, out));
cleanup:
    free_state(&s);
    return status;
}
