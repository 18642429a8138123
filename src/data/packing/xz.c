/* SPDX-License-Identifier: Apache-2.0 */
/* .xz files by liblzma. Its memory is the context's, so that the limit holds for it too. */
#include "data/packing/packing.h"

#ifdef KFE_HAS_XZ
#include <lzma.h>
#include <string.h>

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

static xz *new_state(kfe_context *ctx)
{
    static const lzma_stream empty = LZMA_STREAM_INIT;
    xz *state = kfe_i_alloc_zero(ctx, 1, sizeof *state);

    if (!state)
        return NULL;
    state->ctx = ctx;
    state->allocator = (lzma_allocator){allocate, release, ctx};
    state->stream = empty;
    state->stream.allocator = &state->allocator;
    return state;
}

static kfe_i_codec_result unpack_next(void *state)
{
    return result_of(lzma_stream_decoder(&((xz *)state)->stream, UINT64_MAX, 0));
}

static kfe_i_codec_result begin_unpacking(kfe_context *ctx, void **state)
{
    *state = new_state(ctx);
    return *state ? unpack_next(*state) : KFE_CODEC_NO_MEMORY;
}

static kfe_i_codec_result step(xz *state, kfe_i_codec_io *io, lzma_action action)
{
    lzma_stream *stream = &state->stream;
    lzma_ret code;

    stream->next_in = io->in;
    stream->avail_in = (size_t)io->in_size;
    stream->next_out = io->out;
    stream->avail_out = (size_t)io->out_size;
    code = lzma_code(stream, action);
    io->in = stream->next_in;
    io->in_size = (int64_t)stream->avail_in;
    io->out = stream->next_out;
    io->out_size = (int64_t)stream->avail_out;
    return result_of(code);
}

static kfe_i_codec_result unpack(void *state, kfe_i_codec_io *io)
{
    return step(state, io, LZMA_RUN);
}

static kfe_i_codec_result begin_packing(kfe_context *ctx, void **state)
{
    xz *made = new_state(ctx);

    *state = made;
    if (!made)
        return KFE_CODEC_NO_MEMORY;
    return result_of(lzma_easy_encoder(&made->stream, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64));
}

static kfe_i_codec_result pack(void *state, kfe_i_codec_io *io, kfe_i_codec_action action)
{
    static const lzma_action actions[] = {LZMA_RUN, LZMA_SYNC_FLUSH, LZMA_FINISH};
    kfe_i_codec_result result = step(state, io, actions[action]);

    if (action == KFE_CODEC_RUN && result == KFE_CODEC_GOES_ON && io->in_size == 0 && io->out_size > 0)
        return KFE_CODEC_ENDED;
    return result;
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
    .begin_unpacking = begin_unpacking,
    .unpack_next = unpack_next,
    .unpack = unpack,
    .end_unpacking = end,
    .begin_packing = begin_packing,
    .pack = pack,
    .end_packing = end,
#endif
};
