/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .npz archives, read and written: `X` (or the first array of two dimensions) and labels `y`, as numpy.savez writes them,
 * or a CSR matrix of scipy.sparse.save_npz, with or without `y`.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "data/format/npy.h"
#include "data/format/zip.h"

/* An array of the archive, opened for reading. */
typedef struct member {
    char what[64]; /* its name, for messages */
    kfe_i_source source;
} member;

static void close_member(member *array)
{
    kfe_i_source_close(&array->source);
}

static kfe_status open_member(const kfe_i_zip *zip, const kfe_i_zip_entry *entry, member *out)
{
    size_t length = entry->name_length < 60 ? (size_t)entry->name_length : 60;

    memset(out, 0, sizeof *out);
    memcpy(out->what, entry->name, length);
    return kfe_i_zip_open_entry(zip, entry, &out->source);
}

static int is_named(const kfe_i_zip_entry *entry, const char *name)
{
    size_t length = strlen(name);

    return entry->name_length == (int64_t)length + 4 && memcmp(entry->name, name, length) == 0 &&
           memcmp(entry->name + length, ".npy", 4) == 0;
}

/* *found is 0 if the archive has no array of this name. */
static kfe_status find_member(const kfe_i_zip *zip, const char *name, kfe_i_zip_entry *out, int *found)
{
    kfe_status status = KFE_OK;
    int64_t offset = zip->directory;

    *found = 0;
    for (int64_t k = 0; k < zip->entry_count && !*found; k++, offset = out->next) {
        KFE_TRY(kfe_i_zip_entry_at(zip, offset, out));
        *found = is_named(out, name);
    }
cleanup:
    return status;
}

static kfe_status has_two_dimensions(const kfe_i_zip *zip, const kfe_i_zip_entry *entry, int *answer)
{
    kfe_status status = KFE_OK;
    member array;
    kfe_i_npy npy;

    KFE_TRY(open_member(zip, entry, &array));
    KFE_TRY(kfe_i_npy_read_header(&array.source, array.what, &npy));
    *answer = npy.dimensions == 2;
cleanup:
    close_member(&array);
    return status;
}

/* X, the only array, or the first of two dimensions. */
static kfe_status find_table(const kfe_i_zip *zip, kfe_i_zip_entry *out)
{
    kfe_status status = KFE_OK;
    int64_t offset = zip->directory;
    int found = 0;

    KFE_TRY(find_member(zip, "X", out, &found));
    for (int64_t k = 0; k < zip->entry_count && !found; k++, offset = out->next) {
        KFE_TRY(kfe_i_zip_entry_at(zip, offset, out));
        found = zip->entry_count == 1;
        if (!found)
            KFE_TRY(has_two_dimensions(zip, out, &found));
    }
    if (!found)
        status = kfe_i_fail_at(zip->ctx, KFE_EINPUT, zip->name, 0, 0,
                               "the archive has no array X and none of two dimensions; save it with "
                               "numpy.savez(file, X=X, y=y)");
cleanup:
    return status;
}

static kfe_status read_labels(const kfe_i_zip *zip, const kfe_i_zip_entry *entry, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    member array;

    KFE_TRY(open_member(zip, entry, &array));
    KFE_TRY(kfe_i_npy_read_labels(&array.source, array.what, &out->labels));
    if (out->table.ctx && out->labels.rows != out->table.rows)
        KFE_FAIL(zip->ctx, KFE_EINPUT, "%s: X has %lld rows, but y has %lld; they must match", zip->name,
                 (long long)out->table.rows, (long long)out->labels.rows);
    out->has_missing |= kfe_i_labels_find_missing(&out->labels) >= 0;
cleanup:
    close_member(&array);
    return status;
}

static kfe_status read_dense(const kfe_i_zip *zip, const kfe_i_read_settings *settings, int with_label,
                             kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_zip_entry entry;
    member array = {.source.ctx = NULL};

    KFE_TRY(find_table(zip, &entry));
    KFE_TRY(open_member(zip, &entry, &array));
    KFE_TRY(kfe_i_npy_read_table(&array.source, array.what, settings, with_label, out));
cleanup:
    close_member(&array);
    return status;
}

/* ---- sparse ---- */

/* A member of the sparse form, as numbers. */
static kfe_status read_vector(const kfe_i_zip *zip, const char *name, double **values, int64_t *count)
{
    kfe_status status = KFE_OK;
    kfe_i_zip_entry entry;
    kfe_i_npy npy;
    member array = {.source.ctx = NULL};
    int found = 0;

    KFE_TRY(find_member(zip, name, &entry, &found));
    if (!found)
        KFE_FAIL(zip->ctx, KFE_EINPUT, "%s: the sparse matrix has no array '%s'; save it again", zip->name,
                 name);
    KFE_TRY(open_member(zip, &entry, &array));
    KFE_TRY(kfe_i_npy_read_header(&array.source, name, &npy));
    KFE_TRY(kfe_i_npy_read_numbers(&array.source, name, &npy, values));
    *count = npy.count;
cleanup:
    close_member(&array);
    return status;
}

static kfe_status check_sparse_format(const kfe_i_zip *zip, const kfe_i_zip_entry *entry)
{
    kfe_status status = KFE_OK;
    kfe_i_npy npy;
    kfe_i_labels word;
    member array;

    kfe_i_labels_init(&word, zip->ctx);
    KFE_TRY(open_member(zip, entry, &array));
    KFE_TRY(kfe_i_npy_read_header(&array.source, "format", &npy));
    if (npy.kind == 'U' || npy.kind == 'S')
        KFE_TRY(kfe_i_npy_read_words(&array.source, "format", &npy, &word));
    if (word.rows != 1 || word.codes[0] < 0 || strcmp(kfe_i_intern_word(&word.words, 0), "csr") != 0)
        KFE_FAIL(zip->ctx, KFE_EINPUT,
                 "%s: sparse matrices are read in the form 'csr' only; convert with A.tocsr() and save it "
                 "again",
                 zip->name);
cleanup:
    kfe_i_labels_free(&word);
    close_member(&array);
    return status;
}

static kfe_status bad_sparse(const kfe_i_zip *zip, const char *reason)
{
    return kfe_i_fail_at(zip->ctx, KFE_EINPUT, zip->name, 0, 0, "the sparse matrix is damaged: %s", reason);
}

/* A whole number from 0 to limit. */
static int is_index(double value, double limit)
{
    return value >= 0 && value <= limit && value == floor(value);
}

static kfe_status take_shape(const kfe_i_zip *zip, kfe_i_table *table)
{
    kfe_status status = KFE_OK;
    double *shape = NULL;
    int64_t count = 0;

    KFE_TRY(read_vector(zip, "shape", &shape, &count));
    if (count != 2 || !is_index(shape[0], 9e15) || !is_index(shape[1], INT32_MAX)) {
        status = bad_sparse(zip, "its shape is impossible");
        goto cleanup;
    }
    table->rows = (int64_t)shape[0];
    table->cols = (int64_t)shape[1];
cleanup:
    kfe_i_free(zip->ctx, shape);
    return status;
}

static kfe_status take_row_starts(const kfe_i_zip *zip, kfe_i_table *table, int64_t entries)
{
    kfe_status status = KFE_OK;
    double *starts = NULL;
    int64_t count = 0;

    KFE_TRY(read_vector(zip, "indptr", &starts, &count));
    if (count - 1 != table->rows || starts[0] != 0 || starts[count - 1] != (double)entries) {
        status = bad_sparse(zip, "indptr does not fit the shape and the data");
        goto cleanup;
    }
    KFE_ALLOC(zip->ctx, table->row_start, count);
    for (int64_t i = 0; i < count; i++) {
        if (!is_index(starts[i], (double)entries) || (i > 0 && starts[i] < starts[i - 1])) {
            status = bad_sparse(zip, "indptr falls");
            goto cleanup;
        }
        table->row_start[i] = (int64_t)starts[i];
    }
cleanup:
    kfe_i_free(zip->ctx, starts);
    return status;
}

static kfe_status take_columns(const kfe_i_zip *zip, kfe_i_table *table, int64_t entries)
{
    kfe_status status = KFE_OK;
    double *indices = NULL;
    int64_t count = 0;

    KFE_TRY(read_vector(zip, "indices", &indices, &count));
    if (count != entries) {
        status = bad_sparse(zip, "indices and data differ in length");
        goto cleanup;
    }
    KFE_ALLOC(zip->ctx, table->columns, entries);
    for (int64_t p = 0; p < entries; p++) {
        if (!is_index(indices[p], (double)table->cols - 1)) {
            status = bad_sparse(zip, "a column index is out of range");
            goto cleanup;
        }
        table->columns[p] = (int32_t)indices[p];
    }
cleanup:
    kfe_i_free(zip->ctx, indices);
    return status;
}

static kfe_status check_sparse(const kfe_i_zip *zip, const kfe_i_table *table, int64_t columns)
{
    kfe_status status;

    if (table->rows == 0 || table->cols == 0)
        return bad_sparse(zip, "it is empty");
    if (kfe_i_table_check(zip->ctx, table) != KFE_OK)
        return bad_sparse(zip,
                          "the columns of a row are not in order; call A.sum_duplicates() before saving");
    status = kfe_i_table_check_finite(zip->ctx, table, zip->name);
    if (status == KFE_OK && columns > 0 && table->cols > columns)
        return kfe_i_fail(zip->ctx, KFE_EINPUT, "%s: %lld columns, but %lld are expected", zip->name,
                          (long long)table->cols, (long long)columns);
    return status;
}

static kfe_status read_sparse(const kfe_i_zip *zip, const kfe_i_zip_entry *format,
                              const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = &out->table;
    int64_t entries = 0;

    table->ctx = zip->ctx;
    table->owned = 1;
    table->kind = KFE_TABLE_CSR;
    KFE_TRY(check_sparse_format(zip, format));
    KFE_TRY(take_shape(zip, table));
    KFE_TRY(read_vector(zip, "data", &table->values, &entries));
    KFE_TRY(take_row_starts(zip, table, entries));
    KFE_TRY(take_columns(zip, table, entries));
    KFE_TRY(check_sparse(zip, table, settings->columns));
cleanup:
    return status;
}

/* ---- the archive ---- */

static kfe_status read_archive(const kfe_i_zip *zip, const kfe_i_read_settings *settings,
                               kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_zip_entry labels;
    kfe_i_zip_entry format;
    int in_table = strcmp(settings->label, "auto") != 0; /* X may hold the label */
    int has_labels = 0;
    int sparse = 0;

    KFE_TRY(find_member(zip, "y", &labels, &has_labels));
    KFE_TRY(find_member(zip, "format", &format, &sparse));
    if (settings->content == KFE_CONTENT_LABELS)
        return has_labels ? read_labels(zip, &labels, out) : KFE_OK;
    if (sparse)
        KFE_TRY(read_sparse(zip, &format, settings, out));
    else
        KFE_TRY(read_dense(zip, settings, in_table || (settings->expected && !has_labels), out));
    if (has_labels && !out->labels.present && strcmp(settings->label, "none") != 0 &&
        !settings->label_file[0])
        KFE_TRY(read_labels(zip, &labels, out));
cleanup:
    return status;
}

static kfe_status read_npz(kfe_i_source *source, const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = source->ctx;
    kfe_i_zip zip;
    char *bytes = NULL;
    int64_t size = 0;

    if (settings->content == KFE_CONTENT_STRINGS)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: strings are read from text tables only", source->name);
    KFE_TRY(kfe_i_source_read_all(source, &bytes, &size));
    KFE_TRY(kfe_i_zip_open(ctx, source->name, bytes, size, &zip));
    KFE_TRY(read_archive(&zip, settings, out));
cleanup:
    kfe_i_free(ctx, bytes);
    return status;
}

/* The first entry of NumPy's archives is an array called NAME.npy. */
static int recognise_npz(const char *head, int64_t length)
{
    enum { NAME = 30 }; /* where the name of the first entry begins; its length is two bytes at 26 */

    if (!kfe_i_zip_recognise(head, length) || length < NAME || head[2] != 3)
        return kfe_i_zip_recognise(head, length);
    int64_t size = (unsigned char)head[26] + 256 * (unsigned char)head[27];
    size = size < length - NAME ? size : length - NAME;
    return size >= 4 && memcmp(head + NAME + size - 4, ".npy", 4) == 0;
}

/* ---- writing ---- */

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

static kfe_status write_npz(const kfe_i_written *what, kfe_i_sink *sink)
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

const kfe_i_format kfe_i_format_npz = {
    .name = "npz",
    .extensions = "npz",
    .magic = "PK",
    .recognise = recognise_npz,
    .read = read_npz,
    .write = write_npz,
    .packs_itself = 1,
    .holds_sparse = 1,
    .holds_ids = 1,
};
