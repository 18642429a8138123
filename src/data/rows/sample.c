/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of rows for leave-one-out, also of rows that are only added up; used by the ridge family and by fits from sums. */
#include "data/rows/sample.h"

#include "core/share.h"
#include "core/memory.h"
#include "core/rng.h"

enum { ALL_ROWS = 200, FEW_ROWS = 60, FEW_TENTHS = 3, SOME_ROWS = 400, MANY_SHARE = 8, MOST_ROWS = 1000 };

int64_t kfe_i_sample_size(int64_t n)
{
    int64_t few = kfe_i_least(FEW_ROWS + n * FEW_TENTHS / 10, SOME_ROWS);
    int64_t many = kfe_i_least(n / MANY_SHARE, MOST_ROWS);
    int64_t size = few > many ? few : many;

    return kfe_i_least(n, size > ALL_ROWS ? size : ALL_ROWS);
}

kfe_status kfe_i_sample_draw(kfe_context *ctx, int64_t rows, const kfe_i_row_key *keys, int64_t **index,
                             int64_t *count)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct distinct = {0};

    *count = 0;
    KFE_ALLOC(ctx, *index, rows);
    KFE_TRY(kfe_i_distinct_make(ctx, rows, keys, KFE_STREAM_LOO, &distinct));
    int64_t size = kfe_i_sample_size(distinct.count);
    for (int64_t i = 0; i < rows; i++)
        if (distinct.of[i] < size)
            (*index)[(*count)++] = i;
cleanup:
    kfe_i_distinct_free(&distinct);
    return status;
}
