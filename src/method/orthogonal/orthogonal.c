/* SPDX-License-Identifier: Apache-2.0 */
/* Predictive and orthogonal components of points; used by opls.c and kopls2.c. */
#include "method/orthogonal/orthogonal.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/dense/linalg.h"
#include "method/shared/targets.h"

/* Images of the scores that keep less than this share of their norm beside the predictive directions are rounding error. */
#define KFE_COMPONENT_ROUNDING 1e-8

typedef struct components {
    kfe_context *ctx;
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
} components;

static void product(int transpose, int64_t m, int64_t n, int64_t k, const double *a, const double *b,
                    double *out)
{
    cblas_dgemm(CblasRowMajor, transpose ? CblasTrans : CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n,
                (blasint)k, 1, a, (blasint)(transpose ? m : k), b, (blasint)n, 0, out, (blasint)n);
}

/* The leading left singular vectors of a (n × cols) as columns of out (n × *found), at most `most`: those above rounding. The
 * eigenvalues of aᵀa are exact to about cols·ε of the largest. */
static kfe_status left_vectors(kfe_context *ctx, int64_t n, int64_t cols, const double *a, int64_t most,
                               double *out, int64_t *found)
{
    kfe_status status = KFE_OK;
    double *inner = NULL;
    double *values = NULL;
    double *vectors = NULL;

    KFE_ALLOC(ctx, inner, cols * cols);
    KFE_ALLOC(ctx, values, cols);
    KFE_ALLOC(ctx, vectors, cols * cols);
    product(1, cols, cols, n, a, a, inner);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, cols, inner, cols, values, vectors));
    *found = 0;
    while (*found < most && *found < cols && values[*found] > 64 * (double)cols * DBL_EPSILON * values[0])
        ++*found;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < *found; j++) {
            double sum = 0;
            for (int64_t c = 0; c < cols; c++)
                sum += a[i * cols + c] * vectors[c * cols + j];
            out[i * *found + j] = sum / sqrt(values[j]);
        }
cleanup:
    kfe_i_free(ctx, inner);
    kfe_i_free(ctx, values);
    kfe_i_free(ctx, vectors);
    return status;
}

/* W from FᵀY. */
static kfe_status find_predictive(components *s, const kfe_i_target *target, int64_t asked)
{
    kfe_status status = KFE_OK;
    double *y = NULL;
    double *covariance = NULL;
    int64_t columns = 0;
    double unit = 1;

    KFE_TRY(kfe_i_centred_targets(s->ctx, target, &y, &columns, &unit));
    KFE_ALLOC(s->ctx, covariance, s->rank * columns);
    KFE_ALLOC(s->ctx, s->w, s->rank * columns);
    product(1, s->rank, columns, s->n, s->points, y, covariance);
    KFE_TRY(left_vectors(s->ctx, s->rank, columns, covariance, asked > 0 ? asked : columns, s->w,
                         &s->predictive));
    if (s->predictive == 0)
        KFE_FAIL(s->ctx, KFE_EINPUT,
                 "%s: the data does not covary with the target; there is nothing to learn", s->method);
    if (s->predictive < asked)
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: %lld predictive features were asked for, but the targets have %lld directions",
                  s->method, (long long)asked, (long long)s->predictive);
cleanup:
    kfe_i_free(s->ctx, y);
    kfe_i_free(s->ctx, covariance);
    return status;
}

static kfe_status open_components(components *s, const kfe_i_factor *f)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(s->ctx, s->points, s->n * s->rank);
    memcpy(s->points, f->points, (size_t)(s->n * s->rank) * sizeof *s->points);
    s->most = s->most < s->rank ? s->most : s->rank;
    KFE_ALLOC(s->ctx, s->directions, s->most * s->rank);
    KFE_ALLOC(s->ctx, s->loadings, s->most * s->rank);
    KFE_ALLOC(s->ctx, s->shares, s->most);
cleanup:
    return status;
}

static kfe_status open_workspace(components *s)
{
    kfe_status status = KFE_OK;
    int64_t k = s->predictive;

    KFE_ALLOC(s->ctx, s->scores, s->n * k);
    KFE_ALLOC(s->ctx, s->images, s->rank * k);
    KFE_ALLOC(s->ctx, s->start, s->rank * k);
    KFE_ALLOC(s->ctx, s->along, k * k);
cleanup:
    return status;
}

static void close_components(components *s)
{
    kfe_i_free(s->ctx, s->points);
    kfe_i_free(s->ctx, s->w);
    kfe_i_free(s->ctx, s->directions);
    kfe_i_free(s->ctx, s->loadings);
    kfe_i_free(s->ctx, s->shares);
    kfe_i_free(s->ctx, s->scores);
    kfe_i_free(s->ctx, s->images);
    kfe_i_free(s->ctx, s->start);
    kfe_i_free(s->ctx, s->along);
}

/* direction = w_o; *found = 0 if the predictive scores carry nothing else than what predicts. */
static kfe_status find_orthogonal(components *s, double *direction, int *found)
{
    kfe_status status = KFE_OK;
    int64_t k = s->predictive;
    int64_t count = 0;

    product(0, s->n, k, s->rank, s->points, s->w, s->scores);
    product(1, s->rank, k, s->n, s->points, s->scores, s->images);
    double before = cblas_dnrm2((blasint)(s->rank * k), s->images, 1);
    product(1, k, k, s->rank, s->w, s->images, s->along);
    product(0, s->rank, k, k, s->w, s->along, s->start);
    cblas_daxpy((blasint)(s->rank * k), -1, s->start, 1, s->images, 1);
    double after = cblas_dnrm2((blasint)(s->rank * k), s->images, 1);
    *found = after > KFE_COMPONENT_ROUNDING * before;
    if (*found)
        KFE_TRY(left_vectors(s->ctx, s->rank, k, s->images, 1, direction, &count));
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
        KFE_TRY(kfe_i_checkpoint(s->ctx, "finding orthogonal components", s->count, s->most));
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

static kfe_status make_solution(const components *s, const kfe_i_factor *f, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t dim = s->predictive + s->count;
    double predictive = (double)s->predictive;
    double *all = NULL;
    double *v = NULL;

    KFE_ALLOC(s->ctx, all, s->rank * dim);
    KFE_ALLOC(s->ctx, v, s->rank);
    for (int64_t j = 0; j < dim; j++) {
        int64_t o = j - s->predictive;
        for (int64_t l = 0; l < s->rank; l++)
            v[l] = o < 0 ? s->w[l * s->predictive + j] : s->directions[o * s->rank + l];
        unfilter(s, o < 0 ? s->count : o, v);
        for (int64_t l = 0; l < s->rank; l++)
            all[l * dim + j] = v[l];
    }
    KFE_TRY(kfe_i_factor_solution(f, all, dim, out));
    kfe_i_solution_fix_signs(out);
    KFE_TRY(kfe_i_solution_record(out, "predictive", &predictive, 1));
    KFE_TRY(kfe_i_solution_record(out, "orthogonal-shares", s->shares, s->count));
cleanup:
    kfe_i_free(s->ctx, all);
    kfe_i_free(s->ctx, v);
    return status;
}

kfe_status kfe_i_orthogonal_fit(const char *method, const kfe_i_factor *factor, const kfe_i_target *target,
                                const kfe_i_orthogonal_settings *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    components s = {.ctx = factor->ctx,
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
    close_components(&s);
    return status;
}
