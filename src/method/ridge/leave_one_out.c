/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a ridge by leave-one-out, from one reduction of the kernel matrix of a sample; used by the ridge family, by
 * the joint methods and by learned metrics. A reduction costs some eight times a Cholesky factorisation of the same order, so
 * that of many examples only a random sample is used. The ridge needs no correction for the size of the sample: it is the
 * ratio of noise to signal, which does not depend on the number of examples. With weights, an example is left out with all
 * its weight, and its error counts by it. */
#include "method/ridge/leave_one_out.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/least.h"
#include "core/memory.h"
#include "core/rng.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "gram/solve/positive.h"

/* Of n examples, 60 + 3n/10 but at most 400 are used, and an eighth if that is more, but at most 1,000: so that the choice
 * takes less than half as long as the rest of the fit (bench/ridge.c). */
enum { FEW_ROWS = 60, FEW_TENTHS = 3, SOME_ROWS = 400, MANY_SHARE = 8, MOST_ROWS = 1000 };

#define SMALLEST_EXPONENT (-5.0)
#define EXPONENT_STEP 0.5
/* An example whose own target decides its fitted value cannot be predicted from the others. */
#define SMALLEST_REST 1e-10

/* ---- errors from eigenvectors ---- */

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

/* The share that the constant of the regression takes of the fitted value of an example; roots and mass as in
 * kfe_i_loo_factor. */
static double constant_leverage(int64_t n, const double *roots, double mass, int64_t i)
{
    return roots ? roots[i] * roots[i] / mass : 1 / (double)n;
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
        double rest = 1 - w->lever[i] - (f->centred ? constant_leverage(f->n, f->roots, f->mass, i) : 0);
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

/* ---- errors from a tridiagonal matrix ---- */

typedef struct reduced_work {
    double *pivots, *ratios, *inverses; /* for each ridge n numbers: D, L and the diagonal of M */
    double *inner, *solved;             /* QᵀY and (T + ρI)⁻¹QᵀY, n × columns */
    double *beside;                     /* the latter of all ridges side by side, n × (count · columns) */
    double *images;                     /* MY of all ridges, the same shape */
} reduced_work;

static void free_reduced_work(kfe_context *ctx, reduced_work *w)
{
    kfe_i_free(ctx, w->pivots);
    kfe_i_free(ctx, w->ratios);
    kfe_i_free(ctx, w->inverses);
    kfe_i_free(ctx, w->inner);
    kfe_i_free(ctx, w->solved);
    kfe_i_free(ctx, w->beside);
    kfe_i_free(ctx, w->images);
}

static kfe_status make_reduced_work(kfe_context *ctx, int64_t n, int64_t m, int64_t count, reduced_work *w)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, w->pivots, count * n);
    KFE_ALLOC(ctx, w->ratios, count * n);
    KFE_ALLOC(ctx, w->inverses, count * n);
    KFE_ALLOC(ctx, w->inner, n * m);
    KFE_ALLOC(ctx, w->solved, n * m);
    KFE_ALLOC(ctx, w->beside, n * count * m);
    KFE_ALLOC(ctx, w->images, n * count * m);
cleanup:
    return status;
}

static int factor_all(const kfe_i_tridiagonal *t, int64_t count, const double *ridges, reduced_work *w)
{
    for (int64_t r = 0; r < count; r++)
        if (!kfe_i_tridiagonal_factor(t, ridges[r], w->pivots + r * t->n, w->ratios + r * t->n))
            return 0;
    return 1;
}

/* MY for every ridge. */
static void solve_all(const kfe_i_loo_reduced *f, int64_t count, reduced_work *w)
{
    int64_t n = f->matrix->n;
    int64_t m = f->columns;
    int64_t width = count * m;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)n, (blasint)m, (blasint)n, 1,
                f->matrix->q, (blasint)n, f->targets, (blasint)m, 0, w->inner, (blasint)m);
    for (int64_t r = 0; r < count; r++) {
        memcpy(w->solved, w->inner, (size_t)(n * m) * sizeof *w->solved);
        kfe_i_tridiagonal_solve(n, w->pivots + r * n, w->ratios + r * n, m, w->solved);
        kfe_i_copy_block(n, m, w->solved, m, w->beside + r * m, width);
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)n, (blasint)width, (blasint)n, 1,
                f->matrix->q, (blasint)n, w->beside, (blasint)width, 0, w->images, (blasint)width);
}

/* The error of example i with M_ii = inverse and (MY)_i = image. */
static double reduced_error(const kfe_i_loo_reduced *f, int64_t i, double ridge, double inverse,
                            const double *image)
{
    double constant = f->centred ? constant_leverage(f->matrix->n, f->roots, f->mass, i) : 0;
    double rest = ridge * inverse - constant;
    double sum = 0;

    for (int64_t c = 0; c < f->columns; c++)
        sum += ridge * image[c] * (ridge * image[c]);
    return rest > SMALLEST_REST ? sum / (rest * rest) : (double)INFINITY;
}

kfe_status kfe_i_loo_reduced_errors(kfe_context *ctx, const kfe_i_loo_reduced *reduced, int64_t count,
                                    const double *ridges, double *errors, int *definite)
{
    kfe_status status = KFE_OK;
    reduced_work w = {0};
    int64_t n = reduced->matrix->n;
    int64_t m = reduced->columns;

    KFE_TRY(make_reduced_work(ctx, n, m, count, &w));
    *definite = factor_all(reduced->matrix, count, ridges, &w);
    if (!*definite)
        goto cleanup;
    KFE_TRY(kfe_i_tridiagonal_inverse_diagonals(reduced->matrix, count, w.pivots, w.ratios, w.inverses));
    solve_all(reduced, count, &w);
    for (int64_t r = 0; r < count; r++)
        for (int64_t i = 0; i < n; i++)
            errors[r * n + i] =
                reduced_error(reduced, i, ridges[r], w.inverses[r * n + i], w.images + (i * count + r) * m);
cleanup:
    free_reduced_work(ctx, &w);
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
    double *values;  /* row means, later eigenvalues */
    double *vectors; /* eigenvectors */
    double *panel;   /* the sampled points */
    double *roots;   /* of the weights of the sample; NULL: ones */
    double mass;     /* the sum of these weights */
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

int64_t kfe_i_loo_sample_size(int64_t n)
{
    int64_t few = kfe_i_least(FEW_ROWS + n * FEW_TENTHS / 10, SOME_ROWS);
    int64_t many = kfe_i_least(n / MANY_SHARE, MOST_ROWS);

    return kfe_i_least(n, few > many ? few : many);
}

void kfe_i_loo_draw_sample(kfe_context *ctx, int64_t n, int64_t *index)
{
    int64_t size = kfe_i_loo_sample_size(n);
    kfe_i_rng rng;

    for (int64_t i = 0; i < n; i++)
        index[i] = i;
    if (size == n)
        return;
    kfe_i_rng_init(&rng, ctx->seed, KFE_STREAM_LOO);
    kfe_i_rng_choose(&rng, n, size, index);
}

/* ZZᵀ of the sampled rows. */
static kfe_status multiply_points(loo_sample *s)
{
    kfe_status status = KFE_OK;
    int64_t q = s->problem->rank;

    KFE_ALLOC(s->ctx, s->matrix, s->rows * s->rows);
    if (!s->panel)
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

    s->mass = (double)s->rows;
    if (!roots)
        return KFE_OK;
    KFE_ALLOC(s->ctx, s->roots, s->rows);
    s->mass = 0;
    for (int64_t i = 0; i < s->rows; i++) {
        s->roots[i] = roots[s->index[i]];
        s->mass += s->roots[i] * s->roots[i];
    }
cleanup:
    return status;
}

static double root_of(const loo_sample *s, int64_t i)
{
    return s->roots ? s->roots[i] : 1;
}

/* Subtracts the mean of every column of a matrix with a row per example. */
static void centre_columns(const loo_sample *s, int64_t cols, double *a)
{
    for (int64_t j = 0; j < cols; j++) {
        double sum = 0;
        for (int64_t i = 0; i < s->rows; i++)
            sum += root_of(s, i) * a[i * cols + j];
        for (int64_t i = 0; i < s->rows; i++)
            a[i * cols + j] -= root_of(s, i) * (sum / s->mass);
    }
}

/* PKP of the symmetric matrix; means: one number per row. */
static void centre_matrix(const loo_sample *s, double *means)
{
    int64_t n = s->rows;
    double mean = 0;

    for (int64_t i = 0; i < n; i++) {
        const double *row = s->matrix + i * n;
        means[i] = s->roots ? cblas_ddot((blasint)n, s->roots, 1, row, 1) / s->mass : mean_of(n, row);
        mean += root_of(s, i) * means[i] / s->mass;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            s->matrix[i * n + j] -=
                means[i] * root_of(s, j) + root_of(s, i) * (means[j] - mean * root_of(s, j));
}

static kfe_status draw_sample(loo_sample *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->problem->gram->size;

    s->rows = s->problem->every_row ? n : kfe_i_loo_sample_size(n);
    KFE_ALLOC(s->ctx, s->index, n);
    KFE_ALLOC(s->ctx, s->values, s->rows);
    for (int64_t i = 0; s->problem->every_row && i < n; i++)
        s->index[i] = i;
    if (!s->problem->every_row)
        kfe_i_loo_draw_sample(s->ctx, n, s->index);
    KFE_TRY(read_targets(s));
    KFE_TRY(read_roots(s));
    if (s->problem->centred)
        centre_columns(s, s->problem->columns, s->targets);
cleanup:
    return status;
}

/* G of the sample. */
static kfe_status make_matrix(loo_sample *s)
{
    kfe_status status = KFE_OK;

    kfe_i_free(s->ctx, s->matrix);
    s->matrix = NULL;
    KFE_TRY(read_matrix(s));
    if (s->problem->centred)
        centre_matrix(s, s->values);
cleanup:
    return status;
}

/* ---- the choice ---- */

/* `mean`: the mean eigenvalue. */
static void make_path(double mean, double *ridges)
{
    for (int r = 0; r < KFE_LOO_RIDGES; r++)
        ridges[r] = mean * pow(10, SMALLEST_EXPONENT + EXPONENT_STEP * r);
}

static void take_best(int64_t n, const double *ridges, const double *errors, double mean_square,
                      kfe_i_loo_rule rule, kfe_i_loo_choice *out)
{
    int64_t best = kfe_i_loo_best(KFE_LOO_RIDGES, n, errors, rule);
    double error = mean_of(n, errors + best * n);

    if (isfinite(error) && mean_square > 0)
        *out = (kfe_i_loo_choice){.ridge = ridges[best], .error = error / mean_square, .rows = n};
}

static double mean_square(int64_t n, int64_t columns, const double *targets)
{
    return cblas_ddot((blasint)(n * columns), targets, 1, targets, 1) / (double)n;
}

kfe_status kfe_i_loo_choose_from(kfe_context *ctx, const kfe_i_loo_factor *factor, double mean,
                                 kfe_i_loo_rule rule, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;
    double ridges[KFE_LOO_RIDGES];
    double *errors = NULL;

    make_path(mean, ridges);
    KFE_ALLOC(ctx, errors, KFE_LOO_RIDGES * factor->n);
    KFE_TRY(kfe_i_loo_errors(ctx, factor, KFE_LOO_RIDGES, ridges, errors));
    take_best(factor->n, ridges, errors, mean_square(factor->n, factor->columns, factor->targets), rule, out);
cleanup:
    kfe_i_free(ctx, errors);
    return status;
}

/* Whether the kernel is positive definite up to rounding. The largest eigenvalue is at least the largest diagonal
 * entry of T. work: 2 × rows. */
static int is_definite(const loo_sample *s, const kfe_i_tridiagonal *t, double *work)
{
    double largest = 0;

    for (int64_t k = 0; k < t->n; k++)
        largest = fmax(largest, t->diagonal[k]);
    return largest > 0 &&
           kfe_i_tridiagonal_factor(t, -kfe_i_rounded_zero(s->problem->gram, largest), work, work + t->n);
}

/* *done is 0 if the kernel is not positive definite on the sample. */
static kfe_status choose_by_reduction(loo_sample *s, kfe_i_loo_choice *out, int *done)
{
    kfe_status status = KFE_OK;
    kfe_i_tridiagonal t = {0};
    double ridges[KFE_LOO_RIDGES];
    double *errors = NULL;

    *done = 0;
    KFE_TRY(make_matrix(s));
    KFE_TRY(kfe_i_tridiagonal_new(s->ctx, s->rows, s->matrix, &t));
    KFE_ALLOC(s->ctx, errors, KFE_LOO_RIDGES * s->rows);
    if (!is_definite(s, &t, errors))
        goto cleanup;
    make_path(mean_of(s->rows, t.diagonal), ridges);
    const kfe_i_loo_reduced reduced = {
        .matrix = &t, .targets = s->targets, .columns = s->problem->columns, .centred = s->problem->centred};
    KFE_TRY(kfe_i_loo_reduced_errors(s->ctx, &reduced, KFE_LOO_RIDGES, ridges, errors, done));
    if (*done)
        take_best(s->rows, ridges, errors, mean_square(s->rows, s->problem->columns, s->targets),
                  s->problem->rule, out);
cleanup:
    kfe_i_free(s->ctx, errors);
    kfe_i_tridiagonal_free(&t);
    return status;
}

/* On the positive part of the kernel: negative eigenvalues count as zero. */
static kfe_status choose_by_eigenvectors(loo_sample *s, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;
    int64_t n = s->rows;

    KFE_TRY(make_matrix(s));
    KFE_ALLOC(s->ctx, s->vectors, n * n);
    KFE_TRY(kfe_i_symmetric_eigen(s->ctx, n, s->matrix, n, s->values, s->vectors));
    int indefinite = kfe_i_is_indefinite(s->problem->gram, s->values[0], s->values[n - 1]);
    for (int64_t j = 0; j < n; j++)
        s->values[j] = fmax(s->values[j], 0);
    double mean = mean_of(n, s->values);
    const kfe_i_loo_factor factor = {.n = n,
                                     .rank = n,
                                     .columns = s->problem->columns,
                                     .vectors = s->vectors,
                                     .values = s->values,
                                     .targets = s->targets,
                                     .centred = s->problem->centred,
                                     .roots = s->roots,
                                     .mass = s->mass};
    if (mean > 0)
        KFE_TRY(kfe_i_loo_choose_from(s->ctx, &factor, mean, s->problem->rule, out));
    out->indefinite = indefinite;
cleanup:
    return status;
}

kfe_status kfe_i_loo_choose(kfe_context *ctx, const kfe_i_loo_problem *problem, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;
    loo_sample s = {.ctx = ctx, .problem = problem};
    int done = 0;

    *out = (kfe_i_loo_choice){0};
    if (problem->gram->size < 3)
        return KFE_OK;
    KFE_TRY(draw_sample(&s));
    KFE_TRY(choose_by_reduction(&s, out, &done));
    if (!done)
        KFE_TRY(choose_by_eigenvectors(&s, out));
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
