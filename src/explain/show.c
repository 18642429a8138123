/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations as text, JSON and CSV: kfe_explanation_report and kfe_explanation_write. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"
#include "core/memory.h"
#include "core/sort.h"
#include "core/text.h"
#include "explain/explain.h"

enum { MOST_ROWS = 10, MOST_COLUMNS = 8, LABEL_SIZE = 256, LABEL_WIDTH = 24 };

static void copy_label(const kfe_i_axis *axis, int64_t position, char out[LABEL_SIZE])
{
    if (axis->labels)
        snprintf(out, LABEL_SIZE, "%s", axis->labels[position]);
    else
        snprintf(out, LABEL_SIZE, "%lld", (long long)position + 1);
}

/* ---- text ---- */

/* Whether the first two columns are a loss and its standard deviation. */
static int has_losses(const kfe_explanation *e, const kfe_i_explained *table)
{
    const kfe_i_axis *columns = &e->axes[table->col_axis];
    return columns->labels && columns->count >= 2 && strcmp(columns->labels[0], "loss") == 0;
}

/* Whether no loss is larger than twice its standard deviation over the permutations. */
static int nothing_matters(const kfe_explanation *e, const kfe_i_explained *table)
{
    int64_t rows = e->axes[table->row_axis].count;
    int64_t cols = e->axes[table->col_axis].count;

    for (int64_t i = 0; i < rows; i++)
        if (table->values[i * cols] > 0 && !(table->values[i * cols] <= 2 * table->values[i * cols + 1]))
            return 0;
    return rows > 0;
}

/* Losses are shown largest first; other columns of the data and support examples by the size of the largest number in their
 * row; all else in its order. */
static kfe_status order_rows(const kfe_explanation *e, const kfe_i_explained *table, kfe_i_sorted **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_axis *axis = &e->axes[table->row_axis];
    int64_t cols = e->axes[table->col_axis].count;
    int sorts = strcmp(axis->name, "column") == 0 || strcmp(axis->name, "support example") == 0;
    int sorted = sorts && axis->count > MOST_ROWS;

    KFE_ALLOC(e->ctx, *out, axis->count);
    for (int64_t i = 0; i < axis->count; i++) {
        (*out)[i] = (kfe_i_sorted){has_losses(e, table) ? table->values[i * cols] : 0, i};
        for (int64_t j = 0; j < cols && sorted && !has_losses(e, table); j++)
            (*out)[i].value = fmax((*out)[i].value, fabs(table->values[i * cols + j]));
    }
    kfe_i_sort_falling(*out, axis->count);
cleanup:
    return status;
}

/* A label, cut to a width counted in characters. */
static void add_label(kfe_i_text *text, const kfe_i_axis *axis, int64_t position, int width)
{
    char label[LABEL_SIZE];

    copy_label(axis, position, label);
    kfe_i_text_add_cell(text, label, width, width);
}

static void add_header(const kfe_explanation *e, const kfe_i_explained *table, int64_t shown,
                       kfe_i_text *text)
{
    const kfe_i_axis *columns = &e->axes[table->col_axis];

    kfe_i_text_printf(text, "%s: ", table->name);
    kfe_i_text_add_shown(text, table->about);
    kfe_i_text_puts(text, "\n");
    kfe_i_text_printf(text, "%*s", LABEL_WIDTH, e->axes[table->row_axis].name);
    for (int64_t j = 0; j < shown; j++) {
        kfe_i_text_puts(text, "  ");
        add_label(text, columns, j, 10);
    }
    if (shown < columns->count)
        kfe_i_text_printf(text, "  ... (%lld more)", (long long)(columns->count - shown));
    kfe_i_text_puts(text, "\n");
}

static kfe_status add_table(const kfe_explanation *e, const kfe_i_explained *table, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    const kfe_i_axis *axis = &e->axes[table->row_axis];
    int64_t cols = e->axes[table->col_axis].count;
    int64_t width = cols < MOST_COLUMNS ? cols : MOST_COLUMNS;
    int64_t height = axis->count < MOST_ROWS ? axis->count : MOST_ROWS;
    kfe_i_sorted *order = NULL;

    KFE_TRY(order_rows(e, table, &order));
    add_header(e, table, width, text);
    if (has_losses(e, table) && nothing_matters(e, table))
        kfe_i_text_printf(text, "%*s  no %s matters detectably: no loss is larger than twice its sd\n",
                          LABEL_WIDTH, "", axis->name);
    for (int64_t r = 0; r < height; r++) {
        add_label(text, axis, order[r].index, LABEL_WIDTH);
        for (int64_t j = 0; j < width; j++)
            kfe_i_text_printf(text, "  %10.4g", table->values[order[r].index * cols + j]);
        kfe_i_text_puts(text, "\n");
    }
    if (height < axis->count)
        kfe_i_text_printf(text, "%*s  (%lld more)\n", LABEL_WIDTH, "...", (long long)(axis->count - height));
cleanup:
    kfe_i_free(e->ctx, order);
    return status;
}

static kfe_status report_text(kfe_context *ctx, const kfe_explanation *e, char **out)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    for (int64_t t = 0; t < e->table_count; t++) {
        kfe_i_text_puts(&text, t > 0 ? "\n" : "");
        KFE_TRY(add_table(e, &e->tables[t], &text));
    }
    if (e->table_count == 0)
        kfe_i_text_puts(&text, "nothing of this model can be explained without data; give data\n");
    KFE_TRY(kfe_i_text_take(&text, out));
cleanup:
    kfe_i_text_free(&text);
    return status;
}

/* ---- JSON ---- */

static void add_json_labels(kfe_i_json *json, const char *key, const kfe_i_axis *axis)
{
    char label[LABEL_SIZE];

    kfe_i_json_array(json, key);
    for (int64_t i = 0; i < axis->count; i++) {
        if (!axis->labels)
            copy_label(axis, i, label);
        kfe_i_json_text(json, NULL, axis->labels ? axis->labels[i] : label);
    }
    kfe_i_json_end(json);
}

static void add_json_table(kfe_i_json *json, const kfe_explanation *e, const kfe_i_explained *table)
{
    const kfe_i_axis *rows = &e->axes[table->row_axis];
    const kfe_i_axis *cols = &e->axes[table->col_axis];

    kfe_i_json_object(json, table->name);
    kfe_i_json_text(json, "about", table->about);
    kfe_i_json_text(json, "row_axis", rows->name);
    kfe_i_json_text(json, "column_axis", cols->name);
    add_json_labels(json, "rows", rows);
    add_json_labels(json, "columns", cols);
    kfe_i_json_array(json, "values");
    for (int64_t i = 0; i < rows->count; i++) {
        kfe_i_json_array(json, NULL);
        for (int64_t j = 0; j < cols->count; j++)
            kfe_i_json_real(json, NULL, table->values[i * cols->count + j]);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
    kfe_i_json_end(json);
}

static kfe_status report_json(kfe_context *ctx, const kfe_explanation *e, char **out)
{
    kfe_i_json json;

    kfe_i_json_init(&json, ctx, 0);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_object(&json, "tables");
    for (int64_t t = 0; t < e->table_count; t++)
        add_json_table(&json, e, &e->tables[t]);
    kfe_i_json_end(&json);
    kfe_i_json_end(&json);
    return kfe_i_json_finish(&json, out);
}

kfe_status kfe_explanation_report(kfe_context *ctx, const kfe_explanation *explanation, kfe_style style,
                                  char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? report_json(ctx, explanation, out) : report_text(ctx, explanation, out);
}

/* ---- CSV ---- */

static void add_quoted(kfe_i_text *text, const char *field)
{
    if (!strpbrk(field, ",\"\r\n") && *field != ' ') {
        kfe_i_text_puts(text, field);
        return;
    }
    kfe_i_text_puts(text, "\"");
    for (; *field; field++) {
        kfe_i_text_add(text, field, 1);
        if (*field == '"')
            kfe_i_text_puts(text, "\"");
    }
    kfe_i_text_puts(text, "\"");
}

static void add_csv_label(kfe_i_text *text, const kfe_i_axis *axis, int64_t position)
{
    if (axis->labels)
        add_quoted(text, axis->labels[position]);
    else
        kfe_i_text_printf(text, "%lld", (long long)position + 1);
    kfe_i_text_puts(text, ",");
}

static void add_csv_table(kfe_i_text *text, const kfe_explanation *e, const kfe_i_explained *table)
{
    const kfe_i_axis *rows = &e->axes[table->row_axis];
    const kfe_i_axis *cols = &e->axes[table->col_axis];
    char number[KFE_NUMBER_TEXT];

    for (int64_t p = 0; p < rows->count * cols->count && text->status == KFE_OK; p++) {
        kfe_i_text_printf(text, "%s,", table->name);
        add_csv_label(text, rows, p / cols->count);
        add_csv_label(text, cols, p % cols->count);
        kfe_i_format_number(table->values[p], number);
        kfe_i_text_printf(text, "%s\n", number);
    }
}

kfe_status kfe_explanation_write(kfe_context *ctx, const kfe_explanation *explanation, const char *path)
{
    kfe_status status = KFE_OK;
    size_t length = strlen(path);
    int json = length > 5 && strcmp(path + length - 5, ".json") == 0;
    kfe_i_text text;
    char *bytes = NULL;

    kfe_i_text_init(&text, ctx);
    if (json)
        KFE_TRY(report_json(ctx, explanation, &bytes));
    kfe_i_text_puts(&text, json ? "" : "table,row,column,value\n");
    for (int64_t t = 0; !json && t < explanation->table_count; t++)
        add_csv_table(&text, explanation, &explanation->tables[t]);
    if (!json)
        KFE_TRY(kfe_i_text_take(&text, &bytes));
    KFE_TRY(kfe_output_write(ctx, path, bytes, strlen(bytes)));
cleanup:
    kfe_i_text_free(&text);
    kfe_i_free(ctx, bytes);
    return status;
}
