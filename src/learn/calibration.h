/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn the outputs of a classifier into probabilities. A calibration is a curve for each binary problem that the decision
 * consists of; it is learned on outputs of examples that the classifier was not trained on.
 *
 *     decision   problems                                     probabilities
 *     largest    two classes: one, on the difference          p, 1 − p
 *                more: class g against the rest, on output g  the curves' values over their sum
 *     pairs      (a, b), on the rows of both classes          coupled: Wu, Lin & Weng (2004), second approach
 *     chain      g against the later classes                  p_g · Π over h < g of (1 − p_h)
 */
#ifndef KFE_LEARN_CALIBRATION_H
#define KFE_LEARN_CALIBRATION_H

#include "learn/predictor.h"

typedef enum kfe_i_calibration_kind {
    KFE_CALIBRATION_NONE,
    KFE_CALIBRATION_PLATT,   /* 1/(1 + exp(a·f + b)) */
    KFE_CALIBRATION_ISOTONIC /* a rising curve through points, straight between them */
} kfe_i_calibration_kind;
#define KFE_CALIBRATION_WORDS "none|platt|isotonic"

typedef struct kfe_i_calibration {
    kfe_context *ctx;
    kfe_i_calibration_kind kind;
    int64_t problems;
    double *sigmoids;        /* platt: problems × (a, b) */
    int64_t *start;          /* isotonic: problems + 1 positions in `scores` and `values` */
    double *scores, *values; /* isotonic: the points, scores increasing */
} kfe_i_calibration;

void kfe_i_calibration_free(kfe_i_calibration *calibration);

/* The number of binary problems of a predictor's decision. */
int64_t kfe_i_calibration_problems(const kfe_i_predictor *predictor);
/* Learns from outputs (rows × predictor->outputs) and the class of each row, which counts by its weight. KFE_EINPUT if a problem has
 * one class only. */
kfe_status kfe_i_calibration_learn(kfe_context *ctx, kfe_i_calibration_kind kind,
                                   const kfe_i_predictor *predictor, const kfe_i_target *target,
                                   const double *outputs, kfe_i_calibration *out);
/* Platt's sigmoid, the same one for all classes: the most probable class is the one that is decided for. For the decision `largest`. */
kfe_status kfe_i_calibration_learn_shared(kfe_context *ctx, const kfe_i_predictor *predictor,
                                          const kfe_i_target *target, const double *outputs,
                                          kfe_i_calibration *out);
/* probabilities[classes] of one row of outputs; they sum to one. `work` is room for 2·classes² numbers. */
void kfe_i_calibration_apply(const kfe_i_calibration *calibration, const kfe_i_predictor *predictor,
                             const double *outputs, double *work, double *probabilities);

#endif
