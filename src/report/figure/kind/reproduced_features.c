/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `reproduced-features`: the scatter plots of a paper, one panel per row and column of the figure. */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "report/figure/kind/findings.h"

enum { MOST_PANELS = 12 };

/* The points of one cell: features as lists of numbers, one per feature, and the class of each. */
typedef struct cell {
    const kfe_i_finding *finding;
    int64_t count;
    const double *x, *y, *classes;
} cell;

/* The list of that name which belongs to a row of the results; NULL: there is none. */
static const double *list_of(const kfe_result *results, const char *name, int64_t row, int64_t *count)
{
    const kfe_table *table = kfe_result_find(results, name);
    int64_t first = kfe_i_result_first(table, row, count);
    const kfe_column *c = kfe_table_column(table, 0);

    return c && c->numbers && *count > 0 ? c->numbers + first : NULL;
}

static int read_cell(const kfe_result *results, const kfe_i_finding *finding, cell *out)
{
    int64_t counts[2] = {0, 0};

    *out = (cell){.finding = finding};
    out->x = list_of(results, "points/x", finding->order, &out->count);
    out->y = list_of(results, "points/y", finding->order, &counts[0]);
    out->classes = list_of(results, "points/classes", finding->order, &counts[1]);
    return out->x && out->y && out->classes && counts[0] == out->count && counts[1] == out->count;
}

typedef struct point {
    double x, y;
    int32_t class_number;
    int64_t order;
} point;

static int compare_points(const void *a, const void *b)
{
    const point *p = a;
    const point *q = b;

    if (p->class_number != q->class_number)
        return p->class_number < q->class_number ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static kfe_status read_points(kfe_context *ctx, const cell *c, point **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, *out, c->count);
    for (int64_t i = 0; i < c->count; i++) {
        int32_t code = c->classes[i] >= 0 && c->classes[i] < 1e9 ? (int32_t)c->classes[i] : 0;
        (*out)[i] = (point){c->x[i], c->y[i], code, i};
    }
    qsort(*out, (size_t)c->count, sizeof **out, compare_points);
cleanup:
    return status;
}

/* The columns of the table, as far as they are filled. */
typedef struct table {
    int32_t *cells;
    double *classes, *x, *y;
    int64_t filled;
} table;

static kfe_status add_cell(kfe_context *ctx, const kfe_i_findings *f, const cell *c, table *t,
                           kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    point *points = NULL;
    int64_t count = c->count;
    kfe_i_text title;

    kfe_i_text_init(&title, ctx);
    kfe_i_text_printf(&title, "%s, %s", f->names[KFE_FINDING_ROW][c->finding->name[KFE_FINDING_ROW]],
                      f->names[KFE_FINDING_COLUMN][c->finding->name[KFE_FINDING_COLUMN]]);
    KFE_TRY(title.status);
    KFE_TRY(kfe_i_figure_panel(out, title.bytes, "", ""));
    KFE_TRY(read_points(ctx, c, &points));
    for (int64_t i = 0, first = 0; i < count; i++) {
        int64_t row = t->filled + i;
        t->cells[row] = (int32_t)out->panel_count - 1;
        t->classes[row] = points[i].class_number + 1;
        t->x[row] = points[i].x;
        t->y[row] = points[i].y;
        if (i + 1 < count && points[i + 1].class_number == points[i].class_number)
            continue;
        KFE_TRY(kfe_i_figure_series(out, NULL,
                                    (kfe_i_series){.mark = KFE_MARK_POINTS,
                                                   .style = points[i].class_number,
                                                   .panel = (int)out->panel_count - 1,
                                                   .first = t->filled + first,
                                                   .count = i + 1 - first,
                                                   .x = 3,
                                                   .y = 4}));
        first = i + 1;
    }
    t->filled += count;
cleanup:
    kfe_i_free(ctx, points);
    kfe_i_text_free(&title);
    return status;
}

/* The names of the panels are words of the first column. */
static kfe_status begin_table(kfe_context *ctx, const kfe_i_findings *f, int64_t count, const cell *cells,
                              table *t, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_text texts[MOST_PANELS] = {{0}};
    const char *names[MOST_PANELS] = {NULL};
    int64_t rows = 0;

    for (int64_t k = 0; k < count; k++) {
        const int32_t *name = cells[k].finding->name;
        kfe_i_text_init(&texts[k], ctx);
        kfe_i_text_printf(&texts[k], "%s, %s", f->names[KFE_FINDING_ROW][name[KFE_FINDING_ROW]],
                          f->names[KFE_FINDING_COLUMN][name[KFE_FINDING_COLUMN]]);
        KFE_TRY(texts[k].status);
        names[k] = texts[k].bytes;
        rows += cells[k].count;
    }
    out->rows = rows;
    KFE_TRY(kfe_i_figure_words(out, "panel", count, names, NULL, &t->cells));
    KFE_TRY(kfe_i_figure_numbers(out, "class", NULL, &t->classes));
    KFE_TRY(kfe_i_figure_numbers(out, "feature 1", NULL, &t->x));
    KFE_TRY(kfe_i_figure_numbers(out, "feature 2", NULL, &t->y));
cleanup:
    for (int64_t k = 0; k < count; k++)
        kfe_i_text_free(&texts[k]);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_findings f = {0};
    cell cells[MOST_PANELS];
    int64_t count = 0;
    table t = {0};

    KFE_TRY(kfe_i_findings_read(ctx, source, &f));
    for (int64_t i = 0; i < f.count && count < MOST_PANELS; i++)
        count += read_cell(source->results, &f.items[i], &cells[count]);
    if (count == 0)
        goto cleanup;
    KFE_TRY(begin_table(ctx, &f, count, cells, &t, out));
    for (int64_t k = 0; k < count; k++)
        KFE_TRY(add_cell(ctx, &f, &cells[k], &t, out));
    out->across = count == 1 ? 1 : count == 4 ? 2 : 3;
    out->flags = KFE_FIGURE_SQUARE;
    kfe_i_text_puts(&out->caption,
                    "The first two features of every example; colour and marker are its class.");
cleanup:
    kfe_i_findings_free(&f);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_reproduced_features = {
    .name = "reproduced-features",
    .title = "The features of the paper's scatter plots",
    .section = "Reproduction",
    .summary = "the scatter plots of a paper, computed again",
    .needs = "the result of reproduce, for a figure that is a scatter plot",
    .draw = draw,
};
