/* SPDX-License-Identifier: Apache-2.0 */
/* Give classes weights with these functions. The text is "none", "balanced", or "NAME:WEIGHT;NAME:WEIGHT" ('=' and ',' serve too),
 * where classes that are not named have weight 1. balanced: n / (classes · members), both counted by the weights of the rows. */
#ifndef KFE_DATA_TARGET_CLASS_WEIGHTS_H
#define KFE_DATA_TARGET_CLASS_WEIGHTS_H

#include "data/target/target.h"

#define KFE_CLASS_WEIGHTS_NONE "none"

#define KFE_CLASS_WEIGHTS_BALANCED "balanced"

/* Writes out[class_count]. Without classes nothing is written, and any text but "none" is KFE_EINVAL. */
kfe_status kfe_i_class_weights(kfe_context *ctx, const char *text, const kfe_i_target *target, double *out);
/* The same for a target of some of the rows: the text may name classes that only other rows have. Not for "balanced". */
kfe_status kfe_i_part_class_weights(kfe_context *ctx, const char *text, const kfe_i_target *target,
                                    double *out);
/* Fails if the rows of one class together weigh so little beside those of another that rounding hides them. Classes of mass zero are
 * not compared. */
kfe_status kfe_i_class_masses_check(kfe_context *ctx, int64_t count, const double *masses,
                                    char *const *names);
/* The same for a target; real values, and rows of one weight, pass. */
kfe_status kfe_i_target_masses_check(kfe_context *ctx, const kfe_i_target *target);
/* Multiplies the weight of every row by that of its class. */
kfe_status kfe_i_target_weigh_classes(kfe_context *ctx, const char *text, kfe_i_target *target);
/* The same by factors[class_count]. */
kfe_status kfe_i_target_multiply_weights(const double *factors, kfe_i_target *target);

#endif
