/* SPDX-License-Identifier: Apache-2.0 */
/* Run LIBSVM or LIBLINEAR so that the user can stop it. Neither has a way to be stopped, but both call a function now
 * and then to print their progress: LIBSVM every 1,000 steps, or as many as there are examples if that is less,
 * LIBLINEAR after each of its Newton steps. */
#ifndef KFE_LEARN_STOPPABLE_H
#define KFE_LEARN_STOPPABLE_H

#include "core/context.h"

/* Give this to svm_set_print_string_function and set_print_string_function. It prints nothing. */
void kfe_i_stop_if_cancelled(const char *text);

typedef struct kfe_i_stoppable {
    const char *name; /* of the learner, for messages */
    int64_t most;     /* calls of the function above */
    void (*train)(void *job);
    /* Changes the problem so that the library soon returns by itself. It is called in every call of the function above
     * once the library is to stop, with `call` counting from 0. NULL where that is not possible: then the library is
     * left by an exception, which frees its caches, but some 100 bytes for each example are lost. */
    void (*end_soon)(void *job, int64_t call);
    void *job;
} kfe_i_stoppable;

/* Calls task->train(task->job). If the cancel callback of the context asks to stop meanwhile, the call ends with
 * KFE_ECANCEL; after task->most calls of the function above, with KFE_ENUMERIC and a message. What `train` has written
 * then is nothing, or the result of the changed problem, which the caller frees. */
kfe_status kfe_i_run_stoppable(kfe_context *ctx, const kfe_i_stoppable *task);

#endif
