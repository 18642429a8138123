/* SPDX-License-Identifier: Apache-2.0 */
/* Look up a loss of one prediction f for one target y (±1 for classes). */
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

/* `width` concerns lad only, which is rounded off below it (Huber), so that it has a gradient everywhere. */
typedef struct kfe_i_loss {
    const char *name;
    int classes_only;
    int degree; /* values scale with this power of the target's unit; 0: for classes, which have none */
    double (*value)(double y, double f, double width);
    double (*pull)(double y, double f, double width);      /* −∂value/∂f */
    double (*curvature)(double y, double f, double width); /* ∂²value/∂f² */
    double ridge; /* ridge/2·‖coefficients‖² is added: keeps the coefficients of separable classes finite */
} kfe_i_loss;

/* NULL for KFE_LOSS_AUTO. */
const kfe_i_loss *kfe_i_loss_of(kfe_i_loss_kind kind);

#endif
