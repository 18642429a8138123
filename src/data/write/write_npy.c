/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of NumPy arrays (.npy) and archives (.npz): X and y for dense data, the arrays of scipy.sparse.save_npz
 * for CSR. */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/write/writer.h"

/* ---- one array ---- */

static void put_little_endian(kfe_i_sink *sink, uint64_t value, int size)
{
    unsigned char bytes[8];

    for (int k = 0; k < size; k++, value >>= 8)
        bytes[k] = (unsigned char)(value & 0xff);
    kfe_i_sink_put(sink, bytes, size);
}

static void put_double(kfe_i_sink *sink, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_little_endian(sink, bits, 8);
}

static void put_doubles(kfe_i_sink *sink, const double *values, int64_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    kfe_i_sink_put(sink, values, count * (int64_t)sizeof *values);
#else
    for (int64_t i = 0; i < count; i++)
        put_double(sink, values[i]);
#endif
}

/* Version 1.0; the data begin at a multiple of 64 bytes, so that the file can be mapped into memory. */
static void put_npy_header(kfe_i_sink *sink, const char *descr, const char *shape)
{
    char text[192];
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;

    kfe_i_sink_put(sink, "\x93NUMPY\1\0", 8);
    put_little_endian(sink, (uint64_t)padded, 2);
    kfe_i_sink_put(sink, text, length);
    for (; length < padded - 1; length++)
        kfe_i_sink_put(sink, " ", 1);
    kfe_i_sink_put(sink, "\n", 1);
}

static void put_matrix_header(kfe_i_sink *sink, int64_t rows, int64_t cols)
{
    char shape[64];

    snprintf(shape, sizeof shape, "%lld, %lld", (long long)rows, (long long)cols);
    put_npy_header(sink, "<f8", shape);
}

static void put_vector_header(kfe_i_sink *sink, const char *descr, int64_t count)
{
    char shape[64];

    snprintf(shape, sizeof shape, "%lld,", (long long)count);
    put_npy_header(sink, descr, shape);
}

/* Writes the target of one row: its numbers, or its class as a number. */
static void put_target(kfe_i_sink *sink, const kfe_i_target *target, const double *class_numbers, int64_t i)
{
    if (class_numbers)
        put_double(sink, class_numbers[target->codes[i]]);
    else
        put_doubles(sink, target->values + i * target->cols, target->cols);
}

/* Writes the table, with the target, if there is one, before or after the values of each row. */
static kfe_status put_rows(const kfe_i_written *what, kfe_i_sink *sink, const kfe_i_target *target,
                           const double *class_numbers)
{
    kfe_status status = KFE_OK;
    int64_t targets = !target ? 0 : class_numbers ? 1 : target->cols;

    put_matrix_header(sink, what->table.rows, what->table.cols + targets);
    for (int64_t i = 0; i < what->table.rows; i++) {
        if (target && what->target_first)
            put_target(sink, target, class_numbers, i);
        put_doubles(sink, kfe_i_written_dense(what, i), what->table.cols);
        if (target && !what->target_first)
            put_target(sink, target, class_numbers, i);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

static kfe_status write_npy(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    double *numbers = NULL;

    if (what->target && what->target->task == KFE_TASK_CLASSES) {
        KFE_TRY(kfe_i_class_numbers(what->ctx, what->target, &numbers));
        if (!numbers)
            KFE_FAIL(what->ctx, KFE_EINVAL,
                     "%s: labels that are text do not fit into a .npy file; write .npz or .csv", what->path);
    }
    KFE_TRY(put_rows(what, sink, what->target, numbers));
cleanup:
    kfe_i_free(what->ctx, numbers);
    return status;
}

const kfe_i_writer kfe_i_npy_writer = {"npy", write_npy, .packable = 1};

/* ---- archives ---- */

enum { MOST_MEMBERS = 8 };

typedef struct member {
    const char *name;
    uint32_t crc;
    int64_t begin, data, size; /* in the file */
} member;

typedef struct archive {
    const kfe_i_written *what;
    kfe_i_sink *sink;
    member members[MOST_MEMBERS];
    int count;
} archive;

/* Fields that the local header and the directory share: version, flags (bit 3: sizes follow the data),
 * method, and a fixed time, so that the same data make the same file. */
static void put_common(kfe_i_sink *sink, const member *entry, int known)
{
    static const unsigned char fixed[] = {20, 0, 8, 0, 0, 0, 0, 0, 0x21, 0};

    kfe_i_sink_put(sink, fixed, sizeof fixed);
    put_little_endian(sink, known ? entry->crc : 0, 4);
    put_little_endian(sink, known ? (uint64_t)entry->size : 0, 4);
    put_little_endian(sink, known ? (uint64_t)entry->size : 0, 4);
    put_little_endian(sink, strlen(entry->name), 2);
    put_little_endian(sink, 0, 2);
}

static void begin_member(archive *zip, const char *name)
{
    member *entry = &zip->members[zip->count];

    *entry = (member){.name = name, .begin = zip->sink->written};
    kfe_i_sink_put(zip->sink, "PK\3\4", 4);
    put_common(zip->sink, entry, 0);
    kfe_i_sink_puts(zip->sink, name);
    entry->data = zip->sink->written;
    kfe_i_sink_begin_crc(zip->sink);
}

static void end_member(archive *zip)
{
    member *entry = &zip->members[zip->count++];

    entry->crc = kfe_i_sink_crc(zip->sink);
    entry->size = zip->sink->written - entry->data;
    kfe_i_sink_put(zip->sink, "PK\7\10", 4);
    put_little_endian(zip->sink, entry->crc, 4);
    put_little_endian(zip->sink, (uint64_t)entry->size, 4);
    put_little_endian(zip->sink, (uint64_t)entry->size, 4);
}

static void put_directory(archive *zip)
{
    int64_t begin = zip->sink->written;
    int64_t size;

    for (int k = 0; k < zip->count; k++) {
        const member *entry = &zip->members[k];
        kfe_i_sink_put(zip->sink, "PK\1\2\24\0", 6);
        put_common(zip->sink, entry, 1);
        put_little_endian(zip->sink, 0, 8); /* comment, disk, attributes */
        put_little_endian(zip->sink, 0, 2);
        put_little_endian(zip->sink, (uint64_t)entry->begin, 4);
        kfe_i_sink_puts(zip->sink, entry->name);
    }
    size = zip->sink->written - begin;
    kfe_i_sink_put(zip->sink, "PK\5\6\0\0\0\0", 8);
    put_little_endian(zip->sink, (uint64_t)zip->count, 2);
    put_little_endian(zip->sink, (uint64_t)zip->count, 2);
    put_little_endian(zip->sink, (uint64_t)size, 4);
    put_little_endian(zip->sink, (uint64_t)begin, 4);
    put_little_endian(zip->sink, 0, 2);
}

/* ---- labels ---- */

/* Decodes the next UTF-8 character; invalid bytes become U+FFFD. */
static uint32_t next_character(const char **text)
{
    const unsigned char *c = (const unsigned char *)*text;
    int more = *c < 0x80 ? 0 : *c >> 5 == 6 ? 1 : *c >> 4 == 14 ? 2 : *c >> 3 == 30 ? 3 : -1;
    uint32_t value = more < 0 ? 0xfffd : more == 0 ? *c : *c & (0x3fu >> more);

    (*text)++;
    for (int k = 1; k <= more; k++) {
        if (c[k] >> 6 != 2)
            return 0xfffd;
        value = value << 6 | (c[k] & 0x3f);
        (*text)++;
    }
    return value;
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
        put_little_endian(sink, *text ? next_character(&text) : 0, 4);
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
    put_vector_header(zip->sink, descr, target->rows);
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
    begin_member(zip, "id.npy");
    snprintf(descr, sizeof descr, "<U%lld", (long long)width);
    put_vector_header(zip->sink, descr, ids->rows);
    for (int64_t i = 0; i < ids->rows; i++) {
        size_t length = (size_t)(ids->row_start[i + 1] - ids->row_start[i]);
        memcpy(text, ids->bytes + ids->row_start[i], length);
        text[length] = '\0';
        put_padded(zip->sink, text, width);
        KFE_TRY(kfe_i_sink_flush(zip->sink));
    }
    end_member(zip);
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

    put_vector_header(zip->sink, integers ? "<i8" : "<f8", target->rows);
    for (int64_t i = 0; i < target->rows; i++) {
        double number = numbers[target->codes[i]];
        if (integers)
            put_little_endian(zip->sink, (uint64_t)(int64_t)number, 8);
        else
            put_double(zip->sink, number);
    }
    return kfe_i_sink_flush(zip->sink);
}

static void put_real_target(archive *zip, const kfe_i_target *target)
{
    if (target->cols == 1)
        put_vector_header(zip->sink, "<f8", target->rows);
    else
        put_matrix_header(zip->sink, target->rows, target->cols);
    put_doubles(zip->sink, target->values, target->rows * target->cols);
}

static kfe_status put_labels(archive *zip, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    double *numbers = NULL;

    begin_member(zip, "y.npy");
    if (target->task == KFE_TASK_REAL) {
        put_real_target(zip, target);
    } else {
        KFE_TRY(kfe_i_class_numbers(zip->what->ctx, target, &numbers));
        if (numbers)
            KFE_TRY(put_class_numbers(zip, target, numbers));
        else
            KFE_TRY(put_names(zip, target));
    }
    end_member(zip);
cleanup:
    kfe_i_free(zip->what->ctx, numbers);
    return status;
}

/* ---- tables ---- */

static void put_csr(archive *zip)
{
    const kfe_i_table *table = &zip->what->table;
    int64_t first = table->row_start[0];
    int64_t entries = table->row_start[table->rows] - first;

    begin_member(zip, "indices.npy");
    put_vector_header(zip->sink, "<i4", entries);
    for (int64_t p = 0; p < entries; p++)
        put_little_endian(zip->sink, (uint64_t)table->columns[first + p], 4);
    end_member(zip);
    begin_member(zip, "indptr.npy");
    put_vector_header(zip->sink, "<i8", table->rows + 1);
    for (int64_t i = 0; i <= table->rows; i++)
        put_little_endian(zip->sink, (uint64_t)(table->row_start[i] - first), 8);
    end_member(zip);
    begin_member(zip, "format.npy");
    put_npy_header(zip->sink, "|S3", "");
    kfe_i_sink_puts(zip->sink, "csr");
    end_member(zip);
    begin_member(zip, "shape.npy");
    put_vector_header(zip->sink, "<i8", 2);
    put_little_endian(zip->sink, (uint64_t)table->rows, 8);
    put_little_endian(zip->sink, (uint64_t)table->cols, 8);
    end_member(zip);
    begin_member(zip, "data.npy");
    put_vector_header(zip->sink, "<f8", entries);
    put_doubles(zip->sink, table->values + first, entries);
    end_member(zip);
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
                      "%s: too large for an .npz file of ours; write .npy (dense) or .svm (sparse)",
                      what->path);
}

static kfe_status write_npz(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    archive zip = {.what = what, .sink = sink};

    KFE_TRY(check_size(what));
    if (what->table.kind == KFE_TABLE_CSR) {
        put_csr(&zip);
    } else if (what->table.cols > 0) {
        begin_member(&zip, "X.npy");
        KFE_TRY(put_rows(what, sink, NULL, NULL));
        end_member(&zip);
    }
    if (what->target)
        KFE_TRY(put_labels(&zip, what->target));
    if (what->ids)
        KFE_TRY(put_ids(&zip, what->ids));
    put_directory(&zip);
cleanup:
    return status;
}

const kfe_i_writer kfe_i_npz_writer = {"npz", write_npz, .holds_sparse = 1, .holds_ids = 1};
