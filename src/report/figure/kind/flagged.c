/* SPDX-License-Identifier: Apache-2.0 */
/* Examples by two numbers with limits, for the figures `outliers` and `leverage`. */
#include "report/figure/kind/flagged.h"

#include <math.h>

#include "core/memory.h"
#include "core/sort.h"

enum { MOST_NAMED = 12 };

/* The lines have no other columns. */
static void clear_lines(kfe_i_figure *figure, int64_t first)
{
    for (int64_t c = 0; c < figure->column_count; c++)
        for (int64_t i = first; i < figure->rows; i++)
            if (figure->columns[c].numbers)
                figure->columns[c].numbers[i] = (double)NAN;
            else
                figure->columns[c].codes[i] = -1;
}

kfe_status kfe_i_flagged_columns(kfe_i_flagged *f, kfe_i_figure *figure, const char *x, const char *y)
{
    kfe_status status = KFE_OK;

    clear_lines(figure, f->points.count);
    KFE_TRY(kfe_i_figure_numbers(figure, x, &f->x_column, &f->x));
    KFE_TRY(kfe_i_figure_numbers(figure, y, &f->y_column, &f->y));
cleanup:
    return status;
}

/* The lines at x_limit, y_limit and −y_limit, from the least to the largest value of the other axis. */
static void fill_lines(kfe_i_flagged *f)
{
    int64_t first = f->points.count;
    double right = f->x_limit;
    double high = f->y_limit;
    double low = f->both_sides ? -f->y_limit : 0;

    for (int64_t i = 0; i < first; i++) {
        right = fmax(right, f->x[i]);
        high = fmax(high, f->y[i]);
        low = fmin(low, f->y[i]);
    }
    f->x[first] = f->x[first + 1] = f->x_limit;
    f->y[first] = low;
    f->y[first + 1] = high;
    for (int side = 0; side <= f->both_sides; side++) {
        int64_t at = first + 2 + 2 * side;
        f->x[at] = 0;
        f->x[at + 1] = 1.04 * right; /* so that the upright line stands off the frame */
        f->y[at] = f->y[at + 1] = side ? -f->y_limit : f->y_limit;
    }
}

/* From the axis of x to that of y. */
static void fill_sloping_line(kfe_i_flagged *f)
{
    int64_t first = f->points.count + 4;

    f->x[first] = f->x_together;
    f->y[first] = f->x[first + 1] = 0;
    f->y[first + 1] = f->y_together;
}

static kfe_status add_line(const kfe_i_flagged *f, kfe_i_figure *figure, const char *name, int64_t first)
{
    return kfe_i_figure_series(figure, name,
                               (kfe_i_series){.mark = KFE_MARK_LINE,
                                              .flags = KFE_SERIES_DASHED | KFE_SERIES_GREY,
                                              .first = first,
                                              .count = 2,
                                              .x = f->x_column,
                                              .y = f->y_column});
}

kfe_status kfe_i_flagged_series(kfe_i_flagged *f, kfe_i_figure *figure, const char *name)
{
    kfe_status status = KFE_OK;
    int64_t first = f->points.count;

    fill_lines(f);
    KFE_TRY(kfe_i_cloud_series(&f->points, figure, 1, (kfe_i_series){.x = f->x_column, .y = f->y_column}));
    KFE_TRY(add_line(f, figure, name, first));
    KFE_TRY(add_line(f, figure, NULL, first + 2));
    if (f->together_name)
        fill_sloping_line(f);
    KFE_TRY(add_line(f, figure, f->together_name, first + 4));
cleanup:
    return status;
}

static double share_of_limit(const kfe_i_flagged *f, int64_t i)
{
    double y = f->both_sides ? fabs(f->y[i]) : f->y[i];

    return fmax(f->x[i] / f->x_limit, y / f->y_limit);
}

/* The name of a row, or its number, which begins with "test" if there are training rows as well. */
static void name_row(const kfe_i_flagged *f, const kfe_i_figure *figure, int64_t row, char *name, size_t size)
{
    const kfe_i_column *label = &figure->columns[f->points.label - 1];
    const kfe_i_source *source = f->points.source;
    int is_other = source->train.data && f->points.items[row].set == &source->test;

    if (label->numbers)
        kfe_i_snprintf(name, size, "%s%.0f", is_other ? "test " : "", label->numbers[row]);
    else
        kfe_i_snprintf(name, size, "%s", label->words[label->codes[row]]);
}

kfe_status kfe_i_flagged_names(const kfe_i_flagged *f, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    kfe_i_sorted *order = NULL;
    int32_t *codes = NULL;
    char names[MOST_NAMED][64];
    const char *words[MOST_NAMED];
    int64_t count = 0;
    int column = 0;

    KFE_ALLOC(figure->ctx, order, f->points.count);
    for (int64_t i = 0; i < f->points.count; i++)
        order[i] = (kfe_i_sorted){share_of_limit(f, i), i};
    kfe_i_sort_falling(order, f->points.count);
    for (; count < MOST_NAMED && count < f->points.count && order[count].value > 1; count++) {
        words[count] = names[count];
        name_row(f, figure, order[count].index, names[count], sizeof names[count]);
        kfe_i_text_puts(&figure->caption, count ? ", " : " The most distant: ");
        kfe_i_text_add_shown(&figure->caption, names[count]);
    }
    kfe_i_text_puts(&figure->caption, count ? "." : "");
    KFE_TRY(kfe_i_figure_words(figure, "name", count, words, &column, &codes));
    for (int64_t i = 0; i < figure->rows; i++)
        codes[i] = -1;
    for (int64_t k = 0; k < count; k++)
        codes[order[k].index] = (int32_t)k;
    if (count > 0)
        KFE_TRY(kfe_i_figure_series(figure, NULL,
                                    (kfe_i_series){.mark = KFE_MARK_LABELS,
                                                   .count = f->points.count,
                                                   .x = f->x_column,
                                                   .y = f->y_column,
                                                   .label = column}));
cleanup:
    kfe_i_free(figure->ctx, order);
    return status;
}
