/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of SVM solutions, and SMO on some of the examples, for the learner svm.
 *
 * Let f_i be the value of example i without the offset. Coefficient b_i may move within a box. Moving b_i up by t and b_j
 * down by t changes the dual objective by −t(v_i − v_j), v_i = y_i − f_i. So a solution is optimal if no v of an example
 * that can rise is above one of an example that can fall; the largest excess is the violation. Real targets z have two
 * such conditions per example:
 *     v = z − epsilon − f   for b ≥ 0,
 *     v = z + epsilon − f   for b ≤ 0.
 * Primal and dual are
 *     classes   ½Σ b_i f_i + Σ C_i max(0, 1 − y_i(f_i − ρ)),       Σ|b_i| − ½Σ b_i f_i;
 *     real      ½Σ b_i f_i + C Σ max(0, |z_i − f_i + ρ| − epsilon),   Σ z_i b_i − epsilon Σ|b_i| − ½Σ b_i f_i.
 *
 * Fan, Chen & Lin, "Working set selection using second order information for training SVM" (2005), eq. (6).
 */
#include "learn/svm_dual.h"

#include <math.h>

#include "core/memory.h"
#include "learn/smo/smo.h"

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

static double violation_of(const conditions *all)
{
    double violation = all->highest_rising - all->lowest_falling;
    return isfinite(violation) ? violation : 0;
}

kfe_i_svm_certificate kfe_i_svm_certify_classes(const kfe_i_binary *binary, double c,
                                                const kfe_i_svm_column *column)
{
    conditions all = none;
    double square = 0;
    double loss = 0;
    double total = 0;

    for (int64_t i = 0; i < binary->count; i++) {
        double sign = binary->sign[i];
        double b = column->coefficients[binary->rows[i] * column->stride];
        double value = column->values[binary->rows[i] * column->stride];
        double upper = c * (sign > 0 ? binary->positive_weight : binary->negative_weight);
        add_condition(&all, sign - value, b, sign > 0 ? 0 : -upper, sign > 0 ? upper : 0);
        square += b * value;
        loss += upper * fmax(0, 1 - sign * (value - column->offset));
        total += fabs(b);
    }
    return (kfe_i_svm_certificate){violation_of(&all), square / 2 + loss, square + loss - total};
}

kfe_i_svm_certificate kfe_i_svm_certify_real(const kfe_i_svm_targets *targets, double c,
                                             const kfe_i_svm_column *column)
{
    conditions all = none;
    double square = 0;
    double loss = 0;
    double gain = 0;

    for (int64_t i = 0; i < targets->count; i++) {
        double b = column->coefficients[i * column->stride];
        double value = column->values[i * column->stride];
        double target = targets->values[i * targets->stride];
        add_condition(&all, target - value - targets->epsilon, fmax(b, 0), 0, c);
        add_condition(&all, target - value + targets->epsilon, fmin(b, 0), -c, 0);
        square += b * value;
        loss += c * fmax(0, fabs(target - value + column->offset) - targets->epsilon);
        gain += target * b - targets->epsilon * fabs(b);
    }
    return (kfe_i_svm_certificate){violation_of(&all), square / 2 + loss, square + loss - gain};
}

/* ---- SMO on some of the rows ---- */

enum { CHUNK_COLUMNS = 64 };

/* matrix (count × count) = the entries of G between the rows listed. */
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

/* Opens the operator of the examples in the problem. `matrix` holds its entries; the caller frees it after the operator. */
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
