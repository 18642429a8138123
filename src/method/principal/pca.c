/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Principal component analysis, primal: features(x) = Wᵀ(x − mean), where W (d×k) holds the leading unit eigenvectors of the scatter
 * (X − 1·meanᵀ)ᵀ(X − 1·meanᵀ).
 *
 * With few columns the d×d scatter is decomposed. Otherwise the operator of dot products is, by products X(Xᵀv) only, so that
 * sparse data stays sparse, and its eigenvectors V give W = (X − 1·meanᵀ)ᵀVΛ^(−1/2). The recorded eigenvalues are those of the
 * scatter.
 *
 * Dhanjal, Gunn & Shawe-Taylor (2009), section 3.1.1. Time O(nd·min(n,d) + min(n,d)³).
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/principal/principal.h"
#include "method/shared/range.h"
#include "method/shared/scatter.h"
#include "method/shared/stand_in.h"

enum { SCATTER_COLUMNS = 3000 };

static const kfe_i_param rows[] = {KFE_PRINCIPAL_ROWS};

/* The entry of the vector of ones, or of the roots of the weights (kfe_i_gram_weighted). */
static double root_of(const kfe_i_gram *gram, int64_t i)
{
    return gram->roots ? gram->roots[i] : 1;
}

/* Adds the mean of X − means to the means: a sum over many rows is off by more than the last digit, and columns that do not vary
 * must have no variance. */
static kfe_status correct_means(kfe_context *ctx, const kfe_i_gram *gram, double *means)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = kfe_i_gram_factor(gram);
    double mass = kfe_i_gram_mass(gram);
    double *left = NULL;

    KFE_ALLOC_ZERO(ctx, left, table->cols);
    for (int64_t i = 0; i < table->rows; i++) {
        double root = root_of(gram, i);
        for (int64_t j = 0; j < table->cols; j++)
            left[j] += root * (table->values[i * table->stride + j] - root * means[j]);
    }
    for (int64_t j = 0; j < table->cols; j++)
        means[j] += left[j] / mass;
cleanup:
    kfe_i_free(ctx, left);
    return status;
}

static kfe_status column_means(kfe_context *ctx, const kfe_i_gram *gram, double *means)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = kfe_i_gram_factor(gram);
    double mass = kfe_i_gram_mass(gram);
    double *uniform = NULL;

    KFE_ALLOC(ctx, uniform, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        uniform[i] = root_of(gram, i) / mass;
    KFE_TRY(kfe_i_table_transpose_times(ctx, table, uniform, 1, means));
    if (table->kind == KFE_TABLE_DENSE)
        KFE_TRY(correct_means(ctx, gram, means));
cleanup:
    kfe_i_free(ctx, uniform);
    return status;
}

/* ---- d ≤ n: the scatter ---- */

static kfe_status primal_side(kfe_context *ctx, const kfe_i_gram *gram, const double *means, int64_t wanted,
                              double *values, double *directions)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = kfe_i_gram_factor(gram);
    int64_t d = table->cols;
    double *scatter = NULL;

    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)d * (double)d, "the scatter matrix", "raise {memory}"));
    KFE_ALLOC(ctx, scatter, d * d);
    KFE_TRY(kfe_i_scatter(ctx, table, gram->roots, means, scatter));
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, scatter, wanted, values, directions));
cleanup:
    kfe_i_free(ctx, scatter);
    return status;
}

/* ---- d > n: the dot products ---- */

/* directions (d × k) ← directions − mean·(column sums of V)ᵀ: the transpose of centring X. */
static void subtract_mean_part(const kfe_i_gram *gram, int64_t k, const double *means, const double *vectors,
                               double *directions)
{
    int64_t n = gram->size;
    int64_t d = kfe_i_gram_factor(gram)->cols;

    for (int64_t j = 0; j < k; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += root_of(gram, i) * vectors[i * k + j];
        for (int64_t l = 0; l < d; l++)
            directions[l * k + j] -= sum * means[l];
    }
}

static kfe_status dual_side(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_principal_settings *s,
                            const double *means, int64_t wanted, double *values, double *directions)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = kfe_i_gram_factor(gram);
    kfe_i_gram *centred = NULL;
    double *vectors = NULL;

    if (s->center)
        KFE_TRY(kfe_i_gram_centred(ctx, gram, &centred));
    KFE_ALLOC(ctx, vectors, gram->size * wanted);
    KFE_TRY(kfe_i_gram_eigen(centred ? centred : gram, wanted, s->tolerance, values, vectors));
    KFE_TRY(kfe_i_table_transpose_times(ctx, table, vectors, wanted, directions));
    subtract_mean_part(gram, wanted, means, vectors, directions);
    for (int64_t l = 0; l < table->cols; l++)
        for (int64_t j = 0; j < wanted; j++)
            directions[l * wanted + j] /= values[j] > 0 ? sqrt(values[j]) : 1;
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_free(ctx, vectors);
    return status;
}

/* ---- both ---- */

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_principal_settings *s = settings;
    const kfe_i_gram *gram = NULL;
    kfe_i_arena memory = {.ctx = ctx};
    double *means, *values, *directions;
    double rounding = 0;
    double largest = 0;
    int64_t dim = 0;

    if (source->sums)
        return kfe_i_stand_in_fit(
            ctx, source->sums, &(kfe_i_stand_in_job){.fit = fit, .settings = settings, .centred = s->center},
            out);
    KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
    const kfe_i_table *table = kfe_i_gram_factor(gram);
    int64_t d = table->cols;
    int64_t wanted = kfe_i_principal_wanted(s, d < table->rows ? d : table->rows);
    KFE_TRY(kfe_i_check_memory(ctx, 16.0 * (double)d * (double)(wanted + 1), "the principal directions",
                               "lower {dim}, or raise {memory}"));
    KFE_TRY(kfe_i_largest_kernel_value(ctx, "pca", gram, &largest));
    KFE_TAKE_ZERO(&memory, means, d);
    KFE_TAKE(&memory, values, wanted);
    KFE_TAKE(&memory, directions, d * wanted);
    if (s->center)
        KFE_TRY(column_means(ctx, gram, means));
    if (d <= table->rows && d <= SCATTER_COLUMNS)
        KFE_TRY(primal_side(ctx, gram, means, wanted, values, directions));
    else
        KFE_TRY(dual_side(ctx, gram, s, means, wanted, values, directions));
    KFE_TRY(kfe_i_gram_rounding(gram, &rounding));
    if (d <= table->rows && table->kind == KFE_TABLE_DENSE)
        rounding *= 4 * DBL_EPSILON; /* the points are centred first, so that their errors are squared */
    kfe_i_spectrum spectrum = {wanted, values, rounding, KFE_RANK_TOLERANCE};
    KFE_TRY(kfe_i_principal_dim(ctx, "pca", s, &spectrum, &dim));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_PRIMAL, d, dim, out));
    kfe_i_copy_block(d, dim, directions, wanted, out->coefficients, dim);
    KFE_ALLOC(ctx, out->offset, dim);
    kfe_i_transpose_times(dim, d, 1, out->coefficients, means, out->offset);
    kfe_i_solution_fix_signs(out);
    KFE_TRY(kfe_i_solution_record(out, "eigenvalues", values, dim));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

const kfe_i_method kfe_i_method_pca = {
    .name = "pca",
    .summary = "principal component analysis",
    .reference = "Dhanjal, Gunn & Shawe-Taylor 2009, section 3.1.1",
    .flags = KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kpca",
    .params = KFE_PARAM_TABLE(rows, kfe_i_principal_settings),
    .uses = kfe_i_prefer_sums,
    .fit = fit,
};
