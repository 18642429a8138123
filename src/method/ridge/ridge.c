/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of the ridge, and the small eigenproblem that turns B and H of ridge.h into directions. Used by
 * every method of this family, by hsic-mkl and by the joint methods. */
#include "method/ridge/ridge.h"

#include <cblas.h>
#include <math.h>

#include "core/memory.h"
#include "linalg/linalg.h"

/* Rounding divided by a tiny ridge may exceed every criterion. A criterion above this is never taken for
 * rounding. */
#define KFE_WORST_ROUNDING 1e-2

/* The default ridge, relative to the mean diagonal of the matrix that it is added to. */
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

int64_t kfe_i_most_directions(const kfe_i_target *target, int64_t columns)
{
    if (target->task == KFE_TASK_CLASSES && target->class_count - 1 < columns)
        return target->class_count - 1;
    return columns;
}

/* Writes the rows of BV, V (count × count, its first dim columns), to the rows of their examples. */
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

/* How many of the falling eigenvalues are above rounding. */
static int64_t count_directions(const kfe_i_candidates *candidates, const double *values)
{
    double smallest = fmax(fmin(candidates->rounding, KFE_WORST_ROUNDING), KFE_RANK_TOLERANCE * values[0]);
    int64_t rank = 0;

    while (rank < candidates->most && values[rank] > smallest)
        rank++;
    return rank;
}

kfe_status kfe_i_best_directions(kfe_context *ctx, const kfe_i_candidates *candidates, int64_t n,
                                 int64_t asked, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t c = candidates->count;
    double scale = candidates->scale > 0 ? candidates->scale : 1;
    double *values = NULL;
    double *vectors = NULL;

    KFE_ALLOC(ctx, values, c);
    KFE_ALLOC(ctx, vectors, c * c);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, c, candidates->h, c, values, vectors));
    int64_t rank = count_directions(candidates, values);
    if (rank == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: %s", candidates->method, candidates->none);
    int64_t dim = kfe_i_clamp_dim(ctx, candidates->method, asked, rank, candidates->exhausted);
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_DUAL, n, dim, out));
    for (int64_t j = 0; j < dim; j++) {
        for (int64_t g = 0; g < c; g++)
            vectors[g * c + j] /= sqrt(values[j]) * sqrt(scale);
        values[j] *= scale;
    }
    place_directions(candidates, vectors, out);
    KFE_TRY(kfe_i_solution_record(out, "criterion", values, dim));
cleanup:
    kfe_i_free(ctx, values);
    kfe_i_free(ctx, vectors);
    return status;
}
