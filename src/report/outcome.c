/* SPDX-License-Identifier: Apache-2.0 */
/* Reports how well a model predicted a data set, as text and JSON; called by kfe_evaluate. */
#include "report/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"
#include "core/memory.h"
#include "core/text.h"

enum { WIDEST_TABLE = 120, LONGEST_NAME_SHOWN = 16, MOST_CONFUSIONS_SHOWN = 20 };
/* JSON has the whole matrix up to this many classes, and beyond that only the pairs that occur. */
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

/* ---- text ---- */

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static void add_name(kfe_i_text *text, const char *name, int width)
{
    kfe_i_text_add_cell(text, name, width, LONGEST_NAME_SHOWN);
}

static int column_width(const kfe_i_evaluation *e)
{
    char number[32];
    int width = snprintf(number, sizeof number, "%lld", (long long)e->rows);

    for (int64_t g = 0; g < e->class_count; g++)
        width = max_int(width, kfe_i_shown_width(e->class_names[g], LONGEST_NAME_SHOWN));
    return width + 2;
}

/* The next rows of a matrix: how many of class g were predicted as h. *next goes through the pairs. */
static int64_t count_at(const kfe_i_evaluation *e, int64_t g, int64_t h, int64_t *next)
{
    const kfe_i_confused *pair = &e->confusion[*next];

    if (*next == e->confused_count || pair->truth != g || pair->predicted != h)
        return 0;
    (*next)++;
    return pair->count;
}

static void add_table(kfe_i_text *text, const kfe_i_evaluation *e, int width)
{
    int64_t next = 0;

    kfe_i_text_puts(text, "\ntrue class in rows, predicted class in columns\n");
    kfe_i_text_printf(text, "%*s", width, "");
    for (int64_t h = 0; h < e->class_count; h++)
        add_name(text, e->class_names[h], width);
    kfe_i_text_puts(text, "\n");
    for (int64_t g = 0; g < e->class_count; g++) {
        add_name(text, e->class_names[g], width);
        for (int64_t h = 0; h < e->class_count; h++)
            kfe_i_text_printf(text, "%*lld", width, (long long)count_at(e, g, h, &next));
        kfe_i_text_puts(text, "\n");
    }
}

/* The place of the next smaller confusion, in order of place among equal ones, after one of `size` at `place`; -1: none. */
static int64_t next_confusion(const kfe_i_evaluation *e, int64_t size, int64_t place)
{
    int64_t best = -1;

    for (int64_t p = 0; p < e->confused_count; p++) {
        const kfe_i_confused *pair = &e->confusion[p];
        int comes_later = pair->count < size || (pair->count == size && p > place);
        if (pair->truth != pair->predicted && comes_later &&
            (best < 0 || pair->count > e->confusion[best].count))
            best = p;
    }
    return best;
}

static void add_largest(kfe_i_text *text, const kfe_i_evaluation *e, int width)
{
    int64_t place = -1;
    int64_t size = e->rows + 1;

    kfe_i_text_printf(
        text,
        "\nthe table of %lld classes is too wide for a terminal (as JSON it is complete); the largest "
        "confusions\n%*s%*s%8s\n",
        (long long)e->class_count, width, "true", width + 2, "predicted", "times");
    for (int k = 0; k < MOST_CONFUSIONS_SHOWN && (place = next_confusion(e, size, place)) >= 0; k++) {
        size = e->confusion[place].count;
        add_name(text, e->class_names[e->confusion[place].truth], width);
        add_name(text, e->class_names[e->confusion[place].predicted], width + 2);
        kfe_i_text_printf(text, "%8lld\n", (long long)size);
    }
}

/* The whole table or, if it is too wide, the largest numbers off its diagonal. */
static void add_confusion(kfe_i_text *text, const kfe_i_evaluation *e)
{
    int width = column_width(e);

    if ((e->class_count + 1) * width <= WIDEST_TABLE)
        add_table(text, e, width);
    else
        add_largest(text, e, width > 11 ? width : 11);
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

static kfe_status as_text(kfe_context *ctx, const kfe_i_evaluation *e, char **out)
{
    kfe_i_text text;

    int has_errors = 0;

    kfe_i_text_init(&text, ctx);
    for (int64_t m = 0; m < e->metric_count; m++)
        has_errors |= add_metric(&text, e->metrics[m]->name, e->values[m], e->errors[m]);
    if (has_errors)
        kfe_i_text_puts(&text, "± is the standard error\n");
    if (e->class_count > 0)
        add_confusion(&text, e);
    return kfe_i_text_take(&text, out);
}

/* ---- JSON ---- */

static void write_metrics(kfe_i_json *json, const kfe_i_evaluation *e)
{
    kfe_i_json_object(json, "metrics");
    for (int64_t m = 0; m < e->metric_count; m++)
        kfe_i_json_real(json, e->metrics[m]->name, e->values[m]);
    kfe_i_json_end(json);
    kfe_i_json_object(json, "standard_errors");
    for (int64_t m = 0; m < e->metric_count; m++)
        kfe_i_json_real(json, e->metrics[m]->name, e->errors[m]);
    kfe_i_json_end(json);
}

static void write_matrix(kfe_i_json *json, const kfe_i_evaluation *e)
{
    int64_t next = 0;

    kfe_i_json_array(json, "matrix");
    for (int64_t g = 0; g < e->class_count; g++) {
        kfe_i_json_array(json, NULL);
        for (int64_t h = 0; h < e->class_count; h++)
            kfe_i_json_integer(json, NULL, count_at(e, g, h, &next));
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

/* [true class, predicted class, count], classes as numbers from 0. */
static void write_pairs(kfe_i_json *json, const kfe_i_evaluation *e)
{
    kfe_i_json_array(json, "pairs");
    for (int64_t p = 0; p < e->confused_count; p++) {
        kfe_i_json_array(json, NULL);
        kfe_i_json_integer(json, NULL, e->confusion[p].truth);
        kfe_i_json_integer(json, NULL, e->confusion[p].predicted);
        kfe_i_json_integer(json, NULL, e->confusion[p].count);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static void write_confusion(kfe_i_json *json, const kfe_i_evaluation *e)
{
    kfe_i_json_object(json, "confusion");
    kfe_i_json_array(json, "classes");
    for (int64_t g = 0; g < e->class_count; g++)
        kfe_i_json_text(json, NULL, e->class_names[g]);
    kfe_i_json_end(json);
    if (e->class_count <= WIDEST_MATRIX)
        write_matrix(json, e);
    else
        write_pairs(json, e);
    kfe_i_json_end(json);
}

static void write_point(kfe_i_json *json, double x, double y, double threshold)
{
    kfe_i_json_array(json, NULL);
    kfe_i_json_real(json, NULL, x);
    kfe_i_json_real(json, NULL, y);
    kfe_i_json_real(json, NULL, threshold);
    kfe_i_json_end(json);
}

/* Begins at (0, 0) with threshold null: nothing is called positive. */
static void write_roc(kfe_i_json *json, const kfe_i_class_curve *curve)
{
    double negatives = curve->count > 0 ? curve->points[curve->count - 1].false_positives : 0;

    kfe_i_json_array(json, "roc");
    write_point(json, 0, 0, (double)INFINITY);
    for (int64_t i = 0; i < curve->count; i++)
        write_point(json, curve->points[i].false_positives / negatives,
                    curve->points[i].true_positives / curve->positives, curve->points[i].threshold);
    kfe_i_json_end(json);
}

static void write_precision_recall(kfe_i_json *json, const kfe_i_class_curve *curve)
{
    kfe_i_json_array(json, "precision_recall");
    for (int64_t i = 0; i < curve->count; i++) {
        double caught = curve->points[i].true_positives;
        write_point(json, caught / curve->positives, caught / (caught + curve->points[i].false_positives),
                    curve->points[i].threshold);
    }
    kfe_i_json_end(json);
}

static void write_curves(kfe_i_json *json, const kfe_i_evaluation *e)
{
    kfe_i_json_array(json, "curves");
    for (int64_t i = 0; i < e->curve_count; i++) {
        const kfe_i_class_curve *curve = &e->curves[i];
        kfe_i_json_object(json, NULL);
        kfe_i_json_text(json, "class", e->class_names[curve->class_index]);
        if (curve->positives == floor(curve->positives))
            kfe_i_json_integer(json, "rows", (int64_t)curve->positives);
        else
            kfe_i_json_real(json, "rows", curve->positives);
        write_roc(json, curve);
        write_precision_recall(json, curve);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static kfe_status as_json(kfe_context *ctx, const kfe_i_evaluation *e, char **out)
{
    kfe_i_json json;

    kfe_i_json_init(&json, ctx, 1);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_integer(&json, "rows", e->rows);
    write_metrics(&json, e);
    if (e->class_count > 0) {
        write_confusion(&json, e);
        write_curves(&json, e);
    }
    kfe_i_json_end(&json);
    return kfe_i_json_finish(&json, out);
}

kfe_status kfe_i_report_outcome(kfe_context *ctx, const kfe_i_evaluation *evaluation, kfe_style style,
                                char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? as_json(ctx, evaluation, out) : as_text(ctx, evaluation, out);
}
