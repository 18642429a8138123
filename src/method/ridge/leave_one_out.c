/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a ridge by leave-one-out, from one eigendecomposition of a sample of the kernel matrix; used by the ridge
 * family and by the joint methods. An eigendecomposition costs some ten times a Cholesky factorisation of the same order, so that of many
 * examples only a random sample is used. The ridge needs no correction for the size of the sample: it is the ratio of
 * noise to signal, which does not depend on the number of examples. With weights, an example is left out with all its weight, and its
 * error counts by it. */
#include "method/ridge/leave_one_out.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "gram/solve/positive.h"

enum {
    ALL_ROWS = 400,   /* up to so many examples all are used, */
    SAMPLE_SHARE = 8, /* of more, 400 or an eighth, whichever is larger: a tenth of the time of the solve */
    MOST_ROWS = 1000  /* but never more than this */
};

#define SMALLEST_EXPONENT (-5.0)
#define EXPONENT_STEP 0.5
/* An example whose own target decides its fitted value cannot be predicted from the others. */
#define SMALLEST_REST 1e-10

/* ---- errors ---- */

static void shrink(const kfe_i_loo_factor *f, double ridge, double *shares)
{
    for (int64_t j = 0; j < f->rank; j++)
        shares[j] = f->values[j] / (f->values[j] + ridge);
}

typedef struct loo_work {
    double *inner;   /* UᵀY, rank × columns */
    double *shrunk;  /* diag(shares)UᵀY */
    double *fitted;  /* n × columns */
    double *shares;  /* rank */
    double *squares; /* U∘U, n × rank */
    double *lever;   /* S_ii, n */
} loo_work;

static void free_work(kfe_context *ctx, loo_work *w)
{
    kfe_i_free(ctx, w->inner);
    kfe_i_free(ctx, w->shrunk);
    kfe_i_free(ctx, w->fitted);
    kfe_i_free(ctx, w->shares);
    kfe_i_free(ctx, w->squares);
    kfe_i_free(ctx, w->lever);
}

static kfe_status make_work(kfe_context *ctx, const kfe_i_loo_factor *f, loo_work *w)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, w->inner, f->rank * f->columns);
    KFE_ALLOC(ctx, w->shrunk, f->rank * f->columns);
    KFE_ALLOC(ctx, w->fitted, f->n * f->columns);
    KFE_ALLOC(ctx, w->shares, f->rank);
    KFE_ALLOC(ctx, w->squares, f->n * f->rank);
    KFE_ALLOC(ctx, w->lever, f->n);
    for (int64_t p = 0; p < f->n * f->rank; p++)
        w->squares[p] = f->vectors[p] * f->vectors[p];
    kfe_i_inner_products(f->n, kfe_i_packed(f->vectors, f->rank), kfe_i_packed(f->targets, f->columns),
                         w->inner);
cleanup:
    return status;
}

/* The share that the constant of the regression takes of the fitted value of an example. */
static double constant_leverage(const kfe_i_loo_factor *f, int64_t i)
{
    return f->roots ? f->roots[i] * f->roots[i] / f->mass : 1 / (double)f->n;
}

/* The squared error of each example under one ridge. */
static void errors_of(const kfe_i_loo_factor *f, double ridge, loo_work *w, double *errors)
{
    int64_t m = f->columns;

    shrink(f, ridge, w->shares);
    for (int64_t j = 0; j < f->rank; j++)
        for (int64_t c = 0; c < m; c++)
            w->shrunk[j * m + c] = w->shares[j] * w->inner[j * m + c];
    kfe_i_combine(f->n, 1, kfe_i_packed(f->vectors, f->rank), kfe_i_packed(w->shrunk, m), 0, w->fitted);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)f->n, (blasint)f->rank, 1, w->squares, (blasint)f->rank,
                w->shares, 1, 0, w->lever, 1);
    for (int64_t i = 0; i < f->n; i++) {
        double rest = 1 - w->lever[i] - (f->centred ? constant_leverage(f, i) : 0);
        double sum = 0;
        for (int64_t c = 0; c < m; c++) {
            double residual = f->targets[i * m + c] - w->fitted[i * m + c];
            sum += residual * residual;
        }
        errors[i] = rest > SMALLEST_REST ? sum / (rest * rest) : (double)INFINITY;
    }
}

kfe_status kfe_i_loo_errors(kfe_context *ctx, const kfe_i_loo_factor *factor, int64_t count,
                            const double *ridges, double *errors)
{
    kfe_status status = KFE_OK;
    loo_work work = {0};

    KFE_TRY(make_work(ctx, factor, &work));
    for (int64_t r = 0; r < count; r++)
        errors_of(factor, ridges[r], &work, errors + r * factor->n);
cleanup:
    free_work(ctx, &work);
    return status;
}

/* ---- the rule ---- */

static double mean_of(int64_t n, const double *values)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* The standard error of a mean. */
static double error_of_mean(int64_t n, const double *values, double mean)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum) / (double)n;
}

static int64_t smallest_error(int64_t count, int64_t n, const double *errors)
{
    int64_t best = 0;
    double smallest = (double)INFINITY;

    for (int64_t r = 0; r < count; r++) {
        double mean = mean_of(n, errors + r * n);
        if (mean <= smallest) {
            smallest = mean;
            best = r;
        }
    }
    return best;
}

int64_t kfe_i_loo_best(int64_t count, int64_t n, const double *errors, kfe_i_loo_rule rule)
{
    int64_t best = smallest_error(count, n, errors);
    double smallest = mean_of(n, errors + best * n);
    int64_t step = rule == KFE_LOO_LARGEST_RIDGE ? -1 : 1;

    if (rule == KFE_LOO_SMALLEST_ERROR || !isfinite(smallest))
        return best;
    double bound = smallest + error_of_mean(n, errors + best * n, smallest);
    for (int64_t r = step < 0 ? count - 1 : 0; r != best; r += step)
        if (mean_of(n, errors + r * n) <= bound)
            return r;
    return best;
}

/* ---- the sample ---- */

typedef struct loo_sample {
    kfe_context *ctx;
    const kfe_i_loo_problem *problem;
    int64_t rows;
    int64_t *index;  /* has room for all examples */
    double *matrix;  /* the kernel matrix of the sample, later destroyed; rows × rows */
    double *targets; /* rows × columns */
    double *values, *vectors;
    double *panel; /* the sampled points */
    double *roots; /* of the weights of the sample; NULL: ones */
    double mass;   /* the sum of these weights */
    int indefinite;
} loo_sample;

static void free_sample(loo_sample *s)
{
    kfe_i_free(s->ctx, s->index);
    kfe_i_free(s->ctx, s->matrix);
    kfe_i_free(s->ctx, s->targets);
    kfe_i_free(s->ctx, s->values);
    kfe_i_free(s->ctx, s->vectors);
    kfe_i_free(s->ctx, s->panel);
    kfe_i_free(s->ctx, s->roots);
}

static int64_t sample_size(int64_t n)
{
    int64_t part = n / SAMPLE_SHARE;

    if (n <= ALL_ROWS)
        return n;
    if (part < ALL_ROWS)
        return ALL_ROWS;
    return part < MOST_ROWS ? part : MOST_ROWS;
}

/* ZZᵀ of the sampled rows. */
static kfe_status multiply_points(loo_sample *s)
{
    kfe_status status = KFE_OK;
    int64_t q = s->problem->rank;

    KFE_ALLOC(s->ctx, s->matrix, s->rows * s->rows);
    KFE_ALLOC(s->ctx, s->panel, s->rows * q);
    for (int64_t i = 0; i < s->rows; i++)
        memcpy(s->panel + i * q, s->problem->points + s->index[i] * q, (size_t)q * sizeof *s->panel);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)s->rows, (blasint)s->rows, (blasint)q, 1,
                s->panel, (blasint)q, s->panel, (blasint)q, 0, s->matrix, (blasint)s->rows);
cleanup:
    return status;
}

static kfe_status read_matrix(loo_sample *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *gram = s->problem->gram;

    if (s->problem->points)
        return multiply_points(s);
    if (s->rows == gram->size)
        return kfe_i_gram_materialise(gram, &s->matrix);
    KFE_TRY(kfe_i_checkpoint(s->ctx, "choosing the ridge", 0, 0));
    KFE_ALLOC(s->ctx, s->matrix, s->rows * s->rows);
    KFE_TRY(kfe_i_gram_among(gram, s->index, s->rows, s->matrix));
cleanup:
    return status;
}

static kfe_status read_targets(loo_sample *s)
{
    kfe_status status = KFE_OK;
    int64_t m = s->problem->columns;

    KFE_ALLOC(s->ctx, s->targets, s->rows * m);
    for (int64_t i = 0; i < s->rows; i++)
        memcpy(s->targets + i * m, s->problem->targets + s->index[i] * m, (size_t)m * sizeof *s->targets);
cleanup:
    return status;
}

static kfe_status read_roots(loo_sample *s)
{
    kfe_status status = KFE_OK;
    const double *roots = s->problem->gram->roots;

    if (!roots)
        return KFE_OK;
    KFE_ALLOC(s->ctx, s->roots, s->rows);
    for (int64_t i = 0; i < s->rows; i++) {
        s->roots[i] = roots[s->index[i]];
        s->mass += s->roots[i] * s->roots[i];
    }
cleanup:
    return status;
}

/* Subtracts the mean of every column of a matrix with a row per example. */
static void centre_columns(const loo_sample *s, int64_t cols, double *a)
{
    double mass = s->roots ? s->mass : (double)s->rows;

    for (int64_t j = 0; j < cols; j++) {
        double sum = 0;
        for (int64_t i = 0; i < s->rows; i++)
            sum += s->roots ? s->roots[i] * a[i * cols + j] : a[i * cols + j];
        for (int64_t i = 0; i < s->rows; i++)
            a[i * cols + j] -= (s->roots ? s->roots[i] : 1) * (sum / mass);
    }
}

/* PKP of the symmetric matrix: centring the columns leaves the row means, which are then subtracted. */
static void centre_matrix(const loo_sample *s)
{
    int64_t n = s->rows;

    centre_columns(s, n, s->matrix);
    for (int64_t i = 0; i < n; i++) {
        double *row = s->matrix + i * n;
        double mean = s->roots ? cblas_ddot((blasint)n, s->roots, 1, row, 1) / s->mass : mean_of(n, row);
        for (int64_t j = 0; j < n; j++)
            row[j] -= (s->roots ? s->roots[j] : 1) * mean;
    }
}

static kfe_status draw_sample(loo_sample *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->problem->gram->size;
    kfe_i_rng rng;

    s->rows = sample_size(n);
    KFE_ALLOC(s->ctx, s->index, n);
    for (int64_t i = 0; i < n; i++)
        s->index[i] = i;
    if (s->rows < n) {
        kfe_i_rng_init(&rng, s->ctx->seed, KFE_STREAM_LOO);
        kfe_i_rng_choose(&rng, n, s->rows, s->index);
    }
    KFE_TRY(read_matrix(s));
    KFE_TRY(read_targets(s));
    KFE_TRY(read_roots(s));
    if (s->problem->centred) {
        centre_matrix(s);
        centre_columns(s, s->problem->columns, s->targets);
    }
cleanup:
    return status;
}

/* Eigenpairs of the sample, negative eigenvalues counted as zero. *mean is the mean eigenvalue. */
static kfe_status decompose(loo_sample *s, double *mean)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(s->ctx, s->values, s->rows);
    KFE_ALLOC(s->ctx, s->vectors, s->rows * s->rows);
    KFE_TRY(kfe_i_symmetric_eigen(s->ctx, s->rows, s->matrix, s->rows, s->values, s->vectors));
    s->indefinite = kfe_i_is_indefinite(s->problem->gram, s->values[0], s->values[s->rows - 1]);
    for (int64_t j = 0; j < s->rows; j++)
        s->values[j] = fmax(s->values[j], 0);
    *mean = mean_of(s->rows, s->values);
cleanup:
    return status;
}

kfe_status kfe_i_loo_choose_from(kfe_context *ctx, const kfe_i_loo_factor *factor, double mean,
                                 kfe_i_loo_rule rule, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;
    double ridges[KFE_LOO_RIDGES];
    int64_t n = factor->n;
    double *errors = NULL;
    double square =
        cblas_ddot((blasint)(n * factor->columns), factor->targets, 1, factor->targets, 1) / (double)n;

    for (int r = 0; r < KFE_LOO_RIDGES; r++)
        ridges[r] = mean * pow(10, SMALLEST_EXPONENT + EXPONENT_STEP * r);
    KFE_ALLOC(ctx, errors, KFE_LOO_RIDGES * n);
    KFE_TRY(kfe_i_loo_errors(ctx, factor, KFE_LOO_RIDGES, ridges, errors));
    int64_t best = kfe_i_loo_best(KFE_LOO_RIDGES, n, errors, rule);
    double error = mean_of(n, errors + best * n);
    if (isfinite(error) && square > 0)
        *out = (kfe_i_loo_choice){.ridge = ridges[best], .error = error / square, .rows = n};
cleanup:
    kfe_i_free(ctx, errors);
    return status;
}

static kfe_status choose(loo_sample *s, double mean, kfe_i_loo_choice *out)
{
    const kfe_i_loo_factor factor = {.n = s->rows,
                                     .rank = s->rows,
                                     .columns = s->problem->columns,
                                     .vectors = s->vectors,
                                     .values = s->values,
                                     .targets = s->targets,
                                     .centred = s->problem->centred,
                                     .roots = s->roots,
                                     .mass = s->mass};

    return kfe_i_loo_choose_from(s->ctx, &factor, mean, s->problem->rule, out);
}

kfe_status kfe_i_loo_choose(kfe_context *ctx, const kfe_i_loo_problem *problem, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;
    loo_sample s = {.ctx = ctx, .problem = problem};
    double mean = 0;

    *out = (kfe_i_loo_choice){0};
    if (problem->gram->size < 3)
        return KFE_OK;
    KFE_TRY(draw_sample(&s));
    KFE_TRY(decompose(&s, &mean));
    if (mean > 0)
        KFE_TRY(choose(&s, mean, out));
    out->indefinite = s.indefinite;
cleanup:
    free_sample(&s);
    return status;
}

kfe_status kfe_i_loo_record(kfe_i_solution *solution, const kfe_i_loo_choice *choice)
{
    kfe_status status = KFE_OK;
    double rows = (double)choice->rows;

    if (choice->rows == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_solution_record(solution, "loo-error", &choice->error, 1));
    KFE_TRY(kfe_i_solution_record(solution, "loo-rows", &rows, 1));
cleanup:
    return status;
}
