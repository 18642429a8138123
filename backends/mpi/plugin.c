/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the MPI plug-in, libkfe_mpi.so: joining, leaving and what is known of the processes. core/cluster.c opens it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/mpi/mpi_cluster.h"

static void finalize(void)
{
    int done = 0;

    MPI_Finalized(&done);
    if (!done)
        MPI_Finalize();
}

static int start(kfe_cluster_error *error)
{
    int running = 0;
    int level = 0;
    int over = 0;

    MPI_Initialized(&running);
    MPI_Finalized(&over);
    if (over) {
        (void)snprintf(error->text, sizeof error->text, "MPI has already been finalised");
        return 0;
    }
    if (running)
        return 1;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        (void)snprintf(error->text, sizeof error->text, "MPI_Init_thread failed");
        return 0;
    }
    atexit(finalize);
    return 1;
}

static void leave(kfe_cluster *cluster)
{
    int over = 0;

    if (!cluster)
        return;
    MPI_Finalized(&over);
    if (!over && !cluster->broken && cluster->work != MPI_COMM_NULL)
        MPI_Comm_free(&cluster->work);
    if (!over && !cluster->broken && cluster->control != MPI_COMM_NULL)
        MPI_Comm_free(&cluster->control);
    if (!cluster->broken) {
        free(cluster->outbox);
        free(cluster->inbox);
        free(cluster->counts);
    }
    free(cluster);
}

static int find_places(kfe_cluster *cluster)
{
    MPI_Comm local;

    if (MPI_Comm_rank(cluster->work, &cluster->process) != MPI_SUCCESS ||
        MPI_Comm_size(cluster->work, &cluster->processes) != MPI_SUCCESS ||
        MPI_Comm_split_type(cluster->work, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local) != MPI_SUCCESS)
        return 0;
    MPI_Comm_rank(local, &cluster->local_process);
    MPI_Comm_size(local, &cluster->local_processes);
    MPI_Comm_free(&local);
    return 1;
}

static int allocate(kfe_cluster *cluster)
{
    size_t processes = (size_t)cluster->processes;

    cluster->outbox = malloc(STAGE * sizeof *cluster->outbox);
    cluster->inbox = malloc(STAGE * sizeof *cluster->inbox);
    cluster->counts = calloc(4 * processes, sizeof *cluster->counts);
    if (!cluster->outbox || !cluster->inbox || !cluster->counts)
        return 0;
    cluster->starts = cluster->counts + processes;
    cluster->in_counts = cluster->starts + processes;
    cluster->in_starts = cluster->in_counts + processes;
    return 1;
}

static kfe_cluster_status join(const void *communicator, kfe_cluster **out, kfe_cluster_error *error)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    kfe_cluster *cluster = NULL;

    *out = NULL;
    if (!start(error))
        return KFE_CLUSTER_FAILED;
    if (communicator)
        memcpy(&comm, communicator, sizeof comm);
    if (comm == MPI_COMM_NULL)
        return KFE_CLUSTER_OK;
    cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return KFE_CLUSTER_NO_MEMORY;
    cluster->work = cluster->control = MPI_COMM_NULL;
    if (MPI_Comm_dup(comm, &cluster->work) != MPI_SUCCESS ||
        MPI_Comm_dup(comm, &cluster->control) != MPI_SUCCESS || !find_places(cluster)) {
        (void)snprintf(error->text, sizeof error->text, "the communicator cannot be duplicated");
        leave(cluster);
        return KFE_CLUSTER_FAILED;
    }
    MPI_Comm_set_errhandler(cluster->work, MPI_ERRORS_RETURN);
    if (!allocate(cluster)) {
        (void)snprintf(error->text, sizeof error->text, "out of memory");
        leave(cluster);
        return KFE_CLUSTER_NO_MEMORY;
    }
    *out = cluster;
    return KFE_CLUSTER_OK;
}

static void info(const kfe_cluster *cluster, kfe_cluster_info *out)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;

    *out = (kfe_cluster_info){.process = cluster->process,
                              .processes = cluster->processes,
                              .local_process = cluster->local_process,
                              .local_processes = cluster->local_processes,
                              .bytes_sent = cluster->bytes_sent,
                              .messages = cluster->messages};
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0'; /* "Open MPI v4.1.4, package: …" */
    (void)snprintf(out->name, sizeof out->name, "%.127s", text);
}

static const char *message(const kfe_cluster *cluster)
{
    return cluster->message;
}

static void set_watch(kfe_cluster *cluster, int (*stop)(void *user), void *user)
{
    cluster->stop = stop;
    cluster->stop_user = user;
}

__attribute__((visibility("default"))) const kfe_cluster_table *kfe_cluster_plugin(void);

const kfe_cluster_table *kfe_cluster_plugin(void)
{
    static const kfe_cluster_table table = {.abi = KFE_CLUSTER_ABI,
                                            .size = sizeof(kfe_cluster_table),
                                            .join = join,
                                            .leave = leave,
                                            .info = info,
                                            .message = message,
                                            .set_watch = set_watch,
                                            .broadcast = kfe_mpi_broadcast,
                                            .sum = kfe_mpi_sum,
                                            .gather = kfe_mpi_gather,
                                            .end = kfe_mpi_end};
    return &table;
}
