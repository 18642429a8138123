/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations as text, JSON and CSV: kfe_explanation_report and kfe_explanation_write. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/rank.h"
#include "core/text.h"
#include "explain/explain.h"
#include "model/json/json.h"

enum { MOST_ROWS = 10, MOST_COLUMNS = 8, LABEL_SIZE = 256, LABEL_WIDTH = 24 };

static void copy_label(const kfe_i_axis *axis, int64_t position, char out[LABEL_SIZE])
{
    if (axis->labels)
        snprintf(out, LABEL_SIZE, "%s", axis->labels[position]);
    else
        snprintf(out, LABEL_SIZE, "%lld", (long long)position + 1);
}

/* ---- text ---- */

/* Columns of the data and support examples are shown by the size of the largest number in their row, all else in its order. */
static kfe_status order_rows(const kfe_explanation *e, const kfe_i_explained *table, kfe_i_ranked **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_axis *axis = &e->axes[table->row_axis];
    int64_t cols = e->axes[table->col_axis].count;
    int ranked = strcmp(axis->name, "column") == 0 || strcmp(axis->name, "support example") == 0;
    int sorted = ranked && axis->count > MOST_ROWS;

    KFE_ALLOC(e->ctx, *out, axis->count);
    for (int64_t i = 0; i < axis->count; i++) {
        (*out)[i] = (kfe_i_ranked){0, i};
        for (int64_t j = 0; j < cols && sorted; j++)
            (*out)[i].value = fmax((*out)[i].value, fabs(table->values[i * cols + j]));
    }
    kfe_i_rank_falling(*out, axis->count);
cleanup:
    return status;
}

/* A label, cut to a width counted in characters. */
static void add_label(kfe_i_text *text, const kfe_i_axis *axis, int64_t position, int width)
{
    char label[LABEL_SIZE];
    char shown[4 * LABEL_SIZE];
    int characters = 0;
    size_t end = 0;

    copy_label(axis, position, label);
    kfe_escape(label, shown, sizeof shown);
    for (; shown[end]; end++) {
        int begins = ((unsigned char)shown[end] & 0xC0) != 0x80;
        if (begins && characters == width)
            break;
        characters += begins;
    }
    kfe_i_text_printf(text, "%*s", width - characters, "");
    kfe_i_text_add(text, shown, (int64_t)end);
}

static void add_header(const kfe_explanation *e, const kfe_i_explained *table, int64_t shown,
                       kfe_i_text *text)
{
    const kfe_i_axis *columns = &e->axes[table->col_axis];

    kfe_i_text_printf(text, "%s: %s\n", table->name, table->about);
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
    kfe_i_ranked *order = NULL;

    KFE_TRY(order_rows(e, table, &order));
    add_header(e, table, width, text);
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
