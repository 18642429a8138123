/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .npz archives, read (npz_write.c writes them): `X` (or the first array of two dimensions) and labels `y`, as numpy.savez writes them,
 * or a CSR matrix of scipy.sparse.save_npz, with or without `y`.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
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

const kfe_i_format kfe_i_format_npz = {
    .name = "npz",
    .extensions = "npz",
    .magic = "PK",
    .recognise = recognise_npz,
    .read = read_npz,
    .write = kfe_i_npz_write,
    .packs_itself = 1,
    .holds_sparse = 1,
    .holds_ids = 1,
};
