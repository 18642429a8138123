/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `outliers`: Hotelling's T² and Q residuals of examples, with their limits. */
#include <math.h>

#include "core/memory.h"
#include "core/sort.h"
#include "explain/diagnostics.h"
#include "report/figure/kind/cloud.h"

/* The level of the limits. */
#define LEVEL 0.95

enum { LINE_ROWS = 4, MOST_NAMED = 12 };

/* Examples by both distances. The table ends with the ends of the two lines. */
typedef struct distances {
    kfe_i_cloud points;
    kfe_matrix train, test;
    double limits[KFE_DIAGNOSTICS];
    double *t2, *q; /* columns of the table */
    int t2_column, q_column;
    int64_t above;
} distances;

static kfe_status measure_set(kfe_context *ctx, const kfe_i_source *source, const kfe_i_set *set,
                              double *limits, kfe_matrix *out)
{
    if (!set->data)
        return KFE_OK;
    return kfe_diagnose(ctx, source->model, set->gathered ? set->gathered : set->data, LEVEL, out, limits);
}

static const double *row_of(const distances *d, int64_t i)
{
    const kfe_i_cloud_point *point = &d->points.items[i];
    const kfe_matrix *values = point->set == &d->points.source->test ? &d->test : &d->train;

    return values->values + point->row * values->stride;
}

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

static void fill_lines(distances *d, int64_t first)
{
    double high_t2 = d->limits[KFE_DIAGNOSTIC_T2];
    double high_q = d->limits[KFE_DIAGNOSTIC_Q];

    for (int64_t i = 0; i < first; i++) {
        high_t2 = fmax(high_t2, d->t2[i]);
        high_q = fmax(high_q, d->q[i]);
    }
    d->t2[first] = d->t2[first + 1] = d->limits[KFE_DIAGNOSTIC_T2];
    d->q[first] = d->t2[first + 2] = 0;
    d->q[first + 1] = high_q;
    d->t2[first + 3] = high_t2;
    d->q[first + 2] = d->q[first + 3] = d->limits[KFE_DIAGNOSTIC_Q];
}

static kfe_status fill(distances *d, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    clear_lines(out, d->points.count);
    KFE_TRY(kfe_i_figure_numbers(out, "T²", &d->t2_column, &d->t2));
    KFE_TRY(kfe_i_figure_numbers(out, "Q", &d->q_column, &d->q));
    for (int64_t i = 0; i < d->points.count; i++) {
        const double *row = row_of(d, i);
        d->t2[i] = row[KFE_DIAGNOSTIC_T2];
        d->q[i] = row[KFE_DIAGNOSTIC_Q];
        d->above += row[KFE_DIAGNOSTIC_OUTLIER] > 0;
    }
    fill_lines(d, d->points.count);
cleanup:
    return status;
}

static kfe_status add_limit(const distances *d, kfe_i_figure *out, const char *name, int64_t first)
{
    return kfe_i_figure_series(out, name,
                               (kfe_i_series){.mark = KFE_MARK_LINE,
                                              .flags = KFE_SERIES_DASHED | KFE_SERIES_GREY,
                                              .first = first,
                                              .count = 2,
                                              .x = d->t2_column,
                                              .y = d->q_column});
}

static double share_of_limit(const distances *d, int64_t i)
{
    return fmax(d->t2[i] / d->limits[KFE_DIAGNOSTIC_T2], d->q[i] / d->limits[KFE_DIAGNOSTIC_Q]);
}

/* The name of a row, or its number, which begins with "test" if there are training rows as well. */
static void name_row(const distances *d, const kfe_i_figure *out, int64_t row, char *name, size_t size)
{
    const kfe_i_column *label = &out->columns[d->points.label - 1];
    const kfe_i_source *source = d->points.source;
    int is_other = source->train.data && d->points.items[row].set == &source->test;

    if (label->numbers)
        kfe_i_snprintf(name, size, "%s%.0f", is_other ? "test " : "", label->numbers[row]);
    else
        kfe_i_snprintf(name, size, "%s", label->words[label->codes[row]]);
}

/* The most distant of the rows above a limit, by their share of it, stand in the caption and beside their points. */
static kfe_status name_rows(const distances *d, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sorted *order = NULL;
    int32_t *codes = NULL;
    char names[MOST_NAMED][64];
    const char *words[MOST_NAMED];
    int64_t count = 0;
    int column = 0;

    KFE_ALLOC(out->ctx, order, d->points.count);
    for (int64_t i = 0; i < d->points.count; i++)
        order[i] = (kfe_i_sorted){share_of_limit(d, i), i};
    kfe_i_sort_falling(order, d->points.count);
    for (; count < MOST_NAMED && count < d->points.count && order[count].value > 1; count++) {
        words[count] = names[count];
        name_row(d, out, order[count].index, names[count], sizeof names[count]);
        kfe_i_text_puts(&out->caption, count ? ", " : " The most distant: ");
        kfe_i_text_add_shown(&out->caption, names[count]);
    }
    kfe_i_text_puts(&out->caption, count ? "." : "");
    KFE_TRY(kfe_i_figure_words(out, "name", count, words, &column, &codes));
    for (int64_t i = 0; i < out->rows; i++)
        codes[i] = -1;
    for (int64_t k = 0; k < count; k++)
        codes[order[k].index] = (int32_t)k;
    if (count > 0)
        KFE_TRY(kfe_i_figure_series(out, NULL,
                                    (kfe_i_series){.mark = KFE_MARK_LABELS,
                                                   .count = d->points.count,
                                                   .x = d->t2_column,
                                                   .y = d->q_column,
                                                   .label = column}));
cleanup:
    kfe_i_free(out->ctx, order);
    return status;
}

static kfe_status write_caption(const distances *d, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    kfe_i_text_printf(
        &out->caption,
        "Hotelling's T², the distance from the centre of the training data within the features, and Q, the "
        "squared residual off the features. A share of 0.95 of examples like the training data is below "
        "each dashed limit; %lld of %lld are above one.",
        (long long)d->above, (long long)d->points.count);
    KFE_TRY(name_rows(d, out));
    kfe_i_cloud_caption(&d->points, out);
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    distances d = {0};

    if (!source->model || (!source->train.data && !source->test.data) || kfe_i_not_diagnosed(source->model) ||
        kfe_i_no_residuals(source->model))
        return KFE_OK;
    KFE_TRY(measure_set(ctx, source, &source->train, d.limits, &d.train));
    KFE_TRY(measure_set(ctx, source, &source->test, d.limits, &d.test));
    if (isnan(d.limits[KFE_DIAGNOSTIC_T2]) || isnan(d.limits[KFE_DIAGNOSTIC_Q]))
        goto cleanup;
    out->rows = LINE_ROWS;
    KFE_TRY(kfe_i_cloud_begin(ctx, source, KFE_FIGURE_POINTS, out, &d.points));
    KFE_TRY(fill(&d, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "Hotelling's T²", "Q residual"));
    KFE_TRY(kfe_i_cloud_series(&d.points, out, 1, (kfe_i_series){.x = d.t2_column, .y = d.q_column}));
    KFE_TRY(add_limit(&d, out, "95 % limits", d.points.count));
    KFE_TRY(add_limit(&d, out, NULL, d.points.count + 2));
    KFE_TRY(write_caption(&d, out));
cleanup:
    kfe_matrix_free(&d.train);
    kfe_matrix_free(&d.test);
    kfe_i_cloud_free(&d.points);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_outliers = {
    .name = "outliers",
    .title = "Distance from the training data",
    .section = "Quality",
    .summary = "Hotelling's T² against Q residuals, with limits",
    .needs = "data and a linear model whose features do not explain all columns",
    .draw = draw,
};
