/* SPDX-License-Identifier: Apache-2.0 */
/* Files of rows, read one after the other in parts; stream.c and pursue.c fit from them. */
#include "accumulate/row_files.h"

#include <string.h>

#include "accumulate/weigh.h"
#include "data/read/read.h"
#include "data/rows/fingerprint.h"
#include "system/system.h"

/* 2⁶⁴ over the golden ratio, as in Fibonacci hashing. */
#define MARK_FACTOR UINT64_C(0x9E3779B97F4A7C15)

void kfe_i_row_files_close(kfe_i_row_files *files)
{
    kfe_i_data_stream_close(files->open);
    files->open = NULL;
    files->in_file = 0;
}

void kfe_i_row_files_rewind(kfe_i_row_files *files)
{
    kfe_i_row_files_close(files);
    files->at = 0;
    files->rows = 0;
    files->parts = 0;
    files->mark = 0;
}

/* Sparse parts end at their last column that is not zero. */
static kfe_status settle_columns(kfe_i_row_files *files, kfe_data *part)
{
    kfe_i_table *table = &part->views[0].table;

    if (part->views[0].encoding.count > 0)
        return kfe_i_fail(
            files->ctx, KFE_EUNSUPPORTED,
            "%s: the categories of column %lld, which is to be encoded, are known only after the last row; "
            "encode it before, or leave it out with {drop}",
            kfe_i_view_shown(&part->views[0]), (long long)part->views[0].encoding.columns[0].column + 1);
    if (files->cols == 0)
        files->cols = table->cols;
    if (table->kind == KFE_TABLE_CSR && table->cols < files->cols)
        table->cols = files->cols;
    if (table->cols != files->cols)
        return kfe_i_fail(
            files->ctx, KFE_EINPUT,
            "%s: the rows have %lld columns, but the first ones, in %s, have %lld; all files need the "
            "same columns",
            files->paths[files->at], (long long)table->cols, files->paths[0], (long long)files->cols);
    return KFE_OK;
}

/* Rows of weight zero take no part in a fit; *part becomes NULL if there are no others. */
static kfe_status drop_weightless(kfe_i_row_files *files, kfe_data **part)
{
    kfe_status status = KFE_OK;
    kfe_data *kept = NULL;

    if (!*part || !(*part)->target.weights)
        return KFE_OK;
    files->task = (*part)->target.task;
    files->weighted = 1;
    int any = kfe_i_has_weight(*part);
    if (any)
        KFE_TRY(kfe_i_data_drop_weightless(files->ctx, *part, &kept));
    if (kept || !any) {
        kfe_data_free(*part);
        *part = kept;
    }
cleanup:
    return status;
}

/* After the last row: fails if this process has read all files and no row had a weight above zero. */
static kfe_status check_weights(const kfe_i_row_files *files)
{
    return files->weighted && files->rows == 0 && files->share.parts == 1 ? kfe_i_no_weights(files->ctx)
                                                                          : KFE_OK;
}

/* A hash of the values and weights of a part. */
static uint64_t mark_of(const kfe_i_row_files *files, const kfe_data *part)
{
    uint64_t mark = kfe_i_data_fingerprint(files->ctx, part);
    uint64_t bits = 0;

    for (int64_t i = 0; part->target.weights && i < kfe_data_rows(part); i++) {
        memcpy(&bits, &part->target.weights[i], sizeof bits);
        mark = (mark ^ bits) * MARK_FACTOR;
    }
    return mark;
}

kfe_status kfe_i_row_files_next(kfe_i_row_files *files, kfe_data **out)
{
    kfe_status status = KFE_OK;
    int ended = 0;

    *out = NULL;
    while (!*out && files->at < files->count) {
        if (files->at % files->share.parts != files->share.part) {
            files->at++;
            continue;
        }
        if (!files->open)
            KFE_TRY(kfe_i_data_stream_open(files->ctx, 1, files->paths + files->at, NULL, files->options,
                                           NULL, &files->open));
        kfe_i_data_stream_set_task(files->open, files->task, &files->guess);
        KFE_TRY(kfe_i_data_stream_next(files->open, KFE_PART_ROWS, out));
        ended = !*out;
        KFE_TRY(drop_weightless(files, out));
        if (ended) {
            kfe_i_row_files_close(files);
            files->at++;
        }
    }
    if (!*out)
        return check_weights(files);
    files->task = (*out)->target.task;
    files->rows += kfe_data_rows(*out);
    files->in_file += kfe_data_rows(*out);
    files->parts++;
    if (files->marks_parts)
        files->mark = files->mark * MARK_FACTOR + mark_of(files, *out);
    KFE_TRY(settle_columns(files, *out));
    KFE_TRY(kfe_i_progress(files->ctx, "reading rows", files->rows, 0));
cleanup:
    return status;
}

int kfe_i_row_files_can_rewind(const kfe_i_row_files *files)
{
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], "-") == 0 || kfe_i_path_look(files->paths[i], NULL) != KFE_PATH_FILE)
            return 0;
    return 1;
}
