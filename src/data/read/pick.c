/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of arrays that the user drops, selects, or takes as names, groups or weights of the rows, by number or name; for the
 * readers of arrays and for Arrow tables. */
#include <string.h>

#include "core/memory.h"
#include "data/read/pick.h"
#include "data/table/columns.h"
#include "data/table/text_rows.h"

void kfe_i_picks_free(kfe_context *ctx, kfe_i_picks *picks)
{
    kfe_i_free(ctx, picks->removed);
    memset(picks, 0, sizeof *picks);
}

/* The column number `place` of those that are left, from 0. */
static int64_t column_left(int64_t count, const unsigned char *removed, int64_t place)
{
    for (int64_t j = 0; j < count; j++)
        if (!removed[j] && place-- == 0)
            return j;
    return -1;
}

static kfe_status refuse_place(kfe_context *ctx, const char *file, const kfe_i_label_place *place,
                               int64_t count)
{
    if (place->before < 0)
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "%s: an older kfe wrote the model, which does not say whether the label is the first "
            "or the last column of a table; give {label=first}, {label=last} or {label=none}",
            file);
    return kfe_i_fail(ctx, KFE_EINPUT,
                      "%s: the label was column %lld of %lld in the file that the model was fitted on, but "
                      "this file has %lld columns; say which one is the label with {label}, or {label=none}",
                      file, (long long)place->column, (long long)place->columns, (long long)count);
}

/* The label of a table that is read for a model and has one column more than the features. A header that the model cannot know, since
 * its training file had none, makes the place doubtful. */
static kfe_status place_label(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                              int64_t count, char *const *names, const unsigned char *removed, int64_t *label)
{
    const kfe_i_label_place *place = &settings->expected->label_place;
    int at_same_column = place->columns == count && !removed[place->column - 1];
    int is_last = place->before >= settings->columns;

    if (place->before < 0 || (settings->select[0] && !at_same_column && !is_last))
        return refuse_place(ctx, file, place, count);
    *label = at_same_column ? place->column - 1 : column_left(count, removed, place->before);
    if (names && !is_last)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "%s: column %lld ('%.100s') is taken as the label, since the label was there in the "
                  "training file, whose columns had no names; use {label} if another column is the label",
                  file, (long long)*label + 1, names[*label]);
    return KFE_OK;
}

kfe_status kfe_i_guess_label(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                             int64_t count, char *const *names, const unsigned char *removed, int64_t *label)
{
    int automatic = strcmp(settings->label, "auto") == 0;
    int64_t kept = 0;

    for (int64_t j = 0; j < count; j++)
        kept += !removed[j];
    if (kept == settings->columns && settings->expected && !automatic)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: {label=%s} takes a column as the label, but the model needs all %lld columns "
                          "as features; leave {label} out, or use {label=none}",
                          file, settings->label, (long long)kept);
    if (!automatic && strcmp(settings->label, "last") != 0)
        return KFE_OK;
    if (kept == settings->columns)
        *label = -1;
    else if (automatic && settings->expected && settings->expected->label_place.column > 0 &&
             kept == settings->columns + 1)
        return place_label(ctx, file, settings, count, names, removed, label);
    else
        *label = column_left(count, removed, kept - 1);
    return KFE_OK;
}

/* A column is the label, the group or the weight of a row. A label that is guessed is later looked for among the other columns. */
static kfe_status check_uses(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                             const kfe_i_picks *picks)
{
    int64_t label = kfe_i_word_index("auto|last", settings->label) >= 0 ? -1 : picks->label;

    if (picks->group >= 0 && picks->group == label)
        return kfe_i_fail_at(ctx, KFE_EINVAL, file, 0, 0,
                             "{groups} names column %lld, which is the label; name another column",
                             (long long)label + 1);
    if (picks->weight >= 0 && picks->weight == label)
        return kfe_i_fail_at(ctx, KFE_EINVAL, file, 0, 0,
                             "{weight} names column %lld, which is the label; name another column",
                             (long long)label + 1);
    if (picks->weight >= 0 && picks->weight == picks->group)
        return kfe_i_fail_at(
            ctx, KFE_EINVAL, file, 0, 0,
            "{groups} and {weight} both name column %lld; a column is the group or the weight of "
            "a row, not both",
            (long long)picks->weight + 1);
    return KFE_OK;
}

kfe_status kfe_i_picks_find_rows(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                                 char *const *names, kfe_i_picks *picks)
{
    kfe_status status = KFE_OK;
    struct {
        const char *parameter, *given;
        int64_t *column;
    } uses[] = {{"id", settings->id, &picks->id},
                {"groups", settings->groups, &picks->group},
                {"weight", settings->weight, &picks->weight}};

    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
        kfe_i_column_list columns = {uses[k].parameter, file, picks->count, names, NULL};
        *uses[k].column = -1;
        if (uses[k].given[0]) /* of several views the column may be in another file */
            KFE_TRY(kfe_i_columns_find(ctx, &columns, uses[k].given, settings->is_one_of_several,
                                       uses[k].column));
    }
    status = check_uses(ctx, file, settings, picks);
cleanup:
    return status;
}

kfe_status kfe_i_picks_mark(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                            char *const *names, kfe_i_picks *picks)
{
    kfe_status status = KFE_OK;
    kfe_i_column_list columns = {"select", file, picks->count, names, NULL};
    const int64_t of_rows[] = {picks->id, picks->group, picks->weight};

    if (settings->select[0]) {
        KFE_TRY(kfe_i_columns_mark(ctx, &columns, settings->select, picks->removed));
        for (int64_t j = 0; j < picks->count; j++)
            picks->removed[j] = !picks->removed[j] && j != picks->label;
    }
    columns.parameter = "drop";
    if (settings->drop[0])
        KFE_TRY(kfe_i_columns_mark(ctx, &columns, settings->drop, picks->removed));
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++)
        if (of_rows[k] >= 0)
            picks->removed[of_rows[k]] = 1;
cleanup:
    return status;
}

kfe_status kfe_i_picks_find(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                            char *const *names, int with_label, int64_t count, kfe_i_picks *out)
{
    kfe_status status = KFE_OK;
    int64_t kept = 0;

    *out = (kfe_i_picks){.count = count, .label = -1};
    KFE_ALLOC_ZERO(ctx, out->removed, count);
    if (with_label)
        KFE_TRY(kfe_i_label_column(ctx, file, settings, count, names, &out->label));
    KFE_TRY(kfe_i_picks_find_rows(ctx, file, settings, names, out));
    KFE_TRY(kfe_i_picks_mark(ctx, file, settings, names, out));
    if (out->label >= 0)
        KFE_TRY(kfe_i_guess_label(ctx, file, settings, count, names, out->removed, &out->label));
    if (out->label >= 0)
        out->removed[out->label] = 1;
    for (int64_t j = 0; j < count; j++)
        kept += !out->removed[j];
    if (kept == 0 && out->label >= 0 && count == 1)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "%s: the only column is the label, which leaves no features; use {label=none}", file);
    if (kept == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: no column is left as a feature; drop fewer, or check {label}", file);
cleanup:
    return status;
}

/* ---- taking ---- */

kfe_i_label_place kfe_i_picks_label_place(const kfe_i_picks *picks)
{
    kfe_i_label_place place = {.column = picks->label + 1, .columns = picks->count};

    for (int64_t j = 0; j < picks->label; j++)
        place.before += !picks->removed[j];
    return place;
}

static kfe_status take_weights(kfe_context *ctx, const double *values, int64_t rows, const kfe_i_picks *picks,
                               kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, out->weights, rows);
    for (int64_t i = 0; i < rows; i++)
        out->weights[i] = values[i * picks->count + picks->weight];
cleanup:
    return status;
}

static kfe_status take_ids(kfe_context *ctx, const double *values, int64_t rows, const kfe_i_picks *picks,
                           kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_text_rows ids;

    kfe_i_text_rows_init(&ids, ctx);
    KFE_STRDUP(ctx, out->id_name, "id");
    for (int64_t i = 0; i < rows; i++) {
        kfe_i_text_printf(&ids.bytes, "%.15g", values[i * picks->count + picks->id]);
        KFE_TRY(kfe_i_text_rows_end(&ids));
    }
    KFE_TRY(kfe_i_text_rows_take(&ids, &out->ids));
cleanup:
    kfe_i_text_rows_free(&ids);
    return status;
}

static kfe_status take_label(kfe_context *ctx, const double *values, int64_t rows, const kfe_i_picks *picks,
                             kfe_i_labels *labels)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, labels->numbers, rows);
    for (int64_t i = 0; i < rows; i++)
        labels->numbers[i] = values[i * picks->count + picks->label];
    labels->rows = rows;
    labels->present = 1;
    labels->column = picks->label + 1;
    labels->place = kfe_i_picks_label_place(picks);
cleanup:
    return status;
}

/* Moves the columns that are kept together, row by row; none moves to the right. */
static int64_t close_gaps(double *values, int64_t rows, const kfe_i_picks *picks)
{
    double *to = values;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < picks->count; j++)
            if (!picks->removed[j])
                *to++ = values[i * picks->count + j];
    return (to - values) / rows;
}

kfe_status kfe_i_picks_take(kfe_context *ctx, const kfe_i_picks *picks, kfe_i_raw_table *raw)
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = &raw->table;
    int64_t kept = 0;

    if (picks->label >= 0)
        KFE_TRY(take_label(ctx, table->values, table->rows, picks, &raw->labels));
    if (picks->id >= 0)
        KFE_TRY(take_ids(ctx, table->values, table->rows, picks, raw));
    if (picks->group >= 0)
        KFE_TRY(
            kfe_i_number_groups(ctx, table->values + picks->group, picks->count, table->rows, &raw->groups));
    if (picks->weight >= 0)
        KFE_TRY(take_weights(ctx, table->values, table->rows, picks, raw));
    KFE_ALLOC(ctx, raw->fields, picks->count);
    for (int64_t j = 0; j < picks->count; j++)
        if (!picks->removed[j])
            raw->fields[kept++] = j;
    raw->field_count = picks->count;
    table->cols = close_gaps(table->values, table->rows, picks);
cleanup:
    return status;
}
