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
#include "method/shared/observed.h"
#include "method/shared/range.h"
#include "method/shared/scatter.h"
#include "method/shared/stand_in.h"

enum { SCATTER_COLUMNS = 3000 };

static const kfe_i_param rows[] = {KFE_PRINCIPAL_ROWS};

/* The data X, and the operator of XXᵀ. */
typedef struct data {
    const kfe_i_gram *gram;
    const kfe_i_table *table;
    double *means; /* of the columns; zeros without centring */
} data;

/* The entry of the vector of ones, or of the roots of the weights (kfe_i_gram_weighted). */
static double root_of(const kfe_i_gram *gram, int64_t i)
{
    return gram->roots ? gram->roots[i] : 1;
}

/* Adds the mean of X − means to the means: a sum over many rows is off by more than the last digit, and columns that do not vary
 * must have no variance. */
static kfe_status correct_means(kfe_context *ctx, const data *x)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = x->table;
    double mass = kfe_i_gram_mass(x->gram);
    double *left = NULL;

    KFE_ALLOC_ZERO(ctx, left, table->cols);
    for (int64_t i = 0; i < table->rows; i++) {
        double root = root_of(x->gram, i);
        for (int64_t j = 0; j < table->cols; j++)
            left[j] += root * (table->values[i * table->stride + j] - root * x->means[j]);
    }
    for (int64_t j = 0; j < table->cols; j++)
        x->means[j] += left[j] / mass;
cleanup:
    kfe_i_free(ctx, left);
    return status;
}

static kfe_status column_means(kfe_context *ctx, const data *x)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = x->table;
    double mass = kfe_i_gram_mass(x->gram);
    double *uniform = NULL;

    KFE_ALLOC(ctx, uniform, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        uniform[i] = root_of(x->gram, i) / mass;
    KFE_TRY(kfe_i_table_transpose_times(ctx, table, uniform, 1, x->means));
    if (table->kind == KFE_TABLE_DENSE)
        KFE_TRY(correct_means(ctx, x));
cleanup:
    kfe_i_free(ctx, uniform);
    return status;
}

/* ---- d ≤ n: the scatter ---- */

static kfe_status primal_side(kfe_context *ctx, const data *x, int64_t wanted, double *values,
                              double *directions)
{
    kfe_status status = KFE_OK;
    int64_t d = x->table->cols;
    double *scatter = NULL;

    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)d * (double)d, "the scatter matrix", "raise {memory}"));
    KFE_ALLOC(ctx, scatter, d * d);
    KFE_TRY(kfe_i_scatter(ctx, x->table, x->gram->roots, x->means, scatter));
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, scatter, wanted, values, directions));
cleanup:
    kfe_i_free(ctx, scatter);
    return status;
}

/* ---- d > n: the dot products ---- */

/* directions (d × k) ← directions − mean·(column sums of V)ᵀ: the transpose of centring X. */
static void subtract_mean_part(const data *x, int64_t k, const double *vectors, double *directions)
{
    for (int64_t j = 0; j < k; j++) {
        double sum = 0;
        for (int64_t i = 0; i < x->table->rows; i++)
            sum += root_of(x->gram, i) * vectors[i * k + j];
        for (int64_t l = 0; l < x->table->cols; l++)
            directions[l * k + j] -= sum * x->means[l];
    }
}

static kfe_status dual_side(kfe_context *ctx, const data *x, const kfe_i_principal_settings *s,
                            int64_t wanted, double *values, double *directions)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *gram = x->gram;
    kfe_i_gram *centred = NULL;
    double *vectors = NULL;

    if (s->center)
        KFE_TRY(kfe_i_gram_centred(ctx, gram, &centred));
    KFE_ALLOC(ctx, vectors, gram->size * wanted);
    KFE_TRY(kfe_i_gram_eigen(centred ? centred : gram, wanted, s->tolerance, values, vectors));
    KFE_TRY(kfe_i_table_transpose_times(ctx, x->table, vectors, wanted, directions));
    subtract_mean_part(x, wanted, vectors, directions);
    for (int64_t l = 0; l < x->table->cols; l++)
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
    data x = {0};
    kfe_i_arena memory = {.ctx = ctx};
    double *values, *directions;
    double rounding = 0;
    double largest = 0;
    int64_t dim = 0;

    if (source->sums)
        return kfe_i_stand_in_fit(
            ctx, source->sums, &(kfe_i_stand_in_job){.fit = fit, .settings = settings, .centred = s->center},
            out);
    if (kfe_i_has_missing(source))
        return kfe_i_pca_missing(ctx, source, s, out);
    KFE_TRY(kfe_i_ask_factor(ctx, source, &x.gram, &x.table, NULL));
    int64_t n = x.table->rows;
    int64_t d = x.table->cols;
    int64_t wanted = kfe_i_principal_wanted(s, d < n ? d : n);
    KFE_TRY(kfe_i_check_memory(ctx, 16.0 * (double)d * (double)(wanted + 1), "the principal directions",
                               "lower {dim}, or raise {memory}"));
    KFE_TRY(kfe_i_largest_kernel_value(ctx, "pca", x.gram, &largest));
    KFE_TAKE_ZERO(&memory, x.means, d);
    KFE_TAKE(&memory, values, wanted);
    KFE_TAKE(&memory, directions, d * wanted);
    if (s->center)
        KFE_TRY(column_means(ctx, &x));
    if (d <= n && d <= SCATTER_COLUMNS)
        KFE_TRY(primal_side(ctx, &x, wanted, values, directions));
    else
        KFE_TRY(dual_side(ctx, &x, s, wanted, values, directions));
    KFE_TRY(kfe_i_gram_rounding(x.gram, &rounding));
    if (d <= n && x.table->kind == KFE_TABLE_DENSE)
        rounding *= 4 * DBL_EPSILON; /* the points are centred first, so that their errors are squared */
    kfe_i_spectrum spectrum = {wanted, values, rounding, KFE_RANK_TOLERANCE};
    KFE_TRY(kfe_i_principal_dim(ctx, "pca", s, &spectrum, &dim));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_PRIMAL, d, dim, out));
    kfe_i_copy_block(d, dim, directions, wanted, out->coefficients, dim);
    KFE_ALLOC(ctx, out->offset, dim);
    kfe_i_transpose_times(dim, d, 1, out->coefficients, x.means, out->offset);
    KFE_TRY(kfe_i_solution_fix_signs(out));
    KFE_TRY(kfe_i_solution_record(out, "eigenvalues", values, dim));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

const kfe_i_method kfe_i_method_pca = {
    .name = "pca",
    .summary = "principal component analysis",
    .reference = "Dhanjal, Gunn & Shawe-Taylor 2009, section 3.1.1",
    .flags = KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS | KFE_HAS_MISSING,
    .instead = "kpca",
    .feature = "PC",
    .params = KFE_PARAM_TABLE(rows, kfe_i_principal_settings),
    .uses = kfe_i_prefer_sums,
    .fit = fit,
};
