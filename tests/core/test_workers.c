/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks shared among threads: each runs once, one failure is reported, logs are merged, and only one thread
 * at a time calls the user's hooks. */
#include "support/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "core/memory.h"
#include "core/workers.h"

enum { TASKS = 40, THREADS = 4 };

static void wait_microseconds(int64_t count)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * count}, NULL);
}

static void pause_briefly(void)
{
    wait_microseconds(500);
}

/* ---- every task once ---- */

typedef struct tally {
    atomic_int runs[TASKS];
    int threads_seen[TASKS];
    int64_t memory_seen[TASKS];
    uint64_t seed_seen[TASKS];
    atomic_int strangers; /* tasks that did not run on the calling thread */
    pthread_t caller;
} tally;

static kfe_status count_task(kfe_context *worker, void *job, int64_t task)
{
    tally *t = job;

    atomic_fetch_add(&t->runs[task], 1);
    t->threads_seen[task] = kfe_context_threads(worker);
    t->memory_seen[task] = kfe_context_memory(worker);
    t->seed_seen[task] = kfe_context_seed(worker);
    if (!pthread_equal(pthread_self(), t->caller))
        atomic_fetch_add(&t->strangers, 1);
    pause_briefly();
    return KFE_OK;
}

static void test_every_task_runs_once(void **state)
{
    static const int64_t counts[] = {0, 1, 2, THREADS, TASKS};
    kfe_context *ctx = *state;

    for (int threads = 1; threads <= THREADS; threads++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            tally t = {.caller = pthread_self()};
            assert_ok(ctx, kfe_i_workers_run(ctx, "counting", threads, counts[c], count_task, &t));
            for (int64_t i = 0; i < TASKS; i++)
                assert_int_equal(atomic_load(&t.runs[i]), i < counts[c]);
            if (threads == 1 || counts[c] < 2)
                assert_int_equal(atomic_load(&t.strangers), 0);
        }
}

static void test_workers_share_the_limits(void **state)
{
    kfe_context *ctx = *state;
    tally t = {.caller = pthread_self()};

    kfe_context_set_seed(ctx, 77);
    assert_ok(ctx, kfe_context_set_memory(ctx, 4000000));
    assert_ok(ctx, kfe_i_workers_run(ctx, "counting", THREADS, TASKS, count_task, &t));
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(t.threads_seen[i], 1);
        assert_int_equal(t.memory_seen[i], 4000000 / THREADS);
        assert_int_equal(t.seed_seen[i], 77);
    }
}

/* ---- failures ---- */

typedef struct failing {
    int64_t slow, quick; /* the tasks that fail: `quick` at once, `slow` after it */
    atomic_int quick_failed;
    atomic_int begun_after;
} failing;

static kfe_status fail_task(kfe_context *worker, void *job, int64_t task)
{
    failing *f = job;

    if (atomic_load(&f->quick_failed)) {
        atomic_fetch_add(&f->begun_after, 1);
        /* the failing thread may have been suspended before its failure was recorded */
        wait_microseconds(20000);
    }
    if (task == f->quick) {
        kfe_status status = kfe_i_fail_at(worker, KFE_EINPUT, "file", 3, 4, "the quick one");
        atomic_store(&f->quick_failed, 1);
        return status;
    }
    if (task == f->slow) {
        for (int i = 0; i < 20000 && !atomic_load(&f->quick_failed); i++)
            pause_briefly();
        wait_microseconds(5000);
        return kfe_i_fail(worker, KFE_ENUMERIC, "the slow one");
    }
    pause_briefly();
    return KFE_OK;
}

static void test_lowest_failure_wins(void **state)
{
    kfe_context *ctx = *state;
    failing f = {.slow = 0, .quick = 1};

    assert_fails(ctx, KFE_ENUMERIC, "the slow one",
                 kfe_i_workers_run(ctx, "failing", 2, TASKS, fail_task, &f));
    assert_int_equal(kfe_error_line(ctx), 0);
    assert_true(atomic_load(&f.begun_after) < 10);
}

static void test_place_of_a_failure_is_kept(void **state)
{
    kfe_context *ctx = *state;

    for (int threads = 1; threads <= 2; threads++) {
        failing f = {.slow = -1, .quick = 5};
        assert_fails(ctx, KFE_EINPUT, "the quick one",
                     kfe_i_workers_run(ctx, "failing", threads, TASKS, fail_task, &f));
        assert_int_equal(kfe_error_line(ctx), 3);
        assert_int_equal(kfe_error_column(ctx), 4);
        assert_true(atomic_load(&f.begun_after) < 10);
    }
}

/* A task that ends because another one failed is not reported as the cause. */
static kfe_status wait_for_stop(kfe_context *worker, void *job, int64_t task)
{
    failing *f = job;

    if (task == f->quick)
        return fail_task(worker, job, task);
    for (int i = 0; i < 10000; i++) {
        kfe_status status = kfe_i_progress(worker, "waiting", 0, 0);
        if (status != KFE_OK)
            return status;
        pause_briefly();
    }
    return KFE_OK;
}

static void test_failure_stops_the_others_and_is_reported(void **state)
{
    kfe_context *ctx = *state;
    failing f = {.slow = -1, .quick = 1};

    assert_fails(ctx, KFE_EINPUT, "the quick one",
                 kfe_i_workers_run(ctx, "failing", 2, 2, wait_for_stop, &f));
}

/* ---- logs ---- */

static kfe_status log_task(kfe_context *worker, void *job, int64_t task)
{
    (void)job;
    wait_microseconds(300 * ((task * 7) % 5)); /* makes tasks end in another order */
    kfe_i_log(worker, KFE_LOG_WARNING, "line of %lld", (long long)task);
    kfe_i_log(worker, KFE_LOG_INFO, "second line of %lld", (long long)task);
    kfe_i_log(worker, KFE_LOG_WARNING, "the same from all");
    return KFE_OK;
}

static void test_log_comes_in_the_order_of_tasks(void **state)
{
    kfe_context *ctx = *state;
    char expected[TASKS * 64] = "";

    for (int i = 0; i < TASKS; i++) {
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "line of %d\nsecond line of %d\n%s", i, i,
                 i == 0 ? "the same from all\n" : "");
    }
    support_catch_log(ctx);
    assert_ok(ctx, kfe_i_workers_run(ctx, "logging", THREADS, TASKS, log_task, NULL));
    assert_string_equal(support_log(), expected);
}

/* ---- stopping ---- */

typedef struct watcher {
    pthread_t caller;
    atomic_int asked, wrong_thread;
    int stop_at; /* 0: never */
    atomic_int done;
} watcher;

static int ask(void *user)
{
    watcher *w = user;

    if (!pthread_equal(pthread_self(), w->caller))
        atomic_fetch_add(&w->wrong_thread, 1);
    return atomic_fetch_add(&w->asked, 1) + 1 >= w->stop_at && w->stop_at > 0;
}

static void show(void *user, const char *stage, int64_t done, int64_t total)
{
    watcher *w = user;

    if (!pthread_equal(pthread_self(), w->caller) || done < 1 || done > total || strcmp(stage, "watching"))
        atomic_fetch_add(&w->wrong_thread, 1);
}

static kfe_status watched_task(kfe_context *worker, void *job, int64_t task)
{
    watcher *w = job;
    kfe_status status = kfe_i_progress(worker, "inside", 0, 0);

    (void)task;
    pause_briefly();
    atomic_fetch_add(&w->done, 1);
    return status;
}

static void test_user_is_asked_on_the_calling_thread_only(void **state)
{
    kfe_context *ctx = *state;
    watcher w = {.caller = pthread_self()};

    kfe_context_on_cancel(ctx, ask, &w);
    kfe_context_on_progress(ctx, show, &w);
    assert_ok(ctx, kfe_i_workers_run(ctx, "watching", THREADS, TASKS, watched_task, &w));
    assert_true(atomic_load(&w.asked) > 0);
    assert_int_equal(atomic_load(&w.wrong_thread), 0);
}

static void test_cancelling_stops(void **state)
{
    kfe_context *ctx = *state;

    for (int threads = 1; threads <= THREADS; threads++) {
        watcher w = {.caller = pthread_self(), .stop_at = 3};
        kfe_context_on_cancel(ctx, ask, &w);
        assert_int_equal(kfe_i_workers_run(ctx, "watching", threads, TASKS, watched_task, &w), KFE_ECANCEL);
        assert_true(atomic_load(&w.done) < TASKS);
    }
}

/* ---- memory ---- */

/* An allocator that detects two threads inside it at once. */
typedef struct guarded {
    support_allocator inner;
    atomic_int inside, clashes;
} guarded;

static void *guarded_reallocate(void *user, void *block, size_t size)
{
    guarded *g = user;

    if (atomic_fetch_add(&g->inside, 1) != 0)
        atomic_fetch_add(&g->clashes, 1);
    wait_microseconds(20);
    void *result = support_reallocate(&g->inner, block, size);
    atomic_fetch_sub(&g->inside, 1);
    return result;
}

static kfe_status allocate_task(kfe_context *worker, void *job, int64_t task)
{
    kfe_status status = KFE_OK;
    int64_t **kept = job;
    char *scratch = NULL;

    KFE_ALLOC(worker, scratch, 100);
    KFE_ALLOC(worker, kept[task], 4);
    kept[task][3] = task;
    kfe_i_log(worker, KFE_LOG_INFO, "task %lld", (long long)task);
cleanup:
    kfe_i_free(worker, scratch);
    return status;
}

static void ignore_line(void *user, kfe_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

/* The parent frees blocks that tasks allocated. */
static kfe_status run_allocating(guarded *g, int threads)
{
    kfe_context *ctx = NULL;
    int64_t *kept[TASKS] = {0};
    kfe_status status = kfe_context_new_with(guarded_reallocate, g, &ctx);

    if (status != KFE_OK)
        return status;
    kfe_context_on_log(ctx, ignore_line, NULL);
    status = kfe_i_workers_run(ctx, "allocating", threads, TASKS, allocate_task, kept);
    for (int64_t i = 0; i < TASKS; i++) {
        if (status == KFE_OK)
            assert_int_equal(kept[i][3], i);
        kfe_i_free(ctx, kept[i]);
    }
    kfe_context_free(ctx);
    return status;
}

static void test_one_thread_allocates_at_a_time(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; threads += 3) {
        guarded g = {0};
        assert_int_equal(run_allocating(&g, threads), KFE_OK);
        assert_true(g.inner.calls >= 2 * TASKS);
        assert_int_equal(g.inner.live, 0);
        assert_int_equal(atomic_load(&g.clashes), 0);
    }
}

static void test_allocations_that_fail(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        guarded counting = {0};
        assert_int_equal(run_allocating(&counting, threads), KFE_OK);
        for (int64_t k = 1; k <= counting.inner.calls; k++) {
            guarded g = {.inner = {.fail_at = k}};
            kfe_status status = run_allocating(&g, threads);
            /* the k-th allocation, and the number of allocations, vary with the threads */
            if ((status != KFE_ENOMEM && g.inner.calls >= k) || g.inner.live != 0 || atomic_load(&g.clashes))
                fail_msg("%d threads, allocation %lld fails: %s, %lld blocks not freed", threads,
                         (long long)k, kfe_status_text(status), (long long)g.inner.live);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_every_task_runs_once),
        with_context(test_workers_share_the_limits),
        with_context(test_lowest_failure_wins),
        with_context(test_place_of_a_failure_is_kept),
        with_context(test_failure_stops_the_others_and_is_reported),
        with_context(test_log_comes_in_the_order_of_tasks),
        with_context(test_user_is_asked_on_the_calling_thread_only),
        with_context(test_cancelling_stops),
        cmocka_unit_test(test_one_thread_allocates_at_a_time),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
