/* SPDX-License-Identifier: Apache-2.0 */
/* Include this header in every test: CMocka, one context per test, temporary files, a counting allocator and
 * the log. */
#ifndef KFE_TESTS_SUPPORT_SUPPORT_H
#define KFE_TESTS_SUPPORT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kfe.h"

/* Whether the program is checked by a sanitizer, which takes its time and stands in for functions of the C library. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUPPORT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SUPPORT_SANITIZED 1
#endif
#endif
#ifndef SUPPORT_SANITIZED
#define SUPPORT_SANITIZED 0
#endif

/* CMocka setup and teardown: *state is a kfe_context. */
int support_context_setup(void **state);
int support_context_teardown(void **state);
/* A CMocka test with a context of its own in *state. */
#define with_context(test)                                                                                   \
    cmocka_unit_test_setup_teardown(test, support_context_setup, support_context_teardown)

/* Fails the test with the library's message unless the call succeeded. */
#define assert_ok(ctx, call)                                                                                 \
    do {                                                                                                     \
        kfe_status assert_status_ = (call);                                                                  \
        if (assert_status_ != KFE_OK)                                                                        \
            fail_msg("%s: %s: %s", #call, kfe_status_text(assert_status_), kfe_error_message(ctx));          \
    } while (0)
/* Fails the test unless the call fails with this status and a message that contains this text. */
#define assert_fails(ctx, expected, text, call)                                                              \
    do {                                                                                                     \
        kfe_status assert_status_ = (call);                                                                  \
        if (assert_status_ != (expected))                                                                    \
            fail_msg("%s: expected '%s', got '%s': %s", #call, kfe_status_text(expected),                    \
                     kfe_status_text(assert_status_), kfe_error_message(ctx));                               \
        if (!strstr(kfe_error_message(ctx), (text)))                                                         \
            fail_msg("%s: '%s' is not in '%s'", #call, (text), kfe_error_message(ctx));                      \
    } while (0)

/* The path of a file in this process's temporary directory, which is removed at exit. The storage is static;
 * four paths may be in use at once. */
const char *support_path(const char *name);
/* Writes the bytes to a temporary file and returns its path. */
const char *support_file(const char *name, const void *bytes, size_t size);
#define support_text(name, text) support_file(name, text, strlen(text))

/* An allocator whose k-th allocation fails (k from 1; 0: none). It counts the blocks and bytes that are not
 * freed, and the largest number of bytes so far. */
typedef struct support_allocator {
    int64_t fail_at, calls, live;
    int64_t bytes, peak;
} support_allocator;
void *support_reallocate(void *user, void *block, size_t size);

/* Collects the log of a context; support_log returns the lines since its last call (static storage of 64 kB). */
void support_catch_log(kfe_context *ctx);
const char *support_log(void);

#endif
