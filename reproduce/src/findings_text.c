/* SPDX-License-Identifier: Apache-2.0 */
/* The text of findings. Called by findings.c. */
#include "reproduce/src/findings_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIST_WIDTH = 16, CURVE_WIDTH = 16 };

enum { FEWEST_DECIMALS = 2, MOST_DECIMALS = 5 };

/* ---- numbers ---- */

/* Decimals that show about four digits of the value. */
static int decimals(double value)
{
    int places = FEWEST_DECIMALS;

    for (double limit = 10; places < MOST_DECIMALS && fabs(value) < limit; limit /= 10)
        places++;
    return places;
}

/* Whether the value is too small for the largest number of decimals. */
static int is_tiny(double value)
{
    return fabs(value) > 0 && fabs(value) < 1e-3;
}

static void put_value(rep_text *text, double mean, double sd, int width)
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
    rep_text_printf(text, "  %*s", width, shown);
}

static void put_paper(rep_text *text, const rep_published *paper)
{
    char shown[64] = "-";

    if (!isnan(paper->value) && isnan(paper->sd))
        snprintf(shown, sizeof shown, "%g", paper->value);
    else if (!isnan(paper->value))
        snprintf(shown, sizeof shown, "%g +- %g", paper->value, paper->sd);
    rep_text_printf(text, "  %12s", shown);
}

static void put_difference(rep_text *text, const rep_finding *f)
{
    double difference = rep_finding_difference(f);

    if (isnan(difference))
        rep_text_printf(text, "  %10s", "-");
    else
        rep_text_printf(text, "  %+10.1f", difference);
}

/* ---- rows ---- */

static int same_row(const rep_findings *findings, int64_t i, int64_t j)
{
    return strcmp(findings->items[i].row, findings->items[j].row) == 0;
}

static void put_row_title(const rep_findings *findings, const char *name, rep_text *text)
{
    const char *note = NULL;

    for (size_t i = 0; i < json_array_size(findings->plan->rows); i++) {
        const json_t *row = json_array_get(findings->plan->rows, i);
        if (strcmp(rep_string(row, "name"), name) == 0)
            note = rep_string(row, "note");
    }
    rep_text_printf(text, "%s%s%s%s\n", name, note ? " (" : "", note ? note : "", note ? ")" : "");
}

/* ---- lists ---- */

static void put_name(const rep_findings *findings, const rep_finding *f, int width, rep_text *text)
{
    char name[256];

    snprintf(name, sizeof name, "%s%s%s", f->column, findings->metric_count > 1 ? ", " : "",
             findings->metric_count > 1 ? f->metric : "");
    rep_text_printf(text, "  %-*s", width, name);
}

static int name_width(const rep_findings *findings)
{
    size_t width = 0;

    for (int64_t i = 0; i < findings->count; i++) {
        const rep_finding *f = &findings->items[i];
        size_t length = strlen(f->column) + (findings->metric_count > 1 ? strlen(f->metric) + 2 : 0);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void put_line(const rep_findings *findings, const rep_finding *f, int width, int compared,
                     rep_text *text)
{
    put_name(findings, f, width, text);
    if (compared)
        put_paper(text, &f->paper);
    put_value(text, f->mean, f->sd, LIST_WIDTH);
    if (compared)
        put_difference(text, f);
    if (f->setting || f->note)
        rep_text_printf(text, "  %s", f->note ? f->note : f->setting);
    if (f->failed)
        rep_text_printf(text, "  (%s)", f->failed);
    rep_text_puts(text, "\n");
}

static void put_list(const rep_findings *findings, rep_text *text)
{
    int width = name_width(findings);
    int compared = rep_findings_are_compared(findings);

    if (compared)
        rep_text_printf(text, "  %-*s  %12s  %*s  %10s\n", width, "", "paper", LIST_WIDTH, "ours +- sd",
                        "difference");
    for (int64_t i = 0; i < findings->count; i++) {
        if (i == 0 || !same_row(findings, i - 1, i))
            put_row_title(findings, findings->items[i].row, text);
        put_line(findings, &findings->items[i], width, compared, text);
    }
    if (compared)
        rep_text_puts(text, "\nDifferences are in standard errors of the mean over the splits.\n");
}

/* ---- curves ---- */

/* The end of the findings from `first` on with the same row and point: one line of a curve. */
static int64_t line_end(const rep_findings *findings, int64_t first)
{
    double point = findings->items[first].point;
    int64_t i = first;

    while (i < findings->count && same_row(findings, first, i) && !(findings->items[i].point < point) &&
           !(findings->items[i].point > point))
        i++;
    return i;
}

/* Wide enough for the names above the numbers of this line. */
static int curve_width(const rep_findings *findings, int64_t first, int64_t end)
{
    size_t width = CURVE_WIDTH;

    for (int64_t i = first; i < end; i++) {
        size_t column = strlen(findings->items[i].column);
        size_t metric = strlen(findings->items[i].metric);
        width = column > width ? column : width;
        width = metric > width ? metric : width;
    }
    return (int)width;
}

static void put_curve_header(const rep_findings *findings, int64_t first, int64_t end, rep_text *text)
{
    int width = curve_width(findings, first, end);

    put_row_title(findings, findings->items[first].row, text);
    rep_text_printf(text, "  %10s", "");
    for (int64_t i = first; i < end; i++)
        rep_text_printf(text, "  %*s", width, findings->items[i].column);
    rep_text_printf(text, "\n  %10s", findings->over);
    for (int64_t i = first; i < end; i++)
        rep_text_printf(text, "  %*s", width, findings->items[i].metric);
    rep_text_puts(text, "\n");
}

static void put_curves(const rep_findings *findings, rep_text *text)
{
    for (int64_t first = 0, end = 0; first < findings->count; first = end) {
        end = line_end(findings, first);
        int width = curve_width(findings, first, end);
        if (first == 0 || !same_row(findings, first - 1, first))
            put_curve_header(findings, first, end, text);
        rep_text_printf(text, "  %10g", findings->items[first].point);
        for (int64_t i = first; i < end; i++)
            put_value(text, findings->items[i].mean, findings->items[i].sd, width);
        if (findings->items[first].note)
            rep_text_printf(text, "  %s", findings->items[first].note);
        rep_text_puts(text, "\n");
    }
}

void rep_findings_text(const rep_findings *findings, rep_text *text)
{
    const json_t *root = findings->plan->root;
    size_t index;
    json_t *remark;

    rep_text_printf(text, "%s\n%s\n\n", rep_string(root, "title"), rep_string(root, "paper"));
    if (findings->over)
        put_curves(findings, text);
    else
        put_list(findings, text);
    json_array_foreach(json_object_get(root, "remarks"), index, remark)
        rep_text_printf(text, "%s- %s\n", index == 0 ? "\n" : "", json_string_value(remark));
}
