/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of arrays that the user drops, selects, or takes as names, groups or weights of the rows, by number or name; for the
 * readers of arrays and for Arrow tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/columns.h"
#include "data/read/pick.h"

void kfe_i_picks_free(kfe_context *ctx, kfe_i_picks *picks)
{
    kfe_i_free(ctx, picks->removed);
    memset(picks, 0, sizeof *picks);
}

int kfe_i_guess_label(const kfe_i_read_settings *settings, int64_t count, const unsigned char *removed,
                      int64_t *label)
{
    int64_t kept = 0;
    int64_t last = -1;

    if (strcmp(settings->label, "auto") != 0 && strcmp(settings->label, "last") != 0)
        return 0;
    for (int64_t j = 0; j < count; j++)
        if (!removed[j]) {
            kept++;
            last = j;
        }
    *label = settings->columns == kept ? -1 : last;
    return 1;
}

kfe_status kfe_i_check_uses(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                            int64_t label, int64_t group, int64_t weight)
{
    if (kfe_i_word_index("auto|last", settings->label) >= 0)
        label = -1;
    if (group >= 0 && group == label)
        return kfe_i_fail_at(ctx, KFE_EINVAL, file, 0, 0,
                             "{groups} names column %lld, which is the label; name another column",
                             (long long)group + 1);
    if (weight >= 0 && weight == label)
        return kfe_i_fail_at(ctx, KFE_EINVAL, file, 0, 0,
                             "{weight} names column %lld, which is the label; name another column",
                             (long long)weight + 1);
    if (weight >= 0 && weight == group)
        return kfe_i_fail_at(
            ctx, KFE_EINVAL, file, 0, 0,
            "{groups} and {weight} both name column %lld; a column is the group or the weight of "
            "a row, not both",
            (long long)weight + 1);
    return KFE_OK;
}

static kfe_status mark_removed(kfe_context *ctx, kfe_i_column_list *columns,
                               const kfe_i_read_settings *settings, kfe_i_picks *out)
{
    kfe_status status = KFE_OK;

    if (settings->select[0]) {
        columns->parameter = "select";
        KFE_TRY(kfe_i_columns_mark(ctx, columns, settings->select, out->removed));
        for (int64_t j = 0; j < columns->count; j++)
            out->removed[j] = !out->removed[j] && j != out->label;
    }
    columns->parameter = "drop";
    KFE_TRY(kfe_i_columns_mark(ctx, columns, settings->drop, out->removed));
    columns->parameter = "id";
    if (settings->id[0])
        KFE_TRY(kfe_i_columns_find(ctx, columns, settings->id, &out->id));
    columns->parameter = "groups";
    if (settings->groups[0])
        KFE_TRY(kfe_i_columns_find(ctx, columns, settings->groups, &out->group));
    columns->parameter = "weight";
    if (settings->weight[0])
        KFE_TRY(kfe_i_columns_find(ctx, columns, settings->weight, &out->weight));
    KFE_TRY(kfe_i_check_uses(ctx, columns->file, settings, out->label, out->group, out->weight));
    if (out->weight >= 0)
        out->removed[out->weight] = 1;
    if (out->id >= 0)
        out->removed[out->id] = 1;
    if (out->group >= 0)
        out->removed[out->group] = 1;
cleanup:
    return status;
}

kfe_status kfe_i_picks_find(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                            char *const *names, int with_label, int64_t count, kfe_i_picks *out)
{
    kfe_status status = KFE_OK;
    kfe_i_column_list columns = {NULL, file, count, names, NULL};
    int64_t kept = 0;

    *out = (kfe_i_picks){.count = count, .label = -1, .id = -1, .group = -1, .weight = -1};
    KFE_ALLOC_ZERO(ctx, out->removed, count);
    if (with_label)
        KFE_TRY(kfe_i_label_column(ctx, file, settings, count, names, &out->label));
    KFE_TRY(mark_removed(ctx, &columns, settings, out));
    if (with_label && !settings->label_file[0])
        kfe_i_guess_label(settings, count, out->removed, &out->label);
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

/* Equal numbers are one group; the group is the first row that has the number. */
static kfe_status take_groups(kfe_context *ctx, const double *values, int64_t rows, const kfe_i_picks *picks,
                              kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, out->groups, rows);
    for (int64_t i = 0; i < rows; i++) {
        double value = values[i * picks->count + picks->group];
        int64_t first = 0;
        if (isnan(value))
            KFE_FAIL(ctx, KFE_EINPUT, "{groups}: the column has missing values, the first in row %lld",
                     (long long)i + 1);
        while (first < i && values[first * picks->count + picks->group] != value)
            first++;
        out->groups[i] = first;
    }
cleanup:
    return status;
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
    enum { DIGITS = 32 };
    kfe_status status = KFE_OK;
    char text[DIGITS + 1];

    KFE_STRDUP(ctx, out->id_name, "id");
    KFE_TRY(kfe_i_table_new_text(ctx, rows, DIGITS * rows, &out->ids));
    for (int64_t i = 0; i < rows; i++) {
        int length = snprintf(text, sizeof text, "%.15g", values[i * picks->count + picks->id]);
        memcpy(out->ids.bytes + out->ids.row_start[i], text, (size_t)length);
        out->ids.row_start[i + 1] = out->ids.row_start[i] + length;
    }
cleanup:
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
        KFE_TRY(take_groups(ctx, table->values, table->rows, picks, raw));
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
