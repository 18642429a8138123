/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting, broadcasts, sums and gathers of the MPI plug-in.
 *
 * A sum of `count` numbers over p processes is a reduce-scatter and an allgather: each process sends every other process that one's 1/p of its
 * numbers, adds what it receives in the order of the processes, and sends its 1/p of the result to all. So a process sends
 *     2·8·count·(p − 1)/p bytes,
 * and the result has the same bits everywhere and in every run. Fewer than SHORT numbers are gathered from all processes and added by each.
 *
 * Requests are tested, not waited for: meanwhile a failure of another process may arrive, the user may cancel, and processes that share a core
 * leave it to each other. A call that another process will never make, since it has begun the common end after fewer calls, fails.
 */
#define _DEFAULT_SOURCE /* nanosleep */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backends/mpi/mpi_cluster.h"

enum { SHORT = 256, YIELDS = 64, LONGEST_NAP = 100000 /* ns */, FAILURE = 77 /* tag; end.c receives it */ };

kfe_cluster_status kfe_mpi_check(kfe_cluster *cluster, int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;

    if (code == MPI_SUCCESS)
        return KFE_CLUSTER_OK;
    MPI_Error_string(code, text, &length);
    (void)snprintf(cluster->message, sizeof cluster->message, "%s: %.400s", call, text);
    return KFE_CLUSTER_FAILED;
}

/* Whether another process has reported a failure; the message stays where it is, for end.c. */
static int failed_elsewhere(kfe_cluster *cluster)
{
    int there = 0;

    MPI_Iprobe(MPI_ANY_SOURCE, FAILURE, cluster->control, &there, MPI_STATUS_IGNORE);
    return there;
}

void kfe_mpi_rest(int64_t tries)
{
    long nap = tries < 1000 ? 2000 * (tries - YIELDS) : LONGEST_NAP;
    struct timespec time = {.tv_nsec = nap < LONGEST_NAP ? nap : LONGEST_NAP};

    if (tries <= YIELDS)
        sched_yield();
    else
        nanosleep(&time, NULL);
}

static kfe_cluster_status check_neighbour(kfe_cluster *cluster)
{
    kfe_cluster_status status = kfe_mpi_look_for_end(cluster);

    if (status != KFE_CLUSTER_OK || !cluster->neighbour_ended || cluster->neighbour_calls >= cluster->calls)
        return status;
    (void)snprintf(cluster->message, sizeof cluster->message, "process %d has finished before this one",
                   (cluster->process + cluster->processes - 1) % cluster->processes);
    return KFE_CLUSTER_APART;
}

kfe_cluster_status kfe_mpi_wait(kfe_cluster *cluster, MPI_Request *request)
{
    for (int64_t tries = 1;; tries++) {
        int done = 0;
        kfe_cluster_status status =
            kfe_mpi_check(cluster, MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done || status != KFE_CLUSTER_OK)
            return status;
        if (tries % 16 == 0 && failed_elsewhere(cluster))
            status = KFE_CLUSTER_ELSEWHERE;
        else if (tries % 16 == 0 && cluster->stop && cluster->stop(cluster->stop_user))
            status = KFE_CLUSTER_STOPPED;
        else if (tries % 16 == 0)
            status = check_neighbour(cluster);
        if (status != KFE_CLUSTER_OK) {
            cluster->broken = 1;
            return status;
        }
        kfe_mpi_rest(tries);
    }
}

static void begin_call(kfe_cluster *cluster)
{
    cluster->messages++;
    cluster->calls++;
}

kfe_cluster_status kfe_mpi_broadcast(kfe_cluster *cluster, int root, void *bytes, int64_t size)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    char *place = bytes;
    int64_t most = (int64_t)STAGE * (int64_t)sizeof(double);
    MPI_Request request;

    begin_call(cluster);
    for (int64_t first = 0; first < size; first += most) {
        int64_t part = size - first < most ? size - first : most;
        if (cluster->process == root)
            memcpy(cluster->outbox, place + first, (size_t)part);
        MPI_TRY(kfe_mpi_check(cluster,
                              MPI_Ibcast(cluster->outbox, (int)part, MPI_BYTE, root, cluster->work, &request),
                              "MPI_Ibcast"));
        MPI_TRY(kfe_mpi_wait(cluster, &request));
        if (cluster->process == root)
            cluster->bytes_sent += (uint64_t)part * (uint64_t)(cluster->processes - 1);
        else
            memcpy(place + first, cluster->outbox, (size_t)part);
    }
done:
    return status;
}

/* ---- gathering ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* One turn: every process sends up to `most` bytes, those from `from` on. */
static kfe_cluster_status gather_part(kfe_cluster *cluster, char *values, const int64_t *bytes, int64_t from,
                                      int64_t most)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    int64_t before = 0;
    int64_t place = 0;
    MPI_Request request;

    for (int r = 0; r < cluster->processes; r++) {
        int64_t part = least(bytes[r] - from, most);
        cluster->counts[r] = part > 0 ? (int)part : 0;
        cluster->starts[r] = (int)place;
        place += cluster->counts[r];
        if (r == cluster->process)
            memcpy(cluster->outbox, values + before + (part > 0 ? from : 0), (size_t)cluster->counts[r]);
        before += bytes[r];
    }
    MPI_TRY(kfe_mpi_check(cluster,
                          MPI_Iallgatherv(cluster->outbox, cluster->counts[cluster->process], MPI_BYTE,
                                          cluster->inbox, cluster->counts, cluster->starts, MPI_BYTE,
                                          cluster->work, &request),
                          "MPI_Iallgatherv"));
    MPI_TRY(kfe_mpi_wait(cluster, &request));
    cluster->bytes_sent += (uint64_t)cluster->counts[cluster->process] * (uint64_t)(cluster->processes - 1);
    before = 0;
    for (int r = 0; r < cluster->processes; r++) {
        if (cluster->counts[r] > 0)
            memcpy(values + before + from, (char *)cluster->inbox + cluster->starts[r],
                   (size_t)cluster->counts[r]);
        before += bytes[r];
    }
done:
    return status;
}

kfe_cluster_status kfe_mpi_gather(kfe_cluster *cluster, void *values, const int64_t *bytes)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    int64_t most = (int64_t)STAGE * (int64_t)sizeof(double) / cluster->processes;
    int64_t longest = 0;

    begin_call(cluster);
    for (int r = 0; r < cluster->processes; r++)
        longest = bytes[r] > longest ? bytes[r] : longest;
    for (int64_t from = 0; from < longest; from += most)
        MPI_TRY(gather_part(cluster, values, bytes, from, most));
done:
    return status;
}

/* ---- sums ---- */

/* Where the part of process r begins. */
static int part_begin(int count, int r, int processes)
{
    return (int)((int64_t)count * r / processes);
}

/* inbox: one vector of `length` numbers from each process. */
static void add_in_order(const kfe_cluster *cluster, int length, double *out)
{
    for (int i = 0; i < length; i++) {
        double sum = 0;
        for (int r = 0; r < cluster->processes; r++)
            sum += cluster->inbox[(int64_t)r * length + i];
        out[i] = sum;
    }
}

static kfe_cluster_status sum_short(kfe_cluster *cluster, double *values, int count)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    MPI_Request request;

    memcpy(cluster->outbox, values, (size_t)count * sizeof *values);
    MPI_TRY(kfe_mpi_check(cluster,
                          MPI_Iallgather(cluster->outbox, count, MPI_DOUBLE, cluster->inbox, count,
                                         MPI_DOUBLE, cluster->work, &request),
                          "MPI_Iallgather"));
    MPI_TRY(kfe_mpi_wait(cluster, &request));
    cluster->bytes_sent += (uint64_t)count * sizeof *values * (uint64_t)(cluster->processes - 1);
    add_in_order(cluster, count, values);
done:
    return status;
}

static kfe_cluster_status exchange_parts(kfe_cluster *cluster, int count)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    int own = part_begin(count, cluster->process + 1, cluster->processes) -
              part_begin(count, cluster->process, cluster->processes);
    MPI_Request request;

    for (int r = 0; r < cluster->processes; r++) {
        cluster->starts[r] = part_begin(count, r, cluster->processes);
        cluster->counts[r] = part_begin(count, r + 1, cluster->processes) - cluster->starts[r];
        cluster->in_counts[r] = own;
        cluster->in_starts[r] = r * own;
    }
    MPI_TRY(kfe_mpi_check(cluster,
                          MPI_Ialltoallv(cluster->outbox, cluster->counts, cluster->starts, MPI_DOUBLE,
                                         cluster->inbox, cluster->in_counts, cluster->in_starts, MPI_DOUBLE,
                                         cluster->work, &request),
                          "MPI_Ialltoallv"));
    MPI_TRY(kfe_mpi_wait(cluster, &request));
    cluster->bytes_sent += (uint64_t)(count - own) * sizeof(double);
    add_in_order(cluster, own, cluster->outbox);
done:
    return status;
}

static kfe_cluster_status sum_long(kfe_cluster *cluster, double *values, int count)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    MPI_Request request;

    memcpy(cluster->outbox, values, (size_t)count * sizeof *values);
    MPI_TRY(exchange_parts(cluster, count));
    MPI_TRY(kfe_mpi_check(cluster,
                          MPI_Iallgatherv(cluster->outbox, cluster->counts[cluster->process], MPI_DOUBLE,
                                          cluster->inbox, cluster->counts, cluster->starts, MPI_DOUBLE,
                                          cluster->work, &request),
                          "MPI_Iallgatherv"));
    MPI_TRY(kfe_mpi_wait(cluster, &request));
    cluster->bytes_sent +=
        (uint64_t)cluster->counts[cluster->process] * sizeof(double) * (uint64_t)(cluster->processes - 1);
    memcpy(values, cluster->inbox, (size_t)count * sizeof *values);
done:
    return status;
}

kfe_cluster_status kfe_mpi_sum(kfe_cluster *cluster, double *values, int64_t count)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    int64_t most =
        STAGE -
        cluster->processes; /* parts differ by one number, so that p of the longest may take more room */

    begin_call(cluster);
    for (int64_t first = 0; first < count; first += most) {
        int part = (int)least(count - first, most);
        if (part <= SHORT)
            MPI_TRY(sum_short(cluster, values + first, part));
        else
            MPI_TRY(sum_long(cluster, values + first, part));
    }
done:
    return status;
}
