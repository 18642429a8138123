/* SPDX-License-Identifier: Apache-2.0 */
/* Use a context: its settings, callbacks and last error, and the macros for error paths. */
#ifndef KFE_CORE_CONTEXT_H
#define KFE_CORE_CONTEXT_H

#include "kfe.h"

/* How fast this machine computes, in operations and bytes per second, with this many threads and processes (gram/solve/cost.h). */
typedef struct kfe_i_rates {
    int threads; /* 0: not measured yet */
    int processes;
    double dgemm, sgemm;
    double dpotrf, spftrf; /* at the order of the measurement */
    double bytes;          /* read from memory */
    double gathered;       /* bytes that each process has after a gather, per second; one process: INFINITY */
    double message;        /* seconds of a short message; one process: 0 */
} kfe_i_rates;

/* The memory that was free when it was last measured (kfe_context_memory). */
typedef struct kfe_i_memory_reading {
    double when; /* 0: never */
    int64_t available, in_use;
} kfe_i_memory_reading;

struct kfe_context {
    kfe_reallocate_fn reallocate;
    void *reallocate_user;
    int threads;
    uint64_t seed;
    int64_t memory; /* the limit; 0: by default */
    int64_t in_use; /* bytes allocated with this context and not yet freed */
    int soft_limit; /* the limit is a share of a default one: allocations beyond it are not refused */
    kfe_i_memory_reading reading;
    kfe_status lack; /* why the last allocation failed: KFE_ENOMEM or KFE_ELIMIT */
    kfe_wording wording;
    kfe_log_fn log;
    void *log_user;
    kfe_progress_fn progress;
    void *progress_user;
    kfe_cancel_fn cancel;
    void *cancel_user;
    kfe_i_rates rates;
    char device_name[32];        /* as asked for; "": the environment decides */
    struct kfe_i_device *device; /* that is open (gram/device/session.h); NULL: none */
    int device_tried;            /* to open it */
    void (*device_close)(struct kfe_context *ctx);
    struct kfe_i_cluster *cluster; /* processes that share the work (cluster.h); NULL: none */
    int cluster_failed;            /* a collective call has ended because another process failed */
    void (*cluster_leave)(struct kfe_context *ctx);
    struct kfe_i_resume *resume; /* where loops save their state (resume.h); NULL: nowhere */
    struct kfe_i_search *search; /* that is going on (search.h); NULL: none */
    void *scratch;               /* kept from call to call (kfe_i_scratch) */
    int64_t scratch_size;
    int64_t error_line, error_column;
    char message[2048];
};

/* In functions with `kfe_status status` and a `cleanup:` label. */
#define KFE_TRY(call)                                                                                        \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != KFE_OK)                                                                                \
            goto cleanup;                                                                                    \
    } while (0)

#define KFE_FAIL(...)                                                                                        \
    do {                                                                                                     \
        status = kfe_i_fail(__VA_ARGS__);                                                                    \
        goto cleanup;                                                                                        \
    } while (0)

/* Records why a call fails and returns `code`, so that `return kfe_i_fail(...)` reads well. The format names
 * parameters as {name} or {name=value} (wording.h); so do those of the functions below. */
kfe_status kfe_i_fail(kfe_context *ctx, kfe_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same at a place in a file; line and column are 1-based, 0 leaves them out. */
kfe_status kfe_i_fail_at(kfe_context *ctx, kfe_status code, const char *file, int64_t line, int64_t column,
                         const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Fails with KFE_EINVAL unless `owner`, the context that an object ("accumulator") was made with, is this one. */
kfe_status kfe_i_check_owner(kfe_context *ctx, const kfe_context *owner, const char *object);
/* Puts "prefix: " before the recorded message; returns `code`. */
kfe_status kfe_i_fail_prefix(kfe_context *ctx, kfe_status code, const char *prefix);

void kfe_i_log(kfe_context *ctx, kfe_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports progress and asks the cancel callback: KFE_OK to go on, or KFE_ECANCEL. Not for worker threads. */
kfe_status kfe_i_progress(kfe_context *ctx, const char *stage, int64_t done, int64_t total);

/* The device that the user wants: "cpu", "auto" or a name. */
const char *kfe_i_device_wanted(const kfe_context *ctx);
/* Whether this number of kernel values should be computed on a device. */
int kfe_i_wants_device(const kfe_context *ctx, double work);

/* The threads for one pass over so many numbers: one for a few, for which more would take longer. */
int kfe_i_threads_for(const kfe_context *ctx, int64_t numbers);

/* Bytes that may still be planned for: the limit minus what is in use. A few megabytes in use are not counted, so that
 * small problems have all of a small limit. */
int64_t kfe_i_memory_left(const kfe_context *ctx);
/* Fails with KFE_ELIMIT if the work needs more bytes than are left; the message has `what`, both sizes and the
 * remedy. */
kfe_status kfe_i_check_memory(kfe_context *ctx, double bytes, const char *what, const char *remedy);

/* Entry and exit of a public call that computes: OpenMP and BLAS get this context's number of threads. */
typedef struct kfe_i_thread_state {
    int threads, dynamic;
} kfe_i_thread_state;
kfe_i_thread_state kfe_i_threads_enter(const kfe_context *ctx);
void kfe_i_threads_leave(kfe_i_thread_state saved);

/* Problems up to this order run on one thread: several threads would wait for each other longer than they work, and
 * far longer on a busy machine. */
enum { KFE_SERIAL_ORDER = 512 };
/*
 * BLAS and LAPACK run on one thread between these calls if the order n of the problem is that small; 0: a region.
 *
 * Small problems need it, and regions that may have a team of one thread where the context has more: OpenBLAS does not
 * recognise such a team as a parallel region, and OpenMP starts threads anew for every call inside it.
 */
int kfe_i_enter_order(int64_t n);
void kfe_i_leave_order(int saved);

#endif
