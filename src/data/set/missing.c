/* SPDX-License-Identifier: Apache-2.0 */
/* Missing values of data in memory: kfe_data_set_missing does for arrays what the readers do for files. */
#include <math.h>

#include "core/memory.h"
#include "core/param.h"
#include "data/data.h"

/* Fills the gaps of `table` in a copy that replaces it. */
static kfe_status fill_gaps(kfe_context *ctx, const kfe_i_gaps *gaps, const char *shown, kfe_i_table *table)
{
    kfe_status status = KFE_OK;
    kfe_i_table filled = {0};
    double *fill = NULL;
    int64_t empty = -1;

    KFE_ALLOC(ctx, fill, table->cols);
    KFE_TRY(kfe_i_fill_learn(ctx, gaps, table, fill, &empty));
    if (empty >= 0)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "%s: column %lld has no value in any row, so there is nothing to fill in; leave it out",
                 shown, (long long)empty + 1);
    KFE_TRY(kfe_i_table_copy(ctx, table, &filled));
    kfe_i_fill_nans(fill, &filled);
    kfe_i_table_free(table);
    *table = filled;
    filled = (kfe_i_table){0};
cleanup:
    kfe_i_table_free(&filled);
    kfe_i_free(ctx, fill);
    return status;
}

kfe_status kfe_i_view_set_missing(kfe_context *ctx, kfe_i_fill kind, kfe_i_view *view)
{
    kfe_status status = KFE_OK;
    kfe_i_gaps gaps = {0};

    if (view->table.kind != KFE_TABLE_DENSE)
        return KFE_OK;
    KFE_TRY(kfe_i_table_widen(ctx, &view->table));
    KFE_TRY(kfe_i_gaps_find(ctx, &view->table, kind, &view->encoding, &gaps));
    if (gaps.row_start[view->table.rows] > 0)
        KFE_TRY(fill_gaps(ctx, &gaps, kfe_i_view_shown(view), &view->table));
    gaps.current = 1;
    kfe_i_gaps_free(&view->gaps);
    view->gaps = gaps;
    gaps = (kfe_i_gaps){0};
cleanup:
    kfe_i_gaps_free(&gaps);
    return status;
}

kfe_status kfe_data_set_missing(kfe_context *ctx, kfe_data *data, const char *fill)
{
    kfe_status status = KFE_OK;
    int kind = kfe_i_word_index(KFE_FILL_WORDS, fill);

    if (kind <= KFE_FILL_NONE)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "missing values are treated by mean, median, most-frequent or nipals, not '%s'", fill);
    for (int v = 0; v < data->view_count; v++)
        KFE_TRY(kfe_i_view_set_missing(ctx, (kfe_i_fill)kind, &data->views[v]));
cleanup:
    return status;
}
