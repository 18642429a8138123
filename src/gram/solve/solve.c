/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (G + λI) B = R for a block of right-hand sides.
 *
 * Up to 3,000 examples: Cholesky. Beyond: conjugate gradients on all right-hand sides at once, with one product
 * per iteration, preconditioned by FFᵀ + λI with F from randomly pivoted Cholesky. By Woodbury,
 *
 *     (FFᵀ + λI)⁻¹x = (x − F(FᵀF + λI)⁻¹Fᵀx)/λ,
 *
 * which costs O(nr). The rank r grows until the trace of G − FFᵀ is below λ (the preconditioner is then nearly
 * exact) or the limits on memory and rank are reached.
 *
 * Iterations may use a copy of the operator in single precision. An outer loop then computes the true residual in
 * double precision and solves for the correction until it is small enough (iterative refinement). The residual
 * that is reported is always the true one.
 *
 * Cost: iterations·(one product + 4nrk), memory n(r + 4k) doubles. Iterations do not allocate.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "gram/gram.h"
#include "gram/solve/pivot.h"

enum {
    DIRECT_SIZE = 3000, /* up to this size Cholesky is faster */
    MAX_RANK = 1000,
    MAX_ITERATIONS = 300,
    MAX_REFINEMENTS = 12
};
/* A residual above this is never explained by rounding. */
#define KFE_WORST_RESIDUAL 1e-6
/* The residual that one solution in single precision can reach. */
#define KFE_INNER_TOLERANCE 1e-5

/* One number for each right-hand side. */
typedef struct column_values {
    double *rho;    /* ⟨residual, z⟩ */
    double *alpha;  /* step length; also scratch */
    double *goal;   /* the residual norm to reach */
    double *length; /* the residual norm now */
} column_values;

typedef struct solve_state {
    kfe_context *ctx;
    const kfe_i_gram *exact; /* for true residuals */
    const kfe_i_gram *fast;  /* for iterations */
    int refined;             /* iterations are in single precision */
    double ridge;
    int64_t n, k;
    kfe_i_low_rank low_rank;
    double *core;                        /* Cholesky factor of FᵀF + λI, r × r */
    double *residual, *step, *image, *z; /* n × k */
    double *correction;                  /* n × k */
    double *small;                       /* r × k */
    column_values column;
    int iterations;
    double rounding; /* the relative residual that rounding alone may leave */
} solve_state;

/* ---- direct ---- */

static kfe_status direct_solve(const kfe_i_gram *gram, double ridge, const double *right, int64_t k,
                               double *out)
{
    kfe_status status = KFE_OK;
    double *matrix = NULL;
    int64_t n = gram->size;

    KFE_TRY(kfe_i_gram_materialise(gram, &matrix));
    for (int64_t i = 0; i < n; i++)
        matrix[i * n + i] += ridge;
    if (out != right)
        memcpy(out, right, (size_t)(n * k) * sizeof *out);
    KFE_TRY(kfe_i_checkpoint(gram->ctx, "factorising the kernel matrix", 0, 0));
    KFE_TRY(kfe_i_cholesky_solve(gram->ctx, n, matrix, k, out, "the kernel matrix plus the ridge"));
cleanup:
    kfe_i_free(gram->ctx, matrix);
    return status;
}

/* ---- blocks of columns ---- */

/* sums[j] = Σ_i a_ij b_ij */
static void column_products(int64_t n, int64_t k, const double *a, const double *b, double *sums)
{
    memset(sums, 0, (size_t)k * sizeof *sums);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            sums[j] += a[i * k + j] * b[i * k + j];
}

/* out = (G + λI) v by `gram`. */
static kfe_status apply(const solve_state *s, const kfe_i_gram *gram, const double *v, double *out)
{
    kfe_status status = kfe_i_gram_times(gram, v, s->k, out);

    for (int64_t i = 0; status == KFE_OK && i < s->n * s->k; i++)
        out[i] += s->ridge * v[i];
    return status;
}

/* ---- the preconditioner ---- */

static int64_t affordable_rank(const kfe_i_gram *gram)
{
    double tenth = 0.1 * (double)kfe_i_memory_left(gram->ctx);
    int64_t fits = (int64_t)(tenth / (8 * (double)gram->size));
    int64_t most = gram->size / 4 < MAX_RANK ? gram->size / 4 : MAX_RANK;

    return fits < 1 ? 1 : fits < most ? fits : most;
}

static kfe_i_columns factor_of(const solve_state *s)
{
    return kfe_i_strided(s->low_rank.factor, s->low_rank.rank, s->low_rank.capacity);
}

static kfe_status make_preconditioner(solve_state *s)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_pivoted_cholesky(s->fast, affordable_rank(s->fast), s->ridge, &s->low_rank));
    int64_t r = s->low_rank.rank;
    KFE_ALLOC(s->ctx, s->core, r * r + 1);
    KFE_ALLOC(s->ctx, s->small, r * s->k + 1);
    if (r == 0)
        return KFE_OK;
    kfe_i_inner_products(s->n, factor_of(s), factor_of(s), s->core);
    for (int64_t i = 0; i < r; i++)
        s->core[i * r + i] += s->ridge;
    KFE_TRY(kfe_i_cholesky(s->ctx, r, s->core, "the preconditioner"));
cleanup:
    return status;
}

/* z = λ(FFᵀ + λI)⁻¹ x; the factor λ changes nothing and keeps z of the size of x. */
static void precondition(const solve_state *s, const double *x, double *z)
{
    int64_t r = s->low_rank.rank;

    memcpy(z, x, (size_t)(s->n * s->k) * sizeof *z);
    if (r == 0)
        return;
    kfe_i_inner_products(s->n, factor_of(s), kfe_i_packed(x, s->k), s->small);
    kfe_i_solve_cholesky(r, s->core, s->k, s->small);
    kfe_i_combine(s->n, -1, factor_of(s), kfe_i_packed(s->small, s->k), 1, z);
}

/* ---- conjugate gradients ---- */

/* Per column: α_j = ρ_j / ⟨p_j, (G + λI)p_j⟩, or 0 once a column has converged or broken down. */
static void choose_steps(solve_state *s)
{
    column_products(s->n, s->k, s->step, s->image, s->column.alpha);
    for (int64_t j = 0; j < s->k; j++)
        s->column.alpha[j] = s->column.length[j] > s->column.goal[j] && s->column.alpha[j] > 0
                                 ? s->column.rho[j] / s->column.alpha[j]
                                 : 0;
}

static void advance(solve_state *s)
{
    int64_t k = s->k;

    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < k; j++) {
            s->correction[i * k + j] += s->column.alpha[j] * s->step[i * k + j];
            s->residual[i * k + j] -= s->column.alpha[j] * s->image[i * k + j];
        }
}

/* step = z + β step with β_j = ρ_j(new)/ρ_j. */
static void update_directions(solve_state *s)
{
    int64_t k = s->k;

    precondition(s, s->residual, s->z);
    column_products(s->n, k, s->residual, s->z, s->column.alpha);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < k; j++) {
            double beta = s->column.rho[j] > 0 ? s->column.alpha[j] / s->column.rho[j] : 0;
            s->step[i * k + j] = s->z[i * k + j] + beta * s->step[i * k + j];
        }
    memcpy(s->column.rho, s->column.alpha, (size_t)k * sizeof *s->column.rho);
}

/* Computes the norms of the residuals; returns how many columns have not converged. */
static int measure_residuals(solve_state *s)
{
    int unfinished = 0;

    column_products(s->n, s->k, s->residual, s->residual, s->column.length);
    for (int64_t j = 0; j < s->k; j++) {
        s->column.length[j] = sqrt(s->column.length[j]);
        unfinished += s->column.length[j] > s->column.goal[j];
    }
    return unfinished;
}

/* correction ≈ (G + λI)⁻¹ residual, until every column of the residual is below its goal. Overwrites the
 * residual. */
static kfe_status conjugate_gradients(solve_state *s, int most)
{
    kfe_status status = KFE_OK;

    memset(s->correction, 0, (size_t)(s->n * s->k) * sizeof *s->correction);
    memset(s->step, 0, (size_t)(s->n * s->k) * sizeof *s->step);
    memset(s->column.rho, 0, (size_t)s->k * sizeof *s->column.rho);
    for (int iteration = 0; measure_residuals(s) > 0 && iteration < most; iteration++) {
        update_directions(s);
        KFE_TRY(kfe_i_checkpoint(s->ctx, "solving", s->iterations++, 0));
        KFE_TRY(apply(s, s->fast, s->step, s->image));
        choose_steps(s);
        advance(s);
    }
cleanup:
    return status;
}

/* ---- refinement ---- */

/* residual = right − (G + λI)·out; *largest is the largest norm of a column, relative to that of `right`. Rounding
 * alone may leave about ε‖G‖‖x‖, and ‖G‖ is at most the trace. */
static kfe_status true_residual(solve_state *s, const double *right, const double *out, double *largest)
{
    kfe_status status = apply(s, s->exact, out, s->image);

    if (status != KFE_OK)
        return status;
    for (int64_t i = 0; i < s->n * s->k; i++)
        s->residual[i] = right[i] - s->image[i];
    column_products(s->n, s->k, s->residual, s->residual, s->column.length);
    column_products(s->n, s->k, right, right, s->column.alpha);
    column_products(s->n, s->k, out, out, s->column.rho);
    *largest = s->rounding = 0;
    for (int64_t j = 0; j < s->k; j++)
        if (s->column.alpha[j] > 0) {
            *largest = fmax(*largest, sqrt(s->column.length[j] / s->column.alpha[j]));
            s->rounding = fmax(s->rounding, 4 * DBL_EPSILON * (s->low_rank.whole + s->ridge) *
                                                sqrt(s->column.rho[j] / s->column.alpha[j]));
        }
    s->rounding = fmin(s->rounding, KFE_WORST_RESIDUAL);
    return KFE_OK;
}

static void set_goals(solve_state *s, const double *right, double tolerance)
{
    column_products(s->n, s->k, right, right, s->column.goal);
    column_products(s->n, s->k, s->residual, s->residual, s->column.length);
    for (int64_t j = 0; j < s->k; j++) {
        double wanted = 0.5 * tolerance * sqrt(s->column.goal[j]);
        double possible = s->refined ? KFE_INNER_TOLERANCE * sqrt(s->column.length[j]) : 0;
        s->column.goal[j] = fmax(wanted, possible);
    }
}

static kfe_status refine(solve_state *s, const double *right, double tolerance, double *out, double *reached)
{
    kfe_status status = KFE_OK;
    double before = INFINITY;

    memset(out, 0, (size_t)(s->n * s->k) * sizeof *out);
    memcpy(s->residual, right, (size_t)(s->n * s->k) * sizeof *out);
    *reached = 1;
    for (int pass = 0; pass < MAX_REFINEMENTS; pass++) {
        if (*reached <= tolerance || *reached >= 0.5 * before)
            break;
        before = *reached;
        set_goals(s, right, tolerance);
        KFE_TRY(conjugate_gradients(s, MAX_ITERATIONS));
        for (int64_t i = 0; i < s->n * s->k; i++)
            out[i] += s->correction[i];
        KFE_TRY(true_residual(s, right, out, reached));
    }
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status allocate(solve_state *s)
{
    kfe_status status = KFE_OK;
    double **blocks[] = {&s->residual, &s->step, &s->image, &s->z, &s->correction};
    double **rows[] = {&s->column.rho, &s->column.alpha, &s->column.goal, &s->column.length};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        KFE_ALLOC(s->ctx, *blocks[i], s->n * s->k);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        KFE_ALLOC(s->ctx, *rows[i], s->k);
cleanup:
    return status;
}

static void release(solve_state *s)
{
    double *blocks[] = {s->residual, s->step,       s->image,        s->z,           s->correction,   s->core,
                        s->small,    s->column.rho, s->column.alpha, s->column.goal, s->column.length};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(s->ctx, blocks[i]);
    kfe_i_low_rank_free(&s->low_rank);
}

static kfe_status iterative_solve(solve_state *s, const double *right, double tolerance, double *out,
                                  double *reached)
{
    kfe_status status = KFE_OK;

    s->refined = kfe_i_gram_is_single(s->fast);
    KFE_TRY(allocate(s));
    KFE_TRY(make_preconditioner(s));
    KFE_TRY(refine(s, right, tolerance, out, reached));
    kfe_i_log(s->ctx, KFE_LOG_INFO,
              "solve: %d iterations, preconditioner of rank %lld, relative residual %.1e", s->iterations,
              (long long)s->low_rank.rank, *reached);
cleanup:
    return status;
}

/* The residual of a solution that Cholesky computed, for callers that want it. */
static kfe_status measure_direct(const kfe_i_gram *gram, double ridge, const double *right, int64_t k,
                                 const double *out, double *residual)
{
    kfe_status status = KFE_OK;
    solve_state s = {.ctx = gram->ctx, .exact = gram, .ridge = ridge, .n = gram->size, .k = k};

    KFE_TRY(allocate(&s));
    KFE_TRY(true_residual(&s, right, out, residual));
cleanup:
    release(&s);
    return status;
}

/* Preconditioner, its working columns, and blocks of right-hand sides; the operator's own workspace is about
 * another block for each thread. */
static double bytes_needed(const kfe_i_gram *gram, int64_t k)
{
    double columns = (double)affordable_rank(gram) + 64 + (6.0 + kfe_context_threads(gram->ctx)) * (double)k;
    return 8.0 * (double)gram->size * columns;
}

kfe_status kfe_i_gram_solve(const kfe_i_gram *gram, double ridge, const double *right, int64_t k,
                            double tolerance, double *out, double *residual)
{
    kfe_status status = KFE_OK;
    kfe_i_kept kept = {0};
    solve_state s = {.ctx = gram->ctx, .ridge = ridge, .n = gram->size, .k = k};
    double reached = 0;

    assert(k >= 0 && right != out);
    assert(tolerance > 0);
    if (gram->size <= DIRECT_SIZE) {
        status = direct_solve(gram, ridge, right, k, out);
        return status == KFE_OK && residual ? measure_direct(gram, ridge, right, k, out, residual) : status;
    }
    KFE_TRY(kfe_i_check_memory(gram->ctx, bytes_needed(gram, k), "solving for so many right-hand sides",
                               "raise {memory}"));
    KFE_TRY(kfe_i_gram_keep(gram, bytes_needed(gram, k), &kept));
    s.fast = kept.gram;
    s.exact = kfe_i_gram_is_single(kept.gram) ? gram : kept.gram;
    KFE_TRY(iterative_solve(&s, right, tolerance, out, &reached));
    if (residual)
        *residual = reached;
    if (reached > fmax(tolerance, s.rounding))
        status = kfe_i_fail(gram->ctx, KFE_ENUMERIC,
                            "the solver reached a relative residual of %.1e, not %.1e; increase the ridge",
                            reached, tolerance);
cleanup:
    release(&s);
    kfe_i_gram_keep_free(&kept);
    return status;
}
