/* SPDX-License-Identifier: Apache-2.0 */
/* What boosted latent features keep from round to round: a prediction f = Tc + b for every target, refitted
 * under a loss after each feature, and the negative gradient of the loss there, from which the next direction
 * comes. */
#ifndef KFE_METHOD_DEFLATION_LATENT_H
#define KFE_METHOD_DEFLATION_LATENT_H

#include "method/deflation/deflation.h"
#include "method/deflation/loss.h"

typedef struct kfe_i_latent {
    kfe_context *ctx;
    const kfe_i_loss *loss;
    int64_t examples, targets, width_of; /* coefficients per target: the intercept and one per feature */
    double *y, *f;                       /* targets × n */
    double *coefficients;                /* targets × width_of, on 1/√n and on the orthonormal features */
    double *widths;                      /* per target, see loss.h */
    double *gradient;                    /* n × targets: negative, off the span of the features */
    double *losses;                      /* per round: mean over examples, summed over targets */
    /* room: width_of × n; width_of²; width_of twice; n twice */
    double *weighted, *hessian, *right, *step, *trial, *slope;
} kfe_i_latent;

#define KFE_LOSS_ROW(type)                                                                                   \
    KFE_CHOICE(type, loss, "loss", "auto", KFE_LOSS_WORDS,                                                   \
               "loss of the predictions; auto: logistic for classes, ls for real targets")

/* With f fitted by intercepts alone. Free it also after a failure. */
kfe_status kfe_i_latent_begin(kfe_i_deflation *deflation, const kfe_i_target *target, kfe_i_loss_kind kind,
                              kfe_i_latent *out);
void kfe_i_latent_free(kfe_i_latent *latent);
/* Fits intercepts and coefficients on all features so far, and takes the gradient there: kfe_i_rule.after. */
kfe_status kfe_i_latent_refit(kfe_i_deflation *deflation, void *latent);
/* "loss" after each round, "loss_coefficients" (targets × features) and "loss_intercepts". After the
 * solution. */
kfe_status kfe_i_latent_record(const kfe_i_latent *latent, const kfe_i_deflation *deflation,
                               kfe_i_solution *out);

/* The whole fit of blf and kblf. */
kfe_status kfe_i_latent_fit(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                            kfe_i_side side, int center, int64_t asked, kfe_i_loss_kind kind,
                            kfe_i_solution *out);

#endif
