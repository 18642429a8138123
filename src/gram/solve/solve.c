/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solves (G + λI)B = R for a block of right-hand sides, in the way that is predicted to be fastest (cost.h); refine.c corrects the solution
 * until its true residual is small. Methods call kfe_i_gram_solve, which comes here unless the operator knows better.
 *
 *     Cholesky in double precision: n³/3 operations, 8n² bytes.
 *     Cholesky in single precision, as the preconditioner of conjugate gradients: half the time, a quarter of the memory
 *         (precondition.h), and a few iterations, since only rounding keeps the preconditioner from being exact.
 *     Conjugate gradients with FFᵀ + λI as preconditioner, F from randomly pivoted Cholesky (landmark/rpcholesky.h): for spectra that
 *         fall fast below λ, and for matrices too large to factor. If its rate shows that a factorisation would be
 *         faster, it gives way to that.
 *     In a cluster also the second way with a factor that is divided over the processes (cluster/divided_factor.h).
 *
 * Problems of up to 3,000 examples always take the first way, which gives the same bits every time; above, the choice
 * depends on measured rates, so that two runs may differ within the tolerance.
 */
#include "gram/solve/solve.h"

#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "gram/solve/ways.h"
#include "linalg/linalg.h"

enum {
    DIRECT_SIZE = 3000, /* up to this size Cholesky takes a tenth of a second, less than choosing well */
    LEAST_PROBE = 32, /* rank of the factor that shows the decay of the spectrum: n/64 within these bounds */
    MOST_PROBE = 256,
    MAX_ITERATIONS = 300
};
/* The low-rank factor takes at most this share of the memory that is left. */
#define KFE_FACTOR_SHARE 0.3

/* ---- residuals ---- */

double kfe_i_column_norm(const double *block, int64_t n, int64_t k, int64_t j)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += block[i * k + j] * block[i * k + j];
    return sqrt(sum);
}

kfe_status kfe_i_residual(const kfe_i_system *system, double *residual, double *worst)
{
    int64_t n = system->gram->size;
    int64_t k = system->k;
    kfe_status status = kfe_i_gram_times(system->gram, system->out, k, residual);

    if (status != KFE_OK)
        return status;
    for (int64_t i = 0; i < n * k; i++)
        residual[i] = system->right[i] - residual[i] - system->ridge * system->out[i];
    *worst = 0;
    for (int64_t j = 0; j < k; j++) {
        double right = kfe_i_column_norm(system->right, n, k, j);
        if (right > 0)
            *worst = fmax(*worst, kfe_i_column_norm(residual, n, k, j) / right);
    }
    return KFE_OK;
}

/* ---- Cholesky ---- */

/* Leaves `out` as it was if the matrix is not positive definite. */
static kfe_status solve_directly(const kfe_i_system *system)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = system->gram->ctx;
    double *matrix = NULL;
    double *solution = NULL;
    int64_t n = system->gram->size;
    int64_t k = system->k;

    KFE_ALLOC(ctx, solution, n * k);
    KFE_TRY(kfe_i_gram_materialise(system->gram, &matrix));
    for (int64_t i = 0; i < n; i++)
        matrix[i * n + i] += system->ridge;
    memcpy(solution, system->right, (size_t)(n * k) * sizeof *solution);
    KFE_TRY(kfe_i_progress(ctx, "factorising the kernel matrix", 0, 0));
    KFE_TRY(kfe_i_cholesky_solve(ctx, n, matrix, k, solution, "the kernel matrix plus the ridge"));
    memcpy(system->out, solution, (size_t)(n * k) * sizeof *solution);
cleanup:
    kfe_i_free(ctx, matrix);
    kfe_i_free(ctx, solution);
    return status;
}

static kfe_status solve_f64(kfe_i_solver *s)
{
    const kfe_i_system system = kfe_i_system_of(s);
    kfe_status status = solve_directly(&system);

    if (status != KFE_OK)
        return status;
    s->effort.way = KFE_SOLVE_F64;
    return kfe_i_true_residual(s);
}

static double f64_bytes(const kfe_i_solver *s)
{
    return 8.0 * (double)s->n * (double)s->n;
}

static double f64_seconds(kfe_i_solver *s, const kfe_i_cost *cost, const kfe_i_decay *decay)
{
    (void)s;
    (void)decay;
    return kfe_i_f64_seconds(cost);
}

const kfe_i_way kfe_i_way_f64 = {.id = KFE_SOLVE_F64,
                                 .name = "Cholesky in double precision",
                                 .robustness = 2,
                                 .doubt = 1,
                                 .bytes = f64_bytes,
                                 .seconds = f64_seconds,
                                 .solve = solve_f64};

static kfe_status solve_f32(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;
    kfe_i_single_factor factor = {0};
    int definite = 0;

    KFE_TRY(kfe_i_single_factor_new(s->exact, s->ridge, s->k, &factor, &definite));
    if (!definite)
        return KFE_OK;
    KFE_TRY(kfe_i_solver_correct(s, kfe_i_single_preconditioner(&factor)));
    s->effort.way = KFE_SOLVE_F32;
cleanup:
    kfe_i_single_factor_free(&factor);
    return status;
}

static double f32_bytes(const kfe_i_solver *s)
{
    return kfe_i_single_factor_bytes(s->n, s->k);
}

static double f32_seconds(kfe_i_solver *s, const kfe_i_cost *cost, const kfe_i_decay *decay)
{
    (void)s;
    return kfe_i_f32_seconds(cost, decay);
}

const kfe_i_way kfe_i_way_f32 = {.id = KFE_SOLVE_F32,
                                 .name = "Cholesky in single precision and conjugate gradients",
                                 .robustness = 1,
                                 .doubt = 1,
                                 .bytes = f32_bytes,
                                 .seconds = f32_seconds,
                                 .solve = solve_f32};

/* ---- conjugate gradients ---- */

/* The blocks of all ways, and the workspace of the operator, about another block for each thread. */
static double block_bytes(const kfe_i_solver *s)
{
    return 8.0 * (double)s->n * (7.0 + kfe_context_threads(s->ctx)) * (double)s->k;
}

/* Columns that a low-rank factor may have: n/4, or what fits. */
static int64_t affordable_rank(const kfe_i_solver *s)
{
    double fit = KFE_FACTOR_SHARE * (double)kfe_i_memory_left(s->ctx) / (8 * (double)s->n);
    double most = fmin(fit, (double)s->n / 4);

    return most < 1 ? 1 : (int64_t)most;
}

/* Keeps a copy of the matrix, unless there is one. */
static kfe_status keep(kfe_i_solver *s, kfe_i_keep_how how, double reserve)
{
    kfe_status status = KFE_OK;

    if (!s->kept.stored)
        status = kfe_i_gram_keep(s->gram, how, reserve, &s->kept);
    if (status == KFE_OK)
        s->exact = s->kept.exact;
    return status;
}

static kfe_status iterate(kfe_i_solver *s, kfe_i_woodbury *woodbury)
{
    kfe_status status = KFE_OK;
    kfe_i_cg_end end = KFE_CG_CONVERGED;
    kfe_i_cg_problem problem = {.gram = s->kept.gram,
                                .ridge = s->ridge,
                                .k = s->k,
                                .preconditioner = kfe_i_woodbury_preconditioner(woodbury),
                                .most = MAX_ITERATIONS,
                                .rival = s->rival};

    KFE_TRY(kfe_i_solver_iterate(s, &problem, &end));
    if (end == KFE_CG_LOSING)
        kfe_i_log(s->ctx, KFE_LOG_INFO,
                  "solve: after %d iterations the relative residual is %.1e; a factorisation is predicted to "
                  "be faster",
                  s->effort.iterations, s->effort.residual);
cleanup:
    return status;
}

/* A copy in single precision is of no use to the factorisations that may follow. */
static void drop_rounded_copy(kfe_i_solver *s)
{
    if (s->kept.exact != s->kept.gram) {
        kfe_i_gram_keep_free(&s->kept);
        s->kept = (kfe_i_kept){.gram = s->gram, .exact = s->gram};
    }
    s->exact = s->kept.gram;
}

static kfe_status solve_cg(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;
    kfe_i_woodbury woodbury = {0};

    KFE_TRY(keep(s, KFE_KEEP_ANY, block_bytes(s) + 8.0 * (double)s->n * (double)(s->rank + 128)));
    KFE_TRY(kfe_i_rpcholesky_grow(s->kept.gram, s->rank, s->ridge, &s->low_rank));
    s->effort.rank = s->low_rank.rank;
    KFE_TRY(kfe_i_woodbury_new(&s->low_rank, s->ridge, s->k, kfe_i_own_share(s->ctx), &woodbury));
    s->effort.way = KFE_SOLVE_CG;
    KFE_TRY(iterate(s, &woodbury));
    drop_rounded_copy(s);
cleanup:
    kfe_i_woodbury_free(&woodbury);
    kfe_i_rpcholesky_free(&s->low_rank);
    return status;
}

/* The rank is chosen by what fits. */
static double cg_bytes(const kfe_i_solver *s)
{
    (void)s;
    return 0;
}

static double cg_seconds(kfe_i_solver *s, const kfe_i_cost *cost, const kfe_i_decay *decay)
{
    return kfe_i_cg_seconds(cost, decay, affordable_rank(s), &s->rank);
}

const kfe_i_way kfe_i_way_cg = {.id = KFE_SOLVE_CG,
                                .name = "conjugate gradients",
                                .robustness = 0,
                                .doubt = 1.5, /* iterations are harder to predict than factorisations */
                                .bytes = cg_bytes,
                                .seconds = cg_seconds,
                                .solve = solve_cg};

static const kfe_i_way *const ways_of_one_process[] = {&kfe_i_way_f64, &kfe_i_way_f32, &kfe_i_way_cg, NULL};

/* ---- the choice ---- */

static double bytes_of(const kfe_i_solver *s, const kfe_i_way *way)
{
    return way->bytes(s) + block_bytes(s);
}

static int fits(const kfe_i_solver *s, const kfe_i_way *way)
{
    return bytes_of(s, way) <= (double)kfe_i_memory_left(s->ctx);
}

/* Keeps the matrix in double precision if there is room for it beside the factor; ways that factor it make only a few passes and
 * do not gain from less. */
static kfe_status keep_exact(kfe_i_solver *s, const kfe_i_way *way)
{
    return keep(s, KFE_KEEP_DOUBLE, bytes_of(s, way));
}

/* The decay of the spectrum, from factors of two small ranks. */
static kfe_status probe(kfe_i_solver *s, int64_t most, kfe_i_decay *out)
{
    kfe_status status = KFE_OK;
    int64_t rank = s->n / 64;
    double half = 0;

    rank = rank < LEAST_PROBE ? LEAST_PROBE : rank > MOST_PROBE ? MOST_PROBE : rank;
    rank = rank > most ? most : rank;
    KFE_TRY(kfe_i_rpcholesky_grow(s->exact, (rank + 1) / 2, s->ridge, &s->low_rank));
    half = s->low_rank.left;
    out->rank = fmax(1, (double)s->low_rank.rank);
    KFE_TRY(kfe_i_rpcholesky_grow(s->exact, rank, s->ridge, &s->low_rank));
    out->trace = s->low_rank.left;
    double doubled = fmax(1, (double)s->low_rank.rank) / out->rank;
    out->slope = doubled > 1 && out->trace > 0 ? log(half / out->trace) / log(doubled) : 8;
    out->rank = fmax(1, (double)s->low_rank.rank);
cleanup:
    return status;
}

/* The last way of the list that makes a factor: it takes the least memory. */
static const kfe_i_way *smallest_factor(const kfe_i_solver *s)
{
    const kfe_i_way *found = s->ways[0];

    for (int w = 1; s->ways[w]; w++)
        found = s->ways[w]->robustness > 0 ? s->ways[w] : found;
    return found;
}

/* What a way is predicted to take in all; INFINITY: it does not fit in memory. */
static double predict(kfe_i_solver *s, const kfe_i_way *way, const kfe_i_cost *cost, const kfe_i_decay *decay)
{
    double seconds = fits(s, way) ? way->seconds(s, cost, decay) : INFINITY;

    kfe_i_log(s->ctx, KFE_LOG_DEBUG, "solve: %s: predicted %.2g s", way->name, seconds);
    return seconds;
}

/* Evaluates the matrix once if it fits, and finds the fastest way. */
static kfe_status choose(kfe_i_solver *s, const kfe_i_way **out)
{
    kfe_status status = KFE_OK;
    kfe_i_cost cost = {0};
    kfe_i_decay decay = {0};
    kfe_i_stamp start = kfe_i_start_clock(s->ctx);
    double best = INFINITY;

    KFE_TRY(keep_exact(s, smallest_factor(s)));
    KFE_TRY(kfe_i_cost_of(s->exact, s->ridge, s->k, s->tolerance, &cost));
    KFE_TRY(probe(s, affordable_rank(s), &decay));
    double spent = kfe_i_seconds_since(s->ctx, start);
    for (int w = 0; s->ways[w]; w++) {
        double seconds = spent + predict(s, s->ways[w], &cost, &decay);
        if (s->ways[w]->robustness > 0)
            s->rival = fmin(s->rival, seconds);
        if (w == 0 || s->ways[w]->doubt * seconds <= best) {
            *out = s->ways[w];
            best = s->effort.predicted = seconds;
        }
    }
    kfe_i_log(s->ctx, KFE_LOG_INFO, "solve: %s, predicted %.2g s", (*out)->name, best);
cleanup:
    return status;
}

/* The more robust way, of the least robust ones that fit. */
static const kfe_i_way *fallback(const kfe_i_solver *s, const kfe_i_way *way)
{
    const kfe_i_way *found = NULL;

    for (int w = 0; s->ways[w]; w++)
        if (s->ways[w]->robustness > way->robustness && fits(s, s->ways[w]) &&
            (!found || s->ways[w]->robustness <= found->robustness))
            found = s->ways[w];
    return found;
}

/* Tries a way and, if it does not reach the tolerance, those that are more robust. What the first one reached is reported if they fail. */
static kfe_status run_ways(kfe_i_solver *s, const kfe_i_way *way)
{
    kfe_status status = KFE_OK;
    int first = 1;

    for (; way && (first || !kfe_i_is_solved(s)); way = fallback(s, way), first = 0) {
        if (way->robustness > 0)
            kfe_i_rpcholesky_free(&s->low_rank);
        status = way->solve(s);
        if (status == KFE_ENUMERIC && !first)
            return KFE_OK;
        KFE_TRY(status);
    }
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status begin(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;

    /* the least that iterations need; more only makes them faster */
    KFE_TRY(kfe_i_check_memory(s->ctx, block_bytes(s) + 8.0 * (double)s->n * 128,
                               "solving for so many right-hand sides", "raise {memory}"));
    KFE_TRY(kfe_i_solver_allocate(s));
    KFE_TRY(kfe_i_gram_mean_diagonal(s->gram, &s->mean));
    kfe_i_solver_start_over(s);
cleanup:
    return status;
}

static const kfe_i_way *way_of(const kfe_i_solver *s, kfe_i_solve_way id)
{
    for (int w = 0; s->ways[w]; w++)
        if (s->ways[w]->id == id)
            return s->ways[w];
    return s->ways[0];
}

static kfe_status choose_and_run(kfe_i_solver *s, kfe_i_solve_way id)
{
    kfe_status status = KFE_OK;
    const kfe_i_way *way = NULL;

    KFE_TRY(begin(s));
    if (id == KFE_SOLVE_AUTO) {
        KFE_TRY(choose(s, &way));
    } else {
        way = way_of(s, id);
        if (way->robustness > 0)
            KFE_TRY(keep_exact(s, way));
        s->rank = affordable_rank(s) < s->n / 8 ? affordable_rank(s) : s->n / 8;
    }
    s->effort.first = way->id;
    KFE_TRY(run_ways(s, way));
    if (!kfe_i_is_solved(s))
        KFE_FAIL(s->ctx, KFE_ENUMERIC,
                 "the solver reached a relative residual of %.1e, not %.1e; increase the ridge",
                 s->effort.residual, s->tolerance);
    s->effort.seconds = kfe_i_seconds_since(s->ctx, s->start);
    kfe_i_log(s->ctx, KFE_LOG_INFO, "solve: %s: %d iterations, relative residual %.1e, %.2f s",
              way_of(s, s->effort.way)->name, s->effort.iterations, s->effort.residual, s->effort.seconds);
cleanup:
    return status;
}

/* Up to DIRECT_SIZE: Cholesky, and the residual only for callers that want it. */
static kfe_status solve_small(const kfe_i_system *system, kfe_i_solve_effort *effort)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = system->gram->ctx;
    double *residual = NULL;

    KFE_TRY(solve_directly(system));
    if (effort) {
        *effort = (kfe_i_solve_effort){.way = KFE_SOLVE_F64};
        KFE_ALLOC(ctx, residual, system->gram->size * system->k);
        KFE_TRY(kfe_i_residual(system, residual, &effort->residual));
    }
cleanup:
    kfe_i_free(ctx, residual);
    return status;
}

kfe_status kfe_i_solve_by(const kfe_i_system *system, kfe_i_solve_way way, kfe_i_solve_effort *effort)
{
    const kfe_i_gram *gram = system->gram;

    if (way == KFE_SOLVE_AUTO && gram->size <= DIRECT_SIZE)
        return solve_small(system, effort);
    kfe_i_solver s = {.ctx = gram->ctx,
                      .gram = gram,
                      .ridge = system->ridge,
                      .tolerance = system->tolerance,
                      .right = system->right,
                      .n = gram->size,
                      .k = system->k,
                      .out = system->out,
                      .kept = {.gram = gram, .exact = gram},
                      .exact = gram,
                      .ways = gram->ways ? gram->ways : ways_of_one_process,
                      .rival = INFINITY,
                      .start = kfe_i_start_clock(gram->ctx)};
    kfe_status status = choose_and_run(&s, way);

    if (effort)
        *effort = s.effort;
    kfe_i_solver_free(&s);
    return status;
}
