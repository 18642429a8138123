/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled rows of a stream, and kernel columns at them; pursue.c fits on them. */
#include "accumulate/row_store.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "kernel/expansion.h"
#include "kernel/tile/cross.h"
#include "kernel/tile/tile.h"
#include "model/chain_views.h"
#include "system/system.h"

/* Rows beyond this share of the memory go to the temporary file. */
#define MEMORY_SHARE 0.5

void kfe_i_row_store_begin(kfe_context *ctx, const kfe_model *map, kfe_i_row_store *out)
{
    *out = (kfe_i_row_store){.ctx = ctx, .map = map, .sparse = 1, .file = -1};
}

static int64_t bytes_of(const kfe_i_table *dense)
{
    return dense->rows * dense->stride * (int64_t)sizeof *dense->values;
}

void kfe_i_row_store_free(kfe_i_row_store *s)
{
    for (int64_t b = 0; b < s->count; b++) {
        kfe_i_table *table = &s->blocks[b].table;
        if (!table->owned && table->values)
            kfe_i_unmap(table->values, bytes_of(table));
        kfe_i_table_free(table);
    }
    if (s->ctx)
        kfe_i_free(s->ctx, s->blocks);
    if (s->ctx && s->file >= 0)
        kfe_i_unnamed_close(s->file);
    memset(s, 0, sizeof *s);
    s->file = -1;
}

/* ---- the temporary file ---- */

static kfe_status file_failure(const kfe_i_row_store *s, const char *folder)
{
    return kfe_i_fail(s->ctx, KFE_EIO,
                      "%s: rows that do not fit into memory cannot be written to a temporary file there: %s; "
                      "set TMPDIR, or raise {memory}",
                      folder, strerror(errno));
}

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/var/tmp"; /* /tmp may be memory */
}

/* Moves the values of a dense table into the file and maps them. */
static kfe_status move_to_file(kfe_i_row_store *s, kfe_i_table *table)
{
    const char *folder = temporary_folder();

    if (s->file < 0) {
        s->file = kfe_i_unnamed_file(folder);
        if (s->file < 0)
            return file_failure(s, folder);
        kfe_i_log(s->ctx, KFE_LOG_INFO,
                  "rows that take more than half of the memory go to a temporary file in %s", folder);
    }
    void *mapped = kfe_i_append_mapped(s->file, table->values, bytes_of(table), &s->written);
    if (!mapped)
        return file_failure(s, folder);
    kfe_i_free(table->ctx, table->values);
    table->values = mapped;
    table->owned = 0;
    return KFE_OK;
}

/* ---- adding rows ---- */

/* A copy of its own, in memory or in the file. */
static kfe_status keep_table(kfe_i_row_store *s, kfe_i_table *scaled, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    double limit = MEMORY_SHARE * (double)kfe_context_memory(s->ctx);

    if (scaled->owned) {
        *out = *scaled;
        memset(scaled, 0, sizeof *scaled);
    } else {
        KFE_TRY(kfe_i_table_copy(s->ctx, scaled, out));
    }
    if (out->kind == KFE_TABLE_DENSE)
        KFE_TRY(kfe_i_table_widen(s->ctx, out));
    double bytes =
        out->kind == KFE_TABLE_DENSE ? (double)bytes_of(out) : 12.0 * (double)out->row_start[out->rows];
    if (out->kind == KFE_TABLE_DENSE && out->rows > 0 && s->in_memory + bytes > limit)
        KFE_TRY(move_to_file(s, out));
    else
        s->in_memory += bytes;
cleanup:
    return status;
}

kfe_status kfe_i_row_store_add(kfe_i_row_store *s, const kfe_data *rows, int file, int64_t first)
{
    kfe_status status = KFE_OK;
    kfe_i_table scaled = {0};
    kfe_i_row_block block = {.file = file, .first = first, .start = s->rows};
    int64_t count = kfe_data_rows(rows);

    if (rows->views[0].table.kind == KFE_TABLE_TEXT)
        return kfe_i_fail(s->ctx, KFE_EUNSUPPORTED,
                          "strings cannot be kept as the rows of a stream; give {landmarks}");
    KFE_GROW(s->ctx, s->blocks, s->capacity, s->count + 1);
    KFE_TRY(kfe_i_model_scale(s->ctx, s->map, rows, &scaled));
    KFE_TRY(keep_table(s, &scaled, &block.table));
    s->sparse = s->sparse && block.table.kind == KFE_TABLE_CSR;
    s->blocks[s->count++] = block;
    s->rows += count;
    memset(&block.table, 0, sizeof block.table);
cleanup:
    kfe_i_table_free(&block.table);
    kfe_i_table_free(&scaled);
    return status;
}

/* ---- rows of all processes ---- */

/* The block of this process that has a row; NULL: another process does. */
static const kfe_i_row_block *find_row(const kfe_i_row_store *s, int64_t row)
{
    int64_t low = 0;
    int64_t high = s->count; /* blocks are in the order of their rows */

    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (s->blocks[middle].first + s->blocks[middle].table.rows <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->blocks[low].first <= row ? &s->blocks[low] : NULL;
}

/* Every process fills in its own rows, zeros elsewhere; the sum is exact. */
static kfe_status fetch_dense(const kfe_i_row_store *s, const int64_t *index, int64_t count, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int64_t cols = kfe_i_view_prepared_cols(&s->map->views[0]);

    KFE_TRY(kfe_i_table_new_dense(s->ctx, count, cols, out));
    memset(out->values, 0, (size_t)(count * out->stride) * sizeof *out->values);
    for (int64_t i = 0; i < count; i++) {
        const kfe_i_row_block *block = find_row(s, index[i]);
        if (block)
            kfe_i_table_dense_row(&block->table, index[i] - block->first, out->values + i * out->stride);
    }
    KFE_TRY(kfe_i_cluster_sum(s->ctx, out->values, count * out->stride));
cleanup:
    return status;
}

/* The entries of the rows of this process; columns travel as numbers. */
static void fill_entries(const kfe_i_row_store *s, const int64_t *index, kfe_i_table *out, double *columns)
{
    for (int64_t i = 0; i < out->rows; i++) {
        const kfe_i_row_block *block = find_row(s, index[i]);
        const int64_t *start = block ? block->table.row_start + (index[i] - block->first) : NULL;
        for (int64_t e = 0; block && e < start[1] - start[0]; e++) {
            out->values[out->row_start[i] + e] = block->table.values[start[0] + e];
            columns[out->row_start[i] + e] = block->table.columns[start[0] + e];
        }
    }
}

static kfe_status fetch_csr(const kfe_i_row_store *s, const int64_t *index, int64_t count, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    double *lengths = NULL;
    double *columns = NULL;
    int64_t entries = 0;

    KFE_ALLOC_ZERO(s->ctx, lengths, count);
    for (int64_t i = 0; i < count; i++) {
        const kfe_i_row_block *block = find_row(s, index[i]);
        const int64_t *start = block ? block->table.row_start + (index[i] - block->first) : NULL;
        lengths[i] = block ? (double)(start[1] - start[0]) : 0;
    }
    KFE_TRY(kfe_i_cluster_sum(s->ctx, lengths, count));
    for (int64_t i = 0; i < count; i++)
        entries += (int64_t)lengths[i];
    KFE_TRY(kfe_i_table_new_csr(s->ctx, count, kfe_i_view_prepared_cols(&s->map->views[0]), entries, out));
    for (int64_t i = 0; i < count; i++)
        out->row_start[i + 1] = out->row_start[i] + (int64_t)lengths[i];
    memset(out->values, 0, (size_t)entries * sizeof *out->values);
    KFE_ALLOC_ZERO(s->ctx, columns, entries);
    fill_entries(s, index, out, columns);
    KFE_TRY(kfe_i_cluster_sum(s->ctx, out->values, entries));
    KFE_TRY(kfe_i_cluster_sum(s->ctx, columns, entries));
    for (int64_t e = 0; e < entries; e++)
        out->columns[e] = (int32_t)columns[e];
cleanup:
    kfe_i_free(s->ctx, lengths);
    kfe_i_free(s->ctx, columns);
    return status;
}

kfe_status kfe_i_row_store_fetch(const kfe_i_row_store *s, const int64_t *index, int64_t count,
                                 kfe_i_table *out)
{
    return s->sparse ? fetch_csr(s, index, count, out) : fetch_dense(s, index, count, out);
}

/* ---- kernel columns ---- */

/* out[i·count + c] += weight · κ(row i of this process, candidate c) */
static kfe_status add_columns(const kfe_i_row_store *s, const kfe_i_kernel *kernel, const kfe_i_table *chosen,
                              double *out)
{
    kfe_status status = KFE_OK;
    int64_t count = chosen->rows;
    kfe_i_points candidates = {0};
    kfe_i_points points = {0};
    double *values = NULL;
    int64_t largest = 0;

    for (int64_t b = 0; b < s->count; b++)
        largest = s->blocks[b].table.rows > largest ? s->blocks[b].table.rows : largest;
    KFE_ALLOC(s->ctx, values, largest * count);
    KFE_TRY(kfe_i_points_prepare(s->ctx, kernel, chosen, NULL, &candidates));
    for (int64_t b = 0; b < s->count; b++) {
        const kfe_i_row_block *block = &s->blocks[b];
        KFE_TRY(kfe_i_points_prepare(s->ctx, kernel, &block->table, &candidates, &points));
        KFE_TRY(kfe_i_cross_block(s->ctx, kernel, (kfe_i_range){&points, 0, block->table.rows},
                                  (kfe_i_range){&candidates, 0, count}, values, count));
        for (int64_t e = 0; e < block->table.rows * count; e++)
            out[block->start * count + e] += kernel->common.weight * values[e];
        kfe_i_points_free(&points);
    }
cleanup:
    kfe_i_points_free(&candidates);
    kfe_i_points_free(&points);
    kfe_i_free(s->ctx, values);
    return status;
}

static kfe_status columns(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_row_store *s = part->state;
    const kfe_i_kernel_list *kernels = &s->map->kernels;
    kfe_i_table chosen = {0};

    memset(out, 0, (size_t)(part->rows * count) * sizeof *out);
    KFE_TRY(kfe_i_row_store_fetch(s, index, count, &chosen));
    for (int64_t m = 0; m < kernels->count; m++)
        KFE_TRY(add_columns(s, &kernels->items[m], &chosen, out));
    for (int64_t i = 0; s->weights && i < s->rows; i++)
        cblas_dscal((blasint)count, sqrt(s->weights[i]), out + i * count, 1);
cleanup:
    kfe_i_table_free(&chosen);
    return status;
}

static kfe_status among(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_row_store *s = part->state;
    const kfe_i_kernel_list *kernels = &s->map->kernels;
    kfe_i_table chosen = {0};
    kfe_i_points points = {0};
    double *values = NULL;

    memset(out, 0, (size_t)(count * count) * sizeof *out);
    KFE_ALLOC(s->ctx, values, count * count);
    KFE_TRY(kfe_i_row_store_fetch(s, index, count, &chosen));
    for (int64_t m = 0; m < kernels->count; m++) {
        KFE_TRY(kfe_i_points_prepare(s->ctx, &kernels->items[m], &chosen, NULL, &points));
        KFE_TRY(kfe_i_self_matrix(s->ctx, &kernels->items[m], &points, values));
        for (int64_t e = 0; e < count * count; e++)
            out[e] += kernels->items[m].common.weight * values[e];
        kfe_i_points_free(&points);
    }
cleanup:
    kfe_i_points_free(&points);
    kfe_i_table_free(&chosen);
    kfe_i_free(s->ctx, values);
    return status;
}

/* out[rows of the block] += the diagonal of one kernel */
static kfe_status add_diagonal(const kfe_i_row_store *s, const kfe_i_kernel *kernel,
                               const kfe_i_row_block *block, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_points points = {0};
    double *scratch = NULL;
    double value = 0;

    KFE_TRY(kfe_i_points_prepare(s->ctx, kernel, &block->table, NULL, &points));
    KFE_ALLOC_ZERO(s->ctx, scratch, kfe_i_tile_scratch(&points, &points));
    for (int64_t i = 0; i < block->table.rows; i++) {
        kfe_i_tile_eval(kernel, (kfe_i_range){&points, i, 1}, (kfe_i_range){&points, i, 1}, &value, 1,
                        scratch);
        out[i] += kernel->common.weight * value;
    }
cleanup:
    kfe_i_points_free(&points);
    kfe_i_free(s->ctx, scratch);
    return status;
}

static kfe_status diagonal(const kfe_i_row_part *part, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_row_store *s = part->state;

    memset(out, 0, (size_t)part->total * sizeof *out);
    for (int64_t b = 0; b < s->count; b++)
        for (int64_t m = 0; m < s->map->kernels.count; m++)
            KFE_TRY(add_diagonal(s, &s->map->kernels.items[m], &s->blocks[b], out + s->blocks[b].first));
    KFE_TRY(kfe_i_cluster_sum(s->ctx, out, part->total));
cleanup:
    return status;
}

/* ---- after the last row ---- */

/* Rows of files in both forms become dense; a process without rows takes the form of the others. */
static kfe_status agree_on_form(kfe_i_row_store *s)
{
    kfe_status status = KFE_OK;
    double sparse = s->sparse;

    KFE_TRY(kfe_i_cluster_least(s->ctx, &sparse));
    s->sparse = sparse > 0;
    for (int64_t b = 0; b < s->count && !s->sparse; b++)
        if (s->blocks[b].table.kind == KFE_TABLE_CSR)
            KFE_TRY(kfe_i_table_make_dense(s->ctx, &s->blocks[b].table));
cleanup:
    return status;
}

kfe_status kfe_i_row_store_number(kfe_i_row_store *s, const double *rows_of, int files)
{
    kfe_status status = KFE_OK;
    double *before = NULL; /* rows of the files before */

    KFE_TRY(agree_on_form(s));
    KFE_ALLOC_ZERO(s->ctx, before, files + 1);
    memcpy(before + 1, rows_of, (size_t)files * sizeof *before);
    KFE_TRY(kfe_i_cluster_sum(s->ctx, before, files + 1));
    for (int f = 0; f < files; f++)
        before[f + 1] += before[f];
    for (int64_t b = 0; b < s->count; b++)
        s->blocks[b].first += (int64_t)before[s->blocks[b].file];
    s->part = (kfe_i_row_part){.ctx = s->ctx,
                               .rows = s->rows > 0 ? s->rows : 1,
                               .total = (int64_t)before[files],
                               .first = kfe_i_processes(s->ctx) > 1 ? -1 : 0,
                               .state = s,
                               .columns = columns,
                               .among = among,
                               .diagonal = diagonal};
cleanup:
    kfe_i_free(s->ctx, before);
    return status;
}

kfe_status kfe_i_row_store_features(const kfe_i_row_store *s, const kfe_i_table *support,
                                    const double *coefficients, int64_t dim, double *out)
{
    kfe_status status = KFE_OK;

    for (int64_t b = 0; b < s->count; b++)
        KFE_TRY(kfe_i_expand(s->ctx, &s->map->kernels, &s->blocks[b].table, support, coefficients, dim,
                             out + s->blocks[b].start * dim));
cleanup:
    return status;
}
