/* SPDX-License-Identifier: Apache-2.0 */
/* The check whether memory suffices for calling LIBSVM and LIBLINEAR. tests/dependencies measures that they
 * need no more. */
#include "learn/library_memory.h"

#include <stdlib.h>

#include "core/reserve.h"
#include "support/support.h"

enum { ROWS = 10000 }; /* the kernel matrix takes 400 MB in single precision */

static void test_cache_is_no_larger_than_the_matrix(void **state)
{
    kfe_context *ctx = *state;
    double cache = 200;

    assert_ok(ctx, kfe_context_set_memory(ctx, (int64_t)4 << 30));
    assert_ok(ctx, kfe_i_libsvm_reserve(ctx, 100, &cache));
    assert_true(cache * 1024 * 1024 >= 4.0 * 100 * 100 && cache < 0.1);
    cache = 200;
    assert_ok(ctx, kfe_i_libsvm_reserve(ctx, ROWS, &cache));
    assert_true(cache == 200);
}

static void test_cache_shrinks_to_the_limit(void **state)
{
    kfe_context *ctx = *state;
    double cache = 200;

    assert_ok(ctx, kfe_context_set_memory(ctx, (int64_t)50 << 20));
    assert_ok(ctx, kfe_i_libsvm_reserve(ctx, ROWS, &cache));
    assert_true(cache > 30 && kfe_i_libsvm_bytes(ROWS) + cache * 1024 * 1024 <= (double)((int64_t)50 << 20));
}

static void test_too_little_memory_is_refused(void **state)
{
    kfe_context *ctx = *state;
    double cache = 200;

    assert_ok(ctx, kfe_context_set_memory(ctx, 1 << 20));
    assert_fails(ctx, KFE_ELIMIT, "LIBSVM", kfe_i_libsvm_reserve(ctx, ROWS, &cache));
}

static void *at_most_a_megabyte(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return size > 1 << 20 ? NULL : realloc(block, size);
}

static void test_memory_that_the_allocator_refuses(void **state)
{
    kfe_context *ctx = NULL;

    (void)state;
    assert_int_equal(kfe_context_new_with(at_most_a_megabyte, NULL, &ctx), KFE_OK);
    assert_ok(ctx, kfe_i_reserve(ctx, 1e5, "this", "nothing helps"));
    assert_fails(ctx, KFE_ENOMEM, "out of memory", kfe_i_reserve(ctx, 2e6, "this", "nothing helps"));
    kfe_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_cache_is_no_larger_than_the_matrix),
        with_context(test_cache_shrinks_to_the_limit),
        with_context(test_too_little_memory_is_refused),
        cmocka_unit_test(test_memory_that_the_allocator_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
