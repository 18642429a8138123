/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common end of the MPI plug-in: processes that failed tell all others why, and all agree on one outcome.
 *
 * A process that failed by itself sends its message to every other process, which wakes those that wait in a collective call. Then every process
 * calls MPI_Iallgather on a communicator of its own for this purpose, so that calls that were left unfinished do no harm, and receives
 * the messages of the processes that failed.
 *
 * Processes that were given other work than the rest would wait for each other: one in a collective call, another in the common end. So each
 * process that begins the end tells the next one, the last one process 0, how many collective calls it made. Among processes of which some
 * have begun the end, at least one that has not is told, and fails if it waits in a later call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/mpi/mpi_cluster.h"

enum { FAILURE = 77, ENDED = 78, TEXT = sizeof(((kfe_cluster_end *)0)->text) };

/* Failures must not interrupt the wait for the common end. */
static kfe_cluster_status wait_for_all(kfe_cluster *cluster, MPI_Request *request)
{
    for (int64_t tries = 1;; tries++) {
        int done = 0;
        kfe_cluster_status status =
            kfe_mpi_check(cluster, MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done || status != KFE_CLUSTER_OK)
            return status;
        kfe_mpi_rest(tries);
    }
}

static kfe_cluster_status gather_codes(kfe_cluster *cluster, int code, int *codes)
{
    MPI_Request request;
    kfe_cluster_status status = kfe_mpi_check(
        cluster, MPI_Iallgather(&code, 1, MPI_INT, codes, 1, MPI_INT, cluster->control, &request),
        "MPI_Iallgather");

    return status == KFE_CLUSTER_OK ? wait_for_all(cluster, &request) : status;
}

static int neighbour(const kfe_cluster *cluster)
{
    return (cluster->process + cluster->processes - 1) % cluster->processes;
}

static kfe_cluster_status receive_end(kfe_cluster *cluster)
{
    cluster->neighbour_ended = 1;
    return kfe_mpi_check(cluster,
                         MPI_Recv(&cluster->neighbour_calls, 1, MPI_UINT64_T, neighbour(cluster), ENDED,
                                  cluster->control, MPI_STATUS_IGNORE),
                         "MPI_Recv");
}

kfe_cluster_status kfe_mpi_look_for_end(kfe_cluster *cluster)
{
    int there = 0;

    if (cluster->neighbour_ended)
        return KFE_CLUSTER_OK;
    MPI_Iprobe(neighbour(cluster), ENDED, cluster->control, &there, MPI_STATUS_IGNORE);
    return there ? receive_end(cluster) : KFE_CLUSTER_OK;
}

/* Every process has begun the end: the message of the one before is there, and counting starts again. */
static kfe_cluster_status forget_calls(kfe_cluster *cluster, MPI_Request *announced)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;

    if (!cluster->neighbour_ended)
        MPI_TRY(receive_end(cluster));
    MPI_TRY(kfe_mpi_check(cluster, MPI_Wait(announced, MPI_STATUS_IGNORE), "MPI_Wait"));
    cluster->neighbour_ended = 0;
    cluster->calls = 0;
done:
    return status;
}

static void send_to_others(kfe_cluster *cluster, const char *text, MPI_Request *requests)
{
    int sent = 0;

    for (int r = 0; r < cluster->processes; r++)
        if (r != cluster->process)
            MPI_Isend(text, TEXT, MPI_CHAR, r, FAILURE, cluster->control, &requests[sent++]);
}

/* texts: one for each process, empty for those that did not fail. */
static void receive_from_others(kfe_cluster *cluster, const int *codes, char (*texts)[TEXT])
{
    for (int r = 0; r < cluster->processes; r++)
        if (codes[r] != 0 && r != cluster->process)
            MPI_Recv(texts[r], TEXT, MPI_CHAR, r, FAILURE, cluster->control, MPI_STATUS_IGNORE);
}

static int seen_before(char (*texts)[TEXT], int r)
{
    for (int s = 0; s < r; s++)
        if (strcmp(texts[s], texts[r]) == 0)
            return 1;
    return 0;
}

static void describe(const kfe_cluster *cluster, const int *codes, char (*texts)[TEXT], kfe_cluster_end *out)
{
    size_t used = 0;

    *out = (kfe_cluster_end){.first = -1};
    for (int r = 0; r < cluster->processes; r++) {
        if (codes[r] == 0)
            continue;
        if (out->failed++ == 0) {
            out->first = r;
            out->code = codes[r];
        }
    }
    for (int r = 0; r < cluster->processes; r++) {
        int all = out->failed == cluster->processes && strcmp(texts[r], texts[0]) == 0;
        if (codes[r] == 0 || used >= TEXT - 1 || seen_before(texts, r))
            continue;
        for (int s = 0; all && s < cluster->processes; s++)
            all = strcmp(texts[s], texts[0]) == 0;
        int written = all ? snprintf(out->text + used, TEXT - used, "%s", texts[r])
                          : snprintf(out->text + used, TEXT - used, "%sprocess %d of %d: %s",
                                     used > 0 ? "\n" : "", r, cluster->processes, texts[r]);
        used += written > 0 ? (size_t)written : 0;
    }
}

/* After unfinished calls, later ones need a communicator on which none is under way. */
static void renew(kfe_cluster *cluster)
{
    int *broken = cluster->counts;

    if (gather_codes(cluster, cluster->broken, broken) != KFE_CLUSTER_OK)
        return;
    for (int r = 0; r < cluster->processes; r++)
        cluster->broken |= broken[r];
    if (!cluster->broken)
        return;
    /* the old ones are still in use: they are left to the process */
    double *outbox = malloc(STAGE * sizeof *outbox);
    double *inbox = malloc(STAGE * sizeof *inbox);
    if (outbox && inbox) {
        cluster->outbox = outbox;
        cluster->inbox = inbox;
    } else {
        free(outbox);
        free(inbox);
    }
    MPI_Comm_dup(cluster->control, &cluster->work);
}

kfe_cluster_status kfe_mpi_end(kfe_cluster *cluster, kfe_cluster_end *outcome)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    int processes = cluster->processes;
    int *codes = calloc((size_t)processes, sizeof *codes);
    char(*texts)[TEXT] = calloc((size_t)processes, sizeof *texts);
    MPI_Request *requests = calloc((size_t)processes, sizeof *requests);
    uint64_t calls = cluster->calls;
    MPI_Request announced;
    int any = 0;

    if (!codes || !texts || !requests) {
        status = KFE_CLUSTER_NO_MEMORY;
        goto done;
    }
    memcpy(texts[cluster->process], outcome->text, TEXT);
    if (outcome->code != 0)
        send_to_others(cluster, texts[cluster->process], requests);
    MPI_TRY(kfe_mpi_check(cluster,
                          MPI_Isend(&calls, 1, MPI_UINT64_T, (cluster->process + 1) % processes, ENDED,
                                    cluster->control, &announced),
                          "MPI_Isend"));
    MPI_TRY(gather_codes(cluster, outcome->code, codes));
    MPI_TRY(forget_calls(cluster, &announced));
    receive_from_others(cluster, codes, texts);
    if (outcome->code != 0)
        MPI_TRY(
            kfe_mpi_check(cluster, MPI_Waitall(processes - 1, requests, MPI_STATUSES_IGNORE), "MPI_Waitall"));
    for (int r = 0; r < processes; r++)
        any |= codes[r] != 0;
    describe(cluster, codes, texts, outcome);
    if (any)
        renew(cluster);
done:
    free(codes);
    free(texts);
    free(requests);
    return status;
}
