/* SPDX-License-Identifier: Apache-2.0 */
#include "report/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "report/json.h"

enum { MOST_CLASSES_SHOWN = 10, LONGEST_NAME_SHOWN = 16 };

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

/* Characters, not bytes: names are UTF-8. */
static int name_width(const char *name)
{
    int width = 0;

    for (; *name && width < LONGEST_NAME_SHOWN; name++)
        width += ((unsigned char)*name & 0xC0) != 0x80;
    return width;
}

/* The name to the right of a field; what a terminal would obey becomes '?'. */
static void add_name(kfe_i_text *text, const char *name, int width)
{
    int shown = name_width(name);

    kfe_i_text_printf(text, "%*s", width - shown, "");
    for (; *name && (shown > 0 || ((unsigned char)*name & 0xC0) == 0x80); name++) {
        shown -= ((unsigned char)*name & 0xC0) != 0x80;
        kfe_i_text_add(text, (unsigned char)*name < 0x20 || *name == 0x7f ? "?" : name, 1);
    }
}

static int column_width(const kfe_i_evaluation *e)
{
    char number[32];
    int width = snprintf(number, sizeof number, "%lld", (long long)e->rows);

    for (int64_t g = 0; g < e->class_count; g++)
        width = name_width(e->class_names[g]) > width ? name_width(e->class_names[g]) : width;
    return width + 2;
}

static void add_confusion(kfe_i_text *text, const kfe_i_evaluation *e)
{
    int width = column_width(e);

    kfe_i_text_puts(text, "\ntrue class in rows, predicted class in columns\n");
    kfe_i_text_printf(text, "%*s", width, "");
    for (int64_t h = 0; h < e->class_count; h++)
        add_name(text, e->class_names[h], width);
    kfe_i_text_puts(text, "\n");
    for (int64_t g = 0; g < e->class_count; g++) {
        add_name(text, e->class_names[g], width);
        for (int64_t h = 0; h < e->class_count; h++)
            kfe_i_text_printf(text, "%*lld", width, (long long)e->confusion[g * e->class_count + h]);
        kfe_i_text_puts(text, "\n");
    }
}

static kfe_status as_text(kfe_context *ctx, const kfe_i_evaluation *e, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    for (int64_t m = 0; m < e->metric_count; m++)
        if (isnan(e->values[m]))
            kfe_i_text_printf(&text, "%-20s-\n", e->metrics[m]->name);
        else
            kfe_i_text_printf(&text, "%-20s%.6g\n", e->metrics[m]->name, e->values[m]);
    if (e->class_count > 0 && e->class_count <= MOST_CLASSES_SHOWN)
        add_confusion(&text, e);
    return kfe_i_text_take(&text, out);
}

/* ---- JSON ---- */

static json_t *metric_object(const kfe_i_evaluation *e)
{
    json_t *object = json_object();

    for (int64_t m = 0; m < e->metric_count; m++)
        json_object_set_new(object, e->metrics[m]->name, kfe_i_json_number(e->values[m]));
    return object;
}

static json_t *confusion_object(const kfe_i_evaluation *e)
{
    json_t *object = json_object();
    json_t *names = json_array();
    json_t *matrix = json_array();

    for (int64_t g = 0; g < e->class_count; g++) {
        json_t *row = json_array();
        for (int64_t h = 0; h < e->class_count; h++)
            json_array_append_new(row, json_integer((json_int_t)e->confusion[g * e->class_count + h]));
        json_array_append_new(matrix, row);
        json_array_append_new(names, kfe_i_json_string(e->class_names[g]));
    }
    json_object_set_new(object, "classes", names);
    json_object_set_new(object, "matrix", matrix);
    return object;
}

static void append_point(json_t *list, double x, double y, double threshold)
{
    json_t *point = json_array();

    json_array_append_new(point, kfe_i_json_number(x));
    json_array_append_new(point, kfe_i_json_number(y));
    json_array_append_new(point, kfe_i_json_number(threshold));
    json_array_append_new(list, point);
}

/* Begins at (0, 0), where nothing is called positive and no threshold is high enough: null. */
static json_t *roc_array(const kfe_i_class_curve *curve, double rows)
{
    json_t *list = json_array();
    double negatives = rows - (double)curve->positives;

    append_point(list, 0, 0, (double)INFINITY);
    for (int64_t i = 0; i < curve->count; i++)
        append_point(list, (double)curve->points[i].false_positives / negatives,
                     (double)curve->points[i].true_positives / (double)curve->positives,
                     curve->points[i].threshold);
    return list;
}

static json_t *precision_recall_array(const kfe_i_class_curve *curve)
{
    json_t *list = json_array();

    for (int64_t i = 0; i < curve->count; i++) {
        double caught = (double)curve->points[i].true_positives;
        append_point(list, caught / (double)curve->positives,
                     caught / (caught + (double)curve->points[i].false_positives),
                     curve->points[i].threshold);
    }
    return list;
}

static json_t *curve_array(const kfe_i_evaluation *e)
{
    json_t *list = json_array();

    for (int64_t i = 0; i < e->curve_count; i++) {
        const kfe_i_class_curve *curve = &e->curves[i];
        json_t *object = json_object();
        json_object_set_new(object, "class", kfe_i_json_string(e->class_names[curve->class_index]));
        json_object_set_new(object, "rows", json_integer((json_int_t)curve->positives));
        json_object_set_new(object, "roc", roc_array(curve, (double)e->rows));
        json_object_set_new(object, "precision_recall", precision_recall_array(curve));
        json_array_append_new(list, object);
    }
    return list;
}

static kfe_status as_json(kfe_context *ctx, const kfe_i_evaluation *e, char **out)
{
    json_t *object = json_object();

    json_object_set_new(object, "rows", json_integer((json_int_t)e->rows));
    json_object_set_new(object, "metrics", metric_object(e));
    if (e->class_count > 0) {
        json_object_set_new(object, "confusion", confusion_object(e));
        json_object_set_new(object, "curves", curve_array(e));
    }
    return kfe_i_json_take(ctx, object, out);
}

kfe_status kfe_i_report_outcome(kfe_context *ctx, const kfe_i_evaluation *evaluation, kfe_style style,
                                char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? as_json(ctx, evaluation, out) : as_text(ctx, evaluation, out);
}
