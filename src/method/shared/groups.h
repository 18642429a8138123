/* SPDX-License-Identifier: Apache-2.0 */
/* Put examples into groups: one group per class, or several clusters in each class. */
#ifndef KFE_METHOD_SHARED_GROUPS_H
#define KFE_METHOD_SHARED_GROUPS_H

#include "data/target.h"
#include "gram/gram.h"

/* A partition of the examples. No group is empty. */
typedef struct kfe_i_groups {
    kfe_context *ctx;
    int64_t rows, count;
    int32_t *of;   /* the group of each example */
    double *sizes; /* the number of examples in each group */
} kfe_i_groups;

/* One group per class. Free the groups also after a failure. */
kfe_status kfe_i_groups_from_classes(kfe_context *ctx, const kfe_i_target *target, kfe_i_groups *out);
/* Up to `clusters` groups in each class, found by kernel k-means (kmeans.c) from the context's seed. */
kfe_status kfe_i_groups_by_kmeans(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                  int64_t clusters, kfe_i_groups *out);
void kfe_i_groups_free(kfe_i_groups *groups);

#endif
