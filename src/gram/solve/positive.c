/* SPDX-License-Identifier: Apache-2.0 */
/* The positive part of an indefinite kernel matrix, for the methods of the ridge and subspace families. */
#include "gram/solve/positive.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

/* Keeps the first `rank` of n eigenvectors and forms G₊ from them. */
static kfe_status assemble(kfe_i_positive *out, const double *values, const double *vectors)
{
    kfe_status status = KFE_OK;
    int64_t n = out->size;
    int64_t r = out->rank;
    double *scaled = NULL;

    KFE_ALLOC(out->ctx, out->vectors, n * r);
    KFE_ALLOC(out->ctx, scaled, n * r);
    kfe_i_copy_block(n, r, vectors, n, out->vectors, r);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < r; j++)
            scaled[i * r + j] = out->vectors[i * r + j] * values[j];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n, (blasint)n, (blasint)r, 1, scaled,
                (blasint)r, out->vectors, (blasint)r, 0, out->matrix, (blasint)n);
    kfe_i_mirror(n, out->matrix);
    KFE_TRY(kfe_i_gram_subset(out->ctx, n, out->matrix, NULL, n, &out->gram));
cleanup:
    kfe_i_free(out->ctx, scaled);
    return status;
}

static void warn(kfe_context *ctx, const char *method)
{
    kfe_i_log(ctx, KFE_LOG_WARNING,
              "%s: the kernel is not positive definite on this data; directions of negative length are left "
              "out; a positive definite kernel, or other parameters, would be better",
              method);
}

kfe_status kfe_i_warn_if_indefinite(const kfe_i_gram *gram, const char *method, double largest,
                                    double smallest)
{
    kfe_status status = KFE_OK;
    double zero = 0;

    KFE_TRY(kfe_i_gram_rounded_zero(gram, largest, &zero));
    if (smallest < zero)
        warn(gram->ctx, method);
cleanup:
    return status;
}

kfe_status kfe_i_positive_part(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                               kfe_i_positive *out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    double *values = NULL;
    double *vectors = NULL;
    double rounding = 0;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->size = n;
    KFE_TRY(kfe_i_check_memory(ctx, 24.0 * (double)n * (double)n, "a kernel that is not positive definite",
                               "raise {memory} or use a positive definite kernel"));
    KFE_ALLOC(ctx, values, n);
    KFE_ALLOC(ctx, vectors, n * n);
    KFE_TRY(kfe_i_gram_materialise(gram, &out->matrix));
    KFE_TRY(kfe_i_symmetric_eigen(ctx, n, out->matrix, n, values, vectors));
    KFE_TRY(kfe_i_warn_if_indefinite(gram, method, fmax(values[0], -values[n - 1]), values[n - 1]));
    KFE_TRY(kfe_i_gram_rounding(gram, &rounding));
    double smallest = fmax(rounding, kfe_i_gram_rank_tolerance(gram) * values[0]);
    while (out->rank < n && values[out->rank] > smallest)
        out->rank++;
    if (out->rank == 0)
        KFE_FAIL(ctx, KFE_ENUMERIC,
                 "%s: the kernel has no positive eigenvalue on this data; use another kernel", method);
    KFE_TRY(assemble(out, values, vectors));
    out->gram->roots = gram->roots;
cleanup:
    kfe_i_free(ctx, values);
    kfe_i_free(ctx, vectors);
    return status;
}

kfe_status kfe_i_positive_project(const kfe_i_positive *positive, double *a, int64_t k)
{
    kfe_status status = KFE_OK;
    int64_t r = positive->rank;
    double *along = NULL;

    KFE_ALLOC(positive->ctx, along, r * k);
    kfe_i_inner_products(positive->size, kfe_i_packed(positive->vectors, r), kfe_i_packed(a, k), along);
    kfe_i_combine(positive->size, 1, kfe_i_packed(positive->vectors, r), kfe_i_packed(along, k), 0, a);
cleanup:
    kfe_i_free(positive->ctx, along);
    return status;
}

void kfe_i_positive_free(kfe_i_positive *positive)
{
    if (positive->ctx) {
        kfe_i_gram_free(positive->gram);
        kfe_i_free(positive->ctx, positive->vectors);
        kfe_i_free(positive->ctx, positive->matrix);
    }
    memset(positive, 0, sizeof *positive);
}
