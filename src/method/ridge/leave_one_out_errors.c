/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out errors in closed form, from a tridiagonal form of the kernel matrix; used by leave_one_out.c. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/ridge/leave_one_out.h"

/* An example whose own target decides its fitted value cannot be predicted from the others. */
#define SMALLEST_REST 1e-10

/* ---- what is left out together ---- */

static double root_of(const double *roots, int64_t i)
{
    return roots ? roots[i] : 1;
}

/* into[unit of row i] += roots[i]·values[i], for rows of `columns` values. */
static void add_by_unit(const kfe_i_loo_units *u, int64_t rows, const double *roots, int64_t columns,
                        const double *values, double *into)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; u->of[i] < u->count && c < columns; c++)
            into[u->of[i] * columns + c] += root_of(roots, i) * values[i * columns + c];
}

/* Values in units of examples become those of the joined rows. */
static void divide_by_roots(const kfe_i_loo_units *u, int64_t columns, double *values)
{
    for (int64_t g = 0; g < u->count; g++)
        cblas_dscal((blasint)columns, 1 / sqrt(u->masses[g]), values + g * columns, 1);
}

static void measure_within(kfe_i_loo_units *u, int64_t rows, const double *roots, int64_t columns,
                           const double *targets)
{
    for (int64_t i = 0; i < rows; i++) {
        int64_t g = u->of[i];
        for (int64_t c = 0; g < u->count && c < columns; c++) {
            double rest = targets[i * columns + c] -
                          root_of(roots, i) / sqrt(u->masses[g]) * u->targets[g * columns + c];
            u->within[g] += rest * rest;
        }
    }
}

kfe_status kfe_i_loo_units_make(const kfe_i_distinct *distinct, int64_t count, const double *roots,
                                int64_t columns, const double *targets, kfe_i_loo_units *out)
{
    kfe_status status = KFE_OK;
    int64_t rows = distinct->rows;

    *out = (kfe_i_loo_units){.ctx = distinct->ctx, .count = count, .of = distinct->of};
    KFE_ALLOC_ZERO(out->ctx, out->masses, count);
    KFE_ALLOC_ZERO(out->ctx, out->targets, count * columns);
    KFE_ALLOC_ZERO(out->ctx, out->within, count);
    for (int64_t i = 0; i < rows; i++)
        if (out->of[i] < count)
            out->masses[out->of[i]] += root_of(roots, i) * root_of(roots, i);
    add_by_unit(out, rows, roots, columns, targets, out->targets);
    divide_by_roots(out, columns, out->targets);
    measure_within(out, rows, roots, columns, targets);
cleanup:
    return status;
}

void kfe_i_loo_units_free(kfe_i_loo_units *units)
{
    if (units->ctx) {
        kfe_i_free(units->ctx, units->masses);
        kfe_i_free(units->ctx, units->targets);
        kfe_i_free(units->ctx, units->within);
    }
    *units = (kfe_i_loo_units){0};
}

/* ---- errors ---- */

/* The share that the constant of the regression takes of the fitted value of an example. */
static double constant_leverage(int64_t n, const double *roots, double mass, int64_t i)
{
    return roots ? roots[i] * roots[i] / mass : 1 / (double)n;
}

typedef struct loo_work {
    double *pivots, *ratios, *inverses; /* for each ridge n numbers: D, L and the diagonal of M */
    double *inner, *solved;             /* QᵀY and (T + ρI)⁻¹QᵀY, n × columns */
    double *beside;                     /* the latter of all ridges side by side, n × (count · columns) */
    double *images;                     /* MY of all ridges, the same shape */
} loo_work;

static kfe_status make_work(kfe_i_arena *memory, int64_t n, int64_t m, int64_t count, loo_work *w)
{
    kfe_status status = KFE_OK;

    KFE_TAKE(memory, w->pivots, count * n);
    KFE_TAKE(memory, w->ratios, count * n);
    KFE_TAKE(memory, w->inverses, count * n);
    KFE_TAKE(memory, w->inner, n * m);
    KFE_TAKE(memory, w->solved, n * m);
    KFE_TAKE(memory, w->beside, n * count * m);
    KFE_TAKE(memory, w->images, n * count * m);
cleanup:
    return status;
}

static int factor_all(const kfe_i_tridiagonal *t, int64_t count, const double *ridges, loo_work *w)
{
    for (int64_t r = 0; r < count; r++)
        if (!kfe_i_tridiagonal_factor(t, ridges[r], w->pivots + r * t->n, w->ratios + r * t->n))
            return 0;
    return 1;
}

/* MY for every ridge. */
static void solve_all(const kfe_i_loo_reduced *f, int64_t count, loo_work *w)
{
    int64_t n = f->matrix->n;
    int64_t m = f->columns;
    int64_t width = count * m;

    kfe_i_times(n, n, m, f->matrix->q, f->targets, w->inner);
    for (int64_t r = 0; r < count; r++) {
        memcpy(w->solved, w->inner, (size_t)(n * m) * sizeof *w->solved);
        kfe_i_tridiagonal_solve(n, w->pivots + r * n, w->ratios + r * n, m, w->solved);
        kfe_i_copy_block(n, m, w->solved, m, w->beside + r * m, width);
    }
    kfe_i_transpose_times(n, n, width, f->matrix->q, w->beside, w->images);
}

/* The error of example i with M_ii = inverse and (MY)_i = image. */
static double reduced_error(const kfe_i_loo_reduced *f, int64_t i, double ridge, double inverse,
                            const double *image)
{
    double constant = f->centred ? constant_leverage(f->matrix->n, f->roots, f->mass, i) : 0;
    double rest = ridge * inverse - constant;
    double sum = 0;

    for (int64_t c = 0; c < f->columns; c++)
        sum += ridge * image[c] * (ridge * image[c]);
    return rest > SMALLEST_REST ? sum / (rest * rest) : (double)INFINITY;
}

kfe_status kfe_i_loo_errors(kfe_context *ctx, const kfe_i_loo_reduced *reduced, int64_t count,
                            const double *ridges, double *errors, int *definite)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    loo_work w = {0};
    int64_t n = reduced->matrix->n;
    int64_t m = reduced->columns;

    KFE_TRY(make_work(&memory, n, m, count, &w));
    *definite = factor_all(reduced->matrix, count, ridges, &w);
    if (!*definite)
        goto cleanup;
    KFE_TRY(kfe_i_tridiagonal_inverse_diagonals(reduced->matrix, count, w.pivots, w.ratios, w.inverses));
    solve_all(reduced, count, &w);
    for (int64_t r = 0; r < count; r++)
        for (int64_t i = 0; i < n; i++)
            errors[r * n + i] =
                reduced_error(reduced, i, ridges[r], w.inverses[r * n + i], w.images + (i * count + r) * m);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}
