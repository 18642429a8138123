/* SPDX-License-Identifier: Apache-2.0 */
/* The eigenproblem of kcca and kgcca on the eigenvectors of the views (canonical.h), and the correlations of its features. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/canonical/canonical.h"

int64_t kfe_i_canonical_most(const kfe_i_canonical_part *parts, int64_t count)
{
    int64_t sum = 0;
    int64_t largest = 0;

    for (int64_t v = 0; v < count; v++) {
        sum += parts[v].rank;
        largest = parts[v].rank > largest ? parts[v].rank : largest;
    }
    return sum - largest;
}

void kfe_i_canonical_cross(const kfe_i_canonical_part *parts, int64_t count, int64_t n, double *out)
{
    int64_t total = 0;
    int64_t row = 0;

    for (int64_t v = 0; v < count; v++)
        total += parts[v].rank;
    for (int64_t u = 0; u < count; row += parts[u++].rank) {
        int64_t col = row + parts[u].rank;
        for (int64_t i = 0; i < parts[u].rank; i++) {
            memset(out + (row + i) * total + row, 0, (size_t)parts[u].rank * sizeof *out);
            out[(row + i) * total + row + i] = 1;
        }
        for (int64_t v = u + 1; v < count; col += parts[v++].rank) {
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)parts[u].rank,
                        (blasint)parts[v].rank, (blasint)n, 1, parts[u].vectors, (blasint)parts[u].rank,
                        parts[v].vectors, (blasint)parts[v].rank, 0, out + row * total + col, (blasint)total);
            for (int64_t i = 0; i < parts[u].rank; i++)
                for (int64_t j = 0; j < parts[v].rank; j++)
                    out[(col + j) * total + row + i] = out[(row + i) * total + col + j];
        }
    }
}

/* (Λ + ρ)^(−1/2) of every part, one after the other. */
static void inverse_roots(const kfe_i_canonical_job *job, double *out)
{
    for (int64_t v = 0; v < job->count; v++) {
        const kfe_i_canonical_part *part = &job->parts[v];
        double trace = 0;
        for (int64_t i = 0; i < part->rank; i++)
            trace += part->values[i];
        double ridge = part->plain ? 0 : job->ridge * trace;
        for (int64_t i = 0; i < part->rank; i++)
            *out++ = 1 / sqrt(part->values[i] + ridge);
    }
}

/* Λ^(1/2) of every part. */
static void roots_of(const kfe_i_canonical_job *job, double *out)
{
    for (int64_t v = 0; v < job->count; v++)
        for (int64_t i = 0; i < job->parts[v].rank; i++)
            *out++ = sqrt(job->parts[v].values[i]);
}

/* R, or R with diagonal blocks of zeros. */
static void fill_matrix(const kfe_i_canonical_job *job, const double *shrink, double *out)
{
    int64_t first = 0;

    for (int64_t v = 0; v < job->count; first += job->parts[v++].rank)
        for (int64_t i = first; i < first + job->parts[v].rank; i++)
            for (int64_t j = 0; j < job->total; j++) {
                int own = j >= first && j < first + job->parts[v].rank;
                out[i * job->total + j] = own && job->rule == KFE_CANONICAL_PAIRS
                                              ? 0
                                              : shrink[i] * shrink[j] * job->cross[i * job->total + j];
            }
}

kfe_status kfe_i_canonical_solve(const kfe_i_canonical_job *job, int64_t dim, double *values,
                                 double *directions)
{
    kfe_status status = KFE_OK;
    int64_t r = job->total;
    kfe_i_arena memory = {.ctx = job->ctx};
    double *inverse, *shrink, *matrix;

    KFE_TAKE(&memory, inverse, r);
    KFE_TAKE(&memory, shrink, r);
    KFE_TAKE(&memory, matrix, r * r);
    inverse_roots(job, inverse);
    roots_of(job, shrink);
    for (int64_t i = 0; i < r; i++)
        shrink[i] *= inverse[i];
    fill_matrix(job, shrink, matrix);
    KFE_TRY(kfe_i_symmetric_eigen(job->ctx, r, matrix, dim, values, directions));
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < dim; j++)
            directions[i * dim + j] *=
                inverse[i] * sqrt(job->rule == KFE_CANONICAL_PAIRS ? (double)job->count : fmax(0, values[j]));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* products (count × count) = f_uᵀf_v of feature j. */
static void products_of(const kfe_i_canonical_job *job, const double *scaled, int64_t dim, int64_t j,
                        double *work, double *products)
{
    int64_t r = job->total;
    int64_t row = 0;

    for (int64_t u = 0; u < job->count; row += job->parts[u++].rank) {
        int64_t col = 0;
        /* work = (scaled part of u)ᵀ · cross */
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)job->parts[u].rank, (blasint)r, 1,
                    job->cross + row * r, (blasint)r, scaled + row * dim + j, (blasint)dim, 0, work, 1);
        for (int64_t v = 0; v < job->count; col += job->parts[v++].rank)
            products[u * job->count + v] =
                cblas_ddot((blasint)job->parts[v].rank, work + col, 1, scaled + col * dim + j, (blasint)dim);
    }
}

/* The mean correlation over pairs of parts, and that of each part with the sum of all. */
static double correlate(const double *products, int64_t count, int64_t dim, double *with_sum)
{
    double mean = 0;
    double all = 0;

    for (int64_t p = 0; p < count * count; p++)
        all += products[p];
    for (int64_t u = 0; u < count; u++) {
        double own = products[u * count + u];
        double sum = 0;
        for (int64_t v = 0; v < count; v++) {
            double lengths = sqrt(own * products[v * count + v]);
            sum += products[u * count + v];
            if (v < u && lengths > 0)
                mean += products[u * count + v] / lengths * 2 / (double)(count * (count - 1));
        }
        with_sum[u * dim] = own > 0 && all > 0 ? sum / sqrt(own * all) : 0;
    }
    return mean;
}

kfe_status kfe_i_canonical_correlations(const kfe_i_canonical_job *job, int64_t dim, const double *directions,
                                        double *pairs, double *parts)
{
    kfe_status status = KFE_OK;
    int64_t r = job->total;
    kfe_i_arena memory = {.ctx = job->ctx};
    double *scaled, *work, *products;

    KFE_TAKE(&memory, scaled, r * dim);
    KFE_TAKE(&memory, work, r);
    KFE_TAKE(&memory, products, job->count * job->count);
    roots_of(job, work);
    memcpy(scaled, directions, (size_t)(r * dim) * sizeof *scaled);
    kfe_i_scale_rows(r, dim, work, scaled);
    for (int64_t j = 0; j < dim; j++) {
        products_of(job, scaled, dim, j, work, products);
        pairs[j] = correlate(products, job->count, dim, parts + j);
    }
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}
