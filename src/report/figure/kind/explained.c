/* SPDX-License-Identifier: Apache-2.0 */
/* Figures from the tables of an explanation; used by coefficients.c, loadings.c,
 * loading_weights.c, rotations.c, variance.c and vip.c. */
#include "report/figure/kind/explained.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"

enum { MOST_BARS = 40, MOST_SERIES = 8 };

int kfe_i_names_are_scale(int64_t count, const char *const *names)
{
    size_t prefix = count > 0 && names[0] ? strcspn(names[0], "0123456789") : 0;
    double last = -INFINITY;

    for (int64_t i = 0; i < count; i++) {
        double number = 0;
        if (!names[i] || strncmp(names[i], names[0], prefix) != 0 ||
            !kfe_i_parse_number(names[i] + prefix, names[i] + strlen(names[i]), &number) || number <= last)
            return 0;
        last = number;
    }
    return count > 0;
}

/* Columns named by numbers, such as wavelengths, are an axis of numbers. */
static int labels_are_numbers(const kfe_table *table)
{
    const char *const *names = kfe_table_column(table, 0)->texts;
    double number = 0;

    for (int64_t i = 0; names && i < table->rows; i++)
        if (!kfe_i_parse_number(names[i], names[i] + strlen(names[i]), &number))
            return 0;
    return names != NULL;
}

/* Whether the table has more rows than bars, and their names are not a scale. */
static int has_many_names(const kfe_table *table)
{
    const char *const *names = kfe_table_column(table, 0)->texts;

    return table->rows > MOST_BARS && names && !kfe_i_names_are_scale(table->rows, names);
}

/* What a row is sorted by: its first value or, of `series` that are drawn, the largest absolute one. */
static double size_of(const kfe_table *table, int64_t row, int series)
{
    double size = kfe_table_column(table, 1)->numbers[row];

    if (series == 0)
        return isfinite(size) ? size : 0;
    size = 0;
    for (int64_t c = 1; c < table->cols && c <= series; c++)
        size = fmax(size, fabs(kfe_table_column(table, c)->numbers[row]));
    return size;
}

/* The rows in the order in which they are drawn. */
static kfe_status order_rows(kfe_context *ctx, const kfe_table *table, int is_sorted, int series,
                             kfe_i_sorted **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, *out, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        (*out)[i] = (kfe_i_sorted){size_of(table, i, series), i};
    if (is_sorted)
        kfe_i_sort_falling(*out, table->rows);
cleanup:
    return status;
}

kfe_status kfe_i_add_row_labels(kfe_context *ctx, const kfe_table *table, const kfe_i_sorted *order,
                                kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_column *labels = kfe_table_column(table, 0);
    const char **words = NULL;
    int32_t *codes = NULL;
    double *numbers = NULL;
    int column = 0;

    if (!labels->texts) {
        KFE_TRY(kfe_i_figure_numbers(out, labels->name, &column, &numbers));
        for (int64_t i = 0; i < out->rows; i++)
            numbers[i] = (double)order[i].index + 1;
        goto cleanup;
    }
    KFE_ALLOC(ctx, words, out->rows);
    for (int64_t i = 0; i < out->rows; i++)
        words[i] = labels->texts[order[i].index];
    KFE_TRY(kfe_i_figure_words(out, labels->name, out->rows, words, &column, &codes));
    for (int64_t i = 0; i < out->rows; i++)
        codes[i] = (int32_t)i;
cleanup:
    kfe_i_free(ctx, words);
    return status;
}

static kfe_status add_number_labels(const kfe_table *table, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_column *labels = kfe_table_column(table, 0);
    double *numbers = NULL;
    int column = 0;

    KFE_TRY(kfe_i_figure_numbers(out, labels->name, &column, &numbers));
    for (int64_t i = 0; i < out->rows; i++)
        kfe_i_parse_number(labels->texts[i], labels->texts[i] + strlen(labels->texts[i]), &numbers[i]);
cleanup:
    return status;
}

static kfe_status add_table(const kfe_table *table, const kfe_i_sorted *order, int is_one, int most_series,
                            kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int is_single = table->cols == 2;

    for (int64_t c = 1; c < table->cols && c <= KFE_FIGURE_FEATURES; c++) {
        const kfe_column *from = kfe_table_column(table, c);
        char label[128];
        char both[256];
        double *values = NULL;
        kfe_i_series series = {.mark = out->rows > MOST_BARS ? KFE_MARK_LINE : KFE_MARK_BARS,
                               .style = (int)out->series_count,
                               .count = out->rows,
                               .x = 1};
        kfe_i_snprintf(label, sizeof label, "%s%s%s", kfe_i_result_is_numbered(table) ? from->about : "",
                       kfe_i_result_is_numbered(table) ? " " : "", from->name);
        const char *own = is_single ? table->name : label;
        kfe_i_snprintf(both, sizeof both, "%s, %s", table->name, own);
        const char *name = is_one || is_single ? own : both;
        KFE_TRY(kfe_i_figure_numbers(out, name, &series.y, &values));
        for (int64_t i = 0; i < out->rows; i++)
            values[i] = from->numbers[order[i].index];
        if (out->series_count < most_series)
            KFE_TRY(kfe_i_figure_series(out, is_one && is_single ? NULL : name, series));
    }
cleanup:
    return status;
}

static kfe_status fill(kfe_context *ctx, const kfe_result *explanation, const kfe_i_explained_kind *kind,
                       kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sorted *order = NULL;
    const kfe_table *first = kfe_result_find(explanation, kind->tables[0]);
    const kfe_table *second = kind->tables[1] ? kfe_result_find(explanation, kind->tables[1]) : NULL;
    int most = kind->most_series ? kind->most_series : MOST_SERIES;

    if (!first || first->rows == 0)
        return KFE_OK;
    int is_cut = kind->is_by_column && has_many_names(first);
    KFE_TRY(order_rows(ctx, first, kind->is_sorted || is_cut, is_cut ? most : 0, &order));
    is_cut |= kind->is_sorted && first->rows > MOST_BARS;
    kfe_i_figure_rows(out, is_cut ? MOST_BARS : first->rows);
    if (kind->is_by_column && !is_cut && labels_are_numbers(first))
        KFE_TRY(add_number_labels(first, out));
    else
        KFE_TRY(kfe_i_add_row_labels(ctx, first, order, out));
    KFE_TRY(add_table(first, order, !second, most, out));
    if (second && second->rows == first->rows)
        KFE_TRY(add_table(second, order, 0, most, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, kind->x, kind->y));
    out->panels[0].reference = kind->is_by_column ? KFE_REFERENCE_ZERO : KFE_REFERENCE_NONE;
    kfe_i_text_puts(&out->caption, kind->caption);
    if (out->rows < first->rows)
        kfe_i_text_printf(&out->caption, " The %lld largest of %lld.", (long long)out->rows,
                          (long long)first->rows);
    if (kind->most_series && first->cols - 1 > kind->most_series)
        kfe_i_text_printf(&out->caption, " The first %d of %lld features.", kind->most_series,
                          (long long)first->cols - 1);
cleanup:
    kfe_i_free(ctx, order);
    return status;
}

kfe_status kfe_i_draw_explained(kfe_context *ctx, const kfe_i_source *source,
                                const kfe_i_explained_kind *kind, kfe_i_figure *out)
{
    kfe_result *explanation = NULL;
    kfe_log_fn log = ctx->log;

    if (!source->model || source->model->projector != KFE_PROJECT_LINEAR)
        return KFE_OK;
    ctx->log = NULL; /* a model without loadings lacks the figure; that is no news */
    kfe_status status = kfe_explain(ctx, source->model, NULL, "parts=linear", &explanation);
    ctx->log = log;
    if (status == KFE_EUNSUPPORTED || status == KFE_EINVAL) /* nothing to explain */
        return KFE_OK;
    if (status == KFE_OK)
        status = fill(ctx, explanation, kind, out);
    kfe_result_free(explanation);
    return status;
}
