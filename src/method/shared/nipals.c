/* SPDX-License-Identifier: Apache-2.0 */
/* Features of rows with missing values, for fits and models: one product of all rows with the weights, less what the missing entries and the
 * components before take from it. */
#include "method/shared/nipals.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

void kfe_i_nipals_free(kfe_i_nipals *nipals)
{
    double *arrays[] = {nipals->means, nipals->weights, nipals->loadings, nipals->squares, nipals->patterns};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        kfe_i_free(nipals->ctx, arrays[i]);
    kfe_i_free(nipals->ctx, nipals->places);
    memset(nipals, 0, sizeof *nipals);
}

static int row_has_gaps(const kfe_i_table *table, int64_t i)
{
    const double *row = table->values + i * table->stride;
    double sum = 0;

    for (int64_t j = 0; j < table->cols; j++)
        sum += row[j] - row[j]; /* 0, or NaN for NaN and infinity */
    return isnan(sum);
}

/* What all rows need: Σw² of each component, and w_aᵀp_b for b < a. */
typedef struct plan {
    const kfe_i_nipals *nipals;
    double *squares, *overlaps;
} plan;

/* Room of a thread for a block of rows: `rows` rows without their missing values, the products with the weights, and of one row the columns that
 * are missing and what the components so far say of them. */
typedef struct room {
    double *rows, *products, *hidden;
    int32_t *missing;
} room;

static void make_plan(plan *p)
{
    const kfe_i_nipals *n = p->nipals;

    for (int64_t a = 0; a < n->dim; a++) {
        const double *w = n->weights + a * n->cols;
        p->squares[a] = cblas_ddot((blasint)n->cols, w, 1, w, 1);
        for (int64_t b = 0; b < a; b++)
            p->overlaps[a * n->dim + b] = cblas_ddot((blasint)n->cols, w, 1, n->loadings + b * n->cols, 1);
    }
}

/* The scores of a row, in place of its products with the weights. */
static void find_scores(const plan *p, const room *r, int64_t missing, double *t)
{
    const kfe_i_nipals *n = p->nipals;

    memset(r->hidden, 0, (size_t)missing * sizeof *r->hidden);
    for (int64_t a = 0; a < n->dim; a++) {
        const double *w = n->weights + a * n->cols;
        double left = p->squares[a];
        for (int64_t b = 0; b < a; b++)
            t[a] -= t[b] * p->overlaps[a * n->dim + b];
        for (int64_t e = 0; e < missing; e++) {
            left -= w[r->missing[e]] * w[r->missing[e]];
            t[a] += w[r->missing[e]] * r->hidden[e];
        }
        t[a] = left > KFE_LEAST_OBSERVED * p->squares[a] ? t[a] / left : 0;
        for (int64_t e = 0; e < missing; e++)
            r->hidden[e] += t[a] * n->loadings[a * n->cols + r->missing[e]];
    }
}

static int64_t list_missing(const double *row, int64_t cols, int32_t *missing)
{
    int64_t count = 0;

    for (int64_t j = 0; j < cols; j++)
        if (isnan(row[j]))
            missing[count++] = (int32_t)j;
    return count;
}

/* x less the means, and zero where it is missing. */
static void centre_row(const kfe_i_nipals *n, const double *row, double *out)
{
    for (int64_t j = 0; j < n->cols; j++)
        out[j] = isnan(row[j]) ? 0 : row[j] - n->means[j];
}

static void answer_block(const plan *p, const kfe_i_table *table, const int64_t *rows, int64_t count,
                         const room *r, const double *offset, double *out)
{
    const kfe_i_nipals *n = p->nipals;

    for (int64_t i = 0; i < count; i++)
        centre_row(n, table->values + rows[i] * table->stride, r->rows + i * n->cols);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count, (blasint)n->dim, (blasint)n->cols, 1,
                r->rows, (blasint)n->cols, n->weights, (blasint)n->cols, 0, r->products, (blasint)n->dim);
    for (int64_t i = 0; i < count; i++) {
        double *t = r->products + i * n->dim;
        int64_t missing = list_missing(table->values + rows[i] * table->stride, n->cols, r->missing);
        find_scores(p, r, missing, t);
        for (int64_t s = 0; s < n->dim; s++)
            out[rows[i] * n->dim + n->places[s]] = t[s] + (offset ? offset[n->places[s]] : 0);
    }
}

/* Rows of a block. */
enum { BLOCK_ROWS = 32 };

/* The rows listed, by threads. */
static kfe_status answer_rows(kfe_context *ctx, const plan *p, const kfe_i_table *table, const int64_t *rows,
                              int64_t count, const double *offset, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_nipals *n = p->nipals;
    int64_t blocks = (count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    int threads = (int64_t)kfe_context_threads(ctx) < blocks ? kfe_context_threads(ctx) : (int)blocks;
    int64_t block = count < BLOCK_ROWS ? count : BLOCK_ROWS;
    int64_t size = block * (n->cols + n->dim) + n->cols;
    double *work = NULL;
    int32_t *missing = NULL;

    KFE_ALLOC(ctx, work, threads * size);
    KFE_ALLOC(ctx, missing, threads * n->cols);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        double *own = work + t * size;
        const room r = {.rows = own,
                        .products = own + block * n->cols,
                        .hidden = own + block * (n->cols + n->dim),
                        .missing = missing + t * n->cols};
        for (int64_t b = blocks * t / threads; b < blocks * (t + 1) / threads; b++) {
            int64_t some = count - b * BLOCK_ROWS < BLOCK_ROWS ? count - b * BLOCK_ROWS : BLOCK_ROWS;
            answer_block(p, table, rows + b * BLOCK_ROWS, some, &r, offset, out);
        }
    }
cleanup:
    kfe_i_free(ctx, work);
    kfe_i_free(ctx, missing);
    return status;
}

kfe_status kfe_i_nipals_features(kfe_context *ctx, const kfe_i_nipals *nipals, const kfe_i_table *table,
                                 const double *offset, double *out)
{
    kfe_status status = KFE_OK;
    plan p = {.nipals = nipals};
    int64_t *rows = NULL;
    int64_t count = 0;

    for (int64_t i = 0; nipals->dim > 0 && i < table->rows; i++)
        if (row_has_gaps(table, i)) {
            if (!rows)
                KFE_ALLOC(ctx, rows, table->rows);
            rows[count++] = i;
        }
    if (count == 0)
        goto cleanup;
    KFE_ALLOC(ctx, p.squares, nipals->dim);
    KFE_ALLOC(ctx, p.overlaps, nipals->dim * nipals->dim);
    make_plan(&p);
    KFE_TRY(answer_rows(ctx, &p, table, rows, count, offset, out));
cleanup:
    kfe_i_free(ctx, rows);
    kfe_i_free(ctx, p.squares);
    kfe_i_free(ctx, p.overlaps);
    return status;
}
