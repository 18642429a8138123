/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figure `reproduction`: the numbers of a published table beside ours, or our curves. A table has one panel per
 * metric, with published numbers across and ours up; a curve has one panel per row and metric.
 */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "report/figure/kind/findings.h"

enum { MOST_PANELS = 6 };

/* The numbers of a finding, in the order of the table. */
enum { POINT, PAPER, PAPER_SD, OURS, SD, DIFFERENCE, NUMBERS };

/* ---- which panel ---- */

static int64_t panel_of(const kfe_i_findings *f, const kfe_i_finding *item)
{
    int64_t metric = item->name[KFE_FINDING_METRIC];

    return f->over ? item->name[KFE_FINDING_ROW] * f->name_count[KFE_FINDING_METRIC] + metric : metric;
}

static int compare_curves(const void *a, const void *b)
{
    static const kfe_i_finding_name keys[] = {KFE_FINDING_ROW, KFE_FINDING_METRIC, KFE_FINDING_COLUMN};
    const kfe_i_finding *p = a;
    const kfe_i_finding *q = b;

    for (int k = 0; k < KFE_FINDING_NAMES; k++)
        if (p->name[keys[k]] != q->name[keys[k]])
            return p->name[keys[k]] < q->name[keys[k]] ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static int compare_tables(const void *a, const void *b)
{
    static const kfe_i_finding_name keys[] = {KFE_FINDING_METRIC, KFE_FINDING_COLUMN};
    const kfe_i_finding *p = a;
    const kfe_i_finding *q = b;

    for (int k = 0; k < 2; k++)
        if (p->name[keys[k]] != q->name[keys[k]])
            return p->name[keys[k]] < q->name[keys[k]] ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

/* ---- the table ---- */

static kfe_status add_names(const kfe_i_findings *f, kfe_i_figure *out)
{
    static const char *const titles[KFE_FINDING_NAMES] = {"row", "column", "metric"};
    kfe_status status = KFE_OK;
    int32_t *codes = NULL;

    for (int k = 0; k < KFE_FINDING_NAMES; k++) {
        KFE_TRY(kfe_i_figure_words(out, titles[k], f->name_count[k], f->names[k], NULL, &codes));
        for (int64_t i = 0; i < f->count; i++)
            codes[i] = f->items[i].name[k];
    }
cleanup:
    return status;
}

/* One of the numbers of a finding. */
static double number_of(const kfe_i_findings *f, const kfe_i_finding *item, int which)
{
    const double numbers[NUMBERS] = {item->point,    item->paper,
                                     item->paper_sd, item->ours,
                                     item->sd,       kfe_i_result_at(f->table, "difference", item->order)};

    return numbers[which];
}

static int is_known(const kfe_i_findings *f, int which)
{
    for (int64_t i = 0; i < f->count; i++)
        if (isfinite(number_of(f, &f->items[i], which)))
            return 1;
    return 0;
}

/* Adds the columns of the numbers that are known; columns[k] is 0 for the others. */
static kfe_status add_numbers(const kfe_i_findings *f, kfe_i_figure *out, int *columns)
{
    const char *const titles[NUMBERS] = {f->over, "published", "published sd",
                                         "ours",  "sd",        "difference in standard errors"};
    kfe_status status = KFE_OK;
    double *values = NULL;

    for (int k = 0; k < NUMBERS; k++) {
        if (!is_known(f, k))
            continue;
        KFE_TRY(kfe_i_figure_numbers(out, titles[k], &columns[k], &values));
        for (int64_t i = 0; i < f->count; i++)
            values[i] = number_of(f, &f->items[i], k);
    }
cleanup:
    return status;
}

/* Settings, and reasons why a number is missing. */
static kfe_status add_remarks(kfe_context *ctx, const kfe_i_findings *f, kfe_i_figure *out)
{
    static const char *const keys[] = {"setting", "note"};
    kfe_status status = KFE_OK;
    const char **words = NULL;
    int32_t *codes = NULL;

    KFE_ALLOC(ctx, words, f->count);
    for (int k = 0; k < 2; k++) {
        int64_t found = 0;
        for (int64_t i = 0; i < f->count; i++) {
            words[i] = kfe_i_result_word(f->table, keys[k], f->items[i].order);
            found += words[i] != NULL;
            words[i] = words[i] ? words[i] : "";
        }
        if (found == 0)
            continue;
        KFE_TRY(kfe_i_figure_words(out, keys[k], f->count, words, NULL, &codes));
        for (int64_t i = 0; i < f->count; i++)
            codes[i] = words[i][0] ? (int32_t)i : -1;
    }
cleanup:
    kfe_i_free(ctx, words);
    return status;
}

/* ---- panels ---- */

/* Whether the numbers of a panel can be drawn: of a table, pairs; of a curve, ours. */
static int is_shown(const kfe_i_findings *f, const kfe_i_finding *item)
{
    return isfinite(item->ours) && isfinite(f->over ? item->point : item->paper);
}

static kfe_status open_panel(const kfe_i_findings *f, const kfe_i_finding *item, kfe_i_figure *out)
{
    const char *metric = f->names[KFE_FINDING_METRIC][item->name[KFE_FINDING_METRIC]];
    const char *row = f->names[KFE_FINDING_ROW][item->name[KFE_FINDING_ROW]];
    kfe_status status = KFE_OK;

    if (f->over)
        return kfe_i_figure_panel(out, row, f->over, metric);
    KFE_TRY(
        kfe_i_figure_panel(out, f->name_count[KFE_FINDING_METRIC] > 1 ? metric : NULL, "published", "ours"));
    out->panels[out->panel_count - 1].reference = KFE_REFERENCE_DIAGONAL;
cleanup:
    return status;
}

/* The series of the findings [first, end), which share a panel and a column. Only the first panel fills the legend. */
static kfe_status add_series(const kfe_i_findings *f, const int *columns, int64_t first, int64_t end,
                             kfe_i_figure *out)
{
    int32_t column = f->items[first].name[KFE_FINDING_COLUMN];
    kfe_i_series series = {.mark = f->over ? KFE_MARK_LINE : KFE_MARK_POINTS,
                           .flags = f->over ? KFE_SERIES_DOTTED : 0,
                           .style = column,
                           .panel = (int)out->panel_count - 1,
                           .first = first,
                           .count = end - first,
                           .x = columns[f->over ? POINT : PAPER],
                           .y = columns[OURS],
                           .spread = columns[SD],
                           .label = 1};

    return kfe_i_figure_series(out, series.panel == 0 ? f->names[KFE_FINDING_COLUMN][column] : NULL, series);
}

static int same_series(const kfe_i_findings *f, int64_t i, int64_t j)
{
    return panel_of(f, &f->items[i]) == panel_of(f, &f->items[j]) &&
           f->items[i].name[KFE_FINDING_COLUMN] == f->items[j].name[KFE_FINDING_COLUMN];
}

static kfe_status add_panels(const kfe_i_findings *f, const int *columns, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t open = -1;

    for (int64_t i = 0, end = 0; i < f->count; i = end) {
        int64_t shown = 0;
        for (end = i; end < f->count && same_series(f, i, end); end++)
            shown += is_shown(f, &f->items[end]);
        if (shown == 0)
            continue;
        if (panel_of(f, &f->items[i]) != open) {
            if (out->panel_count == MOST_PANELS)
                break;
            open = panel_of(f, &f->items[i]);
            KFE_TRY(open_panel(f, &f->items[i], out));
        }
        KFE_TRY(add_series(f, columns, i, end, out));
    }
    out->across = out->panel_count > 1 ? 2 : 1;
cleanup:
    return status;
}

/* Points that span decades belong on a logarithmic axis. */
static void choose_axes(const kfe_i_findings *f, kfe_i_figure *out)
{
    double low = INFINITY;
    double high = -INFINITY;

    for (int64_t i = 0; i < f->count; i++) {
        low = fmin(low, f->items[i].point);
        high = fmax(high, f->items[i].point);
    }
    for (int64_t p = 0; f->over && p < out->panel_count; p++)
        out->panels[p].x.log = low > 0 && high > 30 * low;
}

static void write_caption(const kfe_i_findings *f, kfe_i_figure *out)
{
    if (f->over)
        kfe_i_text_puts(&out->caption, "Our curves; bands are one standard deviation over the splits.");
    else if (out->panel_count > 0)
        kfe_i_text_puts(&out->caption,
                        "Published numbers against ours, one point per row of the table; points on "
                        "the dashed line agree, and bars are one standard deviation of ours.");
    else
        kfe_i_text_puts(&out->caption, "Our numbers; the paper has none to compare them with.");
    if (out->panel_count == MOST_PANELS)
        kfe_i_text_printf(&out->caption, " At most %d panels are drawn; the table has every number.",
                          MOST_PANELS);
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_findings f = {0};
    int columns[NUMBERS] = {0};

    KFE_TRY(kfe_i_findings_read(ctx, source, &f));
    if (f.count == 0)
        goto cleanup;
    qsort(f.items, (size_t)f.count, sizeof *f.items, f.over ? compare_curves : compare_tables);
    out->rows = f.count;
    KFE_TRY(add_names(&f, out));
    KFE_TRY(add_numbers(&f, out, columns));
    KFE_TRY(add_remarks(ctx, &f, out));
    KFE_TRY(add_panels(&f, columns, out));
    choose_axes(&f, out);
    write_caption(&f, out);
cleanup:
    kfe_i_findings_free(&f);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_reproduction = {
    .name = "reproduction",
    .title = "Published numbers and ours",
    .section = "Reproduction",
    .summary = "the numbers of a published table or curve beside ours",
    .needs = "the JSON of reproduce",
    .draw = draw,
};
