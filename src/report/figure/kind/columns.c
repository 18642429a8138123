/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the data in figures: which are shown, in which order, over which axis; used by every figure with a value per column. */
#include "report/figure/kind/columns.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

void kfe_i_columns_free(kfe_i_columns *columns)
{
    if (!columns->ctx)
        return;
    kfe_i_free(columns->ctx, columns->items);
    memset(columns, 0, sizeof *columns);
}

/* All columns in their order, or those with the largest sizes, largest first. */
static void choose_bars(const double *sizes, kfe_i_columns_order order, kfe_i_columns *out)
{
    out->count = out->all < KFE_FIGURE_BARS ? out->all : KFE_FIGURE_BARS;
    for (int64_t j = 0; j < out->all; j++)
        out->items[j] = (kfe_i_sorted){isfinite(sizes[j]) ? sizes[j] : 0, j};
    if (out->count < out->all || order != KFE_COLUMNS_IN_ORDER)
        kfe_i_sort_falling(out->items, out->all);
    while (order == KFE_COLUMNS_ABOVE_ZERO && out->count > 1 && out->items[out->count - 1].value <= 0)
        out->count--;
}

/* All columns along their axis. */
static void line_up(const kfe_i_positions *positions, const char *const *names, kfe_i_columns *out)
{
    out->count = out->all;
    for (int64_t j = 0; j < out->all; j++)
        out->items[j] = (kfe_i_sorted){-kfe_i_position_at(positions, names, j), j};
    if (!positions->is_numbered) /* the table has some columns, the most important ones first */
        kfe_i_sort_falling(out->items, out->all);
}

static kfe_status add_names(kfe_i_columns *out, const kfe_column *labels, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    const char **words = NULL;

    KFE_ALLOC(out->ctx, words, out->count);
    for (int64_t k = 0; k < out->count; k++)
        words[k] = labels->texts[out->items[k].index];
    KFE_TRY(kfe_i_figure_labels(figure, labels->name, words));
    out->x = (int)figure->column_count;
cleanup:
    kfe_i_free(out->ctx, words);
    return status;
}

static kfe_status add_positions(kfe_i_columns *out, const kfe_i_positions *positions,
                                const char *const *names, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    double *values = NULL;

    KFE_TRY(kfe_i_figure_numbers(figure, strcmp(out->title, "column") == 0 ? "position" : out->title, &out->x,
                                 &values));
    for (int64_t k = 0; k < out->count; k++)
        values[k] = kfe_i_position_at(positions, names, out->items[k].index);
    out->ends[0] = fmin(values[0], values[out->count - 1]);
    out->ends[1] = fmax(values[0], values[out->count - 1]);
cleanup:
    return status;
}

kfe_status kfe_i_columns_begin(kfe_context *ctx, const kfe_column *labels, int64_t count, const double *sizes,
                               kfe_i_columns_order order, kfe_i_figure *figure, kfe_i_columns *out)
{
    kfe_status status = KFE_OK;
    kfe_i_positions positions = kfe_i_positions_of(labels->texts, count);

    *out = (kfe_i_columns){.ctx = ctx, .all = count};
    out->is_line = positions.is_axis || (positions.is_numbered && count > KFE_FIGURE_BARS);
    out->is_reversed = positions.is_axis && positions.is_reversed;
    kfe_i_position_title(&positions, labels->texts, out->title, sizeof out->title);
    if (!positions.is_axis)
        kfe_i_snprintf(out->title, sizeof out->title, "%s", labels->name);
    KFE_ALLOC(ctx, out->items, count);
    if (out->is_line)
        line_up(&positions, labels->texts, out);
    else
        choose_bars(sizes, order, out);
    figure->rows = out->count;
    KFE_TRY(add_names(out, labels, figure));
    if (out->is_line)
        KFE_TRY(add_positions(out, &positions, labels->texts, figure));
cleanup:
    return status;
}

kfe_status kfe_i_columns_panel(const kfe_i_columns *columns, const char *title, const char *y,
                               kfe_i_figure *figure)
{
    kfe_status status = kfe_i_figure_panel(figure, title, columns->title, y);

    if (status != KFE_OK || !columns->is_line)
        return status;
    kfe_i_axis *x = &figure->panels[figure->panel_count - 1].x;
    x->is_reversed = columns->is_reversed;
    if (columns->ends[0] < columns->ends[1])
        kfe_i_axis_range(x, columns->ends[0], columns->ends[1]);
    return KFE_OK;
}

kfe_i_series kfe_i_columns_series(const kfe_i_columns *columns, int y)
{
    return (kfe_i_series){.mark = columns->is_line ? KFE_MARK_LINE : KFE_MARK_BARS,
                          .count = columns->count,
                          .x = columns->x,
                          .y = y};
}

void kfe_i_columns_caption(const kfe_i_columns *columns, kfe_i_figure *figure)
{
    if (columns->count < columns->all)
        kfe_i_text_printf(&figure->caption, " The %lld largest of %lld.", (long long)columns->count,
                          (long long)columns->all);
}
