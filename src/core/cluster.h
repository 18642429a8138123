/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Share the work of a context with other processes (kfe_context_set_cluster). All ranks make the same calls with the same data, and
 * every rank takes the same decisions, because the numbers they rest on come from `sum`, `gather` or `agree`. Without a cluster there
 * is one rank, and the calls below do nothing.
 */
#ifndef KFE_CORE_CLUSTER_H
#define KFE_CORE_CLUSTER_H

#include "core/cluster_table.h"
#include "core/context.h"
#include "core/share.h"

typedef struct kfe_i_cluster {
    const kfe_cluster_table *table;
    kfe_cluster *handle;
    kfe_cluster_info info; /* when it was joined */
} kfe_i_cluster;

int kfe_i_rank(const kfe_context *ctx);
int kfe_i_ranks(const kfe_context *ctx);
/* The rank among those on the same machine. */
int kfe_i_local_rank(const kfe_context *ctx);
kfe_i_share kfe_i_own_share(const kfe_context *ctx);

/* The library's status for one of the plug-in. What happened elsewhere is told by kfe_context_agree. */
kfe_status kfe_i_cluster_status(kfe_context *ctx, kfe_cluster_status status);
/* values[i] = the sum over ranks. */
kfe_status kfe_i_cluster_sum(const kfe_context *ctx, double *values, int64_t count);
/* Rows of `width` doubles, divided by kfe_i_share_begin: every rank has its own in place and gets those of the others. */
kfe_status kfe_i_cluster_gather_rows(const kfe_context *ctx, double *values, int64_t rows, int64_t width);
/* Rank r holds bytes[r] bytes, behind those of the ranks before it; all ranks get those of all. */
kfe_status kfe_i_cluster_gather(const kfe_context *ctx, void *values, const int64_t *bytes);
/* All ranks get the bytes of rank `root`. */
kfe_status kfe_i_cluster_broadcast(const kfe_context *ctx, int root, void *bytes, int64_t size);
/* The least of the numbers of all ranks, on every rank: for plans that all of them can carry out. */
kfe_status kfe_i_cluster_least(const kfe_context *ctx, double *value);
/* The number of rank 0 on every rank: for decisions that depend on time or rounding. */
double kfe_i_cluster_agree(const kfe_context *ctx, double value);
/* Fails on every rank if the numbers differ, with the first rank that differs from rank 0 and `what`, such as "the training data". */
kfe_status kfe_i_cluster_compare(const kfe_context *ctx, uint64_t number, const char *what);

/* Takes the cluster away from the context while a rank works on its own; give it back with kfe_i_cluster_resume. */
kfe_i_cluster *kfe_i_cluster_pause(kfe_context *ctx);
void kfe_i_cluster_resume(kfe_context *ctx, kfe_i_cluster *cluster);

#endif
