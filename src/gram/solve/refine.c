/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The true residual of a solution, and corrections until it is small enough. Called by solve.c.
 *
 * Iterations may use a copy of the operator in single precision. An outer loop then computes the true residual in double
 * precision and solves for the correction until it is small enough (iterative refinement). The residual that is
 * reported is always the true one.
 */
#include "gram/solve/refine.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

enum {
    FACTOR_ITERATIONS = 60, /* with a factorisation as the preconditioner */
    MAX_REFINEMENTS = 12
};
/* The residual that one solution in single precision can reach. */
#define KFE_INNER_TOLERANCE 1e-5

kfe_i_system kfe_i_system_of(const kfe_i_solver *s)
{
    return (kfe_i_system){s->exact, s->ridge, s->tolerance, s->right, s->k, s->out};
}

static double column_norm(const kfe_i_solver *s, const double *block, int64_t j)
{
    return kfe_i_column_norm(block, s->n, s->k, j);
}

kfe_status kfe_i_solver_allocate(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;

    if (s->goals)
        return KFE_OK;
    KFE_ALLOC(s->ctx, s->residual, s->n * s->k);
    KFE_ALLOC(s->ctx, s->product, s->n * s->k);
    KFE_ALLOC(s->ctx, s->goals, s->k);
cleanup:
    return status;
}

void kfe_i_solver_free(kfe_i_solver *s)
{
    kfe_i_free(s->ctx, s->residual);
    kfe_i_free(s->ctx, s->product);
    kfe_i_free(s->ctx, s->goals);
    kfe_i_cg_work_free(s->work);
    kfe_i_rpcholesky_free(&s->low_rank);
    kfe_i_gram_keep_free(&s->kept);
}

/* Rounding alone may leave about ε‖G‖‖x‖, and ‖G‖ is at most the trace. */
kfe_status kfe_i_true_residual(kfe_i_solver *s)
{
    const kfe_i_system system = kfe_i_system_of(s);
    kfe_status status = kfe_i_residual(&system, s->residual, &s->effort.residual);
    double scale = 4 * DBL_EPSILON * (s->mean * (double)s->n + s->ridge);

    if (status != KFE_OK)
        return status;
    s->rounding = 0;
    for (int64_t j = 0; j < s->k; j++) {
        double right = column_norm(s, s->right, j);
        if (right > 0)
            s->rounding = fmax(s->rounding, scale * column_norm(s, s->out, j) / right);
    }
    s->rounding = fmin(s->rounding, KFE_WORST_RESIDUAL);
    return KFE_OK;
}

int kfe_i_is_solved(const kfe_i_solver *s)
{
    return s->effort.residual <= fmax(s->tolerance, s->rounding);
}

void kfe_i_solver_start_over(kfe_i_solver *s)
{
    memset(s->out, 0, (size_t)(s->n * s->k) * sizeof *s->out);
    memcpy(s->residual, s->right, (size_t)(s->n * s->k) * sizeof *s->residual);
    s->effort.residual = 1;
}

/* ---- iterations ---- */

static void set_goals(kfe_i_solver *s, int single)
{
    for (int64_t j = 0; j < s->k; j++) {
        double wanted = 0.5 * s->tolerance * column_norm(s, s->right, j);
        double possible = single ? KFE_INNER_TOLERANCE * column_norm(s, s->residual, j) : 0;
        s->goals[j] = fmax(wanted, possible);
    }
}

kfe_status kfe_i_solver_iterate(kfe_i_solver *s, kfe_i_cg_problem *problem, kfe_i_cg_end *end)
{
    kfe_status status = KFE_OK;
    int single = problem->gram != s->exact; /* a copy that has lost digits */
    double before = INFINITY;

    if (!s->work)
        KFE_TRY(kfe_i_cg_work_new(s->ctx, s->n, s->k, &s->work));
    for (int pass = 0; pass < MAX_REFINEMENTS; pass++) {
        if (s->effort.residual <= s->tolerance || s->effort.residual >= 0.5 * before)
            break;
        before = s->effort.residual;
        set_goals(s, single);
        problem->goals = s->goals;
        KFE_TRY(kfe_i_block_cg(problem, s->work, s->residual, s->out, end, &s->effort.iterations));
        KFE_TRY(kfe_i_true_residual(s));
        if (*end == KFE_CG_LOSING || *end == KFE_CG_INDEFINITE)
            break;
    }
cleanup:
    return status;
}

/* Plain iterative refinement, out += M⁻¹·residual, while a step gains a digit: it needs one product fewer than conjugate
 * gradients. If the residual exceeds the right-hand side in the end, the solution is zero again. */
static kfe_status correct(kfe_i_solver *s, kfe_i_preconditioner inverse)
{
    enum { MOST_STEPS = 6 };
    kfe_status status = KFE_OK;
    double before = INFINITY;

    for (int step = 0; step < MOST_STEPS && s->effort.residual > s->tolerance; step++) {
        if (!(s->effort.residual <= 0.1 * before))
            break;
        before = s->effort.residual;
        KFE_TRY(kfe_i_progress(s->ctx, "solving", s->effort.iterations++, 0));
        KFE_TRY(inverse.apply(inverse.state, s->k, s->residual, s->product));
        for (int64_t i = 0; i < s->n * s->k; i++)
            s->out[i] += s->product[i];
        KFE_TRY(kfe_i_true_residual(s));
    }
    if (!(s->effort.residual <= 1))
        kfe_i_solver_start_over(s);
cleanup:
    return status;
}

kfe_status kfe_i_solver_correct(kfe_i_solver *s, kfe_i_preconditioner inverse)
{
    kfe_status status = KFE_OK;
    kfe_i_cg_end end = KFE_CG_CONVERGED;
    kfe_i_cg_problem problem = {.gram = s->exact,
                                .ridge = s->ridge,
                                .k = s->k,
                                .preconditioner = inverse,
                                .most = FACTOR_ITERATIONS,
                                .rival = INFINITY};

    KFE_TRY(correct(s, inverse));
    if (!kfe_i_is_solved(s))
        KFE_TRY(kfe_i_solver_iterate(s, &problem, &end));
cleanup:
    return status;
}
