/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a Gram operator at listed rows and columns, for the rules that choose landmarks. A tiled operator evaluates
 * just these; other forms have the entries in memory or make them cheaply, column by column. */
#include "core/memory.h"
#include "gram/landmark/landmark.h"
#include "kernel/tile/cross.h"

/* The entries, from tiles. */
static kfe_status from_tiles(const kfe_i_gram *gram, const int64_t *row, int64_t rows, const int64_t *col,
                             int64_t cols, double *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;
    kfe_i_points left = {0};
    kfe_i_points right = {0};

    kfe_i_gram_tiles(gram, &kernel, &points);
    KFE_TRY(kfe_i_points_gather(ctx, points, row, rows, &left));
    KFE_TRY(kfe_i_points_gather(ctx, points, col, cols, &right));
    KFE_TRY(kfe_i_cross_block(ctx, kernel, (kfe_i_range){&left, 0, rows}, (kfe_i_range){&right, 0, cols}, out,
                              cols));
cleanup:
    kfe_i_points_free(&left);
    kfe_i_points_free(&right);
    return status;
}

static kfe_status from_columns(const kfe_i_gram *gram, const int64_t *row, int64_t rows, const int64_t *col,
                               int64_t cols, double *out)
{
    enum { CHUNK = 32 };
    kfe_status status = KFE_OK;
    double *columns = NULL;

    KFE_ALLOC(gram->ctx, columns, gram->size * CHUNK);
    for (int64_t first = 0; first < cols; first += CHUNK) {
        int64_t count = cols - first < CHUNK ? cols - first : CHUNK;
        KFE_TRY(kfe_i_gram_columns(gram, col + first, count, columns));
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < count; j++)
                out[i * cols + first + j] = columns[row[i] * count + j];
    }
cleanup:
    kfe_i_free(gram->ctx, columns);
    return status;
}

kfe_status kfe_i_gram_entries(const kfe_i_gram *gram, const int64_t *row, int64_t rows, const int64_t *col,
                              int64_t cols, double *out)
{
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;

    if (kfe_i_gram_tiles(gram, &kernel, &points))
        return from_tiles(gram, row, rows, col, cols, out);
    return from_columns(gram, row, rows, col, cols, out);
}
