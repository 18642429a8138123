/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least squares. With features X and targets Y (real, or for each class +1 for its members and −1 for
 * others), both less their column means μ and ν, minimise ‖XW − Y‖² + l2·‖W‖²,   outputs(z) = Wᵀ(z − μ) + ν.
 * Of all minimisers this is the one of smallest norm, also where features depend on each other or are
 * constant: d < n:  XᵀX = VΛVᵀ,  W = V(Λ + l2)⁻¹VᵀXᵀY;     n ≤ d:  XXᵀ = UΛUᵀ,  W = XᵀU(Λ + l2)⁻¹UᵀY, over
 * the eigenvalues above the tolerance for the rank. Sparse X is not centred but its products are: (X −
 * eμᵀ)ᵀ(X − eμᵀ) = XᵀX − nμμᵀ.
 *
 * Time O(n·d·s + s³), memory O(s²) beside the data, s = min(n, d); dense data is copied.
 */
#include <float.h>
#include <math.h>

#include "core/memory.h"
#include "gram/gram.h"
#include "gram/linalg.h"
#include "learn/learner.h"

typedef struct ls_settings {
    double l2;
} ls_settings;

static const kfe_i_param rows[] = {
    KFE_REAL(ls_settings, l2, "l2", "0", 0, KFE_REAL_MAX,
             "penalty on the squared weights; 0: the solution of smallest norm"),
};

typedef struct ls_job {
    kfe_context *ctx;
    kfe_i_table x; /* dense: an owned copy less its means; sparse: as given */
    double *means; /* d */
    double noise;  /* what rounding of the means may make of an eigenvalue that is zero */
    int64_t k;
    double *y, *y_means; /* n × k less its means, and those */
    double *right;       /* what the system is solved for: XᵀY (d × k) or Y */
} ls_job;

static void job_free(ls_job *job)
{
    kfe_i_table_free(&job->x);
    kfe_i_free(job->ctx, job->means);
    kfe_i_free(job->ctx, job->y);
    kfe_i_free(job->ctx, job->y_means);
    kfe_i_free(job->ctx, job->right);
}

/* ---- centring ---- */

/* Means are off by up to n·ε of their size. That enters the products squared if it is subtracted from the
 * features, and as it is if it is subtracted from the products. */
static double centring_noise(const ls_job *job)
{
    double n = (double)job->x.rows;
    double error = n * DBL_EPSILON;
    double size = 0;

    for (int64_t j = 0; j < job->x.cols; j++)
        size += n * job->means[j] * job->means[j];
    return size * (job->x.kind == KFE_TABLE_CSR ? error : error * error);
}

static kfe_status centre_features(ls_job *job, const kfe_i_table *features)
{
    kfe_status status = KFE_OK;
    int64_t n = features->rows;
    double *equal = NULL;

    KFE_ALLOC(job->ctx, equal, n);
    KFE_ALLOC(job->ctx, job->means, features->cols);
    for (int64_t i = 0; i < n; i++)
        equal[i] = 1 / (double)n;
    KFE_TRY(kfe_i_table_transpose_times(job->ctx, features, equal, 1, job->means));
    if (features->kind == KFE_TABLE_CSR) {
        job->x = kfe_i_table_slice(features, 0, n);
        goto cleanup;
    }
    KFE_TRY(kfe_i_table_copy(job->ctx, features, &job->x));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < features->cols; j++)
            job->x.values[i * job->x.stride + j] -= job->means[j];
cleanup:
    kfe_i_free(job->ctx, equal);
    return status;
}

static kfe_status centre_targets(ls_job *job, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t n = target->rows;
    int64_t k = job->k;
    int classes = target->task == KFE_TASK_CLASSES;

    KFE_ALLOC(job->ctx, job->y, n * k);
    KFE_ALLOC_ZERO(job->ctx, job->y_means, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            double value = !classes ? target->values[i * k + j] : target->codes[i] == j ? 1 : -1;
            job->y[i * k + j] = value;
            job->y_means[j] += value / (double)n;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            job->y[i * k + j] -= job->y_means[j];
cleanup:
    return status;
}

/* ---- the smaller of the two products ---- */

/* out (d × d, allocated) = XᵀX for sparse X, whose transpose is then a table of d rows. */
static kfe_status sparse_columns_product(ls_job *job, double **out)
{
    kfe_status status = KFE_OK;
    kfe_i_table transposed = {0};
    kfe_i_gram *gram = NULL;
    double n = (double)job->x.rows;
    int64_t d = job->x.cols;

    KFE_TRY(kfe_i_table_transpose(job->ctx, &job->x, &transposed));
    KFE_TRY(kfe_i_gram_factored(job->ctx, &transposed, &gram));
    KFE_TRY(kfe_i_gram_materialise(gram, out));
    for (int64_t a = 0; a < d; a++)
        for (int64_t b = 0; b < d; b++)
            (*out)[a * d + b] -= n * job->means[a] * job->means[b];
cleanup:
    kfe_i_gram_free(gram);
    kfe_i_table_free(&transposed);
    return status;
}

static kfe_status columns_product(ls_job *job, double **out)
{
    kfe_status status = KFE_OK;
    int64_t d = job->x.cols;

    if (job->x.kind == KFE_TABLE_CSR)
        return sparse_columns_product(job, out);
    KFE_TRY(kfe_i_check_memory(job->ctx, 8.0 * (double)d * (double)d, "the products of all pairs of features",
                               "extract fewer features, or raise --memory"));
    KFE_ALLOC(job->ctx, *out, d * d);
    KFE_TRY(kfe_i_table_transpose_times(job->ctx, &job->x, job->x.values, d, *out));
cleanup:
    return status;
}

static kfe_status rows_product(ls_job *job, double **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *gram = NULL;
    kfe_i_gram *centred = NULL;

    KFE_TRY(kfe_i_gram_factored(job->ctx, &job->x, &gram));
    if (job->x.kind == KFE_TABLE_CSR)
        KFE_TRY(kfe_i_gram_centred(job->ctx, gram, &centred));
    KFE_TRY(kfe_i_gram_materialise(centred ? centred : gram, out));
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_gram_free(gram);
    return status;
}

/* ---- solving ---- */

/* Overwrites the product. out (size × k) = V(Λ + l2)⁻¹Vᵀ·right. */
static kfe_status solve(ls_job *job, int64_t size, double *product, double l2, const double *right,
                        double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table vectors = {0};
    double *values = NULL;
    double *along = NULL;

    KFE_ALLOC(job->ctx, values, size);
    KFE_ALLOC(job->ctx, along, size * job->k);
    KFE_TRY(kfe_i_table_new_dense(job->ctx, size, size, &vectors));
    KFE_TRY(kfe_i_symmetric_eigen(job->ctx, size, product, size, values, vectors.values));
    KFE_TRY(kfe_i_table_transpose_times(job->ctx, &vectors, right, job->k, along));
    double least = fmax(KFE_RANK_TOLERANCE * values[0], job->noise);
    for (int64_t r = 0; r < size; r++)
        for (int64_t j = 0; j < job->k; j++)
            along[r * job->k + j] *= values[r] > least ? 1 / (values[r] + l2) : 0;
    KFE_TRY(kfe_i_table_times(job->ctx, &vectors, along, job->k, out));
cleanup:
    kfe_i_free(job->ctx, values);
    kfe_i_free(job->ctx, along);
    kfe_i_table_free(&vectors);
    return status;
}

/* XᵀY needs no centring of sparse X: the columns of Y sum to zero. */
static kfe_status solve_by_columns(ls_job *job, double l2, double *weights)
{
    kfe_status status = KFE_OK;
    double *product = NULL;

    KFE_ALLOC(job->ctx, job->right, job->x.cols * job->k);
    KFE_TRY(kfe_i_table_transpose_times(job->ctx, &job->x, job->y, job->k, job->right));
    KFE_TRY(columns_product(job, &product));
    KFE_TRY(solve(job, job->x.cols, product, l2, job->right, weights));
cleanup:
    kfe_i_free(job->ctx, product);
    return status;
}

/* Nor does Xᵀ times the coefficients: they are in the range of the centred product, and sum to zero too. */
static kfe_status solve_by_rows(ls_job *job, double l2, double *weights)
{
    kfe_status status = KFE_OK;
    double *product = NULL;
    double *coefficients = NULL;

    KFE_ALLOC(job->ctx, coefficients, job->x.rows * job->k);
    KFE_TRY(rows_product(job, &product));
    KFE_TRY(solve(job, job->x.rows, product, l2, job->y, coefficients));
    KFE_TRY(kfe_i_table_transpose_times(job->ctx, &job->x, coefficients, job->k, weights));
cleanup:
    kfe_i_free(job->ctx, product);
    kfe_i_free(job->ctx, coefficients);
    return status;
}

static void set_offset(const ls_job *job, kfe_i_predictor *predictor)
{
    for (int64_t h = 0; h < job->k; h++) {
        predictor->offset[h] = -job->y_means[h];
        for (int64_t j = 0; j < predictor->dim; j++)
            predictor->offset[h] += job->means[j] * predictor->weights[j * job->k + h];
    }
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const ls_settings *s = settings;
    int classes = target->task == KFE_TASK_CLASSES;
    ls_job job = {.ctx = ctx, .k = classes ? target->class_count : target->cols};

    KFE_TRY(kfe_i_predictor_begin(ctx, KFE_PREDICTOR_LINEAR, classes ? KFE_DECIDE_LARGEST : KFE_DECIDE_VALUE,
                                  features->cols, job.k, features->cols, out));
    out->classes = classes ? target->class_count : 0;
    KFE_TRY(centre_features(&job, features));
    job.noise = centring_noise(&job);
    KFE_TRY(centre_targets(&job, target));
    if (features->cols < features->rows)
        KFE_TRY(solve_by_columns(&job, s->l2, out->weights));
    else
        KFE_TRY(solve_by_rows(&job, s->l2, out->weights));
    set_offset(&job, out);
cleanup:
    job_free(&job);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

const kfe_i_learner kfe_i_learner_ls = {
    .name = "ls",
    .summary = "least squares with an intercept, the solution of smallest norm",
    .reference = "Hastie, Tibshirani & Friedman, The Elements of Statistical Learning (2009), 4.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE,
    .params = KFE_PARAM_TABLE(rows, ls_settings),
    .fit = fit,
};
