/* SPDX-License-Identifier: Apache-2.0 */
/* Text columns of data in memory: kfe_data_encode does for arrays what the reader's encode does for files. */
#include "data/set/encode.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

static kfe_status check_given(kfe_context *ctx, const kfe_data *data, const kfe_i_given_texts *given)
{
    const kfe_i_view *view = &data->views[0];
    int64_t last = -1;

    if (data->view_count != 1 || view->table.kind != KFE_TABLE_DENSE)
        return kfe_i_fail(ctx, KFE_EINVAL, "{encode} takes columns of one dense table, not of %s",
                          data->view_count > 1                ? "several views"
                          : view->table.kind == KFE_TABLE_CSR ? "sparse data"
                                                              : "strings");
    if (view->encoding.count > 0)
        return kfe_i_fail(ctx, KFE_EINVAL, "{encode}: the columns of this data are already encoded");
    for (int64_t e = 0; e < given->count; last = given->columns[e++])
        if (given->columns[e] <= last || given->columns[e] >= view->table.cols)
            return kfe_i_fail(
                ctx, KFE_EINVAL,
                "{encode}: columns are numbers from 0 to %lld that increase, but number %lld of "
                "them is %lld",
                (long long)view->table.cols - 1, (long long)e + 1, (long long)given->columns[e]);
    return KFE_OK;
}

/* Puts the number of each text into the table, which is a copy. */
static kfe_status number_texts(const kfe_i_given_texts *given, kfe_i_table *table, kfe_i_text_column *texts)
{
    kfe_status status = KFE_OK;

    for (int64_t e = 0; e < given->count; e++) {
        texts[e].column = given->columns[e];
        for (int64_t i = 0; i < table->rows; i++) {
            const char *text = given->texts[e * table->rows + i];
            int32_t number = 0;
            if (text)
                KFE_TRY(kfe_i_intern_add(&texts[e].words, text, (int64_t)strlen(text), &number));
            table->values[i * table->stride + given->columns[e]] = text ? number : (double)NAN;
        }
    }
cleanup:
    return status;
}

/* ---- rows of weight 0 ---- */

/* What goes of one view. */
typedef struct unused {
    unsigned char *gone; /* of each column */
    int64_t *place;      /* of each column that stays */
    int64_t kept;
} unused;

/* Whether a row that counts has this category; `opened` has NaN where a text is missing. */
static int is_used(const kfe_i_table *opened, const double *weights, int64_t column)
{
    for (int64_t i = 0; i < opened->rows; i++)
        if (weights[i] > 0 && kfe_i_table_value(opened, i, column) == 1)
            return 1;
    return 0;
}

static kfe_status find_unused(kfe_context *ctx, const kfe_i_view *view, const double *weights, unused *out)
{
    kfe_status status = KFE_OK;
    int64_t first = 0; /* column of the encoded one at hand */
    int64_t added = 0;
    kfe_i_table opened = {0};
    const kfe_i_table *table = &view->table;

    if (view->gaps.fill != KFE_FILL_NONE) {
        KFE_TRY(kfe_i_gaps_open(ctx, &view->table, &view->gaps, &opened));
        table = &opened;
    }
    KFE_ALLOC_ZERO(ctx, out->gone, table->cols);
    KFE_ALLOC(ctx, out->place, table->cols);
    for (int64_t e = 0; e < view->encoding.count; e++) {
        int64_t count = view->encoding.columns[e].count;
        int64_t used = 0;
        first = view->encoding.columns[e].column + added;
        for (int64_t k = first; k < first + count; k++)
            used += !(out->gone[k] = !is_used(table, weights, k));
        if (used == 0)
            KFE_FAIL(ctx, KFE_EINPUT,
                     "%s: a column of text has no value in any row of weight above 0, so there is nothing to "
                     "encode; leave it out",
                     kfe_i_view_shown(view));
        added += count - 1;
    }
    for (int64_t j = 0; j < table->cols; j++)
        out->place[j] = out->gone[j] ? -1 : out->kept++;
cleanup:
    kfe_i_table_free(&opened);
    return status;
}

/* Keeps the categories whose columns stay. */
static void shorten_encoding(kfe_i_encoding *encoding, const unused *u)
{
    int64_t added = 0;

    for (int64_t e = 0; e < encoding->count; e++) {
        kfe_i_categories *column = &encoding->columns[e];
        int64_t first = column->column + added;
        int64_t count = column->count;
        added += count - 1;
        column->count = 0;
        for (int64_t k = 0; k < count; k++)
            if (u->gone[first + k])
                kfe_i_free(encoding->ctx, column->words[k]);
            else
                column->words[column->count++] = column->words[k];
    }
}

static void shorten_names(kfe_i_view *view, const unused *u, int64_t cols)
{
    for (int64_t j = 0; view->column_names && j < cols; j++)
        if (u->gone[j])
            kfe_i_free(view->encoding.ctx, view->column_names[j]);
        else
            view->column_names[u->place[j]] = view->column_names[j];
}

static void shorten_gaps(kfe_i_gaps *gaps, const kfe_i_encoding *encoding, const unused *u, int64_t rows)
{
    int64_t begin = 0;
    int64_t kept = 0;

    if (gaps->fill == KFE_FILL_NONE)
        return;
    for (int64_t i = 0; i < rows; i++) {
        int64_t end = gaps->row_start[i + 1];
        for (int64_t p = begin; p < end; p++)
            if (!u->gone[gaps->columns[p]])
                gaps->columns[kept++] = (int32_t)u->place[gaps->columns[p]];
        begin = end;
        gaps->row_start[i + 1] = kept;
    }
    for (int64_t b = 0, added = 0; b < gaps->block_count; b++) {
        gaps->blocks[2 * b] = encoding->columns[b].column + added;
        gaps->blocks[2 * b + 1] = encoding->columns[b].count;
        added += encoding->columns[b].count - 1;
    }
}

static kfe_status drop_unused(kfe_context *ctx, kfe_i_view *view, const double *weights)
{
    kfe_status status = KFE_OK;
    unused u = {0};
    kfe_i_table rest = {0};
    int64_t cols = view->table.cols;

    KFE_TRY(find_unused(ctx, view, weights, &u));
    if (u.kept == cols)
        goto cleanup;
    KFE_TRY(kfe_i_table_new_dense(ctx, view->table.rows, u.kept, &rest));
    for (int64_t i = 0; i < rest.rows; i++)
        for (int64_t j = 0; j < cols; j++)
            if (!u.gone[j])
                rest.values[i * u.kept + u.place[j]] = kfe_i_table_value(&view->table, i, j);
    shorten_encoding(&view->encoding, &u);
    shorten_gaps(&view->gaps, &view->encoding, &u, rest.rows);
    shorten_names(view, &u, cols);
    kfe_i_table_free(&view->table);
    view->table = rest;
cleanup:
    kfe_i_free(ctx, u.gone);
    kfe_i_free(ctx, u.place);
    return status;
}

kfe_status kfe_i_data_drop_weightless_categories(kfe_context *ctx, kfe_data *data)
{
    kfe_status status = KFE_OK;
    const double *weights = data->target.weights;

    for (int v = 0; weights && v < data->view_count; v++)
        if (data->views[v].encoding.learned && data->views[v].encoding.count > 0)
            KFE_TRY(drop_unused(ctx, &data->views[v], weights));
cleanup:
    return status;
}

/* ---- encoding ---- */

kfe_status kfe_i_data_encode(kfe_context *ctx, kfe_data *data, const kfe_i_given_texts *given,
                             const kfe_i_encoding *known)
{
    kfe_status status = KFE_OK;
    kfe_i_view *view = &data->views[0];
    kfe_i_named_table source = {.names = &view->column_names, .shown = kfe_i_view_shown(view)};
    kfe_i_encoding encoding = {0};
    kfe_i_table copy = {0};
    kfe_i_text_column *texts = NULL;

    KFE_TRY(check_given(ctx, data, given));
    KFE_ALLOC_ZERO(ctx, texts, given->count);
    for (int64_t e = 0; e < given->count; e++)
        kfe_i_intern_init(&texts[e].words, ctx);
    KFE_TRY(kfe_i_table_copy(ctx, &view->table, &copy));
    KFE_TRY(number_texts(given, &copy, texts));
    source.table = &copy;
    if (known)
        KFE_TRY(kfe_i_encoding_copy(ctx, known, &encoding));
    else
        KFE_TRY(kfe_i_encoding_learn(ctx, given->count, texts, &source, &encoding));
    KFE_TRY(kfe_i_encoding_apply(ctx, &encoding, texts, &source));
    kfe_i_gaps_free(&view->gaps);
    kfe_i_table_free(&view->table);
    view->table = copy;
    view->encoding = encoding;
    copy = (kfe_i_table){0};
    encoding = (kfe_i_encoding){0};
    KFE_TRY(kfe_i_data_drop_weightless_categories(ctx, data));
cleanup:
    kfe_i_text_columns_free(ctx, texts ? given->count : 0, texts);
    kfe_i_encoding_free(&encoding);
    kfe_i_table_free(&copy);
    return status;
}

kfe_status kfe_data_encode(kfe_context *ctx, kfe_data *data, int64_t count, const int64_t *columns,
                           const char *const *texts)
{
    kfe_i_given_texts given = {count, columns, texts};

    return kfe_i_data_encode(ctx, data, &given, NULL);
}
