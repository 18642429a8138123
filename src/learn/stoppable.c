/* SPDX-License-Identifier: Apache-2.0 */
/* Stops LIBSVM and LIBLINEAR from within the function that they call to print, for svm_libsvm.c and linear_svm.c. Where the
 * caller can change the problem so that its solver ends, the library returns after some more steps. Elsewhere it ends by
 * an exception, since it is written in C++. A forced unwinding, by which pthread_exit works too, is the exception that C
 * can raise: it runs the destructors of every frame up to kfe_i_run_stoppable. */
#include "learn/stoppable.h"

#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <unwind.h>

typedef struct running {
    kfe_context *ctx;
    const kfe_i_stoppable *task;
    int64_t left;   /* calls of the function that prints */
    int64_t ending; /* those since the library is to stop */
    kfe_status status;
    struct _Unwind_Exception exception;
    jmp_buf end;
} running;

static _Thread_local running *current;

/* A library that has not returned after this many calls of the function that prints is left by an exception. */
enum { CALLS_TO_END = 2000 };

/* Called for every frame, from the innermost one. Frames of the library are below `running`, which lies in the frame of
 * kfe_i_run_stoppable; the stack grows downwards. */
static _Unwind_Reason_Code end_at_run(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                      struct _Unwind_Exception *exception, struct _Unwind_Context *context,
                                      void *argument)
{
    running *run = argument;

    (void)version, (void)class, (void)exception;
    if (actions & _UA_END_OF_STACK || _Unwind_GetCFA(context) > (uintptr_t)run)
        longjmp(run->end, 1);
    return _URC_NO_REASON;
}

static kfe_status must_stop(running *run)
{
    kfe_status status = kfe_i_progress(run->ctx, "learning", 0, 0);

    if (status == KFE_OK && run->left-- == 0)
        status = kfe_i_fail(
            run->ctx, KFE_ENUMERIC,
            "%s: the solver does not end; the numbers may be too large or too small for it: use {scale}, "
            "or smaller targets",
            run->task->name);
    return status;
}

void kfe_i_stop_if_cancelled(const char *text)
{
    running *run = current;

    (void)text;
    if (!run)
        return;
    if (run->status == KFE_OK)
        run->status = must_stop(run);
    if (run->status == KFE_OK)
        return;
    if (run->task->end_soon && run->ending < CALLS_TO_END)
        run->task->end_soon(run->task->job, run->ending++);
    else
        _Unwind_ForcedUnwind(&run->exception, end_at_run, run);
}

kfe_status kfe_i_run_stoppable(kfe_context *ctx, const kfe_i_stoppable *task)
{
    running run;

    memset(&run, 0, sizeof run);
    run.ctx = ctx;
    run.task = task;
    run.left = task->most;
    current = &run;
    if (setjmp(run.end) == 0)
        task->train(task->job);
    current = NULL;
    return run.status;
}
