/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a method: write one file that ends in one const kfe_i_method, and one line in methods.def.
 *
 * A method asks a source for the Gram operator and the target (source.h), and returns a solution: coefficients from which the model layer
 * builds the projector features(x) = Aᵀκ(S, x) − offset, or a localized projector (local.h).
 */
#ifndef KFE_METHOD_METHOD_H
#define KFE_METHOD_METHOD_H

#include "core/entry.h"
#include "core/param.h"
#include "data/table/map.h"
#include "learn/predictor.h"
#include "method/shared/local.h"
#include "method/shared/moments.h"
#include "method/shared/nipals.h"
#include "method/shared/tree.h"
#include "method/source.h"

typedef enum kfe_i_solution_kind {
    KFE_SOLUTION_DUAL,     /* coefficients on the training examples, n × dim */
    KFE_SOLUTION_PRIMAL,   /* coefficients on the columns of the views, one view below the other, d × dim */
    KFE_SOLUTION_POINTS,   /* coefficients on synthetic points */
    KFE_SOLUTION_IDENTITY, /* the features are the columns: no coefficients */
    KFE_SOLUTION_LOCAL,    /* a localized projector, `local`: no coefficients */
    KFE_SOLUTION_TREE,     /* expansions on the leaves of a tree, `tree`: no coefficients */
    KFE_SOLUTION_VIEWS     /* separate coefficients for each view: blocks of n × dim, one below the other */
} kfe_i_solution_kind;

/* How a record depends on the rows of a fit, for fits on a table that stands for many rows (method/shared/stand_in.h). */
typedef enum kfe_i_record_kind {
    KFE_RECORD_PLAIN,         /* not at all */
    KFE_RECORD_SQUARED_MEANS, /* it is divided by the square of their number */
    KFE_RECORD_SIGNED,        /* one column per feature, which has the feature's sign */
    KFE_RECORD_OF_ROWS        /* only the rows themselves tell it */
} kfe_i_record_kind;

/* The record of methods that make as many features of each view, those of one view after those of another: their number. */
#define KFE_RECORD_VIEW_DIM "view-dim"

/* Numbers that are kept with the model, such as eigenvalues. */
typedef struct kfe_i_record {
    char *name;
    kfe_i_record_kind kind;
    int64_t count;
    double *values;
} kfe_i_record;

typedef struct kfe_i_solution {
    kfe_context *ctx;
    const kfe_i_fit_source *source; /* during a fit on rows: tells which of them are equal; NULL: not known */
    kfe_i_solution_kind kind;
    int64_t rows, dim;
    double *coefficients; /* rows × dim */
    /* dual, local: the example of each row; NULL: row i is example i. Views: one entry per row of a block. */
    int64_t *index;
    double *offset;      /* dim, subtracted from the features; NULL: zero */
    kfe_i_table *points; /* synthetic ones, a table per view */
    int point_views;
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
    /* What the model keeps of the training data, if the method has it at hand; dim 0: the model learns it from the features. */
    kfe_i_moments moments;
    /* How rows with missing values get their features, of a primal solution; dim 0: not at all. */
    kfe_i_nipals nipals;
    kfe_i_record *records;
    int64_t record_count, record_capacity;
} kfe_i_solution;

/* What a source may offer besides rows, and what a method makes of it. */
typedef enum kfe_i_offer {
    KFE_OFFER_GRAM,     /* the operator of the sum of all kernels */
    KFE_OFFER_SUMS,     /* sums over rows */
    KFE_OFFER_SPECTRUM, /* such sums with a spectrum in place of the scatter */
    KFE_OFFER_PART,     /* a part of the rows */
    KFE_OFFER_POINTS /* sums over columns of synthetic points, which the method makes first (kfe_i_fit_source.points_only) */
} kfe_i_offer;
typedef enum kfe_i_use {
    KFE_USE_NOT,
    KFE_USE_POSSIBLE,
    KFE_USE_PREFERRED /* sums: where they are known, or have landmarks, the fit is faster than on the operator, and gives the same */
} kfe_i_use;

typedef struct kfe_i_method {
    KFE_I_ENTRY(reference);
    const char *instead; /* the method to use with kernels that this one cannot take; NULL: none */
    const char *feature; /* what the field calls a feature, "LV", "PC" or "LD"; NULL: nothing of its own */
    const char *kernel;  /* unless given; NULL: rbf, or linear for methods that take no other */
    kfe_i_param_table params;
    /* How many columns of the kernel matrix of `rows` examples a fit evaluates; NULL: it makes passes over the whole matrix. */
    int64_t (*columns)(const void *settings, int64_t rows);
    /* What a fit with these settings (NULL: the defaults) does with an offer; read it by kfe_i_method_use. *why, unless `why` is NULL,
     * becomes the sentence that tells users which setting stands in the way. NULL: the method uses a Gram operator, and nothing else. */
    kfe_i_use (*uses)(const void *settings, kfe_i_offer offer, const char **why);
    kfe_status (*fit)(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out);
} kfe_i_method;

kfe_i_use kfe_i_method_use(const kfe_i_method *method, const void *settings, kfe_i_offer offer,
                           const char **why);
/* Whether sums are taken of the method's synthetic points, in place of landmarks. */
static inline int kfe_i_method_makes_points(const kfe_i_method *method)
{
    return kfe_i_method_use(method, NULL, KFE_OFFER_POINTS, NULL) != KFE_USE_NOT;
}
/* Whether a fit from sums with landmarks is that of a fit on rows with the same landmarks. Not where the method chooses examples itself: from
 * sums it chooses landmarks. */
static inline int kfe_i_method_sums_are_rows(const kfe_i_method *method, const void *settings)
{
    return kfe_i_method_use(method, settings, KFE_OFFER_SUMS, NULL) != KFE_USE_NOT && !method->columns &&
           !kfe_i_method_makes_points(method);
}
/* Whether the method compares views, and so needs two of them, or one and a target: it works on each view by itself, and a target of
 * real values or classes helps but is not needed. */
int kfe_i_method_compares_views(const kfe_i_method *method);

/* Layers above know this method: with it, a learner with a kernel works on the kernel. */
extern const kfe_i_method kfe_i_method_none;

/* NULL past the end. */
const kfe_i_method *kfe_i_method_at(int index);
kfe_status kfe_i_method_find(kfe_context *ctx, const char *name, const kfe_i_method **out);
/* The kernel of a fit unless given. */
const char *kfe_i_method_kernel(const kfe_i_method *method);

/* The `dim` parameter of most methods: a number, or auto (0). */
#define KFE_DIM_ROW(type, field, help)                                                                       \
    KFE_INT_OR(type, field, "dim", "auto", 1, KFE_INT_MAX, "auto", "auto=0", help)
/* The same if auto is chosen by cross-validation (model/choose_dim.h), for methods flagged KFE_HAS_NESTING. */
#define KFE_CHOSEN_DIM_ROW(type, field, otherwise)                                                           \
    {                                                                                                        \
        .info = {"dim",                                                                                      \
                 KFE_PARAM_INT,                                                                              \
                 "auto",                                                                                     \
                 1,                                                                                          \
                 KFE_INT_MAX,                                                                                \
                 "auto",                                                                                     \
                 .help = "number of features; auto: by cross-validation, up to 20. From sums over rows, "    \
                         "or if no feature explains the target: " otherwise},                                \
        .offset = offsetof(type, field), .named = "auto=0", .chosen = 1                                      \
    }

/* ---- for method files ---- */

/* Functions `uses` for rows of the table: sums are accepted besides the operator, or are preferred; the method opens the operators of single
 * kernels or views itself, or works on the rows. */
kfe_i_use kfe_i_use_sums(const void *settings, kfe_i_offer offer, const char **why);
kfe_i_use kfe_i_prefer_sums(const void *settings, kfe_i_offer offer, const char **why);
kfe_i_use kfe_i_use_rows(const void *settings, kfe_i_offer offer, const char **why);

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
/* signs[dim] = the sign, ±1, of the coefficient of largest magnitude of every feature; on examples, of all equal rows together, so that it is
 * that of a row with their weight. */
kfe_status kfe_i_solution_signs(const kfe_i_solution *solution, double *signs);
/* Makes these coefficients positive. */
kfe_status kfe_i_solution_fix_signs(kfe_i_solution *solution);
/* The same; signs[dim], unless NULL, receives the factor of each feature, ±1. */
kfe_status kfe_i_solution_take_signs(kfe_i_solution *solution, double *signs);
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
