/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least squares, the learner `ls`. With features X and targets Y (real values, or for each class +1 for its members
 * and −1 for the others), both less their column means μ and ν,
 *     minimise ‖XW − Y‖² + l2·‖W‖²,   outputs(z) = Wᵀ(z − μ) + ν.
 * Of all minimisers this is the one of smallest norm, also where features depend on each other or are constant.
 *
 * Dense features, and sparse ones that are small enough to be made dense, are solved by orthogonal factorisations to
 * machine precision (linalg/least_squares.h). Larger problems, and well-conditioned features of many more examples, go by the smaller product of X with itself,
 *     d < n:  XᵀX = VΛVᵀ,  W = V(Λ + l2)⁻¹VᵀXᵀY;
 *     n ≤ d:  XXᵀ = UΛUᵀ,  W = XᵀU(Λ + l2)⁻¹UᵀY,
 * over the eigenvalues above rounding, that is over singular values above about 10⁻⁶ of the largest one; steps of
 * iterative refinement then bring the residual near to what orthogonal factorisations give. Sparse X is not centred,
 * but its products are: (X − eμᵀ)ᵀ(X − eμᵀ) = XᵀX − nμμᵀ.
 *
 * With weights w of the examples the sum of squares is weighted and the means are: rows of X and Y are multiplied by √w after the
 * means are subtracted.
 *
 * Records: the rank of X, its condition number (over that rank), and the objective. A rank below min(n − 1, d) is
 * also a warning, unless l2 is above 0.
 *
 * Hastie, Tibshirani & Friedman (2009), 4.2; Björck (1996). Time O(n·d·s + s³), memory O(s²) beside the data,
 * s = min(n, d); dense data is copied.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/gram.h"
#include "learn/ls.h"
#include "linalg/least_squares.h"
#include "linalg/linalg.h"

static const kfe_i_param rows[] = {
    KFE_REAL(kfe_i_ls_settings, l2, "l2", "0", 0, KFE_REAL_MAX,
             "penalty on the squared weights; 0: the solution of smallest norm"),
};

typedef struct ls_job {
    kfe_context *ctx;
    double l2;
    const double *weights; /* of the examples; NULL: ones */
    double mass;           /* n, or the sum of the weights */
    kfe_i_table x;         /* dense: an owned copy less its means; sparse: as given; rows times √w */
    double *means;         /* d */
    int64_t k;
    double *y, *y_means; /* n × k less its means, and those */
    kfe_i_least_squares_result result;
} ls_job;

static void job_free(ls_job *job)
{
    kfe_i_table_free(&job->x);
    kfe_i_free(job->ctx, job->means);
    kfe_i_free(job->ctx, job->y);
    kfe_i_free(job->ctx, job->y_means);
}

static int64_t smaller_side(const kfe_i_table *x)
{
    return x->rows < x->cols ? x->rows : x->cols;
}

/* Above this order the SVD's workspace is beyond LAPACK's integers. */
enum { LARGEST_SVD = 16000 };
/* Sparse features are made dense up to this many multiplications (a second or so) and this share of the memory. */
#define DENSE_WORK 4e9
#define DENSE_SHARE 0.25

static int takes_dense_copy(kfe_context *ctx, const kfe_i_table *x)
{
    double entries = (double)x->rows * (double)x->cols;

    if (x->kind == KFE_TABLE_DENSE)
        return 1;
    return entries * (double)smaller_side(x) <= DENSE_WORK &&
           8 * entries <= DENSE_SHARE * (double)kfe_i_memory_left(ctx);
}

/* ---- centring ---- */

static double root_of(const ls_job *job, int64_t i)
{
    return job->weights ? sqrt(job->weights[i]) : 1;
}

static kfe_status column_means(const ls_job *job, const kfe_i_table *table, double *means)
{
    kfe_status status = KFE_OK;
    double *shares = NULL;

    KFE_ALLOC(job->ctx, shares, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        shares[i] = (job->weights ? job->weights[i] : 1) / job->mass;
    KFE_TRY(kfe_i_table_transpose_times(job->ctx, table, shares, 1, means));
cleanup:
    kfe_i_free(job->ctx, shares);
    return status;
}

/* Multiplies the rows of X by the roots of their weights. */
static void weigh_rows(ls_job *job)
{
    kfe_i_table *x = &job->x;
    int dense = x->kind == KFE_TABLE_DENSE;

    for (int64_t i = 0; job->weights && i < x->rows; i++) {
        int64_t begin = dense ? i * x->stride : x->row_start[i];
        int64_t end = dense ? begin + x->cols : x->row_start[i + 1];
        for (int64_t p = begin; p < end; p++)
            x->values[p] *= root_of(job, i);
    }
}

/* Subtracts the means twice: the second pass removes what rounding left of them. */
static kfe_status centre_copy(ls_job *job)
{
    kfe_status status = KFE_OK;
    kfe_i_table *x = &job->x;
    double *rest = NULL;

    KFE_ALLOC(job->ctx, rest, x->cols);
    memset(job->means, 0, (size_t)x->cols * sizeof *job->means);
    for (int pass = 0; pass < 2; pass++) {
        KFE_TRY(column_means(job, x, rest));
        for (int64_t i = 0; i < x->rows; i++)
            for (int64_t j = 0; j < x->cols; j++)
                x->values[i * x->stride + j] -= rest[j];
        for (int64_t j = 0; j < x->cols; j++)
            job->means[j] += rest[j];
    }
cleanup:
    kfe_i_free(job->ctx, rest);
    return status;
}

static kfe_status centre_features(ls_job *job, const kfe_i_table *features)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(job->ctx, job->means, features->cols);
    if (!takes_dense_copy(job->ctx, features)) {
        job->x = kfe_i_table_slice(features, 0, features->rows);
        if (job->weights)
            KFE_TRY(kfe_i_table_copy(job->ctx, features, &job->x));
        weigh_rows(job);
        return column_means(job, features, job->means);
    }
    KFE_TRY(kfe_i_table_new_dense(job->ctx, features->rows, features->cols, &job->x));
    for (int64_t i = 0; i < features->rows; i++)
        kfe_i_table_dense_row(features, i, job->x.values + i * job->x.stride);
    KFE_TRY(centre_copy(job));
    weigh_rows(job);
cleanup:
    return status;
}

/* Target column j of example i. */
static double target_value(const kfe_i_target *target, int64_t k, int64_t i, int64_t j)
{
    if (target->task == KFE_TASK_CLASSES)
        return target->codes[i] == j ? 1 : -1;
    return target->values[i * k + j];
}

static kfe_status centre_targets(ls_job *job, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t n = target->rows;
    int64_t k = job->k;

    KFE_ALLOC(job->ctx, job->y, n * k);
    KFE_ALLOC_ZERO(job->ctx, job->y_means, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            double value = target_value(target, k, i, j);
            job->y[i * k + j] = value;
            job->y_means[j] += (job->weights ? job->weights[i] : 1) * value / job->mass;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            job->y[i * k + j] = root_of(job, i) * (job->y[i * k + j] - job->y_means[j]);
cleanup:
    return status;
}

/* ---- large problems: the smaller product of X with itself ---- */

/* out (d × d, allocated) = XᵀX of centred X, for sparse X: its transpose is a table of d rows. */
static kfe_status sparse_columns_product(ls_job *job, double **out)
{
    kfe_status status = KFE_OK;
    kfe_i_table transposed = {0};
    kfe_i_gram *gram = NULL;
    double n = job->mass;
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
                               "extract fewer features, or raise {memory}"));
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
    double *roots = NULL;

    KFE_ALLOC(job->ctx, roots, job->x.rows);
    for (int64_t i = 0; i < job->x.rows; i++)
        roots[i] = root_of(job, i);
    KFE_TRY(kfe_i_gram_factored(job->ctx, &job->x, &gram));
    gram->roots = job->weights ? roots : NULL;
    if (job->x.kind == KFE_TABLE_CSR)
        KFE_TRY(kfe_i_gram_centred(job->ctx, gram, &centred));
    KFE_TRY(kfe_i_gram_materialise(centred ? centred : gram, out));
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_gram_free(gram);
    kfe_i_free(job->ctx, roots);
    return status;
}

/* Eigenvalues of a product up to this are rounding. The error of the means enters a product of sparse features as it
 * is, and that of centred features squared. */
static double eigenvalue_noise(const ls_job *job, int64_t size, double largest)
{
    double n = (double)job->x.rows;
    double error = n * DBL_EPSILON;
    double means = 0;

    for (int64_t j = 0; j < job->x.cols; j++)
        means += n * job->means[j] * job->means[j];
    means *= job->x.kind == KFE_TABLE_CSR ? error : error * error;
    return fmax(64 * sqrt((double)size) * DBL_EPSILON * largest, means);
}

typedef struct spectrum {
    kfe_i_table vectors; /* size × size */
    double *values;      /* size, falling */
    double *along;       /* size × k: workspace */
    int64_t size, rank;
} spectrum;

/* Overwrites the product. Free it also after a failure. */
static kfe_status spectrum_open(ls_job *job, int64_t size, double *product, spectrum *out)
{
    kfe_status status = KFE_OK;

    out->size = size;
    KFE_ALLOC(job->ctx, out->values, size);
    KFE_ALLOC(job->ctx, out->along, size * job->k);
    KFE_TRY(kfe_i_table_new_dense(job->ctx, size, size, &out->vectors));
    KFE_TRY(kfe_i_symmetric_eigen(job->ctx, size, product, size, out->values, out->vectors.values));
    double noise = eigenvalue_noise(job, size, out->values[0]);
    while (out->rank < size && out->values[out->rank] > noise)
        out->rank++;
    job->result.rank = out->rank;
    job->result.largest = out->rank > 0 ? sqrt(out->values[0]) : 0;
    job->result.least = out->rank > 0 ? sqrt(out->values[out->rank - 1]) : 0;
cleanup:
    return status;
}

static void spectrum_free(kfe_context *ctx, spectrum *s)
{
    kfe_i_free(ctx, s->values);
    kfe_i_free(ctx, s->along);
    kfe_i_table_free(&s->vectors);
}

/* out (size × k) = V(Λ + l2)⁻¹Vᵀ·right. */
static kfe_status apply_inverse(const ls_job *job, spectrum *s, const double *right, double *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_table_transpose_times(job->ctx, &s->vectors, right, job->k, s->along));
    for (int64_t r = 0; r < s->size; r++)
        for (int64_t j = 0; j < job->k; j++)
            s->along[r * job->k + j] *= r < s->rank ? 1 / (s->values[r] + job->l2) : 0;
    KFE_TRY(kfe_i_table_times(job->ctx, &s->vectors, s->along, job->k, out));
cleanup:
    return status;
}

/* residual (n × k) = Y − XW for centred X, whose means are subtracted from the product. */
static kfe_status find_residual(const ls_job *job, const double *w, double *residual)
{
    kfe_status status = KFE_OK;
    int64_t k = job->k;

    KFE_TRY(kfe_i_table_times(job->ctx, &job->x, w, k, residual));
    for (int64_t h = 0; h < k; h++) {
        double shift = 0;
        for (int64_t j = 0; job->x.kind == KFE_TABLE_CSR && j < job->x.cols; j++)
            shift += job->means[j] * w[j * k + h];
        for (int64_t i = 0; i < job->x.rows; i++)
            residual[i * k + h] = job->y[i * k + h] - (residual[i * k + h] - root_of(job, i) * shift);
    }
cleanup:
    return status;
}

/* Many more examples than features: products take a fraction of the time of orthogonal factorisations, and refinement makes up
 * for the digits that they lose, as long as features are not close to dependent. */
enum { TALL = 16, FEW_FEATURES = 512 };
#define WELL_CONDITIONED 1e4

static int is_tall(const kfe_i_table *x)
{
    return x->kind == KFE_TABLE_DENSE && x->cols <= FEW_FEATURES && x->rows >= TALL * x->cols;
}

static int is_well_conditioned(const ls_job *job)
{
    return job->result.rank == job->x.cols && job->result.largest < WELL_CONDITIONED * job->result.least;
}

/* Steps of iterative refinement: each gains the digits that the eigenvectors have. */
enum { REFINEMENTS = 4 };

/* W += V(Λ + l2)⁻¹Vᵀ(Xᵀ(Y − XW) − l2·W). Xᵀ times a residual needs no centring: residuals sum to zero. With `cautious` nothing
 * is done, and *done is 0, if the features are close to dependent. */
static kfe_status solve_by_columns(ls_job *job, int cautious, double *weights, int *done)
{
    kfe_status status = KFE_OK;
    int64_t count = job->x.cols * job->k;
    spectrum s = {0};
    double *product = NULL;
    double *residual = NULL;
    double *work = NULL;

    KFE_ALLOC(job->ctx, residual, job->x.rows * job->k);
    KFE_ALLOC(job->ctx, work, 2 * count);
    KFE_TRY(columns_product(job, &product));
    KFE_TRY(spectrum_open(job, job->x.cols, product, &s));
    *done = !cautious || is_well_conditioned(job);
    if (!*done)
        goto cleanup;
    for (int step = 0; step < REFINEMENTS; step++) {
        KFE_TRY(find_residual(job, weights, residual));
        KFE_TRY(kfe_i_table_transpose_times(job->ctx, &job->x, residual, job->k, work));
        for (int64_t i = 0; i < count; i++)
            work[i] -= job->l2 * weights[i];
        KFE_TRY(apply_inverse(job, &s, work, work + count));
        for (int64_t i = 0; i < count; i++)
            weights[i] += work[count + i];
    }
cleanup:
    spectrum_free(job->ctx, &s);
    kfe_i_free(job->ctx, product);
    kfe_i_free(job->ctx, residual);
    kfe_i_free(job->ctx, work);
    return status;
}

/* W = XᵀC,  C += U(Λ + l2)⁻¹Uᵀ(Y − XW − l2·C). XᵀC needs no centring: the columns of C sum to zero. */
static kfe_status solve_by_rows(ls_job *job, double *weights)
{
    kfe_status status = KFE_OK;
    int64_t count = job->x.rows * job->k;
    spectrum s = {0};
    double *product = NULL;
    double *coefficients = NULL;
    double *work = NULL;

    KFE_ALLOC_ZERO(job->ctx, coefficients, count);
    KFE_ALLOC(job->ctx, work, 2 * count);
    KFE_TRY(rows_product(job, &product));
    KFE_TRY(spectrum_open(job, job->x.rows, product, &s));
    for (int step = 0; step < REFINEMENTS; step++) {
        KFE_TRY(find_residual(job, weights, work));
        for (int64_t i = 0; i < count; i++)
            work[i] -= job->l2 * coefficients[i];
        KFE_TRY(apply_inverse(job, &s, work, work + count));
        for (int64_t i = 0; i < count; i++)
            coefficients[i] += work[count + i];
        KFE_TRY(kfe_i_table_transpose_times(job->ctx, &job->x, coefficients, job->k, weights));
    }
cleanup:
    spectrum_free(job->ctx, &s);
    kfe_i_free(job->ctx, product);
    kfe_i_free(job->ctx, coefficients);
    kfe_i_free(job->ctx, work);
    return status;
}

/* ---- orthogonal factorisations ---- */

/* Rounding of centred columns: each entry is off by up to ε times the mean that was subtracted. */
static double singular_value_noise(const ls_job *job)
{
    double sum = 0;

    for (int64_t j = 0; j < job->x.cols; j++)
        sum += job->means[j] * job->means[j];
    return 2 * DBL_EPSILON * sqrt((double)job->x.rows * sum);
}

/* Overwrites the copy of X, and Y. */
static kfe_status solve_orthogonally(ls_job *job, double *weights)
{
    kfe_i_least_squares_problem problem = {
        .rows = job->x.rows,
        .cols = job->x.cols,
        .targets = job->k,
        .x = job->x.values,
        .y = job->y,
        .l2 = job->l2,
        .noise = singular_value_noise(job),
    };

    return kfe_i_least_squares(job->ctx, &problem, weights, &job->result);
}

/* ---- the fit ---- */

static kfe_status solve(ls_job *job, double *weights)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *x = &job->x;
    int done = 0;

    if (is_tall(x))
        KFE_TRY(solve_by_columns(job, 1, weights, &done));
    if (done)
        return KFE_OK;
    if (x->kind == KFE_TABLE_DENSE && smaller_side(x) <= LARGEST_SVD)
        KFE_TRY(solve_orthogonally(job, weights));
    else if (x->cols < x->rows)
        KFE_TRY(solve_by_columns(job, 0, weights, &done));
    else
        KFE_TRY(solve_by_rows(job, weights));
cleanup:
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

/* The objective, measured on the features and targets as given. */
static kfe_status find_objective(const ls_job *job, const kfe_i_predictor *predictor,
                                 const kfe_i_table *features, const kfe_i_target *target, double *out)
{
    kfe_status status = KFE_OK;
    int64_t k = job->k;
    double *values = NULL;

    *out = 0;
    KFE_ALLOC(job->ctx, values, features->rows * k);
    KFE_TRY(kfe_i_predictor_outputs(job->ctx, predictor, features, values));
    for (int64_t i = 0; i < features->rows; i++)
        for (int64_t j = 0; j < k; j++) {
            double error = target_value(target, k, i, j) - values[i * k + j];
            *out += kfe_i_weight_of(target, i) * (error * error);
        }
    for (int64_t i = 0; i < predictor->rows * k; i++)
        *out += job->l2 * predictor->weights[i] * predictor->weights[i];
cleanup:
    kfe_i_free(job->ctx, values);
    return status;
}

static void record(const ls_job *job, double objective, kfe_i_predictor *predictor)
{
    int64_t full = smaller_side(&job->x) < job->x.rows ? job->x.cols : job->x.rows - 1;

    kfe_i_predictor_record(predictor, "rank", (double)job->result.rank);
    if (job->result.rank > 0)
        kfe_i_predictor_record(predictor, "condition", job->result.largest / job->result.least);
    kfe_i_predictor_record(predictor, "objective", objective);
    if (job->result.rank < full && job->l2 == 0)
        kfe_i_log(job->ctx, KFE_LOG_WARNING,
                  "ls: the features have rank %lld instead of %lld, so some depend on others; the weights of "
                  "smallest norm are used; {l2} above 0 shrinks the weights instead",
                  (long long)job->result.rank, (long long)full);
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_ls_settings *s = settings;
    int classes = target->task == KFE_TASK_CLASSES;
    ls_job job = {.ctx = ctx,
                  .l2 = s->l2,
                  .k = classes ? target->class_count : target->cols,
                  .weights = target->weights,
                  .mass = kfe_i_target_mass(target, target->rows)};
    double objective = 0;

    KFE_TRY(kfe_i_predictor_begin(ctx, KFE_PREDICTOR_LINEAR, classes ? KFE_DECIDE_LARGEST : KFE_DECIDE_VALUE,
                                  features->cols, job.k, features->cols, out));
    out->classes = classes ? target->class_count : 0;
    KFE_TRY(centre_features(&job, features));
    KFE_TRY(centre_targets(&job, target));
    KFE_TRY(solve(&job, out->weights));
    set_offset(&job, out);
    KFE_TRY(find_objective(&job, out, features, target, &objective));
    record(&job, objective, out);
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
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_ls_settings),
    .fit = fit,
    .fit_sums = kfe_i_ls_fit_sums,
};
