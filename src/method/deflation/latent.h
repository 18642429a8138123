/* SPDX-License-Identifier: Apache-2.0 */
/* Boost latent features under a loss: keep a prediction f = Tc + b for every target, fit it again after each feature, and take
 * the next direction from the negative gradient of the loss at f. For blf, kblf and skblf. */
#ifndef KFE_METHOD_DEFLATION_LATENT_H
#define KFE_METHOD_DEFLATION_LATENT_H

#include "method/deflation/deflation.h"
#include "method/deflation/loss.h"
#include "method/shared/stand_in.h"

/* Memory for the refits, which do not allocate. */
typedef struct kfe_i_latent_work {
    double *weighted;      /* size × n */
    double *hessian;       /* size × size */
    double *right, *step;  /* size */
    double *trial, *slope; /* n */
} kfe_i_latent_work;

typedef struct kfe_i_latent {
    kfe_context *ctx;
    const kfe_i_loss *loss;
    int64_t examples, targets;
    int64_t size;   /* coefficients per target: the intercept and one per feature */
    double *y, *f;  /* targets × n; real targets are centred and over the deflation's unit */
    double *shifts; /* per target: the mean of a real target, 0 for classes */
    /* targets × size: on the intercept, 1/√n (n: the sum of weights, if there are any), and on the orthonormal features. */
    double *coefficients;
    double *widths;   /* per target: the mean distance from its mean */
    double *gradient; /* n × targets: negative, orthogonal to the features */
    double *losses;   /* after each feature: mean over examples, summed over targets */
    kfe_i_latent_work work;
} kfe_i_latent;

#define KFE_LOSS_ROW(type)                                                                                   \
    KFE_CHOICE(type, loss, "loss", "auto", KFE_LOSS_WORDS,                                                   \
               "loss of the predictions; auto: logistic for classes, ls for real targets")

/* Fits intercepts alone. Free it also after a failure. */
kfe_status kfe_i_latent_begin(kfe_i_deflation *deflation, const kfe_i_target *target, kfe_i_loss_kind kind,
                              kfe_i_latent *out);
void kfe_i_latent_free(kfe_i_latent *latent);
/* Fits intercepts and coefficients on all features so far, and takes the gradient there: kfe_i_rule.after. */
kfe_status kfe_i_latent_refit(kfe_i_deflation *deflation, void *latent);
/* Records "loss" after each feature, "loss-coefficients" (targets × features) and "loss-intercepts". Call it after
 * kfe_i_deflation_solution, which fixes signs. */
kfe_status kfe_i_latent_record(const kfe_i_latent *latent, const kfe_i_deflation *deflation,
                               kfe_i_solution *out);

/* The whole fit of blf and kblf. */
kfe_status kfe_i_latent_fit(kfe_context *ctx, const kfe_i_fit_source *source,
                            const kfe_i_deflation_setup *setup, kfe_i_loss_kind kind, kfe_i_solution *out);
/* The same from sums, which determine the loss ls only: KFE_EUNSUPPORTED for others. */
kfe_status kfe_i_latent_fit_sums(kfe_context *ctx, const kfe_i_fit_source *source, const char *method,
                                 const kfe_i_stand_in_job *job, int kind, kfe_i_solution *out);

/* ---- for latent.c and lad.c ---- */

/* The ridge added to a loss and to its curvature. */
typedef struct kfe_i_latent_ridge {
    double ridge; /* ridge/2·‖coefficients‖² is part of the loss */
    /* Share of the largest curvature that is added to every curvature, so that the step can be computed. */
    double solvable;
} kfe_i_latent_ridge;

/* out (n) = predictions of these coefficients, on the intercept and the features so far. */
void kfe_i_latent_predict(const kfe_i_deflation *deflation, const double *coefficients, double *out);
/* The Newton step of target j at its f into work.step, and the decrease of the loss that it promises. */
kfe_status kfe_i_latent_newton_step(kfe_i_latent *latent, const kfe_i_deflation *deflation, int64_t j,
                                    double width, const kfe_i_latent_ridge *ridge, double *gain);
/* Minimises the sum of absolute deviations of target j (lad.c); *width: below which they were rounded off. */
kfe_status kfe_i_lad_minimise(kfe_i_latent *latent, const kfe_i_deflation *deflation, int64_t j,
                              double *width);

#endif
