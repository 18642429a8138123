/* SPDX-License-Identifier: Apache-2.0 */
/* Fail every allocation of a use of the library, one at a time: each failure must be reported as KFE_ENOMEM and
 * leave nothing allocated. */
#ifndef KFE_TESTS_SUPPORT_SWEEP_H
#define KFE_TESTS_SUPPORT_SWEEP_H

#include "support/support.h"

/* Uses the library by way of `ctx` and frees all that it made, however far it came. */
typedef kfe_status (*support_use)(kfe_context *ctx, void *user);

typedef struct support_sweep {
    const char *name; /* for messages */
    support_use use;
    void *user;
    int64_t at_least; /* allocations that an undisturbed use makes, the context's own included */
    int64_t step;     /* fail every step-th allocation only; 0: fail each of them */
    int64_t last;     /* fail only this many, the last ones; 0: no limit */
    int threads;      /* 0: one */
    int64_t harmless; /* how many failures end in KFE_OK, since the library can do without the block */
} support_sweep;

/* Fails the test unless
 *   - the use succeeds without failures, after at least `at_least` allocations,
 *   - each failing allocation, except for `harmless` ones, gives KFE_ENOMEM with a message,
 *   - nothing stays allocated.
 * With several threads a failure that comes too late to be met may end in KFE_OK.
 * Returns the number of allocations of an undisturbed use. */
int64_t support_sweep_run(const support_sweep *sweep);

/* The same for one thread and all allocations. */
void support_sweep_all(const char *name, support_use use, void *user, int64_t at_least);

/* Uses the library once, in a context of one thread with this allocator. */
kfe_status support_use_with(support_allocator *allocator, support_use use, void *user);
/* Allocations of an undisturbed use on one thread, the context's own included. */
int64_t support_count_allocations(support_use use, void *user);

/* Reads a file and frees the data, for sweeps. */
typedef struct support_reading {
    const char *path, *options;
} support_reading;
kfe_status support_read_use(kfe_context *ctx, void *reading);

#endif
