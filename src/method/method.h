/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Methods. A method is one file that ends in one const kfe_i_method, and one line in methods.def. It is given
 * a problem (the Gram operator and the target) and returns a solution: coefficients from which the model
 * layer builds the projector features(x) = Aᵀκ(S, x) − offset, or a localized projector (local.h).
 */
#ifndef KFE_METHOD_METHOD_H
#define KFE_METHOD_METHOD_H

#include "core/param.h"
#include "data/target.h"
#include "gram/gram.h"
#include "learn/predictor.h"
#include "method/local.h"

typedef struct kfe_i_problem {
    const kfe_i_gram *gram; /* of the sum of all kernels; NULL for the methods flagged KFE_HAS_WEIGHTS */
    const kfe_i_target *target;
    kfe_i_gram_storage storage; /* as the user wants operators kept */
    /* For the methods flagged KFE_HAS_SYNTHETIC, the points themselves; for those flagged KFE_HAS_WEIGHTS,
     * what kfe_i_problem_kernel opens. */
    const kfe_i_kernel_list *kernels;
    const kfe_i_table *views;
    const char *const *view_names;
    int view_count;
} kfe_i_problem;

typedef enum kfe_i_solution_kind {
    KFE_SOLUTION_DUAL,      /* coefficients on the training examples, n × dim */
    KFE_SOLUTION_PRIMAL,    /* coefficients on the columns of the one view, d × dim */
    KFE_SOLUTION_LANDMARKS, /* coefficients on synthetic points */
    KFE_SOLUTION_IDENTITY,  /* the columns are the features: no coefficients */
    KFE_SOLUTION_LOCAL      /* `local` says it all */
} kfe_i_solution_kind;

/* Numbers worth keeping with the model, such as eigenvalues. */
typedef struct kfe_i_record {
    char *name;
    int64_t count;
    double *values;
} kfe_i_record;

typedef struct kfe_i_solution {
    kfe_context *ctx;
    kfe_i_solution_kind kind;
    int64_t rows, dim;
    double *coefficients;   /* rows × dim */
    int64_t *index;         /* dual, local: the example of each row; NULL: row i is example i */
    double *offset;         /* dim, subtracted from the features; NULL: zero */
    kfe_i_table *landmarks; /* one per view */
    int landmark_views;
    /* Factors of the problem's kernels, on whose sum the coefficients are; kernels of factor 0 are not kept.
     * NULL: ones. */
    double *kernel_weights;
    kfe_i_local *local; /* of the kind of that name; its parts are the problem's kernels */
    /* Predicts from the features, so that no learner is needed; outputs 0: there is none. That of a localized
     * solution is direct: the projector has the decision values. */
    kfe_i_predictor predictor;
    kfe_i_record *records;
    int64_t record_count, record_capacity;
} kfe_i_solution;

typedef struct kfe_i_method {
    const char *name;
    const char *summary;
    const char *reference;
    unsigned flags;      /* KFE_HAS_SUPERVISION … KFE_HAS_PREDICTOR */
    const char *instead; /* the method to use with kernels that this one cannot take; NULL: none */
    const char *kernel;  /* if none is given; NULL: rbf, or linear for the methods that take no other */
    kfe_i_param_table params;
    kfe_status (*fit)(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out);
} kfe_i_method;

/* Known by name to the layers above: with it, a learner that is given a kernel learns from the kernel. */
extern const kfe_i_method kfe_i_method_none;

/* NULL past the end. */
const kfe_i_method *kfe_i_method_at(int index);
kfe_status kfe_i_method_find(kfe_context *ctx, const char *name, const kfe_i_method **out);
/* The kernel that a fit takes if none is given. */
const char *kfe_i_method_kernel(const kfe_i_method *method);

/* The `dim` row that most methods have: a number, or auto (0). */
#define KFE_DIM_ROW(type, field, help)                                                                       \
    KFE_INT_OR(type, field, "dim", "auto", 1, KFE_INT_MAX, "auto", "auto=0", help)

/* ---- for method files ---- */

/* The operator of one of the problem's kernels alone, its weight included; freed by the caller. */
kfe_status kfe_i_problem_kernel(kfe_context *ctx, const kfe_i_problem *problem, int64_t index,
                                kfe_i_gram **out);

/* Room for the coefficients, zeroed; a localized solution has none. */
kfe_status kfe_i_solution_begin(kfe_context *ctx, kfe_i_solution_kind kind, int64_t rows, int64_t dim,
                                kfe_i_solution *out);
void kfe_i_solution_free(kfe_i_solution *solution);
kfe_status kfe_i_solution_record(kfe_i_solution *solution, const char *name, const double *values,
                                 int64_t count);
/* The features of the training examples, out (n × dim), from the operator that the solution was found on. */
kfe_status kfe_i_solution_features(const kfe_i_solution *solution, const kfe_i_gram *gram, double *out);
/* A dual solution with a row for every one of n examples, those that were not listed being zero. */
kfe_status kfe_i_solution_spread(kfe_i_solution *solution, int64_t n);
/* Makes the coefficient of largest magnitude of every feature positive. */
void kfe_i_solution_fix_signs(kfe_i_solution *solution);
/* The same; signs[dim], if not NULL, receives what each feature was multiplied with: ±1. */
void kfe_i_solution_take_signs(kfe_i_solution *solution, double *signs);
/* For coefficients found on the centred operator: features of x are Aᵀ P(κ(x) − row means), and so the
 * coefficients become PA and the offset AᵀP·(row means). */
kfe_status kfe_i_solution_centre(kfe_i_solution *solution, const kfe_i_gram *centred);
/* The same for an operator of which the row means (n) are known. */
kfe_status kfe_i_solution_centre_by(kfe_i_solution *solution, int64_t n, const double *row_means);
/* How many features to make: `asked` (0: all there are), at most `available`, with a warning naming `why`
 * when that is fewer. */
int64_t kfe_i_clamp_dim(kfe_context *ctx, const char *method, int64_t asked, int64_t available,
                        const char *why);

#endif
