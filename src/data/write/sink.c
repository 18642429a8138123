/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered bytes into an output file, compressed if asked; every writer writes to one. */
#include "data/write/sink.h"

#include <string.h>

#include "core/memory.h"

enum { PENDING_SIZE = 1 << 20, PACKED_SIZE = 256 * 1024 };

static kfe_status start_packing(kfe_i_sink *sink, const kfe_i_packing *packing)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(sink->ctx, sink->packed_bytes, PACKED_SIZE);
    sink->packed = packing;
    if (packing->begin(sink->ctx, 1, &sink->packer) != KFE_CODEC_GOES_ON)
        KFE_FAIL(sink->ctx, kfe_i_lack(sink->ctx), "out of memory while compressing");
cleanup:
    return status;
}

kfe_status kfe_i_sink_open(kfe_context *ctx, const char *path, const kfe_i_packing *packed, kfe_i_sink *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    kfe_i_text_init(&out->pending, ctx);
    KFE_TRY(kfe_i_outfile_open(ctx, path, &out->file));
    if (packed)
        KFE_TRY(start_packing(out, packed));
cleanup:
    return status;
}

static kfe_status write_packed(kfe_i_sink *sink, kfe_i_codec_action action)
{
    kfe_i_codec_io io = {(const unsigned char *)sink->pending.bytes, sink->pending.length, NULL, 0};
    kfe_i_codec_result result = KFE_CODEC_GOES_ON;
    kfe_status status = KFE_OK;

    while (result == KFE_CODEC_GOES_ON) {
        io.out = sink->packed_bytes;
        io.out_size = PACKED_SIZE;
        result = sink->packed->run(sink->packer, &io, action);
        if (result == KFE_CODEC_GOES_ON && action != KFE_CODEC_FINISH && io.in_size == 0 && io.out_size > 0)
            result = KFE_CODEC_ENDED; /* the codec has taken all bytes and keeps some */
        if (result != KFE_CODEC_GOES_ON && result != KFE_CODEC_ENDED)
            KFE_FAIL(sink->ctx, kfe_i_lack(sink->ctx), "out of memory while compressing");
        KFE_TRY(kfe_i_outfile_write(&sink->file, sink->packed_bytes, (size_t)(PACKED_SIZE - io.out_size)));
    }
cleanup:
    return status;
}

static kfe_status write_pending(kfe_i_sink *sink, kfe_i_codec_action action)
{
    kfe_status status = sink->pending.status;

    if (status != KFE_OK)
        return status;
    if (sink->packed)
        status = write_packed(sink, action);
    else if (sink->pending.length > 0)
        status = kfe_i_outfile_write(&sink->file, sink->pending.bytes, (size_t)sink->pending.length);
    sink->pending.status = status;
    sink->pending.length = 0;
    return status;
}

void kfe_i_sink_put(kfe_i_sink *sink, const void *bytes, int64_t size)
{
    const char *rest = bytes;

    sink->written += size;
    while (size > 0) {
        int64_t part = size < PENDING_SIZE ? size : PENDING_SIZE;
        if (sink->crc_wanted)
            sink->crc = crc32(sink->crc, (const unsigned char *)rest, (uInt)part);
        kfe_i_text_add(&sink->pending, rest, part);
        rest += part;
        size -= part;
        if (kfe_i_sink_flush(sink) != KFE_OK)
            return;
    }
}

void kfe_i_sink_begin_crc(kfe_i_sink *sink)
{
    sink->crc = crc32(0, NULL, 0);
    sink->crc_wanted = 1;
}

uint32_t kfe_i_sink_crc(kfe_i_sink *sink)
{
    sink->crc_wanted = 0;
    return (uint32_t)sink->crc;
}

void kfe_i_sink_puts(kfe_i_sink *sink, const char *text)
{
    kfe_i_sink_put(sink, text, (int64_t)strlen(text));
}

void kfe_i_sink_put_number(kfe_i_sink *sink, double value)
{
    char text[KFE_NUMBER_TEXT];

    kfe_i_format_number(value, text);
    kfe_i_sink_puts(sink, text);
}

kfe_status kfe_i_sink_flush(kfe_i_sink *sink)
{
    if (sink->pending.length < PENDING_SIZE)
        return sink->pending.status;
    return write_pending(sink, KFE_CODEC_RUN);
}

kfe_status kfe_i_sink_deliver(kfe_i_sink *sink)
{
    kfe_status status;

    if (sink->file.aside) /* nobody sees it before it is complete */
        return sink->pending.status;
    status = write_pending(sink, KFE_CODEC_FLUSH);
    return status == KFE_OK ? kfe_i_outfile_flush(&sink->file) : status;
}

kfe_status kfe_i_sink_commit(kfe_i_sink *sink)
{
    kfe_status status = write_pending(sink, KFE_CODEC_FINISH);
    return status == KFE_OK ? kfe_i_outfile_commit(&sink->file) : status;
}

void kfe_i_sink_abandon(kfe_i_sink *sink)
{
    if (!sink->ctx)
        return;
    if (sink->packed)
        sink->packed->end(sink->packer);
    kfe_i_free(sink->ctx, sink->packed_bytes);
    kfe_i_text_free(&sink->pending);
    kfe_i_outfile_abandon(&sink->file);
    memset(sink, 0, sizeof *sink);
}
