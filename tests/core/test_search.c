/* SPDX-License-Identifier: Apache-2.0 */
/* Searches: equal warnings are logged once with their number, and progress counts all fits. */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#include "core/search.h"
#include "core/workers.h"
#include "support/sweep.h"

enum { TASKS = 37 };

static kfe_status warn_task(kfe_context *worker, void *job, int64_t task)
{
    (void)job;
    kfe_i_log(worker, KFE_LOG_WARNING, "no convergence after %lld steps", 100 + (long long)task);
    kfe_i_log(worker, KFE_LOG_WARNING, "%s", "constant column");
    if (task == 5)
        kfe_i_log(worker, KFE_LOG_WARNING, "said once");
    kfe_i_search_count(worker, 2);
    return KFE_OK;
}

static void test_equal_warnings_are_counted(void **state)
{
    kfe_context *ctx = *state;

    for (int threads = 1; threads <= 4; threads += 3) {
        kfe_i_search search;
        support_catch_log(ctx);
        kfe_i_search_begin(ctx, 2 * TASKS, &search);
        assert_ok(ctx, kfe_i_workers_run(ctx, "warning", threads, TASKS, warn_task, NULL));
        assert_string_equal(support_log(), "");
        assert_ok(ctx, kfe_i_search_end(&search, KFE_OK));
        const char *log = support_log();
        assert_non_null(strstr(log, "no convergence after 100 steps (37 times, with other values too)"));
        assert_non_null(strstr(log, "constant column (37 times)"));
        assert_non_null(strstr(log, "said once"));
        assert_null(strstr(log, "said once ("));
        assert_null(strstr(log, "101"));
        kfe_i_log(ctx, KFE_LOG_WARNING, "afterwards");
        assert_non_null(strstr(support_log(), "afterwards"));
        kfe_context_on_log(ctx, NULL, NULL);
    }
}

typedef struct seen {
    int64_t calls, last_done, total;
    int wrong;
} seen;

static void watch(void *user, const char *stage, int64_t done, int64_t total)
{
    seen *s = user;

    s->wrong |= strcmp(stage, "fit") != 0 || done < s->last_done || done > total;
    s->calls++;
    s->last_done = done;
    s->total = total;
}

static void test_progress_counts_the_fits_of_the_search(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_search search;
    kfe_i_search inside;
    seen s = {0};

    kfe_context_on_progress(ctx, watch, &s);
    kfe_i_search_begin(ctx, 2 * TASKS, &search);
    kfe_i_search_begin(ctx, 3, &inside); /* an inner search that is part of the first */
    assert_ok(ctx, kfe_i_workers_run(ctx, "warning", 1, TASKS, warn_task, NULL));
    assert_ok(ctx, kfe_i_search_end(&inside, KFE_OK));
    assert_ok(ctx, kfe_i_progress(ctx, "another stage", 1, 7));
    assert_ok(ctx, kfe_i_search_end(&search, KFE_OK));
    assert_true(s.calls >= TASKS && s.last_done == 2 * TASKS && s.total == 2 * TASKS);
    assert_false(s.wrong);
    assert_true(ctx->progress == watch);
    kfe_context_on_progress(ctx, NULL, NULL);
}

/* Without a terminal, the log reports from time to time how far the search is. */
static void test_log_lines_say_how_far_the_search_is(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_search search;

    support_catch_log(ctx);
    kfe_i_search_begin(ctx, 10, &search);
    kfe_i_search_count(ctx, 4);
    assert_ok(ctx, kfe_i_progress(ctx, "fitting", 0, 0));
    assert_string_equal(support_log(), ""); /* too early for a report */
    search.began -= 40;
    search.last_logged -= 40;
    assert_ok(ctx, kfe_i_progress(ctx, "fitting", 0, 0));
    assert_non_null(strstr(support_log(), "fit 4 of 10, about 60 s left"));
    assert_ok(ctx, kfe_i_progress(ctx, "fitting", 0, 0));
    assert_string_equal(support_log(), "");
    assert_ok(ctx, kfe_i_search_end(&search, KFE_OK));
    kfe_context_on_log(ctx, NULL, NULL);
}

static void ignore(void *user, kfe_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

static kfe_status use(kfe_context *ctx, void *user)
{
    kfe_i_search search;

    (void)user;
    kfe_context_on_log(ctx, ignore, NULL);
    kfe_i_search_begin(ctx, 1, &search);
    kfe_i_log(ctx, KFE_LOG_WARNING, "%s", "b");
    kfe_i_log(ctx, KFE_LOG_WARNING, "%s", "a");
    kfe_i_log(ctx, KFE_LOG_WARNING, "number %d", 2);
    kfe_i_log(ctx, KFE_LOG_WARNING, "number %d", 1);
    return kfe_i_search_end(&search, KFE_OK);
}

static void test_allocations_that_fail(void **state)
{
    (void)state;
    support_sweep_all("search", use, NULL, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_equal_warnings_are_counted),
        with_context(test_progress_counts_the_fits_of_the_search),
        with_context(test_log_lines_say_how_far_the_search_is),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
