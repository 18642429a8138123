/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the delimiter, header, label and string column of delimited text from its first lines, for csv.c. */
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "core/utf8.h"
#include "data/format/csv.h"

enum { LINES_TO_JUDGE = 20 };

/* ---- fields ---- */

int kfe_i_csv_field(char delimiter, const char *c, const char *block_end, kfe_i_field *out)
{
    while (*c == ' ')
        c++;
    out->quoted = *c == '"';
    if (out->quoted) {
        const char *quote = ++c;
        out->begin = c;
        for (;; quote += 2) {
            quote = memchr(quote, '"', (size_t)(block_end - quote));
            if (!quote || quote + 1 >= block_end)
                return 0;
            if (quote[1] != '"')
                break;
        }
        out->end = quote;
        for (c = quote + 1; *c != delimiter && *c != '\n'; c++)
            ;
        out->next = c;
        return 1;
    }
    out->begin = c;
    while (*c != delimiter && *c != '\n')
        c++;
    out->next = c;
    while (c > out->begin && (c[-1] == ' ' || c[-1] == '\r'))
        c--;
    out->end = c;
    return 1;
}

const char *kfe_i_csv_row_begin(char delimiter, const char *c)
{
    while (delimiter == ' ' && *c == ' ')
        c++;
    return c;
}

const char *kfe_i_csv_next_field(char delimiter, const kfe_i_field *field)
{
    const char *c = field->next;

    if (*c == '\n')
        return NULL;
    c++;
    if (delimiter != ' ')
        return c;
    while (*c == ' ')
        c++;
    return *c == '\n' || (*c == '\r' && c[1] == '\n') ? NULL : c;
}

const char *kfe_i_csv_record_end(char delimiter, const char *c, const char *block_end, int quotes)
{
    kfe_i_field field = {c, c, c, 0};

    if (!quotes)
        return memchr(c, '\n', (size_t)(block_end - c));
    for (c = kfe_i_csv_row_begin(delimiter, c); c; c = kfe_i_csv_next_field(delimiter, &field))
        if (!kfe_i_csv_field(delimiter, c, block_end, &field))
            return NULL;
    return memchr(field.next, '\n', (size_t)(block_end - field.next));
}

int kfe_i_csv_is_blank(char delimiter, const char *c)
{
    while (*c == ' ' || *c == '\r' || (*c == '\t' && delimiter != '\t'))
        c++;
    return *c == '\n';
}

void kfe_i_csv_unquote(kfe_i_text *out, const char *begin, const char *end)
{
    while (begin < end) {
        const char *quote = memchr(begin, '"', (size_t)(end - begin));
        const char *stop = quote ? quote + 1 : end;
        kfe_i_text_add(out, begin, stop - begin);
        begin = quote ? quote + 2 : end;
    }
}

/* ---- delimiter ---- */

static int64_t count_fields(char delimiter, const char *c, const char *block_end)
{
    kfe_i_field field;
    int64_t count = 0;

    for (c = kfe_i_csv_row_begin(delimiter, c); c; c = kfe_i_csv_next_field(delimiter, &field)) {
        if (!kfe_i_csv_field(delimiter, c, block_end, &field))
            return 0;
        count++;
    }
    return count;
}

/* The number of fields if all of the first lines have the same, otherwise 0. */
static int64_t agreed_fields(char delimiter, const char *begin, const char *end)
{
    int64_t agreed = 0;
    int quotes = memchr(begin, '"', (size_t)(end - begin)) != NULL;

    for (int line = 0; line < LINES_TO_JUDGE && begin < end;) {
        const char *stop = kfe_i_csv_record_end(delimiter, begin, end, quotes);
        int64_t count;
        if (!stop)
            break;
        if (!kfe_i_csv_is_blank(delimiter, begin)) {
            count = count_fields(delimiter, begin, end);
            if (line++ > 0 && count != agreed)
                return 0;
            agreed = count;
        }
        begin = stop + 1;
    }
    return agreed;
}

/* Tabs, semicolons and pipes are tried first, since they are rare inside fields; then commas, which may be decimal
 * commas; then blanks. */
static const char candidates[] = "\t;|, ";

static char guess_delimiter(const char *begin, const char *end, int strings)
{
    char most = strings ? '\t' : ','; /* strings alone, one a line, may contain anything but tabs */
    int64_t fields = 1;

    if (begin == end)
        return most;
    for (const char *c = candidates; *c; c++)
        if (agreed_fields(*c, begin, end) > 1)
            return *c;
    for (const char *c = "\t;|,"; !strings && *c; c++)
        if (count_fields(*c, begin, end) > fields) {
            fields = count_fields(*c, begin, end);
            most = *c;
        }
    return most;
}

/* The delimiter that gives the first line as many fields as a model expects, or '\0'. A part may hold one line only, on
 * which several delimiters can agree. */
static char expected_delimiter(const kfe_i_csv *csv)
{
    const char *begin = csv->block.bytes;
    const char *end = kfe_i_block_lines_end(&csv->block);
    int64_t expected = csv->settings->content == KFE_CONTENT_NUMBERS ? csv->settings->columns : 0;

    for (const char *c = candidates; csv->part_rows > 0 && expected > 0 && begin < end && *c; c++) {
        int64_t fields = agreed_fields(*c, begin, end);
        if (fields > 1 && (fields == expected || fields == expected + 1))
            return *c;
    }
    return '\0';
}

static kfe_status choose_delimiter(kfe_i_csv *csv)
{
    static const char characters[] = ",\t; |";
    const char *asked = csv->settings->delimiter;
    int word = kfe_i_word_index("comma|tab|semicolon|space|pipe", asked);

    if (csv->dialect.delimiter != '\0')
        return KFE_OK;
    if (strcmp(asked, "auto") == 0 && expected_delimiter(csv) != '\0')
        csv->dialect.delimiter = expected_delimiter(csv);
    else if (strcmp(asked, "auto") == 0)
        csv->dialect.delimiter = guess_delimiter(csv->block.bytes, kfe_i_block_lines_end(&csv->block),
                                                 csv->settings->content == KFE_CONTENT_STRINGS);
    else if (word >= 0)
        csv->dialect.delimiter = characters[word];
    else if (strcmp(asked, "\\t") == 0)
        csv->dialect.delimiter = '\t';
    else if (strlen(asked) == 1 && !strchr("\"\n\r", asked[0]))
        csv->dialect.delimiter = asked[0];
    else
        return kfe_i_fail(csv->ctx, KFE_EINVAL,
                          "the delimiter is auto, comma, tab, semicolon, space, pipe or one character, not "
                          "'%s'",
                          asked);
    return KFE_OK;
}

/* ---- header ---- */

/* Reads more of a record that does not end in the block. */
static kfe_status read_on(kfe_i_csv *csv)
{
    return csv->part_rows > 0 ? kfe_i_block_fill_at_hand(&csv->block, 1) : kfe_i_block_widen(&csv->block);
}

/* Skips blank lines and reads on until the first record is whole. */
static kfe_status find_first_record(kfe_i_csv *csv, const char **end)
{
    kfe_status status = KFE_OK;

    for (;;) {
        const char *begin = csv->block.bytes;
        const char *block_end = kfe_i_block_lines_end(&csv->block);
        const char *stop = memchr(begin, '\n', (size_t)csv->block.length);
        if (stop && kfe_i_csv_is_blank(csv->dialect.delimiter, begin)) {
            kfe_i_block_consume(&csv->block, stop + 1 - begin);
            continue;
        }
        int quotes = memchr(begin, '"', (size_t)csv->block.length) != NULL;
        *end = stop ? kfe_i_csv_record_end(csv->dialect.delimiter, begin, block_end, quotes) : NULL;
        if (*end)
            return KFE_OK;
        if (csv->block.finished && csv->block.length == 0)
            return kfe_i_fail_at(csv->ctx, KFE_EINPUT, csv->block.source->name, 0, 0,
                                 "the file has no rows; it needs at least one");
        if (csv->block.finished)
            return kfe_i_fail_at(csv->ctx, KFE_EINPUT, csv->block.source->name, csv->block.line, 0,
                                 "a quote opened in this row is never closed; close it, or double it if it "
                                 "is part of the text");
        KFE_TRY(read_on(csv));
    }
cleanup:
    return status;
}

static kfe_status copy_field(kfe_i_csv *csv, const kfe_i_field *field, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, csv->ctx);
    if (field->quoted)
        kfe_i_csv_unquote(&text, field->begin, field->end);
    else
        kfe_i_text_add(&text, field->begin, field->end - field->begin);
    return kfe_i_text_take(&text, out);
}

/* The fields of the first record as strings, into csv->dialect.names. */
static kfe_status read_names(kfe_i_csv *csv, const char *end)
{
    kfe_status status = KFE_OK;
    kfe_i_field field;
    const char *c = kfe_i_csv_row_begin(csv->dialect.delimiter, csv->block.bytes);

    csv->dialect.fields = count_fields(csv->dialect.delimiter, csv->block.bytes, end + 1);
    KFE_ALLOC_ZERO(csv->ctx, csv->dialect.names, csv->dialect.fields + 1);
    for (int64_t j = 0; j < csv->dialect.fields && c; j++) {
        if (!kfe_i_csv_field(csv->dialect.delimiter, c, end + 1, &field))
            break;
        KFE_TRY(copy_field(csv, &field, &csv->dialect.names[j]));
        c = kfe_i_csv_next_field(csv->dialect.delimiter, &field);
    }
cleanup:
    return status;
}

static int is_number(const char *text)
{
    double value;
    const char *end = text + strlen(text);
    return kfe_i_is_missing_text(text, end) || kfe_i_parse_number(text, end, &value);
}

/* In a table of strings a header looks like a row: customary names show it. */
static int has_customary_name(const kfe_i_csv *csv)
{
    static const char *const customary[] = {"text",  "string", "sequence", "seq",      "document", "sentence",
                                            "label", "class",  "target",   "category", "y"};

    for (int64_t j = 0; j < csv->dialect.fields; j++) {
        const char *name = csv->dialect.names[j];
        for (size_t k = 0; k < sizeof customary / sizeof *customary; k++)
            if (kfe_i_is_word(name, name + strlen(name), customary[k]))
                return 1;
    }
    return 0;
}

/* The label of the record at c, or no field if there is none. */
static kfe_i_field label_of(const kfe_i_csv *csv, const char *c, const char *block_end)
{
    kfe_i_field field = {c, c, c, 0};

    c = kfe_i_csv_row_begin(csv->dialect.delimiter, c);
    for (int64_t j = 0; c && j <= csv->dialect.picks.label; j++) {
        if (!kfe_i_csv_field(csv->dialect.delimiter, c, block_end, &field))
            return (kfe_i_field){c, c, c, 0};
        c = kfe_i_csv_next_field(csv->dialect.delimiter, &field);
    }
    return field;
}

static int same_text(const kfe_i_field *a, const kfe_i_field *b)
{
    return a->end - a->begin == b->end - b->begin &&
           memcmp(a->begin, b->begin, (size_t)(a->end - a->begin)) == 0;
}

/* Labels while the block is read: the first few distinct ones, and whether each was seen twice. */
typedef struct label_list {
    kfe_i_field items[8];
    int repeated[8];
    int count;
} label_list;

static void note_label(label_list *list, const kfe_i_field *label)
{
    enum { MOST = sizeof list->items / sizeof *list->items };
    int k = 0;

    while (k < list->count && !same_text(&list->items[k], label))
        k++;
    if (k < list->count)
        list->repeated[k] = 1;
    else if (k < MOST)
        list->items[list->count++] = *label;
}

/* Whether the label of the first record is not seen again in the block, while the next few are: then it names the
 * column. */
static int has_lonely_label(const kfe_i_csv *csv, const char *first_end)
{
    const char *block_end = kfe_i_block_lines_end(&csv->block);
    int quotes = memchr(csv->block.bytes, '"', (size_t)csv->block.length) != NULL;
    kfe_i_field first = label_of(csv, csv->block.bytes, block_end);
    label_list list = {.count = 0};
    const char *stop = first_end;

    while (stop && stop + 1 < block_end) {
        const char *c = stop + 1;
        kfe_i_field label = label_of(csv, c, block_end);
        if (same_text(&first, &label))
            return 0;
        note_label(&list, &label);
        stop = kfe_i_csv_record_end(csv->dialect.delimiter, c, block_end, quotes);
    }
    for (int k = 0; k < list.count; k++)
        if (!list.repeated[k])
            return 0;
    return list.count > 0;
}

static int label_is_named(const char *label)
{
    double number;
    return kfe_i_word_index("auto|last|first|none", label) < 0 &&
           !kfe_i_parse_number(label, label + strlen(label), &number);
}

/* Whether the first row has the name of a column that the model was fitted on. */
static int has_expected_name(const kfe_i_csv *csv)
{
    const kfe_i_expected_view *view = kfe_i_csv_expected(csv);

    for (int64_t j = 0; view && view->names && j < csv->dialect.fields; j++)
        for (int64_t k = 0; k < view->count; k++)
            if (strcmp(csv->dialect.names[j], view->names[k]) == 0)
                return 1;
    return 0;
}

/* Where text columns are encoded, a text in the first row may be a category. It is a name if it stands above numbers, or if
 * there is nothing but text. */
static int has_header_above_texts(const kfe_i_csv *csv, int64_t label, const char *first_end,
                                  unsigned char *texts)
{
    int numbers = 0;
    int only_row = first_end + 1 >= kfe_i_block_lines_end(&csv->block);

    if (has_expected_name(csv))
        return 1;
    if (only_row && kfe_i_csv_expected(csv))
        return 0;
    kfe_i_csv_mark_texts(csv, first_end + 1, texts);
    for (int64_t j = 0; j < csv->dialect.fields; j++) {
        if (j == label || texts[j])
            continue;
        if (!is_number(csv->dialect.names[j]))
            return 1;
        numbers++;
    }
    return numbers == 0;
}

/* Whether the first line alone does not tell what the columns are, so that the whole first block must be read. */
static int needs_lookahead(const kfe_i_csv *csv)
{
    const kfe_i_read_settings *settings = csv->settings;
    int header_is_open = settings->header == KFE_HEADER_AUTO && !label_is_named(settings->label);

    if (settings->content == KFE_CONTENT_STRINGS)
        return header_is_open && csv->dialect.picks.label >= 0 && !has_customary_name(csv) &&
               !has_expected_name(csv);
    if (settings->content != KFE_CONTENT_NUMBERS || has_expected_name(csv))
        return 0;
    return (header_is_open && kfe_i_csv_encodes(csv)) || /* a text may be a name or a category */
           (settings->header != KFE_HEADER_NO && csv->dialect.names[0][0] == '\0'); /* may count rows */
}

static int has_header(const kfe_i_csv *csv, int64_t label, const char *first_end, unsigned char *texts)
{
    const kfe_i_read_settings *settings = csv->settings;

    if (settings->header != KFE_HEADER_AUTO)
        return settings->header == KFE_HEADER_YES;
    if (settings->content == KFE_CONTENT_LABELS)
        return 0; /* decided later, by the number of rows */
    if (label_is_named(settings->label))
        return 1;
    if (settings->content == KFE_CONTENT_STRINGS)
        return has_customary_name(csv) || has_expected_name(csv) ||
               (label >= 0 && has_lonely_label(csv, first_end));
    if (kfe_i_csv_encodes(csv))
        return has_header_above_texts(csv, label, first_end, texts);
    for (int64_t j = 0; j < csv->dialect.fields; j++)
        if (j != label && !is_number(csv->dialect.names[j]))
            return 1;
    return 0;
}

/* Warns if the first row has numbers among its names: a typing error may have made a data row a header. */
static void warn_of_doubtful_header(const kfe_i_csv *csv)
{
    double value;

    if (csv->settings->header != KFE_HEADER_AUTO)
        return;
    if (csv->settings->content == KFE_CONTENT_STRINGS && !has_customary_name(csv) && !has_expected_name(csv))
        kfe_i_log(
            csv->ctx, KFE_LOG_WARNING,
            "%s:%lld: this row is taken for a header, since its label '%.100s' occurs in no other row; use "
            "{header=no} if it is data, {header=yes} if it is not",
            csv->block.source->name, (long long)csv->dialect.first_line,
            csv->dialect.picks.label >= 0 ? csv->dialect.names[csv->dialect.picks.label] : "");
    if (csv->settings->content != KFE_CONTENT_NUMBERS)
        return;
    for (int64_t j = 0; j < csv->dialect.fields; j++)
        if (j != csv->dialect.picks.label &&
            kfe_i_parse_number(csv->dialect.names[j], csv->dialect.names[j] + strlen(csv->dialect.names[j]),
                               &value)) {
            kfe_i_log(csv->ctx, KFE_LOG_WARNING,
                      "%s:%lld: this row is taken for a header, although field %lld is a number; use "
                      "{header=no} if it is "
                      "data, {header=yes} if it is not",
                      csv->block.source->name, (long long)csv->dialect.first_line, (long long)j + 1);
            return;
        }
}

/* Makes UTF-8 of names in another encoding, with a warning: models keep UTF-8 only, and are given the same names later. */
static void force_encoding(kfe_i_csv *csv)
{
    int told = 0;

    for (int64_t j = 0; j < csv->dialect.fields; j++)
        if (!kfe_i_is_utf8(csv->dialect.names[j])) {
            if (!told++)
                kfe_i_log(
                    csv->ctx, KFE_LOG_WARNING,
                    "%s:%lld: the name of column %lld is not UTF-8 text, so that models and texts show '?' "
                    "in it; if the file is Latin-1, convert it with 'iconv -f latin1 -t utf-8'",
                    csv->block.source->name, (long long)csv->dialect.first_line, (long long)j + 1);
            kfe_i_force_utf8(csv->dialect.names[j]);
        }
}

kfe_status kfe_i_csv_choose_dialect(kfe_i_csv *csv)
{
    kfe_status status = KFE_OK;
    const char *end = NULL;
    unsigned char *texts = NULL;
    const kfe_i_read_settings *settings = csv->settings;

    while (!csv->block.finished && kfe_i_block_lines_end(&csv->block) == csv->block.bytes)
        KFE_TRY(read_on(csv));
    KFE_TRY(choose_delimiter(csv));
    KFE_TRY(find_first_record(csv, &end));
    csv->dialect.first_line = csv->block.line;
    KFE_TRY(read_names(csv, end));
    KFE_TRY(kfe_i_label_column(csv->ctx, csv->block.source->name, settings, csv->dialect.fields,
                               settings->header == KFE_HEADER_NO ? NULL : csv->dialect.names,
                               &csv->dialect.picks.label));
    KFE_ALLOC_ZERO(csv->ctx, texts, csv->dialect.fields);
    if (csv->part_rows > 0 && needs_lookahead(csv))
        KFE_TRY(kfe_i_block_fill(&csv->block));
    if (has_header(csv, csv->dialect.picks.label, end, texts)) {
        warn_of_doubtful_header(csv);
        force_encoding(csv);
        kfe_i_block_consume(&csv->block, end + 1 - csv->block.bytes);
    } else {
        kfe_i_strings_free(csv->ctx, csv->dialect.fields, csv->dialect.names);
        csv->dialect.names = NULL;
    }
    KFE_TRY(kfe_i_csv_choose_columns(csv));
cleanup:
    kfe_i_free(csv->ctx, texts);
    return status;
}
