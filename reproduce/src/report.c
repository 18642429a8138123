/* SPDX-License-Identifier: Apache-2.0 */
#include "report/reproduction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "model/json.h"

/* A standard deviation that is no more than what rounding makes of equal numbers. */
#define KFE_SD_ROUNDING 1e-12

double kfe_i_finding_difference(const kfe_i_finding *finding)
{
    double sd = finding->sd <= KFE_SD_ROUNDING * fabs(finding->mean) ? 0 : finding->sd;
    double variance = sd * sd / (double)finding->count;

    if (!isnan(finding->paper_sd) && finding->paper_count > 0)
        variance += finding->paper_sd * finding->paper_sd / finding->paper_count;
    return variance > 0 ? (finding->mean - finding->paper) / sqrt(variance) : NAN;
}

void kfe_i_reproduction_free(kfe_i_reproduction *found)
{
    for (int64_t i = 0; i < found->count; i++) {
        kfe_i_free(found->ctx, found->items[i].setting);
        kfe_i_free(found->ctx, found->items[i].note);
    }
    if (found->ctx)
        kfe_i_free(found->ctx, found->items);
    memset(found, 0, sizeof *found);
}

static int same_row(const kfe_i_reproduction *found, int64_t i, int64_t j)
{
    return strcmp(found->items[i].row, found->items[j].row) == 0;
}

static const char *row_note(const kfe_i_reproduction *found, const char *name)
{
    for (size_t i = 0; i < json_array_size(found->rows); i++) {
        const json_t *row = json_array_get(found->rows, i);
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0)
            return json_string_value(json_object_get(row, "note"));
    }
    return NULL;
}

static int paper_has_numbers(const kfe_i_reproduction *found)
{
    for (int64_t i = 0; i < found->count; i++)
        if (!isnan(found->items[i].paper))
            return 1;
    return 0;
}

/* ---- JSON ---- */

static void write_text_or_null(kfe_i_json *json, const char *key, const char *text)
{
    if (text)
        kfe_i_json_text(json, key, text);
    else
        kfe_i_json_null(json, key);
}

static void write_finding(kfe_i_json *json, const kfe_i_reproduction *found, const kfe_i_finding *f)
{
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "row", f->row);
    kfe_i_json_text(json, "column", f->column);
    kfe_i_json_text(json, "metric", f->metric);
    if (found->over)
        kfe_i_json_real(json, found->over, f->point);
    kfe_i_json_real(json, "paper", f->paper);
    kfe_i_json_real(json, "paper-sd", f->paper_sd);
    kfe_i_json_real(json, "ours", f->mean);
    kfe_i_json_real(json, "sd", f->sd);
    kfe_i_json_integer(json, "splits", f->count);
    kfe_i_json_real(json, "difference", kfe_i_finding_difference(f));
    write_text_or_null(json, "setting", f->setting);
    write_text_or_null(json, "note", f->note);
    kfe_i_json_end(json);
}

static kfe_status as_json(const kfe_i_reproduction *found, char **out)
{
    kfe_i_json json;

    kfe_i_json_init(&json, found->ctx, 1);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_text(&json, "name", found->name);
    kfe_i_json_text(&json, "title", found->title);
    kfe_i_json_text(&json, "paper", found->paper);
    kfe_i_json_array(&json, "remarks");
    for (size_t i = 0; i < json_array_size(found->remarks); i++)
        kfe_i_json_text(&json, NULL, json_string_value(json_array_get(found->remarks, i)));
    kfe_i_json_end(&json);
    kfe_i_json_array(&json, "results");
    for (int64_t i = 0; i < found->count; i++)
        write_finding(&json, found, &found->items[i]);
    kfe_i_json_end(&json);
    kfe_i_json_end(&json);
    return kfe_i_json_finish(&json, out);
}

/* ---- text ---- */

enum { LIST_WIDTH = 16, CURVE_WIDTH = 16 };

enum { FEWEST_DECIMALS = 2, MOST_DECIMALS = 5 };

/* Places after the point so that four digits show, of numbers of this size. */
static int decimals(double value)
{
    int places = FEWEST_DECIMALS;

    for (double limit = 10; places < MOST_DECIMALS && fabs(value) < limit; limit /= 10)
        places++;
    return places;
}

/* Too small to be told from zero with the most decimals. */
static int is_tiny(double value)
{
    return fabs(value) > 0 && fabs(value) < 1e-3;
}

static void put_value(kfe_i_text *text, double mean, double sd, int width)
{
    char shown[64] = "-";

    if (is_tiny(mean) && isnan(sd))
        snprintf(shown, sizeof shown, "%.3e", mean);
    else if (is_tiny(mean))
        snprintf(shown, sizeof shown, "%.2e +- %.1e", mean, sd);
    else if (!isnan(mean) && isnan(sd))
        snprintf(shown, sizeof shown, "%.*f", decimals(mean), mean);
    else if (!isnan(mean))
        snprintf(shown, sizeof shown, "%.*f +- %.*f", decimals(mean), mean, decimals(mean), sd);
    kfe_i_text_printf(text, "  %*s", width, shown);
}

static void put_paper(kfe_i_text *text, const kfe_i_finding *f)
{
    char shown[64] = "-";

    if (!isnan(f->paper) && isnan(f->paper_sd))
        snprintf(shown, sizeof shown, "%g", f->paper);
    else if (!isnan(f->paper))
        snprintf(shown, sizeof shown, "%g +- %g", f->paper, f->paper_sd);
    kfe_i_text_printf(text, "  %12s", shown);
}

static void put_difference(kfe_i_text *text, const kfe_i_finding *f)
{
    double difference = kfe_i_finding_difference(f);

    if (isnan(difference))
        kfe_i_text_printf(text, "  %10s", "-");
    else
        kfe_i_text_printf(text, "  %+10.1f", difference);
}

static int name_width(const kfe_i_reproduction *found)
{
    size_t width = 0;

    for (int64_t i = 0; i < found->count; i++) {
        const kfe_i_finding *f = &found->items[i];
        size_t length = strlen(f->column) + (found->metric_count > 1 ? strlen(f->metric) + 2 : 0);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void put_name(kfe_i_text *text, const kfe_i_reproduction *found, const kfe_i_finding *f, int width)
{
    char name[256];

    snprintf(name, sizeof name, "%s%s%s", f->column, found->metric_count > 1 ? ", " : "",
             found->metric_count > 1 ? f->metric : "");
    kfe_i_text_printf(text, "  %-*s", width, name);
}

static void put_row_title(kfe_i_text *text, const kfe_i_reproduction *found, const char *row)
{
    const char *note = row_note(found, row);

    kfe_i_text_printf(text, "%s%s%s%s\n", row, note ? " (" : "", note ? note : "", note ? ")" : "");
}

static void put_line(kfe_i_text *text, const kfe_i_reproduction *found, const kfe_i_finding *f, int width,
                     int compared)
{
    put_name(text, found, f, width);
    if (compared)
        put_paper(text, f);
    put_value(text, f->mean, f->sd, LIST_WIDTH);
    if (compared)
        put_difference(text, f);
    if (f->setting || f->note)
        kfe_i_text_printf(text, "  %s", f->note ? f->note : f->setting);
    kfe_i_text_puts(text, "\n");
}

static void put_list(kfe_i_text *text, const kfe_i_reproduction *found)
{
    int width = name_width(found);
    int compared = paper_has_numbers(found);

    if (compared)
        kfe_i_text_printf(text, "  %-*s  %12s  %*s  %10s\n", width, "", "paper", LIST_WIDTH, "ours +- sd",
                          "difference");
    for (int64_t i = 0; i < found->count; i++) {
        if (i == 0 || !same_row(found, i - 1, i))
            put_row_title(text, found, found->items[i].row);
        put_line(text, found, &found->items[i], width, compared);
    }
    if (compared)
        kfe_i_text_puts(text, "\nDifferences are in standard errors of the mean over the splits.\n");
}

/* The numbers from `first` on that are of the same row and point: one line of a curve. */
static int64_t line_end(const kfe_i_reproduction *found, int64_t first)
{
    int64_t i = first;

    while (i < found->count && same_row(found, first, i) &&
           !(found->items[i].point < found->items[first].point) &&
           !(found->items[i].point > found->items[first].point))
        i++;
    return i;
}

/* Wide enough for the names above the numbers of this line. */
static int curve_width(const kfe_i_reproduction *found, int64_t first, int64_t end)
{
    size_t width = CURVE_WIDTH;

    for (int64_t i = first; i < end; i++) {
        size_t column = strlen(found->items[i].column);
        size_t metric = strlen(found->items[i].metric);
        width = column > width ? column : width;
        width = metric > width ? metric : width;
    }
    return (int)width;
}

static void put_curve_header(kfe_i_text *text, const kfe_i_reproduction *found, int64_t first, int64_t end)
{
    int width = curve_width(found, first, end);

    put_row_title(text, found, found->items[first].row);
    kfe_i_text_printf(text, "  %10s", "");
    for (int64_t i = first; i < end; i++)
        kfe_i_text_printf(text, "  %*s", width, found->items[i].column);
    kfe_i_text_printf(text, "\n  %10s", found->over);
    for (int64_t i = first; i < end; i++)
        kfe_i_text_printf(text, "  %*s", width, found->items[i].metric);
    kfe_i_text_puts(text, "\n");
}

static void put_curves(kfe_i_text *text, const kfe_i_reproduction *found)
{
    for (int64_t first = 0, end = 0; first < found->count; first = end) {
        end = line_end(found, first);
        int width = curve_width(found, first, end);
        if (first == 0 || !same_row(found, first - 1, first))
            put_curve_header(text, found, first, end);
        kfe_i_text_printf(text, "  %10g", found->items[first].point);
        for (int64_t i = first; i < end; i++)
            put_value(text, found->items[i].mean, found->items[i].sd, width);
        if (found->items[first].note)
            kfe_i_text_printf(text, "  %s", found->items[first].note);
        kfe_i_text_puts(text, "\n");
    }
}

static kfe_status as_text(const kfe_i_reproduction *found, char **out)
{
    kfe_i_text text;
    size_t index;
    json_t *remark;

    kfe_i_text_init(&text, found->ctx);
    kfe_i_text_printf(&text, "%s\n%s\n\n", found->title, found->paper);
    if (found->over)
        put_curves(&text, found);
    else
        put_list(&text, found);
    json_array_foreach(found->remarks, index, remark)
        kfe_i_text_printf(&text, "%s- %s\n", index == 0 ? "\n" : "", json_string_value(remark));
    return kfe_i_text_take(&text, out);
}

kfe_status kfe_i_report_reproduction(const kfe_i_reproduction *found, kfe_style style, char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? as_json(found, out) : as_text(found, out);
}

/* ---- CSV ---- */

static void put_quoted(kfe_i_text *text, const char *word)
{
    kfe_i_text_puts(text, "\"");
    for (; *word; word++)
        kfe_i_text_printf(text, "%s%c", *word == '"' ? "\"" : "", *word);
    kfe_i_text_puts(text, "\",");
}

static void put_number(kfe_i_text *text, double value)
{
    char shown[KFE_NUMBER_TEXT] = "";

    if (!isnan(value))
        kfe_i_format_number(value, shown);
    kfe_i_text_printf(text, "%s,", shown);
}

kfe_status kfe_i_reproduction_csv(const kfe_i_reproduction *found, kfe_i_text *out)
{
    kfe_i_text_printf(out, "row,column,metric,%s%spaper,paper-sd,ours,sd,splits\n",
                      found->over ? found->over : "", found->over ? "," : "");
    for (int64_t i = 0; i < found->count; i++) {
        const kfe_i_finding *f = &found->items[i];
        put_quoted(out, f->row);
        put_quoted(out, f->column);
        put_quoted(out, f->metric);
        if (found->over)
            put_number(out, f->point);
        put_number(out, f->paper);
        put_number(out, f->paper_sd);
        put_number(out, f->mean);
        put_number(out, f->sd);
        kfe_i_text_printf(out, "%lld\n", (long long)f->count);
    }
    return out->status;
}
