/* SPDX-License-Identifier: Apache-2.0 */
/* Allocate memory through the hook of the context, with every size checked and counted. One thread at a time
 * may use a context; each task of workers.h has a context of its own. */
#ifndef KFE_CORE_MEMORY_H
#define KFE_CORE_MEMORY_H

#include "core/context.h"

/*
 * How the limit works (kfe_context_set_memory). Plans ask for the bytes that are left (kfe_i_memory_left) or fail
 * beforehand (kfe_i_check_memory). What no plan foresaw fails when it is allocated, so that a call never takes much
 * more than the limit:
 *     in use ≤ limit + KFE_MEMORY_UNCOUNTED + KFE_MEMORY_SLACK.
 */
#define KFE_MEMORY_UNCOUNTED ((int64_t)8 << 20)
#define KFE_MEMORY_SLACK ((int64_t)8 << 20)

/* Returns NULL, with the error recorded, if count × size overflows, there is not enough memory or the limit would be
 * exceeded. A count of 0 gives a valid pointer, so that NULL always means failure. */
void *kfe_i_alloc(kfe_context *ctx, int64_t count, size_t size);
void *kfe_i_alloc_zero(kfe_context *ctx, int64_t count, size_t size);
/* After a failure the old block is still valid. */
void *kfe_i_resize(kfe_context *ctx, void *block, int64_t count, size_t size);
void kfe_i_free(kfe_context *ctx, void *block);
/* The status of the failed allocation: KFE_ENOMEM, or KFE_ELIMIT if the limit refused it. */
static inline kfe_status kfe_i_lack(const kfe_context *ctx)
{
    return ctx->lack ? ctx->lack : KFE_ENOMEM;
}
static inline int kfe_i_is_lack(kfe_status status)
{
    return status == KFE_ENOMEM || status == KFE_ELIMIT;
}
/* Memory for one call, aligned like malloc's, which the context keeps for the next one: calls that answer small requests
 * again and again allocate only at first. Valid until the next kfe_i_scratch; NULL after a failure, as kfe_i_alloc. */
void *kfe_i_scratch(kfe_context *ctx, int64_t bytes);

/* Blocks that are freed together: the workspace of a function or of a struct. Without blocks it is zero but for `ctx`. */
typedef struct kfe_i_arena {
    kfe_context *ctx;
    void *last;
} kfe_i_arena;
/* From now on the arena owns the block, which must not be resized. Returns it; NULL after a failed allocation. */
void *kfe_i_arena_add(kfe_i_arena *arena, void *block);
void kfe_i_arena_free(kfe_i_arena *arena);

char *kfe_i_strdup(kfe_context *ctx, const char *text);
char *kfe_i_strndup(kfe_context *ctx, const char *text, size_t length);
/* A list of strings of its own, in which NULL stays NULL; NULL if `from` is. */
kfe_status kfe_i_strings_copy(kfe_context *ctx, int64_t count, const char *const *from, char ***out);
void kfe_i_strings_free(kfe_context *ctx, int64_t count, char **strings);

/* In functions with `status` and `cleanup:`. KFE_ALLOC: free the block; KFE_TAKE: the arena frees it. */
#define KFE_ALLOC(ctx, pointer, count)                                                                       \
    KFE_CHECK_ALLOC_BY(ctx, pointer, kfe_i_alloc(ctx, count, sizeof *(pointer)))
#define KFE_ALLOC_ZERO(ctx, pointer, count)                                                                  \
    KFE_CHECK_ALLOC_BY(ctx, pointer, kfe_i_alloc_zero(ctx, count, sizeof *(pointer)))
#define KFE_TAKE(arena, pointer, count)                                                                      \
    KFE_CHECK_ALLOC_BY((arena)->ctx, pointer,                                                                \
                       kfe_i_arena_add(arena, kfe_i_alloc((arena)->ctx, count, sizeof *(pointer))))
#define KFE_TAKE_ZERO(arena, pointer, count)                                                                 \
    KFE_CHECK_ALLOC_BY((arena)->ctx, pointer,                                                                \
                       kfe_i_arena_add(arena, kfe_i_alloc_zero((arena)->ctx, count, sizeof *(pointer))))
#define KFE_STRDUP(ctx, pointer, text) KFE_CHECK_ALLOC_BY(ctx, pointer, kfe_i_strdup(ctx, text))

#define KFE_CHECK_ALLOC_BY(ctx, pointer, call)                                                               \
    do {                                                                                                     \
        (pointer) = (call);                                                                                  \
        if (!(pointer)) {                                                                                    \
            status = kfe_i_lack(ctx);                                                                        \
            goto cleanup;                                                                                    \
        }                                                                                                    \
    } while (0)

/* The capacity to grow to: double the old one, or less where the limit is near. */
int64_t kfe_i_grown_capacity(const kfe_context *ctx, int64_t capacity, int64_t needed, size_t size);
/* Makes room for `needed` elements in an array of `capacity`. */
#define KFE_GROW(ctx, pointer, capacity, needed)                                                             \
    do {                                                                                                     \
        if ((needed) > (capacity)) {                                                                         \
            int64_t grown_ = kfe_i_grown_capacity(ctx, capacity, needed, sizeof *(pointer));                 \
            void *block_ = kfe_i_resize(ctx, pointer, grown_, sizeof *(pointer));                            \
            if (!block_) {                                                                                   \
                status = kfe_i_lack(ctx);                                                                    \
                goto cleanup;                                                                                \
            }                                                                                                \
            (pointer) = block_;                                                                              \
            (capacity) = grown_;                                                                             \
        }                                                                                                    \
    } while (0)

#endif
