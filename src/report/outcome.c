/* SPDX-License-Identifier: Apache-2.0 */
/* How well a model predicted a data set, as a result and as its text; called by kfe_evaluate and kfe_result_report. */
#include "report/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "report/texts.h"

enum { WIDEST_TABLE = 120, LONGEST_NAME_SHOWN = 16, MOST_CONFUSIONS_SHOWN = 20 };
/* A result has the whole matrix up to this many classes, and beyond that only the pairs that occur. */
enum { WIDEST_MATRIX = 1000 };

void kfe_i_evaluation_free(kfe_i_evaluation *evaluation)
{
    if (!evaluation->ctx)
        return;
    for (int64_t i = 0; i < evaluation->curve_count; i++)
        kfe_i_free(evaluation->ctx, evaluation->curves[i].points);
    kfe_i_free(evaluation->ctx, evaluation->curves);
    kfe_i_free(evaluation->ctx, evaluation->confusion);
    kfe_i_free(evaluation->ctx, evaluation->class_names);
    memset(evaluation, 0, sizeof *evaluation);
}

/* ---- the result ---- */

static void put_matrix(kfe_i_result_table *facts, const kfe_i_evaluation *e)
{
    kfe_i_result_table *matrix = kfe_i_result_add(facts, "confusion", "matrix", 1);
    int64_t next = 0;
    char number[32];

    for (int64_t g = 0; g < e->class_count; g++) {
        kfe_i_result_row(matrix);
        for (int64_t h = 0; h < e->class_count; h++) {
            const kfe_i_confused *pair = &e->confusion[next];
            int occurs = next < e->confused_count && pair->truth == g && pair->predicted == h;
            kfe_i_snprintf(number, sizeof number, "%lld", (long long)h + 1);
            kfe_i_put_count(matrix, NULL, number, occurs ? pair->count : 0);
            kfe_i_put_about(matrix, "examples that were predicted as the class of this number");
            next += occurs;
        }
    }
}

static void put_pairs(kfe_i_result_table *facts, const kfe_i_evaluation *e)
{
    kfe_i_result_table *pairs = kfe_i_result_add(facts, "confusion", "pairs", 1);

    for (int64_t p = 0; p < e->confused_count; p++) {
        kfe_i_result_row(pairs);
        kfe_i_put_count(pairs, NULL, "true", e->confusion[p].truth);
        kfe_i_put_count(pairs, NULL, "predicted", e->confusion[p].predicted);
        kfe_i_put_count(pairs, NULL, "count", e->confusion[p].count);
    }
}

static void put_confusion(kfe_i_result_table *facts, const kfe_i_evaluation *e)
{
    kfe_i_result_table *classes = kfe_i_result_add(facts, "confusion", "classes", 1);

    for (int64_t g = 0; g < e->class_count; g++) {
        kfe_i_result_row(classes);
        kfe_i_put_text(classes, NULL, "class", e->class_names[g]);
    }
    if (e->class_count <= WIDEST_MATRIX)
        put_matrix(facts, e);
    else
        put_pairs(facts, e);
}

static void put_point(kfe_i_result_table *points, const char *x_name, double x, const char *y_name, double y,
                      double threshold)
{
    kfe_i_result_row(points);
    kfe_i_put_real(points, NULL, x_name, x);
    kfe_i_put_real(points, NULL, y_name, y);
    kfe_i_put_real(points, NULL, "threshold", threshold);
}

/* The ROC curve begins at (0, 0) with an infinite threshold: nothing is called positive. */
static void put_points(kfe_i_result_table *curves, const kfe_i_class_curve *curve)
{
    double negatives = curve->count > 0 ? curve->points[curve->count - 1].false_positives : 0;
    kfe_i_result_table *roc = kfe_i_result_add(curves, NULL, "roc", 1);

    put_point(roc, "false_positive_rate", 0, "true_positive_rate", 0, (double)INFINITY);
    for (int64_t i = 0; i < curve->count; i++)
        put_point(roc, "false_positive_rate", curve->points[i].false_positives / negatives,
                  "true_positive_rate", curve->points[i].true_positives / curve->positives,
                  curve->points[i].threshold);
    kfe_i_result_table *precision = kfe_i_result_add(curves, NULL, "precision_recall", 1);
    for (int64_t i = 0; i < curve->count; i++) {
        double caught = curve->points[i].true_positives;
        put_point(precision, "recall", caught / curve->positives, "precision",
                  caught / (caught + curve->points[i].false_positives), curve->points[i].threshold);
    }
}

static void put_curves(kfe_i_result_table *facts, const kfe_i_evaluation *e)
{
    kfe_i_result_table *curves = kfe_i_result_add(facts, NULL, "curves", 0);
    int are_whole = 1;

    for (int64_t i = 0; i < e->curve_count; i++)
        are_whole &= e->curves[i].positives == floor(e->curves[i].positives);
    for (int64_t i = 0; i < e->curve_count; i++) {
        kfe_i_result_row(curves);
        kfe_i_put_text(curves, NULL, "class", e->class_names[e->curves[i].class_index]);
        if (are_whole)
            kfe_i_put_count(curves, NULL, "rows", (int64_t)e->curves[i].positives);
        else
            kfe_i_put_real(curves, NULL, "rows", e->curves[i].positives);
        put_points(curves, &e->curves[i]);
    }
}

static void put_metrics(kfe_i_result_table *facts, const kfe_i_evaluation *e, const char *group,
                        const double *values)
{
    for (int64_t m = 0; m < e->metric_count; m++) {
        kfe_i_put_real(facts, group, e->metrics[m]->name, values[m]);
        kfe_i_put_about(facts, e->metrics[m]->summary);
    }
}

kfe_status kfe_i_outcome_result(kfe_context *ctx, const kfe_i_evaluation *e, kfe_result **out)
{
    kfe_status status = KFE_OK;
    kfe_result *result = NULL;

    KFE_TRY(kfe_i_result_new(ctx, &result));
    kfe_i_result_table *facts = kfe_i_result_facts(result);
    kfe_i_put_count(facts, NULL, "rows", e->rows);
    put_metrics(facts, e, "metrics", e->values);
    put_metrics(facts, e, "standard_errors", e->errors);
    if (e->class_count > 0)
        put_confusion(facts, e);
    if (e->curves)
        put_curves(facts, e);
    status = kfe_i_result_finish(result, out);
cleanup:
    return status;
}

/* ---- text ---- */

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

static double number_at(const kfe_table *table, int64_t column, int64_t row)
{
    const kfe_column *c = kfe_table_column(table, column);

    return c && c->numbers && isfinite(c->numbers[row]) ? c->numbers[row] : 0;
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
        add_largest(text, c, (int64_t)rows + 1, width > 11 ? width : 11);
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
        kfe_i_snprintf(error, sizeof error, "standard_errors/%s", column->name + 8);
        has_errors |= add_metric(text, column->name + 8, column->numbers ? column->numbers[0] : (double)NAN,
                                 kfe_result_number(result, error));
    }
    if (has_errors)
        kfe_i_text_puts(text, "± is the standard error\n");
    if (c.count > 0)
        add_confusion(text, &c, kfe_result_number(result, "rows"));
    return KFE_OK;
}
