/* SPDX-License-Identifier: Apache-2.0 */
/* The scatter matrix of dense and sparse tables, for pca and cr. */
#include "method/shared/scatter.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"

enum { PANEL_ROWS = 512 };

/* By panels of centred rows, so that no digits cancel and only a panel is copied. */
static kfe_status dense_scatter(kfe_context *ctx, const kfe_i_table *table, const double *roots,
                                const double *means, double *scatter)
{
    kfe_status status = KFE_OK;
    int64_t d = table->cols;
    double *panel = NULL;

    KFE_ALLOC(ctx, panel, PANEL_ROWS * d);
    for (int64_t first = 0; first < table->rows; first += PANEL_ROWS) {
        int64_t count = table->rows - first < PANEL_ROWS ? table->rows - first : PANEL_ROWS;
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < d; j++)
                panel[i * d + j] = table->values[(first + i) * table->stride + j] -
                                   (roots ? roots[first + i] * means[j] : means[j]);
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)d, (blasint)count, 1, panel, (blasint)d,
                    1, scatter, (blasint)d);
        KFE_TRY(kfe_i_progress(ctx, "computing the scatter", first, table->rows));
    }
cleanup:
    kfe_i_free(ctx, panel);
    return status;
}

static void sparse_scatter(const kfe_i_table *table, const double *roots, const double *means,
                           double *scatter)
{
    int64_t d = table->cols;
    double mass = roots ? 0 : (double)table->rows;

    for (int64_t i = 0; roots && i < table->rows; i++)
        mass += roots[i] * roots[i];

    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
            for (int64_t q = table->row_start[i]; q <= p; q++)
                scatter[table->columns[p] * d + table->columns[q]] += table->values[p] * table->values[q];
    for (int64_t j = 0; j < d; j++)
        for (int64_t l = 0; l <= j; l++)
            scatter[j * d + l] -= mass * means[j] * means[l];
}

kfe_status kfe_i_scatter(kfe_context *ctx, const kfe_i_table *table, const double *roots, const double *means,
                         double *scatter)
{
    memset(scatter, 0, (size_t)(table->cols * table->cols) * sizeof *scatter);
    if (table->kind == KFE_TABLE_DENSE)
        return dense_scatter(ctx, table, roots, means, scatter);
    sparse_scatter(table, roots, means, scatter);
    return KFE_OK;
}
