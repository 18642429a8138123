/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a learner (a classifier or regressor fitted on features) as one file that ends in one const kfe_i_learner, and one
 * line in learners.def. It is given features (or, with KFE_HAS_KERNELS, a Gram operator) and targets, and returns a
 * predictor.
 */
#ifndef KFE_LEARN_LEARNER_H
#define KFE_LEARN_LEARNER_H

#include "core/entry.h"
#include "core/param.h"
#include "data/sums/sums.h"
#include "gram/gram.h"
#include "learn/predictor.h"

typedef struct kfe_i_learner {
    KFE_I_ENTRY(reference); /* KFE_HAS_REGRESSION: takes real targets too; KFE_HAS_KERNELS: has fit_gram */
    kfe_i_param_table params;
    /* Features are dense (any stride) or csr. Targets: at least two classes, each with a member, or real. */
    kfe_status (*fit)(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out);
    /* The same for `count` settings at once on the context's device, if that is faster than one after the other on the CPU;
     * out[s].outputs is 0 where it is not. Each of the others is freed by the caller. NULL: learns on the CPU only. */
    kfe_status (*fit_on_device)(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                                const void *const *settings, int64_t count, kfe_i_predictor *out);
    /* The same from a Gram operator alone: a direct predictor whose weights (n × outputs) are on the examples. */
    kfe_status (*fit_gram)(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                           const void *settings, kfe_i_predictor *out);
    /* The same from sums over the features; NULL: needs the rows. */
    kfe_status (*fit_sums)(kfe_context *ctx, const kfe_i_sums *sums, const void *settings,
                           kfe_i_predictor *out);
} kfe_i_learner;

/* NULL past the end. */
const kfe_i_learner *kfe_i_learner_at(int index);
kfe_status kfe_i_learner_find(kfe_context *ctx, const char *name, const kfe_i_learner **out);

/* Rejects targets that this learner cannot use: none, one class, a class without members, real ones for a classifier. */
kfe_status kfe_i_learner_check(kfe_context *ctx, const kfe_i_learner *learner, const kfe_i_target *target);
/* Rejects features that are not finite or too large to square, and tables without any; warns when all features are
 * constant. */
kfe_status kfe_i_learner_check_features(kfe_context *ctx, const kfe_i_table *features);

#endif
