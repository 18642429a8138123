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
