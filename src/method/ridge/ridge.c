/* SPDX-License-Identifier: Apache-2.0 */
#include "method/ridge/ridge.h"

#include <cblas.h>
#include <math.h>

#include "core/memory.h"
#include "gram/linalg.h"

/* Rounding over a tiny ridge may exceed everything; no direction of a larger criterion is taken for rounding.
 */
#define KFE_WORST_ROUNDING 1e-2

/* The default ridge, as a share of the mean diagonal of what it is added to. */
#define KFE_RIDGE_SHARE 1e-3

double kfe_i_chosen_ridge(double asked, double trace, int64_t order)
{
    if (asked > 0)
        return asked;
    return trace > 0 ? KFE_RIDGE_SHARE * trace / (double)order : 1;
}

kfe_status kfe_i_gram_chosen_ridge(const kfe_i_gram *gram, double asked, double *out)
{
    double mean = 0;
    kfe_status status = kfe_i_gram_mean_diagonal(gram, &mean);

    *out = kfe_i_chosen_ridge(asked, mean, 1);
    return status;
}

kfe_i_candidates kfe_i_target_candidates(const char *method, const kfe_i_target *target, int64_t m)
{
    kfe_i_candidates candidates = {
        .method = method,
        .count = m,
        .most = m,
        .exhausted = "the targets vary in no more directions",
        .none = "the data says nothing about the targets: their covariance is zero up to rounding",
    };

    /* indicators of all classes add up to a constant */
    if (target->task == KFE_TASK_CLASSES && target->class_count - 1 < m)
        candidates.most = target->class_count - 1;
    return candidates;
}

/* Rows of BV, V (count × count) of which the first dim columns count, to where they belong. */
static void place_directions(const kfe_i_candidates *from, const double *vectors, kfe_i_solution *out)
{
    int64_t c = from->count;

    if (!from->place) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)from->rows, (blasint)out->dim,
                    (blasint)c, 1, from->b, (blasint)c, vectors, (blasint)c, 0, out->coefficients,
                    (blasint)out->dim);
        return;
    }
    for (int64_t i = 0; i < from->rows; i++)
        for (int64_t g = 0; g < c; g++)
            cblas_daxpy((blasint)out->dim, from->b[i * c + g], vectors + g * c, 1,
                        out->coefficients + from->place[i] * out->dim, 1);
}

kfe_status kfe_i_best_directions(kfe_context *ctx, const kfe_i_candidates *candidates, int64_t n,
                                 int64_t asked, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t c = candidates->count;
    double *values = NULL;
    double *vectors = NULL;
    int64_t rank = 0;

    KFE_ALLOC(ctx, values, c);
    KFE_ALLOC(ctx, vectors, c * c);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, c, candidates->h, c, values, vectors));
    double smallest = fmax(fmin(candidates->rounding, KFE_WORST_ROUNDING), KFE_RANK_TOLERANCE * values[0]);
    while (rank < candidates->most && values[rank] > smallest)
        rank++;
    if (rank == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: %s", candidates->method, candidates->none);
    int64_t dim = kfe_i_clamp_dim(ctx, candidates->method, asked, rank, candidates->exhausted);
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_DUAL, n, dim, out));
    for (int64_t g = 0; g < c; g++)
        for (int64_t j = 0; j < dim; j++)
            vectors[g * c + j] /= sqrt(values[j]);
    place_directions(candidates, vectors, out);
    KFE_TRY(kfe_i_solution_record(out, "criterion", values, dim));
cleanup:
    kfe_i_free(ctx, values);
    kfe_i_free(ctx, vectors);
    return status;
}
