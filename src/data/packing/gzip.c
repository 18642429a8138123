/* SPDX-License-Identifier: Apache-2.0 */
/* gzip files, and the raw deflate streams of zip archives, by zlib. Its memory is the context's, so that the limit holds for it too. */
#include <string.h>
#include <zlib.h>

#include "core/memory.h"
#include "data/packing/packing.h"

/* Of zlib: a window of 32 kB; with the header of gzip, or raw. */
enum { WINDOW = 15, GZIP = WINDOW + 16, RAW = -WINDOW, LARGEST_STEP = 1 << 30 };

typedef struct gzip {
    kfe_context *ctx;
    z_stream stream;
} gzip;

static voidpf allocate(voidpf user, uInt count, uInt size)
{
    return kfe_i_alloc(user, (int64_t)count, size);
}

static void release(voidpf user, voidpf block)
{
    kfe_i_free(user, block);
}

static kfe_i_codec_result result_of(int code)
{
    switch (code) {
    case Z_OK:
    case Z_BUF_ERROR: /* no progress is possible before there is more input or room */
        return KFE_CODEC_GOES_ON;
    case Z_STREAM_END:
        return KFE_CODEC_ENDED;
    default:
        return code == Z_MEM_ERROR ? KFE_CODEC_NO_MEMORY : KFE_CODEC_DAMAGED;
    }
}

static gzip *new_state(kfe_context *ctx)
{
    gzip *state = kfe_i_alloc_zero(ctx, 1, sizeof *state);

    if (!state)
        return NULL;
    state->ctx = ctx;
    state->stream = (z_stream){.zalloc = allocate, .zfree = release, .opaque = ctx};
    return state;
}

static kfe_i_codec_result begin_inflating(kfe_context *ctx, int window, void **state)
{
    gzip *made = new_state(ctx);

    *state = made;
    return made ? result_of(inflateInit2(&made->stream, window)) : KFE_CODEC_NO_MEMORY;
}

static kfe_i_codec_result begin_unpacking(kfe_context *ctx, void **state)
{
    return begin_inflating(ctx, GZIP, state);
}

static kfe_i_codec_result begin_raw(kfe_context *ctx, void **state)
{
    return begin_inflating(ctx, RAW, state);
}

static kfe_i_codec_result unpack_next(void *state)
{
    return result_of(inflateReset(&((gzip *)state)->stream));
}

static uInt step_of(int64_t size)
{
    return (uInt)(size < LARGEST_STEP ? size : LARGEST_STEP);
}

static kfe_i_codec_result step(z_stream *z, kfe_i_codec_io *io, int (*run)(z_streamp, int), int flush)
{
    uInt in = step_of(io->in_size);
    uInt out = step_of(io->out_size);

    z->next_in = (unsigned char *)(uintptr_t)io->in; /* zlib does not write there */
    z->avail_in = in;
    z->next_out = io->out;
    z->avail_out = out;
    int code = run(z, flush);
    io->in = z->next_in;
    io->in_size -= in - z->avail_in;
    io->out = z->next_out;
    io->out_size -= out - z->avail_out;
    return result_of(code);
}

static kfe_i_codec_result unpack(void *state, kfe_i_codec_io *io)
{
    return step(&((gzip *)state)->stream, io, inflate, Z_NO_FLUSH);
}

static void end_unpacking(void *state)
{
    gzip *ended = state;

    if (!ended)
        return;
    inflateEnd(&ended->stream);
    kfe_i_free(ended->ctx, ended);
}

static kfe_i_codec_result begin_packing(kfe_context *ctx, void **state)
{
    gzip *made = new_state(ctx);

    *state = made;
    return made ? result_of(deflateInit2(&made->stream, 6, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY))
                : KFE_CODEC_NO_MEMORY;
}

static kfe_i_codec_result pack(void *state, kfe_i_codec_io *io, kfe_i_codec_action action)
{
    static const int flushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    kfe_i_codec_result result = step(&((gzip *)state)->stream, io, deflate, flushes[action]);

    if (action != KFE_CODEC_FINISH && result == KFE_CODEC_GOES_ON && io->in_size == 0 && io->out_size > 0)
        return KFE_CODEC_ENDED;
    return result;
}

static void end_packing(void *state)
{
    gzip *ended = state;

    if (!ended)
        return;
    deflateEnd(&ended->stream);
    kfe_i_free(ended->ctx, ended);
}

const kfe_i_packing kfe_i_packing_gzip = {
    .name = "gzip",
    .extension = "gz",
    .magic = "\x1f\x8b",
    .magic_length = 2,
    .unpacker = "gunzip",
    .begin_unpacking = begin_unpacking,
    .unpack_next = unpack_next,
    .unpack = unpack,
    .end_unpacking = end_unpacking,
    .begin_packing = begin_packing,
    .pack = pack,
    .end_packing = end_packing,
};

const kfe_i_packing kfe_i_packing_deflate = {
    .name = "deflate",
    .begin_unpacking = begin_raw,
    .unpack_next = unpack_next,
    .unpack = unpack,
    .end_unpacking = end_unpacking,
};
