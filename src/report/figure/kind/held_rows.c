/* SPDX-License-Identifier: Apache-2.0 */
/* The table of figures that draw held-out predictions of numbers. Several targets: the first one. */
#include "report/figure/kind/held_rows.h"

#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "text/read.h"

/* The rows of the set that are shown. */
static kfe_status choose(kfe_context *ctx, int64_t rows, int64_t **out, int64_t *count)
{
    kfe_status status = KFE_OK;
    kfe_i_rng rng;

    KFE_ALLOC(ctx, *out, rows);
    *count = rows < KFE_FIGURE_POINTS ? rows : KFE_FIGURE_POINTS;
    for (int64_t i = 0; i < rows; i++)
        (*out)[i] = i;
    kfe_i_rng_init(&rng, ctx->seed, KFE_STREAM_FIGURES);
    if (*count < rows)
        kfe_i_rng_choose(&rng, rows, *count, *out);
    kfe_i_sort_rows(*out, *count);
cleanup:
    return status;
}

/* The name of each row in the data, or its number. */
static kfe_status add_names(const kfe_i_source *source, const int64_t *shown, kfe_i_figure *figure)
{
    kfe_status status = KFE_OK;
    const kfe_table *table = kfe_result_find(source->results, "held_out");
    const kfe_column *ids = kfe_table_find(table, "id");
    const char **words = NULL;
    double *numbers = NULL;

    if (!ids || !ids->texts) {
        KFE_TRY(kfe_i_figure_numbers(figure, "row", NULL, &numbers));
        for (int64_t k = 0; k < figure->rows; k++)
            numbers[k] = kfe_i_result_at(table, "row", source->held_out.origin[shown[k]]);
        return KFE_OK;
    }
    KFE_ALLOC(figure->ctx, words, figure->rows);
    for (int64_t k = 0; k < figure->rows; k++)
        words[k] = kfe_i_result_shown(table, "id", source->held_out.origin[shown[k]]);
    KFE_TRY(kfe_i_figure_labels(figure, "row", words));
cleanup:
    kfe_i_free(figure->ctx, words);
    return status;
}

static kfe_status add_columns(const kfe_i_source *source, const int64_t *shown, kfe_i_figure *figure,
                              kfe_i_held_rows *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_outcome *outcome = &source->held_out.outcome;
    const kfe_table *table = kfe_result_find(source->results, "held_out");
    double *values[4] = {NULL};

    out->row = 1;
    KFE_TRY(add_names(source, shown, figure));
    KFE_TRY(kfe_i_figure_numbers(figure, "split", NULL, &values[0]));
    KFE_TRY(kfe_i_figure_numbers(figure, "true value", &out->truth, &values[1]));
    KFE_TRY(kfe_i_figure_numbers(figure, "predicted value", &out->predicted, &values[2]));
    KFE_TRY(kfe_i_figure_numbers(figure, "residual", &out->residual, &values[3]));
    for (int64_t k = 0; k < figure->rows; k++) {
        values[0][k] = kfe_i_result_at(table, "split", source->held_out.origin[shown[k]]);
        values[1][k] = outcome->truth_values[shown[k] * outcome->cols];
        values[2][k] = outcome->predicted_values[shown[k] * outcome->cols];
        values[3][k] = values[1][k] - values[2][k];
    }
cleanup:
    return status;
}

kfe_status kfe_i_held_rows_add(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *figure,
                               kfe_i_held_rows *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = &source->held_out;
    int64_t *shown = NULL;

    KFE_TRY(choose(ctx, set->rows, &shown, &figure->rows));
    KFE_TRY(add_columns(source, shown, figure, out));
    kfe_i_text_puts(&figure->caption,
                    " Each example was predicted by a fit on training rows that leave it out.");
    if (set->outcome.cols > 1)
        kfe_i_text_printf(&figure->caption, " The first of %lld targets.", (long long)set->outcome.cols);
    if (figure->rows < set->rows)
        kfe_i_text_printf(&figure->caption, " %lld of %lld predictions, chosen at random.",
                          (long long)figure->rows, (long long)set->rows);
cleanup:
    kfe_i_free(ctx, shown);
    return status;
}
