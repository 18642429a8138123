/* SPDX-License-Identifier: Apache-2.0 */
/* Make every allocation of a use of the library fail, one at a time: each failure must return KFE_ENOMEM and
 * leave nothing allocated. */
#ifndef KFE_TESTS_SUPPORT_SWEEP_H
#define KFE_TESTS_SUPPORT_SWEEP_H

#include "support/support.h"

/* Uses the library with `ctx` and frees everything it made, also after a failure. */
typedef kfe_status (*support_use)(kfe_context *ctx, void *user);

typedef struct support_sweep {
    const char *name; /* appears in messages */
    support_use use;
    void *user;
    /* smallest number of allocations that a use without failures makes, including the context's own */
    int64_t at_least;
    int64_t step;     /* fail only every step-th allocation; 0: each with KFE_TEST_ALL, else every seventh */
    int64_t last;     /* fail only the last so many allocations; 0: all */
    int threads;      /* 0: one */
    int64_t harmless; /* how many failures end in KFE_OK, because the library can do without the block */
} support_sweep;

/* Fails the test unless
 *   - the use succeeds without failing allocations and makes at least `at_least` allocations,
 *   - each failing allocation, except `harmless` ones, gives KFE_ENOMEM with a message,
 *   - nothing stays allocated.
 * With several threads the failing allocation may never be reached; the use may then end in KFE_OK.
 * Returns the number of allocations of a use without failures. */
int64_t support_sweep_run(const support_sweep *sweep);

/* The same with one thread and the default step. */
void support_sweep_all(const char *name, support_use use, void *user, int64_t at_least);

/* Uses the library once, in a context of one thread with this allocator. */
kfe_status support_use_with(support_allocator *allocator, support_use use, void *user);
/* The number of allocations of a use without failures on one thread, including the context's own. */
int64_t support_count_allocations(support_use use, void *user);

/* A file to read; support_read_use reads it and frees the data. */
typedef struct support_reading {
    const char *path, *options;
} support_reading;
kfe_status support_read_use(kfe_context *ctx, void *reading);

#endif
