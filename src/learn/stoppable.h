/* SPDX-License-Identifier: Apache-2.0 */
/* Run LIBSVM or LIBLINEAR so that the user can stop it. Neither has a way to be stopped, but both call a function now
 * and then to print their progress: LIBSVM every 1,000 steps, or as many as there are examples if that is less,
 * LIBLINEAR after each of its Newton steps. */
#ifndef KFE_LEARN_STOPPABLE_H
#define KFE_LEARN_STOPPABLE_H

#include "core/context.h"

/* Give this to svm_set_print_string_function and set_print_string_function. It prints nothing. */
void kfe_i_stop_if_cancelled(const char *text);

/* Calls train(job). If the cancel callback of the context asks to stop meanwhile, the call ends with KFE_ECANCEL; after
 * `most` calls of the function above, with KFE_ENUMERIC and a message about `name`. Then nothing that `train` would have
 * written is defined. The library's caches are freed; vectors that it holds by plain pointers, some 100 bytes for
 * each example, are lost. */
kfe_status kfe_i_run_stoppable(kfe_context *ctx, const char *name, int64_t most, void (*train)(void *job),
                               void *job);

#endif
