/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Share the work of a context with other processes (kfe_context_set_cluster). All processes make the same calls with the same data, and
 * every process takes the same decisions, because the numbers they rest on come from `sum`, `gather` or `agree`. Without a cluster there
 * is one process, and the calls below do nothing.
 */
#ifndef KFE_CORE_CLUSTER_H
#define KFE_CORE_CLUSTER_H

#include "core/context.h"
#include "core/share.h"
#include "plugin/cluster.h"

typedef struct kfe_i_cluster {
    const kfe_cluster_table *table;
    kfe_cluster *handle;
    kfe_cluster_info info; /* when it was joined */
} kfe_i_cluster;

int kfe_i_process(const kfe_context *ctx);
int kfe_i_processes(const kfe_context *ctx);
/* The number of this process among those on the same machine. */
int kfe_i_local_process(const kfe_context *ctx);
kfe_i_share kfe_i_own_share(const kfe_context *ctx);

/* values[i] = the sum over processes. */
kfe_status kfe_i_cluster_sum(const kfe_context *ctx, double *values, int64_t count);
/* Rows of `width` doubles, divided by kfe_i_share_begin: every process has its own rows in place and gets the others. */
kfe_status kfe_i_cluster_gather_rows(const kfe_context *ctx, double *values, int64_t rows, int64_t width);
/* Process r holds bytes[r] bytes, which follow the bytes of the processes before it; every process gets all bytes. */
kfe_status kfe_i_cluster_gather(const kfe_context *ctx, void *values, const int64_t *bytes);
/* Gathers the bytes of every process, one after the other, whatever their number; *all is freed by the caller. Also with one process. */
kfe_status kfe_i_cluster_gather_all(kfe_context *ctx, const void *own, int64_t size, char **all,
                                    int64_t *total);
/* All processes get the bytes of process `root`. */
kfe_status kfe_i_cluster_broadcast(const kfe_context *ctx, int root, void *bytes, int64_t size);
/* The least of the numbers of all processes, on every process: for plans that all of them can carry out. */
kfe_status kfe_i_cluster_least(const kfe_context *ctx, double *value);
/* The number of process 0 on every process: for decisions that depend on time or rounding. */
double kfe_i_cluster_agree(const kfe_context *ctx, double value);
/* Fails on every process if the numbers differ, with the first process that differs from process 0, and `what`, such as "the training data". */
kfe_status kfe_i_cluster_compare(const kfe_context *ctx, uint64_t number, const char *what);
/* Fails on every process if the texts, which say what was asked for, differ, with the first place where they do. */
kfe_status kfe_i_cluster_compare_text(const kfe_context *ctx, const char *text);

/* Takes the cluster away from the context while a process works on its own; give it back with kfe_i_cluster_resume. */
kfe_i_cluster *kfe_i_cluster_pause(kfe_context *ctx);
void kfe_i_cluster_resume(kfe_context *ctx, kfe_i_cluster *cluster);

#endif
