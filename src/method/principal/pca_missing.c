/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Principal components of data with missing values by NIPALS: t and p of observed.h in turn, with w = p, until p stays. The first p of each
 * component is a leading singular vector of the data with zeros in place of missing values (subspace iteration), so the order of the rows does
 * not matter; Anderson's mixing of the last steps makes the iteration converge where eigenvalues are close.
 *
 * Wold (1966), "Estimation of principal components and related models by iterative least squares"; Walker & Ni (2011), Anderson acceleration.
 * Time O(nd) per step, some 10 to 50 steps per component.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/principal/principal.h"
#include "method/shared/observed.h"

enum { SPARE_STARTS = 2, START_STEPS = 8, MOST_STEPS = 1000, HISTORY = 5 };
/* p has converged if a step moves it by less than this; a step of less than the tolerance that is not shorter than the one before is
 * rounding. */
#define CONVERGED 1e-14

/* ---- where to begin ---- */

/* out (d × *rank): orthonormal, near the leading right singular vectors of the rows, leading ones first. */
static kfe_status find_starts(kfe_i_observed *o, int64_t wanted, double *out, int64_t *rank)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = o->ctx};
    kfe_i_rng rng;
    double *v, *q, *z, *inner, *values, *vectors;
    int64_t *kept;

    KFE_TAKE(&memory, v, o->d * wanted);
    KFE_TAKE(&memory, q, o->d * wanted);
    KFE_TAKE(&memory, z, o->n * wanted);
    KFE_TAKE(&memory, inner, wanted * wanted);
    KFE_TAKE(&memory, values, wanted);
    KFE_TAKE(&memory, vectors, wanted * wanted);
    KFE_TAKE(&memory, kept, wanted);
    kfe_i_rng_init(&rng, 0, KFE_STREAM_EIGEN);
    for (int64_t k = 0; k < o->d * wanted; k++)
        v[k] = kfe_i_rng_normal(&rng);
    *rank = wanted;
    for (int step = 0; step <= START_STEPS && *rank > 0; step++) {
        KFE_TRY(kfe_i_orthonormal_columns(o->ctx, o->d, *rank, v, q, kept, rank));
        kfe_i_times(o->n, o->d, *rank, o->x, q, z);
        kfe_i_transpose_times(o->d, o->n, *rank, o->x, z, v);
    }
    kfe_i_inner_products(o->n, kfe_i_packed(z, *rank), kfe_i_packed(z, *rank), inner);
    KFE_TRY(kfe_i_symmetric_eigen(o->ctx, *rank, inner, *rank, values, vectors));
    kfe_i_times(o->d, *rank, *rank, q, vectors, out);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* ---- one component ---- */

/* The last points and steps of an iteration x ← x + f(x). */
typedef struct mixing {
    kfe_context *ctx;
    int64_t d;
    int64_t count;                  /* of differences, at most HISTORY */
    double *points, *steps;         /* HISTORY × d: differences of points, and of steps */
    double *last_point, *last_step; /* d */
    int has_last;
} mixing;

static void push(mixing *m, const double *point, const double *step)
{
    int64_t slot = m->count % HISTORY;

    if (m->has_last) {
        for (int64_t j = 0; j < m->d; j++) {
            m->points[slot * m->d + j] = point[j] - m->last_point[j];
            m->steps[slot * m->d + j] = step[j] - m->last_step[j];
        }
        m->count++;
    }
    memcpy(m->last_point, point, (size_t)m->d * sizeof *point);
    memcpy(m->last_step, step, (size_t)m->d * sizeof *step);
    m->has_last = 1;
}

/* point ← point + step − (ΔX + ΔF)γ with the γ that minimises ‖step − ΔFγ‖. */
static kfe_status mix(mixing *m, const double *step, double *point)
{
    kfe_status status = KFE_OK;
    int64_t k = m->count < HISTORY ? m->count : HISTORY;
    blasint d = (blasint)m->d;
    double products[HISTORY * HISTORY];
    double gamma[HISTORY];

    cblas_daxpy(d, 1, step, 1, point, 1);
    if (k == 0)
        return KFE_OK;
    for (int64_t a = 0; a < k; a++) {
        gamma[a] = cblas_ddot(d, m->steps + a * m->d, 1, step, 1);
        for (int64_t b = 0; b < k; b++)
            products[a * k + b] = cblas_ddot(d, m->steps + a * m->d, 1, m->steps + b * m->d, 1);
    }
    double ridge = 1e-12 * kfe_i_trace(k, products);
    if (!(ridge > 0))
        return KFE_OK;
    kfe_i_add_to_diagonal(k, ridge, products);
    KFE_TRY(kfe_i_cholesky_solve(m->ctx, k, products, 1, gamma, "the matrix of steps"));
    for (int64_t a = 0; a < k; a++) {
        cblas_daxpy(d, -gamma[a], m->points + a * m->d, 1, point, 1);
        cblas_daxpy(d, -gamma[a], m->steps + a * m->d, 1, point, 1);
    }
cleanup:
    return status;
}

static double normalise(int64_t d, double *v)
{
    double length = cblas_dnrm2((blasint)d, v, 1);

    if (length > 0)
        cblas_dscal((blasint)d, 1 / length, v, 1);
    return length;
}

typedef struct component {
    double *v, *t, *p, *step; /* d, n, d, d */
    mixing m;
    double moved; /* length of the last step */
    int steps;
} component;

/* Iterates v until it stays; c->t are then its scores. */
static kfe_status iterate(kfe_i_observed *o, double tolerance, component *c)
{
    kfe_status status = KFE_OK;
    double before = INFINITY;

    c->m.count = 0;
    c->m.has_last = 0;
    for (c->steps = 0; c->steps < MOST_STEPS; c->steps++) {
        KFE_TRY(kfe_i_progress(o->ctx, "iterating a component", o->count, o->setup.most));
        kfe_i_observed_regress(o, c->v, c->t, c->p);
        if (!(normalise(o->d, c->p) > 0))
            break;
        for (int64_t j = 0; j < o->d; j++)
            c->step[j] = c->p[j] - c->v[j];
        c->moved = cblas_dnrm2((blasint)o->d, c->step, 1);
        if (c->moved <= CONVERGED || (c->moved <= tolerance && c->moved >= before / 2))
            break;
        if (c->moved > before) /* mixing went astray: begin it again */
            c->m.count = c->m.has_last = 0;
        before = c->moved;
        push(&c->m, c->v, c->step);
        KFE_TRY(mix(&c->m, c->step, c->v));
        normalise(o->d, c->v);
    }
cleanup:
    return status;
}

static kfe_status open_component(kfe_i_observed *o, component *c)
{
    kfe_status status = KFE_OK;
    mixing *m = &c->m;

    *m = (mixing){.ctx = o->ctx, .d = o->d};
    KFE_TAKE(&o->memory, c->v, o->d);
    KFE_TAKE(&o->memory, c->t, o->n);
    KFE_TAKE(&o->memory, c->p, o->d);
    KFE_TAKE(&o->memory, c->step, o->d);
    KFE_TAKE(&o->memory, m->points, HISTORY * o->d);
    KFE_TAKE(&o->memory, m->steps, HISTORY * o->d);
    KFE_TAKE(&o->memory, m->last_point, o->d);
    KFE_TAKE(&o->memory, m->last_step, o->d);
cleanup:
    return status;
}

/* ---- all ---- */

/* Finds components until the eigenvalue, values[s], is rounding; *steps: the most that one took. */
static kfe_status find_components(kfe_i_observed *o, const kfe_i_principal_settings *s, double *values,
                                  double *steps)
{
    kfe_status status = KFE_OK;
    component c = {0};
    double *starts = NULL;
    int64_t rank = 0;
    int64_t most = o->n < o->d ? o->n : o->d;

    rank = o->setup.most + SPARE_STARTS < most ? o->setup.most + SPARE_STARTS : most;
    KFE_TAKE(&o->memory, starts, o->d * rank);
    KFE_TRY(open_component(o, &c));
    KFE_TRY(find_starts(o, rank, starts, &rank));
    for (int64_t a = 0; a < o->setup.most && a < rank; a++) {
        cblas_dcopy((blasint)o->d, starts + a, (blasint)rank, c.v, 1);
        KFE_TRY(iterate(o, s->tolerance, &c));
        values[a] = cblas_ddot((blasint)o->n, c.t, 1, c.t, 1);
        if (!(values[a] > KFE_RANK_TOLERANCE * values[0]))
            break;
        *steps = fmax(*steps, c.steps + 1);
        if (c.moved > s->tolerance)
            kfe_i_log(o->ctx, KFE_LOG_WARNING,
                      "pca: component %lld has not converged in %d steps: the last moved it by %.1e",
                      (long long)a + 1, MOST_STEPS, c.moved);
        kfe_i_observed_take(o, c.v, c.t, c.v, NULL);
    }
cleanup:
    return status;
}

kfe_status kfe_i_pca_missing(kfe_context *ctx, const kfe_i_fit_source *source,
                             const kfe_i_principal_settings *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &source->views[0];
    kfe_i_observed o = {0};
    kfe_i_observed_setup setup = {.method = "pca", .center = s->center};
    double *values = NULL;
    double steps = 0;
    int64_t dim = 0;

    setup.most = kfe_i_principal_wanted(s, table->cols < table->rows ? table->cols : table->rows);
    KFE_TRY(kfe_i_observed_begin(ctx, source, &setup, &o));
    KFE_ALLOC_ZERO(ctx, values, setup.most);
    KFE_TRY(find_components(&o, s, values, &steps));
    const kfe_i_spectrum spectrum = {o.count, values, 0, KFE_RANK_TOLERANCE};
    KFE_TRY(kfe_i_principal_dim(ctx, "pca", s, &spectrum, &dim));
    KFE_TRY(kfe_i_observed_solution(&o, 0, out));
    for (int64_t a = 0; a < dim; a++)
        values[a] *= o.unit * o.unit;
    KFE_TRY(kfe_i_solution_record(out, "eigenvalues", values, dim));
    KFE_TRY(kfe_i_solution_record_as(out, KFE_RECORD_OF_ROWS, "nipals-steps", &steps, 1));
cleanup:
    kfe_i_free(ctx, values);
    kfe_i_observed_free(&o);
    return status;
}
