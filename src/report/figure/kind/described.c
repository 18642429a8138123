/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figure `described`: the picture that a parsed result describes itself, as `kfe reproduce` does. The facts of the group
 * `figure` name a table of the result and its columns: words for the panel, the part of a panel's title after the comma, and
 * the series; numbers for x, y and half the height of a bar or band (spread). Flags: `line`, `diagonal`, `square`; `caption`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { MOST_PANELS = 12 };

enum { PANEL, PART, SERIES, WORDS };
enum { X, Y, SPREAD, NUMBERS };

/* A row of the table, with a number for each of its words in the order of their first rows. */
typedef struct item {
    int32_t code[WORDS];
    int64_t row;
} item;

typedef struct picture {
    kfe_context *ctx;
    const kfe_result *result;
    const kfe_table *table;
    const kfe_column *words[WORDS], *numbers[NUMBERS]; /* NULL: not described */
    int column[NUMBERS];                               /* in the figure, from 1 */
    item *items;
    const char **texts; /* room for a text of each row */
} picture;

static const kfe_column *column_of(const picture *p, const char *fact)
{
    const char *name = kfe_result_text(p->result, fact);

    return name ? kfe_table_find(p->table, name) : NULL;
}

static int has_flag(const picture *p, const char *fact)
{
    return kfe_result_number(p->result, fact) > 0;
}

/* Whether the result describes a picture that can be drawn. */
static int find_columns(picture *p)
{
    static const char *const words[WORDS] = {"figure/panel", "figure/part", "figure/series"};
    static const char *const numbers[NUMBERS] = {"figure/x", "figure/y", "figure/spread"};
    const char *table = kfe_result_text(p->result, "figure/table");

    p->table = table ? kfe_result_find(p->result, table) : NULL;
    if (!p->table || p->table->rows == 0)
        return 0;
    for (int k = 0; k < WORDS; k++) {
        p->words[k] = column_of(p, words[k]);
        if (p->words[k] && !p->words[k]->texts)
            return 0;
    }
    for (int k = 0; k < NUMBERS; k++) {
        p->numbers[k] = column_of(p, numbers[k]);
        if (p->numbers[k] && !p->numbers[k]->numbers)
            return 0;
    }
    return p->words[SERIES] && p->numbers[X] && p->numbers[Y];
}

static const char *word_of(const picture *p, const item *at, int which)
{
    const char *word = p->words[which] ? p->words[which]->texts[at->row] : NULL;

    return word ? word : "";
}

static int compare_items(const void *a, const void *b)
{
    const item *p = a;
    const item *q = b;

    for (int k = 0; k < WORDS; k++)
        if (p->code[k] != q->code[k])
            return p->code[k] < q->code[k] ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static kfe_status sort_rows(picture *p)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(p->ctx, p->items, p->table->rows);
    KFE_ALLOC(p->ctx, p->texts, p->table->rows);
    for (int k = 0; k < WORDS; k++) {
        int32_t known = 0;
        for (int64_t i = 0; i < p->table->rows; i++) {
            p->items[i].row = i;
            const char *word = word_of(p, &p->items[i], k);
            int32_t code = known;
            while (code > 0 && strcmp(p->texts[code - 1], word) != 0)
                code--;
            if (code == 0)
                p->texts[known] = word;
            p->items[i].code[k] = code > 0 ? code - 1 : known++;
        }
    }
    qsort(p->items, (size_t)p->table->rows, sizeof *p->items, compare_items);
cleanup:
    return status;
}

/* ---- the table ---- */

/* Columns without any value are left out. */
static kfe_status copy_numbers(picture *p, const kfe_column *from, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *values = NULL;
    int column = 0;
    int64_t known = 0;

    for (int64_t i = 0; i < out->rows; i++)
        known += isfinite(from->numbers[i]) != 0;
    if (known == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_figure_numbers(out, from->name, &column, &values));
    for (int64_t i = 0; i < out->rows; i++)
        values[i] = from->numbers[p->items[i].row];
    for (int k = 0; k < NUMBERS; k++)
        if (p->numbers[k] == from)
            p->column[k] = column;
cleanup:
    return status;
}

static kfe_status copy_texts(picture *p, const kfe_column *from, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int32_t *codes = NULL;
    int64_t known = 0;

    for (int64_t i = 0; i < out->rows; i++) {
        p->texts[i] = from->texts[p->items[i].row] ? from->texts[p->items[i].row] : "";
        known += p->texts[i][0] != '\0';
    }
    if (known == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_figure_words(out, from->name, out->rows, p->texts, NULL, &codes));
    for (int64_t i = 0; i < out->rows; i++)
        codes[i] = p->texts[i][0] ? (int32_t)i : -1;
cleanup:
    return status;
}

static kfe_status copy_table(picture *p, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_column *c;

    out->rows = p->table->rows;
    for (int64_t k = 0; (c = kfe_table_column(p->table, k)); k++)
        if (c->numbers)
            KFE_TRY(copy_numbers(p, c, out));
        else if (c->texts)
            KFE_TRY(copy_texts(p, c, out));
cleanup:
    return status;
}

/* ---- panels ---- */

static kfe_status open_panel(const picture *p, const item *at, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_text title;

    kfe_i_text_init(&title, p->ctx);
    kfe_i_text_printf(&title, "%s%s%s", word_of(p, at, PANEL), p->words[PART] ? ", " : "",
                      word_of(p, at, PART));
    KFE_TRY(title.status);
    KFE_TRY(kfe_i_figure_panel(out, title.bytes[0] ? title.bytes : NULL, p->numbers[X]->name,
                               p->numbers[Y]->name));
    if (has_flag(p, "figure/diagonal"))
        out->panels[out->panel_count - 1].reference = KFE_REFERENCE_DIAGONAL;
cleanup:
    kfe_i_text_free(&title);
    return status;
}

/* The series of the rows [first, end). Only the first panel fills the legend. */
static kfe_status add_series(const picture *p, int64_t first, int64_t end, kfe_i_figure *out)
{
    const item *at = &p->items[first];
    int is_line = has_flag(p, "figure/line");
    kfe_i_series series = {.mark = is_line ? KFE_MARK_LINE : KFE_MARK_POINTS,
                           .flags = is_line ? KFE_SERIES_DOTTED : 0,
                           .style = at->code[SERIES],
                           .panel = (int)out->panel_count - 1,
                           .first = first,
                           .count = end - first,
                           .x = p->column[X],
                           .y = p->column[Y],
                           .spread = p->column[SPREAD],
                           .label = 1};

    return kfe_i_figure_series(out, series.panel == 0 ? word_of(p, at, SERIES) : NULL, series);
}

static int same(const item *a, const item *b, int words)
{
    return memcmp(a->code, b->code, (size_t)words * sizeof a->code[0]) == 0;
}

static kfe_status add_panels(const picture *p, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const item *open = NULL;

    for (int64_t i = 0, end = 0; i < out->rows; i = end) {
        const item *at = &p->items[i];
        int64_t shown = 0;
        for (end = i; end < out->rows && same(at, &p->items[end], WORDS); end++)
            shown += isfinite(p->numbers[X]->numbers[p->items[end].row]) &&
                     isfinite(p->numbers[Y]->numbers[p->items[end].row]);
        if (shown == 0)
            continue;
        if (!open || !same(at, open, SERIES)) {
            if (out->panel_count == MOST_PANELS)
                break;
            open = at;
            KFE_TRY(open_panel(p, at, out));
        }
        KFE_TRY(add_series(p, i, end, out));
    }
    out->across = out->panel_count <= 1 ? 1 : out->panel_count <= 4 ? 2 : 3;
cleanup:
    return status;
}

/* Places of lines that span decades belong on a logarithmic axis. */
static void choose_axes(const picture *p, kfe_i_figure *out)
{
    double low = INFINITY;
    double high = -INFINITY;

    for (int64_t i = 0; i < out->rows; i++) {
        low = fmin(low, p->numbers[X]->numbers[i]);
        high = fmax(high, p->numbers[X]->numbers[i]);
    }
    for (int64_t k = 0; has_flag(p, "figure/line") && k < out->panel_count; k++)
        out->panels[k].x.log = low > 0 && high > 30 * low;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    picture p = {.ctx = ctx, .result = source->results};

    if (!p.result || !find_columns(&p))
        return KFE_OK;
    KFE_TRY(sort_rows(&p));
    KFE_TRY(copy_table(&p, out));
    KFE_TRY(add_panels(&p, out));
    choose_axes(&p, out);
    out->flags = has_flag(&p, "figure/square") ? KFE_FIGURE_SQUARE : 0;
    const char *caption = kfe_result_text(p.result, "figure/caption");
    kfe_i_text_puts(&out->caption, caption ? caption : "");
    if (out->panel_count == MOST_PANELS)
        kfe_i_text_printf(&out->caption, " At most %d panels are drawn; the table has every number.",
                          MOST_PANELS);
cleanup:
    kfe_i_free(ctx, p.items);
    kfe_i_free(ctx, p.texts);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_described = {
    .name = "described",
    .title = "Results",
    .section = "Results",
    .summary = "the picture that a saved result describes, such as published numbers beside ours",
    .needs = "a result that describes its picture, as the JSON of reproduce does",
    .draw = draw,
};
