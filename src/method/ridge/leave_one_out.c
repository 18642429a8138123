/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a ridge by leave-one-out, from one reduction of the kernel matrix of a sample; used by the ridge family, by
 * the joint methods and by learned distances. A reduction costs some eight times a Cholesky factorisation of the same order, so
 * that of many examples only a random sample is used. The ridge needs no correction for the size of the sample: it is the
 * ratio of noise to signal, which does not depend on the number of examples.
 *
 * Rows of equal content are joined to one, whose weight is their sum and whose target is their mean, before anything is chosen: they
 * are drawn, left out and counted together. What their own targets differ by is added to their error. A kernel that is not positive
 * definite on the sample is replaced by its positive part. */
#include "method/ridge/leave_one_out.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "gram/solve/positive.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

enum { FEWEST_ROWS = 3 };

#define SMALLEST_EXPONENT (-5.0)
#define EXPONENT_STEP 0.5
/* Errors that differ by less than this share are equal but for rounding. */
#define KFE_EQUAL_ERRORS 1e-9

/* ---- the rule ---- */

static double sum_of(int64_t n, const double *values)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

/* The standard error of a mean by weight. */
static double error_of_mean(int64_t n, const double *errors, const double *masses, double mean)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += (errors[i] - masses[i] * mean) * (errors[i] - masses[i] * mean);
    return sqrt(sum) / sum_of(n, masses);
}

/* Of equal errors, that of the largest ridge. */
static int64_t smallest_error(int64_t count, int64_t n, const double *errors)
{
    int64_t best = 0;
    double smallest = (double)INFINITY;

    for (int64_t r = 0; r < count; r++) {
        double sum = sum_of(n, errors + r * n);
        if (sum <= smallest * (1 + KFE_EQUAL_ERRORS)) {
            smallest = fmin(smallest, sum);
            best = r;
        }
    }
    return best;
}

int64_t kfe_i_loo_best(int64_t count, int64_t n, const double *errors, const double *masses,
                       kfe_i_loo_rule rule)
{
    int64_t best = smallest_error(count, n, errors);
    double mass = sum_of(n, masses);
    double smallest = sum_of(n, errors + best * n) / mass;
    int64_t step = rule == KFE_LOO_LARGEST_RIDGE ? -1 : 1;

    if (rule == KFE_LOO_SMALLEST_ERROR || !isfinite(smallest))
        return best;
    double bound = smallest + error_of_mean(n, errors + best * n, masses, smallest);
    for (int64_t r = step < 0 ? count - 1 : 0; r != best; r += step)
        if (sum_of(n, errors + r * n) / mass <= bound * (1 + KFE_EQUAL_ERRORS))
            return r;
    return best;
}

/* ---- the sample ---- */

typedef struct loo_sample {
    kfe_context *ctx;
    const kfe_i_loo_problem *problem;
    kfe_i_arena memory;
    kfe_i_distinct distinct; /* all rows */
    int64_t rows;            /* distinct ones that are used, each of which is one joined row */
    int64_t *index;          /* rows: an example of each */
    kfe_i_loo_units units;
    double *matrix;      /* the kernel matrix of the sample, later reduced; rows × rows */
    kfe_i_tridiagonal t; /* its tridiagonal form */
    int indefinite;      /* that of its positive part */
    double *work;        /* 2 × rows */
    double *roots;       /* of the weights of the joined rows */
    double mass;         /* the sum of these weights */
} loo_sample;

static void free_sample(loo_sample *s)
{
    kfe_i_distinct_free(&s->distinct);
    kfe_i_loo_units_free(&s->units);
    kfe_i_tridiagonal_free(&s->t);
    kfe_i_free(s->ctx, s->matrix);
    kfe_i_arena_free(&s->memory);
}

/* Numbers rows that are all different, and all used, by their places. */
static void keep_places(loo_sample *s)
{
    for (int64_t i = 0; i < s->rows; i++)
        s->distinct.of[i] = s->distinct.first[i] = i;
}

/* What the entries of row i of the sample are multiplied by, so that they are those of the joined row. */
static double factor_of(const loo_sample *s, int64_t i)
{
    const double *roots = s->problem->gram->roots;

    return s->roots[i] / (roots ? roots[s->index[i]] : 1);
}

/* ZZᵀ of the sampled rows. */
static kfe_status multiply_points(loo_sample *s)
{
    kfe_status status = KFE_OK;
    int64_t q = s->problem->rank;
    double *panel = NULL;

    KFE_ALLOC(s->ctx, s->matrix, s->rows * s->rows);
    KFE_ALLOC(s->ctx, panel, s->rows * q);
    for (int64_t i = 0; i < s->rows; i++)
        memcpy(panel + i * q, s->problem->points + s->index[i] * q, (size_t)q * sizeof *panel);
    kfe_i_times_transpose(s->rows, q, s->rows, panel, panel, s->matrix);
cleanup:
    kfe_i_free(s->ctx, panel);
    return status;
}

static kfe_status read_entries(loo_sample *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *gram = s->problem->gram;

    if (s->problem->points)
        return multiply_points(s);
    if (s->rows == gram->size)
        return kfe_i_gram_materialise(gram, &s->matrix);
    KFE_TRY(kfe_i_progress(s->ctx, "choosing the ridge", 0, 0));
    KFE_ALLOC(s->ctx, s->matrix, s->rows * s->rows);
    KFE_TRY(kfe_i_gram_among(gram, s->index, s->rows, s->matrix));
cleanup:
    return status;
}

/* PKP of the symmetric matrix; means: one number per row. */
static void centre_matrix(const loo_sample *s, double *means)
{
    int64_t n = s->rows;
    double mean = 0;

    for (int64_t i = 0; i < n; i++) {
        const double *row = s->matrix + i * n;
        means[i] = cblas_ddot((blasint)n, s->roots, 1, row, 1) / s->mass;
        mean += s->roots[i] * means[i] / s->mass;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            s->matrix[i * n + j] -= means[i] * s->roots[j] + s->roots[i] * (means[j] - mean * s->roots[j]);
}

/* G of the sample. */
static kfe_status make_matrix(loo_sample *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->rows;

    kfe_i_free(s->ctx, s->matrix);
    s->matrix = NULL;
    KFE_TRY(read_entries(s));
    for (int64_t i = 0; n < s->distinct.rows && i < n; i++)
        for (int64_t j = 0; j < n; j++)
            s->matrix[i * n + j] *= factor_of(s, i) * factor_of(s, j);
    if (s->problem->centred)
        centre_matrix(s, s->work);
cleanup:
    return status;
}

static kfe_status draw_sample(loo_sample *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_loo_problem *p = s->problem;
    int64_t n = p->gram->size;

    KFE_TRY(kfe_i_distinct_make(s->ctx, n, p->keys, KFE_STREAM_LOO, &s->distinct));
    s->rows = p->every_row ? s->distinct.count : kfe_i_sample_size(s->distinct.count);
    if (s->rows == n)
        keep_places(s);
    KFE_TAKE(&s->memory, s->index, s->rows);
    memcpy(s->index, s->distinct.first, (size_t)s->rows * sizeof *s->index);
    KFE_TAKE(&s->memory, s->work, 2 * s->rows + p->columns);
    KFE_TAKE(&s->memory, s->roots, s->rows);
    KFE_TRY(kfe_i_loo_units_make(&s->distinct, s->rows, p->gram->roots, p->columns, p->targets, &s->units));
    for (int64_t g = 0; g < s->rows; g++)
        s->roots[g] = sqrt(s->units.masses[g]);
    s->mass = sum_of(s->rows, s->units.masses);
    if (p->centred) {
        kfe_i_mean_row(s->rows, p->columns, s->units.targets, s->roots, s->mass, s->work);
        kfe_i_subtract_row(s->rows, p->columns, s->work, s->roots, s->units.targets);
    }
cleanup:
    return status;
}

/* ---- the reduction ---- */

/* Negative eigenvalues of the matrix become zero. */
static kfe_status take_positive_part(loo_sample *s)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = s->ctx};
    int64_t n = s->rows;
    double *values, *vectors, *scratch;
    double zero = 0;

    KFE_TAKE(&memory, values, n);
    KFE_TAKE(&memory, vectors, n * n);
    KFE_TAKE(&memory, scratch, n * n);
    KFE_TRY(kfe_i_symmetric_eigen(s->ctx, n, s->matrix, n, values, vectors));
    KFE_TRY(kfe_i_gram_rounded_zero(s->problem->gram, values[0], &zero));
    s->indefinite = values[n - 1] < zero;
    for (int64_t j = 0; j < n; j++)
        values[j] = fmax(values[j], 0);
    kfe_i_from_spectrum(n, vectors, values, scratch, s->matrix);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* Whether the kernel is positive definite up to rounding. The largest eigenvalue is at least the largest diagonal
 * entry of T. */
static kfe_status check_definite(const loo_sample *s, int *out)
{
    kfe_status status = KFE_OK;
    double largest = 0;
    double zero = 0;

    for (int64_t k = 0; k < s->rows; k++)
        largest = fmax(largest, s->t.diagonal[k]);
    KFE_TRY(kfe_i_gram_rounded_zero(s->problem->gram, largest, &zero));
    *out = largest > 0 && kfe_i_tridiagonal_factor(&s->t, -zero, s->work, s->work + s->rows);
cleanup:
    return status;
}

static kfe_status reduce_matrix(loo_sample *s)
{
    kfe_status status = KFE_OK;
    int definite = 0;

    KFE_TRY(make_matrix(s));
    KFE_TRY(kfe_i_tridiagonal_new(s->ctx, s->rows, s->matrix, &s->t));
    KFE_TRY(check_definite(s, &definite));
    if (!definite) {
        kfe_i_tridiagonal_free(&s->t);
        KFE_TRY(make_matrix(s));
        KFE_TRY(take_positive_part(s));
        KFE_TRY(kfe_i_tridiagonal_new(s->ctx, s->rows, s->matrix, &s->t));
    }
cleanup:
    return status;
}

/* ---- the choice ---- */

/* Adds to the errors what the targets of one unit differ by. `mean`: the mean eigenvalue. */
static void take_best(const loo_sample *s, double mean, const double *ridges, double *errors,
                      kfe_i_loo_choice *out)
{
    const kfe_i_loo_units *u = &s->units;
    int64_t n = u->count;
    double squares =
        cblas_ddot((blasint)(n * s->problem->columns), u->targets, 1, u->targets, 1) + sum_of(n, u->within);

    for (int r = 0; r < KFE_LOO_RIDGES; r++)
        cblas_daxpy((blasint)n, 1, u->within, 1, errors + r * n, 1);
    int64_t best = kfe_i_loo_best(KFE_LOO_RIDGES, n, errors, u->masses, s->problem->rule);
    double error = sum_of(n, errors + best * n);
    if (isfinite(error) && squares > 0)
        *out = (kfe_i_loo_choice){.ridge = ridges[best], .error = error / squares, .rows = n, .mean = mean};
    out->indefinite = s->indefinite;
}

static kfe_status choose(loo_sample *s, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;
    double mean = sum_of(s->rows, s->t.diagonal) / (double)s->rows;
    double ridges[KFE_LOO_RIDGES];
    double *errors;
    int definite = 0;

    if (!(mean > 0))
        return KFE_OK;
    for (int r = 0; r < KFE_LOO_RIDGES; r++)
        ridges[r] = mean * pow(10, SMALLEST_EXPONENT + EXPONENT_STEP * r);
    KFE_TAKE(&s->memory, errors, KFE_LOO_RIDGES * s->rows);
    const kfe_i_loo_reduced reduced = {.matrix = &s->t,
                                       .targets = s->units.targets,
                                       .columns = s->problem->columns,
                                       .centred = s->problem->centred,
                                       .roots = s->roots,
                                       .mass = s->mass};
    KFE_TRY(kfe_i_loo_errors(s->ctx, &reduced, KFE_LOO_RIDGES, ridges, errors, &definite));
    if (definite)
        take_best(s, mean, ridges, errors, out);
cleanup:
    return status;
}

kfe_status kfe_i_loo_choose(kfe_context *ctx, const kfe_i_loo_problem *problem, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;
    loo_sample s = {.ctx = ctx, .problem = problem, .memory = {.ctx = ctx}};

    *out = (kfe_i_loo_choice){0};
    KFE_TRY(draw_sample(&s));
    if (s.rows < FEWEST_ROWS)
        goto cleanup;
    KFE_TRY(reduce_matrix(&s));
    KFE_TRY(choose(&s, out));
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
    KFE_TRY(kfe_i_solution_record(solution, "loo-unexplained-variance", &choice->error, 1));
    KFE_TRY(kfe_i_solution_record(solution, "loo-rows", &rows, 1));
cleanup:
    return status;
}
