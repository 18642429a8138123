/* SPDX-License-Identifier: Apache-2.0 */
/* Products of tables, dense or sparse, with blocks of vectors, and sparse tables transposed; for linear methods and learners. */
#include <cblas.h>
#include <string.h>

#include "core/context.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "linalg/linalg.h"

static void add_sparse_row_times(const kfe_i_table *table, int64_t i, const double *w, int64_t k, double *out)
{
    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++) {
        const double *row = w + table->columns[p] * k;
        for (int64_t j = 0; j < k; j++)
            out[j] += table->values[p] * row[j];
    }
}

/* out = keep·out + X·w, keep 0 or 1. */
static void times(kfe_context *ctx, const kfe_i_table *table, const double *w, int64_t k, int keep,
                  double *out)
{
    assert(table->kind != KFE_TABLE_TEXT && k >= 0);
    if (table->kind == KFE_TABLE_DENSE) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)table->rows, (blasint)k,
                    (blasint)table->cols, 1, table->values, (blasint)table->stride, w, (blasint)k, keep, out,
                    (blasint)k);
        return;
    }
    if (!keep)
        memset(out, 0, (size_t)(table->rows * k) * sizeof *out);
#pragma omp parallel for num_threads(kfe_context_threads(ctx)) schedule(static)
    for (int64_t i = 0; i < table->rows; i++)
        add_sparse_row_times(table, i, w, k, out + i * k);
}

kfe_status kfe_i_table_times(kfe_context *ctx, const kfe_i_table *table, const double *w, int64_t k,
                             double *out)
{
    times(ctx, table, w, k, 0, out);
    return KFE_OK;
}

void kfe_i_tables_times(kfe_context *ctx, const kfe_i_table *tables, int count, const double *w, int64_t k,
                        double *out)
{
    for (int v = 0; v < count; w += tables[v++].cols * k)
        times(ctx, &tables[v], w, k, v > 0, out);
}

/* Serial for sparse tables: threads would write to the same rows. */
kfe_status kfe_i_table_transpose_times(kfe_context *ctx, const kfe_i_table *table, const double *v, int64_t k,
                                       double *out)
{
    assert(table->kind != KFE_TABLE_TEXT && k >= 0);
    if (table->kind == KFE_TABLE_DENSE) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)table->cols, (blasint)k,
                    (blasint)table->rows, 1, table->values, (blasint)table->stride, v, (blasint)k, 0, out,
                    (blasint)k);
        return kfe_i_progress(ctx, "multiplying with the data", 0, 0);
    }
    memset(out, 0, (size_t)(table->cols * k) * sizeof *out);
    for (int64_t i = 0; i < table->rows; i++) {
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++) {
            double *row = out + table->columns[p] * k;
            for (int64_t j = 0; j < k; j++)
                row[j] += table->values[p] * v[i * k + j];
        }
    }
    return kfe_i_progress(ctx, "multiplying with the data", 0, 0);
}

kfe_status kfe_i_table_transpose(kfe_context *ctx, const kfe_i_table *table, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int64_t base = table->row_start[0];
    int64_t entries = table->row_start[table->rows] - base;
    int64_t *next = NULL;

    assert(table->kind == KFE_TABLE_CSR);
    memset(out, 0, sizeof *out);
    if (table->rows > INT32_MAX)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "sparse tables have at most %d rows", INT32_MAX);
    KFE_TRY(kfe_i_table_new_csr(ctx, table->cols, table->rows, entries, out));
    KFE_ALLOC_ZERO(ctx, next, table->cols + 1);
    for (int64_t p = base; p < base + entries; p++)
        next[table->columns[p] + 1]++;
    for (int64_t j = 0; j < table->cols; j++)
        next[j + 1] += next[j];
    memcpy(out->row_start, next, (size_t)(table->cols + 1) * sizeof *next);
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++) {
            int64_t place = next[table->columns[p]]++;
            out->columns[place] = (int32_t)i;
            out->values[place] = table->values[p];
        }
cleanup:
    kfe_i_free(ctx, next);
    if (status != KFE_OK)
        kfe_i_table_free(out);
    return status;
}
