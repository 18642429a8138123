/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `estimate`, a table: every metric over the test parts of a cross-validation or comparison, with the setting that was
 * chosen. */
#include <string.h>

#include "core/memory.h"
#include "report/figure/figure.h"
#include "report/read.h"

/* One metric of one method. */
typedef struct line {
    const char *method, *metric;
    double mean, error, sd, splits;
    char *setting; /* that all data would be fitted with; "" if nothing was chosen */
} line;

typedef struct lines {
    kfe_context *ctx;
    int64_t count, capacity;
    line *items;
    int has_grid, is_nested; /* settings were chosen; inside each training part */
} lines;

static void free_lines(lines *all)
{
    for (int64_t i = 0; i < all->count; i++)
        kfe_i_free(all->ctx, all->items[i].setting);
    kfe_i_free(all->ctx, all->items);
}

/* "gamma=0.1, C=10" */
static kfe_status write_setting(kfe_context *ctx, const kfe_table *table, int64_t row, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_puts(&text, "");
    kfe_i_result_put_group(table, "best", row, ", ", &text);
    return kfe_i_text_take(&text, out);
}

/* The lines of one assessment, a row of the methods or of the facts. */
static kfe_status add_method(lines *all, const kfe_table *splits, const kfe_table *table, int64_t row,
                             const char *label)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    const kfe_column *metric;

    (void)kfe_i_result_first(splits, row, &count);
    for (int64_t m = 0; label && (metric = kfe_i_metric_column(splits, m)); m++) {
        const kfe_i_estimate estimate = kfe_i_read_estimate(table, row, metric->name);
        KFE_GROW(all->ctx, all->items, all->capacity, all->count + 1);
        line *item = &all->items[all->count++];
        *item = (line){
            label, kfe_i_last_part(metric->name), estimate.mean, estimate.error, estimate.sd, (double)count,
            NULL};
        KFE_TRY(write_setting(all->ctx, table, row, &item->setting));
        all->has_grid |= item->setting[0] != '\0';
    }
    all->is_nested |= kfe_i_result_at(table, "nested", row) > 0;
cleanup:
    return status;
}

static kfe_status read_lines(const kfe_i_source *source, lines *all)
{
    kfe_status status = KFE_OK;
    const kfe_table *methods = kfe_result_find(source->results, "methods");
    const kfe_table *table = methods ? methods : kfe_result_find(source->results, "facts");

    for (int64_t row = 0; table && row < table->rows; row++)
        KFE_TRY(add_method(all, kfe_result_find(source->results, "splits"), table, row,
                           kfe_i_result_word(table, methods ? "label" : "method", row)));
cleanup:
    return status;
}

/* Words of a line, one for each row of the table. */
static kfe_status add_words(const lines *all, const char *name, const char **words, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int32_t *codes = NULL;
    int column = 0;

    KFE_TRY(kfe_i_figure_words(out, name, all->count, words, &column, &codes));
    for (int64_t i = 0; i < all->count; i++)
        codes[i] = (int32_t)i;
cleanup:
    return status;
}

static kfe_status fill(const lines *all, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char **words = NULL;
    double *values[4] = {NULL, NULL, NULL, NULL};
    int column = 0;

    KFE_ALLOC(all->ctx, words, all->count);
    kfe_i_figure_rows(out, all->count);
    for (int64_t i = 0; i < all->count; i++)
        words[i] = all->items[i].method;
    KFE_TRY(add_words(all, "method", words, out));
    for (int64_t i = 0; i < all->count; i++)
        words[i] = all->items[i].metric;
    KFE_TRY(add_words(all, "metric", words, out));
    KFE_TRY(kfe_i_figure_numbers(out, "mean", &column, &values[0]));
    KFE_TRY(kfe_i_figure_numbers(out, "standard error", &column, &values[1]));
    KFE_TRY(kfe_i_figure_numbers(out, "standard deviation", &column, &values[2]));
    KFE_TRY(kfe_i_figure_numbers(out, "test parts", &column, &values[3]));
    for (int64_t i = 0; i < all->count; i++) {
        values[0][i] = all->items[i].mean;
        values[1][i] = all->items[i].error;
        values[2][i] = all->items[i].sd;
        values[3][i] = all->items[i].splits;
        words[i] = all->items[i].setting;
    }
    if (all->has_grid)
        KFE_TRY(add_words(all, "setting chosen", words, out));
cleanup:
    kfe_i_free(all->ctx, words);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    lines all = {.ctx = ctx};

    KFE_TRY(read_lines(source, &all));
    if (all.count == 0)
        goto cleanup;
    KFE_TRY(fill(&all, out));
    kfe_i_text_puts(&out->caption, "Mean over the test parts of the splits, its standard error, and the "
                                   "standard deviation over these parts.");
    if (all.has_grid)
        kfe_i_text_puts(&out->caption,
                        all.is_nested
                            ? " Settings were chosen again inside each training part, so that the test parts "
                              "judge the choice too. The setting shown is the one chosen on all splits."
                            : " Settings were chosen on these splits, so that the numbers are somewhat too "
                              "good.");
cleanup:
    free_lines(&all);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_estimate = {
    .name = "estimate",
    .title = "Estimated quality",
    .section = "Choice",
    .summary = "every metric over the test parts of a search, with the setting chosen, as a table",
    .needs = "the JSON of cv or compare",
    .draw = draw,
};
