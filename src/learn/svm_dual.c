/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of SVM solutions, for the learner svm, and the failure that its solvers share.
 *
 * Let f_i be the value of example i without the offset. Coefficient b_i may move within a box. Moving b_i up by t and b_j
 * down by t changes the dual objective by −t(v_i − v_j), v_i = y_i − f_i. So a solution is optimal if no v of an example
 * that can rise is above one of an example that can fall; the largest excess is the violation. Real targets z have two
 * such conditions per example:
 *     v = z − epsilon − f   for b ≥ 0,
 *     v = z + epsilon − f   for b ≤ 0.
 * Primal and dual are
 *     classes   ½Σ b_i f_i + Σ C_i max(0, 1 − y_i(f_i − ρ)),       Σ|b_i| − ½Σ b_i f_i;
 *     real      ½Σ b_i f_i + Σ C_i max(0, |z_i − f_i + ρ| − epsilon),   Σ z_i b_i − epsilon Σ|b_i| − ½Σ b_i f_i.
 *
 * Fan, Chen & Lin, "Working set selection using second order information for training SVM" (2005), eq. (6).
 */
#include "learn/svm_dual.h"

#include <math.h>

void kfe_i_svm_warn(kfe_context *ctx, const char *who, const char *where)
{
    kfe_i_log(ctx, KFE_LOG_WARNING,
              "%s: the SVM did not reach its optimum (too few iterations, or too little precision); it "
              "stopped at %s; scale the columns ({scale=standard}), or use a smaller C or a larger "
              "tolerance",
              who, where);
}

kfe_status kfe_i_svm_overflow(kfe_context *ctx)
{
    return kfe_i_fail(ctx, KFE_EINPUT,
                      "svm: the kernel values are too large for single precision, in which the solvers keep "
                      "them; use {scale}, "
                      "a smaller gamma, or {learner-kernel=rbf}");
}

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

static double weight_of(const kfe_i_svm_column *column, int64_t i)
{
    return column->weights ? column->weights[i] : 1;
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
        double upper = c * (sign > 0 ? binary->positive_weight : binary->negative_weight) *
                       weight_of(column, binary->rows[i]);
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
        double upper = c * weight_of(column, i);
        add_condition(&all, target - value - targets->epsilon, fmax(b, 0), 0, upper);
        add_condition(&all, target - value + targets->epsilon, fmin(b, 0), -upper, 0);
        square += b * value;
        loss += upper * fmax(0, fabs(target - value + column->offset) - targets->epsilon);
        gain += target * b - targets->epsilon * fabs(b);
    }
    return (kfe_i_svm_certificate){violation_of(&all), square / 2 + loss, square + loss - gain};
}
