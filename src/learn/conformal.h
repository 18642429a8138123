/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn predictions into intervals, or into sets of classes, that hold the truth with a given probability. The rows of the training
 * data are divided into folds; what a fit without a fold says of the fold's rows gives their scores, which say how wrong it was:
 *
 *     real targets   |y − f(x)|, for each target
 *     classes        the largest score of another class less the score of the row's class
 *
 * model/conformal.c learns them in a fit and applies them.
 */
#ifndef KFE_LEARN_CONFORMAL_H
#define KFE_LEARN_CONFORMAL_H

#include "learn/predictor.h"

typedef enum kfe_i_conformal_kind {
    KFE_CONFORMAL_NONE,
    KFE_CONFORMAL_SPLIT,    /* one fold is left out */
    KFE_CONFORMAL_CROSS,    /* each of ten folds in turn */
    KFE_CONFORMAL_JACKKNIFE /* each row in turn */
} kfe_i_conformal_kind;
#define KFE_CONFORMAL_WORDS "none|split|cross|jackknife"

/* Scores of column c are scores[c·rows … ], fold by fold, rising within a fold; `mass` are the weights of the rows up to each one,
 * within its fold. */
typedef struct kfe_i_conformal {
    kfe_context *ctx;
    kfe_i_conformal_kind kind;
    int64_t folds;
    int64_t rows;    /* of all folds */
    int64_t columns; /* targets; 1 for classes */
    int64_t *start;  /* folds + 1: where each fold begins */
    double *scores;
    double *mass;
} kfe_i_conformal;

void kfe_i_conformal_free(kfe_i_conformal *conformal);

/* Room for so many folds and rows; `start`, scores and mass are zeroed. */
kfe_status kfe_i_conformal_begin(kfe_context *ctx, kfe_i_conformal_kind kind, int64_t folds, int64_t rows,
                                 int64_t columns, kfe_i_conformal *out);
/* Adds the next fold: scores (count × columns) of rows that count by their weights (NULL: one each). */
kfe_status kfe_i_conformal_add(kfe_i_conformal *conformal, int64_t fold, int64_t count, const double *scores,
                               const double *weights);

/* scores[count × columns] of rows of outputs with a known target: row i has number rows[i] in it. */
kfe_status kfe_i_conformal_score(kfe_context *ctx, const kfe_i_predictor *predictor,
                                 const kfe_i_target *target, const int64_t *rows, int64_t count,
                                 const double *outputs, double *scores);
/* The largest score of another class less that of class g; `scores`: one per class. */
double kfe_i_conformal_margin(const double *scores, int64_t classes, int64_t g);

/* The weight of rows that an interval of this level must agree with: level·(n + 1), n being the weight of all rows. KFE_EINVAL if the
 * level is not between 0 and 1, or if it is more than n. */
kfe_status kfe_i_conformal_need(kfe_context *ctx, const kfe_i_conformal *conformal, double level,
                                double *out);
/* The smallest v such that f_k + score ≤ v for rows of weight `need`, where f_k (stride apart) is the prediction without the row's
 * fold. The negated value for −f is the lower end of the interval. */
double kfe_i_conformal_bound(const kfe_i_conformal *conformal, int64_t column, const double *predictions,
                             double need);
/* The weight of the rows of a fold whose score is below this one; for classes. */
double kfe_i_conformal_below(const kfe_i_conformal *conformal, int64_t fold, double score);

#endif
