/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choose a ridge by leave-one-out: the value on a path of ridges whose regression predicts each example best from all
 * others. Rows with equal columns are left out together, and their errors are averaged by weight: the same ridge follows from
 * a row of weight 2 and from a row given twice, and a fixed share of it from all rows repeated. Used by the methods of this family for
 * ridge=auto, and by the joint methods for their ridge and C.
 *
 * The fitted values of a ridge regression on the kernel are a linear function of the targets,
 *
 *     Ŷ = SY,     S = ee'/n + G(G + ρI)⁻¹     (without e'e/n if the kernel is not centred),
 *
 * and the error at an example that the fit did not see follows without another fit,
 *
 *     y_i − ŷ_i(without i) = (y_i − ŷ_i) / (1 − S_ii).
 *
 * In terms of the inverse M = (G + ρI)⁻¹,
 *
 *     y − ŷ = ρMy,     1 − S_ii = ρM_ii     (less 1/n if the kernel is centred).
 *
 * With G = QTQᵀ and T tridiagonal (linalg/tridiagonal.h), both cost O(n²) for each ridge (Allen 1974; Golub, Heath & Wahba 1979).
 */
#ifndef KFE_METHOD_RIDGE_LEAVE_ONE_OUT_H
#define KFE_METHOD_RIDGE_LEAVE_ONE_OUT_H

#include "data/rows/distinct.h"
#include "linalg/tridiagonal.h"
#include "method/method.h"

/* Ridges tried, relative to the mean diagonal of G: 10^(−5), 10^(−4.5), … 10^2. */
enum { KFE_LOO_RIDGES = 15 };

/*
 * Which ridge to take, chosen on development sets (docs/defaults.md):
 *
 *     features of a regression on classes   the largest ridge: squared errors of class indicators favour ridges below
 *                                           those that classify best
 *     hsic                                  the smallest ridge: its ridge only smooths
 *     real targets, SVMs                    the smallest error
 */
typedef enum kfe_i_loo_rule {
    KFE_LOO_SMALLEST_ERROR, /* of equal errors, the largest ridge */
    KFE_LOO_LARGEST_RIDGE,  /* within one standard error of the smallest error */
    KFE_LOO_SMALLEST_RIDGE  /* within one standard error of the smallest error */
} kfe_i_loo_rule;

typedef struct kfe_i_loo_problem {
    const kfe_i_gram *gram; /* of the kernel itself */
    const double *points; /* NULL, or rows z of a map whose products zᵀz' are the kernel: gram->size × rank */
    int64_t rank;
    /* One per row of `gram`, as in kfe_i_target; NULL: no two rows are equal. */
    const kfe_i_row_key *keys;
    int every_row;         /* use all examples, however many: they are a sample already */
    int centred;           /* use PKP and centred targets, as a regression with a constant does */
    const double *targets; /* n × columns */
    int64_t columns;
    kfe_i_loo_rule rule;
} kfe_i_loo_problem;

/* The rule of the features of a ridge regression on the targets. */
static inline kfe_i_loo_rule kfe_i_loo_feature_rule(int classes)
{
    return classes ? KFE_LOO_LARGEST_RIDGE : KFE_LOO_SMALLEST_ERROR;
}

typedef struct kfe_i_loo_choice {
    double ridge;
    double error;   /* mean squared leave-one-out error divided by the mean square of the targets */
    int64_t rows;   /* distinct examples that were used: all, or a random sample of many */
    double mean;    /* the mean diagonal of their G */
    int indefinite; /* the kernel is not positive definite on them; the positive part was used */
} kfe_i_loo_choice;

/* Fails only for lack of memory or on cancellation. If nothing can be chosen (fewer than three examples, a kernel of
 * zeros), `rows` is 0. */
kfe_status kfe_i_loo_choose(kfe_context *ctx, const kfe_i_loo_problem *problem, kfe_i_loo_choice *out);

/* Records "loo-unexplained-variance", the share of the targets' variance that is not predicted, and "loo-rows"; nothing if nothing was
 * chosen. */
kfe_status kfe_i_loo_record(kfe_i_solution *solution, const kfe_i_loo_choice *choice);

/* What is left out together: rows of equal content. In the coordinates of a weighted operator such rows are one row, whose root is
 * that of their weights' sum. */
typedef struct kfe_i_loo_units {
    kfe_context *ctx;
    int64_t count;
    const int64_t *of; /* the unit of each row; beyond count: of none. Borrowed */
    double *masses;    /* count: the sum of the weights */
    double *targets;   /* count × columns: the targets of the joined row */
    double *within;    /* count: the squared distance of the rows' targets from those */
} kfe_i_loo_units;

/* The first `count` of the distinct rows, given the targets of all rows and the roots of their weights (NULL: ones). Free the units also
 * after a failure. */
kfe_status kfe_i_loo_units_make(const kfe_i_distinct *distinct, int64_t count, const double *roots,
                                int64_t columns, const double *targets, kfe_i_loo_units *out);
void kfe_i_loo_units_free(kfe_i_loo_units *units);

/* G = QTQᵀ, with the targets that a ridge regression predicts. */
typedef struct kfe_i_loo_reduced {
    const kfe_i_tridiagonal *matrix; /* of order n */
    const double *targets;           /* n × columns */
    int64_t columns;
    int centred;
    const double *roots; /* of the weights, as in kfe_i_gram; NULL: ones */
    double mass;         /* the sum of the weights, if there are any */
} kfe_i_loo_reduced;

/* errors[r·n + i] = the squared leave-one-out error of row i with ridges[r], summed over the targets; of a joined row without what the
 * targets of its unit differ by (`within`). *definite is 0, and errors are of no use, if G + ρI is not positive definite for one of the
 * ridges. */
kfe_status kfe_i_loo_errors(kfe_context *ctx, const kfe_i_loo_reduced *reduced, int64_t count,
                            const double *ridges, double *errors, int *definite);

/* The ridge to take of `count` ascending ones, given their errors (count × n), each the sum over a unit of so much weight. */
int64_t kfe_i_loo_best(int64_t count, int64_t n, const double *errors, const double *masses,
                       kfe_i_loo_rule rule);

#endif
