/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what each field of a delimited file is, for csv.c: a column of the table, the label, the string, the name of the
 * row, or nothing. Users drop and select columns by name, number or range; a first column of row numbers without a name, as
 * pandas writes it, is dropped; for a model, columns are found by the names that it was fitted with.
 */
#include <math.h>
#include <string.h>

#include "core/intern.h"
#include "core/memory.h"
#include "data/format/csv.h"

/* ---- row numbers ---- */

/* Whether the first fields of the next records count 0, 1, 2 or 1, 2, 3. */
static int counts_rows(const kfe_i_csv *csv)
{
    enum { ROWS_TO_JUDGE = 5 };
    const char *end = kfe_i_block_lines_end(&csv->block);
    int quotes = memchr(csv->block.bytes, '"', (size_t)csv->block.length) != NULL;
    const char *c = csv->block.bytes;
    double first = 0;
    double value = 0;
    int row = 0;

    for (; row < ROWS_TO_JUDGE && c < end; row++) {
        kfe_i_field field;
        if (!kfe_i_csv_field(csv->dialect.delimiter, c, end, &field) ||
            !kfe_i_parse_number(field.begin, field.end, &value))
            return 0;
        if (row == 0)
            first = value;
        if (value != first + row || (first != 0 && first != 1))
            return 0;
        c = kfe_i_csv_record_end(csv->dialect.delimiter, c, end, quotes);
        if (!c)
            break;
        c++;
    }
    return row >= 2;
}

static int has_index(const kfe_i_csv *csv)
{
    const kfe_i_read_settings *settings = csv->settings;

    return csv->dialect.names && csv->dialect.fields > 2 && csv->dialect.names[0][0] == '\0' &&
           csv->dialect.picks.label != 0 && settings->content == KFE_CONTENT_NUMBERS &&
           !settings->select[0] && counts_rows(csv);
}

/* ---- for a model ---- */

const kfe_i_expected_view *kfe_i_csv_expected(const kfe_i_csv *csv)
{
    const kfe_i_expected *expected = csv->settings->expected;

    if (!expected || !expected->views || csv->settings->expected_index < 0)
        return NULL;
    return &expected->views[csv->settings->expected_index];
}

const kfe_i_encoding *kfe_i_csv_expected_encoding(const kfe_i_csv *csv)
{
    const kfe_i_expected_view *view = kfe_i_csv_expected(csv);

    return view && view->encoding && view->encoding->count > 0 ? view->encoding : NULL;
}

int kfe_i_csv_encodes(const kfe_i_csv *csv)
{
    if (csv->settings->content != KFE_CONTENT_NUMBERS)
        return 0;
    return csv->settings->expected ? kfe_i_csv_expected_encoding(csv) != NULL
                                   : csv->settings->encode[0] != '\0';
}

static const kfe_i_expected_view *expected_view(const kfe_i_csv *csv)
{
    const kfe_i_expected_view *view = kfe_i_csv_expected(csv);

    return view && csv->dialect.names && view->names ? view : NULL;
}

static int64_t find_name(const kfe_i_csv *csv, const char *name)
{
    for (int64_t j = 0; j < csv->dialect.fields; j++)
        if (strcmp(csv->dialect.names[j], name) == 0)
            return j;
    return -1;
}

/* Whether the first block has text in a column other than the last, which may be the label. */
static kfe_status has_text(const kfe_i_csv *csv, int *out)
{
    kfe_status status = KFE_OK;
    unsigned char *marks = NULL;

    *out = 0;
    KFE_ALLOC_ZERO(csv->ctx, marks, csv->dialect.fields);
    kfe_i_csv_mark_texts(csv, csv->block.bytes, marks);
    for (int64_t j = 0; j < csv->dialect.fields; j++)
        *out |= marks[j] && (j < csv->dialect.fields - 1 || j == 0);
cleanup:
    kfe_i_free(csv->ctx, marks);
    return status;
}

static kfe_status missing_columns(const kfe_i_csv *csv, const kfe_i_expected_view *view)
{
    enum { SHOWN = 5 };
    kfe_status status = KFE_OK;
    int64_t count = 0;
    int texts = 0;
    kfe_i_text names;

    kfe_i_text_init(&names, csv->ctx);
    KFE_TRY(has_text(csv, &texts));
    for (int64_t k = 0; k < view->count; k++)
        if (find_name(csv, view->names[k]) < 0 && count++ < SHOWN)
            kfe_i_text_printf(&names, "%s'%.100s'", count > 1 ? ", " : "", view->names[k]);
    KFE_TRY(names.status);
    status =
        kfe_i_fail_at(csv->ctx, KFE_EINPUT, csv->block.source->name, csv->dialect.first_line, 0,
                      "%lld of the %lld columns that the model was fitted on are missing: %s%s; give the "
                      "columns that the model needs, in any order%s",
                      (long long)count, (long long)view->count, names.bytes, count > SHOWN ? ", …" : "",
                      texts && count == view->count ? " (it takes numbers, but this file has text)" : "");
cleanup:
    kfe_i_text_free(&names);
    return status;
}

/* Fields by name, for tables of many columns. */
typedef struct name_index {
    kfe_i_intern words;
    int64_t *field; /* the first field of each name; -1 − it if another field has the same name */
    int64_t known;  /* names of the file; numbers from here on belong to names that it lacks */
} name_index;

static kfe_status index_field(const kfe_i_csv *csv, int64_t j, int left_out, name_index *index)
{
    kfe_status status = KFE_OK;
    const char *name = csv->dialect.names[j];
    int64_t before = index->words.count;
    int32_t number = 0;

    KFE_TRY(kfe_i_intern_add(&index->words, name, (int64_t)strlen(name), &number));
    if (number == before)
        index->field[number] = j;
    else if (!left_out && index->field[number] >= 0)
        index->field[number] = -1 - index->field[number];
cleanup:
    return status;
}

/* Of two fields of one name, that which the user leaves out is not the one that is meant. */
static kfe_status mark_left_out(const kfe_i_csv *csv, unsigned char *removed)
{
    int64_t first = 0;
    int64_t second = 0;
    kfe_i_picks picks = csv->dialect.picks;
    kfe_status status = kfe_i_find_twins(csv->ctx, csv->dialect.fields,
                                         (const char *const *)csv->dialect.names, &first, &second);

    picks.removed = removed;
    return status == KFE_OK && second > 0 ? kfe_i_picks_mark(csv->ctx, csv->block.source->name, csv->settings,
                                                             csv->dialect.names, &picks)
                                          : status;
}

static kfe_status open_index(const kfe_i_csv *csv, name_index *index)
{
    kfe_status status = KFE_OK;
    unsigned char *removed = NULL;

    kfe_i_intern_init(&index->words, csv->ctx);
    KFE_ALLOC(csv->ctx, index->field, csv->dialect.fields);
    KFE_ALLOC_ZERO(csv->ctx, removed, csv->dialect.fields);
    KFE_TRY(mark_left_out(csv, removed));
    for (int left_out = 0; left_out < 2; left_out++)
        for (int64_t j = 0; j < csv->dialect.fields; j++)
            if (removed[j] == left_out)
                KFE_TRY(index_field(csv, j, left_out, index));
    index->known = index->words.count;
cleanup:
    kfe_i_free(csv->ctx, removed);
    return status;
}

static void close_index(const kfe_i_csv *csv, name_index *index)
{
    kfe_i_free(csv->ctx, index->field);
    kfe_i_intern_free(&index->words);
}

/* The field of that name, or -1; a name of two fields is refused. */
static kfe_status look_up(const kfe_i_csv *csv, name_index *index, const char *name, int64_t *field)
{
    int32_t number = 0;
    kfe_status status = kfe_i_intern_add(&index->words, name, (int64_t)strlen(name), &number);

    *field = status == KFE_OK && number < index->known ? index->field[number] : -1;
    if (status == KFE_OK && number < index->known && *field < 0 && name[0])
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, csv->block.source->name, csv->dialect.first_line, 0,
                             "two columns are called '%.100s', a name that the model knows, so it is not "
                             "clear which one is meant; rename or remove one of them",
                             name);
    if (*field < 0 && number < index->known)
        *field = -1 - *field; /* columns without a name */
    return status;
}

/* Finds the field of every column of the model. *unique becomes 0 if two of its columns have one name, or if strings
 * have another name than in training. */
static kfe_status place_columns(kfe_i_csv *csv, const kfe_i_expected_view *view, name_index *index,
                                int *unique)
{
    kfe_status status = KFE_OK;

    for (int64_t j = 0; j < csv->dialect.fields; j++)
        csv->dialect.place[j] = -1;
    for (int64_t k = 0; *unique && k < view->count; k++) {
        int64_t field = -1;
        KFE_TRY(look_up(csv, index, view->names[k], &field));
        if (field < 0 && csv->settings->content == KFE_CONTENT_NUMBERS)
            return missing_columns(csv, view);
        *unique = field >= 0 && csv->dialect.place[field] < 0; /* strings may have another name */
        if (*unique)
            csv->dialect.place[field] = k;
    }
cleanup:
    return status;
}

static int has_use(const kfe_i_dialect *dialect, int64_t field)
{
    return dialect->place[field] >= 0 || field == dialect->picks.label || field == dialect->picks.id ||
           field == dialect->picks.group || field == dialect->picks.weight;
}

/* Names the columns that the model does not use, the first few of them. */
static kfe_status warn_of_unknown(const kfe_i_csv *csv)
{
    enum { SHOWN = 5 };
    kfe_status status = KFE_OK;
    int64_t count = 0;
    kfe_i_text names;

    kfe_i_text_init(&names, csv->ctx);
    for (int64_t j = 0; j < csv->dialect.fields; j++) {
        if (has_use(&csv->dialect, j) || count++ >= SHOWN)
            continue;
        if (csv->dialect.names[j][0])
            kfe_i_text_printf(&names, "%s'%.100s'", count > 1 ? ", " : "", csv->dialect.names[j]);
        else
            kfe_i_text_printf(&names, "%scolumn %lld, which has no name", count > 1 ? ", " : "",
                              (long long)j + 1);
    }
    KFE_TRY(names.status);
    if (count > 0)
        kfe_i_log(csv->ctx, KFE_LOG_NOTICE, "%s: %lld column%s that the model does not know %s ignored: %s%s",
                  csv->block.source->name, (long long)count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
                  names.bytes, count > SHOWN ? ", …" : "");
cleanup:
    kfe_i_text_free(&names);
    return status;
}

static kfe_status label_is_feature(const kfe_i_csv *csv, int64_t field)
{
    return kfe_i_fail_at(
        csv->ctx, KFE_EINPUT, csv->block.source->name, csv->dialect.first_line, 0,
        "{label=%s} takes column '%.100s' as the label, but the model needs it as a feature; "
        "leave {label} out, or use {label=none}",
        csv->settings->label, csv->dialect.names[field]);
}

/* Rows are named by the column that named them in training, unless the user names another. */
static void find_known_id(kfe_i_csv *csv)
{
    const char *name = csv->settings->expected->id_name;
    int64_t field = name && !csv->settings->id[0] ? find_name(csv, name) : -1;

    if (field >= 0 && !has_use(&csv->dialect, field))
        csv->dialect.picks.id = field;
}

/* The label is the field that training called so, unless the user says where it is. */
static kfe_status match_names(kfe_i_csv *csv, const kfe_i_expected_view *view, int *matched)
{
    kfe_status status = KFE_OK;
    const char *label = csv->settings->expected->label_name;
    name_index index = {.field = NULL};
    int64_t field = csv->dialect.picks.label;

    *matched = 1;
    KFE_TRY(open_index(csv, &index));
    KFE_TRY(place_columns(csv, view, &index, matched));
    if (!*matched)
        goto cleanup;
    if (!csv->settings->label_is_given) {
        field = -1;
        if (label && csv->settings->may_have_label)
            KFE_TRY(look_up(csv, &index, label, &field));
    }
    if (field >= 0 && csv->dialect.place[field] >= 0) {
        status = csv->settings->label_is_given ? label_is_feature(csv, field) : KFE_OK;
        field = -1;
    }
    csv->dialect.picks.label = field;
    KFE_TRY(status);
    find_known_id(csv);
    csv->cols = view->count;
    KFE_TRY(warn_of_unknown(csv));
cleanup:
    close_index(csv, &index);
    return status;
}

/* ---- all together ---- */

/* Row numbers are not read. */
static void leave_out_index(const kfe_i_csv *csv)
{
    unsigned char *removed = csv->dialect.picks.removed;

    if (removed[0] || !has_index(csv))
        return;
    removed[0] = 1;
    kfe_i_log(csv->ctx, KFE_LOG_NOTICE,
              "%s: the first column has no name and counts the rows, so it is left out; {select} takes it",
              csv->block.source->name);
}

/* Without a model: what is left of the columns in the order of the file. */
static kfe_status place_all(kfe_i_csv *csv)
{
    kfe_status status = KFE_OK;
    kfe_i_dialect *dialect = &csv->dialect;
    kfe_i_picks *picks = &dialect->picks;
    const char *file = csv->block.source->name;

    KFE_TRY(kfe_i_picks_mark(csv->ctx, file, csv->settings, dialect->names, picks));
    leave_out_index(csv);
    if (picks->label >= 0)
        KFE_TRY(kfe_i_guess_label(csv->ctx, file, csv->settings, dialect->fields, dialect->names,
                                  picks->removed, &picks->label));
    for (int64_t j = 0; j < dialect->fields; j++)
        dialect->place[j] = picks->removed[j] || j == picks->label ? -1 : csv->cols++;
cleanup:
    return status;
}

kfe_status kfe_i_csv_choose_columns(kfe_i_csv *csv)
{
    kfe_status status = KFE_OK;
    kfe_i_picks *picks = &csv->dialect.picks;
    const kfe_i_expected_view *expected;
    int matched = 0;

    picks->count = csv->dialect.fields;
    KFE_ALLOC(csv->ctx, csv->dialect.place, picks->count);
    KFE_ALLOC_ZERO(csv->ctx, picks->removed, picks->count);
    KFE_TRY(
        kfe_i_picks_find_rows(csv->ctx, csv->block.source->name, csv->settings, csv->dialect.names, picks));
    expected = expected_view(csv);
    if (expected)
        KFE_TRY(match_names(csv, expected, &matched));
    if (!matched)
        KFE_TRY(place_all(csv));
    csv->dialect.string = -1;
    for (int64_t j = 0; csv->settings->content == KFE_CONTENT_STRINGS && j < csv->dialect.fields; j++)
        if (csv->dialect.place[j] == 0)
            csv->dialect.string = j;
    if (kfe_i_csv_encodes(csv) && csv->cols > 0)
        KFE_TRY(kfe_i_csv_choose_texts(csv));
cleanup:
    return status;
}
