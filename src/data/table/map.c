/* SPDX-License-Identifier: Apache-2.0 */
/* Linear maps of columns; the scaler of a view applies one after scaling (scale.c), methods that learn a distance make such maps. */
#include "data/table/map.h"

#include <cblas.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"

kfe_status kfe_i_map_new(kfe_context *ctx, int64_t rows, int64_t cols, int diagonal, kfe_i_map *out)
{
    kfe_status status = KFE_OK;

    assert(!diagonal || rows == cols);
    *out = (kfe_i_map){.ctx = ctx, .rows = rows, .cols = cols, .diagonal = diagonal};
    KFE_ALLOC(ctx, out->values, kfe_i_map_size(out));
cleanup:
    return status;
}

kfe_status kfe_i_map_copy(kfe_context *ctx, const kfe_i_map *map, kfe_i_map *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (!map->values)
        return KFE_OK;
    KFE_TRY(kfe_i_map_new(ctx, map->rows, map->cols, map->diagonal, out));
    memcpy(out->values, map->values, (size_t)kfe_i_map_size(map) * sizeof *out->values);
cleanup:
    return status;
}

void kfe_i_map_free(kfe_i_map *map)
{
    if (map->ctx)
        kfe_i_free(map->ctx, map->values);
    memset(map, 0, sizeof *map);
}

int64_t kfe_i_map_size(const kfe_i_map *map)
{
    return map->diagonal ? map->rows : map->rows * map->cols;
}

void kfe_i_map_scale(kfe_i_map *map, double factor)
{
    for (int64_t p = 0; p < kfe_i_map_size(map); p++)
        map->values[p] *= factor;
}

void kfe_i_map_diagonal(const kfe_i_map *map, int64_t cols, double *out)
{
    int64_t r = map->diagonal ? 1 : map->cols;

    for (int64_t i = 0; i < cols; i++) {
        out[i] = map->values ? 0 : 1;
        for (int64_t j = 0; map->values && j < r; j++)
            out[i] += map->values[i * r + j] * map->values[i * r + j];
    }
}

/* ---- applying ---- */

void kfe_i_map_rows(const kfe_i_map *map, const kfe_i_table *table, double *out)
{
    assert(table->kind == KFE_TABLE_DENSE && table->cols == map->rows);
    if (!map->diagonal) {
        if (table->rows > 0)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)table->rows, (blasint)map->cols,
                        (blasint)map->rows, 1, table->values, (blasint)table->stride, map->values,
                        (blasint)map->cols, 0, out, (blasint)map->cols);
        return;
    }
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < map->rows; j++)
            out[i * map->rows + j] = table->values[i * table->stride + j] * map->values[j];
}

/* Sparse rows times a matrix. */
static void map_sparse_rows(const kfe_i_map *map, const kfe_i_table *table, double *out)
{
    memset(out, 0, (size_t)(table->rows * map->cols) * sizeof *out);
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
            cblas_daxpy((blasint)map->cols, table->values[p], map->values + table->columns[p] * map->cols, 1,
                        out + i * map->cols, 1);
}

static kfe_status apply_to_sparse(kfe_context *ctx, const kfe_i_map *map, const kfe_i_table *table,
                                  kfe_i_table *out)
{
    kfe_status status = kfe_i_table_copy(ctx, table, out);

    for (int64_t p = 0; status == KFE_OK && p < out->row_start[out->rows]; p++)
        out->values[p] *= map->values[out->columns[p]];
    return status;
}

kfe_status kfe_i_map_apply(kfe_context *ctx, const kfe_i_map *map, const kfe_i_table *table, kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (!map->values) {
        *out = kfe_i_table_slice(table, 0, table->rows);
        return KFE_OK;
    }
    if (table->kind == KFE_TABLE_TEXT)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "a learned distance is for columns of numbers, but the data holds strings");
    if (table->cols != map->rows)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "the data has %lld columns, but the distance between rows was learned on %lld",
                 (long long)table->cols, (long long)map->rows);
    if (map->diagonal && table->kind == KFE_TABLE_CSR)
        return apply_to_sparse(ctx, map, table, out);
    KFE_TRY(kfe_i_table_new_dense(ctx, table->rows, map->cols, out));
    if (table->kind == KFE_TABLE_CSR)
        map_sparse_rows(map, table, out->values);
    else
        kfe_i_map_rows(map, table, out->values);
cleanup:
    return status;
}

/* ---- one after the other ---- */

kfe_status kfe_i_map_compose(kfe_context *ctx, const kfe_i_map *first, const kfe_i_map *second,
                             kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table rows = {.kind = KFE_TABLE_DENSE};

    memset(out, 0, sizeof *out);
    if (!first->values || !second->values)
        return kfe_i_map_copy(ctx, first->values ? first : second, out);
    assert(first->cols == second->rows);
    KFE_TRY(kfe_i_map_new(ctx, first->rows, second->cols, first->diagonal && second->diagonal, out));
    if (first->diagonal) {
        for (int64_t i = 0; i < first->rows; i++)
            for (int64_t j = 0; j < (second->diagonal ? 1 : second->cols); j++) {
                int64_t p = second->diagonal ? i : i * second->cols + j;
                out->values[p] = first->values[i] * second->values[p];
            }
        return KFE_OK;
    }
    rows.rows = first->rows;
    rows.cols = rows.stride = first->cols;
    rows.values = first->values;
    kfe_i_map_rows(second, &rows, out->values);
cleanup:
    return status;
}
