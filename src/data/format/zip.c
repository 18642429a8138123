/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the zip format that .npz archives need. Layout and names follow PKWARE's APPNOTE.TXT, sections 4.3.7
 * (local header), 4.3.12 (central directory), 4.3.14 to 4.3.16 (its end, and the zip64 forms) and 4.5.3 (the zip64
 * extra field). */
#include "data/format/zip.h"

#include <string.h>
#include <zlib.h>

#include "core/memory.h"

enum { LOCAL_SIZE = 30, ENTRY_SIZE = 46, END_SIZE = 22, END64_SIZE = 56, LOCATOR_SIZE = 20 };
enum { STORED = 0, DEFLATED = 8, FLAG_ENCRYPTED = 1, LARGEST_COMMENT = 65535 };
/* Deflate never expands data by more than this factor. */
enum { LARGEST_RATIO = 1032 };
enum { PIECE = 64 * 1024 };

static uint64_t number_at(const kfe_i_zip *zip, int64_t offset, int size)
{
    uint64_t value = 0;

    for (int k = size - 1; k >= 0; k--)
        value = value << 8 | zip->bytes[offset + k];
    return value;
}

static int has_signature(const kfe_i_zip *zip, int64_t offset, int64_t size, uint32_t signature)
{
    return offset >= 0 && size <= zip->size && offset <= zip->size - size &&
           number_at(zip, offset, 4) == signature;
}

static kfe_status damaged(const kfe_i_zip *zip, const char *reason)
{
    return kfe_i_fail_at(zip->ctx, KFE_EINPUT, zip->name, 0, 0,
                         "%s: the .npz file is truncated or damaged; save or copy it again", reason);
}

int kfe_i_zip_recognise(const char *head, int64_t length)
{
    return length >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

static int64_t find_end(const kfe_i_zip *zip)
{
    int64_t lowest = zip->size - END_SIZE - LARGEST_COMMENT;

    for (int64_t at = zip->size - END_SIZE; at >= 0 && at >= lowest; at--)
        if (has_signature(zip, at, END_SIZE, 0x06054b50))
            return at;
    return -1;
}

kfe_status kfe_i_zip_open(kfe_context *ctx, const char *name, const void *bytes, int64_t size, kfe_i_zip *out)
{
    int64_t end;

    *out = (kfe_i_zip){.ctx = ctx, .name = name, .bytes = bytes, .size = size};
    if (!kfe_i_zip_recognise(bytes, size))
        return kfe_i_fail_at(ctx, KFE_EINPUT, name, 0, 0,
                             "this is not an .npz file (wrong magic bytes); name the right format with "
                             "{format}");
    end = find_end(out);
    if (end < 0)
        return damaged(out, "it has no directory");
    out->entry_count = (int64_t)number_at(out, end + 10, 2);
    out->directory = (int64_t)number_at(out, end + 16, 4);
    if (has_signature(out, end - LOCATOR_SIZE, LOCATOR_SIZE, 0x07064b50)) {
        uint64_t end64 = number_at(out, end - LOCATOR_SIZE + 8, 8);
        if (end64 > (uint64_t)size || !has_signature(out, (int64_t)end64, END64_SIZE, 0x06064b50))
            return damaged(out, "its zip64 directory is not where it should be");
        out->entry_count = (int64_t)(number_at(out, (int64_t)end64 + 32, 8) & INT32_MAX);
        out->directory = (int64_t)(number_at(out, (int64_t)end64 + 48, 8) & INT64_MAX);
    }
    return out->directory <= size ? KFE_OK : damaged(out, "its directory lies past the end");
}

/* Sizes that do not fit in 32 bits are in an extra field, in this order. */
static int read_zip64_extra(const kfe_i_zip *zip, int64_t begin, int64_t end, kfe_i_zip_entry *entry)
{
    int64_t *fields[] = {&entry->unpacked, &entry->packed, &entry->header};

    while (begin + 4 <= end) {
        int64_t id = (int64_t)number_at(zip, begin, 2);
        int64_t stop = begin + 4 + (int64_t)number_at(zip, begin + 2, 2);
        if (stop > end)
            return 0;
        begin += 4;
        for (size_t k = 0; id == 1 && k < sizeof fields / sizeof *fields; k++)
            if (*fields[k] == UINT32_MAX) {
                if (begin + 8 > stop)
                    return 0;
                *fields[k] = (int64_t)(number_at(zip, begin, 8) & INT64_MAX);
                begin += 8;
            }
        begin = stop;
    }
    return 1;
}

kfe_status kfe_i_zip_entry_at(const kfe_i_zip *zip, int64_t offset, kfe_i_zip_entry *out)
{
    int64_t extra;

    if (!has_signature(zip, offset, ENTRY_SIZE, 0x02014b50))
        return damaged(zip, "an entry of its directory is missing");
    out->flags = (int)number_at(zip, offset + 8, 2);
    out->method = (int)number_at(zip, offset + 10, 2);
    out->crc = (uint32_t)number_at(zip, offset + 16, 4);
    out->packed = (int64_t)number_at(zip, offset + 20, 4);
    out->unpacked = (int64_t)number_at(zip, offset + 24, 4);
    out->header = (int64_t)number_at(zip, offset + 42, 4);
    out->name_length = (int64_t)number_at(zip, offset + 28, 2);
    out->name = (const char *)zip->bytes + offset + ENTRY_SIZE;
    extra = offset + ENTRY_SIZE + out->name_length;
    out->next = extra + (int64_t)number_at(zip, offset + 30, 2);
    if (out->next > zip->size || !read_zip64_extra(zip, extra, out->next, out))
        return damaged(zip, "an entry of its directory is cut off");
    out->next += (int64_t)number_at(zip, offset + 32, 2);
    return KFE_OK;
}

/* Unpacks the entry once, to know that it is whole before any of it is used. */
static kfe_status check_deflated(const kfe_i_zip *zip, const kfe_i_zip_entry *entry, int64_t data)
{
    kfe_status status = KFE_OK;
    kfe_i_source source = {.ctx = NULL};
    unsigned char *piece = NULL;
    uLong crc = crc32(0, NULL, 0);
    int64_t length = 0;
    int64_t got = 0;

    if (entry->unpacked / LARGEST_RATIO > entry->packed + 1)
        return damaged(zip, "an entry cannot unpack to the size it claims");
    KFE_TRY(kfe_i_check_memory(zip->ctx, (double)entry->unpacked, zip->name,
                               "raise {memory}, or save smaller arrays"));
    KFE_ALLOC(zip->ctx, piece, PIECE);
    KFE_TRY(kfe_i_source_open_deflated(zip->ctx, zip->name, zip->bytes + data, entry->packed, entry->unpacked,
                                       &source));
    do {
        int64_t left = entry->unpacked - length;
        KFE_TRY(kfe_i_source_read(&source, piece, left < PIECE ? left : PIECE, &got));
        crc = crc32(crc, piece, (uInt)got);
        length += got;
        KFE_TRY(kfe_i_progress(zip->ctx, "reading", 0, 0));
    } while (got > 0 && length < entry->unpacked);
    if (length < entry->unpacked)
        status = damaged(zip, "an entry is shorter than it claims");
    else if ((uint32_t)crc != entry->crc)
        status = damaged(zip, "an entry does not match its checksum");
cleanup:
    kfe_i_source_close(&source);
    kfe_i_free(zip->ctx, piece);
    return status;
}

static uint32_t checksum(const unsigned char *bytes, int64_t size)
{
    uLong crc = crc32(0, NULL, 0);

    for (; size > 0; size -= 1 << 30, bytes += 1 << 30)
        crc = crc32(crc, bytes, (uInt)(size < 1 << 30 ? size : 1 << 30));
    return (uint32_t)crc;
}

/* Where the entry's data begin; -1 if they do not lie in the file. */
static int64_t data_offset(const kfe_i_zip *zip, const kfe_i_zip_entry *entry)
{
    int64_t data;

    if (!has_signature(zip, entry->header, LOCAL_SIZE, 0x04034b50))
        return -1;
    data = entry->header + LOCAL_SIZE + (int64_t)number_at(zip, entry->header + 26, 2) +
           (int64_t)number_at(zip, entry->header + 28, 2);
    return data <= zip->size && entry->packed <= zip->size - data ? data : -1;
}

static kfe_status check_entry(const kfe_i_zip *zip, const kfe_i_zip_entry *entry, int64_t data)
{
    if (entry->flags & FLAG_ENCRYPTED)
        return kfe_i_fail_at(zip->ctx, KFE_EINPUT, zip->name, 0, 0,
                             "the .npz file is encrypted; save it without a password");
    if (entry->method != STORED && entry->method != DEFLATED)
        return kfe_i_fail_at(zip->ctx, KFE_EINPUT, zip->name, 0, 0,
                             "compression method %d is not supported; save it with numpy.savez or "
                             "numpy.savez_compressed",
                             entry->method);
    if (data < 0)
        return damaged(zip, "an entry lies past the end");
    if (entry->method == DEFLATED)
        return check_deflated(zip, entry, data);
    if (entry->packed != entry->unpacked)
        return damaged(zip, "an entry has two sizes");
    if (checksum(zip->bytes + data, entry->unpacked) != entry->crc)
        return damaged(zip, "an entry does not match its checksum");
    return KFE_OK;
}

kfe_status kfe_i_zip_open_entry(const kfe_i_zip *zip, const kfe_i_zip_entry *entry, kfe_i_source *out)
{
    int64_t data = data_offset(zip, entry);
    kfe_status status = check_entry(zip, entry, data);

    memset(out, 0, sizeof *out);
    if (status != KFE_OK)
        return status;
    if (entry->method == DEFLATED)
        return kfe_i_source_open_deflated(zip->ctx, zip->name, zip->bytes + data, entry->packed,
                                          entry->unpacked, out);
    return kfe_i_source_open_memory(zip->ctx, zip->name, zip->bytes + data, entry->unpacked, out);
}
