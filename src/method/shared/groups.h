/* SPDX-License-Identifier: Apache-2.0 */
/* Put examples into groups: one group per class, or several clusters in each class. */
#ifndef KFE_METHOD_SHARED_GROUPS_H
#define KFE_METHOD_SHARED_GROUPS_H

#include <math.h>

#include "data/target/target.h"
#include "gram/gram.h"

/* A partition of the examples. No group is empty. */
typedef struct kfe_i_groups {
    kfe_context *ctx;
    int64_t rows, count;
    int32_t *of;           /* the group of each example */
    double *sizes;         /* the number of examples in each group, or the sum of their weights */
    const double *weights; /* of the examples, borrowed from the target; NULL: one each */
} kfe_i_groups;

/* The root of the weight of an example: its entry, on a weighted operator, of the vector of ones (kfe_i_gram_weighted). */
static inline double kfe_i_group_root(const kfe_i_groups *groups, int64_t example)
{
    return groups->weights ? sqrt(groups->weights[example]) : 1;
}
static inline double kfe_i_group_weight(const kfe_i_groups *groups, int64_t example)
{
    return groups->weights ? groups->weights[example] : 1;
}

/* One group per class. Free the groups also after a failure. */
kfe_status kfe_i_groups_from_classes(kfe_context *ctx, const kfe_i_target *target, kfe_i_groups *out);
/* Up to `clusters` groups in each class, found by kernel k-means (kmeans.c) on the operator of the kernel or the weighted one. */
kfe_status kfe_i_groups_by_kmeans(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                  int64_t clusters, kfe_i_groups *out);
/* Up to `clusters` groups in all. Every class has at least one, and those whose members are far apart have more; if there are fewer
 * groups than classes, they are made without regard to classes. */
kfe_status kfe_i_groups_by_kmeans_in_all(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                         int64_t clusters, kfe_i_groups *out);
/* The number of examples, or the sum of their weights. */
double kfe_i_groups_mass(const kfe_i_groups *groups);
void kfe_i_groups_free(kfe_i_groups *groups);

#endif
