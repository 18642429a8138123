/* SPDX-License-Identifier: Apache-2.0 */
/* Allocate memory through the hook of the context, with every size checked. One thread at a time may use a context;
 * each task of workers.h has a context of its own. */
#ifndef KFE_CORE_MEMORY_H
#define KFE_CORE_MEMORY_H

#include "core/context.h"

/* Returns NULL, with the error recorded, if count × size overflows or there is not enough memory. A count of 0
 * gives a valid pointer, so that NULL always means failure. */
void *kfe_i_alloc(kfe_context *ctx, int64_t count, size_t size);
void *kfe_i_alloc_zero(kfe_context *ctx, int64_t count, size_t size);
/* After a failure the old block is still valid. */
void *kfe_i_resize(kfe_context *ctx, void *block, int64_t count, size_t size);
void kfe_i_free(kfe_context *ctx, void *block);
char *kfe_i_strdup(kfe_context *ctx, const char *text);
char *kfe_i_strndup(kfe_context *ctx, const char *text, size_t length);

/* In functions with `status` and `cleanup:`. */
#define KFE_ALLOC(ctx, pointer, count) KFE_CHECK_ALLOC(pointer, kfe_i_alloc(ctx, count, sizeof *(pointer)))
#define KFE_ALLOC_ZERO(ctx, pointer, count)                                                                  \
    KFE_CHECK_ALLOC(pointer, kfe_i_alloc_zero(ctx, count, sizeof *(pointer)))
#define KFE_STRDUP(ctx, pointer, text) KFE_CHECK_ALLOC(pointer, kfe_i_strdup(ctx, text))

#define KFE_CHECK_ALLOC(pointer, call)                                                                       \
    do {                                                                                                     \
        (pointer) = (call);                                                                                  \
        if (!(pointer)) {                                                                                    \
            status = KFE_ENOMEM;                                                                             \
            goto cleanup;                                                                                    \
        }                                                                                                    \
    } while (0)

/* Makes room for `needed` elements in an array of `*capacity`, at least doubling it. */
#define KFE_GROW(ctx, pointer, capacity, needed)                                                             \
    do {                                                                                                     \
        if ((needed) > (capacity)) {                                                                         \
            int64_t grown_ = 2 * (capacity) > (needed) ? 2 * (capacity) : (needed) + 16;                     \
            void *block_ = kfe_i_resize(ctx, pointer, grown_, sizeof *(pointer));                            \
            if (!block_) {                                                                                   \
                status = KFE_ENOMEM;                                                                         \
                goto cleanup;                                                                                \
            }                                                                                                \
            (pointer) = block_;                                                                              \
            (capacity) = grown_;                                                                             \
        }                                                                                                    \
    } while (0)

#endif
