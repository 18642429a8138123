/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whitened scores, and the spread of distances that is expected of normally distributed rows, for models made from sums over rows that are
 * not at hand (accumulate/finish.c, model/fit.c).
 *
 * With n rows and r scores, T² = (n − 1)‖u‖² of a training row is (n − 1)²/n times a Beta variable with the parameters r/2 and
 * (n − r − 1)/2 (Tracy, Young & Mason 1992). The residuals have the scatter E = S − BBᵀ, S that of the columns. Q has the mean tr E/n,
 * and the variance 2‖E/(n − 1)‖² (Box 1954, Theorem 2.2). Time O(d²r).
 */
#include "method/shared/spread.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"

/* Directions of the correlations of the features below this share of the largest one are rounding. */
#define LEAST_SHARE 1e-11

void kfe_i_whitening_free(kfe_i_whitening *w)
{
    if (w->ctx) {
        kfe_i_free(w->ctx, w->map);
        kfe_i_free(w->ctx, w->basis);
    }
    memset(w, 0, sizeof *w);
}

/* The correlations of the features, and one over the length of each; 0: the feature is constant. */
static void correlate(const kfe_i_moments *m, double *lengths, double *out)
{
    int64_t k = m->dim;

    for (int64_t a = 0; a < k; a++) {
        double square = m->products[a * k + a];
        lengths[a] = square > 0 ? 1 / sqrt(square) : 0;
    }
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b < k; b++)
            out[a * k + b] = m->products[a * k + b] * lengths[a] * lengths[b];
}

static kfe_status find_map(const kfe_i_moments *m, kfe_i_whitening *w)
{
    kfe_status status = KFE_OK;
    int64_t k = m->dim;
    double *lengths = NULL;
    double *products = NULL;
    double *values = NULL;
    double *vectors = NULL;

    KFE_ALLOC(w->ctx, lengths, k);
    KFE_ALLOC(w->ctx, products, k * k);
    KFE_ALLOC(w->ctx, values, k);
    KFE_ALLOC(w->ctx, vectors, k * k);
    correlate(m, lengths, products);
    KFE_TRY(kfe_i_symmetric_eigen(w->ctx, k, products, k, values, vectors));
    while (w->rank < k && values[w->rank] > LEAST_SHARE * values[0])
        w->rank++;
    KFE_ALLOC(w->ctx, w->map, k * w->rank);
    for (int64_t a = 0; a < k; a++)
        for (int64_t e = 0; e < w->rank; e++)
            w->map[a * w->rank + e] = lengths[a] * vectors[a * k + e] / sqrt(values[e]);
cleanup:
    kfe_i_free(w->ctx, lengths);
    kfe_i_free(w->ctx, products);
    kfe_i_free(w->ctx, values);
    kfe_i_free(w->ctx, vectors);
    return status;
}

kfe_status kfe_i_whiten(kfe_context *ctx, const kfe_i_moments *m, kfe_i_whitening *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_whitening){.ctx = ctx};
    KFE_TRY(find_map(m, out));
    if (m->cols == 0)
        goto cleanup;
    KFE_ALLOC(ctx, out->basis, m->cols * out->rank);
    if (out->rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m->cols, (blasint)out->rank,
                    (blasint)m->dim, 1, m->cross, (blasint)m->dim, out->map, (blasint)out->rank, 0,
                    out->basis, (blasint)out->rank);
cleanup:
    return status;
}

/* The variance of T² over the training rows. */
static double expect_t2_variance(double n, double r)
{
    double a = r / 2;
    double b = (n - r - 1) / 2;
    double size = (n - 1) * (n - 1) / n;

    return b > 0 ? size * size * a * b / ((a + b) * (a + b) * (a + b + 1)) : 0;
}

/* trace = tr E and squares = ‖E‖², row after row of E. */
static void measure_rest(const kfe_i_sums *s, const kfe_i_whitening *w, double *row, double *trace,
                         double *squares)
{
    int64_t d = s->cols;

    *trace = *squares = 0;
    for (int64_t i = 0; i < d; i++) {
        memcpy(row + i, s->scatter + i * d + i, (size_t)(d - i) * sizeof *row);
        if (w->rank > 0)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)(d - i), (blasint)w->rank, -1,
                        w->basis + i * w->rank, (blasint)w->rank, w->basis + i * w->rank, 1, 1, row + i, 1);
        *trace += row[i];
        *squares += 2 * cblas_ddot((blasint)(d - i), row + i, 1, row + i, 1) - row[i] * row[i];
    }
}

kfe_status kfe_i_spread_expect(kfe_context *ctx, const kfe_i_sums *columns, double mass, kfe_i_moments *m)
{
    kfe_status status = KFE_OK;
    kfe_i_whitening w = {0};
    double *row = NULL;
    double trace = 0;
    double squares = 0;

    KFE_TRY(kfe_i_whiten(ctx, m, &w));
    KFE_ALLOC_ZERO(ctx, m->spread, kfe_i_spread_count(m));
    m->spread[KFE_SPREAD_MASS] = mass;
    m->spread[KFE_SPREAD_T2_VARIANCE] = expect_t2_variance(mass, (double)w.rank);
    if (m->cols == 0)
        goto cleanup;
    KFE_ALLOC(ctx, row, m->cols);
    measure_rest(columns, &w, row, &trace, &squares);
    m->spread[KFE_SPREAD_Q_MEAN] = fmax(trace, 0) / mass;
    if (mass > 1)
        m->spread[KFE_SPREAD_Q_VARIANCE] = 2 * squares / ((mass - 1) * (mass - 1));
cleanup:
    kfe_i_free(ctx, row);
    kfe_i_whitening_free(&w);
    return status;
}
