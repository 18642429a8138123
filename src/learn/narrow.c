/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in single precision, for the search of neighbours. For a query x and a support row y at squared distance D,
 *
 *     ⟨x, y⟩ = (‖x‖² + ‖y‖² − D) / 2.
 *
 * The product is computed with an error of at most share·(‖x‖² + ‖y‖²)/2 + d·FLT_MIN (underflow), where the share, a small
 * multiple of d·FLT_EPSILON, also covers the rounding of the points and of the comparison. So y can be at most as far as D only if
 *
 *     product − (1 − share)·‖y‖²/2 + d·FLT_MIN ≥ ((1 − share)·‖x‖² − D) / 2.
 *
 * The left side has what depends on y, its level; the right side is the threshold of x.
 */
#include "learn/narrow.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

/* Squared lengths of scaled queries up to this are far from overflowing products. */
#define KFE_NARROW_LONGEST 1e12

static double bound_share(int64_t cols)
{
    return 4 * ((double)cols + 8) * (double)FLT_EPSILON;
}

static double largest_norm(const kfe_i_points *points)
{
    double largest = 0;

    for (int64_t i = 0; i < points->table.rows; i++)
        if (!(points->norms[i] <= largest)) /* NaN too */
            largest = points->norms[i];
    return largest;
}

double kfe_i_narrow_scale(const kfe_i_points *support)
{
    double largest = support->table.kind == KFE_TABLE_DENSE ? largest_norm(support) : 0;

    if (!(largest > 1e-200 && largest < 1e200) || bound_share(support->table.cols) > 0.1)
        return 0;
    return 1 / largest;
}

int kfe_i_narrow_suits(const kfe_i_points *queries, double scale)
{
    return scale > 0 && queries->table.kind == KFE_TABLE_DENSE &&
           largest_norm(queries) * scale < KFE_NARROW_LONGEST;
}

kfe_status kfe_i_narrow_make(kfe_context *ctx, const kfe_i_points *points, double scale, kfe_i_narrow *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &points->table;
    double factor = sqrt(scale);
    double kept = 1 - bound_share(table->cols);

    *out = (kfe_i_narrow){.ctx = ctx, .rows = table->rows, .cols = table->cols, .scale = scale};
    KFE_ALLOC(ctx, out->values, table->rows * table->cols);
    KFE_ALLOC(ctx, out->levels, table->rows);
    for (int64_t i = 0; i < table->rows; i++) {
        for (int64_t j = 0; j < table->cols; j++)
            out->values[i * table->cols + j] = (float)(factor * kfe_i_points_value(points, i, j));
        out->levels[i] = (float)(kept * scale * points->norms[i] / 2 - (double)table->cols * (double)FLT_MIN);
    }
cleanup:
    if (status != KFE_OK)
        kfe_i_narrow_free(out);
    return status;
}

void kfe_i_narrow_free(kfe_i_narrow *narrow)
{
    if (narrow->ctx) {
        kfe_i_free(narrow->ctx, narrow->values);
        kfe_i_free(narrow->ctx, narrow->levels);
    }
    memset(narrow, 0, sizeof *narrow);
}

void kfe_i_narrow_products(const kfe_i_narrow *queries, int64_t row, int64_t rows,
                           const kfe_i_narrow *support, int64_t col, int64_t cols, float *products)
{
    blasint d = (blasint)support->cols;

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)cols, d, 1,
                queries->values + row * d, d, support->values + col * d, d, 0, products, (blasint)cols);
}

float kfe_i_narrow_threshold(const kfe_i_narrow *queries, int64_t i, double distance)
{
    return (float)((double)queries->levels[i] - queries->scale * distance / 2);
}
