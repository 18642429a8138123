/* SPDX-License-Identifier: Apache-2.0 */
/* Checked and counted allocation through the hook of the context; everything in the library allocates here. */
#include "core/memory.h"

#include <stddef.h>
#include <string.h>

#include "core/text.h"

/* What lies before every block, so that the context knows how much is in use, whatever its allocator is. */
typedef union header {
    struct {
        size_t size;
        union header *next; /* in its arena */
    } block;
    max_align_t alignment;
} header;

/* By default the limit depends on what is free now, which takes time to find out: only large blocks are checked. */
#define LARGE_BLOCK ((int64_t)64 << 20)

static int exceeds_limit(const kfe_context *ctx, int64_t more)
{
    if (ctx->memory > 0)
        return !ctx->soft_limit && more > 0 &&
               ctx->in_use + more > ctx->memory + KFE_MEMORY_UNCOUNTED + KFE_MEMORY_SLACK;
    return more >= LARGE_BLOCK && more > kfe_context_memory(ctx);
}

static void fail_for_lack(kfe_context *ctx, kfe_status why, double bytes)
{
    char asked[32];
    char limit[32];

    ctx->lack = why;
    kfe_i_format_bytes(bytes, asked, sizeof asked);
    kfe_i_format_bytes((double)kfe_context_memory(ctx), limit, sizeof limit);
    if (why == KFE_ENOMEM)
        kfe_i_fail(ctx, why, "out of memory: could not get %s", asked);
    else
        kfe_i_fail(
            ctx, why,
            "this needs %s more memory, which would exceed the limit of %s; raise {memory} or use less data",
            asked, limit);
}

void *kfe_i_resize(kfe_context *ctx, void *block, int64_t count, size_t size)
{
    header *before = block ? (header *)block - 1 : NULL;
    size_t old = before ? before->block.size : 0;
    size_t bytes = 0;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > PTRDIFF_MAX - sizeof(header)) {
        fail_for_lack(ctx, KFE_ENOMEM, (double)count * (double)size);
        return NULL;
    }
    int64_t more = (int64_t)bytes - (int64_t)old;
    if (exceeds_limit(ctx, more)) {
        fail_for_lack(ctx, KFE_ELIMIT, (double)more);
        return NULL;
    }
    header *resized = ctx->reallocate(ctx->reallocate_user, before, bytes + sizeof(header));
    if (!resized) {
        fail_for_lack(ctx, KFE_ENOMEM, (double)bytes);
        return NULL;
    }
    resized->block.size = bytes;
    ctx->in_use += more;
    return resized + 1;
}

void *kfe_i_alloc(kfe_context *ctx, int64_t count, size_t size)
{
    return kfe_i_resize(ctx, NULL, count, size);
}

void *kfe_i_alloc_zero(kfe_context *ctx, int64_t count, size_t size)
{
    void *block = kfe_i_alloc(ctx, count, size);
    if (block)
        memset(block, 0, (size_t)count * size);
    return block;
}

void kfe_i_free(kfe_context *ctx, void *block)
{
    if (!block)
        return;
    header *begin = (header *)block - 1;
    ctx->in_use -= (int64_t)begin->block.size;
    ctx->reallocate(ctx->reallocate_user, begin, 0);
}

void *kfe_i_arena_add(kfe_i_arena *arena, void *block)
{
    if (block) {
        header *begin = (header *)block - 1;
        begin->block.next = arena->last;
        arena->last = begin;
    }
    return block;
}

void kfe_i_arena_free(kfe_i_arena *arena)
{
    while (arena->last) {
        header *begin = arena->last;
        arena->last = begin->block.next;
        kfe_i_free(arena->ctx, begin + 1);
    }
}

void *kfe_i_scratch(kfe_context *ctx, int64_t bytes)
{
    if (!ctx->scratch || bytes > ctx->scratch_size) { /* NULL would mean failure */
        kfe_i_free(ctx, ctx->scratch);
        ctx->scratch = kfe_i_alloc(ctx, bytes, 1);
        ctx->scratch_size = ctx->scratch ? bytes : 0;
    }
    return ctx->scratch;
}

char *kfe_i_strndup(kfe_context *ctx, const char *text, size_t length)
{
    char *copy = kfe_i_alloc(ctx, (int64_t)length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *kfe_i_strdup(kfe_context *ctx, const char *text)
{
    return kfe_i_strndup(ctx, text, strlen(text));
}

kfe_status kfe_i_strings_copy(kfe_context *ctx, int64_t count, const char *const *from, char ***out)
{
    kfe_status status = KFE_OK;
    char **copy = NULL;

    *out = NULL;
    if (!from)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, copy, count);
    for (int64_t i = 0; i < count; i++)
        if (from[i])
            KFE_STRDUP(ctx, copy[i], from[i]);
    *out = copy;
    copy = NULL;
cleanup:
    kfe_i_strings_free(ctx, count, copy);
    return status;
}

void kfe_i_strings_free(kfe_context *ctx, int64_t count, char **strings)
{
    for (int64_t i = 0; strings && i < count; i++)
        kfe_i_free(ctx, strings[i]);
    kfe_i_free(ctx, strings);
}

int64_t kfe_i_grown_capacity(const kfe_context *ctx, int64_t capacity, int64_t needed, size_t size)
{
    int64_t doubled = 2 * capacity > needed ? 2 * capacity : needed + 16;
    double more = ((double)doubled - (double)capacity) * (double)size;

    if (ctx->memory == 0 || more < 1e6 || more < (double)kfe_i_memory_left(ctx) / 2)
        return doubled;
    return needed + needed / 8 + 16;
}
