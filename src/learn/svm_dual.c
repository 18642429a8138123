/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With s_i the machine's value for example i, coefficient b_i may move within a box. Moving b_i up by t and
 * b_j down by t changes the dual objective by −t(v_i − v_j), v_i = y_i − s_i. So a solution is optimal if no
 * v of an example that can rise is above one of an example that can fall; the largest excess is the gap. Real
 * targets z have two such conditions per example: v = z − epsilon − s for b ≥ 0 and v = z + epsilon − s for b
 * ≤ 0.
 *
 * Fan, Chen & Lin, "Working set selection using second order information for training SVM" (2005), eq. (6).
 */
#include "learn/svm_dual.h"

#include <math.h>

#include "core/memory.h"
#include "learn/smo.h"

typedef struct conditions {
    double highest_rising, lowest_falling;
} conditions;

static const conditions none = {-INFINITY, INFINITY};

/* b is within [lowest, highest]. */
static void add_condition(conditions *all, double value, double b, double lowest, double highest)
{
    if (b < highest)
        all->highest_rising = fmax(all->highest_rising, value);
    if (b > lowest)
        all->lowest_falling = fmin(all->lowest_falling, value);
}

static double gap_of(const conditions *all)
{
    double gap = all->highest_rising - all->lowest_falling;
    return isfinite(gap) ? gap : 0;
}

double kfe_i_svm_gap_classes(const kfe_i_binary *binary, double c, const double *coefficients,
                             const double *values, int64_t stride)
{
    conditions all = none;

    for (int64_t i = 0; i < binary->count; i++) {
        double b = coefficients[binary->rows[i] * stride];
        double value = binary->sign[i] - values[binary->rows[i] * stride];
        double highest = binary->sign[i] > 0 ? c * binary->positive_weight : 0;
        double lowest = binary->sign[i] > 0 ? 0 : -c * binary->negative_weight;
        add_condition(&all, value, b, lowest, highest);
    }
    return gap_of(&all);
}

double kfe_i_svm_gap_real(int64_t n, double c, double epsilon, const double *targets, int64_t target_stride,
                          const double *coefficients, const double *values, int64_t stride)
{
    conditions all = none;

    for (int64_t i = 0; i < n; i++) {
        double b = coefficients[i * stride];
        double residual = targets[i * target_stride] - values[i * stride];
        add_condition(&all, residual - epsilon, fmax(b, 0), 0, c);
        add_condition(&all, residual + epsilon, fmin(b, 0), -c, 0);
    }
    return gap_of(&all);
}

/* ---- SMO on some of the rows ---- */

enum { CHUNK_COLUMNS = 64 };

/* matrix (count × count) = the entries between the rows listed. */
static kfe_status gather_entries(kfe_context *ctx, const kfe_i_gram *gram, const int64_t *rows, int64_t count,
                                 double *matrix)
{
    kfe_status status = KFE_OK;
    double *columns = NULL;

    KFE_ALLOC(ctx, columns, gram->size * CHUNK_COLUMNS);
    for (int64_t first = 0; first < count; first += CHUNK_COLUMNS) {
        int64_t width = count - first < CHUNK_COLUMNS ? count - first : CHUNK_COLUMNS;
        KFE_TRY(kfe_i_gram_columns(gram, rows + first, width, columns));
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < width; j++)
                matrix[i * count + first + j] = columns[rows[i] * width + j];
    }
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}

/* The operator of some rows; `matrix` holds its entries and is freed by the caller after it. */
static kfe_status open_part(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_binary *binary,
                            double **matrix, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    int64_t m = binary->count;

    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)m * (double)m, "the kernel matrix of two classes",
                               "use {multiclass=ovr} or {svm-solver=libsvm}, or raise {memory}"));
    KFE_ALLOC(ctx, *matrix, m * m);
    KFE_TRY(gather_entries(ctx, gram, binary->rows, m, *matrix));
    kfe_i_table table = {.kind = KFE_TABLE_DENSE, .rows = m, .cols = m, .stride = m, .values = *matrix};
    KFE_TRY(kfe_i_gram_precomputed(ctx, &table, out));
cleanup:
    return status;
}

kfe_status kfe_i_svm_solve_smo(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_binary *binary, double c,
                               double stop, double *coefficients, double *offset)
{
    kfe_status status = KFE_OK;
    kfe_i_smo_problem problem = {.gram = gram, .sign = binary->sign};
    kfe_i_smo_options options = {.tolerance = stop, .shrinking = 1, .quiet = 1};
    kfe_i_smo_result result = {0};
    double *matrix = NULL;
    double *upper = NULL;
    kfe_i_gram *part = NULL;

    if (binary->count < gram->size) {
        KFE_TRY(open_part(ctx, gram, binary, &matrix, &part));
        problem.gram = part;
    }
    KFE_ALLOC(ctx, upper, binary->count);
    problem.upper = upper;
    for (int64_t i = 0; i < binary->count; i++) {
        upper[i] = c * (binary->sign[i] > 0 ? binary->positive_weight : binary->negative_weight);
        coefficients[i] = 0;
    }
    KFE_TRY(kfe_i_smo_solve(ctx, &problem, &options, coefficients, &result));
    for (int64_t i = 0; i < binary->count; i++)
        coefficients[i] *= binary->sign[i];
    *offset = result.offset;
cleanup:
    kfe_i_gram_free(part);
    kfe_i_free(ctx, matrix);
    kfe_i_free(ctx, upper);
    return status;
}
