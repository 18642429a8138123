/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a plug-in that lets several processes compute together: implement this table and export kfe_cluster_plugin, which returns it,
 * from libkfe_mpi.so. core/cluster.h is the library's side. backends/mpi implements it with MPI.
 *
 * Every process makes the same collective calls in the same order. A call waits for the others; while it waits it asks the
 * watch whether to stop, and it ends with KFE_CLUSTER_ELSEWHERE as soon as another process has reported a failure, or with KFE_CLUSTER_APART
 * if another process has reached `end` without making this call. The results of `sum`,
 * `gather` and `broadcast` have the same bits on every process, and the same bits in every run with as many processes.
 */
#ifndef KFE_PLUGIN_CLUSTER_H
#define KFE_PLUGIN_CLUSTER_H

#include <stdint.h>

#define KFE_CLUSTER_ABI 2
#define KFE_CLUSTER_SYMBOL "kfe_cluster_plugin"

typedef struct kfe_cluster kfe_cluster; /* this process's place in a group of processes */

typedef enum kfe_cluster_status {
    KFE_CLUSTER_OK,
    KFE_CLUSTER_STOPPED,   /* the watch of this process asked for it */
    KFE_CLUSTER_ELSEWHERE, /* another process has failed; `end` has its message */
    KFE_CLUSTER_NO_MEMORY,
    KFE_CLUSTER_FAILED, /* `message` says why */
    KFE_CLUSTER_APART   /* another process has made fewer calls and waits in `end`; `message` names it */
} kfe_cluster_status;

typedef struct kfe_cluster_error {
    char text[512];
} kfe_cluster_error;

typedef struct kfe_cluster_info {
    int process, processes;
    int local_process, local_processes; /* among those on the same machine */
    uint64_t bytes_sent;                /* by this process to others, since it joined */
    uint64_t messages;                  /* collective calls */
    char name[128];                     /* of the MPI library */
} kfe_cluster_info;

/* How the work ended, on one process when it is passed to `end`, on all processes when it comes back. */
typedef struct kfe_cluster_end {
    int code;        /* 0: well; else the first failing process's */
    int first;       /* the lowest process that failed by itself */
    int failed;      /* how many did */
    char text[2048]; /* the messages, each once, with their processes unless all processes have the same */
} kfe_cluster_end;

typedef struct kfe_cluster_table {
    uint32_t abi, size; /* KFE_CLUSTER_ABI and sizeof(kfe_cluster_table) */
    /* `communicator` is the address of an MPI_Comm; NULL joins all processes. */
    kfe_cluster_status (*join)(const void *communicator, kfe_cluster **out, kfe_cluster_error *error);
    void (*leave)(kfe_cluster *cluster);
    void (*info)(const kfe_cluster *cluster, kfe_cluster_info *out);
    const char *(*message)(const kfe_cluster *cluster);
    /* `stop` returns nonzero to end the waiting call. */
    void (*set_watch)(kfe_cluster *cluster, int (*stop)(void *user), void *user);
    /* All processes get the bytes of process `root`. */
    kfe_cluster_status (*broadcast)(kfe_cluster *cluster, int root, void *bytes, int64_t size);
    /* values[i] = Σ over processes of values[i], added in the order of the processes. */
    kfe_cluster_status (*sum)(kfe_cluster *cluster, double *values, int64_t count);
    /* Process r holds `bytes[r]` bytes, which follow the bytes of the processes before it; every process gets all bytes. */
    kfe_cluster_status (*gather)(kfe_cluster *cluster, void *values, const int64_t *bytes);
    /* Every process calls it with its own outcome, also after a failure, and all get the same. */
    kfe_cluster_status (*end)(kfe_cluster *cluster, kfe_cluster_end *outcome);
} kfe_cluster_table;

typedef const kfe_cluster_table *(*kfe_cluster_plugin_fn)(void);

#endif
