/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a block of records on several threads, for csv.c. Each thread first counts the rows of its share, so that
 * all know where their rows go; then each parses its share directly into the table. Labels and strings need memory
 * and a fixed order: threads note where they are, and one thread copies them at the end.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/wording.h"
#include "data/format/csv.h"

enum { MOST_SHARES = 64, SMALLEST_SHARE = 64 * 1024 };

typedef struct share {
    const char *begin, *end;
    int quotes;
    int64_t first_row, rows; /* in the block */
    int has_missing;
    kfe_i_csv_fault fault;
    const char *fault_begin; /* of the record with the error */
    int64_t fault_row;       /* in the block */
} share;

/* ---- cutting ---- */

/* The end of the last whole record, or of the last one of a part. */
static const char *whole_records_end(const kfe_i_csv *csv, int quotes)
{
    const char *end = kfe_i_block_lines_end(&csv->block);
    const char *last = csv->block.bytes;
    const char *stop;
    int64_t most = csv->part_rows > 0 ? csv->part_rows : INT64_MAX;

    if (!quotes)
        return csv->part_rows > 0 ? kfe_i_block_some_lines_end(&csv->block, most) : end;
    for (int64_t k = 0; k < most && last < end; k++, last = stop + 1) {
        stop = kfe_i_csv_record_end(csv->dialect.delimiter, last, end, 1);
        if (!stop)
            break;
    }
    return last;
}

static const char *cut_after(const kfe_i_csv *csv, const char *from, const char *target, const char *end,
                             int quotes)
{
    if (!quotes)
        return (const char *)memchr(target, '\n', (size_t)(end - target)) + 1;
    while (from < target)
        from = kfe_i_csv_record_end(csv->dialect.delimiter, from, end, 1) + 1;
    return from;
}

static int cut_shares(const kfe_i_csv *csv, const char *end, int quotes, share *shares)
{
    const char *begin = csv->block.bytes;
    int64_t size = end - begin;
    int64_t count = kfe_context_threads(csv->ctx);
    int made = 0;

    count = count < MOST_SHARES ? count : MOST_SHARES;
    count = size / SMALLEST_SHARE + 1 < count ? size / SMALLEST_SHARE + 1 : count;
    for (int64_t k = 1; k <= count && begin < end; k++) {
        const char *target = csv->block.bytes + size / count * k;
        const char *stop = k == count       ? end
                           : target > begin ? cut_after(csv, begin, target, end, quotes)
                                            : begin;
        if (stop > begin)
            shares[made++] = (share){.begin = begin, .end = stop, .quotes = quotes};
        begin = stop;
    }
    return made;
}

static void count_rows(const kfe_i_csv *csv, share *part)
{
    for (const char *c = part->begin; c < part->end;) {
        part->rows += !kfe_i_csv_is_blank(csv->dialect.delimiter, c);
        c = kfe_i_csv_record_end(csv->dialect.delimiter, c, part->end, part->quotes) + 1;
    }
}

/* ---- parsing ---- */

static int note_fault(share *part, kfe_i_csv_fault_kind kind, int64_t number, const kfe_i_field *field)
{
    part->fault = (kfe_i_csv_fault){.kind = kind, .field = number, .at = *field};
    return 0;
}

/* Handles a field that is not a finite number; kept apart from the fast path because it is rare. */
static int take_odd_value(const kfe_i_csv *csv, share *part, int64_t number, const kfe_i_field *field,
                          double *out)
{
    double value = 0;
    int is_number = kfe_i_parse_number(field->begin, field->end, &value);

    if (!(is_number && isnan(value)) && !kfe_i_is_missing_text(field->begin, field->end))
        return note_fault(part, is_number ? KFE_CSV_FAULT_INFINITE : KFE_CSV_FAULT_TEXT, number, field);
    if (csv->settings->missing == KFE_MISSING_ERROR)
        return note_fault(part, KFE_CSV_FAULT_MISSING, number, field);
    part->has_missing = 1;
    *out = (double)NAN;
    return 1;
}

static int is_missing(const kfe_i_field *field)
{
    return (!field->quoted || field->begin == field->end) && kfe_i_is_missing_text(field->begin, field->end);
}

static int take_label(const kfe_i_csv *csv, share *part, int64_t number, const kfe_i_field *field)
{
    if (is_missing(field)) {
        if (csv->settings->missing != KFE_MISSING_DROP)
            return note_fault(part, KFE_CSV_FAULT_LABEL_MISSING, number, field);
        part->has_missing = 1;
    }
    return 1;
}

static kfe_i_span span_of(const kfe_i_csv *csv, const kfe_i_field *field)
{
    kfe_i_span span = {(uint32_t)(field->begin - csv->block.bytes), (uint32_t)(field->end - field->begin)};
    return span;
}

/* Notes where the text of an encoded column is. */
static int take_text(kfe_i_csv *csv, share *part, int64_t number, int64_t row, const kfe_i_field *field)
{
    csv->text_spans[row * csv->text_count + csv->dialect.text[number]] = span_of(csv, field);
    if (!is_missing(field))
        return 1;
    part->has_missing = 1;
    return csv->settings->missing == KFE_MISSING_ERROR
               ? note_fault(part, KFE_CSV_FAULT_MISSING, number, field)
               : 1;
}

static int only_blanks_after_quote(const kfe_i_field *field)
{
    const char *c = field->end + 1;

    while (c < field->next && (*c == ' ' || *c == '\r'))
        c++;
    return c == field->next;
}

/* Notes the name, the group and the weight of the row. The column may have another use too: a name may be the label, and a
 * model may know the column as a feature. */
static int take_special(kfe_i_csv *csv, share *part, int64_t number, int64_t row, const kfe_i_field *field)
{
    if (number == csv->dialect.picks.id)
        csv->id_spans[row] = span_of(csv, field);
    if (number == csv->dialect.picks.group) {
        csv->group_spans[row] = span_of(csv, field);
        if (is_missing(field))
            return note_fault(part, KFE_CSV_FAULT_GROUP_MISSING, number, field);
    }
    if (number == csv->dialect.picks.weight) {
        double *weight = &csv->weights[csv->rows + row];
        if (!kfe_i_parse_number(field->begin, field->end, weight) || !(*weight >= 0) || !isfinite(*weight))
            return note_fault(part, KFE_CSV_FAULT_WEIGHT, number, field);
    }
    return 1;
}

/* Stores one field; returns 0 with the error noted. */
static int take_field(kfe_i_csv *csv, share *part, int64_t number, int64_t row, const kfe_i_field *field,
                      double *values)
{
    double parsed;

    if (field->quoted && !only_blanks_after_quote(field))
        return note_fault(part, KFE_CSV_FAULT_AFTER_QUOTE, number, field);
    if (!take_special(csv, part, number, row, field))
        return 0;
    if (number == csv->dialect.picks.label) {
        csv->label_spans[row] = span_of(csv, field);
        return take_label(csv, part, number, field);
    }
    if (number == csv->dialect.string) {
        csv->string_spans[row] = span_of(csv, field);
        return 1;
    }
    if (csv->dialect.place[number] < 0)
        return 1;
    if (csv->dialect.text && csv->dialect.text[number] >= 0)
        return take_text(csv, part, number, row, field);
    if (!kfe_i_parse_number(field->begin, field->end, &parsed) || !isfinite(parsed))
        if (!take_odd_value(csv, part, number, field, &parsed))
            return 0;
    values[csv->dialect.place[number]] = parsed;
    return 1;
}

/* If the row has another length than the first one, reports that instead of any other error in it. */
static const char *note_length(const kfe_i_csv *csv, share *part, const char *row_begin)
{
    kfe_i_field first = {row_begin, row_begin, row_begin, 0};
    kfe_i_field field;
    int64_t count = 0;

    for (const char *c = kfe_i_csv_row_begin(csv->dialect.delimiter, row_begin); c;
         c = kfe_i_csv_next_field(csv->dialect.delimiter, &field)) {
        if (!kfe_i_csv_field(csv->dialect.delimiter, c, part->end, &field))
            break;
        count++;
    }
    if (count != csv->dialect.fields || part->fault.kind == KFE_CSV_FAULT_NONE)
        note_fault(part, KFE_CSV_FAULT_RAGGED, count, &first);
    return NULL;
}

/* Parses the record at `begin`; returns its line end, or NULL with the error noted. */
static const char *parse_row(kfe_i_csv *csv, share *part, const char *begin, int64_t row)
{
    double *values = csv->values ? csv->values + (csv->rows + row) * csv->cols : NULL;
    const char *c = kfe_i_csv_row_begin(csv->dialect.delimiter, begin);
    kfe_i_field field = {0};
    int64_t number = 0;

    for (; c; c = kfe_i_csv_next_field(csv->dialect.delimiter, &field)) {
        if (number == csv->dialect.fields || !kfe_i_csv_field(csv->dialect.delimiter, c, part->end, &field) ||
            !take_field(csv, part, number, row, &field, values))
            return note_length(csv, part, begin);
        number++;
    }
    if (number < csv->dialect.fields)
        return note_length(csv, part, begin);
    return memchr(field.next, '\n', (size_t)(part->end - field.next));
}

static void parse_share(kfe_i_csv *csv, share *part)
{
    int64_t row = part->first_row;

    for (const char *c = part->begin; c < part->end; c++) {
        part->fault_begin = c;
        part->fault_row = row;
        if (kfe_i_csv_is_blank(csv->dialect.delimiter, c))
            c = memchr(c, '\n', (size_t)(part->end - c));
        else if (!(c = parse_row(csv, part, c, row++)))
            return;
    }
}

/* ---- room ---- */

/* Makes room for more rows: at first for the whole file, estimated from this block, so that the table is not moved;
 * later a quarter more. */
static kfe_status reserve_values(kfe_i_csv *csv, int64_t more)
{
    const kfe_i_source *source = csv->block.source;
    int64_t needed = csv->rows + more;
    int64_t wanted = csv->capacity + csv->capacity / 4;
    int64_t count = 0;
    double *values;

    if (needed <= csv->capacity || csv->cols == 0)
        return KFE_OK;
    if (csv->capacity == 0 && csv->part_rows == 0 && !csv->block.finished && source->total > 0 &&
        source->taken > 0)
        wanted = (int64_t)(1.02 * (double)more * (double)source->total / (double)source->taken);
    wanted = wanted > needed ? wanted : needed;
    double growth = (double)(wanted - csv->capacity) * (double)csv->cols * sizeof(double);
    kfe_status status =
        kfe_i_check_memory(csv->ctx, growth, source->stage, "raise {memory}, or read fewer rows or columns");
    if (status != KFE_OK)
        return status;
    if (__builtin_mul_overflow(wanted, csv->cols, &count))
        return kfe_i_fail(csv->ctx, KFE_ENOMEM, "%s: the table is too large", source->name);
    values = kfe_i_resize(csv->ctx, csv->values, count, sizeof *values);
    if (!values)
        return kfe_i_lack(csv->ctx);
    csv->values = values;
    csv->capacity = wanted;
    return KFE_OK;
}

static kfe_status reserve_spans(kfe_i_csv *csv, int64_t rows)
{
    kfe_status status = KFE_OK;
    kfe_i_span *spans = NULL;

    if (rows <= csv->span_capacity)
        return KFE_OK;
    if (csv->dialect.picks.label >= 0) {
        KFE_CHECK_ALLOC_BY(csv->ctx, spans, kfe_i_resize(csv->ctx, csv->label_spans, rows, sizeof *spans));
        csv->label_spans = spans;
    }
    if (csv->dialect.string >= 0) {
        KFE_CHECK_ALLOC_BY(csv->ctx, spans, kfe_i_resize(csv->ctx, csv->string_spans, rows, sizeof *spans));
        csv->string_spans = spans;
    }
    if (csv->dialect.picks.id >= 0) {
        KFE_CHECK_ALLOC_BY(csv->ctx, spans, kfe_i_resize(csv->ctx, csv->id_spans, rows, sizeof *spans));
        csv->id_spans = spans;
    }
    if (csv->dialect.picks.group >= 0) {
        KFE_CHECK_ALLOC_BY(csv->ctx, spans, kfe_i_resize(csv->ctx, csv->group_spans, rows, sizeof *spans));
        csv->group_spans = spans;
    }
    if (csv->text_count > 0) {
        KFE_CHECK_ALLOC_BY(csv->ctx, spans,
                           kfe_i_resize(csv->ctx, csv->text_spans, rows * csv->text_count, sizeof *spans));
        csv->text_spans = spans;
    }
    csv->span_capacity = rows;
cleanup:
    return status;
}

/* ---- labels and strings ---- */

/* Counts lines from the last place on, since labels come in order. */
typedef struct line_counter {
    const char *place;
    int64_t line;
} line_counter;

static int64_t count_to(void *user, const char *place)
{
    line_counter *counter = user;

    counter->line += kfe_i_count_lines(counter->place, place);
    counter->place = place;
    return counter->line;
}

/* A field is quoted exactly if the byte before its content is a quote; otherwise that byte is a delimiter, a blank or
 * a line end. */
int kfe_i_csv_span_is_quoted(const kfe_i_csv *csv, kfe_i_span span)
{
    return span.begin > 0 && csv->block.bytes[span.begin - 1] == '"';
}

static kfe_status add_label(kfe_i_csv *csv, kfe_i_span span, kfe_i_text *scratch, line_counter *counter)
{
    const char *word = csv->block.bytes + span.begin;
    const char *place = word;
    int64_t length = span.length;
    int quoted = kfe_i_csv_span_is_quoted(csv, span);

    if ((!quoted || length == 0) && kfe_i_is_missing_text(word, word + length))
        return kfe_i_labels_add_missing(csv->labels);
    if (quoted && memchr(word, '"', (size_t)length)) {
        scratch->length = 0;
        kfe_i_csv_unquote(scratch, word, word + length);
        if (scratch->status != KFE_OK)
            return scratch->status;
        word = scratch->bytes;
        length = scratch->length;
    }
    return kfe_i_labels_add(csv->labels, word, length, count_to, counter, place);
}

static kfe_status add_labels(kfe_i_csv *csv, int64_t rows)
{
    kfe_status status = KFE_OK;
    line_counter counter = {csv->block.bytes, csv->block.line};
    kfe_i_text scratch;

    kfe_i_text_init(&scratch, csv->ctx);
    KFE_TRY(kfe_i_labels_reserve(csv->labels, csv->capacity));
    for (int64_t i = 0; i < rows; i++)
        KFE_TRY(add_label(csv, csv->label_spans[i], &scratch, &counter));
cleanup:
    kfe_i_text_free(&scratch);
    return status;
}

/* Adds one word of each row, without its quotes. */
static kfe_status add_words(kfe_i_csv *csv, const kfe_i_span *spans, int64_t rows, kfe_i_text_rows *out)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < rows; i++) {
        const char *word = csv->block.bytes + spans[i].begin;
        if (kfe_i_csv_span_is_quoted(csv, spans[i]))
            kfe_i_csv_unquote(&out->bytes, word, word + spans[i].length);
        else
            kfe_i_text_add(&out->bytes, word, spans[i].length);
        KFE_TRY(kfe_i_text_rows_end(out));
    }
cleanup:
    return status;
}

/* ---- the whole block ---- */

static int64_t place_shares(kfe_i_csv *csv, share *shares, int count)
{
    int64_t rows = 0;

#pragma omp parallel for num_threads(count) schedule(static, 1)
    for (int k = 0; k < count; k++)
        count_rows(csv, &shares[k]);
    for (int k = 0; k < count; k++) {
        shares[k].first_row = rows;
        rows += shares[k].rows;
    }
    return rows;
}

/* Raises the first error. Parts keep the rows before it: *rows and *used are then theirs. */
static kfe_status check_shares(kfe_i_csv *csv, const share *shares, int count, int64_t *rows, int64_t *used)
{
    for (int k = 0; k < count; k++) {
        csv->has_missing |= shares[k].has_missing;
        if (shares[k].fault.kind == KFE_CSV_FAULT_NONE)
            continue;
        if (csv->part_rows == 0 || shares[k].fault_row == 0)
            return kfe_i_csv_raise(csv, &shares[k].fault);
        *rows = shares[k].fault_row;
        *used = shares[k].fault_begin - csv->block.bytes;
        return KFE_OK;
    }
    return KFE_OK;
}

kfe_status kfe_i_csv_parse_block(kfe_i_csv *csv, int64_t *used)
{
    kfe_status status = KFE_OK;
    share shares[MOST_SHARES];
    int quotes = memchr(csv->block.bytes, '"', (size_t)csv->block.length) != NULL;
    const char *end = whole_records_end(csv, quotes);
    int count = cut_shares(csv, end, quotes, shares);
    int64_t rows;

    *used = end - csv->block.bytes;
    if (count == 0)
        return KFE_OK;
    rows = place_shares(csv, shares, count);
    KFE_TRY(reserve_values(csv, rows));
    KFE_TRY(reserve_spans(csv, rows));
    if (csv->dialect.picks.weight >= 0)
        KFE_GROW(csv->ctx, csv->weights, csv->weight_capacity, csv->rows + rows);
#pragma omp parallel for num_threads(count) schedule(static, 1)
    for (int k = 0; k < count; k++)
        parse_share(csv, &shares[k]);
    KFE_TRY(check_shares(csv, shares, count, &rows, used));
    if (csv->dialect.picks.label >= 0)
        KFE_TRY(add_labels(csv, rows));
    if (csv->dialect.string >= 0)
        KFE_TRY(add_words(csv, csv->string_spans, rows, &csv->strings));
    if (csv->dialect.picks.id >= 0)
        KFE_TRY(add_words(csv, csv->id_spans, rows, &csv->ids));
    if (csv->text_count > 0)
        KFE_TRY(kfe_i_csv_number_texts(csv, rows));
    if (csv->dialect.picks.group >= 0)
        KFE_TRY(kfe_i_csv_add_groups(csv, rows));
    csv->rows += rows;
cleanup:
    return status;
}
