/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scores of targets, which kfe_explain adds to those of the columns: with y-loadings Q (targets × features) and the
 * centred targets Y of some examples,
 *
 *     y-rotations   Q(QᵀQ)⁺
 *     y-scores      U = YQ(QᵀQ)⁺
 *
 * For PLS, features T and U are the pairs whose covariance the method makes large; a plot of them shows the relation that a
 * feature stands for. Called by linear.c.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/target/classes.h"
#include "explain/explain.h"
#include "linalg/linalg.h"

/* Directions of QᵀQ below this, relative to the largest eigenvalue, are not there: with fewer targets than features its rank is
 * that of the targets. */
#define LEAST_SHARE 1e-12

/* out (dim × dim) = (QᵀQ)⁺ */
static kfe_status invert_products(kfe_context *ctx, const kfe_i_moments *m, const double *q, double *out)
{
    kfe_status status = KFE_OK;
    int64_t k = m->dim;
    double *products = NULL;
    double *vectors = NULL;
    double *values = NULL;
    double largest = 0;

    KFE_ALLOC(ctx, products, k * k);
    KFE_ALLOC(ctx, vectors, k * k);
    KFE_ALLOC(ctx, values, k);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)k, (blasint)k, (blasint)m->targets, 1, q,
                (blasint)k, q, (blasint)k, 0, products, (blasint)k);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, k, products, k, values, vectors));
    memset(out, 0, (size_t)(k * k) * sizeof *out);
    for (int64_t e = 0; e < k; e++)
        largest = fmax(largest, values[e]);
    for (int64_t e = 0; e < k; e++)
        for (int64_t a = 0; a < k && values[e] > LEAST_SHARE * largest; a++)
            cblas_daxpy((blasint)k, vectors[a * k + e] / values[e], vectors + e, (blasint)k, out + a * k, 1);
cleanup:
    kfe_i_free(ctx, products);
    kfe_i_free(ctx, vectors);
    kfe_i_free(ctx, values);
    return status;
}

static kfe_status add_rotations(kfe_i_explaining *job, const double *q, const double **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    int64_t k = m->dim;
    double *inverse = NULL;
    double *values = NULL;

    KFE_ALLOC(job->ctx, inverse, k * k);
    KFE_TRY(invert_products(job->ctx, m, q, inverse));
    KFE_TRY(kfe_i_explain_table(job, "y-rotations", "y-scores per unit of each centred target", KFE_BY_TARGET,
                                KFE_BY_FEATURE, &values));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m->targets, (blasint)k, (blasint)k, 1, q,
                (blasint)k, inverse, (blasint)k, 0, values, (blasint)k);
    *out = values;
cleanup:
    kfe_i_free(job->ctx, inverse);
    return status;
}

/* Whether the labels of the data are targets of the model. */
static int has_targets(const kfe_i_explaining *job)
{
    const kfe_i_target *target = &job->data->target;

    if (target->task == KFE_TASK_CLASSES)
        return job->model->target.task == KFE_TASK_CLASSES &&
               job->model->target.class_count == job->model->moments.targets;
    return target->task == KFE_TASK_REAL && target->cols == job->model->moments.targets;
}

/* Target t of example i, less its mean over the training data. */
static double centred_target(const kfe_i_explaining *job, int64_t i, int64_t t)
{
    const kfe_i_target *target = &job->data->target;
    double mean = job->model->moments.target_means[t];

    if (target->task == KFE_TASK_REAL)
        return target->values[i * target->cols + t] - mean;
    return (kfe_i_same_class(job->model->target.class_names[t], target->names[target->codes[i]]) ? 1 : -1) -
           mean;
}

kfe_status kfe_i_explain_y_scores(kfe_i_explaining *job, const double *y_loadings)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &job->model->moments;
    const double *rotations = NULL;
    double *values = NULL;

    KFE_TRY(add_rotations(job, y_loadings, &rotations));
    if (!job->data || !job->settings.examples || !has_targets(job))
        goto cleanup;
    KFE_TRY(kfe_i_explain_table(job, "y-scores",
                                "the features that correspond to the targets of each example", KFE_BY_EXAMPLE,
                                KFE_BY_FEATURE, &values));
    for (int64_t i = 0; i < kfe_data_rows(job->data); i++)
        for (int64_t t = 0; t < m->targets; t++)
            cblas_daxpy((blasint)m->dim, centred_target(job, i, t), rotations + t * m->dim, 1,
                        values + i * m->dim, 1);
cleanup:
    return status;
}
