/* SPDX-License-Identifier: Apache-2.0 */
/* Discriminant analysis in few dimensions, for kda-qr and akda-qr: scatter matrices and their generalized eigenvectors. */
#include "method/centroid/discriminant.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

/* The ridge, as a share of the trace of the total scatter, where the scatter is singular and no ridge was asked for: far
 * below any scatter of data, far above rounding. */
#define KFE_SCATTER_RIDGE 1e-10

/* out += weight · x xᵀ */
static void add_outer(int64_t q, double weight, const double *x, double *out)
{
    for (int64_t i = 0; i < q; i++)
        for (int64_t j = 0; j < q; j++)
            out[i * q + j] += weight * x[i] * x[j];
}

kfe_status kfe_i_scatters(kfe_context *ctx, const kfe_i_groups *groups, const double *z, int64_t q,
                          double *between, double *within)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    double mass = kfe_i_groups_mass(groups);
    double *means, *overall, *difference;

    KFE_TAKE_ZERO(&memory, means, groups->count * q);
    KFE_TAKE_ZERO(&memory, overall, q);
    KFE_TAKE(&memory, difference, q);
    memset(between, 0, (size_t)(q * q) * sizeof *between);
    memset(within, 0, (size_t)(q * q) * sizeof *within);
    for (int64_t i = 0; i < groups->rows; i++)
        for (int64_t j = 0; j < q; j++) {
            double value = kfe_i_group_root(groups, i) * z[i * q + j];
            means[groups->of[i] * q + j] += value / groups->sizes[groups->of[i]];
            overall[j] += value / mass;
        }
    for (int64_t i = 0; i < groups->rows; i++) {
        for (int64_t j = 0; j < q; j++)
            difference[j] = z[i * q + j] - kfe_i_group_root(groups, i) * means[groups->of[i] * q + j];
        add_outer(q, 1, difference, within);
    }
    for (int64_t g = 0; g < groups->count; g++) {
        for (int64_t j = 0; j < q; j++)
            difference[j] = means[g * q + j] - overall[j];
        add_outer(q, groups->sizes[g], difference, between);
    }
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* Adds `share` of its mean diagonal to the diagonal of the scatter a, or, if that leaves a singular, the least that makes it
 * regular; `total` is the trace of the total scatter. */
static kfe_status add_ridge(kfe_context *ctx, int64_t q, double share, double total, double *a)
{
    kfe_status status = KFE_OK;
    int64_t *kept = NULL;
    int64_t rank = 0;
    double ridge = share * kfe_i_trace(q, a) / (double)q;

    KFE_ALLOC(ctx, kept, q);
    KFE_TRY(kfe_i_independent(ctx, q, a, KFE_RANK_TOLERANCE, kept, &rank));
    if (rank < q)
        ridge = fmax(ridge, total > 0 ? KFE_SCATTER_RIDGE * total : 1);
    kfe_i_add_to_diagonal(q, ridge, a);
cleanup:
    kfe_i_free(ctx, kept);
    return status;
}

/* All q directions in columns (q × q), by falling ratio, scaled to unit scatter. */
static kfe_status discriminate(kfe_context *ctx, const kfe_i_discriminant_space *space,
                               const kfe_i_discriminant_settings *settings, double *directions,
                               double *ratios)
{
    kfe_status status = KFE_OK;
    int64_t q = space->q;
    double total = kfe_i_trace(q, space->between) + kfe_i_trace(q, space->within);

    if (settings->scatter == KFE_SCATTER_TOTAL)
        cblas_daxpy((blasint)(q * q), 1, space->between, 1, space->within, 1);
    KFE_TRY(add_ridge(ctx, q, settings->ridge, total, space->within));
    KFE_TRY(kfe_i_generalized_eigen(ctx, q, space->between, space->within, ratios, directions));
cleanup:
    return status;
}

/* How many of the q falling ratios give a feature: those above rounding, and one of ratio zero if it is the only one, since
 * the direction orthogonal to all differences of class means is unique. */
static kfe_status usable_directions(kfe_context *ctx, const kfe_i_discriminant_space *space,
                                    const double *ratios, int64_t *usable)
{
    int64_t most = space->q < space->classes - 1 ? space->q : space->classes - 1;
    /* the second term: rounding of the between-class scatter over the smallest ridge */
    double smallest = fmax(KFE_RANK_TOLERANCE, 100 * DBL_EPSILON * ratios[0]);

    *usable = kfe_i_count_above(most, ratios, smallest);
    if (*usable == 0)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: the classes have the same centroid; there is nothing to discriminate",
                          space->method);
    if (*usable + 1 == space->q)
        (*usable)++;
    return KFE_OK;
}

static void scale_to_unit_length(int64_t q, double *directions)
{
    for (int64_t j = 0; j < q; j++)
        cblas_dscal((blasint)q, 1 / cblas_dnrm2((blasint)q, directions + j, (blasint)q), directions + j,
                    (blasint)q);
}

void kfe_i_scatters_from_sums(const kfe_i_sums *z, double *between, double *within)
{
    int64_t q = z->cols;

    for (int64_t i = 0; i < q; i++)
        for (int64_t j = 0; j < q; j++) {
            double sum = 0;
            for (int64_t g = 0; g < z->classes; g++)
                sum += z->class_rows[g] * (z->class_means[g * q + i] - z->mean[i]) *
                       (z->class_means[g * q + j] - z->mean[j]);
            between[i * q + j] = sum;
            within[i * q + j] = (i < j ? z->scatter[i * q + j] : z->scatter[j * q + i]) - sum;
        }
}

kfe_status kfe_i_discriminants(kfe_context *ctx, const kfe_i_discriminant_space *space,
                               const kfe_i_discriminant_settings *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t q = space->q;
    int64_t usable = 0;
    kfe_i_arena memory = {.ctx = ctx};
    double *directions, *ratios;

    KFE_TAKE(&memory, directions, q * q);
    KFE_TAKE(&memory, ratios, q);
    KFE_TRY(discriminate(ctx, space, settings, directions, ratios));
    KFE_TRY(usable_directions(ctx, space, ratios, &usable));
    if (!settings->whiten)
        scale_to_unit_length(q, directions);
    int64_t dim = kfe_i_clamp_dim(ctx, space->method, settings->dim, usable,
                                  "there are no more directions between the classes");
    KFE_TRY(kfe_i_solution_begin(ctx, space->kind, space->rows, dim, out));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)space->rows, (blasint)dim, (blasint)q, 1,
                space->basis, (blasint)q, directions, (blasint)q, 0, out->coefficients, (blasint)dim);
    KFE_TRY(kfe_i_solution_record(out, "scatter-ratios", ratios, dim));
    KFE_TRY(kfe_i_solution_fix_signs(out));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}
