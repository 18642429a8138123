/* SPDX-License-Identifier: Apache-2.0 */
/* Predictive and orthogonal components of points; used by opls.c and kopls2.c. */
#include "method/orthogonal/orthogonal.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/shared/targets.h"

/* Images of the scores that keep less than this share of their norm beside the predictive directions are rounding error. */
#define KFE_COMPONENT_ROUNDING 1e-8

typedef struct components {
    kfe_context *ctx;
    kfe_i_arena memory;
    const char *method;
    int64_t n, rank;
    double *points;                /* F as it is filtered so far, n × rank */
    int64_t predictive;            /* columns of W */
    double *w;                     /* rank × predictive */
    int64_t count, most;           /* orthogonal components found, asked for */
    double *directions, *loadings; /* most × rank: w_o and p_o, one after the other */
    double *shares;                /* most: share of the variance of F that each takes away */
    double *scores;                /* n × max(predictive, 1): T, then t_o */
    double *images;                /* rank × predictive: FᵀT, then N */
    double *start, *along;         /* rank × predictive; predictive × predictive */
    double *squares;               /* of singular values, one per target */
} components;

/* The leading left singular vectors of a (n × cols), of which eigenvalues of aᵀa tell which are above rounding. */
static kfe_status left_vectors(components *s, int64_t n, int64_t cols, const double *a, int64_t most,
                               double *out, int64_t *found)
{
    return kfe_i_left_vectors(s->ctx, n, cols, a, most, 64 * (double)cols * DBL_EPSILON, s->squares, out,
                              found);
}

/* W from FᵀY. */
static kfe_status find_predictive(components *s, const kfe_i_target *target, int64_t asked)
{
    kfe_status status = KFE_OK;
    double *y = NULL;
    double *covariance;
    int64_t columns = 0;
    double unit = 1;

    KFE_TRY(kfe_i_centred_targets(s->ctx, target, &y, &columns, &unit));
    KFE_TAKE(&s->memory, covariance, s->rank * columns);
    KFE_TAKE(&s->memory, s->w, s->rank * columns);
    KFE_TAKE(&s->memory, s->squares, columns);
    kfe_i_transpose_times(s->rank, s->n, columns, s->points, y, covariance);
    KFE_TRY(left_vectors(s, s->rank, columns, covariance, asked > 0 ? asked : columns, s->w, &s->predictive));
    if (s->predictive == 0)
        KFE_FAIL(s->ctx, KFE_EINPUT,
                 "%s: the data does not covary with the target; there is nothing to learn", s->method);
    if (s->predictive < asked)
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: %lld predictive features were asked for, but the targets have %lld directions",
                  s->method, (long long)asked, (long long)s->predictive);
cleanup:
    kfe_i_free(s->ctx, y);
    return status;
}

static kfe_status open_components(components *s, const kfe_i_factor *f)
{
    kfe_status status = KFE_OK;

    KFE_TAKE(&s->memory, s->points, s->n * s->rank);
    memcpy(s->points, f->points, (size_t)(s->n * s->rank) * sizeof *s->points);
    s->most = s->most < s->rank ? s->most : s->rank;
    KFE_TAKE(&s->memory, s->directions, s->most * s->rank);
    KFE_TAKE(&s->memory, s->loadings, s->most * s->rank);
    KFE_TAKE(&s->memory, s->shares, s->most);
cleanup:
    return status;
}

static kfe_status open_workspace(components *s)
{
    kfe_status status = KFE_OK;
    int64_t k = s->predictive;

    KFE_TAKE(&s->memory, s->scores, s->n * k);
    KFE_TAKE(&s->memory, s->images, s->rank * k);
    KFE_TAKE(&s->memory, s->start, s->rank * k);
    KFE_TAKE(&s->memory, s->along, k * k);
cleanup:
    return status;
}

/* direction = w_o; *found = 0 if the predictive scores carry nothing else than what predicts. */
static kfe_status find_orthogonal(components *s, double *direction, int *found)
{
    kfe_status status = KFE_OK;
    int64_t k = s->predictive;
    int64_t count = 0;

    kfe_i_times(s->n, s->rank, k, s->points, s->w, s->scores);
    kfe_i_transpose_times(s->rank, s->n, k, s->points, s->scores, s->images);
    double before = cblas_dnrm2((blasint)(s->rank * k), s->images, 1);
    kfe_i_transpose_times(k, s->rank, k, s->w, s->images, s->along);
    kfe_i_times(s->rank, k, k, s->w, s->along, s->start);
    cblas_daxpy((blasint)(s->rank * k), -1, s->start, 1, s->images, 1);
    double after = cblas_dnrm2((blasint)(s->rank * k), s->images, 1);
    *found = after > KFE_COMPONENT_ROUNDING * before;
    if (*found)
        KFE_TRY(left_vectors(s, s->rank, k, s->images, 1, direction, &count));
    *found = count == 1;
cleanup:
    return status;
}

/* Takes the component along w_o out of the points. */
static void filter(components *s, double total)
{
    const double *direction = s->directions + s->count * s->rank;
    double *loading = s->loadings + s->count * s->rank;
    blasint n = (blasint)s->n;
    blasint r = (blasint)s->rank;

    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, r, 1, s->points, r, direction, 1, 0, s->scores, 1);
    double square = cblas_ddot(n, s->scores, 1, s->scores, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, r, 1 / square, s->points, r, s->scores, 1, 0, loading, 1);
    cblas_dger(CblasRowMajor, n, r, -1, s->scores, 1, loading, 1, s->points, r);
    s->shares[s->count] = square * cblas_ddot(r, loading, 1, loading, 1) / total;
    s->count++;
}

static kfe_status find_all_orthogonal(components *s, int64_t asked)
{
    kfe_status status = KFE_OK;
    double total = pow(cblas_dnrm2((blasint)(s->n * s->rank), s->points, 1), 2);
    int found = 1;

    while (s->count < s->most) {
        KFE_TRY(kfe_i_progress(s->ctx, "finding orthogonal components", s->count, s->most));
        KFE_TRY(find_orthogonal(s, s->directions + s->count * s->rank, &found));
        if (!found)
            break;
        filter(s, total);
    }
    if (s->count < asked)
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: %lld orthogonal components were asked for, but there are only %lld", s->method,
                  (long long)asked, (long long)s->count);
cleanup:
    return status;
}

/* v (rank) ← Π_{i < filters} (I − w_o p_oᵀ) v, the direction on the original points. */
static void unfilter(const components *s, int64_t filters, double *v)
{
    blasint r = (blasint)s->rank;

    for (int64_t i = filters - 1; i >= 0; i--) {
        double along = cblas_ddot(r, s->loadings + i * s->rank, 1, v, 1);
        cblas_daxpy(r, -along, s->directions + i * s->rank, 1, v, 1);
    }
}

static kfe_status make_solution(components *s, const kfe_i_factor *f, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t dim = s->predictive + s->count;
    double predictive = (double)s->predictive;
    double *all, *v;

    KFE_TAKE(&s->memory, all, s->rank * dim);
    KFE_TAKE(&s->memory, v, s->rank);
    for (int64_t j = 0; j < dim; j++) {
        int64_t o = j - s->predictive;
        for (int64_t l = 0; l < s->rank; l++)
            v[l] = o < 0 ? s->w[l * s->predictive + j] : s->directions[o * s->rank + l];
        unfilter(s, o < 0 ? s->count : o, v);
        for (int64_t l = 0; l < s->rank; l++)
            all[l * dim + j] = v[l];
    }
    KFE_TRY(kfe_i_factor_solution(f, all, dim, out));
    KFE_TRY(kfe_i_solution_fix_signs(out));
    KFE_TRY(kfe_i_solution_record(out, "predictive", &predictive, 1));
    KFE_TRY(kfe_i_solution_record(out, "orthogonal-shares", s->shares, s->count));
cleanup:
    return status;
}

kfe_status kfe_i_orthogonal_fit(const char *method, const kfe_i_factor *factor, const kfe_i_target *target,
                                const kfe_i_orthogonal_settings *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    components s = {.ctx = factor->ctx,
                    .memory = {.ctx = factor->ctx},
                    .method = method,
                    .n = factor->n,
                    .rank = factor->rank,
                    .most = settings->orthogonal};

    KFE_TRY(open_components(&s, factor));
    KFE_TRY(find_predictive(&s, target, settings->predictive));
    KFE_TRY(open_workspace(&s));
    KFE_TRY(find_all_orthogonal(&s, settings->orthogonal));
    KFE_TRY(make_solution(&s, factor, out));
cleanup:
    kfe_i_arena_free(&s.memory);
    return status;
}
