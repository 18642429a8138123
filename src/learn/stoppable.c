/* SPDX-License-Identifier: Apache-2.0 */
/* Stops LIBSVM and LIBLINEAR from within the function that they call to print, for svm.c and linear_svm.c. They are
 * written in C++, whose functions end early by an exception. A forced unwinding, by which pthread_exit works too, is the
 * exception that C can raise: it runs the destructors of every frame up to kfe_i_run_stoppable. */
#include "learn/stoppable.h"

#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <unwind.h>

typedef struct running {
    kfe_context *ctx;
    const char *name;
    int64_t left; /* calls of the function that prints */
    kfe_status status;
    struct _Unwind_Exception exception;
    jmp_buf end;
} running;

static _Thread_local running *current;

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

void kfe_i_stop_if_cancelled(const char *text)
{
    running *run = current;

    (void)text;
    if (!run)
        return;
    run->status = kfe_i_checkpoint(run->ctx, "learning", 0, 0);
    if (run->status == KFE_OK && run->left-- == 0)
        run->status = kfe_i_fail(
            run->ctx, KFE_ENUMERIC,
            "%s: the solver does not end; the numbers may be too large or too small for it: use {scale}, "
            "or smaller targets",
            run->name);
    if (run->status != KFE_OK)
        _Unwind_ForcedUnwind(&run->exception, end_at_run, run);
}

kfe_status kfe_i_run_stoppable(kfe_context *ctx, const char *name, int64_t most, void (*train)(void *job),
                               void *job)
{
    running run;

    memset(&run, 0, sizeof run);
    run.ctx = ctx;
    run.name = name;
    run.left = most;
    current = &run;
    if (setjmp(run.end) == 0)
        train(job);
    current = NULL;
    return run.status;
}
