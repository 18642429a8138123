/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choose a ridge by leave-one-out: the value on a path of ridges whose regression predicts each example best from all
 * others. Used by the methods of this family for ridge=auto, and by the joint methods for their ridge and C.
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
 * With G = QTQᵀ and T tridiagonal (gram/dense/tridiagonal.h), both cost O(n²) for each ridge; with eigenvectors that a method has
 * anyway, too (Allen 1974; Golub, Heath & Wahba 1979).
 */
#ifndef KFE_METHOD_RIDGE_LEAVE_ONE_OUT_H
#define KFE_METHOD_RIDGE_LEAVE_ONE_OUT_H

#include "gram/dense/tridiagonal.h"
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
    int64_t rows;   /* examples that were used: all, or a random sample of many */
    int indefinite; /* the kernel is not positive definite on them; the positive part was used */
} kfe_i_loo_choice;

/* The number of examples, of n, that the choice is made on. */
int64_t kfe_i_loo_sample_size(int64_t n);
/* Which they are: the first so many of index[n]. */
void kfe_i_loo_draw_sample(kfe_context *ctx, int64_t n, int64_t *index);
/* Fails only for lack of memory or on cancellation. If nothing can be chosen (fewer than three examples, a kernel of
 * zeros), `rows` is 0. */
kfe_status kfe_i_loo_choose(kfe_context *ctx, const kfe_i_loo_problem *problem, kfe_i_loo_choice *out);

/* Records "loo-error", the share of the targets' variance that is not predicted, and "loo-rows"; nothing if nothing was
 * chosen. */
kfe_status kfe_i_loo_record(kfe_i_solution *solution, const kfe_i_loo_choice *choice);

/* G = U diag(values) Uᵀ in its leading `rank` eigenvectors, with the targets that a ridge regression predicts. */
typedef struct kfe_i_loo_factor {
    int64_t n, rank, columns;
    const double *vectors; /* U, n × rank */
    const double *values;  /* rank, not negative */
    const double *targets; /* n × columns */
    int centred;
    const double *roots; /* of the weights, as in kfe_i_gram; NULL: ones */
    double mass;         /* the sum of the weights, if there are any */
} kfe_i_loo_factor;

/* errors[r·n + i] = the squared leave-one-out error of example i with ridges[r], summed over the targets. */
kfe_status kfe_i_loo_errors(kfe_context *ctx, const kfe_i_loo_factor *factor, int64_t count,
                            const double *ridges, double *errors);

/* G = QTQᵀ, with the targets that a ridge regression predicts. */
typedef struct kfe_i_loo_reduced {
    const kfe_i_tridiagonal *matrix; /* of order n */
    const double *targets;           /* n × columns */
    int64_t columns;
    int centred;
    const double *roots; /* as in kfe_i_loo_factor */
    double mass;
} kfe_i_loo_reduced;

/* The same as kfe_i_loo_errors. *definite is 0, and errors are of no use, if G + ρI is not positive definite for one of
 * the ridges. */
kfe_status kfe_i_loo_reduced_errors(kfe_context *ctx, const kfe_i_loo_reduced *reduced, int64_t count,
                                    const double *ridges, double *errors, int *definite);

/* Chooses a ridge from eigenvectors that there are already; `mean` is the mean diagonal of G. As kfe_i_loo_choose, but
 * `out` stays as it is if nothing can be chosen. */
kfe_status kfe_i_loo_choose_from(kfe_context *ctx, const kfe_i_loo_factor *factor, double mean,
                                 kfe_i_loo_rule rule, kfe_i_loo_choice *out);

/* The ridge to take of `count` ascending ones, given their errors (count × n). */
int64_t kfe_i_loo_best(int64_t count, int64_t n, const double *errors, kfe_i_loo_rule rule);

#endif
