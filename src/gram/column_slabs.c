/* SPDX-License-Identifier: Apache-2.0 */
/* Columns slab by slab: evaluated when a slab is asked for, or read from whole columns. */
#include "gram/column_slabs.h"

#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "kernel/tile/tile.h"

kfe_status kfe_i_column_slabs_begin(const kfe_i_row_part *part, const int64_t *index, int64_t count,
                                    int threads, double *room, kfe_i_column_slabs *out)
{
    kfe_status status = KFE_OK;

    assert(count >= 0 && count <= KFE_TILE_SIDE && threads > 0);
    *out = (kfe_i_column_slabs){.ctx = part->ctx, .part = part, .count = count, .threads = threads};
    if (!part->kernel) {
        out->values = room;
        return part->columns(part, index, count, room);
    }
    KFE_TRY(kfe_i_points_gather(part->ctx, part->points, index, count, &out->chosen));
    out->own = kfe_i_tile_scratch(&out->chosen, part->points) + KFE_SLAB_ROWS * count;
    KFE_ALLOC_ZERO(part->ctx, out->scratch, out->own * threads);
cleanup:
    if (status != KFE_OK)
        kfe_i_column_slabs_end(out);
    return status;
}

void kfe_i_column_slabs_end(kfe_i_column_slabs *columns)
{
    if (!columns->ctx)
        return;
    kfe_i_points_free(&columns->chosen);
    kfe_i_free(columns->ctx, columns->scratch);
    memset(columns, 0, sizeof *columns);
}

/* out (count × stride) = rowsᵀ, by squares of whole cache lines. */
static void transpose(const double *rows, int64_t used, int64_t count, double *out, int64_t stride)
{
    enum { SIDE = 8 };

    for (int64_t first = 0; first < used; first += SIDE)
        for (int64_t c = 0; c < count; c++)
            for (int64_t i = first; i < used && i < first + SIDE; i++)
                out[c * stride + i] = rows[i * count + c];
}

/* Dense points are the columns of a tile whose rows are the columns asked for, which then need not be transposed. Sparse points are its
 * rows: a tile lays out its columns, which are few. */
static void evaluate(const kfe_i_column_slabs *columns, kfe_i_range rows, int thread, double *out,
                     int64_t stride)
{
    kfe_i_range chosen = {&columns->chosen, 0, columns->count};
    double *tile = columns->scratch + columns->own * thread;
    double *scratch = tile + KFE_SLAB_ROWS * columns->count;
    const kfe_i_kernel *kernel = columns->part->kernel;

    if (rows.points->table.kind == KFE_TABLE_DENSE) {
        kfe_i_tile_eval(kernel, chosen, rows, out, stride, scratch);
        return;
    }
    kfe_i_tile_eval(kernel, rows, chosen, tile, columns->count, scratch);
    transpose(tile, rows.count, columns->count, out, stride);
}

void kfe_i_column_slab(const kfe_i_column_slabs *columns, const kfe_i_slabs *slabs, int64_t s, int thread,
                       double *out)
{
    int64_t first = s * slabs->rows;
    int64_t used = kfe_i_slab_used(slabs, s);

    assert(thread < columns->threads);
    if (columns->part->kernel)
        evaluate(columns, (kfe_i_range){columns->part->points, columns->part->first + first, used}, thread,
                 out, slabs->rows);
    else
        transpose(columns->values + first * columns->count, used, columns->count, out, slabs->rows);
    for (int64_t c = 0; used < slabs->rows && c < columns->count; c++)
        memset(out + c * slabs->rows + used, 0, (size_t)(slabs->rows - used) * sizeof *out);
}
