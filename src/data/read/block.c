/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer over a text source that holds whole lines; the readers of text formats scan it. */
#include "data/read/block.h"

#include <string.h>

#include "core/memory.h"

/* A block is large enough to keep all threads busy, and small beside the table. The largest block bounds the length
 * of a line, and with it the memory that a hostile file can ask for. */
enum { BLOCK_SIZE = 8 << 20, LARGEST_BLOCK = 1 << 30 };

int64_t kfe_i_count_lines(const char *begin, const char *end)
{
    int64_t lines = 0;

    while (begin < end && (begin = memchr(begin, '\n', (size_t)(end - begin)))) {
        lines++;
        begin++;
    }
    return lines;
}

int64_t kfe_i_block_line(const kfe_i_block *block, const char *place)
{
    return block->line + kfe_i_count_lines(block->bytes, place);
}

const char *kfe_i_block_lines_end(const kfe_i_block *block)
{
    const char *end = block->bytes + block->length;

    while (end > block->bytes && end[-1] != '\n')
        end--;
    return end;
}

const char *kfe_i_block_some_lines_end(const kfe_i_block *block, int64_t most)
{
    const char *end = kfe_i_block_lines_end(block);
    const char *c = block->bytes;

    for (int64_t k = 0; k < most && c < end; k++)
        c = (const char *)memchr(c, '\n', (size_t)(end - c)) + 1;
    return c;
}

/* A small file needs a buffer of its size and one byte, which shows that nothing follows. */
static int64_t first_capacity(const kfe_i_source *source)
{
    int64_t expected = kfe_i_source_remaining(source);
    return expected >= 0 && expected + 2 < BLOCK_SIZE ? expected + 2 : BLOCK_SIZE;
}

kfe_status kfe_i_block_open(kfe_i_source *source, kfe_i_block *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->source = source;
    out->line = 1;
    out->capacity = first_capacity(source);
    KFE_ALLOC(source->ctx, out->bytes, out->capacity + 1);
cleanup:
    return status;
}

void kfe_i_block_close(kfe_i_block *block)
{
    if (block->source)
        kfe_i_free(block->source->ctx, block->bytes);
    memset(block, 0, sizeof *block);
}

static void begin_text(kfe_i_block *block)
{
    size_t length = (size_t)block->length;

    if (length >= 3 && memcmp(block->bytes, "\xef\xbb\xbf", 3) == 0) {
        memmove(block->bytes, block->bytes + 3, length - 3);
        block->length -= 3;
        length -= 3;
    }
    block->lone_returns = memchr(block->bytes, '\r', length) && !memchr(block->bytes, '\n', length);
    block->begun = 1;
}

static kfe_status refuse_binary(const kfe_i_block *block, const char *place)
{
    return kfe_i_fail_at(block->source->ctx, KFE_EINPUT, block->source->name, kfe_i_block_line(block, place),
                         0,
                         "a NUL byte: this is not a text table; save it as UTF-8 text, or name its format "
                         "with {format}");
}

/* Makes text of `got` bytes that were read behind the others. */
static kfe_status accept_bytes(kfe_i_block *block, int64_t got)
{
    const char *nul = memchr(block->bytes + block->length, 0, (size_t)got);

    block->length += got;
    if (nul)
        return refuse_binary(block, nul);
    if (!block->begun)
        begin_text(block);
    for (int64_t i = 0; block->lone_returns && i < block->length; i++)
        if (block->bytes[i] == '\r')
            block->bytes[i] = '\n';
    if (block->finished && block->length > 0 && block->bytes[block->length - 1] != '\n')
        block->bytes[block->length++] = '\n';
    return KFE_OK;
}

kfe_status kfe_i_block_fill(kfe_i_block *block)
{
    kfe_status status = KFE_OK;
    int64_t got = 0;

    if (block->finished)
        return KFE_OK;
    KFE_TRY(kfe_i_source_read(block->source, block->bytes + block->length, block->capacity - block->length,
                              &got));
    block->finished = block->length + got < block->capacity;
    KFE_TRY(accept_bytes(block, got));
cleanup:
    return status;
}

static kfe_status make_wider(kfe_i_block *block)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = block->source->ctx;
    char *wider = NULL;

    if (block->capacity >= LARGEST_BLOCK)
        return kfe_i_fail_at(ctx, KFE_EINPUT, block->source->name, block->line, 0,
                             "a line longer than 1 GB, or a quote that is never closed; check the quotes");
    KFE_CHECK_ALLOC_BY(ctx, wider, kfe_i_resize(ctx, block->bytes, 2 * block->capacity + 1, 1));
    block->bytes = wider;
    block->capacity *= 2;
cleanup:
    return status;
}

kfe_status kfe_i_block_widen(kfe_i_block *block)
{
    kfe_status status = make_wider(block);

    return status == KFE_OK ? kfe_i_block_fill(block) : status;
}

/* A mark of the byte order or a line end may come in two reads, so the first text waits for a whole line. */
static int lacks_first_line(const kfe_i_block *block)
{
    return !block->begun && !block->finished && block->length < block->capacity &&
           !memchr(block->bytes, '\n', (size_t)block->length);
}

kfe_status kfe_i_block_fill_at_hand(kfe_i_block *block, int wait)
{
    kfe_status status = KFE_OK;
    int64_t before = block->length;
    int64_t got = 0;

    if (block->finished)
        return KFE_OK;
    if (block->length == block->capacity && wait)
        KFE_TRY(make_wider(block));
    do {
        KFE_TRY(kfe_i_source_read_at_hand(block->source, block->bytes + block->length,
                                          block->capacity - block->length, wait, &got, &block->finished));
        block->length += got;
    } while (wait && lacks_first_line(block));
    got = block->length - before;
    block->length = before;
    KFE_TRY(accept_bytes(block, got));
cleanup:
    return status;
}

void kfe_i_block_consume(kfe_i_block *block, int64_t count)
{
    block->line += kfe_i_count_lines(block->bytes, block->bytes + count);
    memmove(block->bytes, block->bytes + count, (size_t)(block->length - count));
    block->length -= count;
}

/* Parts take what is at hand; else the buffer is filled, and made larger if nothing of a full one was used. */
static kfe_status fill_next(kfe_i_block *block, int in_parts, int needs_more)
{
    if (in_parts)
        return kfe_i_block_fill_at_hand(block, needs_more || kfe_i_block_lines_end(block) == block->bytes);
    return needs_more && block->length == block->capacity ? kfe_i_block_widen(block)
                                                          : kfe_i_block_fill(block);
}

kfe_status kfe_i_block_each(kfe_i_block *block, const int64_t *rows, kfe_i_block_fn take, void *reader)
{
    kfe_status status = KFE_OK;
    int64_t used = 1;

    do {
        KFE_TRY(fill_next(block, rows != NULL, used == 0));
        KFE_TRY(take(reader, &used));
        kfe_i_block_consume(block, used);
        KFE_TRY(kfe_i_source_progress(block->source));
    } while (!(block->finished && block->length == 0) && !(rows && *rows > 0));
cleanup:
    return status;
}

/* ---- line by line ---- */

kfe_status kfe_i_lines_open(kfe_i_source *source, kfe_i_lines *out)
{
    memset(out, 0, sizeof *out);
    return kfe_i_block_open(source, &out->block);
}

void kfe_i_lines_close(kfe_i_lines *lines)
{
    kfe_i_block_close(&lines->block);
}

/* Drops the lines that were walked through, and reads more. */
static kfe_status read_on(kfe_i_lines *lines)
{
    kfe_status status = kfe_i_source_progress(lines->block.source);

    if (status != KFE_OK)
        return status;
    kfe_i_block_consume(&lines->block, lines->taken);
    lines->taken = 0;
    return lines->block.length == lines->block.capacity ? kfe_i_block_widen(&lines->block)
                                                        : kfe_i_block_fill(&lines->block);
}

kfe_status kfe_i_lines_next(kfe_i_lines *lines, int *found)
{
    kfe_status status = KFE_OK;
    const char *stop;

    *found = 0;
    for (;;) {
        lines->begin = lines->block.bytes + lines->taken;
        stop = memchr(lines->begin, '\n', (size_t)(lines->block.length - lines->taken));
        if (stop || lines->block.finished)
            break;
        KFE_TRY(read_on(lines));
    }
    if (!stop)
        return KFE_OK;
    lines->taken = stop + 1 - lines->block.bytes;
    lines->end = stop > lines->begin && stop[-1] == '\r' ? stop - 1 : stop;
    lines->number++;
    *found = 1;
cleanup:
    return status;
}

kfe_status kfe_i_lines_next_content(kfe_i_lines *lines, char comment, const char **c)
{
    kfe_status status = KFE_OK;
    int found = 0;

    do {
        *c = NULL;
        KFE_TRY(kfe_i_lines_next(lines, &found));
        if (!found)
            break;
        *c = lines->begin;
        while (*c < lines->end && (**c == ' ' || **c == '\t'))
            (*c)++;
    } while (*c == lines->end || **c == comment);
cleanup:
    return status;
}
