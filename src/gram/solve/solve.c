/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solves (G + λI)B = R for a block of right-hand sides, in the way that is predicted to be fastest (cost.h); refine.c corrects the solution
 * until its true residual is small. Methods call kfe_i_gram_solve.
 *
 *     Cholesky in double precision: n³/3 operations, 8n² bytes.
 *     Cholesky in single precision, as the preconditioner of conjugate gradients: half the time, a quarter of the memory
 *         (precondition.h), and a few iterations, since only rounding keeps the preconditioner from being exact.
 *     Conjugate gradients with FFᵀ + λI as preconditioner, F from randomly pivoted Cholesky (landmark/rpcholesky.h): for spectra that
 *         fall fast below λ, and for matrices too large to factor. If its rate shows that a factorisation would be
 *         faster, it gives way to that.
 *     In a cluster, the second way with a factor that is divided over the processes (cluster/divided_factor.h).
 *
 * Problems of up to 3,000 examples always take the first way, which gives the same bits every time; above, the choice
 * depends on measured rates, so that two runs may differ within the tolerance.
 */
#include "gram/solve/solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "gram/cluster/cluster_solve.h"
#include "gram/cluster/divided_factor.h"
#include "gram/dense/linalg.h"
#include "gram/device/solve.h"
#include "gram/form/landmarks.h"
#include "gram/solve/cost.h"
#include "gram/solve/refine.h"

enum {
    DIRECT_SIZE = 3000, /* up to this size Cholesky takes a tenth of a second, less than choosing well */
    LEAST_PROBE = 32, /* rank of the factor that shows the decay of the spectrum: n/64 within these bounds */
    MOST_PROBE = 256,
    MAX_ITERATIONS = 300
};
/* The low-rank factor takes at most this share of the memory that is left. */
#define KFE_FACTOR_SHARE 0.3

/* ScaLAPACK on p processes is predicted to take this many p-ths of the time of one process: they wait for each other, and for a core if
 * they share it. A cautious choice: on a busy machine two processes took six times as long as one (bench/RESULTS.md). */
#define KFE_DIVISION_LOSS 3.0

/* Predictions for conjugate gradients may be too low by this. */
#define KFE_DOUBT 1.5

static const char *const way_names[KFE_SOLVE_WAYS] = {
    "",
    "Cholesky in double precision",
    "Cholesky in single precision and conjugate gradients",
    "conjugate gradients",
    "divided Cholesky in single precision and conjugate gradients",
};

/* What each way is predicted to take; INFINITY: it does not fit in memory. */
typedef struct plan {
    kfe_i_cost cost;
    double seconds[KFE_SOLVE_WAYS];
    int64_t rank;
} plan;

/* ---- Cholesky in double precision ---- */

/* Whether ScaLAPACK factors the matrix on all processes: if that is predicted to be faster, or no process can hold it. */
static int uses_scalapack(const kfe_i_solver *s)
{
    double whole = 8.0 * (double)s->n * (double)s->n;

    return s->n > DIRECT_SIZE && kfe_i_cluster_solves(s->ctx) &&
           (kfe_i_ranks(s->ctx) > KFE_DIVISION_LOSS || whole > 0.5 * (double)kfe_context_memory(s->ctx));
}

/* Leaves `out` as it was if the matrix is not positive definite. */
static kfe_status solve_f64(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;
    double *matrix = NULL;
    double *solution = NULL;
    int64_t n = s->n;

    KFE_ALLOC(s->ctx, solution, n * s->k);
    if (uses_scalapack(s)) {
        memcpy(solution, s->right, (size_t)(n * s->k) * sizeof *solution);
        KFE_TRY(kfe_i_cluster_solve(s->exact, s->ridge, s->k, solution));
        memcpy(s->out, solution, (size_t)(n * s->k) * sizeof *solution);
        s->report.way = KFE_SOLVE_F64;
        goto cleanup;
    }
    KFE_TRY(kfe_i_gram_materialise(s->exact, &matrix));
    for (int64_t i = 0; i < n; i++)
        matrix[i * n + i] += s->ridge;
    memcpy(solution, s->right, (size_t)(n * s->k) * sizeof *solution);
    KFE_TRY(kfe_i_checkpoint(s->ctx, "factorising the kernel matrix", 0, 0));
    KFE_TRY(kfe_i_cholesky_solve(s->ctx, n, matrix, s->k, solution, "the kernel matrix plus the ridge"));
    memcpy(s->out, solution, (size_t)(n * s->k) * sizeof *solution);
    s->report.way = KFE_SOLVE_F64;
cleanup:
    kfe_i_free(s->ctx, matrix);
    kfe_i_free(s->ctx, solution);
    return status;
}

/* ---- Cholesky in single precision ---- */

static kfe_status solve_f32(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;
    kfe_i_single_factor factor = {0};
    int definite = 0;

    KFE_TRY(kfe_i_single_factor_new(s->exact, s->ridge, s->k, &factor, &definite));
    if (!definite)
        return KFE_OK;
    KFE_TRY(kfe_i_solver_correct(s, kfe_i_single_preconditioner(&factor)));
    s->report.way = KFE_SOLVE_F32;
cleanup:
    kfe_i_single_factor_free(&factor);
    return status;
}

static kfe_status solve_divided(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;
    kfe_i_divided_factor factor = {0};
    int definite = 0;

    KFE_TRY(kfe_i_divided_factor_new(s->exact, s->ridge, s->k, &factor, &definite));
    if (!definite)
        return KFE_OK;
    KFE_TRY(kfe_i_solver_correct(s, kfe_i_divided_preconditioner(&factor)));
    s->report.way = KFE_SOLVE_DIVIDED;
cleanup:
    kfe_i_divided_factor_free(&factor);
    return status;
}

/* ---- conjugate gradients ---- */

static kfe_i_solve_way fastest_factor(const plan *p)
{
    kfe_i_solve_way single =
        p->seconds[KFE_SOLVE_DIVIDED] < p->seconds[KFE_SOLVE_F32] ? KFE_SOLVE_DIVIDED : KFE_SOLVE_F32;

    return p->seconds[single] <= p->seconds[KFE_SOLVE_F64] ? single : KFE_SOLVE_F64;
}

static kfe_status solve_cg(kfe_i_solver *s, const plan *p)
{
    kfe_status status = KFE_OK;
    kfe_i_woodbury woodbury = {0};
    kfe_i_cg_end end = KFE_CG_CONVERGED;
    const kfe_i_gram *fast = s->kept.gram;

    KFE_TRY(kfe_i_rpcholesky_grow(fast, p->rank, s->ridge, &s->low_rank));
    s->report.rank = s->low_rank.rank;
    KFE_TRY(kfe_i_woodbury_new(&s->low_rank, s->ridge, s->k, kfe_i_own_share(s->ctx), &woodbury));
    kfe_i_cg_problem problem = {.gram = fast,
                                .ridge = s->ridge,
                                .k = s->k,
                                .preconditioner = kfe_i_woodbury_preconditioner(&woodbury),
                                .most = MAX_ITERATIONS,
                                .rival = p->seconds[fastest_factor(p)]};
    KFE_TRY(kfe_i_solver_iterate(s, &problem, &end));
    s->report.way = KFE_SOLVE_CG;
    if (end == KFE_CG_LOSING)
        kfe_i_log(s->ctx, KFE_LOG_INFO,
                  "solve: after %d iterations the relative residual is %.1e; a factorisation is predicted to "
                  "be faster",
                  s->report.iterations, s->report.residual);
cleanup:
    kfe_i_woodbury_free(&woodbury);
    kfe_i_rpcholesky_free(&s->low_rank);
    return status;
}

/* ---- the choice ---- */

/* The blocks of all ways, and the workspace of the operator, about another block for each thread. */
static double block_bytes(const kfe_i_solver *s)
{
    return 8.0 * (double)s->n * (7.0 + kfe_context_threads(s->ctx)) * (double)s->k;
}

static double f64_bytes(const kfe_i_solver *s)
{
    double matrix =
        uses_scalapack(s) ? kfe_i_cluster_solve_bytes(s->ctx, s->n, s->k) : 8.0 * (double)s->n * (double)s->n;

    return matrix + block_bytes(s);
}

static double f32_bytes(const kfe_i_solver *s)
{
    return kfe_i_single_factor_bytes(s->n, s->k) + block_bytes(s);
}

static double divided_bytes(const kfe_i_solver *s)
{
    return kfe_i_divided_factor_bytes(kfe_i_ranks(s->ctx), s->n, s->k) + block_bytes(s);
}

static double factor_bytes(const kfe_i_solver *s, kfe_i_solve_way way)
{
    return way == KFE_SOLVE_F32 ? f32_bytes(s) : way == KFE_SOLVE_DIVIDED ? divided_bytes(s) : f64_bytes(s);
}

static int fits(const kfe_i_solver *s, double bytes)
{
    return bytes <= (double)kfe_i_memory_left(s->ctx);
}

/* Columns that a low-rank factor may have: n/4, or what fits. */
static int64_t affordable_rank(const kfe_i_solver *s)
{
    double fits = KFE_FACTOR_SHARE * (double)kfe_i_memory_left(s->ctx) / (8 * (double)s->n);
    double most = fmin(fits, (double)s->n / 4);

    return most < 1 ? 1 : (int64_t)most;
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

/* Keeps a copy of the matrix; one in single precision is not used for residuals. */
static kfe_status keep(kfe_i_solver *s, double reserve)
{
    kfe_status status = kfe_i_gram_keep(s->gram, reserve, &s->kept);

    if (status == KFE_OK)
        s->exact = kfe_i_gram_is_single(s->kept.gram) ? s->gram : s->kept.gram;
    return status;
}

/* Keeps the matrix in double precision if there is room for it beside `reserve` bytes; the ways that factor it make
 * only a few passes and do not gain from less. */
static kfe_status keep_exact(kfe_i_solver *s, double reserve)
{
    if (s->kept.gram != s->gram || !kfe_i_gram_wide_fits(s->gram, reserve))
        return KFE_OK;
    return keep(s, reserve);
}

static kfe_status keep_for_iterations(kfe_i_solver *s, int64_t rank)
{
    if (s->kept.gram != s->gram)
        return KFE_OK;
    return keep(s, block_bytes(s) + 8.0 * (double)s->n * (double)(rank + 128));
}

/* The predictions for all ways. Evaluates the matrix once if it fits. */
static kfe_status make_plan(kfe_i_solver *s, plan *p)
{
    kfe_status status = KFE_OK;
    kfe_i_decay decay = {0};
    kfe_i_stamp start = kfe_i_start_clock(s->ctx);

    KFE_TRY(keep_exact(s, kfe_i_ranks(s->ctx) > 1 ? divided_bytes(s) : f32_bytes(s)));
    KFE_TRY(kfe_i_cost_of(s->exact, s->ridge, s->k, s->tolerance, &p->cost));
    KFE_TRY(probe(s, affordable_rank(s), &decay));
    p->seconds[KFE_SOLVE_F64] = fits(s, f64_bytes(s)) ? kfe_i_f64_seconds(&p->cost) : INFINITY;
    if (uses_scalapack(s))
        p->seconds[KFE_SOLVE_F64] *= KFE_DIVISION_LOSS / kfe_i_ranks(s->ctx);
    p->seconds[KFE_SOLVE_F32] = fits(s, f32_bytes(s)) ? kfe_i_f32_seconds(&p->cost, &decay) : INFINITY;
    if (kfe_i_ranks(s->ctx) > 1 && fits(s, divided_bytes(s)))
        p->seconds[KFE_SOLVE_DIVIDED] = kfe_i_divided_seconds(&p->cost, &decay);
    p->seconds[KFE_SOLVE_CG] = kfe_i_cg_seconds(&p->cost, &decay, affordable_rank(s), &p->rank);
    double spent = kfe_i_seconds_since(s->ctx, start);
    for (int way = KFE_SOLVE_F64; way < KFE_SOLVE_WAYS; way++)
        p->seconds[way] += spent;
cleanup:
    return status;
}

/* Iterations are harder to predict than factorisations, and so they must be predicted to be clearly faster. */
static kfe_i_solve_way fastest(const plan *p)
{
    kfe_i_solve_way direct = fastest_factor(p);

    return KFE_DOUBT * p->seconds[KFE_SOLVE_CG] < p->seconds[direct] ? KFE_SOLVE_CG : direct;
}

static void log_plan(const kfe_i_solver *s, const plan *p, kfe_i_solve_way way)
{
    char text[128];
    size_t length = 0;
    int divided = kfe_i_ranks(s->ctx) > 1;

    for (int other = KFE_SOLVE_F64; other < (divided ? KFE_SOLVE_WAYS : KFE_SOLVE_DIVIDED); other++) {
        const char *separator = other == KFE_SOLVE_F64 ? "" : " / ";
        int added =
            isinf(p->seconds[other])
                ? snprintf(text + length, sizeof text - length, "%stoo large", separator)
                : snprintf(text + length, sizeof text - length, "%s%.2g s", separator, p->seconds[other]);
        length += (size_t)added;
    }
    kfe_i_log(
        s->ctx, KFE_LOG_INFO,
        "solve: %s, predicted %.2g s (double / single precision / conjugate gradients with rank %lld%s: %s)",
        way_names[way], p->seconds[way], (long long)p->rank, divided ? " / divided" : "", text);
}

/* ---- all together ---- */

static kfe_status run_way(kfe_i_solver *s, const plan *p, kfe_i_solve_way way)
{
    kfe_status status = KFE_OK;

    if (way == KFE_SOLVE_CG) {
        KFE_TRY(keep_for_iterations(s, p->rank));
        return solve_cg(s, p);
    }
    kfe_i_rpcholesky_free(&s->low_rank);
    if (way == KFE_SOLVE_F32)
        return solve_f32(s);
    if (way == KFE_SOLVE_DIVIDED)
        return solve_divided(s);
    KFE_TRY(solve_f64(s));
    KFE_TRY(kfe_i_true_residual(s));
cleanup:
    return status;
}

static void drop_copy(kfe_i_solver *s)
{
    kfe_i_gram_keep_free(&s->kept);
    s->kept.gram = s->exact = s->gram;
}

static kfe_status run_single_factor(kfe_i_solver *s, const plan *p)
{
    if (kfe_i_ranks(s->ctx) > 1 && fits(s, divided_bytes(s)))
        return run_way(s, p, KFE_SOLVE_DIVIDED);
    return fits(s, f32_bytes(s)) ? run_way(s, p, KFE_SOLVE_F32) : KFE_OK;
}

/* Tries a way and, if it does not reach the tolerance, those that remain: each factorisation is more robust than what
 * comes before it. */
static kfe_status run_ways(kfe_i_solver *s, const plan *p, kfe_i_solve_way way)
{
    kfe_status status = run_way(s, p, way);

    if (status == KFE_OK && !kfe_i_is_solved(s) && way == KFE_SOLVE_CG) {
        if (!kfe_i_gram_is_single(s->kept.gram) || s->kept.gram == s->gram)
            s->exact = s->kept.gram;
        else
            drop_copy(s);
        status = run_single_factor(s, p);
    }
    if (status != KFE_OK || kfe_i_is_solved(s) || way == KFE_SOLVE_F64 || !fits(s, f64_bytes(s)))
        return status;
    status = run_way(s, p, KFE_SOLVE_F64);
    return status == KFE_ENUMERIC ? KFE_OK : status; /* what the iterations reached is reported */
}

static kfe_status begin(kfe_i_solver *s)
{
    kfe_status status = KFE_OK;

    s->kept.gram = s->exact = s->gram;
    KFE_TRY(kfe_i_solver_allocate(s));
    KFE_TRY(kfe_i_gram_mean_diagonal(s->gram, &s->mean));
    kfe_i_solver_start_over(s);
cleanup:
    return status;
}

/* The least that iterations need; more only makes them faster. */
static kfe_status check_memory(const kfe_i_solver *s)
{
    return kfe_i_check_memory(s->ctx, block_bytes(s) + 8.0 * (double)s->n * 128,
                              "solving for so many right-hand sides", "raise {memory}");
}

static kfe_status choose_and_run(kfe_i_solver *s, kfe_i_solve_way way)
{
    kfe_status status = KFE_OK;
    plan p = {.seconds = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}};

    KFE_TRY(check_memory(s));
    KFE_TRY(begin(s));
    if (way == KFE_SOLVE_AUTO) {
        KFE_TRY(make_plan(s, &p));
        way = fastest(&p);
        s->report.predicted = p.seconds[way];
        log_plan(s, &p, way);
    } else {
        if (way != KFE_SOLVE_CG)
            KFE_TRY(keep_exact(s, factor_bytes(s, way)));
        p.rank = affordable_rank(s) < s->n / 8 ? affordable_rank(s) : s->n / 8;
    }
    s->report.first = way;
    KFE_TRY(run_ways(s, &p, way));
    if (!kfe_i_is_solved(s))
        KFE_FAIL(s->ctx, KFE_ENUMERIC,
                 "the solver reached a relative residual of %.1e, not %.1e; increase the ridge",
                 s->report.residual, s->tolerance);
cleanup:
    return status;
}

/* Up to DIRECT_SIZE: Cholesky, and the residual only for callers that want it. */
static kfe_status solve_small(kfe_i_solver *s, int measured)
{
    kfe_status status = KFE_OK;

    s->exact = s->gram;
    KFE_TRY(solve_f64(s));
    if (!measured)
        return KFE_OK;
    KFE_TRY(kfe_i_solver_allocate(s));
    KFE_TRY(kfe_i_true_residual(s));
cleanup:
    return status;
}

kfe_status kfe_i_gram_solve_by(const kfe_i_gram *gram, double ridge, const double *right, int64_t k,
                               double tolerance, double *out, kfe_i_solve_way way, kfe_i_solve_report *report)
{
    kfe_i_solver s = {.ctx = gram->ctx,
                      .gram = gram,
                      .ridge = ridge,
                      .tolerance = tolerance,
                      .right = right,
                      .n = gram->size,
                      .k = k,
                      .out = out};
    kfe_i_stamp start = kfe_i_start_clock(s.ctx);
    int done = 0;
    int small = way == KFE_SOLVE_AUTO && gram->size <= DIRECT_SIZE;

    assert(k >= 0 && right != out);
    assert(tolerance > 0);
    kfe_status status = KFE_OK;
    if (way == KFE_SOLVE_AUTO)
        status = kfe_i_device_solve(&(kfe_i_system){gram, ridge, tolerance, right, k, out}, &s.report, &done);
    if (status == KFE_OK && !done)
        status = small ? solve_small(&s, report != NULL) : choose_and_run(&s, way);
    s.report.seconds = kfe_i_seconds_since(s.ctx, start);
    if (!small && !done && status == KFE_OK)
        kfe_i_log(s.ctx, KFE_LOG_INFO, "solve: %s: %d iterations, relative residual %.1e, %.2f s",
                  way_names[s.report.way], s.report.iterations, s.report.residual, s.report.seconds);
    if (report)
        *report = s.report;
    kfe_i_solver_free(&s);
    return status;
}

kfe_status kfe_i_gram_solve(const kfe_i_gram *gram, double ridge, const double *right, int64_t k,
                            double tolerance, double *out, double *residual)
{
    kfe_i_solve_report report = {0};
    kfe_status status;

    if (kfe_i_gram_has_landmarks(gram, NULL))
        return kfe_i_landmark_solve(gram, ridge, right, k, tolerance, out, residual);
    status =
        kfe_i_gram_solve_by(gram, ridge, right, k, tolerance, out, KFE_SOLVE_AUTO, residual ? &report : NULL);
    if (residual)
        *residual = report.residual;
    return status;
}
