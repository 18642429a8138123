/* SPDX-License-Identifier: Apache-2.0 */
/* Fit the learner `ls` from sums over features (ls_sums.c) as ls.c fits it from the features. */
#ifndef KFE_LEARN_LS_H
#define KFE_LEARN_LS_H

#include "learn/learner.h"

typedef struct kfe_i_ls_settings {
    double l2;
} kfe_i_ls_settings;

kfe_status kfe_i_ls_fit_sums(kfe_context *ctx, const kfe_i_sums *sums, const void *settings,
                             kfe_i_predictor *out);

#endif
