/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the MPI plug-in share. Only this folder sees mpi.h. */
#ifndef KFE_BACKENDS_MPI_CLUSTER_H
#define KFE_BACKENDS_MPI_CLUSTER_H

#include <mpi.h>

#include "plugin/cluster.h"

/* Doubles that pass through the buffers at a time. */
enum { STAGE = 1 << 21 };

struct kfe_cluster {
    MPI_Comm work;    /* for collective calls */
    MPI_Comm control; /* for failures and the common end */
    int process, processes, local_process, local_processes;
    uint64_t bytes_sent, messages;
    double *outbox,
        *inbox; /* STAGE doubles each: messages never read or write the caller's memory, which may be
                               freed after a failure while MPI still uses it */
    int *counts, *starts; /* processes each, for the calls that take them: what leaves this process */
    int *in_counts, *in_starts;
    int broken;               /* a collective call was left before its end */
    uint64_t calls;           /* collective calls since the last common end */
    int neighbour_ended;      /* the process before this one has begun the common end (end.c) */
    uint64_t neighbour_calls; /* and has made so many collective calls */
    int (*stop)(void *user);
    void *stop_user;
    char message[512];
};

/* Waits for a request. Leaves it unfinished if this process is to stop or another has failed. */
kfe_cluster_status kfe_mpi_wait(kfe_cluster *cluster, MPI_Request *request);
/* What to do between the tries of a wait: leave the core to others, more and more. */
void kfe_mpi_rest(int64_t tries);
/* Whether the process before this one, that of the highest number being before process 0, has begun the common end. */
kfe_cluster_status kfe_mpi_look_for_end(kfe_cluster *cluster);
/* The status for the code of an MPI call; the text is kept for `message`. */
kfe_cluster_status kfe_mpi_check(kfe_cluster *cluster, int code, const char *call);

kfe_cluster_status kfe_mpi_broadcast(kfe_cluster *cluster, int root, void *bytes, int64_t size);
kfe_cluster_status kfe_mpi_sum(kfe_cluster *cluster, double *values, int64_t count);
kfe_cluster_status kfe_mpi_gather(kfe_cluster *cluster, void *values, const int64_t *bytes);
kfe_cluster_status kfe_mpi_end(kfe_cluster *cluster, kfe_cluster_end *outcome);

/* Goes to `done` with the status if it is not KFE_CLUSTER_OK. */
#define MPI_TRY(call)                                                                                        \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != KFE_CLUSTER_OK)                                                                        \
            goto done;                                                                                       \
    } while (0)

#endif
