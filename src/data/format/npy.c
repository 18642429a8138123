/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy arrays (.npy), read and written; npz.c does so with the members of archives. */
#include "data/format/npy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
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

/* Reads the elements in the order of the file: as doubles, or (`unit` 4) as the floats that they are. */
static kfe_status read_elements(kfe_i_source *source, const char *what, const kfe_i_npy *npy, int64_t unit,
                                void **out)
{
    kfe_status status = KFE_OK;
    int64_t chunk = CHUNK_BYTES / 8;
    int64_t capacity = first_capacity(source, npy, chunk) * unit;
    int wide = unit == (int64_t)sizeof(double);
    unsigned char *scratch = NULL; /* of one chunk, to be converted */
    unsigned char *values = NULL;

    KFE_TRY(kfe_i_check_memory(source->ctx, (double)npy->count * (double)unit, source->stage,
                               "raise {memory}, or read fewer rows or columns"));
    KFE_ALLOC(source->ctx, scratch, wide ? CHUNK_BYTES : 0);
    KFE_ALLOC(source->ctx, values, capacity);
    for (int64_t done = 0; done < npy->count; done += chunk) {
        int64_t count = npy->count - done < chunk ? npy->count - done : chunk;
        int64_t got = 0;
        KFE_GROW(source->ctx, values, capacity, (done + count) * unit);
        unsigned char *bytes = wide ? scratch : values + done * unit;
        KFE_TRY(kfe_i_source_read(source, bytes, count * npy->size, &got));
        KFE_TRY(got < count * npy->size ? truncated(source, what) : KFE_OK);
        if (npy->swapped)
            swap_bytes(bytes, count, npy->size);
        if (wide)
            convert(npy, bytes, count, (double *)(void *)values + done);
        KFE_TRY(kfe_i_source_progress(source));
    }
    *out = values;
    values = NULL;
cleanup:
    kfe_i_free(source->ctx, values);
    kfe_i_free(source->ctx, scratch);
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
    void *values = NULL;

    *out = NULL;
    if (npy->kind == 'U' || npy->kind == 'S')
        return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                             "%s: text where numbers are needed; convert it with X.astype(float)", what);
    KFE_TRY(read_elements(source, what, npy, sizeof(double), &values));
    *out = values;
    if (npy->fortran && npy->dimensions == 2 && npy->shape[0] > 1 && npy->shape[1] > 1)
        KFE_TRY(transpose(source->ctx, npy->shape[0], npy->shape[1], out));
cleanup:
    if (status != KFE_OK) {
        kfe_i_free(source->ctx, *out);
        *out = NULL;
    }
    return status;
}

/* ---- words ---- */

/* One element, padded with NULs, as UTF-8. Returns 0 if it is not text. */
static int decode_word(const kfe_i_npy *npy, unsigned char *bytes, kfe_i_text *out)
{
    int unit = npy->kind == 'U' ? 4 : 1;
    char character[4];

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
            kfe_i_text_add(out, character, (int64_t)kfe_i_utf8_encode(c, character));
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

/* Reads the next `rows` rows. A Fortran array is read at once. */
static kfe_status read_rows(kfe_i_source *source, const char *what, const matrix *from, int64_t rows,
                            kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = &out->table;
    kfe_i_npy part = from->npy;
    void *values = NULL;

    part.shape[0] = rows;
    part.count = rows * from->cols;
    table->ctx = source->ctx;
    table->owned = 1;
    table->rows = rows;
    table->cols = from->cols;
    if (keeps_single(from)) {
        KFE_TRY(read_elements(source, what, &part, sizeof(float), &values));
        table->singles = values;
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

/* ---- the format ---- */

typedef struct npy_state {
    kfe_i_source *source;
    matrix from;
    int labels; /* the array is a file of labels */
    int64_t part_rows, done;
} npy_state;

static kfe_status open_file(kfe_i_source *source, const kfe_i_read_settings *settings, int64_t part_rows,
                            void **state)
{
    kfe_status status = KFE_OK;
    npy_state *opened = NULL;

    KFE_ALLOC_ZERO(source->ctx, opened, 1);
    *state = opened;
    opened->source = source;
    opened->labels = settings->content == KFE_CONTENT_LABELS;
    KFE_TRY(refuse_strings(source, settings));
    if (opened->labels)
        return KFE_OK;
    KFE_TRY(begin_matrix(source, "array", settings, 1, &opened->from));
    int whole = part_rows == 0 || (opened->from.npy.fortran && opened->from.cols > 1);
    opened->part_rows = whole ? opened->from.rows : part_rows;
cleanup:
    return status;
}

static void close_file(kfe_context *ctx, void *state)
{
    npy_state *closed = state;

    kfe_i_picks_free(ctx, &closed->from.picks);
    kfe_i_free(ctx, closed);
}

static kfe_status next_rows(void *state, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    npy_state *from = state;
    int64_t left = from->from.rows - from->done;
    int64_t rows = left < from->part_rows ? left : from->part_rows;

    from->done += rows;
    if (rows > 0)
        KFE_TRY(read_rows(from->source, "array", &from->from, rows, out));
    if (from->labels) {
        KFE_TRY(kfe_i_npy_read_labels(from->source, "array", &out->labels));
        out->has_missing = kfe_i_labels_find_missing(&out->labels) >= 0;
    }
cleanup:
    return status;
}

/* ---- writing ---- */

void kfe_i_npy_put_whole(kfe_i_sink *sink, uint64_t value, int size)
{
    unsigned char bytes[8];

    for (int k = 0; k < size; k++, value >>= 8)
        bytes[k] = (unsigned char)(value & 0xff);
    kfe_i_sink_put(sink, bytes, size);
}

void kfe_i_npy_put_double(kfe_i_sink *sink, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    kfe_i_npy_put_whole(sink, bits, 8);
}

void kfe_i_npy_put_doubles(kfe_i_sink *sink, const double *values, int64_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    kfe_i_sink_put(sink, values, count * (int64_t)sizeof *values);
#else
    for (int64_t i = 0; i < count; i++)
        kfe_i_npy_put_double(sink, values[i]);
#endif
}

/* Version 1.0; the data begin at a multiple of 64 bytes, so that the file can be mapped into memory. */
void kfe_i_npy_put_header(kfe_i_sink *sink, const char *descr, const char *shape)
{
    char text[192];
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;

    kfe_i_sink_put(sink, "\x93NUMPY\1\0", 8);
    kfe_i_npy_put_whole(sink, (uint64_t)padded, 2);
    kfe_i_sink_put(sink, text, length);
    for (; length < padded - 1; length++)
        kfe_i_sink_put(sink, " ", 1);
    kfe_i_sink_put(sink, "\n", 1);
}

void kfe_i_npy_put_matrix_header(kfe_i_sink *sink, int64_t rows, int64_t cols)
{
    char shape[64];

    snprintf(shape, sizeof shape, "%lld, %lld", (long long)rows, (long long)cols);
    kfe_i_npy_put_header(sink, "<f8", shape);
}

void kfe_i_npy_put_vector_header(kfe_i_sink *sink, const char *descr, int64_t count)
{
    char shape[64];

    snprintf(shape, sizeof shape, "%lld,", (long long)count);
    kfe_i_npy_put_header(sink, descr, shape);
}

/* Writes the target of one row: its numbers, or its class as a number. */
static void put_target(kfe_i_sink *sink, const kfe_i_target *target, const double *class_numbers, int64_t i)
{
    if (class_numbers)
        kfe_i_npy_put_double(sink, class_numbers[target->codes[i]]);
    else
        kfe_i_npy_put_doubles(sink, target->values + i * target->cols, target->cols);
}

/* Writes the table, with the target, if there is one, before or after the values of each row. */
kfe_status kfe_i_npy_put_rows(const kfe_i_written *what, kfe_i_sink *sink, const kfe_i_target *target,
                              const double *class_numbers)
{
    kfe_status status = KFE_OK;
    int64_t targets = !target ? 0 : class_numbers ? 1 : target->cols;

    kfe_i_npy_put_matrix_header(sink, what->table.rows, what->table.cols + targets);
    for (int64_t i = 0; i < what->table.rows; i++) {
        if (target && what->target_first)
            put_target(sink, target, class_numbers, i);
        kfe_i_npy_put_doubles(sink, kfe_i_written_dense(what, i), what->table.cols);
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
    KFE_TRY(kfe_i_npy_put_rows(what, sink, what->target, numbers));
cleanup:
    kfe_i_free(what->ctx, numbers);
    return status;
}

const kfe_i_format kfe_i_format_npy = {
    .name = "npy",
    .extensions = "npy",
    .magic = KFE_NPY_MAGIC,
    .open = open_file,
    .next = next_rows,
    .close = close_file,
    .write = write_npy,
};
