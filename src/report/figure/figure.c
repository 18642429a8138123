/* SPDX-License-Identifier: Apache-2.0 */
/* Builds figures, finds them by name and writes their tables as CSV; used by every file of this folder. */
#include "report/figure/figure.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"

#define KFE_FIGURE(name) extern const kfe_i_figure_kind kfe_i_figure_##name;
#include "report/figure/figures.def"
#undef KFE_FIGURE

static const kfe_i_figure_kind *const kinds[] = {
#define KFE_FIGURE(name) &kfe_i_figure_##name,
#include "report/figure/figures.def"
#undef KFE_FIGURE
};

const kfe_i_figure_kind *kfe_i_figure_at(int index)
{
    return index >= 0 && (size_t)index < sizeof kinds / sizeof *kinds ? kinds[index] : NULL;
}

kfe_status kfe_i_figure_find(kfe_context *ctx, const char *name, const kfe_i_figure_kind **out)
{
    const kfe_i_figure_kind *kind;
    const char *best = NULL;
    int least = 0;

    for (int i = 0; (kind = kfe_i_figure_at(i)); i++) {
        int typos = kfe_count_typos(name, kind->name);
        if (kfe_i_same_name(name, kind->name)) {
            *out = kind;
            return KFE_OK;
        }
        if (typos >= 0 && (!best || typos < least)) {
            best = kind->name;
            least = typos;
        }
    }
    return kfe_i_fail(ctx, KFE_EINVAL, "there is no figure '%s'%s%s%s; {figures} lists them", name,
                      best ? " (did you mean " : "", best ? best : "", best ? "?)" : "");
}

/* ---- building ---- */

static void column_free(kfe_context *ctx, kfe_i_column *column)
{
    for (int64_t w = 0; column->words && w < column->word_count; w++)
        kfe_i_free(ctx, column->words[w]);
    kfe_i_free(ctx, column->words);
    kfe_i_free(ctx, column->codes);
    kfe_i_free(ctx, column->numbers);
    kfe_i_free(ctx, column->title);
    kfe_i_free(ctx, column->name);
}

void kfe_i_figure_free(kfe_i_figure *figure)
{
    kfe_context *ctx = figure->ctx;

    if (!ctx)
        return;
    for (int64_t c = 0; c < figure->column_count; c++)
        column_free(ctx, &figure->columns[c]);
    for (int64_t p = 0; p < figure->panel_count; p++) {
        kfe_i_free(ctx, figure->panels[p].title);
        kfe_i_free(ctx, figure->panels[p].x.title);
        kfe_i_free(ctx, figure->panels[p].y.title);
        kfe_i_free(ctx, figure->panels[p].z.title);
    }
    for (int64_t s = 0; s < figure->series_count; s++)
        kfe_i_free(ctx, figure->series[s].name);
    kfe_i_free(ctx, figure->columns);
    kfe_i_free(ctx, figure->panels);
    kfe_i_free(ctx, figure->series);
    kfe_i_text_free(&figure->caption);
    memset(figure, 0, sizeof *figure);
}

kfe_status kfe_i_figure_draw(kfe_context *ctx, const kfe_i_figure_kind *kind, const kfe_i_source *source,
                             kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_figure){.ctx = ctx, .kind = kind, .across = 1};
    kfe_i_text_init(&out->caption, ctx);
    KFE_TRY(kind->draw(ctx, source, out));
    KFE_TRY(out->caption.status);
cleanup:
    return status;
}

static kfe_status new_column(kfe_i_figure *figure, const char *name, kfe_i_column **out)
{
    kfe_status status = KFE_OK;

    KFE_GROW(figure->ctx, figure->columns, figure->column_capacity, figure->column_count + 1);
    *out = &figure->columns[figure->column_count++];
    memset(*out, 0, sizeof **out);
    KFE_STRDUP(figure->ctx, (*out)->name, name);
cleanup:
    return status;
}

kfe_status kfe_i_figure_numbers(kfe_i_figure *figure, const char *name, int *column, double **values)
{
    kfe_status status = KFE_OK;
    kfe_i_column *new = NULL;

    KFE_TRY(new_column(figure, name, &new));
    KFE_ALLOC_ZERO(figure->ctx, new->numbers, figure->rows);
    *values = new->numbers;
    if (column)
        *column = (int)figure->column_count;
cleanup:
    return status;
}

kfe_status kfe_i_figure_copy(kfe_i_figure *figure, const char *name, const double *numbers)
{
    kfe_status status = KFE_OK;
    double *values = NULL;

    KFE_TRY(kfe_i_figure_numbers(figure, name, NULL, &values));
    for (int64_t i = 0; i < figure->rows; i++)
        values[i] = numbers[i];
cleanup:
    return status;
}

kfe_status kfe_i_figure_words(kfe_i_figure *figure, const char *name, int64_t count, const char *const *words,
                              int *column, int32_t **codes)
{
    kfe_status status = KFE_OK;
    kfe_i_column *new = NULL;

    KFE_TRY(new_column(figure, name, &new));
    KFE_ALLOC_ZERO(figure->ctx, new->codes, figure->rows);
    KFE_ALLOC_ZERO(figure->ctx, new->words, count);
    for (int64_t w = 0; w < count; w++) {
        KFE_STRDUP(figure->ctx, new->words[w], words[w]);
        new->word_count++;
    }
    *codes = new->codes;
    if (column)
        *column = (int)figure->column_count;
cleanup:
    return status;
}

kfe_status kfe_i_figure_labels(kfe_i_figure *figure, const char *name, const char *const *words)
{
    kfe_status status = KFE_OK;
    int32_t *codes = NULL;

    KFE_TRY(kfe_i_figure_words(figure, name, figure->rows, words, NULL, &codes));
    for (int64_t i = 0; i < figure->rows; i++)
        codes[i] = (int32_t)i;
cleanup:
    return status;
}

kfe_status kfe_i_figure_panel(kfe_i_figure *figure, const char *title, const char *x, const char *y)
{
    kfe_status status = KFE_OK;
    kfe_i_panel *panel = NULL;

    KFE_GROW(figure->ctx, figure->panels, figure->panel_capacity, figure->panel_count + 1);
    panel = &figure->panels[figure->panel_count++];
    memset(panel, 0, sizeof *panel);
    if (title)
        KFE_STRDUP(figure->ctx, panel->title, title);
    KFE_STRDUP(figure->ctx, panel->x.title, x);
    KFE_STRDUP(figure->ctx, panel->y.title, y);
cleanup:
    return status;
}

kfe_status kfe_i_figure_series(kfe_i_figure *figure, const char *name, kfe_i_series series)
{
    kfe_status status = KFE_OK;

    series.name = NULL;
    KFE_GROW(figure->ctx, figure->series, figure->series_capacity, figure->series_count + 1);
    if (name)
        KFE_STRDUP(figure->ctx, series.name, name);
    figure->series[figure->series_count++] = series;
cleanup:
    return status;
}

void kfe_i_axis_range(kfe_i_axis *axis, double low, double high)
{
    axis->has_range = 1;
    axis->low = low;
    axis->high = high;
}

const char *kfe_i_figure_title_of(const kfe_i_figure *figure, int column)
{
    const kfe_i_column *shown = &figure->columns[column - 1];

    return shown->title ? shown->title : shown->name;
}

/* "rbf:gamma=0.0138949549437" as "rbf:gamma=0.01389". */
static void put_rounded(kfe_i_text *out, const char *kernel)
{
    while (*kernel) {
        size_t length = strcspn(kernel, "=") + (strchr(kernel, '=') != NULL);
        size_t digits = strcspn(kernel + length, ",");
        double number = 0;
        kfe_i_text_add(out, kernel, (int64_t)length);
        if (kfe_i_parse_number(kernel + length, kernel + length + digits, &number))
            kfe_i_text_printf(out, "%.4g", number);
        else
            kfe_i_text_add(out, kernel + length, (int64_t)digits);
        kernel += length + digits;
    }
}

kfe_status kfe_i_name_kernels(kfe_context *ctx, const kfe_model *model, char **names)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < model->kernels.count; m++) {
        const kfe_i_kernel *kernel = &model->kernels.items[m];
        kfe_i_text name;
        char *text = NULL;
        KFE_TRY(kfe_i_kernel_text(ctx, kernel, &text));
        kfe_i_text_init(&name, ctx);
        if (model->view_count > 1)
            kfe_i_text_printf(&name, "%s: ", model->views[kernel->view].name);
        put_rounded(&name, text);
        kfe_i_free(ctx, text);
        KFE_TRY(kfe_i_text_take(&name, &names[m]));
    }
cleanup:
    return status;
}

/* ---- CSV ---- */

static void put_row(kfe_i_text *text, const kfe_i_figure *figure, int64_t row)
{
    for (int64_t c = 0; c < figure->column_count; c++) {
        const kfe_i_column *column = &figure->columns[c];
        char number[KFE_NUMBER_TEXT];
        kfe_i_text_puts(text, c ? "," : "");
        if (column->numbers && isfinite(column->numbers[row])) {
            kfe_i_format_number(column->numbers[row], number);
            kfe_i_text_puts(text, number);
        } else if (!column->numbers && column->codes[row] >= 0) {
            kfe_i_text_add_csv(text, column->words[column->codes[row]]);
        }
    }
    kfe_i_text_puts(text, "\n");
}

kfe_status kfe_i_figure_csv(kfe_context *ctx, const kfe_i_figure *figure, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    for (int64_t c = 0; c < figure->column_count; c++) {
        kfe_i_text_puts(&text, c ? "," : "");
        kfe_i_text_add_csv(&text, figure->columns[c].name);
    }
    kfe_i_text_puts(&text, "\n");
    for (int64_t row = 0; row < figure->rows; row++)
        put_row(&text, figure, row);
    return kfe_i_text_take(&text, out);
}
