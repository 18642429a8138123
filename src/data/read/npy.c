/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of NumPy arrays (.npy); npz.c reads the members of archives with it. */
#include "data/read/npy.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/read/pick.h"

enum { CHUNK_BYTES = 1 << 20 };

/* ---- elements ---- */

static void swap_bytes(unsigned char *bytes, int64_t count, int size)
{
    for (int64_t i = 0; i < count; i++, bytes += size)
        for (int k = 0; k < size / 2; k++) {
            unsigned char kept = bytes[k];
            bytes[k] = bytes[size - 1 - k];
            bytes[size - 1 - k] = kept;
        }
}

#define CONVERT(type)                                                                                        \
    for (int64_t i = 0; i < count; i++) {                                                                    \
        type element;                                                                                        \
        memcpy(&element, bytes + i * (int64_t)sizeof element, sizeof element);                               \
        out[i] = (double)element;                                                                            \
    }                                                                                                        \
    break

/* A letter and a size, as one number to switch on. */
#define TYPE(kind, size) ((kind)*16 + (size))

static void convert(const kfe_i_npy *npy, const unsigned char *bytes, int64_t count, double *out)
{
    switch (TYPE(npy->kind, npy->size)) {
    case TYPE('f', 4):
        CONVERT(float);
    case TYPE('f', 8):
        CONVERT(double);
    case TYPE('i', 1):
        CONVERT(int8_t);
    case TYPE('i', 2):
        CONVERT(int16_t);
    case TYPE('i', 4):
        CONVERT(int32_t);
    case TYPE('i', 8):
        CONVERT(int64_t);
    case TYPE('b', 1):
    case TYPE('u', 1):
        CONVERT(uint8_t);
    case TYPE('u', 2):
        CONVERT(uint16_t);
    case TYPE('u', 4):
        CONVERT(uint32_t);
    case TYPE('u', 8):
        CONVERT(uint64_t);
    default:
        break;
    }
}

static kfe_status truncated(kfe_i_source *source, const char *what)
{
    return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                         "%s: the data ends too early: the file is truncated", what);
}

/* If the size of the file is known, it was checked against the header, and all memory is allocated at once. Otherwise
 * (pipes, gzip) memory grows as data arrives, whatever the header says. */
static int64_t first_capacity(const kfe_i_source *source, const kfe_i_npy *npy, int64_t chunk)
{
    return kfe_i_source_remaining(source) >= 0 || npy->count < chunk ? npy->count : chunk;
}

static kfe_status read_in_file_order(kfe_i_source *source, const char *what, const kfe_i_npy *npy,
                                     unsigned char *scratch, double **out)
{
    kfe_status status = KFE_OK;
    int64_t chunk = CHUNK_BYTES / 8;
    int64_t capacity = first_capacity(source, npy, chunk);
    double *values = NULL;

    KFE_ALLOC(source->ctx, values, capacity);
    for (int64_t done = 0; done < npy->count; done += chunk) {
        int64_t count = npy->count - done < chunk ? npy->count - done : chunk;
        int64_t got = 0;
        KFE_TRY(kfe_i_source_read(source, scratch, count * npy->size, &got));
        if (got < count * npy->size) {
            status = truncated(source, what);
            goto cleanup;
        }
        KFE_GROW(source->ctx, values, capacity, done + count);
        if (npy->swapped)
            swap_bytes(scratch, count, npy->size);
        convert(npy, scratch, count, values + done);
        KFE_TRY(kfe_i_source_checkpoint(source));
    }
    *out = values;
    values = NULL;
cleanup:
    kfe_i_free(source->ctx, values);
    return status;
}

static kfe_status transpose(kfe_context *ctx, int64_t rows, int64_t cols, double **values)
{
    kfe_status status = KFE_OK;
    double *turned = NULL;

    KFE_ALLOC(ctx, turned, rows * cols);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            turned[i * cols + j] = (*values)[j * rows + i];
    kfe_i_free(ctx, *values);
    *values = turned;
cleanup:
    return status;
}

kfe_status kfe_i_npy_read_numbers(kfe_i_source *source, const char *what, const kfe_i_npy *npy, double **out)
{
    kfe_status status = KFE_OK;
    unsigned char *scratch = NULL;

    *out = NULL;
    if (npy->kind == 'U' || npy->kind == 'S')
        return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                             "%s: text where numbers are needed; convert it with X.astype(float)", what);
    KFE_TRY(kfe_i_check_memory(source->ctx, (double)npy->count * sizeof(double), source->stage,
                               "raise {memory}, or read fewer rows or columns"));
    KFE_ALLOC(source->ctx, scratch, CHUNK_BYTES);
    KFE_TRY(read_in_file_order(source, what, npy, scratch, out));
    if (npy->fortran && npy->dimensions == 2 && npy->shape[0] > 1 && npy->shape[1] > 1)
        KFE_TRY(transpose(source->ctx, npy->shape[0], npy->shape[1], out));
cleanup:
    kfe_i_free(source->ctx, scratch);
    if (status != KFE_OK) {
        kfe_i_free(source->ctx, *out);
        *out = NULL;
    }
    return status;
}

/* ---- words ---- */

static void add_utf8(kfe_i_text *out, uint32_t c)
{
    char bytes[4];
    int length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (int k = length - 1; k > 0; k--, c >>= 6)
        bytes[k] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(lead[length] | c);
    kfe_i_text_add(out, bytes, length);
}

/* One element, padded with NULs, as UTF-8. Returns 0 if it is not text. */
static int decode_word(const kfe_i_npy *npy, unsigned char *bytes, kfe_i_text *out)
{
    int unit = npy->kind == 'U' ? 4 : 1;

    out->length = 0;
    kfe_i_text_add(out, "", 0);
    if (npy->swapped && unit == 4)
        swap_bytes(bytes, npy->size / 4, 4);
    for (int k = 0; k < npy->size; k += unit) {
        uint32_t c = bytes[k];
        if (unit == 4)
            memcpy(&c, bytes + k, sizeof c);
        if (c == 0)
            break;
        if (c > 0x10ffff)
            return 0;
        if (unit == 4)
            add_utf8(out, c);
        else
            kfe_i_text_add(out, (const char *)bytes + k, 1);
    }
    return 1;
}

static kfe_status add_word(kfe_i_source *source, const char *what, const kfe_i_npy *npy, unsigned char *bytes,
                           kfe_i_text *word, kfe_i_labels *labels)
{
    int64_t got = 0;
    kfe_status status = kfe_i_source_read(source, bytes, npy->size, &got);

    if (status != KFE_OK)
        return status;
    if (got < npy->size)
        return truncated(source, what);
    if (!decode_word(npy, bytes, word))
        return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0, "%s: text that is not Unicode",
                             what);
    if (word->status != KFE_OK)
        return word->status;
    if (kfe_i_is_missing_text(word->bytes, word->bytes + word->length))
        return kfe_i_labels_add_missing(labels);
    return kfe_i_labels_add(labels, word->bytes, word->length, NULL, NULL, NULL);
}

kfe_status kfe_i_npy_read_words(kfe_i_source *source, const char *what, const kfe_i_npy *npy,
                                kfe_i_labels *labels)
{
    kfe_status status = KFE_OK;
    unsigned char *bytes = NULL;
    kfe_i_text word;

    kfe_i_text_init(&word, source->ctx);
    KFE_ALLOC(source->ctx, bytes, npy->size);
    if (npy->size == 0)
        KFE_FAIL(source->ctx, KFE_EINPUT, "%s: %s: every string is empty", source->name, what);
    for (int64_t i = 0; i < npy->count; i++)
        KFE_TRY(add_word(source, what, npy, bytes, &word, labels));
    if (!labels->codes)
        KFE_TRY(kfe_i_labels_reserve(labels, 1));
cleanup:
    kfe_i_free(source->ctx, bytes);
    kfe_i_text_free(&word);
    return status;
}

static int is_column(const kfe_i_npy *npy)
{
    return npy->dimensions == 1 || (npy->dimensions == 2 && (npy->shape[0] == 1 || npy->shape[1] == 1));
}

kfe_status kfe_i_npy_read_labels(kfe_i_source *source, const char *what, kfe_i_labels *labels)
{
    kfe_status status = KFE_OK;
    kfe_i_npy npy;

    KFE_TRY(kfe_i_npy_read_header(source, what, &npy));
    if (!is_column(&npy))
        KFE_FAIL(source->ctx, KFE_EINPUT, "%s: %s: labels must be one column, this array has %d dimensions",
                 source->name, what, npy.dimensions);
    labels->present = 1;
    if (npy.kind == 'U' || npy.kind == 'S')
        return kfe_i_npy_read_words(source, what, &npy, labels);
    KFE_TRY(kfe_i_npy_read_numbers(source, what, &npy, &labels->numbers));
    labels->floating = npy.kind == 'f';
    labels->rows = npy.count;
cleanup:
    return status;
}

/* ---- tables ---- */

static kfe_status check_values(kfe_i_source *source, const char *what, kfe_i_raw_table *raw)
{
    const kfe_i_table *table = &raw->table;

    for (int64_t p = 0; p < table->rows * table->cols; p++) {
        double value = table->singles ? (double)table->singles[p] : table->values[p];
        if (isinf(value))
            return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                                 "%s: row %lld, column %lld is infinite; replace it with a number", what,
                                 (long long)(raw->first_row + p / table->cols) + 1,
                                 (long long)(p % table->cols) + 1);
        raw->has_missing |= isnan(value);
    }
    return KFE_OK;
}

static kfe_status check_dimensions(kfe_i_source *source, const char *what, const kfe_i_npy *npy)
{
    if (npy->dimensions == 1 || npy->dimensions == 2)
        return KFE_OK;
    return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                         "%s: the array has %d dimensions, a table has two; reshape it with "
                         "X.reshape(len(X), -1)",
                         what, npy->dimensions);
}

/* A matrix before its rows are read. */
typedef struct matrix {
    kfe_i_npy npy;
    int64_t rows, cols;
    kfe_i_picks picks;
} matrix;

static kfe_status begin_matrix(kfe_i_source *source, const char *what, const kfe_i_read_settings *settings,
                               int with_label, matrix *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_npy_read_header(source, what, &out->npy));
    KFE_TRY(check_dimensions(source, what, &out->npy));
    out->rows = out->npy.shape[0];
    out->cols = out->npy.dimensions == 2 ? out->npy.shape[1] : 1;
    if (out->npy.count == 0)
        KFE_FAIL(source->ctx, KFE_EINPUT, "%s: %s: the array is empty; it needs at least one row and column",
                 source->name, what);
    KFE_TRY(kfe_i_picks_find(source->ctx, source->name, settings, NULL, with_label, out->cols, &out->picks));
cleanup:
    return status;
}

/* Whether the rows stay in single precision: nothing is taken out of them. */
static int keeps_single(const matrix *from)
{
    for (int64_t j = 0; j < from->picks.count; j++)
        if (from->picks.removed[j])
            return 0;
    return from->npy.kind == 'f' && from->npy.size == 4 && !(from->npy.fortran && from->cols > 1) &&
           from->picks.label < 0;
}

static kfe_status read_singles(kfe_i_source *source, const char *what, const kfe_i_npy *npy, float **out)
{
    kfe_status status = KFE_OK;
    int64_t chunk = CHUNK_BYTES / (int64_t)sizeof(float);
    int64_t capacity = first_capacity(source, npy, chunk);
    float *values = NULL;

    KFE_TRY(kfe_i_check_memory(source->ctx, (double)npy->count * sizeof(float), source->stage,
                               "raise {memory}, or read fewer rows or columns"));
    KFE_ALLOC(source->ctx, values, capacity);
    for (int64_t done = 0; done < npy->count; done += chunk) {
        int64_t count = npy->count - done < chunk ? npy->count - done : chunk;
        int64_t got = 0;
        KFE_GROW(source->ctx, values, capacity, done + count);
        KFE_TRY(kfe_i_source_read(source, values + done, count * npy->size, &got));
        if (got < count * npy->size) {
            status = truncated(source, what);
            goto cleanup;
        }
        if (npy->swapped)
            swap_bytes((unsigned char *)(values + done), count, npy->size);
        KFE_TRY(kfe_i_source_checkpoint(source));
    }
    *out = values;
    values = NULL;
cleanup:
    kfe_i_free(source->ctx, values);
    return status;
}

/* Reads the next `rows` rows; those of a Fortran array come all at once. */
static kfe_status read_rows(kfe_i_source *source, const char *what, const matrix *from, int64_t rows,
                            kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = &out->table;
    kfe_i_npy part = from->npy;

    part.shape[0] = rows;
    part.count = rows * from->cols;
    table->ctx = source->ctx;
    table->owned = 1;
    table->rows = rows;
    table->cols = from->cols;
    if (keeps_single(from)) {
        KFE_TRY(read_singles(source, what, &part, &table->singles));
    } else {
        KFE_TRY(kfe_i_npy_read_numbers(source, what, &part, &table->values));
        KFE_TRY(kfe_i_picks_take(source->ctx, &from->picks, out));
    }
    if (from->picks.label >= 0) {
        out->labels.floating = part.kind == 'f';
        out->has_missing |= kfe_i_labels_find_missing(&out->labels) >= 0;
    }
    table->stride = table->cols;
    KFE_TRY(check_values(source, what, out));
    if (out->has_missing) /* gaps are filled in in double precision */
        KFE_TRY(kfe_i_table_widen(source->ctx, table));
cleanup:
    return status;
}

kfe_status kfe_i_npy_read_table(kfe_i_source *source, const char *what, const kfe_i_read_settings *settings,
                                int with_label, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    matrix from = {.rows = 0};

    KFE_TRY(begin_matrix(source, what, settings, with_label, &from));
    KFE_TRY(read_rows(source, what, &from, from.rows, out));
cleanup:
    kfe_i_picks_free(source->ctx, &from.picks);
    return status;
}

static kfe_status refuse_strings(const kfe_i_source *source, const kfe_i_read_settings *settings)
{
    if (settings->content != KFE_CONTENT_STRINGS)
        return KFE_OK;
    return kfe_i_fail(source->ctx, KFE_EINPUT, "%s: strings are read from text tables only", source->name);
}

static kfe_status read_npy(kfe_context *ctx, kfe_i_source *source, const kfe_i_read_settings *settings,
                           kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    (void)ctx;
    KFE_TRY(refuse_strings(source, settings));
    if (settings->content == KFE_CONTENT_LABELS) {
        KFE_TRY(kfe_i_npy_read_labels(source, "array", &out->labels));
        out->has_missing = kfe_i_labels_find_missing(&out->labels) >= 0;
        return KFE_OK;
    }
    KFE_TRY(kfe_i_npy_read_table(source, "array", settings, 1, out));
cleanup:
    return status;
}

/* ---- in parts ---- */

typedef struct npy_parts {
    kfe_i_source *source;
    matrix from;
    int64_t part_rows, done;
} npy_parts;

static kfe_status begin_parts(kfe_i_source *source, const kfe_i_read_settings *settings, int64_t part_rows,
                              void **state)
{
    kfe_status status = KFE_OK;
    npy_parts *parts = NULL;

    KFE_ALLOC_ZERO(source->ctx, parts, 1);
    *state = parts;
    parts->source = source;
    KFE_TRY(refuse_strings(source, settings));
    KFE_TRY(begin_matrix(source, "array", settings, 1, &parts->from));
    parts->part_rows = parts->from.npy.fortran && parts->from.cols > 1 ? parts->from.rows : part_rows;
cleanup:
    return status;
}

static void end_parts(kfe_context *ctx, void *state)
{
    npy_parts *parts = state;

    if (parts)
        kfe_i_picks_free(ctx, &parts->from.picks);
    kfe_i_free(ctx, parts);
}

static kfe_status next_part(void *state, kfe_i_raw_table *out)
{
    npy_parts *parts = state;
    int64_t left = parts->from.rows - parts->done;
    int64_t rows = left < parts->part_rows ? left : parts->part_rows;

    parts->done += rows;
    return rows > 0 ? read_rows(parts->source, "array", &parts->from, rows, out) : KFE_OK;
}

const kfe_i_reader kfe_i_npy_reader = {
    .name = "npy",
    .extensions = "npy",
    .recognise = kfe_i_npy_recognise,
    .read = read_npy,
    .begin_parts = begin_parts,
    .next_part = next_part,
    .end_parts = end_parts,
};
