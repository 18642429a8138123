/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an evaluation: its metrics and the confusion matrix. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/texts.h"

#define LARGEST_COUNT 1e15
enum { WIDEST_TABLE = 120, LONGEST_NAME_SHOWN = 16, MOST_CONFUSIONS_SHOWN = 20 };

/* The confusion matrix: cells of the matrix or, of many classes, the pairs that occur. */
typedef struct confusion {
    const kfe_table *classes, *cells;
    int has_pairs;
    int64_t count; /* of cells */
} confusion;

static confusion find_confusion(const kfe_result *result)
{
    confusion c = {kfe_result_find(result, "confusion/classes"), kfe_result_find(result, "confusion/matrix"),
                   0, 0};

    c.has_pairs = !c.cells;
    if (c.has_pairs)
        c.cells = kfe_result_find(result, "confusion/pairs");
    if (c.classes && c.cells)
        c.count = c.has_pairs ? c.cells->rows : c.cells->rows * c.cells->cols;
    return c;
}

static const char *class_name(const confusion *c, int64_t g)
{
    const kfe_column *names = kfe_table_column(c->classes, 0);

    return names && names->texts && g >= 0 && g < c->classes->rows && names->texts[g] ? names->texts[g] : "";
}

/* A count or the number of a class; 0 for what cannot be one. */
static double number_at(const kfe_table *table, int64_t column, int64_t row)
{
    const kfe_column *c = kfe_table_column(table, column);

    return c && c->numbers && fabs(c->numbers[row]) < LARGEST_COUNT ? c->numbers[row] : 0;
}

/* The number of examples in a cell, with its true and its predicted class. */
static int64_t read_cell(const confusion *c, int64_t cell, int64_t *truth, int64_t *predicted)
{
    *truth = c->has_pairs ? (int64_t)number_at(c->cells, 0, cell) : cell / c->cells->cols;
    *predicted = c->has_pairs ? (int64_t)number_at(c->cells, 1, cell) : cell % c->cells->cols;
    return (int64_t)(c->has_pairs ? number_at(c->cells, 2, cell) : number_at(c->cells, *predicted, *truth));
}

static void add_name(kfe_i_text *text, const char *name, int width)
{
    kfe_i_text_add_cell(text, name, width, LONGEST_NAME_SHOWN);
}

static int column_width(const confusion *c, double rows)
{
    char number[32];
    int width = snprintf(number, sizeof number, "%.0f", rows);

    for (int64_t g = 0; g < c->classes->rows; g++) {
        int shown = kfe_i_shown_width(class_name(c, g), LONGEST_NAME_SHOWN);
        width = shown > width ? shown : width;
    }
    return width + 2;
}

static void add_table(kfe_i_text *text, const confusion *c, int width)
{
    int64_t truth;
    int64_t predicted;

    kfe_i_text_puts(text, "\ntrue class in rows, predicted class in columns\n");
    kfe_i_text_printf(text, "%*s", width, "");
    for (int64_t h = 0; h < c->classes->rows; h++)
        add_name(text, class_name(c, h), width);
    kfe_i_text_puts(text, "\n");
    for (int64_t cell = 0; cell < c->count; cell++) {
        int64_t count = read_cell(c, cell, &truth, &predicted);
        if (predicted == 0)
            add_name(text, class_name(c, truth), width);
        kfe_i_text_printf(text, "%*lld", width, (long long)count);
        kfe_i_text_puts(text, predicted + 1 == c->cells->cols ? "\n" : "");
    }
}

/* The place of the next smaller confusion, in order of place among equal ones, after one of *size at `place`; -1: none. */
static int64_t next_confusion(const confusion *c, int64_t *size, int64_t place)
{
    int64_t best = -1;
    int64_t largest = 0;
    int64_t truth;
    int64_t predicted;

    for (int64_t p = 0; p < c->count; p++) {
        int64_t count = read_cell(c, p, &truth, &predicted);
        int comes_later = count < *size || (count == *size && p > place);
        if (truth != predicted && comes_later && count > largest) {
            best = p;
            largest = count;
        }
    }
    *size = largest;
    return best;
}

static void add_largest(kfe_i_text *text, const confusion *c, int64_t size, int width)
{
    int64_t place = -1;
    int64_t truth;
    int64_t predicted;

    kfe_i_text_printf(
        text,
        "\nthe table of %lld classes is too wide for a terminal (as JSON it is complete); the largest "
        "confusions\n%*s%*s%8s\n",
        (long long)c->classes->rows, width, "true", width + 2, "predicted", "times");
    for (int k = 0; k < MOST_CONFUSIONS_SHOWN && (place = next_confusion(c, &size, place)) >= 0; k++) {
        (void)read_cell(c, place, &truth, &predicted);
        add_name(text, class_name(c, truth), width);
        add_name(text, class_name(c, predicted), width + 2);
        kfe_i_text_printf(text, "%8lld\n", (long long)size);
    }
}

/* The whole table or, if it is too wide, the largest numbers off its diagonal. */
static void add_confusion(kfe_i_text *text, const confusion *c, double rows)
{
    int width = column_width(c, rows);

    if ((c->classes->rows + 1) * width <= WIDEST_TABLE && !c->has_pairs)
        add_table(text, c, width);
    else
        add_largest(text, c, INT64_MAX, width > 11 ? width : 11);
}

/* A perfect score has the standard error zero, which says nothing about new rows and is not shown. Returns whether there is one. */
static int add_metric(kfe_i_text *text, const char *name, double value, double error)
{
    if (isnan(value))
        kfe_i_text_printf(text, "%-20s-\n", name);
    else if (isnan(error) || error == 0)
        kfe_i_text_printf(text, "%-20s%.6g\n", name, value);
    else
        kfe_i_text_printf(text, "%-20s%.6g ± %.2g\n", name, value, error);
    return !isnan(value) && error > 0;
}

kfe_status kfe_i_outcome_text(const kfe_result *result, kfe_i_text *text)
{
    const kfe_table *facts = kfe_result_table(result, 0);
    confusion c = find_confusion(result);
    const kfe_column *column;
    int has_errors = 0;

    for (int64_t i = 0; (column = kfe_table_column(facts, i)); i++) {
        char error[128];
        if (strncmp(column->name, "metrics/", 8) != 0)
            continue;
        kfe_i_snprintf(error, sizeof error, "standard_errors/%s", kfe_i_last_part(column->name));
        has_errors |=
            add_metric(text, kfe_i_last_part(column->name),
                       column->numbers ? column->numbers[0] : (double)NAN, kfe_result_number(result, error));
    }
    if (has_errors)
        kfe_i_text_puts(text, "± is the standard error\n");
    if (c.count > 0)
        add_confusion(text, &c, kfe_result_number(result, "rows"));
    return KFE_OK;
}
