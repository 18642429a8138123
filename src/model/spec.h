/* SPDX-License-Identifier: Apache-2.0 */
/* Read a spec with this header: the method, kernels and learner to fit, with their settings. */
#ifndef KFE_MODEL_SPEC_H
#define KFE_MODEL_SPEC_H

#include "data/data.h"
#include "data/prepare/scale.h"
#include "gram/landmark/landmark.h"
#include "learn/calibration.h"
#include "learn/conformal.h"
#include "learn/learner.h"
#include "method/method.h"
#include "model/dim_rule.h"

typedef struct kfe_i_fit_settings {
    char prepare[KFE_PARAM_TEXT_SIZE];      /* data/steps/chain.h */
    int scale;                              /* kfe_i_scale_kind */
    int gram;                               /* kfe_i_gram_storage */
    int64_t landmarks;                      /* 0: none */
    int landmark_by;                        /* kfe_i_landmark_rule */
    char distance[KFE_PARAM_TEXT_SIZE];     /* one of KFE_DISTANCE_WORDS, or a file */
    int calibration;                        /* kfe_i_calibration_kind, or KFE_CALIBRATION_AUTO */
    int conformal;                          /* kfe_i_conformal_kind */
    int target_scale;                       /* 0: none, 1: standard */
    char class_weight[KFE_PARAM_TEXT_SIZE]; /* data/target/class_weights.h */
    int choose;                             /* kfe_i_choose_rule */
} kfe_i_fit_settings;

struct kfe_spec {
    kfe_context *ctx;
    const kfe_i_method *method;
    kfe_i_method *own_method; /* that of a rule of the user's; its name is in the settings */
    void *settings;           /* as method->params says */
    kfe_i_fit_settings fit;
    kfe_i_kernel_list kernels;    /* empty: the default kernel of the method */
    const kfe_i_learner *learner; /* NULL: features only */
    void *learner_settings;       /* as learner->params says */
};

/* The word `auto`, after those of kfe_i_calibration_kind. */
enum { KFE_CALIBRATION_AUTO = KFE_CALIBRATION_ISOTONIC + 1 };

extern const kfe_i_param_table kfe_i_fit_params;

/* Refuses a view without columns, or with a value that is not a finite number. */
kfe_status kfe_i_check_view(kfe_context *ctx, const kfe_i_view *view);
/* kfe_spec_check on data whose values are known to be finite. */
kfe_status kfe_i_spec_check_but_values(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data);

/* The options that no method owns, from "key=value,..." (NULL: defaults). */
kfe_status kfe_i_fit_settings_parse(kfe_context *ctx, const char *options, kfe_i_fit_settings *out);
kfe_status kfe_i_spec_copy(kfe_context *ctx, const kfe_spec *spec, kfe_spec **out);
/* Appends the kernels of a fit on this data, each bound to its view: those of the specification, and where
 * they leave views without one, the default. */
kfe_status kfe_i_spec_kernels(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                              kfe_i_kernel_list *out);
/* Whether the method is to see real targets divided by their standard deviations. */
int kfe_i_spec_scales_target(const kfe_spec *spec, const kfe_i_target *target);
/* Whether the spec gives classes weights. */
int kfe_i_spec_weighs_classes(const kfe_spec *spec);
/* Multiplies the weights of training rows by those of their classes, as the spec says. Every fit does so once, before anything is
 * learned from the rows. */
kfe_status kfe_i_spec_weigh_classes(kfe_context *ctx, const kfe_spec *spec, kfe_i_target *target);
/* Whether the spec prepares rows by steps. */
int kfe_i_spec_prepares(const kfe_spec *spec);
/* The scaling that the spec asks for. With steps, or with neither a method nor a learner, `auto` leaves the columns as they are. */
int kfe_i_spec_scale(const kfe_spec *spec);
/* How the columns of a fit are made: the steps, the scaling, and the learned distance that the user gave (kfe_i_fit_settings). */
typedef struct kfe_i_scaling {
    int kind;
    const char *prepare; /* NULL: no steps */
    const char *distance;
    int keeps_singles; /* data in single precision stays so where it can, and borrows from the scalers */
    int within;        /* the values before scaling are known to be at most KFE_LARGEST_VALUE */
} kfe_i_scaling;
kfe_i_scaling kfe_i_spec_scaling(const kfe_spec *spec);
/* How probabilities are learned: as the spec says or, with `auto`, as its method does by default. */
kfe_i_calibration_kind kfe_i_spec_calibration(const kfe_spec *spec);
/* Where the settings have the parameter `dim`, of a method that has it. */
int64_t *kfe_i_spec_dim(const kfe_spec *spec);
/* The parameter `keep` of sparse methods; NULL: the method has none. */
char *kfe_i_spec_keep(const kfe_spec *spec);
/* The numbers that keep=auto tries, as text. */
const char *kfe_i_spec_keep_values(const kfe_spec *spec);
/* Whether cross-validation chooses how many columns directions use (choose_keep.h). */
int kfe_i_spec_chooses_keep(const kfe_spec *spec);
/* Whether cross-validation chooses the number of features (choose_dim.h). */
int kfe_i_spec_chooses_dim(const kfe_spec *spec);
/* Whether the learner learns from the kernel itself: the method is `none` and a kernel is given. With landmarks, only
 * learners that can work on a Gram operator do; the others get the columns that the landmarks make. */
int kfe_i_spec_learns_from_kernel(const kfe_spec *spec);
/* Whether the features are the columns that landmarks make of the kernel: the method is `none`, kernel and landmarks are given,
 * and no learner learns from the kernel. */
int kfe_i_spec_maps_kernel(const kfe_spec *spec);
/* The landmarks that the spec asks for; count 0: none. */
kfe_i_landmark_plan kfe_i_spec_landmarks(const kfe_spec *spec);

#endif
