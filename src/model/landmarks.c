/* SPDX-License-Identifier: Apache-2.0 */
/* Landmarks in a fit: opening their operator, and moving the coefficients of a solution onto them; used by fit.c. */
#include "model/landmarks.h"

#include <string.h>

#include "core/memory.h"

static kfe_status copy_index(kfe_i_solution *solution, const kfe_i_landmark_info *info)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(solution->ctx, solution->index, info->count);
    memcpy(solution->index, info->index, (size_t)info->count * sizeof *solution->index);
cleanup:
    return status;
}

kfe_status kfe_i_landmark_features(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_info info = kfe_i_landmarks_of(gram);

    if (info.rank == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "the kernel is zero on the landmarks; choose another kernel");
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_DUAL, info.count, info.rank, out));
    KFE_TRY(copy_index(out, &info));
    KFE_TRY(kfe_i_landmark_map(gram, out->coefficients));
cleanup:
    return status;
}

/* out += factor · G̃_m A for kernel m of the source */
static kfe_status add_features(kfe_context *ctx, const kfe_i_fit_source *source, int64_t m, double factor,
                               const kfe_i_solution *solution, double *out)
{
    kfe_status status = KFE_OK;
    int64_t size = source->target->rows * solution->dim;
    kfe_i_gram *gram = NULL;
    double *part = NULL;

    KFE_ALLOC(ctx, part, size);
    KFE_TRY(kfe_i_ask_kernel(ctx, source, m, &gram));
    KFE_TRY(kfe_i_gram_times(gram, solution->coefficients, solution->dim, part));
    for (int64_t i = 0; i < size; i++)
        out[i] += factor * part[i];
cleanup:
    kfe_i_gram_free(gram);
    kfe_i_free(ctx, part);
    return status;
}

kfe_status kfe_i_weighted_features(kfe_context *ctx, const kfe_i_fit_source *source, kfe_i_solution *solution,
                                   double **features)
{
    kfe_status status = KFE_OK;
    int64_t n = source->target->rows;

    *features = NULL;
    KFE_TRY(kfe_i_solution_spread(solution, n));
    KFE_ALLOC_ZERO(ctx, *features, n * solution->dim);
    for (int64_t m = 0; m < source->kernels->count; m++)
        if (solution->kernel_weights[m] > 0)
            KFE_TRY(add_features(ctx, source, m, solution->kernel_weights[m], solution, *features));
cleanup:
    return status;
}

kfe_status kfe_i_approximate_features(const kfe_i_gram *gram, const double *features,
                                      kfe_i_solution *solution)
{
    return kfe_i_gram_solve(gram, 0, features, solution->dim, KFE_TOLERANCE, solution->coefficients, NULL);
}

static int row_is_zero(const kfe_i_solution *solution, int64_t i)
{
    for (int64_t j = 0; j < solution->dim; j++)
        if (solution->coefficients[i * solution->dim + j] != 0)
            return 0;
    return 1;
}

/* Whether all examples with coefficients are landmarks, and the operator is exact there: the solution may stay as it is. */
static kfe_status is_on_landmarks(const kfe_i_solution *solution, int64_t n, const kfe_i_landmark_info *info,
                                  int *out)
{
    kfe_status status = KFE_OK;
    unsigned char *is_landmark = NULL;

    *out = info->exact;
    KFE_ALLOC_ZERO(solution->ctx, is_landmark, n);
    for (int64_t j = 0; j < info->count; j++)
        is_landmark[info->index[j]] = 1;
    for (int64_t i = 0; i < solution->rows && *out; i++)
        *out = is_landmark[solution->index ? solution->index[i] : i] || row_is_zero(solution, i);
cleanup:
    kfe_i_free(solution->ctx, is_landmark);
    return status;
}

static kfe_status move_coefficients(const kfe_i_gram *gram, const kfe_i_landmark_info *info,
                                    kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    double *moved = NULL;

    KFE_ALLOC(solution->ctx, moved, info->count * solution->dim);
    KFE_TRY(kfe_i_landmark_coefficients(gram, solution->index, solution->rows, solution->coefficients,
                                        solution->dim, moved));
    kfe_i_free(solution->ctx, solution->coefficients);
    kfe_i_free(solution->ctx, solution->index);
    solution->coefficients = moved;
    solution->index = NULL;
    solution->rows = info->count;
    moved = NULL;
    KFE_TRY(copy_index(solution, info));
cleanup:
    kfe_i_free(solution->ctx, moved);
    return status;
}

kfe_status kfe_i_solution_to_landmarks(const kfe_i_gram *gram, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_info info;
    int64_t count = 0;
    int done = 1;

    if (!kfe_i_gram_support(gram, &count))
        return KFE_OK;
    info = kfe_i_landmarks_of(gram);
    if (solution->kind == KFE_SOLUTION_DUAL)
        KFE_TRY(is_on_landmarks(solution, gram->size, &info, &done));
    if (!done)
        KFE_TRY(move_coefficients(gram, &info, solution));
    KFE_TRY(kfe_i_solution_record_landmarks(solution, info.count, info.rank, info.left));
cleanup:
    return status;
}
