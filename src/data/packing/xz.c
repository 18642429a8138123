/* SPDX-License-Identifier: Apache-2.0 */
/* .xz files by liblzma. Its memory is the context's, so that the limit holds for it too. */
#include "data/packing/packing.h"

#ifdef KFE_HAS_XZ
#include <lzma.h>

#include "core/memory.h"

typedef struct xz {
    kfe_context *ctx;
    lzma_allocator allocator;
    lzma_stream stream;
} xz;

static void *allocate(void *user, size_t count, size_t size)
{
    return kfe_i_alloc(user, (int64_t)count, size);
}

static void release(void *user, void *block)
{
    kfe_i_free(user, block);
}

static kfe_i_codec_result result_of(lzma_ret code)
{
    switch (code) {
    case LZMA_OK:
    case LZMA_BUF_ERROR: /* no progress is possible before there is more input or room */
        return KFE_CODEC_GOES_ON;
    case LZMA_STREAM_END:
        return KFE_CODEC_ENDED;
    case LZMA_MEM_ERROR:
    case LZMA_MEMLIMIT_ERROR:
        return KFE_CODEC_NO_MEMORY;
    default:
        return KFE_CODEC_DAMAGED;
    }
}

static kfe_i_codec_result next(void *state)
{
    return result_of(lzma_stream_decoder(&((xz *)state)->stream, UINT64_MAX, 0));
}

static kfe_i_codec_result begin(kfe_context *ctx, int packs, void **state)
{
    static const lzma_stream empty = LZMA_STREAM_INIT;
    xz *made = kfe_i_alloc_zero(ctx, 1, sizeof *made);

    *state = made;
    if (!made)
        return KFE_CODEC_NO_MEMORY;
    made->ctx = ctx;
    made->allocator = (lzma_allocator){allocate, release, ctx};
    made->stream = empty;
    made->stream.allocator = &made->allocator;
    return packs ? result_of(lzma_easy_encoder(&made->stream, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64))
                 : next(made);
}

static kfe_i_codec_result run(void *state, kfe_i_codec_io *io, kfe_i_codec_action action)
{
    static const lzma_action actions[] = {LZMA_RUN, LZMA_SYNC_FLUSH, LZMA_FINISH};
    lzma_stream *stream = &((xz *)state)->stream;
    lzma_ret code;

    stream->next_in = io->in;
    stream->avail_in = (size_t)io->in_size;
    stream->next_out = io->out;
    stream->avail_out = (size_t)io->out_size;
    code = lzma_code(stream, actions[action]);
    io->in = stream->next_in;
    io->in_size = (int64_t)stream->avail_in;
    io->out = stream->next_out;
    io->out_size = (int64_t)stream->avail_out;
    return result_of(code);
}

static void end(void *state)
{
    xz *ended = state;

    if (!ended)
        return;
    lzma_end(&ended->stream);
    kfe_i_free(ended->ctx, ended);
}
#endif

const kfe_i_packing kfe_i_packing_xz = {
    .name = "xz",
    .extension = "xz",
    .magic = "\xfd\x37\x7a\x58\x5a\x00",
    .magic_length = 6,
    .unpacker = "unxz",
    .package = "liblzma-dev",
#ifdef KFE_HAS_XZ
    .begin = begin,
    .run = run,
    .next = next,
    .end = end,
#endif
};
