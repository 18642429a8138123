/* SPDX-License-Identifier: Apache-2.0 */
/* What all readers share: which column is the label, and what to do about missing values. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"
#include "core/text.h"
#include "data/read/reader.h"
#include "data/table/text_rows.h"

void kfe_i_raw_table_init(kfe_i_raw_table *raw, kfe_context *ctx)
{
    memset(raw, 0, sizeof *raw);
    raw->ctx = ctx;
    kfe_i_labels_init(&raw->labels, ctx);
}

void kfe_i_raw_table_free(kfe_i_raw_table *raw)
{
    if (!raw->ctx)
        return;
    kfe_i_strings_free(raw->ctx, raw->table.cols, raw->column_names);
    kfe_i_free(raw->ctx, raw->id_name);
    kfe_i_free(raw->ctx, raw->fields);
    kfe_i_free(raw->ctx, raw->groups);
    kfe_i_free(raw->ctx, raw->row_numbers);
    kfe_i_free(raw->ctx, raw->weights);
    kfe_i_table_free(&raw->ids);
    if (raw->gaps.ctx)
        kfe_i_gaps_free(&raw->gaps);
    if (raw->encoding.columns)
        kfe_i_encoding_free(&raw->encoding);
    kfe_i_table_free(&raw->table);
    kfe_i_labels_free(&raw->labels);
    memset(raw, 0, sizeof *raw);
}

/* ---- the label column ---- */

static const char *name_at(const void *list, int index)
{
    return ((const char *const *)list)[index];
}

/* Finds a column by its 1-based number or its name. A number is never a name, because without a header `names` is the
 * first row. */
static kfe_status named_column(kfe_context *ctx, const char *file, const char *label, int64_t count,
                               char *const *names, int64_t *column)
{
    double number = 0;
    char suggestion[128] = "";

    if (kfe_i_parse_number(label, label + strlen(label), &number) && number == floor(number)) {
        *column = number >= 1 && number <= (double)count ? (int64_t)number - 1 : -1;
        if (*column >= 0)
            return KFE_OK;
        return kfe_i_fail_at(ctx, KFE_EINPUT, file, 0, 0,
                             "the label column %s is out of range: the file has %lld columns; give a number "
                             "from 1 to %lld with {label}",
                             label, (long long)count, (long long)count);
    }
    for (int64_t j = 0; names && j < count; j++) {
        if (strcmp(names[j], label) != 0)
            continue;
        if (*column >= 0)
            return kfe_i_fail_at(ctx, KFE_EINPUT, file, 0, 0,
                                 "columns %lld and %lld are both named '%s'; give the number of the label "
                                 "column with {label}",
                                 (long long)*column + 1, (long long)j + 1, label);
        *column = j;
    }
    if (*column >= 0)
        return KFE_OK;
    if (names) /* the caller's list ends in NULL */
        kfe_i_suggest(label, name_at, names, suggestion, sizeof suggestion);
    return kfe_i_fail_at(ctx, KFE_EINPUT, file, 0, 0,
                         "no column is named '%s'%s; give a name from the header%s, or a number from 1 to "
                         "%lld, with {label}",
                         label, suggestion, names ? "" : " (this file has none)", (long long)count);
}

/* The last column, or where the model's training file had the label. kfe_i_guess_label has the last word if other columns are left
 * out. */
static int64_t usual_column(const kfe_i_read_settings *settings, int64_t count)
{
    const kfe_i_label_place *place = settings->expected ? &settings->expected->label_place : NULL;

    if (place && place->column > 0 && place->columns == count)
        return place->column - 1;
    if (place && place->column > 0 && place->before >= 0 && count == settings->columns + 1)
        return place->before;
    return count - 1;
}

kfe_status kfe_i_label_column(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                              int64_t count, char *const *names, int64_t *column)
{
    const char *label = settings->label;

    *column = -1;
    if (strcmp(label, "none") == 0)
        return KFE_OK;
    if (settings->columns == count && (!settings->expected || strcmp(label, "auto") == 0))
        return KFE_OK;                                          /* all columns are features */
    if (settings->content == KFE_CONTENT_STRINGS && count == 1) /* the strings themselves */
        return KFE_OK;
    if (strcmp(label, "auto") == 0 && settings->label_file[0])
        return KFE_OK;
    if (strcmp(label, "auto") == 0)
        *column = usual_column(settings, count);
    else if (strcmp(label, "last") == 0)
        *column = count - 1;
    else if (strcmp(label, "first") == 0)
        *column = 0;
    else
        return named_column(ctx, file, label, count, names, column);
    return KFE_OK;
}

int kfe_i_is_missing_text(const char *begin, const char *end)
{
    static const char *const words[] = {"na", "n/a", "nan", "null", "?"};

    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (begin == end)
        return 1;
    if (*begin != 'n' && *begin != 'N' && *begin != '?') /* numbers are asked often */
        return 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (kfe_i_is_word(begin, end, words[k]))
            return 1;
    return 0;
}

/* ---- missing values ---- */

static int row_is_complete(const kfe_i_raw_table *raw, int64_t row)
{
    const kfe_i_table *table = &raw->table;
    const kfe_i_labels *labels = &raw->labels;

    if (labels->present && (labels->codes ? labels->codes[row] < 0 : isnan(labels->numbers[row])))
        return 0;
    if (table->kind == KFE_TABLE_TEXT)
        return 1;
    int sparse = table->kind == KFE_TABLE_CSR;
    int64_t begin = sparse ? table->row_start[row] : 0;
    int64_t end = sparse ? table->row_start[row + 1] : table->cols;
    for (int64_t p = begin; p < end; p++)
        if (isnan(sparse ? table->values[p] : kfe_i_table_value(table, row, p)))
            return 0;
    return 1;
}

int kfe_i_has_complete_row(const kfe_i_raw_table *raw)
{
    for (int64_t i = 0; i < raw->table.rows; i++)
        if (!raw->has_missing || row_is_complete(raw, i))
            return 1;
    return 0;
}

static kfe_status keep_rows_of(kfe_i_table *table, const int64_t *kept, int64_t count)
{
    kfe_i_table whole = {0};
    kfe_status status = kfe_i_table_gather(table->ctx, table, kept, count, &whole);

    if (status != KFE_OK)
        return status;
    kfe_i_table_free(table);
    *table = whole;
    return KFE_OK;
}

/* Names the rows by their numbers in the file, from 1, so that outputs show which rows are left. */
static kfe_status number_rows(kfe_i_raw_table *raw, const int64_t *kept, int64_t count)
{
    kfe_status status = KFE_OK;
    kfe_i_text_rows ids;

    kfe_i_text_rows_init(&ids, raw->ctx);
    raw->ids_are_numbers = 1;
    KFE_STRDUP(raw->ctx, raw->id_name, "row");
    for (int64_t i = 0; i < count; i++) {
        kfe_i_text_printf(&ids.bytes, "%lld", (long long)kept[i] + 1);
        KFE_TRY(kfe_i_text_rows_end(&ids));
    }
    KFE_TRY(kfe_i_text_rows_take(&ids, &raw->ids));
cleanup:
    kfe_i_text_rows_free(&ids);
    return status;
}

static kfe_status keep_rows(kfe_i_raw_table *raw, const int64_t *kept, int64_t count)
{
    kfe_status status = KFE_OK;

    KFE_TRY(keep_rows_of(&raw->table, kept, count));
    if (raw->ids.rows > 0)
        KFE_TRY(keep_rows_of(&raw->ids, kept, count));
    for (int64_t i = 0; raw->groups && i < count; i++) /* rows are listed in their order */
        raw->groups[i] = raw->groups[kept[i]];
    for (int64_t i = 0; raw->weights && i < count; i++)
        raw->weights[i] = raw->weights[kept[i]];
    if (raw->labels.present)
        kfe_i_labels_keep_rows(&raw->labels, kept, count);
cleanup:
    return status;
}

static int has_names(const kfe_i_raw_table *raws, int views)
{
    for (int v = 0; v < views; v++)
        if (raws[v].ids.rows > 0)
            return 1;
    return 0;
}

static kfe_status drop_rows(kfe_context *ctx, kfe_i_raw_table *raws, int views, const char *file)
{
    kfe_status status = KFE_OK;
    int64_t *kept = NULL;
    int64_t count = 0;
    int64_t rows = raws[0].table.rows;

    KFE_ALLOC(ctx, kept, rows);
    for (int64_t i = 0; i < rows; i++) {
        int complete = 1;
        for (int v = 0; v < views; v++)
            complete &= row_is_complete(&raws[v], i);
        if (complete)
            kept[count++] = i;
    }
    if (count == 0)
        KFE_FAIL(
            ctx, KFE_EINPUT,
            "%s: every row has a missing value, so no row would be left; fill them in, or use {missing=mean}",
            file);
    for (int v = 0; v < views; v++)
        KFE_TRY(keep_rows(&raws[v], kept, count));
    if (!has_names(raws, views) && count < rows)
        KFE_TRY(number_rows(&raws[0], kept, count));
    if (count < rows) {
        kept[count] = rows;
        raws[0].row_numbers = kept;
        kept = NULL;
    }
    kfe_i_log(ctx, KFE_LOG_INFO, "%s: dropped %lld of %lld rows with missing values", file,
              (long long)(rows - count), (long long)rows);
cleanup:
    kfe_i_free(ctx, kept);
    return status;
}

static kfe_status fill_in(kfe_i_raw_table *raw, const char *file, int missing)
{
    kfe_status status = KFE_OK;
    static const char *const words[] = {"", "mean", "median", "most frequent value", "mean"};
    double *fill = NULL;
    int64_t empty = -1;

    if (raw->table.kind != KFE_TABLE_DENSE)
        return KFE_OK;
    KFE_TRY(kfe_i_table_widen(raw->ctx, &raw->table));
    KFE_ALLOC(raw->ctx, fill, raw->table.cols);
    KFE_TRY(kfe_i_gaps_find(raw->ctx, &raw->table, (kfe_i_fill)missing, &raw->encoding, &raw->gaps));
    KFE_TRY(kfe_i_fill_learn(raw->ctx, &raw->gaps, &raw->table, fill, &empty));
    if (empty >= 0)
        KFE_FAIL(raw->ctx, KFE_EINPUT,
                 "%s: column %lld%s%s%s has no value in any row, so there is no %s to fill in; fill in a "
                 "value, or "
                 "remove the column from all files",
                 file, (long long)empty + 1, raw->column_names ? " ('" : "",
                 raw->column_names ? raw->column_names[empty] : "", raw->column_names ? "')" : "",
                 words[missing]);
    long long filled = (long long)kfe_i_fill_nans(fill, &raw->table);
    if (missing == KFE_MISSING_NIPALS)
        kfe_i_log(raw->ctx, KFE_LOG_INFO, "%s: %lld missing values are left out (NIPALS)", file, filled);
    else
        kfe_i_log(raw->ctx, KFE_LOG_INFO, "%s: %lld missing values are filled with the %s of their column",
                  file, filled, words[missing]);
cleanup:
    kfe_i_free(raw->ctx, fill);
    return status;
}

static kfe_status refuse_missing(kfe_i_raw_table *raw, const char *file, const kfe_i_read_settings *settings)
{
    int64_t row = 0;
    int64_t column = 0;

    if (kfe_i_table_find_nonfinite(raw->ctx, &raw->table, &row, &column))
        return kfe_i_fail(
            raw->ctx, KFE_EINPUT,
            settings->in_parts_to_fit
                ? "%s: row %lld, column %lld is missing (NaN); fill it in, or use {missing=drop}"
                : "%s: row %lld, column %lld is missing (NaN); fill it in, or use "
                  "{missing=mean} or {missing=drop}",
            file, (long long)(raw->first_row + row) + 1, (long long)column + 1);
    return KFE_OK;
}

static kfe_status refuse_missing_label(kfe_i_raw_table *raw, const char *file)
{
    int64_t row = raw->labels.present ? kfe_i_labels_find_missing(&raw->labels) : -1;

    if (row < 0)
        return KFE_OK;
    return kfe_i_fail(raw->ctx, KFE_EINPUT,
                      "%s: the label of row %lld is missing; fill it in, or use {missing=drop}", file,
                      (long long)(raw->first_row + row) + 1);
}

static kfe_status complete_one(kfe_i_raw_table *raw, const char *file, const kfe_i_read_settings *settings)
{
    kfe_status status = KFE_OK;
    int missing = settings->missing;
    int fills = missing >= KFE_MISSING_MEAN && missing <= KFE_MISSING_NIPALS;

    if (raw->has_missing)
        KFE_TRY(refuse_missing_label(raw, file));
    if (fills) /* also without gaps, so that the model learns what to fill in */
        KFE_TRY(fill_in(raw, file, missing));
    else if (raw->has_missing && missing != KFE_MISSING_KEEP)
        KFE_TRY(refuse_missing(raw, file, settings));
cleanup:
    return status;
}

kfe_status kfe_i_handle_missing_values(kfe_context *ctx, kfe_i_raw_table *raws, int count,
                                       const char *const *paths, const kfe_i_read_settings *settings)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < count; v++) {
        const char *file = kfe_i_shown_path(paths[v]);
        if (settings->missing != KFE_MISSING_DROP)
            KFE_TRY(complete_one(&raws[v], file, settings));
        else if (raws[v].has_missing)
            return drop_rows(ctx, raws, count, file);
    }
cleanup:
    return status;
}
