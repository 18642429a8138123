/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in the form of LIBSVM and LIBLINEAR, for the learners svm and linear-svm. */
#include "learn/nodes.h"

#include <limits.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"

void kfe_i_nodes_free(kfe_i_nodes *nodes)
{
    if (nodes->ctx) {
        kfe_i_free(nodes->ctx, nodes->nodes);
        kfe_i_free(nodes->ctx, nodes->rows);
    }
    memset(nodes, 0, sizeof *nodes);
}

/* The libraries count rows and columns in int, and do not check their own allocations. */
static kfe_status begin(kfe_context *ctx, int64_t rows, int64_t cols, double entries, const char *what,
                        const char *remedy, kfe_i_nodes *out)
{
    kfe_status status = KFE_OK;

    assert(rows >= 0 && cols >= 0 && entries >= 0);
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->count = rows;
    if (rows >= INT_MAX / 2 || cols >= INT_MAX - 2)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "SVMs take at most %d examples and %d features", INT_MAX / 2,
                 INT_MAX - 2);
    KFE_TRY(kfe_i_check_memory(ctx, entries * (double)sizeof(kfe_i_node), what, remedy));
    KFE_ALLOC(ctx, out->nodes, (int64_t)entries);
    KFE_ALLOC(ctx, out->rows, rows);
cleanup:
    if (status != KFE_OK)
        kfe_i_nodes_free(out);
    return status;
}

static void row_range(const kfe_i_table *table, int64_t i, int64_t *begin_at, int64_t *end)
{
    int sparse = table->kind == KFE_TABLE_CSR;

    *begin_at = sparse ? table->row_start[i] : i * table->stride;
    *end = sparse ? table->row_start[i + 1] : *begin_at + table->cols;
}

static int64_t count_nonzeros(const kfe_i_table *table)
{
    int64_t count = 0;
    int64_t first;
    int64_t end;

    for (int64_t i = 0; i < table->rows; i++) {
        row_range(table, i, &first, &end);
        for (int64_t p = first; p < end; p++)
            count += table->values[p] != 0;
    }
    return count;
}

static kfe_i_node *fill_row(const kfe_i_table *table, int64_t i, int bias, kfe_i_node *node)
{
    int64_t first;
    int64_t end;

    row_range(table, i, &first, &end);
    for (int64_t p = first; p < end; p++) {
        int64_t column = table->kind == KFE_TABLE_CSR ? table->columns[p] : p - first;
        if (table->values[p] != 0)
            *node++ = (kfe_i_node){(int)column + 1, table->values[p]};
    }
    if (bias)
        *node++ = (kfe_i_node){(int)table->cols + 1, 1};
    *node++ = (kfe_i_node){-1, 0};
    return node;
}

kfe_status kfe_i_nodes_from_table(kfe_context *ctx, const kfe_i_table *table, int bias, kfe_i_nodes *out)
{
    double entries = (double)count_nonzeros(table) + (bias ? 2.0 : 1.0) * (double)table->rows;
    kfe_status status =
        begin(ctx, table->rows, table->cols, entries, "the features in the form of the SVM library",
              "extract fewer features, or raise {memory}", out);

    if (status != KFE_OK)
        return status;
    kfe_i_node *node = out->nodes;
    for (int64_t i = 0; i < table->rows; i++) {
        out->rows[i] = node;
        node = fill_row(table, i, bias, node);
    }
    return KFE_OK;
}

enum { CHUNK_ROWS = 64 };

static void fill_gram_rows(int64_t n, int64_t first, int64_t count, const double *block, kfe_i_nodes *out)
{
    for (int64_t i = 0; i < count; i++) {
        kfe_i_node *row = out->nodes + (first + i) * (n + 1);
        out->rows[first + i] = row;
        row[0] = (kfe_i_node){0, (double)(first + i + 1)};
        for (int64_t j = 0; j < n; j++)
            row[j + 1] = (kfe_i_node){(int)j + 1, block[i * n + j]};
    }
}

kfe_status kfe_i_nodes_from_gram(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_nodes *out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    double *block = NULL;

    KFE_TRY(begin(ctx, n, n, (double)n * ((double)n + 1), "a kernel matrix in LIBSVM's form",
                  "fit on extracted features with {learner-kernel=linear}, poly, rbf or sigmoid, use "
                  "{svm-solver=smo}, or raise {memory}",
                  out));
    KFE_ALLOC(ctx, block, CHUNK_ROWS * n);
    for (int64_t first = 0; first < n; first += CHUNK_ROWS) {
        int64_t count = n - first < CHUNK_ROWS ? n - first : CHUNK_ROWS;
        KFE_TRY(kfe_i_gram_block(gram, first, count, 0, n, block, n));
        fill_gram_rows(n, first, count, block, out);
    }
cleanup:
    kfe_i_free(ctx, block);
    if (status != KFE_OK)
        kfe_i_nodes_free(out);
    return status;
}
