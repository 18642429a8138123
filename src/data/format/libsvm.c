/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sparse text format of LIBSVM and SVMlight: "label index:value index:value ... # comment", with
 * increasing indices from 1. `qid:` of ranking data is skipped.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/wording.h"
#include "data/format/format.h"
#include "data/read/block.h"
#include "data/read/sparse_rows.h"

typedef struct libsvm {
    kfe_context *ctx;
    const kfe_i_read_settings *settings;
    kfe_i_block block;
    int64_t part_rows; /* 0: the file is read whole */
    kfe_i_labels *labels;
    int take_labels;
    int labelled;     /* whether rows begin with a label; -1 before the first row */
    int64_t line;     /* number of the current line */
    const char *text; /* beginning of the current line, for columns in messages */
    kfe_i_sparse_rows found;
    int64_t cols;
    int64_t last_index; /* in the current row */
    int64_t unknown;    /* entries of columns that the model does not know */
    int has_missing;
    int warned;
} libsvm;

typedef struct token {
    const char *begin, *end;
} token;

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* The next word of the line; empty at the end of the line or at a comment. */
static token next_token(const char **c, const char *end)
{
    token word;

    while (*c < end && is_blank(**c))
        (*c)++;
    word.begin = *c;
    if (*c < end && **c == '#')
        *c = end;
    else
        while (*c < end && !is_blank(**c) && **c != '#')
            (*c)++;
    word.end = word.begin < end && *word.begin == '#' ? word.begin : *c;
    return word;
}

static int shown(token word)
{
    return (int)(word.end - word.begin < 60 ? word.end - word.begin : 60);
}

static const char *colon_in(token word)
{
    return memchr(word.begin, ':', (size_t)(word.end - word.begin));
}

static kfe_status fail_at(libsvm *reader, token word, const char *reason)
{
    char worded[KFE_WORDING_TEXT];

    kfe_i_word_format(reader->ctx, reason, worded);
    return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->block.source->name, reader->line,
                         word.begin - reader->text + 1, "'%.*s': %s", shown(word), word.begin, worded);
}

/* ---- labels ---- */

static int64_t line_of(void *user, const char *place)
{
    (void)place;
    return ((const libsvm *)user)->line;
}

static kfe_status take_label(libsvm *reader, token word)
{
    if (memchr(word.begin, ',', (size_t)(word.end - word.begin)))
        return fail_at(reader, word, "several labels for one row are not supported; keep one");
    if (!reader->take_labels)
        return KFE_OK;
    if (kfe_i_is_missing_text(word.begin, word.end)) {
        if (reader->settings->missing != KFE_MISSING_DROP)
            return fail_at(reader, word, "the label is missing; fill it in, or use {missing=drop}");
        reader->has_missing = 1;
        return kfe_i_labels_add_missing(reader->labels);
    }
    return kfe_i_labels_add(reader->labels, word.begin, word.end - word.begin, line_of, reader, word.begin);
}

/* The first word is the label unless it looks like an entry; all rows must agree. */
static kfe_status begin_row(libsvm *reader, token word, int *is_label)
{
    *is_label = colon_in(word) == NULL;
    if (reader->labelled < 0)
        reader->labelled = *is_label;
    if (reader->labelled && !*is_label)
        return fail_at(reader, word, "the row does not begin with a label, as the rows before do");
    if (!reader->labelled && *is_label)
        return fail_at(reader, word, "the row begins with a label, but the rows before have none");
    return *is_label ? take_label(reader, word) : KFE_OK;
}

/* ---- entries ---- */

static kfe_status parse_index(libsvm *reader, token word, const char *colon, int64_t *index)
{
    int64_t value = 0;

    for (const char *c = word.begin; c < colon; c++) {
        if (*c < '0' || *c > '9')
            return fail_at(reader, word, "the index before ':' must be a whole number from 1 up");
        value = value * 10 + (*c - '0');
        if (value > INT32_MAX)
            return fail_at(reader, word, "the index is larger than 2147483647");
    }
    if (colon == word.begin)
        return fail_at(reader, word, "there is no index before ':'");
    if (value == 0)
        return fail_at(reader, word, "indices count from 1; add 1 to all of them");
    if (value == reader->last_index)
        return fail_at(reader, word, "the index occurs twice in this row; keep one");
    if (value < reader->last_index)
        return fail_at(reader, word, "indices must increase within a row; sort them");
    *index = reader->last_index = value;
    return KFE_OK;
}

static kfe_status parse_value(libsvm *reader, token word, const char *colon, double *value)
{
    int missing = kfe_i_is_missing_text(colon + 1, word.end);

    if (missing && reader->settings->missing == KFE_MISSING_DROP) {
        reader->has_missing = 1;
        *value = (double)NAN; /* the row is dropped later, when all files have been read */
        return KFE_OK;
    }
    if (missing || (kfe_i_parse_number(colon + 1, word.end, value) && isnan(*value)))
        return fail_at(reader, word,
                       "the value is missing; leave the entry out if it is zero, or use {missing=drop}");
    if (!kfe_i_parse_number(colon + 1, word.end, value))
        return fail_at(reader, word, "the value after ':' is not a number");
    return isfinite(*value) ? KFE_OK : fail_at(reader, word, "the value is not finite");
}

/* *unknown: the column is beyond those of the model that the data is for, so the entry is ignored. */
static kfe_status check_width(libsvm *reader, token word, int64_t index, int *unknown)
{
    int64_t expected = reader->settings->columns;

    *unknown = expected > 0 && index > expected && reader->settings->expected;
    if (*unknown)
        return KFE_OK;
    if (expected > 0 && index > expected)
        return kfe_i_fail_at(
            reader->ctx, KFE_EINPUT, reader->block.source->name, reader->line, word.begin - reader->text + 1,
            "index %lld, but %lld columns are expected; the data must have the features that "
            "the model was made with",
            (long long)index, (long long)expected);
    reader->cols = index > reader->cols ? index : reader->cols;
    return KFE_OK;
}

static kfe_status take_entry(libsvm *reader, token word)
{
    kfe_status status = KFE_OK;
    const char *colon = colon_in(word);
    int64_t index = 0;
    double value = 0;
    int unknown = 0;

    if (!colon)
        return fail_at(reader, word, "an entry must be index:value");
    if (colon - word.begin == 3 && memcmp(word.begin, "qid", 3) == 0) {
        if (!reader->warned)
            kfe_i_log(reader->ctx, KFE_LOG_WARNING, "%s:%lld: 'qid:' is ignored", reader->block.source->name,
                      (long long)reader->line);
        reader->warned = 1;
        return KFE_OK;
    }
    KFE_TRY(parse_index(reader, word, colon, &index));
    KFE_TRY(parse_value(reader, word, colon, &value));
    KFE_TRY(check_width(reader, word, index, &unknown));
    reader->unknown += unknown;
    if (value != 0 && !unknown)
        KFE_TRY(kfe_i_sparse_rows_add(&reader->found, index - 1, value));
cleanup:
    return status;
}

/* ---- rows ---- */

static kfe_status take_line(libsvm *reader, const char *begin, const char *end)
{
    kfe_status status = KFE_OK;
    const char *c = begin;
    token word = next_token(&c, end);
    int is_label = 0;

    if (word.begin == word.end)
        return KFE_OK;
    reader->text = begin;
    reader->last_index = 0;
    KFE_TRY(begin_row(reader, word, &is_label));
    if (is_label)
        word = next_token(&c, end);
    for (; word.begin < word.end; word = next_token(&c, end))
        KFE_TRY(take_entry(reader, word));
    KFE_TRY(kfe_i_sparse_rows_end_row(&reader->found));
cleanup:
    return status;
}

/* Takes the lines up to `end`. *used: bytes of the lines before an error, or of all. */
static kfe_status take_lines(libsvm *reader, const char *end, int64_t *used)
{
    kfe_status status = KFE_OK;
    const char *c = reader->block.bytes;

    reader->line = reader->block.line;
    for (; c < end; reader->line++) {
        const char *stop = memchr(c, '\n', (size_t)(end - c));
        KFE_TRY(take_line(reader, c, stop));
        c = stop + 1;
    }
cleanup:
    *used = c - reader->block.bytes;
    return status;
}

/* Takes the lines of a block. An error ends a part if rows come before; it is met again at the beginning of the next. */
static kfe_status take_block(void *state, int64_t *used)
{
    libsvm *reader = state;
    int in_parts = reader->part_rows > 0;
    kfe_status status = take_lines(reader,
                                   in_parts ? kfe_i_block_some_lines_end(&reader->block, reader->part_rows)
                                            : kfe_i_block_lines_end(&reader->block),
                                   used);

    if (status != KFE_EINPUT || !in_parts || reader->found.rows == 0)
        return status;
    reader->found.entries = reader->found.row_start[reader->found.rows];
    if (reader->labels->rows > reader->found.rows)
        reader->labels->rows = reader->found.rows;
    return KFE_OK;
}

static kfe_status check_settings(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings)
{
    if (kfe_i_word_index("auto|first|none|1", settings->label) < 0 && settings->content != KFE_CONTENT_LABELS)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "%s: LIBSVM files have the label first; use {label=first} or {label=none}", file);
    if (settings->content != KFE_CONTENT_NUMBERS)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: a LIBSVM file holds numbers; a text table is needed here",
                          file);
    return KFE_OK;
}

static int wants_labels(const kfe_i_read_settings *settings)
{
    return strcmp(settings->label, "none") != 0 &&
           !(strcmp(settings->label, "auto") == 0 && settings->label_file[0]);
}

static void take_result(libsvm *reader, kfe_i_raw_table *out)
{
    int64_t expected = reader->settings->columns;

    kfe_i_sparse_rows_take(&reader->found, expected > 0 ? expected : reader->cols, &out->table);
    out->labels.present = reader->take_labels && reader->labelled == 1;
    out->labels.column = 1;
    out->has_missing = reader->has_missing;
}

static kfe_status check_result(const libsvm *reader)
{
    if (reader->found.rows > 0 && reader->cols == 0 && reader->settings->columns == 0)
        return kfe_i_fail(reader->ctx, KFE_EINPUT, "%s: no row has any entry index:value",
                          reader->block.source->name);
    return KFE_OK;
}

static void warn_of_unknown(const libsvm *reader)
{
    if (reader->unknown > 0)
        kfe_i_log(reader->ctx, KFE_LOG_WARNING,
                  "%s: %lld entr%s of columns that the model does not know %s ignored",
                  reader->block.source->name, (long long)reader->unknown, reader->unknown == 1 ? "y" : "ies",
                  reader->unknown == 1 ? "is" : "are");
}

/* ---- the format ---- */

static kfe_status open_file(kfe_i_source *source, const kfe_i_read_settings *settings, int64_t part_rows,
                            void **state)
{
    kfe_status status = KFE_OK;
    libsvm *reader = NULL;

    KFE_ALLOC(source->ctx, reader, 1);
    *reader = (libsvm){.ctx = source->ctx, .settings = settings, .part_rows = part_rows, .labelled = -1};
    *state = reader;
    KFE_TRY(check_settings(source->ctx, source->name, settings));
    reader->take_labels = wants_labels(settings);
    KFE_TRY(kfe_i_block_open(source, &reader->block));
cleanup:
    return status;
}

static void close_file(kfe_context *ctx, void *state)
{
    libsvm *reader = state;

    kfe_i_sparse_rows_free(&reader->found);
    kfe_i_block_close(&reader->block);
    kfe_i_free(ctx, reader);
}

static kfe_status next_rows(void *state, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    libsvm *reader = state;

    KFE_TRY(kfe_i_sparse_rows_begin(reader->ctx, &reader->found));
    reader->labels = &out->labels;
    reader->has_missing = 0;
    KFE_TRY(kfe_i_block_each(&reader->block, reader->part_rows > 0 ? &reader->found.rows : NULL, take_block,
                             reader));
    KFE_TRY(check_result(reader));
    if (reader->part_rows == 0 || reader->found.rows == 0)
        warn_of_unknown(reader);
    take_result(reader, out);
cleanup:
    return status;
}

/* ---- recognising ---- */

/* index:number, the index all digits. */
static int looks_like_entry(token word)
{
    const char *colon = colon_in(word);
    double value;

    if (!colon || colon == word.begin)
        return 0;
    for (const char *c = word.begin; c < colon; c++)
        if (*c < '0' || *c > '9')
            return (colon - word.begin == 3 && memcmp(word.begin, "qid", 3) == 0);
    return kfe_i_parse_number(colon + 1, word.end, &value);
}

/* Looks at the first line that is not blank: "label index:value …", or at least two entries, since a single one might
 * be a time of day. */
static int recognise_libsvm(const char *head, int64_t length)
{
    const char *end = head + length;
    const char *c = head;

    if (length > 0 && (*head == '>' || *head == '@')) /* FASTA and ARFF */
        return 0;
    while (c < end) {
        const char *stop = memchr(c, '\n', (size_t)(end - c));
        stop = stop ? stop : end;
        token first = next_token(&c, stop);
        token second = next_token(&c, stop);
        if (first.begin < first.end)
            return second.begin < second.end && looks_like_entry(second) &&
                   (!colon_in(first) || looks_like_entry(first));
        c = stop < end ? stop + 1 : end;
    }
    return 0;
}

/* ---- writing ---- */

static kfe_status check_label_names(const kfe_i_written *what)
{
    const kfe_i_target *target = what->target;

    if (target && target->task == KFE_TASK_REAL && target->cols > 1)
        return kfe_i_fail(what->ctx, KFE_EINVAL, "%s: LIBSVM files have room for one target, not %lld",
                          what->path, (long long)target->cols);
    for (int64_t k = 0; target && k < target->class_count; k++)
        if (!target->names[k][0] || strpbrk(target->names[k], " \t\r\n\f\v:#,"))
            return kfe_i_fail(what->ctx, KFE_EINVAL,
                              "%s: the label '%s' does not fit into a LIBSVM file; write .csv or .npz, or "
                              "rename the class",
                              what->path, target->names[k]);
    return KFE_OK;
}

/* A row while it is written; `begun`: it has a label or an entry. */
typedef struct sparse_row {
    kfe_i_sink *sink;
    int begun;
} sparse_row;

static void put_entry(sparse_row *row, int64_t column, double value, int even_zero)
{
    char index[32];

    if (value == 0 && !even_zero)
        return;
    snprintf(index, sizeof index, "%s%lld:", row->begun ? " " : "", (long long)column + 1);
    kfe_i_sink_puts(row->sink, index);
    kfe_i_sink_put_number(row->sink, value);
    row->begun = 1;
}

static void put_entries(const kfe_i_table *table, int64_t i, sparse_row *row)
{
    if (table->kind == KFE_TABLE_CSR)
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
            put_entry(row, table->columns[p], table->values[p], 0);
    else
        for (int64_t j = 0; j < table->cols; j++)
            put_entry(row, j, kfe_i_table_value(table, i, j), 0);
    if (!row->begun) /* a blank line would be no row */
        put_entry(row, 0, 0, 1);
}

static void put_label(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    const kfe_i_target *target = what->target;

    if (!target)
        return;
    if (target->task == KFE_TASK_CLASSES)
        kfe_i_sink_puts(sink, target->names[target->codes[i]]);
    else
        kfe_i_put_target_value(what, sink, target->values[i]);
}

static kfe_status write_libsvm(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &what->table;

    KFE_TRY(check_label_names(what));
    for (int64_t i = 0; i < table->rows; i++) {
        sparse_row row = {sink, what->target != NULL};
        put_label(what, sink, i);
        put_entries(table, i, &row);
        kfe_i_sink_put(sink, "\n", 1);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

const kfe_i_format kfe_i_format_libsvm = {
    .name = "libsvm",
    .extensions = "svm|libsvm|svmlight",
    .recognise = recognise_libsvm,
    .open = open_file,
    .next = next_rows,
    .close = close_file,
    .write = write_libsvm,
    .in_parts = 1,
    .holds_sparse = 1,
    .begins_with_labels = 1,
};
