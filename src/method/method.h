/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a method: write one file that ends in one const kfe_i_method, and one line in methods.def.
 *
 * A method is given a problem (the Gram operator and the target) and returns a solution: coefficients from which the model layer
 * builds the projector features(x) = Aᵀκ(S, x) − offset, or a localized projector (local.h).
 */
#ifndef KFE_METHOD_METHOD_H
#define KFE_METHOD_METHOD_H

#include "core/param.h"
#include "data/map.h"
#include "data/sums.h"
#include "data/target.h"
#include "gram/cluster/part.h"
#include "gram/landmark/landmark.h"
#include "learn/predictor.h"
#include "method/shared/local.h"
#include "method/shared/tree.h"

/* The form of a metric that methods flagged KFE_HAS_DERIVATIVE learn. */
typedef enum kfe_i_metric_form { KFE_METRIC_AUTO, KFE_METRIC_FULL, KFE_METRIC_DIAGONAL } kfe_i_metric_form;
#define KFE_METRIC_WORDS "auto|full|diagonal"

/* What a method is fitted on. */
typedef struct kfe_i_problem {
    /* The operator of the sum of all kernels; NULL for methods that open operators themselves
     * (kfe_i_method_opens_operators). */
    const kfe_i_gram *gram;
    const kfe_i_target *target;
    const double *roots;           /* of the weights, for operators that a method opens; NULL: ones */
    kfe_i_gram_storage storage;    /* how the user wants operators stored */
    kfe_i_landmark_plan landmarks; /* of operators that a method opens; `gram` has them already */
    /* Only for methods flagged KFE_HAS_SYNTHETIC, which need the points, and those that open operators (kfe_i_problem_kernel). */
    const kfe_i_kernel_list *kernels;
    const kfe_i_table *views;
    const char *const *view_names;
    int view_count;
    kfe_i_metric_form metric;
} kfe_i_problem;

typedef enum kfe_i_solution_kind {
    KFE_SOLUTION_DUAL,      /* coefficients on the training examples, n × dim */
    KFE_SOLUTION_PRIMAL,    /* coefficients on the columns of the one view, d × dim */
    KFE_SOLUTION_LANDMARKS, /* coefficients on synthetic points */
    KFE_SOLUTION_IDENTITY,  /* the features are the columns: no coefficients */
    KFE_SOLUTION_LOCAL,     /* a localized projector, `local`: no coefficients */
    KFE_SOLUTION_TREE,      /* expansions on the leaves of a tree, `tree`: no coefficients */
    KFE_SOLUTION_VIEWS /* coefficients of their own for each view: one block of n × dim under the other */
} kfe_i_solution_kind;

/* How a record depends on the rows of a fit, for fits on a table that stands for many rows (method/shared/stand_in.h). */
typedef enum kfe_i_record_kind {
    KFE_RECORD_PLAIN,         /* not at all */
    KFE_RECORD_SQUARED_MEANS, /* it is divided by the square of their number */
    KFE_RECORD_SIGNED,        /* one column per feature, which has the feature's sign */
    KFE_RECORD_OF_ROWS        /* only the rows themselves tell it */
} kfe_i_record_kind;

/* Numbers that are kept with the model, such as eigenvalues. */
typedef struct kfe_i_record {
    char *name;
    kfe_i_record_kind kind;
    int64_t count;
    double *values;
} kfe_i_record;

typedef struct kfe_i_solution {
    kfe_context *ctx;
    kfe_i_solution_kind kind;
    int64_t rows, dim;
    double *coefficients; /* rows × dim */
    int64_t *
        index; /* dual, local: the example of each row; NULL: row i is example i. Views: of each row of a block */
    double *offset;         /* dim, subtracted from the features; NULL: zero */
    kfe_i_table *landmarks; /* one per view */
    int landmark_views;
    /* Factors of the problem's kernels; the coefficients are on their weighted sum, and the model drops kernels of factor 0.
     * NULL: ones. */
    double *kernel_weights;
    /* Applied to the columns of the one view before the kernel; the coefficients are on the examples after it. */
    kfe_i_map map;
    kfe_i_local *local; /* for KFE_SOLUTION_LOCAL; one part per kernel of the problem */
    kfe_i_tree *tree;   /* for KFE_SOLUTION_TREE; `rows` counts the support examples of all leaves */
    /* Predicts from the features, so that no learner is needed; outputs 0: not available. In a localized solution it is
     * direct: the projector gives the decision values. */
    kfe_i_predictor predictor;
    kfe_i_record *records;
    int64_t record_count, record_capacity;
} kfe_i_solution;

/* What a method is fitted on if only sums over the rows are known. The summed columns are those of the one table or, for kernels,
 * the columns F of landmarks (gram/form/landmarks.h), whose products are the kernel. */
typedef struct kfe_i_sum_problem {
    const kfe_i_sums *sums;
    /* Some of the rows and their targets, for what sums cannot decide, such as ridge=auto; NULL: none. */
    const kfe_i_table *sample;
    const kfe_i_target *sample_target;
    /* With landmarks: their own summed columns, `landmarks` × sums->cols. The kernel value of a row with summed columns f and
     * landmark l is f·marks[l]. NULL: no landmarks. */
    const double *marks;
    int64_t landmarks;
    int rows_at_hand; /* the caller can fit on the rows as well: KFE_EUNSUPPORTED where sums would cost digits */
} kfe_i_sum_problem;

/* What a method is fitted on if rows are divided over processes, or kept in parts. */
typedef struct kfe_i_row_problem {
    const kfe_i_row_part *part;
    const kfe_i_target
        *target; /* of this process's rows, with weights; its classes are those of all processes */
} kfe_i_row_problem;

/* Forms of sums that a fit makes of its rows (data/sums.h, data/rough_sums.h). */
typedef enum kfe_i_sums_choice {
    KFE_SUMS_NONE,
    KFE_SUMS_SCATTER,
    KFE_SUMS_ROUGH_ROWS,
    KFE_SUMS_ROUGH_MATRIX,
} kfe_i_sums_choice;

typedef struct kfe_i_method {
    const char *name;
    const char *summary;
    const char *reference;
    unsigned flags;      /* KFE_HAS_SUPERVISION … KFE_HAS_PREDICTOR */
    const char *instead; /* the method to use with kernels that this one cannot take; NULL: none */
    const char *kernel;  /* unless given; NULL: rbf, or linear for methods that take no other */
    kfe_i_param_table params;
    /* How many columns of the kernel matrix of `rows` examples a fit evaluates; NULL: it makes passes over the whole matrix. */
    int64_t (*columns)(const void *settings, int64_t rows);
    int faster_from_sums; /* fit_sums is faster than fit if the sums are known, as in the folds of a cross-validation */
    /* The sums with which fit_sums, with the time to make them, is faster than fit; NULL: none. `targets`: columns of the target or, of
     * classes, their number. */
    kfe_i_sums_choice (*choose_sums)(const void *settings, int64_t rows, int64_t cols, int64_t targets);
    int sums_of_landmarks; /* with landmarks, fit_sums on the sums of their columns F is faster than fit, and equal to it */
    int opens_operators; /* it works on operators of single views or kernels, and gets none of their sum */
    int compares_views;  /* it needs two views, or one and a target */
    int takes_spectrum;  /* fit_sums takes sums with a spectrum in place of the scatter */
    /* With KFE_HAS_SAMPLE_WEIGHTS: the method reads target->weights itself and gets the operator of the plain kernel. 0: it gets the
     * weighted operator (kfe_i_gram_weighted), and its coefficients are multiplied by the roots afterwards. */
    int weighs_examples;
    kfe_status (*fit)(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out);
    /* The same from sums: a primal solution, coefficients on the summed columns, or a dual one on some of the landmarks. KFE_EUNSUPPORTED for settings that need the rows.
     * NULL: always needs them. */
    kfe_status (*fit_sums)(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out);
    /* The same from kernel columns at the rows of this process: a dual solution on some of all rows. NULL: not available. */
    kfe_status (*fit_rows)(kfe_context *ctx, const kfe_i_row_problem *problem, const void *settings,
                           kfe_i_solution *out);
    /* Refuses settings that need the rows before the first one is read; NULL: fit_sums takes all. */
    kfe_status (*check_sums)(kfe_context *ctx, const void *settings);
    int marks_centroids; /* its landmarks are the means of classes, not examples (centroid.h) */
    int takes_marks;     /* fit_sums wants the summed columns of the landmarks */
} kfe_i_method;

/* Whether the method opens Gram operators itself, so that it is given none. */
static inline int kfe_i_method_opens_operators(const kfe_i_method *method)
{
    return method->opens_operators || method->flags & (KFE_HAS_WEIGHTS | KFE_HAS_DERIVATIVE);
}

/* Whether a fit from sums with landmarks is that of a fit on rows with the same landmarks. Not where the method chooses examples itself: from
 * sums it chooses landmarks. */
static inline int kfe_i_method_sums_are_rows(const kfe_i_method *method)
{
    return method->fit_sums && !method->columns && !method->marks_centroids;
}

/* Layers above know this method: with it, a learner that is given a kernel works on the kernel. */
extern const kfe_i_method kfe_i_method_none;

/* NULL past the end. */
const kfe_i_method *kfe_i_method_at(int index);
kfe_status kfe_i_method_find(kfe_context *ctx, const char *name, const kfe_i_method **out);
/* The kernel of a fit unless given. */
const char *kfe_i_method_kernel(const kfe_i_method *method);

/* The `dim` parameter of most methods: a number, or auto (0). */
#define KFE_DIM_ROW(type, field, help)                                                                       \
    KFE_INT_OR(type, field, "dim", "auto", 1, KFE_INT_MAX, "auto", "auto=0", help)

/* ---- for method files ---- */

/* Opens the operator of one kernel of the problem, its weight and landmarks included, without the weights of the examples; freed by
 * the caller. */
kfe_status kfe_i_problem_kernel(kfe_context *ctx, const kfe_i_problem *problem, int64_t index,
                                kfe_i_gram **out);

/* The view that a parameter names, by its name or its number from 1; −1: none. */
int kfe_i_problem_find_view(const kfe_i_problem *problem, const char *text);

/* Allocates zero coefficients (none for a localized solution). */
kfe_status kfe_i_solution_begin(kfe_context *ctx, kfe_i_solution_kind kind, int64_t rows, int64_t dim,
                                kfe_i_solution *out);
void kfe_i_solution_free(kfe_i_solution *solution);
/* Copies the numbers into the solution. Records that are not finite could not be loaded again: they are left out, with a
 * warning. */
kfe_status kfe_i_solution_record(kfe_i_solution *solution, const char *name, const double *values,
                                 int64_t count);
/* The same for a record that depends on the rows. */
kfe_status kfe_i_solution_record_as(kfe_i_solution *solution, kfe_i_record_kind kind, const char *name,
                                    const double *values, int64_t count);
/* Records how many landmarks a solution is on, and what they leave of the trace. */
kfe_status kfe_i_solution_record_landmarks(kfe_i_solution *solution, int64_t count, int64_t rank,
                                           double left);
/* out (n × dim) = features of the training examples, on the operator that the solution was found on. */
kfe_status kfe_i_solution_features(const kfe_i_solution *solution, const kfe_i_gram *gram, double *out);
/* Gives a dual solution one row for each of n examples; rows of examples that were not listed are zero. */
kfe_status kfe_i_solution_spread(kfe_i_solution *solution, int64_t n);
/* The sign, ±1, of the coefficient of largest magnitude of a feature. */
double kfe_i_solution_sign(const kfe_i_solution *solution, int64_t feature);
/* Makes the coefficient of largest magnitude of every feature positive. */
void kfe_i_solution_fix_signs(kfe_i_solution *solution);
/* The same; signs[dim], unless NULL, receives the factor of each feature, ±1. */
void kfe_i_solution_take_signs(kfe_i_solution *solution, double *signs);
/* Rewrites coefficients found on the centred operator: the features of x are Aᵀ P(κ(x) − row means), so the coefficients
 * become PA and the offset AᵀP·(row means). */
kfe_status kfe_i_solution_centre(kfe_i_solution *solution, const kfe_i_gram *centred);
/* The same, given the row means (n) of the operator and the roots of its weights (NULL: ones). */
kfe_status kfe_i_solution_centre_by(kfe_i_solution *solution, int64_t n, const double *roots,
                                    const double *row_means);
/* The number of features to make: `asked` (0: all), but at most `available`; a warning says `why` when that is fewer. */
int64_t kfe_i_clamp_dim(kfe_context *ctx, const char *method, int64_t asked, int64_t available,
                        const char *why);

#endif
