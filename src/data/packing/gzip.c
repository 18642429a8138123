/* SPDX-License-Identifier: Apache-2.0 */
/* gzip files, and the raw deflate streams of zip archives, by zlib. Its memory is the context's, so that the limit holds for it too. */
#include <zlib.h>

#include "core/memory.h"
#include "data/packing/packing.h"

/* Of zlib: a window of 32 kB; with the header of gzip, or raw. */
enum { WINDOW = 15, GZIP = WINDOW + 16, RAW = -WINDOW, LARGEST_STEP = 1 << 30 };

typedef struct gzip {
    kfe_context *ctx;
    z_stream stream;
    int packs;
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

static kfe_i_codec_result begin_with(kfe_context *ctx, int packs, int window, void **state)
{
    gzip *made = kfe_i_alloc_zero(ctx, 1, sizeof *made);

    *state = made;
    if (!made)
        return KFE_CODEC_NO_MEMORY;
    made->ctx = ctx;
    made->packs = packs;
    made->stream = (z_stream){.zalloc = allocate, .zfree = release, .opaque = ctx};
    return result_of(packs ? deflateInit2(&made->stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY)
                           : inflateInit2(&made->stream, window));
}

static kfe_i_codec_result begin(kfe_context *ctx, int packs, void **state)
{
    return begin_with(ctx, packs, GZIP, state);
}

static kfe_i_codec_result begin_raw(kfe_context *ctx, int packs, void **state)
{
    return begin_with(ctx, packs, RAW, state);
}

static kfe_i_codec_result next(void *state)
{
    return result_of(inflateReset(&((gzip *)state)->stream));
}

static uInt step_of(int64_t size)
{
    return (uInt)(size < LARGEST_STEP ? size : LARGEST_STEP);
}

static kfe_i_codec_result run(void *state, kfe_i_codec_io *io, kfe_i_codec_action action)
{
    static const int flushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    gzip *own = state;
    z_stream *z = &own->stream;
    uInt in = step_of(io->in_size);
    uInt out = step_of(io->out_size);

    z->next_in = (unsigned char *)(uintptr_t)io->in; /* zlib does not write there */
    z->avail_in = in;
    z->next_out = io->out;
    z->avail_out = out;
    int code = own->packs ? deflate(z, flushes[action]) : inflate(z, Z_NO_FLUSH);
    io->in = z->next_in;
    io->in_size -= in - z->avail_in;
    io->out = z->next_out;
    io->out_size -= out - z->avail_out;
    return result_of(code);
}

static void end(void *state)
{
    gzip *ended = state;

    if (!ended)
        return;
    if (ended->packs)
        deflateEnd(&ended->stream);
    else
        inflateEnd(&ended->stream);
    kfe_i_free(ended->ctx, ended);
}

const kfe_i_packing kfe_i_packing_gzip = {
    .name = "gzip",
    .extension = "gz",
    .magic = "\x1f\x8b",
    .magic_length = 2,
    .unpacker = "gunzip",
    .begin = begin,
    .run = run,
    .next = next,
    .end = end,
};

const kfe_i_packing kfe_i_packing_deflate = {
    .name = "deflate",
    .begin = begin_raw,
    .run = run,
    .next = next,
    .end = end,
};
