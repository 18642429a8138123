/* SPDX-License-Identifier: Apache-2.0 */
/* Collects findings and writes them as JSON and CSV. The text for readers is in findings_text.c. Called by
 * reproduce.c. */
#include "reproduce/src/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/src/findings_text.h"

/* Standard deviations below this, relative to the mean, are rounding errors of equal numbers. */
#define SD_ROUNDING 1e-12

double rep_finding_difference(const rep_finding *finding)
{
    double sd = finding->sd <= SD_ROUNDING * fabs(finding->mean) ? 0 : finding->sd;
    double variance = sd * sd / (double)finding->splits;

    if (!isnan(finding->paper.sd) && finding->paper.count > 0)
        variance += finding->paper.sd * finding->paper.sd / finding->paper.count;
    return variance > 0 ? (finding->mean - finding->paper.value) / sqrt(variance) : NAN;
}

kfe_status rep_findings_add(rep_findings *findings, rep_finding **out)
{
    static const rep_finding empty = {.point = NAN, .mean = NAN, .sd = NAN, .seconds = NAN};

    if (findings->count == findings->capacity) {
        int64_t capacity = 2 * findings->capacity + 16;
        rep_finding *items = realloc(findings->items, (size_t)capacity * sizeof *items);
        if (!items)
            return rep_out_of_memory(findings->ctx);
        findings->items = items;
        findings->capacity = capacity;
    }
    *out = &findings->items[findings->count++];
    **out = empty;
    return KFE_OK;
}

void rep_findings_free(rep_findings *findings)
{
    for (int64_t i = 0; i < findings->count; i++) {
        free(findings->items[i].setting);
        free(findings->items[i].failed);
        free(findings->items[i].note);
    }
    json_decref(findings->points);
    free(findings->items);
    memset(findings, 0, sizeof *findings);
}

/* ---- JSON ---- */

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *string_or_null(const char *string)
{
    return string ? json_string(string) : json_null();
}

/* NULL: out of memory. */
static json_t *finding_json(const rep_findings *findings, const rep_finding *f)
{
    json_t *object = json_pack("{s:s, s:s, s:s}", "row", f->row, "column", f->column, "metric", f->metric);
    json_t *rest = json_pack(
        "{s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "paper", number(f->paper.value), "paper-sd",
        number(f->paper.sd), "ours", number(f->mean), "sd", number(f->sd), "splits", (json_int_t)f->splits,
        "difference", number(rep_finding_difference(f)), "seconds", number(f->seconds), "setting",
        string_or_null(f->setting), "failed", string_or_null(f->failed), "note", string_or_null(f->note));
    int bad = !object || !rest;

    if (!bad && findings->over)
        bad = json_object_set_new(object, findings->over, number(f->point)) != 0;
    bad = bad || json_object_update(object, rest) != 0;
    json_decref(rest);
    if (bad) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int rep_findings_are_compared(const rep_findings *findings)
{
    for (int64_t i = 0; i < findings->count; i++)
        if (!isnan(findings->items[i].paper.value))
            return 1;
    return 0;
}

/* Describes the picture of a report in terms of the tables: see src/report/figure/kind/described.c. */
static json_t *figure_json(const rep_findings *findings)
{
    const char *part = findings->metric_count > 1 ? "metric" : "";

    if (findings->points)
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "table", "points", "panel", "row",
                         "part", "column", "series", "class", "x", "feature 1", "y", "feature 2", "square", 1,
                         "caption",
                         "The first two features of every example; colour and marker are its class.");
    if (findings->over)
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "table", "results", "panel", "row",
                         "part", "metric", "series", "column", "x", findings->over, "y", "ours", "spread",
                         "sd", "line", 1, "caption",
                         "Our curves; bands are one standard deviation over the splits.");
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "table", "results", "panel", part, "series",
                     "column", "x", "paper", "y", "ours", "spread", "sd", "diagonal", 1, "caption",
                     rep_findings_are_compared(findings)
                         ? "Published numbers against ours, one point per row of the table; points on the "
                           "dashed line agree, and bars are one standard deviation of ours."
                         : "Our numbers; the paper has none to compare them with.");
}

static json_t *whole_json(const rep_findings *findings)
{
    const json_t *root = findings->plan->root;
    json_t *remarks = json_object_get(root, "remarks");
    json_t *results = json_array();
    int bad = !results;

    for (int64_t i = 0; !bad && i < findings->count; i++)
        bad = json_array_append_new(results, finding_json(findings, &findings->items[i])) != 0;
    if (bad) {
        json_decref(results);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:O*}", "name", findings->plan->name, "title",
                     rep_string(root, "title"), "paper", rep_string(root, "paper"), "over",
                     string_or_null(findings->over), "remarks",
                     remarks ? json_deep_copy(remarks) : json_array(), "results", results, "figure",
                     figure_json(findings), "points", findings->points);
}

kfe_status rep_findings_json(const rep_findings *findings, char **out)
{
    json_t *object = whole_json(findings);
    char *dumped = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    rep_text text = {0};

    json_decref(object);
    if (!dumped)
        return rep_out_of_memory(findings->ctx);
    rep_text_printf(&text, "%s\n", dumped);
    free(dumped);
    return rep_text_take(findings->ctx, &text, out);
}

/* ---- CSV ---- */

static void put_quoted(rep_text *text, const char *word)
{
    rep_text_puts(text, "\"");
    for (; *word; word++)
        rep_text_printf(text, "%s%c", *word == '"' ? "\"" : "", *word);
    rep_text_puts(text, "\",");
}

static void put_number(rep_text *text, double value)
{
    if (!isnan(value))
        rep_text_number(text, value);
    rep_text_puts(text, ",");
}

void rep_findings_csv(const rep_findings *findings, rep_text *out)
{
    rep_text_printf(out, "row,column,metric,%s%spaper,paper-sd,ours,sd,splits\n",
                    findings->over ? findings->over : "", findings->over ? "," : "");
    for (int64_t i = 0; i < findings->count; i++) {
        const rep_finding *f = &findings->items[i];
        put_quoted(out, f->row);
        put_quoted(out, f->column);
        put_quoted(out, f->metric);
        if (findings->over)
            put_number(out, f->point);
        put_number(out, f->paper.value);
        put_number(out, f->paper.sd);
        put_number(out, f->mean);
        put_number(out, f->sd);
        rep_text_printf(out, "%lld\n", (long long)f->splits);
    }
}
