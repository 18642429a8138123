/* SPDX-License-Identifier: Apache-2.0 */
/* Writes .npz archives, uncompressed: the arrays that npz.c reads, with names as NumPy and SciPy give them. */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "data/format/npy.h"

enum { MOST_MEMBERS = 8 };

typedef struct entry_written {
    const char *name;
    uint32_t crc;
    int64_t begin, data, size; /* in the file */
} entry_written;

typedef struct archive {
    const kfe_i_written *what;
    kfe_i_sink *sink;
    entry_written members[MOST_MEMBERS];
    int count;
} archive;

/* Fields that the local header and the directory share: version, flags (bit 3: sizes follow the data),
 * method, and a fixed time, so that the same data make the same file. */
static void put_common(kfe_i_sink *sink, const entry_written *entry, int known)
{
    static const unsigned char fixed[] = {20, 0, 8, 0, 0, 0, 0, 0, 0x21, 0};

    kfe_i_sink_put(sink, fixed, sizeof fixed);
    kfe_i_npy_put_whole(sink, known ? entry->crc : 0, 4);
    kfe_i_npy_put_whole(sink, known ? (uint64_t)entry->size : 0, 4);
    kfe_i_npy_put_whole(sink, known ? (uint64_t)entry->size : 0, 4);
    kfe_i_npy_put_whole(sink, strlen(entry->name), 2);
    kfe_i_npy_put_whole(sink, 0, 2);
}

static void begin_entry(archive *zip, const char *name)
{
    entry_written *entry = &zip->members[zip->count];

    *entry = (entry_written){.name = name, .begin = zip->sink->written};
    kfe_i_sink_put(zip->sink, "PK\3\4", 4);
    put_common(zip->sink, entry, 0);
    kfe_i_sink_puts(zip->sink, name);
    entry->data = zip->sink->written;
    kfe_i_sink_begin_crc(zip->sink);
}

static void end_entry(archive *zip)
{
    entry_written *entry = &zip->members[zip->count++];

    entry->crc = kfe_i_sink_crc(zip->sink);
    entry->size = zip->sink->written - entry->data;
    kfe_i_sink_put(zip->sink, "PK\7\10", 4);
    kfe_i_npy_put_whole(zip->sink, entry->crc, 4);
    kfe_i_npy_put_whole(zip->sink, (uint64_t)entry->size, 4);
    kfe_i_npy_put_whole(zip->sink, (uint64_t)entry->size, 4);
}

static void put_directory(archive *zip)
{
    int64_t begin = zip->sink->written;
    int64_t size;

    for (int k = 0; k < zip->count; k++) {
        const entry_written *entry = &zip->members[k];
        kfe_i_sink_put(zip->sink, "PK\1\2\24\0", 6);
        put_common(zip->sink, entry, 1);
        kfe_i_npy_put_whole(zip->sink, 0, 8); /* comment, disk, attributes */
        kfe_i_npy_put_whole(zip->sink, 0, 2);
        kfe_i_npy_put_whole(zip->sink, (uint64_t)entry->begin, 4);
        kfe_i_sink_puts(zip->sink, entry->name);
    }
    size = zip->sink->written - begin;
    kfe_i_sink_put(zip->sink, "PK\5\6\0\0\0\0", 8);
    kfe_i_npy_put_whole(zip->sink, (uint64_t)zip->count, 2);
    kfe_i_npy_put_whole(zip->sink, (uint64_t)zip->count, 2);
    kfe_i_npy_put_whole(zip->sink, (uint64_t)size, 4);
    kfe_i_npy_put_whole(zip->sink, (uint64_t)begin, 4);
    kfe_i_npy_put_whole(zip->sink, 0, 2);
}

/* Takes the next UTF-8 character; a byte that is not UTF-8 becomes U+FFFD. */
static uint32_t next_character(const char **text)
{
    uint32_t code = 0;
    size_t size = kfe_i_utf8_decode(*text, strnlen(*text, 4), &code);

    *text += size ? size : 1;
    return size ? code : 0xfffd;
}

static int64_t character_count(const char *text)
{
    int64_t count = 0;

    for (; *text; count++)
        next_character(&text);
    return count;
}

static void put_padded(kfe_i_sink *sink, const char *text, int64_t width)
{
    for (; width > 0; width--)
        kfe_i_npy_put_whole(sink, *text ? next_character(&text) : 0, 4);
}

static kfe_status put_names(archive *zip, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t width = 1;
    char descr[32];

    for (int64_t k = 0; k < target->class_count; k++) {
        int64_t length = character_count(target->names[k]);
        width = length > width ? length : width;
    }
    snprintf(descr, sizeof descr, "<U%lld", (long long)width);
    kfe_i_npy_put_vector_header(zip->sink, descr, target->rows);
    for (int64_t i = 0; i < target->rows; i++) {
        put_padded(zip->sink, target->names[target->codes[i]], width);
        KFE_TRY(kfe_i_sink_flush(zip->sink));
    }
cleanup:
    return status;
}

static kfe_status put_ids(archive *zip, const kfe_i_table *ids)
{
    kfe_status status = KFE_OK;
    int64_t width = 1;
    char *text = NULL;
    char descr[32];

    for (int64_t i = 0; i < ids->rows; i++)
        width = ids->row_start[i + 1] - ids->row_start[i] > width ? ids->row_start[i + 1] - ids->row_start[i]
                                                                  : width;
    KFE_ALLOC(zip->what->ctx, text, width + 1);
    begin_entry(zip, "id.npy");
    snprintf(descr, sizeof descr, "<U%lld", (long long)width);
    kfe_i_npy_put_vector_header(zip->sink, descr, ids->rows);
    for (int64_t i = 0; i < ids->rows; i++) {
        size_t length = (size_t)(ids->row_start[i + 1] - ids->row_start[i]);
        memcpy(text, ids->bytes + ids->row_start[i], length);
        text[length] = '\0';
        put_padded(zip->sink, text, width);
        KFE_TRY(kfe_i_sink_flush(zip->sink));
    }
    end_entry(zip);
cleanup:
    kfe_i_free(zip->what->ctx, text);
    return status;
}

static int all_integers(const double *numbers, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (numbers[k] < -9e15 || numbers[k] > 9e15 || numbers[k] != (double)(int64_t)numbers[k])
            return 0;
    return 1;
}

static kfe_status put_class_numbers(archive *zip, const kfe_i_target *target, const double *numbers)
{
    int integers = all_integers(numbers, target->class_count);

    kfe_i_npy_put_vector_header(zip->sink, integers ? "<i8" : "<f8", target->rows);
    for (int64_t i = 0; i < target->rows; i++) {
        double number = numbers[target->codes[i]];
        if (integers)
            kfe_i_npy_put_whole(zip->sink, (uint64_t)(int64_t)number, 8);
        else
            kfe_i_npy_put_double(zip->sink, number);
    }
    return kfe_i_sink_flush(zip->sink);
}

static void put_real_target(archive *zip, const kfe_i_target *target)
{
    if (target->cols == 1)
        kfe_i_npy_put_vector_header(zip->sink, "<f8", target->rows);
    else
        kfe_i_npy_put_matrix_header(zip->sink, target->rows, target->cols);
    kfe_i_npy_put_doubles(zip->sink, target->values, target->rows * target->cols);
}

static kfe_status put_labels(archive *zip, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    double *numbers = NULL;

    begin_entry(zip, "y.npy");
    if (target->task == KFE_TASK_REAL) {
        put_real_target(zip, target);
    } else {
        KFE_TRY(kfe_i_class_numbers(zip->what->ctx, target, &numbers));
        if (numbers)
            KFE_TRY(put_class_numbers(zip, target, numbers));
        else
            KFE_TRY(put_names(zip, target));
    }
    end_entry(zip);
cleanup:
    kfe_i_free(zip->what->ctx, numbers);
    return status;
}

static void put_csr(archive *zip)
{
    const kfe_i_table *table = &zip->what->table;
    int64_t first = table->row_start[0];
    int64_t entries = table->row_start[table->rows] - first;

    begin_entry(zip, "indices.npy");
    kfe_i_npy_put_vector_header(zip->sink, "<i4", entries);
    for (int64_t p = 0; p < entries; p++)
        kfe_i_npy_put_whole(zip->sink, (uint64_t)table->columns[first + p], 4);
    end_entry(zip);
    begin_entry(zip, "indptr.npy");
    kfe_i_npy_put_vector_header(zip->sink, "<i8", table->rows + 1);
    for (int64_t i = 0; i <= table->rows; i++)
        kfe_i_npy_put_whole(zip->sink, (uint64_t)(table->row_start[i] - first), 8);
    end_entry(zip);
    begin_entry(zip, "format.npy");
    kfe_i_npy_put_header(zip->sink, "|S3", "");
    kfe_i_sink_puts(zip->sink, "csr");
    end_entry(zip);
    begin_entry(zip, "shape.npy");
    kfe_i_npy_put_vector_header(zip->sink, "<i8", 2);
    kfe_i_npy_put_whole(zip->sink, (uint64_t)table->rows, 8);
    kfe_i_npy_put_whole(zip->sink, (uint64_t)table->cols, 8);
    end_entry(zip);
    begin_entry(zip, "data.npy");
    kfe_i_npy_put_vector_header(zip->sink, "<f8", entries);
    kfe_i_npy_put_doubles(zip->sink, table->values + first, entries);
    end_entry(zip);
}

static kfe_status check_size(const kfe_i_written *what)
{
    const kfe_i_table *table = &what->table;
    double elements = table->kind == KFE_TABLE_CSR
                          ? (double)(table->row_start[table->rows] - table->row_start[0])
                          : (double)table->rows * (double)table->cols;

    if (16 * (elements + 4 * (double)table->rows) < (double)UINT32_MAX)
        return KFE_OK;
    return kfe_i_fail(what->ctx, KFE_EUNSUPPORTED,
                      "%s: too large for an .npz file; write .npy (dense) or .svm (sparse)", what->path);
}

kfe_status kfe_i_npz_write(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    archive zip = {.what = what, .sink = sink};

    KFE_TRY(check_size(what));
    if (what->table.kind == KFE_TABLE_CSR) {
        put_csr(&zip);
    } else if (what->table.cols > 0) {
        begin_entry(&zip, "X.npy");
        KFE_TRY(kfe_i_npy_put_rows(what, sink, NULL, NULL));
        end_entry(&zip);
    }
    if (what->target)
        KFE_TRY(put_labels(&zip, what->target));
    if (what->ids)
        KFE_TRY(put_ids(&zip, what->ids));
    put_directory(&zip);
cleanup:
    return status;
}
