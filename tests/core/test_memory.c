/* SPDX-License-Identifier: Apache-2.0 */
/* The memory limit: allocations are counted, plans see the rest of the limit, and allocations far beyond it
 * fail. */
#include "support/support.h"

#include "core/memory.h"
#include "core/workers.h"

enum { MB = 1 << 20 };

static void test_use_is_counted(void **state)
{
    kfe_context *ctx = *state;
    char *first = kfe_i_alloc(ctx, 3, 1000);
    char *second = kfe_i_alloc_zero(ctx, 500, 1);

    assert_int_equal(ctx->in_use, 3500);
    first = kfe_i_resize(ctx, first, 10, 1000);
    assert_int_equal(ctx->in_use, 10500);
    first = kfe_i_resize(ctx, first, 1, 1000);
    assert_int_equal(ctx->in_use, 1500);
    kfe_i_free(ctx, first);
    kfe_i_free(ctx, second);
    kfe_i_free(ctx, NULL);
    assert_int_equal(ctx->in_use, 0);
}

static void test_blocks_are_aligned(void **state)
{
    kfe_context *ctx = *state;

    for (int64_t size = 1; size < 100; size += 7) {
        void *block = kfe_i_alloc(ctx, size, 1);
        assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
        kfe_i_free(ctx, block);
    }
}

static kfe_status fill_arena(kfe_i_arena *arena, int64_t count)
{
    kfe_status status = KFE_OK;
    double *values;

    for (int64_t i = 0; i < count; i++) {
        KFE_TAKE_ZERO(arena, values, i);
        for (int64_t j = 0; j < i; j++)
            assert_true(values[j] == 0);
        KFE_TAKE(arena, values, i);
        assert_int_equal((uintptr_t)values % _Alignof(max_align_t), 0);
        memset(values, 1, (size_t)i * sizeof *values);
    }
cleanup:
    return status;
}

static void test_an_arena_frees_its_blocks(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_arena arena = {.ctx = ctx};
    int64_t *own = kfe_i_arena_add(&arena, kfe_i_alloc(ctx, 7, sizeof *own));

    assert_non_null(own);
    assert_int_equal(fill_arena(&arena, 20), KFE_OK);
    assert_int_equal(ctx->in_use, 56 + 2 * 8 * 190);
    kfe_i_arena_free(&arena);
    assert_int_equal(ctx->in_use, 0);
    assert_ok(ctx, kfe_context_set_memory(ctx, 1));
    assert_int_equal(fill_arena(&arena, 20000), KFE_ELIMIT);
    kfe_i_arena_free(&arena);
    kfe_i_arena_free(&arena);
    assert_int_equal(ctx->in_use, 0);
}

static void test_plans_see_what_is_left(void **state)
{
    kfe_context *ctx = *state;
    char *block;

    assert_ok(ctx, kfe_context_set_memory(ctx, 100 * MB));
    assert_int_equal(kfe_i_memory_left(ctx), 100 * MB);
    block = kfe_i_alloc(ctx, 68, MB);
    assert_int_equal(kfe_context_memory(ctx), 100 * MB);
    assert_int_equal(kfe_i_memory_left(ctx), 100 * MB - (68 * MB - KFE_MEMORY_UNCOUNTED));
    assert_ok(ctx, kfe_i_check_memory(ctx, 40.0 * MB, "it", "do less"));
    assert_fails(ctx, KFE_ELIMIT,
                 "it needs 42.5 MB of memory, but only 41.9 MB of the limit of 105 MB are left; do less",
                 kfe_i_check_memory(ctx, 40.5 * MB, "it", "do less"));
    kfe_i_free(ctx, block);
    assert_int_equal(kfe_i_memory_left(ctx), 100 * MB);
}

static kfe_status take(kfe_context *ctx, int64_t bytes)
{
    kfe_status status = KFE_OK;
    char *block = NULL;

    KFE_ALLOC(ctx, block, bytes);
cleanup:
    kfe_i_free(ctx, block);
    return status;
}

static void test_nothing_beyond_the_limit(void **state)
{
    kfe_context *ctx = *state;
    int64_t most = 10 * MB + KFE_MEMORY_UNCOUNTED + KFE_MEMORY_SLACK;
    char *block = NULL;

    assert_ok(ctx, kfe_context_set_memory(ctx, 10 * MB));
    assert_ok(ctx, take(ctx, most));
    assert_fails(ctx, KFE_ELIMIT, "would exceed the limit of 10.5 MB; raise memory", take(ctx, most + 1));
    block = kfe_i_alloc(ctx, most / 2, 1);
    assert_non_null(block);
    assert_null(kfe_i_resize(ctx, block, most + 1, 1));
    assert_int_equal(kfe_i_lack(ctx), KFE_ELIMIT);
    assert_int_equal(ctx->in_use, most / 2); /* the old block is still allocated */
    kfe_i_free(ctx, block);
    assert_fails(ctx, KFE_ENOMEM, "out of memory", take(ctx, INT64_MAX));
    /* without a limit, large blocks are compared with the free memory */
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
    assert_fails(ctx, KFE_ELIMIT, "would exceed the limit", take(ctx, (int64_t)1 << 60));
}

/* Near the limit arrays do not double, so that the memory that they need still fits. */
static void test_growing_near_the_limit(void **state)
{
    kfe_context *ctx = *state;
    kfe_status status = KFE_OK;
    char *bytes = NULL;
    int64_t capacity = 0;

    assert_ok(ctx, kfe_context_set_memory(ctx, 20 * MB));
    for (int64_t needed = 1; needed < 25 * MB; needed += MB / 2)
        KFE_GROW(ctx, bytes, capacity, needed);
cleanup:
    kfe_i_free(ctx, bytes);
    assert_int_equal(status, KFE_OK);
}

/* ---- several threads ---- */

enum { TASKS = 40 };

typedef struct shared {
    char *kept[TASKS];
    int64_t left[TASKS];
} shared;

static kfe_status keep_block(kfe_context *worker, void *job, int64_t task)
{
    kfe_status status = KFE_OK;
    shared *s = job;

    s->left[task] = kfe_i_memory_left(worker);
    KFE_ALLOC(worker, s->kept[task], 1000);
cleanup:
    return status;
}

static kfe_status take_too_much(kfe_context *worker, void *job, int64_t task)
{
    (void)job;
    (void)task;
    return take(worker, 80 * MB);
}

static void test_workers(void **state)
{
    kfe_context *ctx = *state;
    shared s = {0};

    assert_ok(ctx, kfe_context_set_memory(ctx, 64 * MB));
    assert_ok(ctx, kfe_i_workers_run(ctx, "keeping", 4, TASKS, keep_block, &s));
    assert_int_equal(ctx->in_use, TASKS * 1000);
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(s.left[i], 16 * MB); /* the same on every thread, whatever ran there before */
        kfe_i_free(ctx, s.kept[i]);
    }
    assert_int_equal(ctx->in_use, 0);
    assert_fails(ctx, KFE_ELIMIT, "would exceed the limit",
                 kfe_i_workers_run(ctx, "taking", 4, TASKS, take_too_much, NULL));
    /* a share of the default limit restricts plans only */
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
    assert_ok(ctx, kfe_i_workers_run(ctx, "taking", 4, 4, take_too_much, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_use_is_counted),
        with_context(test_blocks_are_aligned),
        with_context(test_an_arena_frees_its_blocks),
        with_context(test_plans_see_what_is_left),
        with_context(test_nothing_beyond_the_limit),
        with_context(test_growing_near_the_limit),
        with_context(test_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
