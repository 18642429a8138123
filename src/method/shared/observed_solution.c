/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From components to a solution. For rows without gaps the features are linear: component s is r_sᵀ(x − means) with
 *
 *     r_s = Π_{b<s} (I − w_b p_bᵀ) w_s = w_s − Σ_{b<s} (p_bᵀw_s) r_b.
 */
#include "method/shared/observed.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Which feature a component is. */
static int64_t place_of(const kfe_i_observed *o, int64_t lead, int64_t s)
{
    int64_t before = o->count - lead;

    return s < before ? s + lead : s - before;
}

/* out (count × d) = the r_s. */
static void find_directions(const kfe_i_observed *o, double *out)
{
    blasint d = (blasint)o->d;

    for (int64_t s = 0; s < o->count; s++) {
        double *r = out + s * o->d;
        const double *w = o->weights + s * o->d;
        memcpy(r, w, (size_t)o->d * sizeof *r);
        for (int64_t b = 0; b < s; b++)
            cblas_daxpy(d, -cblas_ddot(d, o->loadings + b * o->d, 1, w, 1), out + b * o->d, 1, r, 1);
    }
}

static kfe_status make_coefficients(const kfe_i_observed *o, int64_t lead, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *directions = NULL;

    KFE_ALLOC(o->ctx, directions, o->count * o->d);
    KFE_TRY(kfe_i_solution_begin(o->ctx, KFE_SOLUTION_PRIMAL, o->d, o->count, out));
    KFE_ALLOC(o->ctx, out->offset, o->count);
    find_directions(o, directions);
    for (int64_t s = 0; s < o->count; s++) {
        int64_t at = place_of(o, lead, s);
        const double *r = directions + s * o->d;
        for (int64_t j = 0; j < o->d; j++)
            out->coefficients[j * o->count + at] = r[j];
        out->offset[at] = o->unit * cblas_ddot((blasint)o->d, r, 1, o->means, 1);
    }
cleanup:
    kfe_i_free(o->ctx, directions);
    return status;
}

/* A copy of components, each times the sign of its feature. */
static void copy_components(const kfe_i_observed *o, const double *from, const int64_t *places,
                            const double *signs, double *to)
{
    memcpy(to, from, (size_t)(o->count * o->d) * sizeof *to);
    for (int64_t s = 0; s < o->count; s++)
        cblas_dscal((blasint)o->d, signs[places[s]], to + s * o->d, 1);
}

static kfe_status make_nipals(const kfe_i_observed *o, int64_t lead, const double *signs, kfe_i_nipals *out)
{
    kfe_status status = KFE_OK;
    int64_t size = o->count * o->d;

    *out = (kfe_i_nipals){.ctx = o->ctx, .cols = o->d, .dim = o->count};
    KFE_ALLOC(o->ctx, out->means, o->d);
    KFE_ALLOC(o->ctx, out->squares, o->d);
    KFE_ALLOC(o->ctx, out->weights, size);
    KFE_ALLOC(o->ctx, out->loadings, size);
    KFE_ALLOC(o->ctx, out->patterns, size);
    KFE_ALLOC(o->ctx, out->places, o->count);
    for (int64_t j = 0; j < o->d; j++) {
        double share = o->column_mass[j] > 0 ? o->mass / o->column_mass[j] : 0;
        out->means[j] = o->unit * o->means[j];
        out->squares[j] = o->unit * o->unit * o->squares[j] * share;
    }
    for (int64_t s = 0; s < o->count; s++)
        out->places[s] = place_of(o, lead, s);
    copy_components(o, o->weights, out->places, signs, out->weights);
    copy_components(o, o->loadings, out->places, signs, out->loadings);
    copy_components(o, o->patterns, out->places, signs, out->patterns);
cleanup:
    return status;
}

/* The largest cosine between the scores of two components: zero without missing values. */
static double orthogonality_loss(const kfe_i_observed *o)
{
    blasint n = (blasint)o->n;
    double largest = 0;

    for (int64_t a = 0; a < o->count; a++)
        for (int64_t b = 0; b < a; b++) {
            const double *t = o->scores + a * o->n;
            const double *u = o->scores + b * o->n;
            double lengths = cblas_dnrm2(n, t, 1) * cblas_dnrm2(n, u, 1);
            if (lengths > 0)
                largest = fmax(largest, fabs(cblas_ddot(n, t, 1, u, 1)) / lengths);
        }
    return largest;
}

static kfe_status record_loss(const kfe_i_observed *o, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double loss = orthogonality_loss(o);
    double missing = (double)o->row_start[o->n];
    double share = missing / ((double)o->n * (double)o->d);

    KFE_TRY(kfe_i_solution_record_as(out, KFE_RECORD_OF_ROWS, "missing-share", &share, 1));
    KFE_TRY(kfe_i_solution_record_as(out, KFE_RECORD_OF_ROWS, "orthogonality-loss", &loss, 1));
    kfe_i_log(
        o->ctx, KFE_LOG_INFO,
        "%s: NIPALS on observed entries, %.0f missing values (%.2g%%) left out; features are orthogonal up "
        "to a cosine of %.2g",
        o->setup.method, missing, 100 * share, loss);
cleanup:
    return status;
}

kfe_status kfe_i_observed_solution(kfe_i_observed *o, int64_t lead, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *signs = NULL;

    KFE_ALLOC(o->ctx, signs, o->count);
    KFE_TRY(make_coefficients(o, lead, out));
    KFE_TRY(kfe_i_solution_take_signs(out, signs));
    KFE_TRY(make_nipals(o, lead, signs, &out->nipals));
    KFE_TRY(record_loss(o, out));
cleanup:
    kfe_i_free(o->ctx, signs);
    return status;
}
