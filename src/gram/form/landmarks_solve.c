/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear systems and eigenvectors of a landmark operator, through r × r matrices. With F the factor, or PF if the operator
 * is centred, and M = FᵀF:
 *
 *     (FFᵀ + λI)⁻¹R = (R − F(M + λI)⁻¹FᵀR)/λ                          (Woodbury)
 *     M = VSVᵀ  ⇒  FFᵀ has the eigenvalues S and the eigenvectors FVS^(−1/2)
 *
 * Time O(nr² + nrk) and memory O(r² + nk) beyond F.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/form/centred.h"
#include "gram/form/landmarks_factor.h"
#include "gram/solve/solve.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

enum { MAX_REFINEMENTS = 4 };
/* A ridge below this, relative to the trace, is lost in M + λI. */
#define KFE_SMALLEST_RIDGE 1e-13
/* Eigenvectors of eigenvalues below this, relative to the largest, are made orthonormal once more. */
#define KFE_UNSURE_EIGENVALUE 1e-5

typedef struct low_rank {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    kfe_i_landmark_factor *f;
    int centred;
    int64_t n, r;
    double *m;          /* FᵀF, r × r */
    const double *sums; /* Fᵀe of the factor before centring; borrowed from it */
    double trace;
} low_rank;

static void release(low_rank *s)
{
    kfe_i_free(s->ctx, s->m);
}

static kfe_status prepare(const kfe_i_gram *gram, int centred, low_rank *s)
{
    kfe_status status = KFE_OK;

    *s = (low_rank){.ctx = gram->ctx, .gram = gram, .n = gram->size, .centred = centred};
    s->f = kfe_i_landmark_factor_of(centred ? kfe_i_centred_inner(gram) : gram);
    s->r = s->f->rank;
    KFE_ALLOC(s->ctx, s->m, s->r * s->r);
    KFE_TRY(kfe_i_factor_products(s->f));
    s->sums = s->f->sums;
    memcpy(s->m, s->f->products, (size_t)(s->r * s->r) * sizeof *s->m);
    for (int64_t i = 0; i < s->r; i++) {
        for (int64_t j = 0; j < s->r && s->centred; j++)
            s->m[i * s->r + j] -= s->sums[i] * s->sums[j] / (double)s->n;
        s->trace += s->m[i * s->r + i];
    }
cleanup:
    return status;
}

/* ---- products with F or PF ---- */

/* means[k] of the columns of v (n × k) */
static void column_means(int64_t n, int64_t k, const double *v, double *means)
{
    memset(means, 0, (size_t)k * sizeof *means);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            means[j] += v[i * k + j] / (double)n;
}

/* out (r × k) = Fᵀv, or (PF)ᵀv = Fᵀv − (Fᵀe)·means */
static kfe_status project(const low_rank *s, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    double *means = NULL;

    KFE_ALLOC(s->ctx, means, k);
    KFE_TRY(kfe_i_factor_project(s->f, v, k, out));
    if (s->centred) {
        column_means(s->n, k, v, means);
        for (int64_t i = 0; i < s->r; i++)
            for (int64_t j = 0; j < k; j++)
                out[i * k + j] -= s->sums[i] * means[j];
    }
cleanup:
    kfe_i_free(s->ctx, means);
    return status;
}

/* out (n × k) = Fz, or PFz = Fz − e(eᵀF)z/n */
static kfe_status expand(const low_rank *s, const double *z, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    double *means = NULL;

    KFE_ALLOC_ZERO(s->ctx, means, k);
    KFE_TRY(kfe_i_factor_expand(s->f, z, k, out));
    if (s->centred) {
        for (int64_t i = 0; i < s->r; i++)
            for (int64_t j = 0; j < k; j++)
                means[j] += s->sums[i] * z[i * k + j] / (double)s->n;
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t j = 0; j < k; j++)
                out[i * k + j] -= means[j];
    }
cleanup:
    kfe_i_free(s->ctx, means);
    return status;
}

/* ---- solving ---- */

/* A way to solve (FFᵀ + λI)X = R. */
typedef struct inverse {
    double ridge;
    double *lower;            /* Cholesky factor of M + λI; NULL: by eigenvectors */
    double *values, *vectors; /* of M: r and r × r */
    int64_t kept;             /* eigenvalues above rounding */
    double *small, *turned;   /* r × k */
    double *image, *step;     /* n × k */
    double reached;           /* the relative residual of the solution */
    double rounding;          /* the relative residual that rounding alone may leave */
} inverse;

static void free_inverse(kfe_context *ctx, inverse *way)
{
    kfe_i_free(ctx, way->lower);
    kfe_i_free(ctx, way->values);
    kfe_i_free(ctx, way->vectors);
    kfe_i_free(ctx, way->small);
    kfe_i_free(ctx, way->turned);
    kfe_i_free(ctx, way->image);
    kfe_i_free(ctx, way->step);
}

static kfe_status prepare_inverse(const low_rank *s, int64_t k, inverse *way)
{
    kfe_status status = KFE_OK;
    int64_t r = s->r;
    int direct = way->ridge > KFE_SMALLEST_RIDGE * s->trace;
    double *copy = NULL;

    KFE_ALLOC(s->ctx, way->small, r * k);
    KFE_ALLOC(s->ctx, way->turned, r * k);
    KFE_ALLOC(s->ctx, way->image, s->n * k);
    KFE_ALLOC(s->ctx, way->step, s->n * k);
    KFE_ALLOC(s->ctx, copy, r * r);
    memcpy(copy, s->m, (size_t)(r * r) * sizeof *copy);
    if (direct) {
        way->lower = copy;
        copy = NULL;
        for (int64_t i = 0; i < r; i++)
            way->lower[i * r + i] += way->ridge;
        if (r > 0)
            KFE_TRY(
                kfe_i_cholesky(s->ctx, r, way->lower, "the kernel matrix of the landmarks plus the ridge"));
    } else {
        KFE_ALLOC(s->ctx, way->values, r);
        KFE_ALLOC(s->ctx, way->vectors, r * r);
        if (r > 0)
            KFE_TRY(kfe_i_symmetric_eigen(s->ctx, r, copy, r, way->values, way->vectors));
        while (way->kept < r && way->values[way->kept] > KFE_RANK_TOLERANCE * way->values[0])
            way->kept++;
    }
cleanup:
    kfe_i_free(s->ctx, copy);
    return status;
}

/* out = (x − F(M + λI)⁻¹Fᵀx)/λ */
static kfe_status apply_woodbury(const low_rank *s, inverse *way, const double *x, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(project(s, x, k, way->small));
    if (s->r > 0)
        kfe_i_solve_cholesky(s->r, way->lower, k, way->small);
    KFE_TRY(expand(s, way->small, k, out));
    for (int64_t i = 0; i < s->n * k; i++)
        out[i] = (x[i] - out[i]) / way->ridge;
cleanup:
    return status;
}

/* With U = FVS^(−1/2): out = U(S + λI)⁻¹Uᵀx + (x − UUᵀx)/λ, without the second term if λ = 0. The first term is
 * FV S⁻¹(S + λI)⁻¹ VᵀFᵀx. */
static kfe_status apply_spectrum(const low_rank *s, inverse *way, const double *x, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    int64_t r = s->r;
    kfe_i_columns vectors = kfe_i_strided(way->vectors, way->kept, r);
    double rest = way->ridge > 0 ? 1 / way->ridge : 0;

    KFE_TRY(project(s, x, k, way->small));
    kfe_i_inner_products(r, vectors, kfe_i_packed(way->small, k), way->turned);
    for (int64_t i = 0; i < way->kept; i++)
        for (int64_t j = 0; j < k; j++)
            way->turned[i * k + j] *= (1 / (way->values[i] + way->ridge) - rest) / way->values[i];
    kfe_i_combine(r, 1, vectors, kfe_i_packed(way->turned, k), 0, way->small);
    KFE_TRY(expand(s, way->small, k, out));
    for (int64_t i = 0; i < s->n * k; i++)
        out[i] += rest * x[i];
cleanup:
    return status;
}

static kfe_status apply(const low_rank *s, inverse *way, const double *x, int64_t k, double *out)
{
    return way->lower ? apply_woodbury(s, way, x, k, out) : apply_spectrum(s, way, x, k, out);
}

/* image = right − (FFᵀ + λI)·out; measures it relative to `right`, in the worst column. */
static kfe_status true_residual(const low_rank *s, inverse *way, const double *right, int64_t k,
                                const double *out)
{
    kfe_status status = kfe_i_gram_times(s->gram, out, k, way->image);

    way->reached = way->rounding = 0;
    for (int64_t j = 0; status == KFE_OK && j < k; j++) {
        double rest = 0;
        double whole = 0;
        double size = 0;
        for (int64_t i = j; i < s->n * k; i += k) {
            way->image[i] = right[i] - way->image[i] - way->ridge * out[i];
            rest += way->image[i] * way->image[i];
            whole += right[i] * right[i];
            size += out[i] * out[i];
        }
        if (whole > 0) {
            way->reached = fmax(way->reached, sqrt(rest / whole));
            way->rounding =
                fmax(way->rounding, 4 * DBL_EPSILON * (s->trace + way->ridge) * sqrt(size / whole));
        }
    }
    way->rounding = fmin(way->rounding, KFE_WORST_RESIDUAL);
    return status;
}

/* Solves, and for the residual again while that helps. */
static kfe_status solve_and_refine(const low_rank *s, inverse *way, const double *right, int64_t k,
                                   double tolerance, double *out)
{
    kfe_status status = KFE_OK;
    double before = INFINITY;

    KFE_TRY(apply(s, way, right, k, out));
    for (int pass = 0; pass < MAX_REFINEMENTS; pass++) {
        KFE_TRY(true_residual(s, way, right, k, out));
        if (way->reached <= tolerance || way->reached > 0.5 * before || (way->ridge <= 0 && pass > 0))
            break;
        before = way->reached;
        KFE_TRY(apply(s, way, way->image, k, way->step));
        for (int64_t i = 0; i < s->n * k; i++)
            out[i] += way->step[i];
    }
cleanup:
    return status;
}

static kfe_status solve_by_factor(const kfe_i_system *p, int centred, kfe_i_solve_effort *effort)
{
    kfe_status status = KFE_OK;
    low_rank s = {0};
    inverse way = {.ridge = p->ridge};

    KFE_TRY(prepare(p->gram, centred, &s));
    KFE_TRY(prepare_inverse(&s, p->k, &way));
    KFE_TRY(solve_and_refine(&s, &way, p->right, p->k, p->tolerance, p->out));
    if (effort)
        effort->residual = way.reached;
    /* without a ridge, the part of the right-hand side outside of the range has no solution */
    if (p->ridge > 0 && way.reached > fmax(p->tolerance, way.rounding))
        status = kfe_i_fail(s.ctx, KFE_ENUMERIC,
                            "the solver reached a relative residual of %.1e, not %.1e; increase the ridge",
                            way.reached, p->tolerance);
cleanup:
    free_inverse(p->gram->ctx, &way);
    release(&s);
    return status;
}

kfe_status kfe_i_landmark_solve(const kfe_i_system *system, kfe_i_solve_effort *effort)
{
    return solve_by_factor(system, 0, effort);
}

static kfe_status solve_centred(const kfe_i_system *system, kfe_i_solve_effort *effort)
{
    return solve_by_factor(system, 1, effort);
}

/* ---- eigenvectors ---- */

/* How many leading vectors of U (n × k) have about the norm 1 that they were given: the others are rounding error of M. */
static int64_t count_sound(const low_rank *s, int64_t k, const double *u)
{
    for (int64_t j = 0; j < k; j++) {
        double square = cblas_ddot((blasint)s->n, u + j, (blasint)k, u + j, (blasint)k);
        if (!(square > 0.5 && square < 2))
            return j;
    }
    return k;
}

/* Rayleigh-Ritz with the *k vectors U (n × *k): small eigenvalues of M are known to rounding of the largest only. Where F is not
 * stored, M has a larger error, and vectors that are nothing else are dropped. */
static kfe_status refine_vectors(const low_rank *s, int64_t *k, double *values, double *u)
{
    kfe_status status = KFE_OK;
    int64_t sound = count_sound(s, *k, u);
    double *image = NULL;
    double *a = NULL;
    double *b = NULL;
    double *rotation = NULL;
    double *copy = NULL;

    KFE_ALLOC(s->ctx, image, s->r * sound);
    KFE_ALLOC(s->ctx, a, sound * sound);
    KFE_ALLOC(s->ctx, b, sound * sound);
    KFE_ALLOC(s->ctx, rotation, sound * sound);
    KFE_ALLOC(s->ctx, copy, s->n * sound);
    kfe_i_copy_block(s->n, sound, u, *k, copy, sound);
    KFE_TRY(project(s, copy, sound, image));
    kfe_i_inner_products(s->r, kfe_i_packed(image, sound), kfe_i_packed(image, sound), a);
    kfe_i_inner_products(s->n, kfe_i_packed(copy, sound), kfe_i_packed(copy, sound), b);
    KFE_TRY(kfe_i_generalized_eigen(s->ctx, sound, a, b, values, rotation));
    kfe_i_combine(s->n, 1, kfe_i_packed(copy, sound), kfe_i_packed(rotation, sound), 0, u);
    *k = sound;
cleanup:
    kfe_i_free(s->ctx, image);
    kfe_i_free(s->ctx, a);
    kfe_i_free(s->ctx, b);
    kfe_i_free(s->ctx, rotation);
    kfe_i_free(s->ctx, copy);
    return status;
}

/* The leading eigenpairs with a positive eigenvalue: u (n × *found) has the vectors, packed. */
static kfe_status positive_pairs(const low_rank *s, int64_t most, double *values, double *u, int64_t *found)
{
    kfe_status status = KFE_OK;
    int64_t r = s->r;
    double *m = NULL;
    double *v = NULL;

    KFE_ALLOC(s->ctx, m, r * r);
    KFE_ALLOC(s->ctx, v, r * most);
    memcpy(m, s->m, (size_t)(r * r) * sizeof *m);
    KFE_TRY(kfe_i_symmetric_eigen(s->ctx, r, m, most, values, v));
    int64_t k = 0;
    while (k < most && values[k] > (double)r * DBL_EPSILON * values[0] && values[k] > 0)
        k++;
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < k; j++)
            v[i * k + j] = v[i * most + j] / sqrt(values[j]);
    if (k > 0)
        KFE_TRY(expand(s, v, k, u));
    if (k > 0 && values[k - 1] < KFE_UNSURE_EIGENVALUE * values[0])
        KFE_TRY(refine_vectors(s, &k, values, u));
    *found = k;
cleanup:
    kfe_i_free(s->ctx, m);
    kfe_i_free(s->ctx, v);
    return status;
}

static kfe_status eigen_by_factor(const kfe_i_gram *gram, int centred, int64_t k, double *eigenvalues,
                                  double *vectors)
{
    kfe_status status = KFE_OK;
    low_rank s = {0};
    int64_t found = 0;
    double *values = NULL;
    double *u = NULL;

    KFE_TRY(prepare(gram, centred, &s));
    int64_t most = k < s.r ? k : s.r;
    KFE_ALLOC(s.ctx, values, most);
    KFE_ALLOC(s.ctx, u, s.n * most);
    if (most > 0)
        KFE_TRY(positive_pairs(&s, most, values, u, &found));
    memset(eigenvalues, 0, (size_t)k * sizeof *eigenvalues);
    memset(vectors, 0, (size_t)(s.n * k) * sizeof *vectors);
    memcpy(eigenvalues, values, (size_t)found * sizeof *values);
    if (found > 0)
        kfe_i_copy_block(s.n, found, u, found, vectors, k);
cleanup:
    kfe_i_free(gram->ctx, values);
    kfe_i_free(gram->ctx, u);
    release(&s);
    return status;
}

kfe_status kfe_i_landmark_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *eigenvalues,
                                double *vectors)
{
    (void)tolerance; /* as exact as M is */
    return eigen_by_factor(gram, 0, k, eigenvalues, vectors);
}

static kfe_status eigen_centred(const kfe_i_gram *gram, int64_t k, double tolerance, double *eigenvalues,
                                double *vectors)
{
    (void)tolerance;
    return eigen_by_factor(gram, 1, k, eigenvalues, vectors);
}

/* ---- norms ---- */

/* ‖M‖² */
static kfe_status squared_norm_by_factor(const kfe_i_gram *gram, int centred, double *out)
{
    kfe_status status = KFE_OK;
    low_rank s = {0};

    KFE_TRY(prepare(gram, centred, &s));
    *out = 0;
    for (int64_t i = 0; i < s.r * s.r; i++)
        *out += s.m[i] * s.m[i];
cleanup:
    release(&s);
    return status;
}

kfe_status kfe_i_landmark_squared_norm(const kfe_i_gram *gram, double *out)
{
    return squared_norm_by_factor(gram, 0, out);
}

static kfe_status squared_norm_centred(const kfe_i_gram *gram, double *out)
{
    return squared_norm_by_factor(gram, 1, out);
}

/* ---- centring ---- */

static const kfe_i_gram_form form_centred = {.name = "approximated by landmarks, centred",
                                             KFE_CENTRED_CALLS,
                                             .solve = solve_centred,
                                             .eigen = eigen_centred,
                                             .squared_norm = squared_norm_centred};

kfe_status kfe_i_landmark_centre(const kfe_i_gram *gram, kfe_i_gram **out)
{
    return kfe_i_centred_new(gram, &form_centred, out);
}
