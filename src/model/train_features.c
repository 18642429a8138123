/* SPDX-License-Identifier: Apache-2.0 */
/* The features of the training data, from a solution before it becomes a model; called by fit.c and by searches (select/). */
#include "core/memory.h"
#include "gram/place.h"
#include "linalg/linalg.h"
#include "model/fit.h"

/* For solutions that are not on an operator. */
static void subtract_offset(const kfe_i_solution *solution, kfe_i_table *features)
{
    for (int64_t i = 0; solution->offset && i < features->rows; i++)
        for (int64_t j = 0; j < solution->dim; j++)
            features->values[i * features->stride + j] -= solution->offset[j];
}

/* The features of localized solutions and of those by view, which are on tables. The support are the training examples themselves, or
 * those listed in a solution by view; a given matrix lists its columns. */
static kfe_status train_features_of_tables(kfe_i_fit *job, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_solution *solution = &job->solution;
    const int64_t *index = solution->kind == KFE_SOLUTION_VIEWS ? solution->index : NULL;
    int views = job->train->view_count;
    int64_t n = index ? solution->rows / views : kfe_data_rows(job->train);
    kfe_i_table *support = NULL;
    double *numbers = NULL;

    KFE_ALLOC(job->ctx, numbers, n);
    KFE_ALLOC_ZERO(job->ctx, support, views);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (double)(index ? index[i] : i);
    for (int v = 0; v < views; v++)
        if (kfe_i_kernel_list_given(&job->kernels, v))
            support[v] =
                (kfe_i_table){.kind = KFE_TABLE_DENSE, .rows = n, .cols = 1, .stride = 1, .values = numbers};
        else if (index)
            KFE_TRY(kfe_i_table_gather(job->ctx, &job->scaled[v], index, n, &support[v]));
        else
            support[v] = kfe_i_table_slice(&job->scaled[v], 0, n);
    if (solution->kind == KFE_SOLUTION_VIEWS)
        KFE_TRY(kfe_i_expand_by_view(job->ctx, &job->kernels, job->scaled, support, solution->coefficients,
                                     solution->dim, out));
    else
        KFE_TRY(kfe_i_local_features(
            job->ctx, solution->local,
            &(kfe_i_local_data){.kernels = &job->kernels, .views = job->scaled, .support = support}, out));
cleanup:
    for (int v = 0; support && v < views; v++)
        kfe_i_table_free(&support[v]);
    kfe_i_free(job->ctx, numbers);
    kfe_i_free(job->ctx, support);
    return status;
}

/* The features of a solution on landmarks of one view, whose operator is not open. */
static kfe_status train_features_of_landmarks(kfe_i_fit *job, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_solution *solution = &job->solution;
    kfe_i_table support = {0};

    KFE_TRY(kfe_i_table_gather(job->ctx, &job->scaled[0], solution->index, solution->rows, &support));
    KFE_TRY(kfe_i_expand_anywhere(job->ctx, &job->kernels, job->scaled, &support, solution->coefficients,
                                  solution->dim, out));
cleanup:
    kfe_i_table_free(&support);
    return status;
}

kfe_status kfe_i_fit_train_features(kfe_i_fit *job, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_solution *solution = &job->solution;

    if (solution->kind == KFE_SOLUTION_IDENTITY) {
        *out = kfe_i_table_slice(&job->scaled[0], 0, job->scaled[0].rows);
        return KFE_OK;
    }
    KFE_TRY(kfe_i_table_new_dense(job->ctx, kfe_data_rows(job->train), solution->dim, out));
    if (solution->kind == KFE_SOLUTION_DUAL && job->gram)
        return kfe_i_solution_features(solution, job->gram, out->values);
    if (solution->kind == KFE_SOLUTION_DUAL)
        KFE_TRY(train_features_of_landmarks(job, out->values));
    else if (solution->kind == KFE_SOLUTION_PRIMAL) {
        kfe_i_tables_times(job->ctx, job->scaled, job->train->view_count, solution->coefficients,
                           solution->dim, out->values);
        KFE_TRY(kfe_i_nipals_features(job->ctx, &solution->nipals, &job->scaled[0], solution->offset,
                                      out->values));
    } else if (solution->kind == KFE_SOLUTION_LOCAL || solution->kind == KFE_SOLUTION_VIEWS)
        KFE_TRY(train_features_of_tables(job, out->values));
    else if (solution->kind == KFE_SOLUTION_TREE)
        KFE_TRY(kfe_i_tree_features(job->ctx, solution->tree, &job->kernels, &job->scaled[0], out->values));
    else
        KFE_TRY(kfe_i_expand_anywhere(job->ctx, &job->kernels, job->scaled, solution->points,
                                      solution->coefficients, solution->dim, out->values));
    subtract_offset(solution, out);
cleanup:
    return status;
}
