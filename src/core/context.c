/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: settings, callbacks, messages, memory limit, threads and processes. Every public call receives one. */
#include "core/context.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster.h"
#include "core/environment.h"
#include "core/memory.h"
#include "core/resume.h"
#include "core/search.h"
#include "core/text.h"
#include "core/utf8.h"
#include "core/wording.h"
#include "system/system.h"

#define KFE_DEFAULT_MEMORY_SHARE 0.7
#define SECONDS_BETWEEN_READINGS 0.1
#define MOST_NEW_BYTES (1 << 24)

const char *kfe_version(void)
{
    return KFE_VERSION;
}

const char *kfe_status_text(kfe_status status)
{
#define KFE_STATUS_TEXT_ROW(code, text) text,
    static const char *const texts[] = {KFE_STATUS_LIST(KFE_STATUS_TEXT_ROW)};
#undef KFE_STATUS_TEXT_ROW
    return (unsigned)status < KFE_STATUS_COUNT ? texts[status] : "unknown status";
}

/* Blocks from this size on ask for large pages: touching gigabytes in pages of 4 kB takes as long as filling them. */
#define HUGE_BLOCK ((size_t)64 << 20)

static void *standard_reallocate(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    void *resized = realloc(block, size);
    if (resized && size >= HUGE_BLOCK)
        kfe_i_ask_for_large_pages(resized, size);
    return resized;
}

kfe_status kfe_context_new(kfe_context **out)
{
    return kfe_context_new_with(NULL, NULL, out);
}

kfe_status kfe_context_new_with(kfe_reallocate_fn reallocate, void *user, kfe_context **out)
{
    kfe_reallocate_fn allocator = reallocate ? reallocate : standard_reallocate;

    if (!out)
        return KFE_EINVAL;
    *out = NULL;
    kfe_context *ctx = allocator(user, NULL, sizeof *ctx);
    if (!ctx)
        return KFE_ENOMEM;
    memset(ctx, 0, sizeof *ctx);
    ctx->reallocate = allocator;
    ctx->reallocate_user = user;
    *out = ctx;
    return KFE_OK;
}

void kfe_context_free(kfe_context *ctx)
{
    if (!ctx)
        return;
    if (ctx->device_close)
        ctx->device_close(ctx);
    if (ctx->cluster_leave)
        ctx->cluster_leave(ctx);
    if (ctx->resume)
        kfe_i_resume_free(ctx);
    kfe_i_free(ctx, ctx->scratch);
    ctx->reallocate(ctx->reallocate_user, ctx, 0);
}

kfe_status kfe_context_set_threads(kfe_context *ctx, int threads)
{
    if (threads < 0 || threads > 4096)
        return kfe_i_fail(ctx, KFE_EINVAL, "threads must be between 0 and 4096, not %d", threads);
    ctx->threads = threads;
    return KFE_OK;
}

/* In a forked child the threads of OpenMP's pool do not exist, although its runtime believes that they do: it would wait
 * forever for work that it gives to them. */
int kfe_context_threads(const kfe_context *ctx)
{
    if (kfe_i_is_forked())
        return 1;
    int threads = ctx->threads > 0 ? ctx->threads : omp_get_max_threads();
    int limit = omp_get_max_active_levels() > 0 ? omp_get_thread_limit() : 1;

    return threads < limit ? threads : limit;
}

int kfe_i_threads_for(const kfe_context *ctx, int64_t numbers)
{
    enum { SMALL = 1 << 18 };

    return numbers < SMALL ? 1 : kfe_context_threads(ctx);
}

void kfe_context_set_seed(kfe_context *ctx, uint64_t seed)
{
    ctx->seed = seed;
}

uint64_t kfe_context_seed(const kfe_context *ctx)
{
    return ctx->seed;
}

kfe_status kfe_context_set_memory(kfe_context *ctx, int64_t bytes)
{
    if (bytes < 0)
        return kfe_i_fail(ctx, KFE_EINVAL, "the memory limit must not be negative");
    ctx->memory = bytes;
    ctx->soft_limit = 0;
    return KFE_OK;
}

kfe_status kfe_context_set_wording(kfe_context *ctx, kfe_wording wording)
{
    if ((unsigned)wording >= KFE_WORDING_COUNT)
        return kfe_i_fail(ctx, KFE_EINVAL, "there is no wording number %d", (int)wording);
    ctx->wording = wording;
    return KFE_OK;
}

/* Reading takes a tenth of a millisecond, and a fit of few examples asks for it many times. So the last reading counts for
 * a tenth of a second, unless the bytes in use have changed by 16 MB. */
static int64_t available_lately(kfe_i_memory_reading *reading, int64_t in_use)
{
    double now = kfe_i_clock();

    if (reading->when == 0 || now - reading->when > SECONDS_BETWEEN_READINGS ||
        llabs(in_use - reading->in_use) > MOST_NEW_BYTES)
        *reading =
            (kfe_i_memory_reading){.when = now, .available = kfe_i_available_memory(""), .in_use = in_use};
    return reading->available;
}

int64_t kfe_context_memory(const kfe_context *ctx)
{
    if (ctx->memory > 0)
        return ctx->memory;
    kfe_i_memory_reading *reading = (kfe_i_memory_reading *)&ctx->reading; /* no context is a const object */
    return (int64_t)(KFE_DEFAULT_MEMORY_SHARE * (double)available_lately(reading, ctx->in_use));
}

int64_t kfe_i_memory_left(const kfe_context *ctx)
{
    int64_t limit = kfe_context_memory(ctx); /* by default, a share of what is free now */
    int64_t counted =
        ctx->memory > 0 && ctx->in_use > KFE_MEMORY_UNCOUNTED ? ctx->in_use - KFE_MEMORY_UNCOUNTED : 0;

    return counted < limit ? limit - counted : 0;
}

const char *kfe_i_device_wanted(const kfe_context *ctx)
{
    const char *environment = getenv("KFE_DEVICE");

    if (ctx->device_name[0])
        return ctx->device_name;
    return environment && *environment ? environment : "cpu";
}

/* Kernel values from which `auto` uses a device: fewer are computed in a tenth of a second by the CPU. */
#define KFE_WORTH_A_DEVICE 1e8

int kfe_i_wants_device(const kfe_context *ctx, double work)
{
    const char *wanted = kfe_i_device_wanted(ctx);

    return strcmp(wanted, "cpu") != 0 && (strcmp(wanted, "auto") != 0 || work >= KFE_WORTH_A_DEVICE);
}

void kfe_context_on_log(kfe_context *ctx, kfe_log_fn log, void *user)
{
    ctx->log = log;
    ctx->log_user = user;
}

void kfe_context_on_progress(kfe_context *ctx, kfe_progress_fn progress, void *user)
{
    ctx->progress = progress;
    ctx->progress_user = user;
}

void kfe_context_on_cancel(kfe_context *ctx, kfe_cancel_fn cancel, void *user)
{
    ctx->cancel = cancel;
    ctx->cancel_user = user;
}

const char *kfe_error_message(const kfe_context *ctx)
{
    return ctx->message;
}

int64_t kfe_error_line(const kfe_context *ctx)
{
    return ctx->error_line;
}

int64_t kfe_error_column(const kfe_context *ctx)
{
    return ctx->error_column;
}

kfe_status kfe_i_fail(kfe_context *ctx, kfe_status code, const char *format, ...)
{
    char worded[KFE_WORDING_TEXT];
    va_list arguments;

    ctx->error_line = ctx->error_column = 0;
    kfe_i_word_format(ctx, format, worded);
    va_start(arguments, format);
    kfe_i_vsnprintf(ctx->message, sizeof ctx->message, worded, arguments);
    va_end(arguments);
    kfe_i_escape_in_place(ctx->message, sizeof ctx->message);
    return code;
}

kfe_status kfe_i_check_owner(kfe_context *ctx, const kfe_context *owner, const char *object)
{
    return ctx == owner
               ? KFE_OK
               : kfe_i_fail(ctx, KFE_EINVAL, "the %s was made with another context; use that one", object);
}

kfe_status kfe_i_fail_at(kfe_context *ctx, kfe_status code, const char *file, int64_t line, int64_t column,
                         const char *format, ...)
{
    char place[768];
    char reason[1024];
    char worded[KFE_WORDING_TEXT];
    va_list arguments;

    if (line > 0 && column > 0)
        snprintf(place, sizeof place, "%s:%lld:%lld", file, (long long)line, (long long)column);
    else if (line > 0)
        snprintf(place, sizeof place, "%s:%lld", file, (long long)line);
    else
        snprintf(place, sizeof place, "%s", file);
    kfe_i_word_format(ctx, format, worded);
    va_start(arguments, format);
    kfe_i_vsnprintf(reason, sizeof reason, worded, arguments);
    va_end(arguments);
    kfe_i_fail(ctx, code, "%s: %s", place, reason);
    ctx->error_line = line;
    ctx->error_column = column;
    return code;
}

kfe_status kfe_i_fail_prefix(kfe_context *ctx, kfe_status code, const char *prefix)
{
    char reason[sizeof ctx->message];
    int64_t line = ctx->error_line;
    int64_t column = ctx->error_column;

    snprintf(reason, sizeof reason, "%s", ctx->message);
    kfe_i_fail(ctx, code, "%s: %s", prefix, reason);
    ctx->error_line = line;
    ctx->error_column = column;
    return code;
}

void kfe_i_log(kfe_context *ctx, kfe_level level, const char *format, ...)
{
    char text[1024];
    char worded[KFE_WORDING_TEXT];
    va_list arguments;

    if (!ctx->log)
        return;
    if (strchr(format, '{'))
        kfe_i_word_format(ctx, format, worded);
    va_start(arguments, format);
    kfe_i_vsnprintf(text, sizeof text, strchr(format, '{') ? worded : format, arguments);
    va_end(arguments);
    kfe_i_escape_in_place(text, sizeof text);
    if (ctx->search && level == KFE_LOG_WARNING)
        kfe_i_search_warn(ctx, format, text);
    else
        ctx->log(ctx->log_user, level, text);
}

kfe_status kfe_i_progress(kfe_context *ctx, const char *stage, int64_t done, int64_t total)
{
    if (ctx->progress)
        ctx->progress(ctx->progress_user, stage, done, total);
    if (ctx->cancel && ctx->cancel(ctx->cancel_user))
        return kfe_i_fail(ctx, KFE_ECANCEL, "cancelled while %s", stage);
    return KFE_OK;
}

kfe_status kfe_i_check_memory(kfe_context *ctx, double bytes, const char *what, const char *remedy)
{
    double left = (double)kfe_i_memory_left(ctx);
    char need[32];
    char have[32];
    char worded[KFE_WORDING_TEXT];

    if (bytes <= left)
        return KFE_OK;
    kfe_i_format_bytes(bytes, need, sizeof need);
    kfe_i_format_bytes((double)kfe_context_memory(ctx), have, sizeof have);
    kfe_i_word_format(ctx, remedy, worded);
    if (ctx->memory > 0 && left < (double)ctx->memory) {
        char rest[32];
        kfe_i_format_bytes(left, rest, sizeof rest);
        return kfe_i_fail(ctx, KFE_ELIMIT,
                          "%s needs %s of memory, but only %s of the limit of %s are left; %s", what, need,
                          rest, have, worded);
    }
    return kfe_i_fail(ctx, KFE_ELIMIT, "%s needs %s of memory, but the limit is %s; %s", what, need, have,
                      worded);
}

/* The number of OpenMP threads is a property of the calling thread, and the OpenMP build of OpenBLAS obeys it: two
 * contexts in two threads do not disturb each other. OpenBLAS waits for as many threads as it asked for, without end if
 * OpenMP gives it fewer: hence no dynamic teams, and no more threads than OMP_THREAD_LIMIT and
 * OMP_MAX_ACTIVE_LEVELS allow (kfe_context_threads). */
kfe_i_thread_state kfe_i_threads_enter(const kfe_context *ctx)
{
    kfe_i_thread_state saved = {omp_get_max_threads(), omp_get_dynamic()};

    omp_set_dynamic(0);
    int threads = kfe_context_threads(ctx);
    if (threads > 1) {
        kfe_i_watch_forks();
        kfe_i_make_threads_sleep();
    }
    omp_set_num_threads(threads);
    return saved;
}

void kfe_i_threads_leave(kfe_i_thread_state saved)
{
    omp_set_num_threads(saved.threads);
    omp_set_dynamic(saved.dynamic);
}

int kfe_i_enter_order(int64_t n)
{
    int saved = omp_get_max_threads();

    if (n <= KFE_SERIAL_ORDER)
        omp_set_num_threads(1);
    return saved;
}

void kfe_i_leave_order(int saved)
{
    omp_set_num_threads(saved);
}

/* ---- processes ---- */

int kfe_i_process(const kfe_context *ctx)
{
    return ctx->cluster ? ctx->cluster->info.process : 0;
}

int kfe_i_local_process(const kfe_context *ctx)
{
    return ctx->cluster ? ctx->cluster->info.local_process : 0;
}

int kfe_i_processes(const kfe_context *ctx)
{
    return ctx->cluster ? ctx->cluster->info.processes : 1;
}

kfe_i_share kfe_i_own_share(const kfe_context *ctx)
{
    return (kfe_i_share){kfe_i_process(ctx), kfe_i_processes(ctx)};
}

int kfe_context_process(const kfe_context *ctx)
{
    return kfe_i_process(ctx);
}

int kfe_context_processes(const kfe_context *ctx)
{
    return kfe_i_processes(ctx);
}
