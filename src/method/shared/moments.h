/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use the sums of squares and products of the training data that a model keeps: loadings, explained variance and least
 * squares on the first features all follow from them, without the training data.
 *
 * With n examples, scaled columns x, features t and targets y, each less its mean:
 *     column_squares[j]   Σ x_j²
 *     cross               XᵀT, columns × features
 *     products            TᵀT, features × features
 *     target_squares[m]   Σ y_m²
 *     target_cross        YᵀT, targets × features
 * The sums are weighted if the examples have weights, and n is the sum of the weights.
 * A target is a real value or, for each class, +1 for its members and −1 for the others.
 *
 * How far the training rows lie from their centre is kept as spread[KFE_SPREAD_…]; shared/spread.h and model/diagnose.h say how.
 */
#ifndef KFE_METHOD_SHARED_MOMENTS_H
#define KFE_METHOD_SHARED_MOMENTS_H

#include "data/sums/sums.h"
#include "data/table/table.h"
#include "data/target/target.h"
#include "method/shared/nipals.h"

/* The positions in `spread`. */
typedef enum kfe_i_spread {
    KFE_SPREAD_MASS,        /* n */
    KFE_SPREAD_T2_VARIANCE, /* of Hotelling's T² over the rows */
    KFE_SPREAD_Q_MEAN,      /* of the squared residuals of the scaled columns; with `cols` above 0 only */
    KFE_SPREAD_Q_VARIANCE,
    KFE_SPREAD_COUNT,
    KFE_SPREAD_OF_FEATURES = KFE_SPREAD_Q_MEAN /* how many there are without columns */
} kfe_i_spread;

typedef struct kfe_i_moments {
    kfe_context *ctx;
    int64_t cols;    /* of all views, one after the other; 0: the features are not linear in the columns */
    int64_t dim;     /* features; 0: the model has no moments */
    int64_t targets; /* 0: no target */
    double *column_means, *column_squares, *cross;
    double *feature_means, *products;
    double *target_means, *target_squares, *target_cross;
    double *spread; /* NULL: not known */
} kfe_i_moments;

/* How many numbers `spread` has. */
static inline int64_t kfe_i_spread_count(const kfe_i_moments *moments)
{
    return moments->cols > 0 ? KFE_SPREAD_COUNT : KFE_SPREAD_OF_FEATURES;
}

/* The training data of a model: `views` scaled tables (0: only the moments of features and targets are wanted). */
typedef struct kfe_i_moment_data {
    int views;
    const kfe_i_table *scaled;
    const kfe_i_table *features; /* dense */
    const kfe_i_target *target;
} kfe_i_moment_data;

kfe_status kfe_i_moments_learn(kfe_context *ctx, const kfe_i_moment_data *data, kfe_i_moments *out);
/* What the scatter of the columns tells: its diagonal, and its product with W of the features Wᵀx − offset. */
typedef struct kfe_i_column_sums {
    int64_t cols;
    const double *means, *squares, *cross; /* cols; cols; cols × features */
} kfe_i_column_sums;
/* The same from sums over the features and, unless NULL, the columns. */
kfe_status kfe_i_moments_from_sums(kfe_context *ctx, const kfe_i_column_sums *columns,
                                   const kfe_i_sums *features, kfe_i_moments *out);
/* Gives moments of features and targets the columns of a fit on observed entries, so that cross·(TᵀT)⁻¹ are the loadings of NIPALS. Frees
 * what `nipals` keeps for this alone. */
kfe_status kfe_i_moments_of_observed(kfe_context *ctx, kfe_i_nipals *nipals, kfe_i_moments *moments);
void kfe_i_moments_free(kfe_i_moments *moments);

/* coefficients (features × targets) of the least squares regression of the targets on the first `count` features, with
 * the penalty l2 on squared coefficients; the rows of the other features are zero. `factor` is from kfe_i_moments_factor. */
void kfe_i_moments_regress(const kfe_i_moments *moments, const double *factor, int64_t count,
                           double *coefficients);
/* factor (features × features): the lower Cholesky factor of TᵀT + l2·I, whose leading blocks belong to fewer features.
 * Constant features get a unit diagonal. KFE_ENUMERIC if features depend on each other. */
kfe_status kfe_i_moments_factor(kfe_context *ctx, const kfe_i_moments *moments, double l2, double **factor);

#endif
