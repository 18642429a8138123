/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run independent tasks on several threads. Each thread has its own context, with one thread and its share of the
 * memory limit, so that a task may call everything: allocate, fail, warn and ask whether to stop. Memory that a task
 * allocates may be freed with the parent context, but objects that keep their context must not outlive the task.
 */
#ifndef KFE_CORE_WORKERS_H
#define KFE_CORE_WORKERS_H

#include "core/context.h"

typedef kfe_status (*kfe_i_task_fn)(kfe_context *worker, void *job, int64_t task);

/* Runs tasks 0 … count−1 on up to `threads` threads. After a failure no further task starts; the failure of the
 * lowest task is returned. The log of the tasks is passed on at the end, in the order of tasks, each line once. With
 * one thread or one task, the parent context is used. */
kfe_status kfe_i_workers_run(kfe_context *ctx, const char *stage, int threads, int64_t count,
                             kfe_i_task_fn run, void *job);

#endif
