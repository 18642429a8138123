/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breakdown-free block conjugate gradients (Ji & Li, 2017), with a preconditioner M; solve.c uses it for all iterations.
 *
 *     Z = M⁻¹R,  P = orth(Z + Pβ),      β = −(PᵀAP)⁻¹(AP)ᵀZ
 *     X ← X + Pα,  R ← R − APα,         α = (PᵀAP)⁻¹PᵀR
 *
 * The columns of R become dependent when some of them have converged, and PᵀAP would become singular. orth() therefore
 * keeps only independent directions: a pivoted Cholesky factorisation of ZᵀZ, whose columns are scaled to unit length,
 * shows which they are (QR with column pivoting by way of normal equations); it is done twice for orthogonality.
 *
 * Cost of an iteration: one product, one preconditioning and 16nk² operations. Iterations do not allocate.
 */
#include "gram/solve/block_cg.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/resume.h"
#include "gram/solve/cost.h"
#include "linalg/basis.h"

/* The rate of convergence is not reliable before this many iterations. */
enum { LEAST_ITERATIONS = 10 };
/* A direction is dependent if orthogonalisation leaves less than this share of its squared length. */
#define DEPENDENT 1e-12

struct kfe_i_cg_work {
    kfe_context *ctx;
    int64_t n, k, rank;      /* rank: directions in use */
    double *step, *image;    /* P and AP, n × rank */
    double *z;               /* n × k */
    double *curvature;       /* Cholesky factor of PᵀAP */
    double *small, *columns; /* k × k */
    double *lengths;         /* k: of the residual */
    double *work;            /* 2k */
    lapack_int *pivots;
};

kfe_status kfe_i_cg_work_new(kfe_context *ctx, int64_t n, int64_t k, kfe_i_cg_work **out)
{
    kfe_status status = KFE_OK;
    kfe_i_cg_work *w = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, w, 1);
    *w = (kfe_i_cg_work){.ctx = ctx, .n = n, .k = k};
    KFE_ALLOC(ctx, w->step, n * k);
    KFE_ALLOC(ctx, w->image, n * k);
    KFE_ALLOC(ctx, w->z, n * k);
    KFE_ALLOC(ctx, w->curvature, k * k);
    KFE_ALLOC(ctx, w->small, k * k);
    KFE_ALLOC(ctx, w->columns, k * k);
    KFE_ALLOC(ctx, w->lengths, k);
    KFE_ALLOC(ctx, w->work, 2 * k);
    KFE_ALLOC(ctx, w->pivots, k);
    *out = w;
    w = NULL;
cleanup:
    kfe_i_cg_work_free(w);
    return status;
}

void kfe_i_cg_work_free(kfe_i_cg_work *w)
{
    if (!w)
        return;
    double *blocks[] = {w->step, w->image, w->z, w->curvature, w->small, w->columns, w->lengths, w->work};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(w->ctx, blocks[i]);
    kfe_i_free(w->ctx, w->pivots);
    kfe_i_free(w->ctx, w);
}

/* ---- directions ---- */

/* Scales the columns of z (n × k) to unit length. */
static void normalise(kfe_i_cg_work *w)
{
    int64_t k = w->k;

    memset(w->work, 0, (size_t)k * sizeof *w->work);
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < k; j++)
            w->work[j] += w->z[i * k + j] * w->z[i * k + j];
    for (int64_t j = 0; j < k; j++)
        w->work[j] = w->work[j] > 0 && isfinite(w->work[j]) ? 1 / sqrt(w->work[j]) : 0;
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < k; j++)
            w->z[i * k + j] *= w->work[j];
}

/* from (n × count) ← an orthonormal basis of its independent columns in `to`; returns how many there are. */
static int64_t independent_part(kfe_i_cg_work *w, const double *from, int64_t count, double *to)
{
    double *gram = w->small;
    double *chosen = w->columns; /* count × found: from·chosen is the basis */
    lapack_int found = 0;

    kfe_i_inner_products(w->n, kfe_i_packed(from, count), kfe_i_packed(from, count), gram);
    LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)count, gram, (lapack_int)count, w->pivots, &found,
                        DEPENDENT, w->work);
    if (found == 0)
        return 0;
    memset(chosen, 0, (size_t)(count * found) * sizeof *chosen);
    /* LAPACK's upper factor by columns, read by rows, is the lower factor L of the chosen part; chosen = ΠL⁻ᵀ */
    for (int64_t j = 0; j < found; j++)
        chosen[j * found + j] = 1;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)found,
                (blasint)found, 1, gram, (blasint)count, chosen, (blasint)found);
    memcpy(gram, chosen, (size_t)(found * found) * sizeof *gram);
    memset(chosen, 0, (size_t)(count * found) * sizeof *chosen);
    for (int64_t i = 0; i < found; i++)
        memcpy(chosen + (w->pivots[i] - 1) * found, gram + i * found, (size_t)found * sizeof *gram);
    kfe_i_combine(w->n, 1, kfe_i_packed(from, count), kfe_i_packed(chosen, found), 0, to);
    return found;
}

/* P ← orth(Z + Pβ); Z is overwritten. */
static void next_directions(kfe_i_cg_work *w)
{
    int64_t k = w->k;
    int64_t r = w->rank;

    normalise(w);
    if (r > 0) {
        kfe_i_inner_products(w->n, kfe_i_packed(w->image, r), kfe_i_packed(w->z, k), w->small);
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)r, (blasint)k,
                    1, w->curvature, (blasint)r, w->small, (blasint)k);
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (blasint)r, (blasint)k, 1,
                    w->curvature, (blasint)r, w->small, (blasint)k);
        kfe_i_combine(w->n, -1, kfe_i_packed(w->step, r), kfe_i_packed(w->small, k), 1, w->z);
        normalise(w);
    }
    r = independent_part(w, w->z, k, w->image);
    w->rank = independent_part(w, w->image, r, w->step);
}

/* curvature ← the Cholesky factor of PᵀAP; 0: it is not positive definite. */
static int factor_curvature(kfe_i_cg_work *w)
{
    int64_t r = w->rank;

    kfe_i_inner_products(w->n, kfe_i_packed(w->step, r), kfe_i_packed(w->image, r), w->curvature);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < i; j++)
            w->curvature[i * r + j] = (w->curvature[i * r + j] + w->curvature[j * r + i]) / 2;
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)r, w->curvature, (lapack_int)r) == 0;
}

/* X += Pα, R −= APα. */
static void advance(kfe_i_cg_work *w, double *residual, double *x)
{
    int64_t k = w->k;
    int64_t r = w->rank;

    kfe_i_inner_products(w->n, kfe_i_packed(w->step, r), kfe_i_packed(residual, k), w->small);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)r, (blasint)k, 1,
                w->curvature, (blasint)r, w->small, (blasint)k);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (blasint)r, (blasint)k, 1,
                w->curvature, (blasint)r, w->small, (blasint)k);
    kfe_i_combine(w->n, 1, kfe_i_packed(w->step, r), kfe_i_packed(w->small, k), 1, x);
    kfe_i_combine(w->n, -1, kfe_i_packed(w->image, r), kfe_i_packed(w->small, k), 1, residual);
}

/* ---- iterations ---- */

/* The largest residual norm, relative to its goal. Goals of zero are for columns of zeros. */
static double distance_to_goal(kfe_i_cg_work *w, const double *residual, const double *goals)
{
    int64_t k = w->k;
    double largest = 0;

    memset(w->lengths, 0, (size_t)k * sizeof *w->lengths);
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < k; j++)
            w->lengths[j] += residual[i * k + j] * residual[i * k + j];
    for (int64_t j = 0; j < k; j++) {
        double length = sqrt(w->lengths[j]);
        if (length > 0)
            largest = fmax(largest, goals[j] > 0 ? length / goals[j] : INFINITY);
    }
    return largest;
}

/* Whether the rest will take longer than the rival, at the rate seen so far. */
static int loses(const kfe_i_cg_problem *p, int done, double first, double now, double seconds)
{
    if (done < LEAST_ITERATIONS || isinf(p->rival))
        return 0;
    double gain = log(first / now) / done;
    return gain <= 0 || log(now) / gain * seconds / done > p->rival;
}

static kfe_status multiply(const kfe_i_cg_problem *p, kfe_i_cg_work *w)
{
    kfe_status status = kfe_i_gram_times(p->gram, w->step, w->rank, w->image);

    if (status == KFE_OK)
        cblas_daxpy((blasint)(w->n * w->rank), p->ridge, w->step, 1, w->image, 1);
    return status;
}

/* What the iterations need to go on. The residual at the start says which system it is. */
static void list_state(const kfe_i_cg_problem *p, kfe_i_cg_work *w, double *residual, double *x,
                       kfe_i_loop *loop)
{
    int64_t size = w->n * w->k;
    uint64_t key =
        kfe_i_resume_is_on(w->ctx) ? kfe_i_loop_key(kfe_i_loop_key(1, &p->ridge, 1), residual, size) : 0;

    kfe_i_loop_begin(w->ctx, "solving", key, loop);
    KFE_LOOP_VALUE(loop, w->rank);
    KFE_LOOP_ARRAY(loop, w->step, size);
    KFE_LOOP_ARRAY(loop, w->image, size);
    KFE_LOOP_ARRAY(loop, w->curvature, w->k * w->k);
    KFE_LOOP_ARRAY(loop, residual, size);
    KFE_LOOP_ARRAY(loop, x, size);
}

kfe_status kfe_i_block_cg(const kfe_i_cg_problem *problem, kfe_i_cg_work *work, double *residual, double *x,
                          kfe_i_cg_end *end, int *iterations)
{
    kfe_status status = KFE_OK;
    int done = 0;
    int restored = 0;
    kfe_i_loop loop;

    assert(problem->k == work->k && problem->gram->size == work->n);
    work->rank = 0;
    list_state(problem, work, residual, x, &loop);
    KFE_LOOP_VALUE(&loop, done);
    KFE_LOOP_VALUE(&loop, *iterations);
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    int before = done; /* in an earlier run */
    double first = distance_to_goal(work, residual, problem->goals);
    double distance = first;
    kfe_i_stamp start = kfe_i_start_clock(work->ctx);
    for (*end = KFE_CG_EXHAUSTED; done < problem->most && distance > 1;) {
        KFE_TRY(kfe_i_progress(work->ctx, "solving", *iterations, 0));
        KFE_TRY(problem->preconditioner.apply(problem->preconditioner.state, work->k, residual, work->z));
        next_directions(work);
        if (work->rank == 0)
            break;
        KFE_TRY(multiply(problem, work));
        ++*iterations;
        if (!factor_curvature(work)) {
            *end = KFE_CG_INDEFINITE;
            break;
        }
        advance(work, residual, x);
        distance = distance_to_goal(work, residual, problem->goals);
        if (loses(problem, done + 1 - before, first, distance, kfe_i_seconds_since(work->ctx, start))) {
            *end = KFE_CG_LOSING;
            break;
        }
        done++;
        KFE_TRY(kfe_i_loop_save(&loop));
    }
    if (distance <= 1)
        *end = KFE_CG_CONVERGED;
cleanup:
    return status;
}
