/* SPDX-License-Identifier: Apache-2.0 */
/* The one sweep over failing allocations that all tests use. */
#include "support/sweep.h"

#include <stdlib.h>

static kfe_status use_once(const support_sweep *sweep, support_allocator *allocator)
{
    kfe_context *ctx = NULL;
    kfe_status status = kfe_context_new_with(support_reallocate, allocator, &ctx);

    if (status != KFE_OK) {
        assert_null(ctx);
        return status;
    }
    assert_int_equal(kfe_context_set_threads(ctx, sweep->threads ? sweep->threads : 1), KFE_OK);
    status = sweep->use(ctx, sweep->user);
    if (status != KFE_OK && !kfe_error_message(ctx)[0])
        fail_msg("%s: no message when allocation %lld fails", sweep->name, (long long)allocator->fail_at);
    kfe_context_free(ctx);
    return status;
}

/* Whether the use succeeded nevertheless. */
static int fail_allocation(const support_sweep *sweep, int64_t k, int64_t of)
{
    support_allocator failing = {.fail_at = k};
    kfe_status status = use_once(sweep, &failing);
    int met = failing.calls >= k;

    if (met ? status != KFE_ENOMEM && (status != KFE_OK || !sweep->harmless)
            : status != KFE_OK || sweep->threads < 2)
        fail_msg("%s: allocation %lld of %lld fails: %s, expected '%s'", sweep->name, (long long)k,
                 (long long)of, kfe_status_text(status), kfe_status_text(KFE_ENOMEM));
    if (failing.live != 0)
        fail_msg("%s: allocation %lld of %lld fails: %lld blocks are not freed", sweep->name, (long long)k,
                 (long long)of, (long long)failing.live);
    return met && status == KFE_OK;
}

/* Without KFE_TEST_ALL, one allocation in so many fails; the tests of harmless failures count them, so they need all. */
static int64_t step_of(const support_sweep *sweep)
{
    const int64_t default_step = 7;

    if (sweep->step)
        return sweep->step;
    return getenv("KFE_TEST_ALL") || sweep->harmless ? 1 : default_step;
}

int64_t support_sweep_run(const support_sweep *sweep)
{
    support_allocator counting = {0};
    kfe_status status = use_once(sweep, &counting);
    int64_t step = step_of(sweep);
    int64_t harmless = 0;

    if (status != KFE_OK)
        fail_msg("%s: fails without a failing allocation: %s", sweep->name, kfe_status_text(status));
    if (counting.live != 0)
        fail_msg("%s: %lld blocks are not freed", sweep->name, (long long)counting.live);
    if (counting.calls < sweep->at_least)
        fail_msg("%s: only %lld allocations, expected %lld", sweep->name, (long long)counting.calls,
                 (long long)sweep->at_least);
    int64_t first = sweep->last && counting.calls > sweep->last ? counting.calls - sweep->last + 1 : 1;
    for (int64_t k = first; k <= counting.calls; k += step)
        harmless += fail_allocation(sweep, k, counting.calls);
    assert_int_equal(harmless, sweep->harmless);
    return counting.calls;
}

void support_sweep_all(const char *name, support_use use, void *user, int64_t at_least)
{
    support_sweep_run(&(support_sweep){.name = name, .use = use, .user = user, .at_least = at_least});
}

kfe_status support_use_with(support_allocator *allocator, support_use use, void *user)
{
    return use_once(&(support_sweep){.name = "single use", .use = use, .user = user}, allocator);
}

int64_t support_count_allocations(support_use use, void *user)
{
    support_allocator counting = {0};

    assert_int_equal(support_use_with(&counting, use, user), KFE_OK);
    return counting.calls;
}

kfe_status support_read_use(kfe_context *ctx, void *reading)
{
    const support_reading *one = reading;
    kfe_data *data = NULL;
    kfe_status status = kfe_data_read(ctx, one->path, one->options, &data);

    assert_int_equal(data != NULL, status == KFE_OK);
    kfe_data_free(data);
    return status;
}
