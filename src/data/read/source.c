/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes from a file, a pipe or memory, decompressed on the way; every reader reads from one. */
#include "data/read/source.h"

#include <errno.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/text.h"
#include "system/system.h"

enum { INPUT_SIZE = 256 * 1024, HEAD_SIZE = 64 * 1024 };

/* ---- opening ---- */

static kfe_status codec_failure(kfe_i_source *source, kfe_i_codec_result result)
{
    if (result == KFE_CODEC_NO_MEMORY)
        return kfe_i_fail(source->ctx, kfe_i_lack(source->ctx), "out of memory while decompressing %s",
                          source->name);
    if (result == KFE_CODEC_TOO_LARGE)
        return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                             "it was compressed with a window of more than 128 MB; unpack it with '%s' first",
                             source->packed->unpacker);
    return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                         "the compressed data is damaged (%s); copy or download the file again",
                         source->packed->name);
}

static kfe_status start_codec(kfe_i_source *source, const kfe_i_packing *packed)
{
    if (!packed->begin)
        return kfe_i_fail_at(
            source->ctx, KFE_EINPUT, source->name, 0, 0,
            "it is compressed with %s, which this build of kfe does not read; unpack it with "
            "'%s', or build kfe with %s installed",
            packed->name, packed->unpacker, packed->package);
    source->packed = packed;
    kfe_i_codec_result result = packed->begin(source->ctx, 0, &source->unpacker);
    return result == KFE_CODEC_GOES_ON ? KFE_OK : codec_failure(source, result);
}

static kfe_status begin_source(kfe_context *ctx, const char *name, kfe_i_source *out)
{
    kfe_status status = KFE_OK;
    kfe_i_text stage;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->descriptor = -1;
    KFE_STRDUP(ctx, out->name, name);
    kfe_i_text_init(&stage, ctx);
    kfe_i_text_printf(&stage, "reading %s", name);
    KFE_TRY(kfe_i_text_take(&stage, &out->stage));
    KFE_ALLOC(ctx, out->input, INPUT_SIZE);
cleanup:
    return status;
}

static kfe_status open_file(kfe_i_source *source, const char *path)
{
    if (strcmp(path, "-") == 0 && kfe_i_processes(source->ctx) > 1)
        return kfe_i_fail_at(
            source->ctx, KFE_EINPUT, source->name, 0, 0,
            "several processes share the work, and only one of them gets standard input; name a file");
    source->descriptor = kfe_i_input_open(path);
    if (source->descriptor < 0) {
        const char *remedy = errno == ENOENT   ? "; check the name"
                             : errno == EACCES ? "; you may not read it"
                                               : "";
        return kfe_i_fail_at(source->ctx, KFE_EIO, source->name, 0, 0, "cannot open: %s%s", strerror(errno),
                             remedy);
    }
    if (kfe_i_input_look(source->descriptor, &source->total) == KFE_PATH_FOLDER)
        return kfe_i_fail_at(source->ctx, KFE_EIO, source->name, 0, 0,
                             "it is a directory; name a file in it");
    return KFE_OK;
}

/* Takes up to `size` raw bytes; 0 at the end. */
static kfe_status take_raw(kfe_i_source *source, void *buffer, int64_t size, int64_t *got)
{
    int64_t count;

    *got = 0;
    if (source->descriptor < 0) {
        int64_t left = source->memory_size - source->taken;
        *got = size < left ? size : left;
        if (*got > 0)
            memcpy(buffer, source->memory + source->taken, (size_t)*got);
        source->taken += *got;
        return KFE_OK;
    }
    while ((count = kfe_i_input_read(source->descriptor, buffer, size)) < 0 && errno == EINTR) {
        /* a signal may have asked to stop waiting */
        kfe_status status = kfe_i_progress(source->ctx, "reading", source->taken, source->total);
        if (status != KFE_OK)
            return status;
    }
    if (count < 0)
        return kfe_i_fail_at(source->ctx, KFE_EIO, source->name, 0, 0, "cannot read: %s", strerror(errno));
    source->taken += count;
    *got = count;
    return KFE_OK;
}

static kfe_status fill_input(kfe_i_source *source)
{
    int64_t got = 0;
    int64_t held = source->input_end - source->input_begin;
    kfe_status status;

    memmove(source->input, source->input + source->input_begin, (size_t)held);
    source->input_begin = 0;
    source->input_end = held;
    status = take_raw(source, source->input + held, INPUT_SIZE - held, &got);
    source->input_end += got;
    return status;
}

/* Looks for the magic bytes of a compression, which a pipe may deliver one by one. */
static kfe_status look_for_packing(kfe_i_source *source)
{
    kfe_status status = KFE_OK;
    const kfe_i_packing *found = NULL;
    int64_t before = -1;
    int unsure = 1;

    while (unsure && source->input_end != before) {
        before = source->input_end;
        KFE_TRY(fill_input(source));
        found = kfe_i_packing_recognise(source->input, source->input_end, &unsure);
    }
    if (found)
        KFE_TRY(start_codec(source, found));
cleanup:
    return status;
}

kfe_status kfe_i_source_open(kfe_context *ctx, const char *path, kfe_i_source *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(begin_source(ctx, kfe_i_shown_path(path), out));
    KFE_TRY(open_file(out, path));
    KFE_TRY(look_for_packing(out));
cleanup:
    return status;
}

static kfe_status begin_memory(kfe_context *ctx, const char *name, const void *bytes, int64_t size,
                               kfe_i_source *out)
{
    kfe_status status = begin_source(ctx, name, out);

    out->memory = bytes;
    out->memory_size = out->total = size;
    return status;
}

kfe_status kfe_i_source_open_memory(kfe_context *ctx, const char *name, const void *bytes, int64_t size,
                                    kfe_i_source *out)
{
    kfe_status status = begin_memory(ctx, name, bytes, size, out);
    return status == KFE_OK ? look_for_packing(out) : status;
}

kfe_status kfe_i_source_open_deflated(kfe_context *ctx, const char *name, const void *bytes, int64_t size,
                                      int64_t unpacked, kfe_i_source *out)
{
    kfe_status status = begin_memory(ctx, name, bytes, size, out);
    out->unpacked = unpacked;
    return status == KFE_OK ? start_codec(out, &kfe_i_packing_deflate) : status;
}

void kfe_i_source_close(kfe_i_source *source)
{
    if (!source->ctx)
        return;
    if (source->packed)
        source->packed->end(source->unpacker);
    if (source->descriptor >= 0)
        kfe_i_input_close(source->descriptor);
    kfe_i_free(source->ctx, source->name);
    kfe_i_free(source->ctx, source->stage);
    kfe_i_free(source->ctx, source->input);
    kfe_i_free(source->ctx, source->head);
    memset(source, 0, sizeof *source);
    source->descriptor = -1;
}

/* ---- reading ---- */

static kfe_status read_plain(kfe_i_source *source, char *buffer, int64_t size, int64_t *got)
{
    int64_t held = source->input_end - source->input_begin;

    if (held == 0)
        return take_raw(source, buffer, size, got);
    *got = held < size ? held : size;
    memcpy(buffer, source->input + source->input_begin, (size_t)*got);
    source->input_begin += *got;
    return KFE_OK;
}

static kfe_status truncated(kfe_i_source *source)
{
    return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                         "the compressed data ends too early: the file is truncated; copy or download it "
                         "again");
}

static kfe_status reset_decoder(kfe_i_source *source)
{
    kfe_i_codec_result result = source->packed->next(source->unpacker);

    return result == KFE_CODEC_GOES_ON ? KFE_OK : codec_failure(source, result);
}

/* After a compressed stream comes another one or the end. Zeros, which tapes append, are skipped; the decoder refuses
 * anything else. */
static kfe_status next_member(kfe_i_source *source)
{
    if (source->packed == &kfe_i_packing_deflate) {
        source->ended = 1;
        return KFE_OK;
    }
    if (source->input_begin == source->input_end) {
        kfe_status status = fill_input(source);
        if (status != KFE_OK)
            return status;
    }
    while (source->input_begin < source->input_end && source->input[source->input_begin] == 0)
        source->input_begin++;
    if (source->input_begin == source->input_end) {
        source->ended = 1;
        return KFE_OK;
    }
    return reset_decoder(source);
}

static kfe_status run_codec(kfe_i_source *source, char *buffer, int64_t size, int64_t *got)
{
    kfe_i_codec_io io = {source->input + source->input_begin, source->input_end - source->input_begin,
                         (unsigned char *)buffer, size};
    kfe_i_codec_result result = source->packed->run(source->unpacker, &io, KFE_CODEC_RUN);

    source->input_begin = source->input_end - io.in_size;
    *got = size - io.out_size;
    source->holds_output = io.out_size == 0;
    if (result == KFE_CODEC_ENDED)
        return next_member(source);
    return result == KFE_CODEC_GOES_ON ? KFE_OK : codec_failure(source, result);
}

static kfe_status unpack_some(kfe_i_source *source, char *buffer, int64_t size, int64_t *got)
{
    kfe_status status = KFE_OK;

    *got = 0;
    if (source->ended)
        return KFE_OK;
    if (source->input_begin == source->input_end && !source->holds_output) {
        KFE_TRY(fill_input(source));
        if (source->input_begin == source->input_end)
            return truncated(source);
    }
    KFE_TRY(run_codec(source, buffer, size, got));
cleanup:
    return status;
}

/* Reads past the head, until `size` bytes came or there are no more. */
static kfe_status read_fresh(kfe_i_source *source, char *buffer, int64_t size, int64_t *got)
{
    kfe_status status = KFE_OK;

    *got = 0;
    while (*got < size) {
        int64_t more = 0;
        if (source->packed) {
            KFE_TRY(unpack_some(source, buffer + *got, size - *got, &more));
            *got += more;
            if (source->ended)
                break;
        } else {
            KFE_TRY(read_plain(source, buffer + *got, size - *got, &more));
            *got += more;
            if (more == 0)
                break;
        }
    }
cleanup:
    return status;
}

/* Whether a read would not wait. */
static int is_at_hand(const kfe_i_source *source)
{
    if (source->descriptor < 0 || source->input_begin < source->input_end || source->holds_output)
        return 1;
    return kfe_i_input_is_ready(source->descriptor);
}

/* Reads past the head what is at hand; if `wait` is set, at least one byte unless the source ends. */
static kfe_status read_fresh_at_hand(kfe_i_source *source, char *buffer, int64_t size, int wait, int64_t *got,
                                     int *ended)
{
    kfe_status status = KFE_OK;

    *got = 0;
    while (*got < size && !*ended && ((wait && *got == 0) || is_at_hand(source))) {
        int64_t more = 0;
        if (source->packed)
            KFE_TRY(unpack_some(source, buffer + *got, size - *got, &more));
        else
            KFE_TRY(read_plain(source, buffer + *got, size - *got, &more));
        *got += more;
        *ended = source->packed ? source->ended : more == 0;
    }
cleanup:
    return status;
}

/* Moves up to `size` bytes of the head to the buffer and returns how many. */
static int64_t take_head(kfe_i_source *source, void *buffer, int64_t size)
{
    int64_t held = source->head_end - source->head_begin;

    held = held < size ? held : size;
    if (held > 0)
        memcpy(buffer, source->head + source->head_begin, (size_t)held);
    source->head_begin += held;
    return held;
}

kfe_status kfe_i_source_read_at_hand(kfe_i_source *source, void *buffer, int64_t size, int wait, int64_t *got,
                                     int *ended)
{
    int64_t held = take_head(source, buffer, size);
    int64_t fresh = 0;
    kfe_status status = KFE_OK;

    *ended = 0;
    if (held < size)
        status =
            read_fresh_at_hand(source, (char *)buffer + held, size - held, wait && held == 0, &fresh, ended);
    *got = held + fresh;
    source->unpacked -= *got;
    return status;
}

kfe_status kfe_i_source_read(kfe_i_source *source, void *buffer, int64_t size, int64_t *got)
{
    int64_t held = take_head(source, buffer, size);
    int64_t fresh = 0;
    kfe_status status = KFE_OK;

    if (held < size)
        status = read_fresh(source, (char *)buffer + held, size - held, &fresh);
    *got = held + fresh;
    source->unpacked -= *got;
    return status;
}

/* Whether the bytes hold the end of a line that is not blank. */
static int holds_line(const char *bytes, int64_t count)
{
    int64_t i = 0;

    while (i < count && (bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == ' ' || bytes[i] == '\t'))
        i++;
    return i < count && memchr(bytes + i, '\n', (size_t)(count - i)) != NULL;
}

static kfe_status read_first_line(kfe_i_source *source)
{
    kfe_status status = KFE_OK;
    int ended = 0;

    while (!ended && source->head_end < HEAD_SIZE && !holds_line(source->head, source->head_end)) {
        int64_t more = 0;
        KFE_TRY(read_fresh_at_hand(source, source->head + source->head_end, HEAD_SIZE - source->head_end, 1,
                                   &more, &ended));
        source->head_end += more;
    }
cleanup:
    return status;
}

kfe_status kfe_i_source_peek(kfe_i_source *source, const char **bytes, int64_t *count)
{
    kfe_status status = KFE_OK;

    if (!source->head) {
        KFE_ALLOC(source->ctx, source->head, HEAD_SIZE);
        KFE_TRY(source->in_parts ? read_first_line(source)
                                 : read_fresh(source, source->head, HEAD_SIZE, &source->head_end));
    }
    *bytes = source->head + source->head_begin;
    *count = source->head_end - source->head_begin;
cleanup:
    return status;
}

int64_t kfe_i_source_remaining(const kfe_i_source *source)
{
    if (source->packed == &kfe_i_packing_deflate)
        return source->unpacked > 0 ? source->unpacked : 0;
    if (source->packed || (source->descriptor >= 0 && source->total == 0))
        return -1;
    return source->total - source->taken + (source->input_end - source->input_begin) +
           (source->head_end - source->head_begin);
}

kfe_status kfe_i_source_read_all(kfe_i_source *source, char **bytes, int64_t *count)
{
    kfe_status status = KFE_OK;
    char *all = NULL;
    int64_t expected = kfe_i_source_remaining(source);
    int64_t capacity = expected > 0 ? expected + 1 : HEAD_SIZE;
    int64_t length = 0;
    int64_t got = 0;

    *bytes = NULL;
    *count = 0;
    KFE_ALLOC(source->ctx, all, capacity);
    do {
        KFE_GROW(source->ctx, all, capacity, length + 1);
        KFE_TRY(kfe_i_source_read(source, all + length, capacity - length, &got));
        length += got;
        KFE_TRY(kfe_i_source_progress(source));
    } while (length == capacity);
    *bytes = all;
    *count = length;
    return KFE_OK;
cleanup:
    kfe_i_free(source->ctx, all);
    return status;
}

kfe_status kfe_i_source_progress(kfe_i_source *source)
{
    return kfe_i_progress(source->ctx, source->stage, source->taken, source->total);
}

const char *kfe_i_shown_path(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const kfe_i_packing *kfe_i_path_extension(const char *path, char *out, size_t size)
{
    size_t packed_length;
    size_t begin;
    const kfe_i_packing *packed = kfe_i_packing_of_path(path, &packed_length);
    size_t length = strlen(path) - packed_length;

    out[0] = '\0';
    for (begin = length; begin > 0 && path[begin - 1] != '.' && path[begin - 1] != '/'; begin--)
        ;
    if (begin == 0 || path[begin - 1] == '/' || length - begin >= size)
        return packed;
    for (size_t i = begin; i < length; i++)
        out[i - begin] = (char)(path[i] >= 'A' && path[i] <= 'Z' ? path[i] + ('a' - 'A') : path[i]);
    out[length - begin] = '\0';
    return packed;
}
