/* SPDX-License-Identifier: Apache-2.0 */
/* Checked allocation through the hook of the context; everything in the library allocates here. */
#include "core/memory.h"

#include <string.h>

#include "core/text.h"

void *kfe_i_resize(kfe_context *ctx, void *block, int64_t count, size_t size)
{
    char asked[32];
    size_t bytes = 0;

    if (count >= 0 && !__builtin_mul_overflow((size_t)count, size, &bytes) && bytes <= PTRDIFF_MAX) {
        void *resized = ctx->reallocate(ctx->reallocate_user, block, bytes ? bytes : 1);
        if (resized)
            return resized;
    }
    kfe_i_format_bytes((double)count * (double)size, asked, sizeof asked);
    kfe_i_fail(ctx, KFE_ENOMEM, "out of memory: could not get %s", asked);
    return NULL;
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
    if (block)
        ctx->reallocate(ctx->reallocate_user, block, 0);
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
