/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sixty-four simulated processes: every process is a thread with a context of its own and runs the code that a process of MPI runs. Collective calls
 * go through a table that passes numbers through memory, counts bytes and messages as backends/mpi sends them, and delays a clock of
 * each process by them. The clock also counts the processor time of the process. So products are compared with one process, and with
 * the model of docs/cluster.md:
 *
 *     time = (time of one process)/p + 16nk/W + 2(p − 1)L,   2·8·n·k·(p − 1)/p bytes sent by each process.
 */
#include "support/support.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

#include "core/cluster.h"
#include "gram/cluster/dealt.h"
#include "support/points.h"
#include "support/tolerance.h"

enum {
    COLS = 6,
    VECTORS = 16,
    ROWS = 8192,
    PROCESSES = 64,
    REPEATS = SUPPORT_SANITIZED ? 2 : 8, /* of which the fastest counts */
    SHORT = 256                          /* as in backends/mpi/collective.c */
};
/* The assumed network of docs/cluster.md: seconds of a message, bytes per second. */
#define LATENCY 2e-6
#define BANDWIDTH 10e9

/* ---- the table ---- */

typedef struct group {
    int processes;
    pthread_barrier_t barrier;
    void *slots[PROCESSES];
    double clocks[PROCESSES];
} group;

struct kfe_cluster {
    group *group;
    int process;
    uint64_t bytes, messages;
    double clock, used; /* simulated seconds; processor seconds that are in it */
};

static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wait_for_all(const kfe_cluster *c)
{
    pthread_barrier_wait(&c->group->barrier);
}

/* Shows this process's numbers and clock to the others. */
static void show(kfe_cluster *c, void *values)
{
    c->clock += processor_seconds() - c->used;
    c->group->slots[c->process] = values;
    c->group->clocks[c->process] = c->clock;
    wait_for_all(c);
}

/* All processes go on together, after the last one has arrived and the messages have. What the simulation itself takes does not count. */
static void go_on(kfe_cluster *c, double bytes, int messages)
{
    double latest = 0;

    for (int r = 0; r < c->group->processes; r++)
        latest = fmax(latest, c->group->clocks[r]);
    wait_for_all(c);
    c->bytes += (uint64_t)bytes;
    c->messages += (uint64_t)messages;
    c->clock = latest + messages * LATENCY + bytes / BANDWIDTH;
    c->used = processor_seconds();
}

static kfe_cluster_status sum(kfe_cluster *c, double *values, int64_t count)
{
    int p = c->group->processes;
    double *total = calloc((size_t)count, sizeof *total);

    if (!total)
        return KFE_CLUSTER_NO_MEMORY;
    show(c, values);
    for (int r = 0; r < p; r++)
        for (int64_t i = 0; i < count; i++)
            total[i] += ((const double *)c->group->slots[r])[i];
    wait_for_all(c);
    memcpy(values, total, (size_t)count * sizeof *total);
    free(total);
    if (count < SHORT)
        go_on(c, 8.0 * (double)count * (p - 1), p - 1);
    else
        go_on(c, 16.0 * (double)count * (p - 1) / p, 2 * (p - 1));
    return KFE_CLUSTER_OK;
}

static kfe_cluster_status gather(kfe_cluster *c, void *values, const int64_t *bytes)
{
    int64_t before = 0;

    show(c, values);
    for (int r = 0; r < c->group->processes; r++) {
        if (r != c->process)
            memcpy((char *)values + before, (const char *)c->group->slots[r] + before, (size_t)bytes[r]);
        before += bytes[r];
    }
    wait_for_all(c);
    go_on(c, (double)bytes[c->process] * (c->group->processes - 1), c->group->processes - 1);
    return KFE_CLUSTER_OK;
}

static kfe_cluster_status broadcast(kfe_cluster *c, int root, void *bytes, int64_t size)
{
    show(c, bytes);
    if (c->process != root)
        memcpy(bytes, c->group->slots[root], (size_t)size);
    wait_for_all(c);
    go_on(c, c->process == root ? (double)size * (c->group->processes - 1) : 0, 1);
    return KFE_CLUSTER_OK;
}

static const char *message(const kfe_cluster *c)
{
    (void)c;
    return "";
}

static const kfe_cluster_table table = {.abi = KFE_CLUSTER_ABI,
                                        .size = sizeof(kfe_cluster_table),
                                        .message = message,
                                        .broadcast = broadcast,
                                        .sum = sum,
                                        .gather = gather};

/* ---- processes ---- */

typedef struct rank_run {
    kfe_cluster place;
    const kfe_i_table *points;
    const double *vectors;
    double *out;
    double keeping,
        product; /* simulated seconds; the least of all repeats, which other programs disturb least */
    kfe_status status;
} rank_run;

static double now_of(kfe_cluster *c)
{
    double used = processor_seconds();

    c->clock += used - c->used;
    c->used = used;
    return c->clock;
}

static kfe_status multiply(kfe_context *ctx, rank_run *run)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;
    kfe_i_kernel kernel;
    kfe_i_gram *gram = NULL;
    kfe_i_gram *kept = NULL;

    kfe_i_kernel_list_init(ctx, &kernels);
    KFE_TRY(kfe_i_kernel_parse(ctx, "rbf:gamma=0.3", &kernel));
    KFE_TRY(kfe_i_kernel_list_add(&kernels, &kernel));
    KFE_TRY(kfe_i_gram_open(ctx, &kernels, run->points, KFE_GRAM_AUTO, &gram));
    run->keeping = run->product = HUGE_VAL;
    for (int i = 0; i < REPEATS; i++) {
        kfe_i_gram_free(kept);
        kept = NULL;
        double start = now_of(&run->place);
        KFE_TRY(kfe_i_dealt_keep(gram, 1, run->points->rows, &kept));
        run->keeping = fmin(run->keeping, now_of(&run->place) - start);
    }
    for (int i = 0; i < REPEATS; i++) { /* the first one touches its memory for the first time */
        run->place.bytes = run->place.messages = 0;
        double start = now_of(&run->place);
        KFE_TRY(kfe_i_gram_times(kept, run->vectors, VECTORS, run->out));
        run->product = fmin(run->product, now_of(&run->place) - start);
    }
cleanup:
    kfe_i_gram_free(kept);
    kfe_i_gram_free(gram);
    kfe_i_kernel_list_free(&kernels);
    return status;
}

static void *run_rank(void *user)
{
    rank_run *run = user;
    kfe_context *ctx = NULL;
    kfe_i_cluster cluster = {.table = &table, .handle = &run->place};

    cluster.info =
        (kfe_cluster_info){.process = run->place.process, .processes = run->place.group->processes};
    run->status = kfe_context_new(&ctx);
    if (run->status != KFE_OK)
        return NULL;
    (void)kfe_context_set_threads(ctx, 1);
    run->place.used = processor_seconds();
    ctx->cluster = &cluster;
    run->status = multiply(ctx, run);
    ctx->cluster = NULL;
    kfe_context_free(ctx);
    return NULL;
}

/* The slowest process's seconds and the mean bytes of a product by so many processes; `out` receives that of process 0. */
typedef struct measured {
    double keeping, product, bytes, messages;
} measured;

static measured simulate(int processes, const kfe_i_table *points, const double *vectors, double *out)
{
    group g = {.processes = processes};
    rank_run runs[PROCESSES] = {0};
    pthread_t threads[PROCESSES];
    double *others = malloc((size_t)(ROWS * VECTORS) * sizeof *others * (size_t)processes);
    measured m = {0};

    assert_non_null(others);
    pthread_barrier_init(&g.barrier, NULL, (unsigned)processes);
    for (int r = 0; r < processes; r++) {
        runs[r] = (rank_run){.place = {.group = &g, .process = r}, .points = points, .vectors = vectors};
        runs[r].out = r == 0 ? out : others + (int64_t)r * ROWS * VECTORS;
        assert_int_equal(pthread_create(&threads[r], NULL, run_rank, &runs[r]), 0);
    }
    for (int r = 0; r < processes; r++) {
        pthread_join(threads[r], NULL);
        assert_int_equal(runs[r].status, KFE_OK);
        if (r > 0)
            assert_memory_equal(out, runs[r].out, sizeof *out * ROWS * VECTORS);
        m.keeping = fmax(m.keeping, runs[r].keeping);
        m.product = fmax(m.product, runs[r].product);
        m.bytes += (double)runs[r].place.bytes / processes;
        m.messages += (double)runs[r].place.messages / processes;
    }
    pthread_barrier_destroy(&g.barrier);
    free(others);
    return m;
}

static void test_ranks_follow_the_model(void **state)
{
    support_points points;
    double *vectors = support_random(3, ROWS * VECTORS);
    double *one = malloc((size_t)(ROWS * VECTORS) * sizeof *one);
    double *all = malloc((size_t)(ROWS * VECTORS) * sizeof *all);
    /* two simulated processes stand for the speed of a process: with one there is nothing to divide, and another form is used */
    measured base = {0};

    (void)state;
    support_points_make(&points, 5, ROWS, COLS, 0);
    kfe_i_table plain = support_points_table(&points, 0);
    for (int processes = 2; processes <= PROCESSES; processes = processes == 2 ? 8 : processes * 8) {
        double p = processes;
        measured m = simulate(processes, &plain, vectors, processes == 2 ? one : all);
        double formula = 16.0 * ROWS * VECTORS * (p - 1) / p;
        double network = formula / BANDWIDTH + 2 * (p - 1) * LATENCY;
        if (processes == 2)
            base = m;
        double computing = (base.product - 16.0 * ROWS * VECTORS / 2 / BANDWIDTH) * 2 / p;
        print_message(
            "%d processes: kept in %.4f s (model %.4f), product in %.5f s (model %.5f), %.0f bytes, %.0f "
            "messages\n",
            processes, m.keeping, base.keeping * 2 / p, m.product, computing + network, m.bytes, m.messages);
        assert_true(m.bytes >= 0.9 * formula && m.bytes <= 1.1 * formula);
        assert_true(m.messages == 2 * (p - 1));
        assert_true(m.product >= network);
        /* threads share caches and cores with other programs: twice the model, and the cost of small parts */
        assert_true(m.product <= 2 * (computing + network) + 5e-3);
        assert_true(m.keeping <= 2 * (base.keeping * 2 / p) + 5e-3);
        for (int64_t i = 0; processes > 2 && i < (int64_t)ROWS * VECTORS; i++)
            if (!(fabs(all[i] - one[i]) <= tolerance_sum(ROWS, 2.0 * ROWS)))
                fail_msg("number %lld: %.17g by %d processes, %.17g by two", (long long)i, all[i], processes,
                         one[i]);
    }
    free(vectors);
    free(one);
    free(all);
    support_points_free(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks_follow_the_model)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
