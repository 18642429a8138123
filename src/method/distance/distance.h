/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fit a kernel ridge regression on the examples after a linear map, and make the next map from its gradients: the engine of
 * rfm and gkdr.
 *
 *     z = Tᵀx,   f = mean + κ(·, Z)A,   A = (K + ρI)⁻¹(Y − mean),   G = T·AGOP_z(f)·Tᵀ
 *
 * G is the average gradient outer product of f by the columns x (kernel/tile/gradient.h). The next map is G^(power/2), times the
 * factor that keeps the total variance of the examples: then the width of the kernel, which was resolved on x, suits z too.
 */
#ifndef KFE_METHOD_DISTANCE_DISTANCE_H
#define KFE_METHOD_DISTANCE_DISTANCE_H

#include "core/memory.h"
#include "data/table/map.h"
#include "method/method.h"
#include "method/ridge/leave_one_out.h"

/* Targets as columns of numbers:
 *   real targets   (y − shift) / scale, of mean 0 and standard deviation 1
 *   two classes    −1 for the first class, +1 for the second
 *   more classes   an indicator column per class */
typedef struct kfe_i_distance_target {
    kfe_context *ctx;
    int64_t rows, columns;
    double *values;        /* rows × columns */
    double *shift, *scale; /* one per column; 0 and 1 for classes */
} kfe_i_distance_target;

/* KFE_EINPUT, in the name of `method`, if the target is the same for every example. */
kfe_status kfe_i_distance_target_make(kfe_context *ctx, const char *method, const kfe_i_target *target,
                                      kfe_i_distance_target *out);
void kfe_i_distance_target_free(kfe_i_distance_target *target);

/* How to fit, for all maps alike. */
typedef struct kfe_i_distance_problem {
    const char *method;            /* name, for messages */
    const kfe_i_fit_source *given; /* kernels, storage and landmarks */
    double ridge;                  /* as KFE_CHOSEN_RIDGE_ROW has it (method/ridge/ridge.h) */
    int64_t columns;               /* of the targets */
    int chooses_only; /* choose the ridge by leave-one-out, whose error judges a map, and do not solve */
    /* Gradients are those of a regression whose ridge is at most this many times the mean diagonal of the kernel matrix, if leave-one-out
     * chooses the ridge: a larger one, which predicts best while the map is wrong, smooths interactions away. 0: no limit. */
    double gradient_ridge;
} kfe_i_distance_problem;

typedef struct kfe_i_distance_fit {
    kfe_context *ctx;
    kfe_i_arena memory;
    kfe_i_table z;           /* the examples after the map */
    kfe_i_table support;     /* the rows that have coefficients: all of z, or its landmarks */
    int64_t *landmark_index; /* the examples that are landmarks; NULL: the support is z */
    double *coefficients;    /* A, on the support */
    double *steep;           /* those of the regression whose gradients are taken; NULL: it is the same */
    double *mean;            /* columns */
    double ridge;
    /* Relative residual of the linear system; with landmarks, the relative error of the fitted values. */
    double residual;
    kfe_i_loo_choice choice;          /* rows 0: the ridge was given */
    int64_t landmarks, landmark_rank; /* landmarks 0: none */
    double trace_left;
} kfe_i_distance_fit;

/* Fits the targets y (rows of x × columns). Free the result also after a failure; x must outlive it. */
kfe_status kfe_i_distance_fit_make(kfe_context *ctx, const kfe_i_distance_problem *problem,
                                   const kfe_i_map *map, const kfe_i_table *x, const double *y,
                                   kfe_i_distance_fit *out);
void kfe_i_distance_fit_free(kfe_i_distance_fit *fit);
/* Records "ridge", "residual", the leave-one-out error, and the landmarks if there are any. */
kfe_status kfe_i_distance_fit_record(const kfe_i_distance_fit *fit, kfe_i_solution *out);
/* out (rows × columns) = f at the rows of x. */
kfe_status kfe_i_distance_predict(kfe_context *ctx, const kfe_i_distance_problem *problem,
                                  const kfe_i_distance_fit *fit, const kfe_i_map *map, const kfe_i_table *x,
                                  double *out);

/* A symmetric d × d matrix, or its diagonal, that says how much f varies along the columns of x. */
kfe_status kfe_i_distance_gradients(kfe_context *ctx, const kfe_i_distance_problem *problem,
                                    const kfe_i_distance_fit *fit, const kfe_i_map *map, int diagonal,
                                    int64_t d, double *out);
/* G^(power/2) as a map: eigenvectors as columns, in the order of falling eigenvalues, those of rounding left out. *out stays
 * without values if G is zero. `most` 0: all. */
kfe_status kfe_i_distance_root(kfe_context *ctx, int64_t d, int diagonal, double power, int64_t most,
                               const double *g, kfe_i_map *out);
/* Multiplies the map by the factor that keeps the total variance of the rows of x. */
kfe_status kfe_i_distance_normalise(kfe_context *ctx, const kfe_i_table *x, kfe_i_map *map);

#endif
