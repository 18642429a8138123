/* SPDX-License-Identifier: Apache-2.0 */
/* Figures from the tables of an explanation; used by coefficients.c, loadings.c, variance.c and vip.c. */
#include "report/figure/kind/explained.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"

enum { MOST_BARS = 40, MOST_SERIES = 8 };

/* The number of the table of that name; -1: there is none. */
static int find_table(const kfe_explanation *explanation, const char *name, kfe_explained *out)
{
    for (int i = 0; name && kfe_explanation_table(explanation, i, out); i++)
        if (strcmp(out->name, name) == 0)
            return i;
    return -1;
}

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

/* Whether the table has more rows than bars, and their names are not a scale. */
static kfe_status has_many_names(kfe_context *ctx, const kfe_explanation *explanation, int index, int *out)
{
    kfe_status status = KFE_OK;
    kfe_explained table = {0};
    const char **names = NULL;

    *out = 0;
    kfe_explanation_table(explanation, index, &table);
    if (table.rows <= MOST_BARS)
        return KFE_OK;
    KFE_ALLOC(ctx, names, table.rows);
    for (int64_t i = 0; i < table.rows; i++)
        names[i] = kfe_explanation_row_label(explanation, index, i);
    *out = names[0] && !kfe_i_names_are_scale(table.rows, names);
cleanup:
    kfe_i_free(ctx, names);
    return status;
}

/* What a row is sorted by: its first value, or the largest absolute one of the series that are drawn. */
static double size_of(const kfe_explained *table, int64_t row, int is_absolute)
{
    double size = table->values[row * table->cols];

    if (!is_absolute)
        return isfinite(size) ? size : 0;
    for (int64_t c = 0; c < table->cols && c < MOST_SERIES; c++)
        size = fmax(c == 0 ? 0 : size, fabs(table->values[row * table->cols + c]));
    return size;
}

/* The rows in the order in which they are drawn. */
static kfe_status order_rows(kfe_context *ctx, const kfe_explained *table, int is_sorted, int is_absolute,
                             kfe_i_sorted **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, *out, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        (*out)[i] = (kfe_i_sorted){size_of(table, i, is_absolute), i};
    if (is_sorted)
        kfe_i_sort_falling(*out, table->rows);
cleanup:
    return status;
}

static kfe_status add_labels(kfe_context *ctx, const kfe_explanation *explanation, int index,
                             const kfe_i_sorted *order, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_explained table = {0};
    const char **words = NULL;
    int32_t *codes = NULL;
    double *numbers = NULL;
    int column = 0;

    kfe_explanation_table(explanation, index, &table);
    if (!kfe_explanation_row_label(explanation, index, 0)) {
        KFE_TRY(kfe_i_figure_numbers(out, table.row_axis, &column, &numbers));
        for (int64_t i = 0; i < out->rows; i++)
            numbers[i] = (double)order[i].index + 1;
        goto cleanup;
    }
    KFE_ALLOC(ctx, words, out->rows);
    for (int64_t i = 0; i < out->rows; i++)
        words[i] = kfe_explanation_row_label(explanation, index, order[i].index);
    KFE_TRY(kfe_i_figure_words(out, table.row_axis, out->rows, words, &column, &codes));
    for (int64_t i = 0; i < out->rows; i++)
        codes[i] = (int32_t)i;
cleanup:
    kfe_i_free(ctx, words);
    return status;
}

static kfe_status add_table(const kfe_explanation *explanation, int index, const kfe_i_sorted *order,
                            int is_one, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_explained table = {0};

    kfe_explanation_table(explanation, index, &table);
    for (int64_t c = 0; c < table.cols && c < KFE_FIGURE_FEATURES; c++) {
        const char *label = kfe_explanation_col_label(explanation, index, c);
        char number[32];
        double *values = NULL;
        kfe_i_series series = {.mark = out->rows > MOST_BARS ? KFE_MARK_LINE : KFE_MARK_BARS,
                               .style = (int)out->series_count,
                               .count = out->rows,
                               .x = 1};
        kfe_i_snprintf(number, sizeof number, "%s %lld", table.col_axis, (long long)c + 1);
        const char *own = table.cols == 1 ? table.name : label ? label : number;
        char both[128];
        kfe_i_snprintf(both, sizeof both, "%s, %s", table.name, own);
        const char *name = is_one || table.cols == 1 ? own : both;
        KFE_TRY(kfe_i_figure_numbers(out, name, &series.y, &values));
        for (int64_t i = 0; i < out->rows; i++)
            values[i] = table.values[order[i].index * table.cols + c];
        if (out->series_count < MOST_SERIES)
            KFE_TRY(kfe_i_figure_series(out, is_one && table.cols == 1 ? NULL : name, series));
    }
cleanup:
    return status;
}

static kfe_status fill(kfe_context *ctx, const kfe_explanation *explanation, const kfe_i_explained_kind *kind,
                       kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sorted *order = NULL;
    kfe_explained tables[2] = {{0}, {0}};
    int first = find_table(explanation, kind->tables[0], &tables[0]);
    int second = find_table(explanation, kind->tables[1], &tables[1]);
    int is_cut = 0;

    if (first < 0 || tables[0].rows == 0)
        return KFE_OK;
    if (kind->is_by_column)
        KFE_TRY(has_many_names(ctx, explanation, first, &is_cut));
    KFE_TRY(order_rows(ctx, &tables[0], kind->is_sorted || is_cut, is_cut, &order));
    is_cut |= kind->is_sorted && tables[0].rows > MOST_BARS;
    kfe_i_figure_rows(out, is_cut ? MOST_BARS : tables[0].rows);
    KFE_TRY(add_labels(ctx, explanation, first, order, out));
    KFE_TRY(add_table(explanation, first, order, second < 0, out));
    if (second >= 0 && tables[1].rows == tables[0].rows)
        KFE_TRY(add_table(explanation, second, order, 0, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, kind->x, kind->y));
    kfe_i_text_puts(&out->caption, kind->caption);
    if (out->rows < tables[0].rows)
        kfe_i_text_printf(&out->caption, " The %lld largest of %lld.", (long long)out->rows,
                          (long long)tables[0].rows);
cleanup:
    kfe_i_free(ctx, order);
    return status;
}

kfe_status kfe_i_draw_explained(kfe_context *ctx, const kfe_i_source *source,
                                const kfe_i_explained_kind *kind, kfe_i_figure *out)
{
    kfe_explanation *explanation = NULL;

    if (!source->model || source->model->projector != KFE_PROJECT_LINEAR)
        return KFE_OK;
    kfe_status status = kfe_explain(ctx, source->model, NULL, "parts=linear", &explanation);
    if (status == KFE_EUNSUPPORTED || status == KFE_EINVAL) /* nothing to explain */
        return KFE_OK;
    if (status == KFE_OK)
        status = fill(ctx, explanation, kind, out);
    kfe_explanation_free(explanation);
    return status;
}
