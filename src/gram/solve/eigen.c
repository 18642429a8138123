/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leading eigenpairs of an operator.
 *
 * Small problems, and those that need a basis of a large part of the space, go to LAPACK. The others are solved by a
 * block Krylov method with thick restarts (krylov.h). An iteration adds the last block of W = GV, made orthogonal to V, and
 * multiplies it with G; VᵀW only gains the columns of that block. When V is full, its leading Ritz vectors replace it, and W
 * likewise. A block is multiplied in one pass over the operator, at the speed of GEMM; ARPACK multiplies one vector at a
 * time and reads as many bytes for each.
 *
 * Products with a matrix that only fits in memory in single precision are in single precision, which saves evaluating it in double
 * precision each time. When the residuals are as small as the errors of
 * these products, the leading Ritz vectors are multiplied exactly, and the iteration goes on from their exact residuals. So the
 * tolerance that is reached is that of exact products, of which two or three are made.
 *
 * A spectrum that falls slowly needs many blocks, and restarts lose part of what they found. So V has room for 25
 * blocks if these take little of the memory, else for ten. Ritz pairs of a large V take as long as a product; they are
 * computed again when the residuals, falling as before, should be about to reach their goal.
 *
 * Cost: iterations·(product with b vectors) + O(n m²), memory 2nm doubles; m is 4 to 25 blocks. Iterations do
 * not allocate.
 */
#include "gram/solve/eigen.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "gram/solve/krylov.h"

enum {
    DENSE_SIZE = 1000, /* below this LAPACK is as fast, and exact */
    DENSE_PART = 5,    /* more than a fifth of the spectrum: LAPACK */
    DENSE_SHARE = 2,   /* a basis of half of the space: its Ritz pairs would cost more than LAPACK */
    BLOCK_EXTRA = 6,   /* vectors beyond k in a block: they speed up the last wanted ones */
    BLOCK_LEAST = 16,
    BASIS_BLOCKS = 10,
    BASIS_BLOCKS_MOST = 25, /* if memory is plenty */
    /* A basis of this many blocks is large: its Ritz pairs are not computed after every product. */
    LARGE_BLOCKS = 8,
    UNCHECKED_MOST = 4, /* products between two computations */
    BASIS_MOST = 640,   /* more than this beyond k only if a few blocks need it */
    BASIS_BLOCKS_LEAST = 4,
    MAX_PRODUCTS = 200
};

/* A basis of 25 blocks takes at most this share of the memory that is left. */
#define KFE_BASIS_SHARE 0.05
/* Residuals below this multiple of what products in single precision put in doubt do not fall much further. */
#define KFE_DOUBT 3.0
/* Products in single precision with a larger error than this, relative to the norm, are given up. */
#define KFE_USEFUL_SINGLE 1e-3

/* ---- dense ---- */

static kfe_status dense_eigen(const kfe_i_eigen_place *place, const kfe_i_gram *gram, int64_t k,
                              double *eigenvalues, double *vectors)
{
    kfe_status status = KFE_OK;
    double *matrix = NULL;
    int done = 0;

    if (place->dense)
        KFE_TRY(place->dense(place->user, k, eigenvalues, vectors, &done));
    if (done)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_materialise(gram, &matrix));
    KFE_TRY(kfe_i_progress(gram->ctx, "computing eigenvectors", 0, 0));
    KFE_TRY(kfe_i_symmetric_eigen(gram->ctx, gram->size, matrix, k, eigenvalues, vectors));
cleanup:
    kfe_i_free(gram->ctx, matrix);
    return status;
}

/* ---- when Ritz pairs are computed ---- */

/* The residual of the last Ritz pairs, and when to compute the next ones. */
typedef struct schedule {
    int products, next; /* at the last computation, at the next one */
    double residual;
} schedule;

/* A large basis is checked after some of the products, always before a restart, when directions run out, when the next block is made of
 * residuals, and at the end. */
static int may_skip_check(const kfe_i_krylov *s, const schedule *plan, int64_t added, int products)
{
    return added == s->block && s->size >= LARGE_BLOCKS * s->block && s->size + s->block <= s->capacity &&
           products < plan->next && !s->corrected && products < MAX_PRODUCTS;
}

/* Residuals fall faster and faster, hence a little less than the number of products that their last rate predicts. */
static void plan_check(schedule *plan, int products, double residual, double goal)
{
    double rate = log(plan->residual / residual) / (double)(products - plan->products);
    double steps = rate > 0 && isfinite(rate) ? 0.7 * log(residual / goal) / rate : UNCHECKED_MOST;

    plan->products = products;
    plan->residual = residual;
    plan->next = products + (int)fmax(1, fmin(steps, UNCHECKED_MOST));
}

/* ---- all together ---- */

/* One solve: what is asked, and where it stands. */
typedef struct search {
    kfe_i_krylov space;
    double tolerance; /* relative to the norm */
    double rounding;  /* residuals below this are rounding error of the operator */
    int products;
    double before; /* the residual before the last correction */
    schedule plan;
    kfe_i_ritz_error error;
} search;

static double goal_of(const search *x)
{
    return fmax(x->tolerance * x->error.norm, x->rounding);
}

static int is_reached(const search *x)
{
    return x->error.residual + x->error.bound <= goal_of(x);
}

/* Whether more products in single precision would not bring the residuals nearer to the goal: these are small enough, hidden by the
 * errors of the products, or fall no longer where these errors may be the reason. */
static int must_correct(const search *x)
{
    const kfe_i_ritz_error *e = &x->error;

    return e->doubt > 0 && (e->residual <= fmax(goal_of(x), KFE_DOUBT * e->doubt) ||
                            (e->residual <= e->bound && e->residual > 0.5 * x->plan.residual));
}

/* Single precision is of no use if its errors are large, or if the last correction has not made the residuals much smaller: the
 * eigenvalues may be so close to each other that its errors decide which vectors lead. */
static int must_leave_single(const search *x)
{
    const kfe_i_krylov *s = &x->space;

    return s->fast && (s->fast_error > KFE_USEFUL_SINGLE * x->error.norm ||
                       (s->corrected && must_correct(x) && x->error.residual > 0.1 * x->before));
}

/* Computes the Ritz pairs, and corrects them if that is due. */
static kfe_status judge(search *x, int last_time)
{
    kfe_status status = KFE_OK;
    kfe_i_krylov *s = &x->space;

    KFE_TRY(kfe_i_krylov_ritz(s, &x->error));
    if (s->size >= s->k && !is_reached(x)) {
        if (!last_time && must_leave_single(x)) {
            KFE_TRY(kfe_i_krylov_leave_single(s, &x->error));
            x->products++;
        } else if (must_correct(x) || (last_time && x->error.doubt > 0)) {
            x->before = x->error.residual;
            KFE_TRY(kfe_i_krylov_correct(s, &x->error));
            x->products++;
        }
    }
    plan_check(&x->plan, x->products, x->error.residual, fmax(goal_of(x), KFE_DOUBT * x->error.doubt));
cleanup:
    return status;
}

static void log_end(const search *x, int converged)
{
    const kfe_i_krylov *s = &x->space;
    double reached = x->error.norm > 0 ? (x->error.residual + x->error.bound) / x->error.norm : 0;
    char single[64] = "";

    if (s->fast_products > 0)
        snprintf(single, sizeof single, ", %d of them in single precision", s->fast_products);
    kfe_i_log(s->ctx, KFE_LOG_INFO, "eigenvectors: %d products with blocks of %lld%s, relative residual %.1e",
              x->products, (long long)s->block, single, reached);
    if (!converged || x->tolerance < DBL_EPSILON) /* which no residual reaches */
        kfe_i_log(
            s->ctx, KFE_LOG_WARNING,
            "eigenvectors: the relative residual is %.1e after %d products, not %.1e; the last features are "
            "less exact",
            reached, x->products, x->tolerance);
}

static kfe_status list_state(search *x, int64_t *count, kfe_i_krylov_copy *copy, kfe_i_loop *loop)
{
    kfe_i_loop_begin(x->space.ctx, "computing eigenvectors", 0, loop);
    KFE_LOOP_VALUE(loop, *count);
    KFE_LOOP_VALUE(loop, x->products);
    KFE_LOOP_VALUE(loop, x->before);
    KFE_LOOP_VALUE(loop, x->plan);
    return kfe_i_krylov_list(&x->space, loop, copy);
}

static kfe_status iterate(search *x)
{
    kfe_status status = KFE_OK;
    kfe_i_krylov *s = &x->space;
    int64_t count = s->block;
    int restored = 0;
    kfe_i_krylov_copy copy = {0};
    kfe_i_loop loop;

    KFE_TRY(list_state(x, &count, &copy, &loop));
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    KFE_TRY(restored ? kfe_i_krylov_restore(s, count, &copy) : kfe_i_krylov_random(s));
    for (;;) {
        int64_t added = count;
        KFE_TRY(kfe_i_krylov_save(s, count, &copy, &loop));
        KFE_TRY(kfe_i_progress(s->ctx, "computing eigenvectors", x->products, 0));
        KFE_TRY(kfe_i_krylov_extend(s, &added));
        x->products++;
        if (!may_skip_check(s, &x->plan, added, x->products)) {
            int last_time = added == 0 || x->products >= MAX_PRODUCTS;
            KFE_TRY(judge(x, last_time));
            if (last_time || is_reached(x))
                break; /* before a restart, after which the Ritz vectors would no longer belong to the basis */
        }
        KFE_TRY(kfe_i_krylov_next(s, &count));
    }
    log_end(x, is_reached(x));
cleanup:
    kfe_i_krylov_copy_free(s->ctx, &copy);
    return status;
}

/* ---- sizes ---- */

/* Basis, image and blocks; the operator's own workspace is about another block for each thread. */
static double bytes_needed(const kfe_i_krylov *s)
{
    double blocks = (3.0 + kfe_context_threads(s->ctx)) * (double)(s->block + s->k);
    return 8.0 * (double)s->n * (2.0 * (double)s->capacity + blocks);
}

static int64_t basis_beyond(int64_t block, int64_t blocks)
{
    int64_t wanted = kfe_i_least(blocks * block, BASIS_MOST);
    return wanted > BASIS_BLOCKS_LEAST * block ? wanted : BASIS_BLOCKS_LEAST * block;
}

/* A block is never narrower than k: a Krylov space holds no more copies of an eigenvalue than its first block
 * has vectors. */
static void choose_sizes(double basis_bytes, kfe_i_krylov *s)
{
    s->block = s->k + BLOCK_EXTRA > BLOCK_LEAST ? s->k + BLOCK_EXTRA : BLOCK_LEAST;
    s->capacity = kfe_i_least(s->n, s->k + basis_beyond(s->block, BASIS_BLOCKS_MOST));
    if (bytes_needed(s) > basis_bytes)
        s->capacity = kfe_i_least(s->n, s->k + basis_beyond(s->block, BASIS_BLOCKS));
    s->capacity = (int64_t)kfe_i_cluster_agree(s->ctx, (double)s->capacity);
}

/* Whether LAPACK solves the whole problem: it is small, a large part of the spectrum is wanted, or the basis would be about as large as the
 * matrix. In the last case copies of the matrix must fit in memory. */
static int is_dense(const kfe_i_krylov *s)
{
    double n = (double)s->n;
    int large = s->capacity >= s->n / DENSE_SHARE && 24 * n * n < (double)kfe_i_memory_left(s->ctx);

    return s->n <= DENSE_SIZE || s->k > s->n / DENSE_PART || kfe_i_cluster_agree(s->ctx, large) > 0;
}

/* Only where exact products would evaluate the kernel again. On a matrix in double precision a product in single precision takes half the
 * time, but whole searches with 5,000 and 9,000 examples did not become faster beyond the noise. */
static int single_pays_off(const kfe_i_space *space)
{
    return space->gram != space->exact;
}

/* Memory for all vectors; `place` NULL: in host memory. */
static kfe_status open_space(const kfe_i_eigen_place *place, kfe_i_krylov *s, const kfe_i_gram *gram,
                             const kfe_i_gram *exact)
{
    kfe_status status = KFE_OK;
    int64_t small = 2 * s->capacity * s->capacity;

    KFE_TRY(place && place->open_space
                ? place->open_space(place->user, gram, exact, small, s->block, &s->space)
                : kfe_i_space_open(gram, exact, &s->space));
    s->fast = single_pays_off(&s->space);
    if (!s->space.state)
        KFE_TRY(kfe_i_check_memory(s->ctx, bytes_needed(s), "the block of eigenvectors",
                                   "raise {memory} or ask for fewer features"));
    KFE_TRY(kfe_i_krylov_allocate(s));
cleanup:
    return s->space.calls ? s->space.calls->agree(&s->space, status) : status;
}

/* `gram` is what multiplies, `exact` the operator whose eigenvectors are asked for. */
static kfe_status krylov_eigen(const kfe_i_eigen_place *place, search *x, const kfe_i_kept *kept,
                               double *eigenvalues, double *vectors)
{
    kfe_status status = KFE_OK;
    kfe_i_krylov *s = &x->space;

    KFE_TRY(open_space(place, s, kept->gram, kept->exact));
    KFE_TRY(kfe_i_gram_rounding(kept->exact, &x->rounding));
    KFE_TRY(iterate(x));
    memcpy(eigenvalues, s->ritz_values, (size_t)s->k * sizeof *eigenvalues);
    KFE_TRY(kfe_i_krylov_vectors(s, vectors));
cleanup:
    return status;
}

/* In host memory if a device gives up. */
static kfe_status solve(const kfe_i_eigen_place *place, search *x, const kfe_i_kept *kept,
                        double *eigenvalues, double *vectors)
{
    const search fresh = *x;
    kfe_status status = krylov_eigen(place, x, kept, eigenvalues, vectors);

    if (status != KFE_OK && x->space.space.gave_up) {
        kfe_i_krylov_free(&x->space);
        *x = fresh;
        status = krylov_eigen(NULL, x, kept, eigenvalues, vectors);
    }
    kfe_i_krylov_free(&x->space);
    return status;
}

kfe_status kfe_i_find_eigen_in(const kfe_i_eigen_place *place, const kfe_i_gram *gram, int64_t k,
                               double tolerance, double *eigenvalues, double *vectors)
{
    kfe_status status = KFE_OK;
    kfe_i_kept kept = {0};
    search x = {.tolerance = tolerance, .space = {.ctx = gram->ctx, .n = gram->size, .k = k}};

    choose_sizes(place->basis_bytes, &x.space);
    if (is_dense(&x.space))
        return dense_eigen(place, gram, k, eigenvalues, vectors);
    KFE_TRY(kfe_i_gram_keep(gram, KFE_KEEP_ANY, bytes_needed(&x.space), &kept));
    KFE_TRY(solve(place, &x, &kept, eigenvalues, vectors));
cleanup:
    kfe_i_gram_keep_free(&kept);
    return status;
}

kfe_status kfe_i_find_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *eigenvalues,
                            double *vectors)
{
    const kfe_i_eigen_place host = {.basis_bytes = KFE_BASIS_SHARE * (double)kfe_i_memory_left(gram->ctx)};

    return kfe_i_find_eigen_in(&host, gram, k, tolerance, eigenvalues, vectors);
}
