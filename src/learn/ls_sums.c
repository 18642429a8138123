/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least squares from sums: with the scatter S = VΛVᵀ of the features and C their products with the targets,
 *
 *     W = V(Λ + l2)⁻¹VᵀC
 *
 * over the eigenvalues above rounding, which is the solution of smallest norm that ls.c finds from the features. Features are
 * divided by their norms first, unless there is a penalty, so that features of different magnitudes keep their digits. Targets
 * of classes are +1 for members and −1 for others. Time O(d³). Used by fits from sums.
 *
 * Features that are orthogonal up to 10⁻¹⁰, as those of pls and pca, need no eigenvectors: with S = D + E, E of the entries off the
 * diagonal, (S + l2)⁻¹ = D'⁻¹ − D'⁻¹ED'⁻¹ for D' = D + l2, up to 10⁻²⁰d². Time O(d²).
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learn/ls.h"
#include "linalg/linalg.h"

typedef struct ls_sums {
    kfe_context *ctx;
    const kfe_i_sums *sums;
    int64_t d, k;
    double *cross;  /* d × k: products of features and targets */
    double *means;  /* k: of the targets */
    double *values; /* d */
    double *vectors;
    double *along; /* d × k */
    int64_t rank;
    double squares; /* Σ (y − mean)² over all targets */
} ls_sums;

static void release(ls_sums *s)
{
    kfe_i_free(s->ctx, s->cross);
    kfe_i_free(s->ctx, s->means);
    kfe_i_free(s->ctx, s->values);
    kfe_i_free(s->ctx, s->vectors);
    kfe_i_free(s->ctx, s->along);
}

/* With y = 2·1_g − 1: Σ(x − μ)y = 2n_g(μ_g − μ), mean 2n_g/n − 1, Σ(y − mean)² = 4n_g(1 − n_g/n). */
static void class_targets(ls_sums *s)
{
    const kfe_i_sums *from = s->sums;

    for (int64_t g = 0; g < s->k; g++) {
        double share = from->class_rows[g] / from->rows;
        s->means[g] = 2 * share - 1;
        s->squares += 4 * from->class_rows[g] * (1 - share);
        for (int64_t j = 0; j < s->d; j++)
            s->cross[j * s->k + g] =
                2 * from->class_rows[g] * (from->class_means[g * s->d + j] - from->mean[j]);
    }
}

static void real_targets(ls_sums *s)
{
    const kfe_i_sums *from = s->sums;

    memcpy(s->cross, from->cross, (size_t)(s->d * s->k) * sizeof *s->cross);
    memcpy(s->means, from->target_mean, (size_t)s->k * sizeof *s->means);
    for (int64_t h = 0; h < s->k; h++)
        s->squares += from->target_scatter[h * (s->k + 1)];
}

/* Eigenvectors of the scatter, which is divided by the norms of the features unless they are all ones. */
static kfe_status decompose(ls_sums *s, const double *norms)
{
    kfe_status status = KFE_OK;
    int64_t d = s->d;
    double *matrix = NULL;

    KFE_ALLOC(s->ctx, matrix, d * d);
    KFE_ALLOC(s->ctx, s->vectors, d * d);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++)
            matrix[i * d + j] = matrix[j * d + i] = s->sums->scatter[j * d + i] / norms[i] / norms[j];
    KFE_TRY(kfe_i_symmetric_eigen(s->ctx, d, matrix, d, s->values, s->vectors));
    double noise = 64 * sqrt((double)d) * DBL_EPSILON * fmax(s->values[0], 0);
    while (s->rank < d && s->values[s->rank] > noise)
        s->rank++;
cleanup:
    kfe_i_free(s->ctx, matrix);
    return status;
}

/* Entries off the diagonal below this share of the diagonal count as orthogonal features, for up to this number of features. */
#define ORTHOGONAL 1e-10
enum { MOST_ORTHOGONAL = 1000 };

static int is_orthogonal(const ls_sums *s)
{
    int64_t d = s->d;
    const double *scatter = s->sums->scatter;

    for (int64_t i = 0; i < d; i++)
        for (int64_t j = i; j < d; j++) {
            double allowed = ORTHOGONAL * sqrt(scatter[i * (d + 1)]) * sqrt(scatter[j * (d + 1)]);
            if (i == j ? !(scatter[i * d + i] > 0) : !(fabs(scatter[i * d + j]) <= allowed))
                return 0;
        }
    return d > 0 && d <= MOST_ORTHOGONAL;
}

/* weights (d × k) for features that are orthogonal: D'⁻¹C, less D'⁻¹E times that. Divides by norms, as decompose does, for the eigenvalues. */
static void solve_orthogonal(ls_sums *s, double l2, const double *norms, double *weights)
{
    int64_t d = s->d;
    int64_t k = s->k;
    const double *scatter = s->sums->scatter;

    for (int64_t j = 0; j < d; j++)
        for (int64_t h = 0; h < k; h++)
            weights[j * k + h] = s->along[j * k + h] = s->cross[j * k + h] / (scatter[j * (d + 1)] + l2);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = i + 1; j < d; j++)
            for (int64_t h = 0; h < k; h++) {
                double e = scatter[i * d + j];
                weights[i * k + h] -= e * s->along[j * k + h] / (scatter[i * (d + 1)] + l2);
                weights[j * k + h] -= e * s->along[i * k + h] / (scatter[j * (d + 1)] + l2);
            }
    s->rank = d;
    double least = INFINITY;
    double largest = 0;
    for (int64_t j = 0; j < d; j++) {
        double value = scatter[j * (d + 1)] / norms[j] / norms[j];
        least = fmin(least, value);
        largest = fmax(largest, value);
        for (int64_t h = 0; h < k; h++)
            s->cross[j * k + h] /= norms[j];
    }
    s->values[0] = largest;
    s->values[d - 1] = least;
}

/* weights (d × k) = D⁻¹V(Λ + l2)⁻¹VᵀD⁻¹C */
static void solve(ls_sums *s, double l2, const double *norms, double *weights)
{
    blasint d = (blasint)s->d;
    blasint k = (blasint)s->k;

    for (int64_t j = 0; j < s->d; j++)
        for (int64_t h = 0; h < s->k; h++)
            s->cross[j * s->k + h] /= norms[j];
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, k, d, 1, s->vectors, d, s->cross, k, 0, s->along,
                k);
    for (int64_t r = 0; r < s->d; r++)
        for (int64_t h = 0; h < s->k; h++)
            s->along[r * s->k + h] *= r < s->rank ? 1 / (s->values[r] + l2) : 0;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, k, d, 1, s->vectors, d, s->along, k, 0, weights,
                k);
    for (int64_t j = 0; j < s->d; j++)
        for (int64_t h = 0; h < s->k; h++)
            weights[j * s->k + h] /= norms[j];
}

/* The objective: ‖Y‖² − ⟨W, C⟩ at the minimum. */
static void record(const ls_sums *s, const double *norms, kfe_i_predictor *out)
{
    double explained = 0;

    for (int64_t j = 0; j < s->d; j++)
        for (int64_t h = 0; h < s->k; h++)
            explained += out->weights[j * s->k + h] * s->cross[j * s->k + h] * norms[j];
    kfe_i_predictor_record(out, "rank", (double)s->rank);
    if (s->rank > 0)
        kfe_i_predictor_record(out, "condition", sqrt(s->values[0] / s->values[s->rank - 1]));
    kfe_i_predictor_record(out, "objective", fmax(0, s->squares - explained));
}

static kfe_status solve_sums(ls_sums *s, double l2, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t d = s->d;
    double *norms = NULL;

    KFE_ALLOC(s->ctx, s->cross, d * s->k);
    KFE_ALLOC(s->ctx, s->means, s->k);
    KFE_ALLOC(s->ctx, s->values, d);
    KFE_ALLOC(s->ctx, s->along, d * s->k);
    KFE_ALLOC(s->ctx, norms, d);
    for (int64_t j = 0; j < d; j++) {
        double square = s->sums->scatter[j * (d + 1)];
        norms[j] = l2 > 0 || !(square > 0) ? 1 : sqrt(square);
    }
    if (s->sums->task == KFE_TASK_CLASSES)
        class_targets(s);
    else
        real_targets(s);
    if (is_orthogonal(s)) {
        solve_orthogonal(s, l2, norms, out->weights);
    } else {
        KFE_TRY(decompose(s, norms));
        solve(s, l2, norms, out->weights);
    }
    for (int64_t h = 0; h < s->k; h++) {
        out->offset[h] = -s->means[h];
        for (int64_t j = 0; j < d; j++)
            out->offset[h] += s->sums->mean[j] * out->weights[j * s->k + h];
    }
    record(s, norms, out);
cleanup:
    kfe_i_free(s->ctx, norms);
    return status;
}

kfe_status kfe_i_ls_fit_sums(kfe_context *ctx, const kfe_i_sums *sums, const void *settings,
                             kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_ls_settings *l = settings;
    int classes = sums->task == KFE_TASK_CLASSES;
    ls_sums s = {.ctx = ctx, .sums = sums, .d = sums->cols, .k = classes ? sums->classes : sums->targets};

    KFE_TRY(kfe_i_predictor_begin(ctx, KFE_PREDICTOR_LINEAR, classes ? KFE_DECIDE_LARGEST : KFE_DECIDE_VALUE,
                                  sums->cols, s.k, sums->cols, out));
    out->classes = classes ? sums->classes : 0;
    KFE_TRY(solve_sums(&s, l->l2, out));
    if (s.rank < s.d && l->l2 == 0)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "ls: the features have rank %lld instead of %lld, so some depend on others; {l2} above 0 "
                  "shrinks the weights",
                  (long long)s.rank, (long long)s.d);
cleanup:
    release(&s);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}
