/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MatrixMarket files, read and written. Rows of the matrix are examples.
 *
 *     %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric
 *     % comments
 *     rows columns entries            coordinate: then one "row column value" per line, from 1, in any order
 *     rows columns                    array: then one value per line, column by column
 *
 * Coordinate files become sparse rows; entries at the same place are added. Array files become dense rows, whose last column is the
 * label unless said otherwise, as in .npy files. Symmetric files hold the lower triangle. Sparse rows are written as coordinates, dense ones as an
 * array, with a numeric target as its last column.
 *
 * Boisvert, Pozo & Remington (1996), The Matrix Market exchange formats. Memory: twice the entries.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "data/format/format.h"
#include "data/read/block.h"
#include "data/read/pick.h"
#include "data/read/sparse_rows.h"

enum { GENERAL, SYMMETRIC, SKEW };

typedef struct mtx {
    kfe_context *ctx;
    const char *file;
    kfe_i_lines lines;
    int coordinate, pattern, symmetry;
    int64_t rows, cols;
    int64_t expected; /* numbers or entries that the file must have */
    int has_missing;
} mtx;

typedef struct word {
    const char *begin, *end;
} word;

/* ---- words and numbers ---- */

static word next_word(const char **c, const char *end)
{
    word found;

    while (*c < end && (**c == ' ' || **c == '\t'))
        (*c)++;
    found.begin = *c;
    while (*c < end && **c != ' ' && **c != '\t')
        (*c)++;
    found.end = *c;
    return found;
}

static int is_word(word found, const char *text)
{
    return kfe_i_is_word(found.begin, found.end, text);
}

static kfe_status fail_here(const mtx *reader, const char *reason)
{
    return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->file, reader->lines.number, 0, "%s", reason);
}

static kfe_status take_value(mtx *reader, word found, double *value)
{
    if (!kfe_i_parse_number(found.begin, found.end, value))
        return fail_here(reader, "a number is expected here");
    if (isinf(*value))
        return fail_here(reader, "the value is not finite");
    reader->has_missing |= isnan(*value);
    return KFE_OK;
}

/* A whole number from `least` to `most`. */
static kfe_status take_whole(const mtx *reader, word found, int64_t least, int64_t most, int64_t *out)
{
    double value = 0;

    if (!kfe_i_parse_number(found.begin, found.end, &value) || value != floor(value) ||
        value < (double)least || value > (double)most)
        return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->file, reader->lines.number, 0,
                             "'%.*s': a whole number from %lld to %lld is expected here",
                             (int)(found.end - found.begin < 40 ? found.end - found.begin : 40), found.begin,
                             (long long)least, (long long)most);
    *out = (int64_t)value;
    return KFE_OK;
}

static kfe_status no_more_words(const mtx *reader, const char *c)
{
    word more = next_word(&c, reader->lines.end);

    return more.begin == more.end ? KFE_OK : fail_here(reader, "there are more numbers than expected");
}

/* ---- the header ---- */

static kfe_status take_banner(mtx *reader)
{
    kfe_status status = KFE_OK;
    int found = 0;
    const char *c;

    KFE_TRY(kfe_i_lines_next(&reader->lines, &found));
    c = reader->lines.begin;
    if (!found || !is_word(next_word(&c, reader->lines.end), "%%matrixmarket"))
        return fail_here(reader, "a MatrixMarket file begins with '%%MatrixMarket matrix ...'");
    word object = next_word(&c, reader->lines.end);
    word layout = next_word(&c, reader->lines.end);
    word field = next_word(&c, reader->lines.end);
    word symmetry = next_word(&c, reader->lines.end);
    reader->coordinate = is_word(layout, "coordinate");
    reader->pattern = is_word(field, "pattern");
    reader->symmetry = is_word(symmetry, "symmetric")        ? SYMMETRIC
                       : is_word(symmetry, "skew-symmetric") ? SKEW
                                                             : GENERAL;
    if (!is_word(object, "matrix") || (!reader->coordinate && !is_word(layout, "array")))
        return fail_here(reader, "only 'matrix coordinate' and 'matrix array' can be read");
    if (is_word(field, "complex") || is_word(symmetry, "hermitian"))
        return fail_here(reader, "examples have real numbers; write real and imaginary parts as columns");
    if (!reader->pattern && !is_word(field, "real") && !is_word(field, "integer") &&
        !is_word(field, "double"))
        return fail_here(reader, "the numbers must be 'real', 'integer' or 'pattern'");
    if (reader->pattern && !reader->coordinate)
        return fail_here(reader, "an array cannot be a pattern; write 'matrix coordinate pattern'");
    if (reader->symmetry == GENERAL && !is_word(symmetry, "general"))
        return fail_here(reader, "the symmetry must be 'general', 'symmetric' or 'skew-symmetric'");
cleanup:
    return status;
}

/* The numbers of an array that the file holds. */
static int64_t array_values(const mtx *reader)
{
    int64_t n = reader->rows;

    return reader->symmetry == GENERAL ? n * reader->cols : n * (n + (reader->symmetry == SKEW ? -1 : 1)) / 2;
}

static kfe_status take_size(mtx *reader)
{
    kfe_status status = KFE_OK;
    const char *c = NULL;

    KFE_TRY(kfe_i_lines_next_content(&reader->lines, '%', &c));
    if (!c)
        return fail_here(reader, "the file ends before the line with the numbers of rows and columns");
    KFE_TRY(take_whole(reader, next_word(&c, reader->lines.end), 1, INT32_MAX, &reader->rows));
    KFE_TRY(take_whole(reader, next_word(&c, reader->lines.end), 1, INT32_MAX, &reader->cols));
    if (reader->symmetry != GENERAL && reader->rows != reader->cols)
        return fail_here(reader, "a symmetric matrix has as many rows as columns");
    reader->expected = array_values(reader);
    if (reader->coordinate)
        KFE_TRY(take_whole(reader, next_word(&c, reader->lines.end), 0, INT64_C(1) << 53, &reader->expected));
    KFE_TRY(no_more_words(reader, c));
cleanup:
    return status;
}

static kfe_status truncated(const mtx *reader, int64_t found)
{
    return kfe_i_fail_at(
        reader->ctx, KFE_EINPUT, reader->file, reader->lines.number, 0,
        "the file ends after %lld of %lld entries: it is truncated; copy or download it again",
        (long long)found, (long long)reader->expected);
}

/* A number takes at least a digit and a line end, so that a false size is found before memory is asked for. */
static kfe_status check_length(const mtx *reader)
{
    const kfe_i_source *source = reader->lines.block.source;
    int64_t left = kfe_i_source_remaining(source);
    int64_t held = reader->lines.block.length - reader->lines.taken;

    if (left >= 0 && (double)reader->expected * 2 > (double)(left + held + 2))
        return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->file, reader->lines.number, 0,
                             "the file is too short for %lld entries: it is truncated, or this line is wrong",
                             (long long)reader->expected);
    return KFE_OK;
}

/* ---- coordinate ---- */

/* Entries as the file has them: columns and values, and the row of each. */
typedef struct triplets {
    kfe_i_sparse_rows found;
    int32_t *rows;
    int64_t row_capacity;
} triplets;

static void free_triplets(kfe_context *ctx, triplets *t)
{
    kfe_i_sparse_rows_free(&t->found);
    kfe_i_free(ctx, t->rows);
}

static kfe_status add_triplet(kfe_context *ctx, triplets *t, int64_t row, int64_t column, double value)
{
    kfe_status status = KFE_OK;

    KFE_GROW(ctx, t->rows, t->row_capacity, t->found.entries + 1);
    t->rows[t->found.entries] = (int32_t)row;
    KFE_TRY(kfe_i_sparse_rows_add(&t->found, column, value));
cleanup:
    return status;
}

static kfe_status take_entry(mtx *reader, const char *c, triplets *entries)
{
    kfe_status status = KFE_OK;
    int64_t row = 0;
    int64_t column = 0;
    double value = 1;

    KFE_TRY(take_whole(reader, next_word(&c, reader->lines.end), 1, reader->rows, &row));
    KFE_TRY(take_whole(reader, next_word(&c, reader->lines.end), 1, reader->cols, &column));
    if (!reader->pattern)
        KFE_TRY(take_value(reader, next_word(&c, reader->lines.end), &value));
    KFE_TRY(no_more_words(reader, c));
    if (reader->symmetry == SKEW && row == column)
        return fail_here(reader, "the diagonal of a skew-symmetric matrix is zero and not written");
    KFE_TRY(add_triplet(reader->ctx, entries, row - 1, column - 1, value));
    if (reader->symmetry != GENERAL && row != column)
        KFE_TRY(add_triplet(reader->ctx, entries, column - 1, row - 1,
                            reader->symmetry == SKEW ? -value : value));
cleanup:
    return status;
}

static kfe_status take_entries(mtx *reader, triplets *entries)
{
    kfe_status status = KFE_OK;
    const char *c = NULL;
    int64_t found = 0;

    for (;; found++) {
        KFE_TRY(kfe_i_lines_next_content(&reader->lines, '%', &c));
        if (!c)
            break;
        if (found == reader->expected)
            return fail_here(reader, "there are more entries than the line of sizes announces");
        KFE_TRY(take_entry(reader, c, entries));
    }
    if (found < reader->expected)
        status = truncated(reader, found);
cleanup:
    return status;
}

/* Adds entries at the same place; returns how many are left. */
static int64_t add_repeated(int32_t *columns, double *values, int64_t count)
{
    int64_t kept = 0;

    for (int64_t p = 0; p < count; p++) {
        if (kept > 0 && columns[kept - 1] == columns[p]) {
            values[kept - 1] += values[p];
            continue;
        }
        columns[kept] = columns[p];
        values[kept++] = values[p];
    }
    return kept;
}

/* Orders the entries by column first, so that rows receive theirs in order whatever the order of the file. */
static kfe_status order_by_column(kfe_context *ctx, int64_t cols, const triplets *entries, int64_t **order)
{
    kfe_status status = KFE_OK;
    int64_t *starts = NULL;

    KFE_ALLOC(ctx, *order, entries->found.entries);
    KFE_ALLOC_ZERO(ctx, starts, cols + 1);
    for (int64_t p = 0; p < entries->found.entries; p++)
        starts[entries->found.columns[p] + 1]++;
    for (int64_t j = 0; j < cols; j++)
        starts[j + 1] += starts[j];
    for (int64_t p = 0; p < entries->found.entries; p++)
        (*order)[starts[entries->found.columns[p]]++] = p;
cleanup:
    kfe_i_free(ctx, starts);
    return status;
}

/* Distributes the entries to their rows; row_start is a running position and is moved back afterwards. */
static void fill_rows(const triplets *entries, const int64_t *order, kfe_i_table *table)
{
    for (int64_t p = 0; p < entries->found.entries; p++)
        table->row_start[entries->rows[p] + 1]++;
    for (int64_t i = 0; i < table->rows; i++)
        table->row_start[i + 1] += table->row_start[i];
    for (int64_t k = 0; k < entries->found.entries; k++) {
        int64_t p = order[k];
        int64_t place = table->row_start[entries->rows[p]]++;
        table->columns[place] = entries->found.columns[p];
        table->values[place] = entries->found.values[p];
    }
    for (int64_t i = table->rows; i > 0; i--)
        table->row_start[i] = table->row_start[i - 1];
    table->row_start[0] = 0;
}

static void join_repeated(kfe_i_table *table)
{
    int64_t to = 0;

    for (int64_t i = 0; i < table->rows; i++) {
        int64_t begin = table->row_start[i];
        int64_t count = table->row_start[i + 1] - begin;
        count = add_repeated(table->columns + begin, table->values + begin, count);
        memmove(table->columns + to, table->columns + begin, (size_t)count * sizeof *table->columns);
        memmove(table->values + to, table->values + begin, (size_t)count * sizeof *table->values);
        table->row_start[i] = to;
        to += count;
    }
    table->row_start[table->rows] = to;
}

static kfe_status read_coordinate(mtx *reader, const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    triplets entries = {.found.ctx = reader->ctx};
    int64_t *order = NULL;

    if (kfe_i_word_index("auto|none", settings->label) < 0)
        return kfe_i_fail(reader->ctx, KFE_EINVAL,
                          "%s: a sparse matrix has no column of labels; give them with {label-file}",
                          reader->file);
    KFE_TRY(take_entries(reader, &entries));
    if (reader->has_missing && settings->missing != KFE_MISSING_DROP)
        KFE_FAIL(reader->ctx, KFE_EINPUT,
                 "%s: an entry is missing (nan); leave it out if it is zero, or use {missing=drop}",
                 reader->file);
    KFE_TRY(kfe_i_table_new_csr(reader->ctx, reader->rows, reader->cols, entries.found.entries, &out->table));
    KFE_TRY(order_by_column(reader->ctx, reader->cols, &entries, &order));
    fill_rows(&entries, order, &out->table);
    join_repeated(&out->table);
    if (!reader->has_missing)
        KFE_TRY(kfe_i_table_check_finite(reader->ctx, &out->table, reader->file));
cleanup:
    kfe_i_free(reader->ctx, order);
    free_triplets(reader->ctx, &entries);
    return status;
}

/* ---- array ---- */

/* Puts one number at its place and moves on: down the column, from the diagonal on if the matrix is symmetric. */
static void put_value(const mtx *reader, double *values, int64_t place[2], double value)
{
    int64_t i = place[0];
    int64_t j = place[1];

    values[i * reader->cols + j] = value;
    if (reader->symmetry != GENERAL)
        values[j * reader->cols + i] = reader->symmetry == SKEW ? -value : value;
    if (++place[0] < reader->rows)
        return;
    place[1] = j + 1;
    place[0] = reader->symmetry == GENERAL ? 0 : j + 1 + (reader->symmetry == SKEW);
}

/* Reads all numbers. *floating: in column `label`, all have a decimal point or an exponent. */
static kfe_status take_array(mtx *reader, double *values, int64_t label, int *floating)
{
    kfe_status status = KFE_OK;
    int64_t place[2] = {reader->symmetry == SKEW, 0};
    const char *c = NULL;
    int64_t found = 0;

    *floating = 1;
    for (;;) {
        KFE_TRY(kfe_i_lines_next_content(&reader->lines, '%', &c));
        if (!c)
            break;
        for (word next = next_word(&c, reader->lines.end); next.begin < next.end;
             next = next_word(&c, reader->lines.end), found++) {
            double value = 0;
            if (found == reader->expected)
                return fail_here(reader, "there are more numbers than the line of sizes announces");
            KFE_TRY(take_value(reader, next, &value));
            if (place[1] == label)
                *floating &= memchr(next.begin, '.', (size_t)(next.end - next.begin)) != NULL ||
                             memchr(next.begin, 'e', (size_t)(next.end - next.begin)) != NULL;
            put_value(reader, values, place, value);
        }
    }
    if (found < reader->expected)
        status = truncated(reader, found);
cleanup:
    return status;
}

static kfe_status read_array_labels(mtx *reader, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    if (reader->cols != 1)
        KFE_FAIL(reader->ctx, KFE_EINPUT, "%s: a label file has one column, but this one has %lld",
                 reader->file, (long long)reader->cols);
    KFE_TRY(check_length(reader));
    KFE_ALLOC_ZERO(reader->ctx, out->labels.numbers, reader->rows);
    KFE_TRY(take_array(reader, out->labels.numbers, 0, &out->labels.floating));
    out->labels.rows = reader->rows;
    out->labels.present = 1;
cleanup:
    return status;
}

static kfe_status read_array(mtx *reader, const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_picks picks = {0};
    int floating = 0;

    KFE_TRY(check_length(reader));
    KFE_TRY(kfe_i_picks_find(reader->ctx, reader->file, settings, NULL, 1, reader->cols, &picks));
    KFE_TRY(kfe_i_table_new_dense(reader->ctx, reader->rows, reader->cols, &out->table));
    memset(out->table.values, 0, (size_t)(reader->rows * reader->cols) * sizeof(double));
    KFE_TRY(take_array(reader, out->table.values, picks.label, &floating));
    KFE_TRY(kfe_i_picks_take(reader->ctx, &picks, out));
    out->table.stride = out->table.cols;
    out->labels.floating = floating;
cleanup:
    kfe_i_picks_free(reader->ctx, &picks);
    return status;
}

/* ---- the reader ---- */

static kfe_status read_matrix(mtx *reader, const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    if (settings->content == KFE_CONTENT_STRINGS)
        return kfe_i_fail(reader->ctx, KFE_EINPUT, "%s: a MatrixMarket file holds numbers, not strings",
                          reader->file);
    if (settings->content != KFE_CONTENT_LABELS)
        return reader->coordinate ? read_coordinate(reader, settings, out)
                                  : read_array(reader, settings, out);
    if (reader->coordinate)
        return kfe_i_fail(reader->ctx, KFE_EINPUT, "%s: labels must be a MatrixMarket array of one column",
                          reader->file);
    return read_array_labels(reader, out);
}

static kfe_status read_mtx(kfe_i_source *source, const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    mtx reader = {.ctx = source->ctx, .file = source->name};

    KFE_TRY(kfe_i_lines_open(source, &reader.lines));
    KFE_TRY(take_banner(&reader));
    KFE_TRY(take_size(&reader));
    KFE_TRY(read_matrix(&reader, settings, out));
    out->has_missing = reader.has_missing;
cleanup:
    kfe_i_lines_close(&reader.lines);
    return status;
}

static int recognise_mtx(const char *head, int64_t length)
{
    return kfe_i_begins_with(head, head + length, "%%matrixmarket");
}

/* ---- writing ---- */

static void put_line(kfe_i_sink *sink, const int64_t *whole, int count, const double *value)
{
    char number[32];

    for (int k = 0; k < count; k++) {
        snprintf(number, sizeof number, k + 1 < count || value ? "%lld " : "%lld", (long long)whole[k]);
        kfe_i_sink_puts(sink, number);
    }
    if (value)
        kfe_i_sink_put_number(sink, *value);
    kfe_i_sink_put(sink, "\n", 1);
}

static kfe_status write_coordinate(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &what->table;
    int64_t entries = table->row_start[table->rows] - table->row_start[0];

    if (what->target)
        return kfe_i_fail(
            what->ctx, KFE_EINVAL,
            "%s: a sparse MatrixMarket file has no place for labels; write .svm, .arff or .npz, or "
            "use {label=none}",
            what->path);
    kfe_i_sink_puts(sink, "%%MatrixMarket matrix coordinate real general\n");
    put_line(sink, (const int64_t[]){table->rows, table->cols, entries}, 3, NULL);
    for (int64_t i = 0; i < table->rows; i++) {
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
            put_line(sink, (const int64_t[]){i + 1, table->columns[p] + 1}, 2, &table->values[p]);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

static kfe_status put_column(const kfe_i_written *what, kfe_i_sink *sink, int64_t j)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < what->table.rows; i++) {
        kfe_i_sink_put_number(sink, kfe_i_table_value(&what->table, i, j));
        kfe_i_sink_put(sink, "\n", 1);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

static kfe_status put_target_columns(const kfe_i_written *what, kfe_i_sink *sink, const double *class_numbers)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = what->target;
    int64_t targets = !target ? 0 : class_numbers ? 1 : target->cols;

    for (int64_t k = 0; k < targets; k++)
        for (int64_t i = 0; i < target->rows; i++) {
            if (class_numbers)
                kfe_i_sink_put_number(sink, class_numbers[target->codes[i]]);
            else
                kfe_i_put_target_value(what, sink, target->values[i * target->cols + k]);
            kfe_i_sink_put(sink, "\n", 1);
            KFE_TRY(kfe_i_written_row(what, sink, i));
        }
cleanup:
    return status;
}

static kfe_status write_array(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = what->target;
    double *numbers = NULL;

    if (target && target->task == KFE_TASK_CLASSES) {
        KFE_TRY(kfe_i_class_numbers(what->ctx, target, &numbers));
        if (!numbers)
            KFE_FAIL(
                what->ctx, KFE_EINVAL,
                "%s: labels that are text do not fit into a MatrixMarket file; write .arff, .npz or .csv",
                what->path);
    }
    kfe_i_sink_puts(sink, "%%MatrixMarket matrix array real general\n");
    int64_t targets = !target ? 0 : numbers ? 1 : target->cols;
    put_line(sink, (const int64_t[]){what->table.rows, what->table.cols + targets}, 2, NULL);
    for (int64_t j = 0; j < what->table.cols; j++)
        KFE_TRY(put_column(what, sink, j));
    KFE_TRY(put_target_columns(what, sink, numbers));
cleanup:
    kfe_i_free(what->ctx, numbers);
    return status;
}

static kfe_status write_mtx(const kfe_i_written *what, kfe_i_sink *sink)
{
    return what->table.kind == KFE_TABLE_CSR ? write_coordinate(what, sink) : write_array(what, sink);
}

const kfe_i_format kfe_i_format_mtx = {
    .name = "mtx",
    .extensions = "mtx|mm",
    .magic = "%%",
    .recognise = recognise_mtx,
    .read = read_mtx,
    .write = write_mtx,
    .holds_sparse = 1,
};
