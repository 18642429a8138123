/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an explanation: the first rows of each table, and of importances the largest. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "explain/permuting.h"
#include "text/texts.h"

enum { MOST_ROWS = 10, MOST_COLUMNS = 8, LABEL_WIDTH = 24 };

static const double *numbers_of(const kfe_table *table, int64_t column)
{
    return kfe_table_column(table, column + 1)->numbers;
}

/* Whether the first two columns are a loss and its standard deviation. */
static int has_losses(const kfe_table *table)
{
    return table->cols > 2 && strcmp(kfe_table_column(table, 1)->name, "loss") == 0;
}

/* What the rows of some tables are sorted by: losses, or distances (T² without residuals); NULL: nothing of the kind. */
static const double *leading_numbers(const kfe_table *table)
{
    if (strcmp(table->name, "diagnostics") != 0)
        return has_losses(table) ? numbers_of(table, 0) : NULL;
    const double *distances = numbers_of(table, KFE_DIAGNOSTIC_DISTANCE);
    return table->rows > 0 && isnan(distances[0]) ? numbers_of(table, KFE_DIAGNOSTIC_T2) : distances;
}

/* The largest losses and distances are shown first; other columns of the data and support examples by the size of the largest number in
 * their row; all else in its order. */
static kfe_status order_rows(kfe_context *ctx, const kfe_table *table, kfe_i_sorted **out)
{
    kfe_status status = KFE_OK;
    const char *rows = kfe_table_column(table, 0)->name;
    int sorts = strcmp(rows, "column") == 0 || strcmp(rows, "support example") == 0;
    int sorted = sorts && table->rows > MOST_ROWS;
    const double *leading = leading_numbers(table);

    KFE_ALLOC(ctx, *out, table->rows);
    for (int64_t i = 0; i < table->rows; i++) {
        (*out)[i] = (kfe_i_sorted){leading ? leading[i] : 0, i};
        for (int64_t j = 0; j < table->cols - 1 && sorted && !leading; j++)
            (*out)[i].value = fmax((*out)[i].value, fabs(numbers_of(table, j)[i]));
    }
    kfe_i_sort_falling(*out, table->rows);
cleanup:
    return status;
}

/* A label of a row, cut to a width counted in characters. */
static void add_label(kfe_i_text *text, const kfe_table *table, int64_t row)
{
    const kfe_column *labels = kfe_table_column(table, 0);
    char number[32];

    kfe_i_snprintf(number, sizeof number, "%lld", (long long)row + 1);
    kfe_i_text_add_cell(text, labels->texts ? labels->texts[row] : number, LABEL_WIDTH, LABEL_WIDTH);
}

static void add_header(const kfe_table *table, int64_t shown, kfe_i_text *text)
{
    kfe_i_text_printf(text, "%s: ", table->name);
    kfe_i_text_add_shown(text, table->about);
    kfe_i_text_puts(text, "\n");
    kfe_i_text_printf(text, "%*s", LABEL_WIDTH, kfe_table_column(table, 0)->name);
    for (int64_t j = 1; j <= shown; j++) {
        kfe_i_text_puts(text, "  ");
        kfe_i_text_add_cell(text, kfe_table_column(table, j)->name, 10, 10);
    }
    if (shown < table->cols - 1)
        kfe_i_text_printf(text, "  ... (%lld more)", (long long)(table->cols - 1 - shown));
    kfe_i_text_puts(text, "\n");
}

static kfe_status add_table(const kfe_table *table, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    int64_t width = table->cols - 1 < MOST_COLUMNS ? table->cols - 1 : MOST_COLUMNS;
    int64_t height = table->rows < MOST_ROWS ? table->rows : MOST_ROWS;
    kfe_i_sorted *order = NULL;

    KFE_TRY(order_rows(text->ctx, table, &order));
    add_header(table, width, text);
    if (has_losses(table) && kfe_i_nothing_matters(table))
        kfe_i_text_printf(text, "%*s  no %s matters detectably: no loss is larger than twice its sd\n",
                          LABEL_WIDTH, "", kfe_table_column(table, 0)->name);
    for (int64_t r = 0; r < height; r++) {
        add_label(text, table, order[r].index);
        for (int64_t j = 0; j < width; j++)
            kfe_i_text_printf(text, "  %10.4g", numbers_of(table, j)[order[r].index]);
        kfe_i_text_puts(text, "\n");
    }
    if (height < table->rows)
        kfe_i_text_printf(text, "%*s  (%lld more)\n", LABEL_WIDTH, "...", (long long)(table->rows - height));
cleanup:
    kfe_i_free(text->ctx, order);
    return status;
}

kfe_status kfe_i_explanation_text(const kfe_result *result, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    const kfe_table *table;

    for (int t = 1; (table = kfe_result_table(result, t)); t++) {
        kfe_i_text_puts(text, t > 1 ? "\n" : "");
        KFE_TRY(add_table(table, text));
    }
    if (!kfe_result_table(result, 1))
        kfe_i_text_puts(text, "nothing of this model can be explained without data; give data\n");
cleanup:
    return status;
}
