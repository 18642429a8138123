/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Independent tasks shared among threads. Each thread has a context of its own, with one thread and its share
 * of the memory limit, so that a task may call anything: allocate, fail, warn, look whether to stop. Blocks
 * that a task allocates may be freed with the parent context, but objects that remember their context must
 * not outlive the task.
 */
#ifndef KFE_CORE_WORKERS_H
#define KFE_CORE_WORKERS_H

#include "core/context.h"

typedef kfe_status (*kfe_i_task_fn)(kfe_context *worker, void *job, int64_t task);

/* Runs tasks 0 … count−1 on up to `threads` threads. The failure returned is that of the lowest task that
 * failed; no further tasks are begun after one. What tasks log reaches the parent at the end, in the order of
 * tasks, the same line once. With one thread (or task) the parent itself is the worker. */
kfe_status kfe_i_workers_run(kfe_context *ctx, const char *stage, int threads, int64_t count,
                             kfe_i_task_fn run, void *job);

#endif
