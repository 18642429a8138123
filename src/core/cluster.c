/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that share the work of a context: joining them through the plug-in libkfe_mpi.so, collective calls, and the common end.
 * Gram operators, searches and the command line use it. */
#include "core/cluster.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/plugin.h"
#include "core/text.h"
#include "system/system.h"

/* ---- status ---- */

/* The library's status for one of the plug-in. What happened elsewhere is told by kfe_context_agree. */
static kfe_status status_of_plugin(kfe_context *ctx, kfe_cluster_status status)
{
    switch (status) {
    case KFE_CLUSTER_OK:
        return KFE_OK;
    case KFE_CLUSTER_STOPPED:
        return kfe_i_fail(ctx, KFE_ECANCEL, "cancelled while waiting for other processes");
    case KFE_CLUSTER_ELSEWHERE:
        ctx->cluster_failed = 1;
        return kfe_i_fail(ctx, KFE_EDEVICE, "another process failed");
    case KFE_CLUSTER_NO_MEMORY:
        return kfe_i_fail(ctx, KFE_ENOMEM, "out of memory for messages between processes");
    case KFE_CLUSTER_APART:
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "%s: every process must make the same calls with the same settings",
                          ctx->cluster->table->message(ctx->cluster->handle));
    default:
        return kfe_i_fail(ctx, KFE_EDEVICE, "MPI: %s", ctx->cluster->table->message(ctx->cluster->handle));
    }
}

static int must_stop(void *user)
{
    const kfe_context *ctx = user;

    return ctx->cancel && ctx->cancel(ctx->cancel_user);
}

/* ---- joining ---- */

static kfe_status load(kfe_context *ctx, const kfe_cluster_table **out)
{
    static const kfe_i_plugin plugin = {.file = "libkfe_mpi.so",
                                        .owner = "MPI",
                                        .interface = "interface for clusters",
                                        .advice = "build kfe where MPI is installed",
                                        .symbol = KFE_CLUSTER_SYMBOL,
                                        .abi = KFE_CLUSTER_ABI,
                                        .size = sizeof **out};
    const void *table = NULL;
    kfe_status status = kfe_i_plugin_open(ctx, &plugin, &table);

    *out = table;
    return status;
}

/* Threads unless given: as many as the launcher has bound. Processes that are not bound divide the cores of their machine. */
static int default_threads(const kfe_i_cluster *cluster)
{
    int threads = omp_get_max_threads();

    if (getenv("OMP_NUM_THREADS") || kfe_i_bound_processors() > 0)
        return threads;
    threads /= cluster->info.local_processes > 0 ? cluster->info.local_processes : 1;
    return threads > 0 ? threads : 1;
}

/* Plans depend on memory and threads, and all processes must make the same plans: the least of all processes counts. Processes on one machine
 * divide its free memory. */
static kfe_status settle_limits(kfe_context *ctx)
{
    kfe_status status = KFE_OK;
    const kfe_i_cluster *cluster = ctx->cluster;
    int given = ctx->memory > 0;
    double memory = (double)kfe_context_memory(ctx);
    double threads = ctx->threads > 0 ? ctx->threads : default_threads(cluster);

    if (!given)
        memory /= cluster->info.local_processes > 0 ? cluster->info.local_processes : 1;
    KFE_TRY(kfe_i_cluster_least(ctx, &memory));
    KFE_TRY(kfe_i_cluster_least(ctx, &threads));
    ctx->memory = (int64_t)memory;
    ctx->soft_limit = given ? ctx->soft_limit : 1;
    ctx->threads = (int)threads;
cleanup:
    return status;
}

static void leave(kfe_context *ctx)
{
    if (ctx->cluster)
        ctx->cluster->table->leave(ctx->cluster->handle);
    kfe_i_free(ctx, ctx->cluster);
    ctx->cluster = NULL;
    ctx->cluster_failed = 0;
}

/* Whether MPI sees what the launcher started. */
static kfe_status check_launcher(kfe_context *ctx)
{
    int launched = kfe_launched_processes();

    if (launched == 1 || ctx->cluster->info.processes > 1)
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EUNSUPPORTED,
        "MPI cannot be used: the launcher started %d processes, but MPI sees only one, because the "
        "launcher belongs to another MPI than the one that the plug-in was built with; with SLURM, start "
        "srun with the MPI type pmix",
        launched);
}

kfe_status kfe_context_set_cluster(kfe_context *ctx, const void *communicator)
{
    kfe_status status = KFE_OK;
    kfe_cluster_error error = {{0}};
    kfe_i_cluster *cluster = NULL;

    leave(ctx);
    KFE_ALLOC_ZERO(ctx, cluster, 1);
    KFE_TRY(load(ctx, &cluster->table));
    if (cluster->table->join(communicator, &cluster->handle, &error) != KFE_CLUSTER_OK)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "MPI cannot be used: %s", error.text);
    if (!cluster->handle)
        goto cleanup; /* MPI_COMM_NULL: only leaves */
    cluster->table->info(cluster->handle, &cluster->info);
    cluster->table->set_watch(cluster->handle, must_stop, ctx);
    ctx->cluster = cluster;
    ctx->cluster_leave = leave;
    cluster = NULL;
    if (!communicator)
        KFE_TRY(check_launcher(ctx));
    KFE_TRY(settle_limits(ctx));
    kfe_i_log(ctx, KFE_LOG_INFO, "%d %s, %d on this machine, %d %s each (%s)", ctx->cluster->info.processes,
              ctx->cluster->info.processes == 1 ? "process" : "processes", ctx->cluster->info.local_processes,
              ctx->threads, ctx->threads == 1 ? "thread" : "threads", ctx->cluster->info.name);
cleanup:
    kfe_i_free(ctx, cluster);
    if (status != KFE_OK)
        leave(ctx);
    return status;
}

kfe_i_cluster *kfe_i_cluster_pause(kfe_context *ctx)
{
    kfe_i_cluster *cluster = ctx->cluster;

    ctx->cluster = NULL;
    return cluster;
}

void kfe_i_cluster_resume(kfe_context *ctx, kfe_i_cluster *cluster)
{
    ctx->cluster = cluster;
}

/* ---- collective calls ---- */

/* A context without others need not ask them. */
static int is_alone(const kfe_context *ctx)
{
    return kfe_i_processes(ctx) == 1;
}

/* Errors are recorded although the context is const: its cluster is not. */
static kfe_context *recorder(const kfe_context *ctx)
{
    kfe_context *same;

    memcpy(&same, &ctx, sizeof same);
    return same;
}

kfe_status kfe_i_cluster_sum(const kfe_context *ctx, double *values, int64_t count)
{
    if (is_alone(ctx) || count == 0)
        return KFE_OK;
    return status_of_plugin(recorder(ctx), ctx->cluster->table->sum(ctx->cluster->handle, values, count));
}

kfe_status kfe_i_cluster_gather(const kfe_context *ctx, void *values, const int64_t *bytes)
{
    if (is_alone(ctx))
        return KFE_OK;
    return status_of_plugin(recorder(ctx), ctx->cluster->table->gather(ctx->cluster->handle, values, bytes));
}

kfe_status kfe_i_cluster_gather_rows(const kfe_context *ctx, double *values, int64_t rows, int64_t width)
{
    kfe_status status = KFE_OK;
    int processes = kfe_i_processes(ctx);
    int64_t *bytes = NULL;

    if (is_alone(ctx) || rows * width == 0)
        return KFE_OK;
    KFE_ALLOC(recorder(ctx), bytes, processes);
    for (int r = 0; r < processes; r++)
        bytes[r] = (kfe_i_share_begin(rows, r + 1, processes) - kfe_i_share_begin(rows, r, processes)) *
                   width * (int64_t)sizeof *values;
    KFE_TRY(kfe_i_cluster_gather(ctx, values, bytes));
cleanup:
    kfe_i_free(recorder(ctx), bytes);
    return status;
}

kfe_status kfe_i_cluster_gather_all(kfe_context *ctx, const void *own, int64_t size, char **all,
                                    int64_t *total)
{
    kfe_status status = KFE_OK;
    int processes = kfe_i_processes(ctx);
    double *sizes = NULL;
    int64_t *bytes = NULL;
    int64_t before = 0;

    *all = NULL;
    *total = 0;
    KFE_ALLOC_ZERO(ctx, sizes, processes);
    KFE_ALLOC(ctx, bytes, processes);
    sizes[kfe_i_process(ctx)] = (double)size;
    KFE_TRY(kfe_i_cluster_gather_rows(ctx, sizes, processes, 1));
    for (int r = 0; r < processes; r++) {
        bytes[r] = (int64_t)sizes[r];
        before += r < kfe_i_process(ctx) ? bytes[r] : 0;
        *total += bytes[r];
    }
    KFE_ALLOC_ZERO(ctx, *all, *total + 1);
    if (size > 0)
        memcpy(*all + before, own, (size_t)size);
    if (*total > 0)
        KFE_TRY(kfe_i_cluster_gather(ctx, *all, bytes));
cleanup:
    kfe_i_free(ctx, sizes);
    kfe_i_free(ctx, bytes);
    return status;
}

kfe_status kfe_i_cluster_broadcast(const kfe_context *ctx, int root, void *bytes, int64_t size)
{
    if (is_alone(ctx) || size == 0)
        return KFE_OK;
    return status_of_plugin(recorder(ctx),
                            ctx->cluster->table->broadcast(ctx->cluster->handle, root, bytes, size));
}

kfe_status kfe_i_cluster_least(const kfe_context *ctx, double *value)
{
    kfe_status status = KFE_OK;
    int processes = kfe_i_processes(ctx);
    double *all = NULL;

    if (is_alone(ctx))
        return KFE_OK;
    KFE_ALLOC_ZERO(recorder(ctx), all, processes);
    all[kfe_i_process(ctx)] = *value;
    KFE_TRY(kfe_i_cluster_gather_rows(ctx, all, processes, 1));
    for (int r = 0; r < processes; r++)
        *value = all[r] < *value ? all[r] : *value;
cleanup:
    kfe_i_free(recorder(ctx), all);
    return status;
}

double kfe_i_cluster_agree(const kfe_context *ctx, double value)
{
    (void)kfe_i_cluster_broadcast(ctx, 0, &value,
                                  sizeof value); /* the next collective call tells a failure */
    return value;
}

static uint64_t bits_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    return bits;
}

kfe_status kfe_i_cluster_compare(const kfe_context *ctx, uint64_t number, const char *what)
{
    kfe_status status = KFE_OK;
    int processes = kfe_i_processes(ctx);
    double *all = NULL; /* as bits */

    if (is_alone(ctx))
        return KFE_OK;
    KFE_ALLOC_ZERO(recorder(ctx), all, processes);
    memcpy(&all[kfe_i_process(ctx)], &number, sizeof number);
    KFE_TRY(kfe_i_cluster_gather_rows(ctx, all, processes, 1));
    for (int r = 1; r < processes; r++)
        if (bits_of(all[r]) != bits_of(all[0]))
            KFE_FAIL(
                recorder(ctx), KFE_EINPUT,
                "%s of process %d differs from that of process 0: every process must read the same files",
                what, r);
cleanup:
    kfe_i_free(recorder(ctx), all);
    return status;
}

/* The words of process 0 and of another process at the first place where their texts differ. */
typedef struct differing_words {
    char first[160], other[160];
} differing_words;

static const char word_ends[] = " ,()\n";

/* The word that begins at `begin`, in quotes. */
static void copy_word(const char *begin, char *out, size_t size)
{
    enum { MOST = 100 };
    size_t length = strcspn(begin, word_ends);

    if (length == 0)
        (void)snprintf(out, size, "nothing");
    else
        (void)snprintf(out, size, "'%.*s%s'", (int)(length < MOST ? length : MOST), begin,
                       length < MOST ? "" : "…");
}

/* The texts differ at position `at`. They are alike before, and so are the beginnings of the words there. */
static void name_difference(const char *first, const char *other, size_t at, differing_words *out)
{
    size_t begin = at;

    while (begin > 0 && !strchr(word_ends, first[begin - 1]))
        begin--;
    if (strcspn(first + begin, word_ends) == at - begin && strcspn(other + begin, word_ends) == at - begin)
        begin = at; /* the same word, but another one follows */
    copy_word(first + begin + strspn(first + begin, word_ends), out->first, sizeof out->first);
    copy_word(other + begin + strspn(other + begin, word_ends), out->other, sizeof out->other);
}

/* *same: whether the text of this process is that of process 0; else `words` says where they differ. */
static kfe_status compare_with_first(kfe_context *ctx, const char *text, int *same, differing_words *words)
{
    kfe_status status = KFE_OK;
    int64_t length = (int64_t)strlen(text) + 1;
    char *first = NULL;
    size_t at = 0;

    KFE_TRY(kfe_i_cluster_broadcast(ctx, 0, &length, sizeof length));
    KFE_ALLOC(ctx, first, length);
    if (kfe_i_process(ctx) == 0)
        memcpy(first, text, (size_t)length);
    KFE_TRY(kfe_i_cluster_broadcast(ctx, 0, first, length));
    *same = strcmp(first, text) == 0;
    while (!*same && first[at] == text[at])
        at++;
    if (!*same)
        name_difference(first, text, at, words);
cleanup:
    kfe_i_free(ctx, first);
    return status;
}

kfe_status kfe_i_cluster_compare_text(const kfe_context *ctx, const char *text)
{
    kfe_status status = KFE_OK;
    kfe_context *own = recorder(ctx);
    differing_words words = {{0}, {0}};
    double *differs = NULL;
    int same = 1;

    if (is_alone(ctx))
        return KFE_OK;
    KFE_TRY(compare_with_first(own, text, &same, &words));
    KFE_ALLOC_ZERO(own, differs, kfe_i_processes(ctx));
    differs[kfe_i_process(ctx)] = !same;
    KFE_TRY(kfe_i_cluster_gather_rows(ctx, differs, kfe_i_processes(ctx), 1));
    for (int r = 0; r < kfe_i_processes(ctx); r++)
        if (differs[r] > 0) {
            KFE_TRY(kfe_i_cluster_broadcast(ctx, r, &words, sizeof words));
            KFE_FAIL(own, KFE_EINVAL,
                     "process %d was given %s where process 0 was given %s: every process must make the same "
                     "calls with the same settings",
                     r, words.other, words.first);
        }
cleanup:
    kfe_i_free(own, differs);
    return status;
}

/* ---- the end ---- */

kfe_status kfe_context_agree(kfe_context *ctx, kfe_status status)
{
    kfe_cluster_end outcome = {.code = (int)status};

    if (is_alone(ctx))
        return status;
    if (ctx->cluster_failed)
        outcome.code = 0; /* this process has only heard of a failure */
    else if (status != KFE_OK)
        (void)snprintf(outcome.text, sizeof outcome.text, "%s",
                       *ctx->message ? ctx->message : kfe_status_text(status));
    ctx->cluster_failed = 0;
    kfe_cluster_status result = ctx->cluster->table->end(ctx->cluster->handle, &outcome);
    if (result != KFE_CLUSTER_OK)
        return status != KFE_OK ? status : status_of_plugin(ctx, result);
    if (outcome.code != 0)
        return kfe_i_fail(ctx, (kfe_status)outcome.code, "%s", outcome.text);
    return KFE_OK;
}
