/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of one prediction f for one target y (±1 for classes). */
#ifndef KFE_METHOD_DEFLATION_LOSS_H
#define KFE_METHOD_DEFLATION_LOSS_H

typedef enum kfe_i_loss_kind {
    KFE_LOSS_AUTO,
    KFE_LOSS_LS,
    KFE_LOSS_LAD,
    KFE_LOSS_EXP,
    KFE_LOSS_LOGISTIC,
    KFE_LOSS_COUNT
} kfe_i_loss_kind;
#define KFE_LOSS_WORDS "auto|ls|lad|exp|logistic"

/*
 * `width` concerns lad only, which is rounded off below it (Huber), so that it has a gradient everywhere. The
 * bound is at least the curvature, and such that steps bounded by it do not raise the loss: the curvature
 * itself for ls; for lad the weight of reweighted least squares.
 */
typedef struct kfe_i_loss {
    const char *name;
    int classes_only;
    double (*value)(double y, double f, double width);
    double (*pull)(double y, double f, double width); /* −∂value/∂f */
    double (*bound)(double y, double f, double width);
    double ridge; /* on coefficients: keeps those of separable classes finite */
} kfe_i_loss;

/* Not for KFE_LOSS_AUTO. */
const kfe_i_loss *kfe_i_loss_of(kfe_i_loss_kind kind);

#endif
