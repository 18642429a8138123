/* SPDX-License-Identifier: Apache-2.0 */
/* Points that represent the columns of a table or a kernel matrix; used by the families fisher and orthogonal. */
#include "method/shared/factor.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/solve/positive.h"

/* Deviations from the mean below this share of it are rounding error. */
#define KFE_DEVIATION_ROUNDING (16 * DBL_EPSILON)

/* Columns that vary only by rounding become zero: a constant is not a direction. */
static void drop_constants(const double *roots, kfe_i_factor *f)
{
    for (int64_t j = 0; j < f->rank; j++) {
        int varies = 0;
        for (int64_t i = 0; i < f->n && !varies; i++)
            varies = fabs(f->points[i * f->rank + j]) >
                     KFE_DEVIATION_ROUNDING * fabs((roots ? roots[i] : 1) * f->means[j]);
        for (int64_t i = 0; i < f->n && !varies; i++)
            f->points[i * f->rank + j] = 0;
    }
}

kfe_status kfe_i_factor_columns(kfe_context *ctx, const kfe_i_fit_source *source, kfe_i_factor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *gram = NULL;
    const kfe_i_table *table = NULL;

    KFE_TRY(kfe_i_ask_factor(ctx, source, &gram, &table, NULL));
    int64_t d = table->cols;
    const double *roots = gram->roots;
    double mass = kfe_i_gram_mass(gram);
    *out = (kfe_i_factor){.ctx = ctx, .n = table->rows, .rank = d};
    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)d * (double)(table->rows + 3 * d),
                               "a dense copy of the data and scatter matrices", "raise {memory}"));
    KFE_ALLOC(ctx, out->points, table->rows * d);
    KFE_ALLOC_ZERO(ctx, out->means, d);
    for (int64_t i = 0; i < table->rows; i++) {
        kfe_i_table_dense_row(table, i, out->points + i * d);
        for (int64_t j = 0; j < d; j++)
            out->means[j] += (roots ? roots[i] : 1) * out->points[i * d + j] / mass;
    }
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < d; j++)
            out->points[i * d + j] -= (roots ? roots[i] : 1) * out->means[j];
    drop_constants(roots, out);
cleanup:
    return status;
}

/* Negative eigenvalues are left out; a warning says so. */
static kfe_status note_negative(const char *method, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                                double largest)
{
    kfe_status status = KFE_OK;
    double least = 0;

    if (!kfe_i_kernel_list_may_be_indefinite(source->kernels))
        return KFE_OK;
    KFE_TRY(kfe_i_gram_least_eigenvalue(gram, &least));
    KFE_TRY(kfe_i_warn_if_indefinite(gram, method, fmax(largest, -least), least));
cleanup:
    return status;
}

/* F = UΛ^(1/2) of the eigenvalues above rounding. */
static kfe_status keep_positive(kfe_i_factor *f, int64_t asked, double rounding, double tolerance)
{
    kfe_status status = KFE_OK;
    double *kept = NULL;

    f->rank = 0;
    while (f->rank < asked && f->values[f->rank] > rounding && f->values[f->rank] > tolerance * f->values[0])
        f->rank++;
    KFE_ALLOC(f->ctx, kept, f->n * f->rank);
    KFE_ALLOC(f->ctx, f->points, f->n * f->rank);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->rank; j++) {
            kept[i * f->rank + j] = f->vectors[i * asked + j];
            f->points[i * f->rank + j] = f->vectors[i * asked + j] * sqrt(f->values[j]);
        }
    kfe_i_free(f->ctx, f->vectors);
    f->vectors = kept;
    kept = NULL;
cleanup:
    kfe_i_free(f->ctx, kept);
    return status;
}

kfe_status kfe_i_factor_kernel(kfe_context *ctx, const char *method, const kfe_i_fit_source *source,
                               int64_t rank, kfe_i_factor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *gram = NULL;
    int64_t asked = rank > 0 ? rank : KFE_FACTOR_RANK;
    double rounding = 0;

    *out = (kfe_i_factor){.ctx = ctx};
    KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
    int64_t n = out->n = gram->size;
    int64_t most = kfe_i_gram_rank_bound(gram);
    asked = asked < n ? asked : n;
    asked = most > 0 && most < asked ? most : asked;
    KFE_TRY(kfe_i_gram_centred(ctx, gram, &out->centred));
    KFE_ALLOC(ctx, out->values, asked);
    KFE_ALLOC(ctx, out->vectors, n * asked);
    KFE_TRY(kfe_i_gram_eigen(out->centred, asked, KFE_TOLERANCE, out->values, out->vectors));
    KFE_TRY(note_negative(method, source, gram, out->values[0]));
    KFE_TRY(kfe_i_gram_rounding(gram, &rounding));
    KFE_TRY(keep_positive(out, asked, rounding, kfe_i_gram_rank_tolerance(gram)));
    if (out->rank == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: all examples are the same to the kernel; there is nothing to learn",
                 method);
cleanup:
    return status;
}

void kfe_i_factor_free(kfe_i_factor *factor)
{
    if (factor->ctx) {
        kfe_i_gram_free(factor->centred);
        kfe_i_free(factor->ctx, factor->points);
        kfe_i_free(factor->ctx, factor->means);
        kfe_i_free(factor->ctx, factor->values);
        kfe_i_free(factor->ctx, factor->vectors);
    }
    memset(factor, 0, sizeof *factor);
}

static kfe_status primal_solution(const kfe_i_factor *f, const double *w, int64_t dim, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_solution_begin(f->ctx, KFE_SOLUTION_PRIMAL, f->rank, dim, out));
    memcpy(out->coefficients, w, (size_t)(f->rank * dim) * sizeof *w);
    KFE_ALLOC_ZERO(f->ctx, out->offset, dim);
    for (int64_t l = 0; l < f->rank; l++)
        for (int64_t j = 0; j < dim; j++)
            out->offset[j] += w[l * dim + j] * f->means[l];
cleanup:
    return status;
}

kfe_status kfe_i_factor_solution(const kfe_i_factor *f, const double *w, int64_t dim, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *scaled = NULL;

    if (f->means)
        return primal_solution(f, w, dim, out);
    KFE_ALLOC(f->ctx, scaled, f->rank * dim);
    for (int64_t r = 0; r < f->rank; r++)
        for (int64_t j = 0; j < dim; j++)
            scaled[r * dim + j] = w[r * dim + j] / sqrt(f->values[r]);
    KFE_TRY(kfe_i_solution_begin(f->ctx, KFE_SOLUTION_DUAL, f->n, dim, out));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)f->n, (blasint)dim, (blasint)f->rank, 1,
                f->vectors, (blasint)f->rank, scaled, (blasint)dim, 0, out->coefficients, (blasint)dim);
    KFE_TRY(kfe_i_solution_centre(out, f->centred));
cleanup:
    kfe_i_free(f->ctx, scaled);
    return status;
}
