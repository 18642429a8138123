/* SPDX-License-Identifier: Apache-2.0 */
/* Runs independent tasks on several threads, each with its own context; the search over settings uses it. */
#include "core/workers.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"

typedef struct log_line {
    int64_t task, number; /* the first task that said it, and how many lines that had said before */
    kfe_level level;
    char *text;
} log_line;

/* What the threads share. The fields below `lock` are used only while holding it. */
typedef struct crew {
    kfe_context *parent;
    const char *stage;
    kfe_i_task_fn run;
    void *job;
    int64_t count;
    atomic_int stop;
    atomic_llong done;
    omp_lock_t lock;
    int64_t failed_task;
    kfe_status status;
    kfe_context *failure; /* a context that keeps the message of the failure */
    log_line *lines;
    int64_t line_count, line_capacity;
    int line_lost; /* for lack of memory */
} crew;

typedef struct worker {
    kfe_context ctx;
    crew *crew;
    int64_t task, lines;
    int64_t left_behind; /* bytes that its tasks leave for the parent to free */
} worker;

/* Calls the user's allocation hook from one thread at a time. */
static void *locked_reallocate(void *user, void *block, size_t size)
{
    crew *c = user;
    void *result;

    omp_set_lock(&c->lock);
    result = c->parent->reallocate(c->parent->reallocate_user, block, size);
    omp_unset_lock(&c->lock);
    return result;
}

static int comes_before(const log_line *a, const log_line *b)
{
    return a->task < b->task || (a->task == b->task && a->number < b->number);
}

static void keep_line(void *user, kfe_level level, const char *text)
{
    kfe_status status = KFE_OK;
    worker *w = user;
    crew *c = w->crew;
    char *copy = NULL;
    log_line line = {.task = w->task, .number = w->lines++, .level = level};

    omp_set_lock(&c->lock);
    for (int64_t i = 0; i < c->line_count; i++)
        if (c->lines[i].level == level && strcmp(c->lines[i].text, text) == 0) {
            line.text = c->lines[i].text;
            if (comes_before(&line, &c->lines[i]))
                c->lines[i] = line;
            goto cleanup;
        }
    KFE_STRDUP(c->parent, copy, text);
    KFE_GROW(c->parent, c->lines, c->line_capacity, c->line_count + 1);
    line.text = copy;
    c->lines[c->line_count++] = line;
    copy = NULL;
cleanup:
    kfe_i_free(c->parent, copy);
    c->line_lost |= status != KFE_OK;
    omp_unset_lock(&c->lock);
}

/* Thread 0 called the library; only it may call the cancel callback. */
static int must_stop(void *user)
{
    crew *c = user;

    if (omp_get_thread_num() == 0 && c->parent->cancel && c->parent->cancel(c->parent->cancel_user))
        atomic_store(&c->stop, 1);
    return atomic_load(&c->stop);
}

static void begin_worker(crew *c, int threads, worker *w)
{
    memset(w, 0, sizeof *w);
    w->crew = c;
    w->ctx.reallocate = locked_reallocate;
    w->ctx.reallocate_user = c;
    w->ctx.threads = 1;
    w->ctx.seed = c->parent->seed;
    w->ctx.wording = c->parent->wording;
    w->ctx.memory = kfe_i_memory_left(c->parent) / threads;
    w->ctx.soft_limit = c->parent->memory == 0 || c->parent->soft_limit;
    w->ctx.log = c->parent->log ? keep_line : NULL;
    w->ctx.log_user = w;
    w->ctx.search = c->parent->search;
    strcpy(w->ctx.device_name, "cpu"); /* a device is used by one thread at a time */
    w->ctx.cancel = must_stop;
    w->ctx.cancel_user = c;
}

static void note_failure(crew *c, const worker *w, kfe_status status)
{
    atomic_store(&c->stop, 1);
    omp_set_lock(&c->lock);
    /* after a failure the other tasks end with KFE_ECANCEL, which is not the cause */
    int better = c->status == KFE_OK || (c->status == KFE_ECANCEL && status != KFE_ECANCEL) ||
                 (status != KFE_ECANCEL && w->task < c->failed_task);
    if (better) {
        c->status = status;
        c->failed_task = w->task;
        memcpy(c->failure->message, w->ctx.message, sizeof w->ctx.message);
        c->failure->error_line = w->ctx.error_line;
        c->failure->error_column = w->ctx.error_column;
    }
    omp_unset_lock(&c->lock);
}

static void do_task(crew *c, worker *w, int64_t task)
{
    kfe_status status;

    if (must_stop(c))
        return;
    w->task = task;
    w->lines = 0;
    w->ctx.in_use = 0; /* whatever ran on this thread before: decisions must not depend on it */
    status = c->run(&w->ctx, c->job, task);
    w->left_behind += w->ctx.in_use;
    if (status != KFE_OK)
        note_failure(c, w, status);
    int64_t done = atomic_fetch_add(&c->done, 1) + 1;
    if (omp_get_thread_num() == 0 && c->parent->progress)
        c->parent->progress(c->parent->progress_user, c->stage, done, c->count);
}

/* Insertion sort: there are few lines. */
static void pass_on_lines(crew *c)
{
    for (int64_t i = 1; i < c->line_count; i++)
        for (int64_t j = i; j > 0 && comes_before(&c->lines[j], &c->lines[j - 1]); j--) {
            log_line swap = c->lines[j];
            c->lines[j] = c->lines[j - 1];
            c->lines[j - 1] = swap;
        }
    for (int64_t i = 0; i < c->line_count; i++) {
        kfe_i_log(c->parent, c->lines[i].level, "%s", c->lines[i].text);
        kfe_i_free(c->parent, c->lines[i].text);
    }
    kfe_i_free(c->parent, c->lines);
}

static kfe_status run_parallel(crew *c, int threads)
{
    kfe_status status = KFE_OK;
    worker *workers = NULL;

    KFE_ALLOC(c->parent, workers, threads);
    KFE_ALLOC_ZERO(c->parent, c->failure, 1);
    for (int t = 0; t < threads; t++)
        begin_worker(c, threads, &workers[t]);
    omp_init_lock(&c->lock);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t task = 0; task < c->count; task++)
        do_task(c, &workers[omp_get_thread_num()], task);
    omp_destroy_lock(&c->lock);
    for (int t = 0; t < threads; t++)
        c->parent->in_use += workers[t].left_behind;
    pass_on_lines(c);
    status = c->status;
    if (status == KFE_OK && c->line_lost)
        status = kfe_i_fail(c->parent, KFE_ENOMEM, "out of memory for a warning while %s", c->stage);
    else if (status == KFE_OK && atomic_load(&c->stop))
        status = kfe_i_fail(c->parent, KFE_ECANCEL, "cancelled while %s", c->stage);
    else if (status != KFE_OK) {
        memcpy(c->parent->message, c->failure->message, sizeof c->parent->message);
        c->parent->error_line = c->failure->error_line;
        c->parent->error_column = c->failure->error_column;
    }
cleanup:
    kfe_i_free(c->parent, workers);
    kfe_i_free(c->parent, c->failure);
    return status;
}

kfe_status kfe_i_workers_run(kfe_context *ctx, const char *stage, int threads, int64_t count,
                             kfe_i_task_fn run, void *job)
{
    kfe_status status = KFE_OK;
    crew c = {.parent = ctx, .stage = stage, .run = run, .job = job, .count = count};

    assert(count >= 0);
    if (threads > 1 && count > 1)
        return run_parallel(&c, count < threads ? (int)count : threads);
    for (int64_t task = 0; task < count; task++) {
        KFE_TRY(run(ctx, job, task));
        KFE_TRY(kfe_i_progress(ctx, stage, task + 1, count));
    }
cleanup:
    return status;
}
