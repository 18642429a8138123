/* SPDX-License-Identifier: Apache-2.0 */
/* Results as files: every value as a line of CSV, or JSON (kfe_result_write). */
#include <string.h>

#include "core/memory.h"
#include "result/result.h"

static void add_value(kfe_i_text *text, const kfe_column *c, int64_t row)
{
    char number[KFE_NUMBER_TEXT];

    if (c->texts) {
        kfe_i_text_add_csv(text, c->texts[row] ? c->texts[row] : "");
        return;
    }
    kfe_i_format_number(c->numbers[row], number);
    kfe_i_text_puts(text, number);
}

/* Rows of a matrix have labels, others numbers from 1. */
static void add_table(kfe_i_text *text, const kfe_result *result, const kfe_table *t)
{
    const kfe_column *labels = result->has_matrices ? kfe_table_column(t, 0) : NULL;
    const kfe_column *c;

    for (int64_t row = 0; row < t->rows && text->status == KFE_OK; row++)
        for (int64_t i = labels ? 1 : 0; (c = kfe_table_column(t, i)); i++) {
            if (c->kind == KFE_COLUMN_GROUP || (c->given && !c->given[row]))
                continue;
            kfe_i_text_printf(text, "%s,", t->name);
            if (labels)
                add_value(text, labels, row);
            else
                kfe_i_text_printf(text, "%lld", (long long)row + 1);
            kfe_i_text_puts(text, ",");
            kfe_i_text_add_csv(text, c->name);
            kfe_i_text_puts(text, ",");
            add_value(text, c, row);
            kfe_i_text_puts(text, "\n");
        }
}

kfe_status kfe_result_write(kfe_context *ctx, const kfe_result *result, const char *path)
{
    kfe_status status = KFE_OK;
    size_t length = strlen(path);
    const kfe_table *t;
    kfe_i_text text;
    char *bytes = NULL;

    kfe_i_text_init(&text, ctx);
    if (length > 5 && strcmp(path + length - 5, ".json") == 0) {
        KFE_TRY(kfe_i_result_json(ctx, result, &bytes));
    } else {
        kfe_i_text_puts(&text, "table,row,column,value\n");
        for (int i = 0; (t = kfe_result_table(result, i)); i++)
            if (i > 0 || !result->has_matrices)
                add_table(&text, result, t);
        KFE_TRY(kfe_i_text_take(&text, &bytes));
    }
    KFE_TRY(kfe_output_write(ctx, path, bytes, strlen(bytes)));
cleanup:
    kfe_i_text_free(&text);
    kfe_i_free(ctx, bytes);
    return status;
}
