/* SPDX-License-Identifier: Apache-2.0 */
/* Zstandard files by libzstd. Its memory is the context's, so that the limit holds for it too. */
#include "data/packing/packing.h"

#ifdef KFE_HAS_ZSTD
#define ZSTD_STATIC_LINKING_ONLY /* contexts with allocators of ours */
#include <zstd.h>
#include <zstd_errors.h>

#include "core/memory.h"

typedef struct zstd {
    kfe_context *ctx;
    ZSTD_DCtx *decoder;
    ZSTD_CCtx *encoder;
} zstd;

static void *allocate(void *user, size_t size)
{
    return kfe_i_alloc(user, (int64_t)size, 1);
}

static void release(void *user, void *block)
{
    kfe_i_free(user, block);
}

static kfe_i_codec_result result_of(size_t code)
{
    if (!ZSTD_isError(code))
        return code == 0 ? KFE_CODEC_ENDED : KFE_CODEC_GOES_ON;
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return KFE_CODEC_NO_MEMORY;
    case ZSTD_error_frameParameter_windowTooLarge:
        return KFE_CODEC_TOO_LARGE;
    default:
        return KFE_CODEC_DAMAGED;
    }
}

static kfe_i_codec_result begin(kfe_context *ctx, int packs, void **state)
{
    ZSTD_customMem memory = {allocate, release, ctx};
    zstd *made = kfe_i_alloc_zero(ctx, 1, sizeof *made);

    *state = made;
    if (!made)
        return KFE_CODEC_NO_MEMORY;
    made->ctx = ctx;
    if (packs)
        made->encoder = ZSTD_createCCtx_advanced(memory);
    else
        made->decoder = ZSTD_createDCtx_advanced(memory);
    if (made->encoder)
        ZSTD_CCtx_setParameter(made->encoder, ZSTD_c_checksumFlag, 1);
    return made->encoder || made->decoder ? KFE_CODEC_GOES_ON : KFE_CODEC_NO_MEMORY;
}

static kfe_i_codec_result next(void *state)
{
    (void)state; /* the decoder goes on with the next frame by itself */
    return KFE_CODEC_GOES_ON;
}

static kfe_i_codec_result run(void *state, kfe_i_codec_io *io, kfe_i_codec_action action)
{
    static const ZSTD_EndDirective actions[] = {ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end};
    const zstd *own = state;
    ZSTD_inBuffer in = {io->in, (size_t)io->in_size, 0};
    ZSTD_outBuffer out = {io->out, (size_t)io->out_size, 0};
    size_t code = own->encoder ? ZSTD_compressStream2(own->encoder, &out, &in, actions[action])
                               : ZSTD_decompressStream(own->decoder, &out, &in);

    io->in += in.pos;
    io->in_size -= (int64_t)in.pos;
    io->out += out.pos;
    io->out_size -= (int64_t)out.pos;
    return result_of(code);
}

static void end(void *state)
{
    zstd *ended = state;

    if (!ended)
        return;
    ZSTD_freeDCtx(ended->decoder);
    ZSTD_freeCCtx(ended->encoder);
    kfe_i_free(ended->ctx, ended);
}
#endif

const kfe_i_packing kfe_i_packing_zstd = {
    .name = "Zstandard",
    .extension = "zst",
    .magic = "\x28\xb5\x2f\xfd",
    .magic_length = 4,
    .unpacker = "unzstd",
    .package = "libzstd-dev",
#ifdef KFE_HAS_ZSTD
    .begin = begin,
    .run = run,
    .next = next,
    .end = end,
#endif
};
