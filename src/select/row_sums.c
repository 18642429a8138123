/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XᵀX of training rows from that of all rows, for fold.c. With c the mean of all n rows, S the sum of (x − c)(x − c)ᵀ over all
 * of them, and T and t those of (x − c)(x − c)ᵀ and x − c over the test rows, the m training rows have
 *     Σ (x − μ)(x − μ)ᵀ = S − T − ttᵀ/m,   μ = c − t/m.
 * Columns that are scaled by factors f_i multiply entry ij by f_i·f_j; what is subtracted from columns makes no difference.
 *
 * Rounding: entries of S and T are off by about √n·ε·√(S_ii·S_jj). If every S_ii is at most ten times that of the training rows,
 * the difference has at most one digit less than a sum over the training rows. A test row that is an outlier breaks this rule,
 * and the training rows are then multiplied by themselves.
 *
 * Time: O(nd²) for the total and for all folds together. Memory: d² for the total and for each fold that is being fitted.
 */
#include "select/row_sums.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"

/* Columns whose total exceeds that of the training rows by more than this factor lose digits. */
#define LARGEST_LOSS 10.0
/* Fewer rows than this for each column do not repay the sums. */
enum { ROWS_PER_COLUMN = 4 };
/* The squares of the total and of all folds at work may take this share of the memory that is left. */
#define MEMORY_SHARE 0.25
enum { PANEL_ROWS = 1024 };

void kfe_i_row_sums_free(kfe_i_row_sums *sums)
{
    if (!sums->ctx)
        return;
    kfe_i_free(sums->ctx, sums->rows);
    kfe_i_free(sums->ctx, sums->centre);
    kfe_i_free(sums->ctx, sums->squares);
    memset(sums, 0, sizeof *sums);
}

static int is_made(const kfe_i_row_sums *sums, const kfe_i_table *table, const int64_t *rows, int64_t count)
{
    return sums->count == count && sums->table == table &&
           memcmp(sums->rows, rows, (size_t)count * sizeof *rows) == 0;
}

static int pays_off(kfe_context *ctx, const kfe_data *data, int64_t count)
{
    const kfe_i_table *table = &data->views[0].table;
    double bytes = 8.0 * (double)table->cols * (double)table->cols * (1 + kfe_context_threads(ctx));

    return data->view_count == 1 && table->kind == KFE_TABLE_DENSE && !table->singles &&
           data->views[0].gaps.fill == KFE_FILL_NONE && table->cols > 0 &&
           count >= ROWS_PER_COLUMN * table->cols && bytes < MEMORY_SHARE * (double)kfe_i_memory_left(ctx);
}

static void find_centre(kfe_i_row_sums *sums)
{
    int64_t cols = sums->table->cols;

    memset(sums->centre, 0, (size_t)cols * sizeof *sums->centre);
    for (int64_t i = 0; i < sums->count; i++) {
        const double *row = sums->table->values + sums->rows[i] * sums->table->stride;
        for (int64_t j = 0; j < cols; j++)
            sums->centre[j] += row[j];
    }
    for (int64_t j = 0; j < cols; j++)
        sums->centre[j] /= (double)sums->count;
}

/* Adds (x − c)(x − c)ᵀ over these rows to squares, and x − c to `linear` (NULL: not wanted). */
static kfe_status add_rows(kfe_context *ctx, const kfe_i_row_sums *sums, const int64_t *rows, int64_t count,
                           double *squares, double *linear)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = sums->table;
    int64_t cols = table->cols;
    double *panel = NULL;

    KFE_ALLOC(ctx, panel, PANEL_ROWS * cols);
    for (int64_t first = 0; first < count; first += PANEL_ROWS) {
        int64_t some = count - first < PANEL_ROWS ? count - first : PANEL_ROWS;
        KFE_TRY(kfe_i_checkpoint(ctx, "multiplying the columns", first, count));
#pragma omp parallel for num_threads(kfe_context_threads(ctx)) schedule(static)
        for (int64_t i = 0; i < some; i++) {
            const double *row = table->values + rows[first + i] * table->stride;
            for (int64_t j = 0; j < cols; j++)
                panel[i * cols + j] = row[j] - sums->centre[j];
        }
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (blasint)cols, (blasint)some, 1, panel,
                    (blasint)cols, 1, squares, (blasint)cols);
        for (int64_t i = 0; linear && i < some; i++)
            for (int64_t j = 0; j < cols; j++)
                linear[j] += panel[i * cols + j];
    }
cleanup:
    kfe_i_free(ctx, panel);
    return status;
}

kfe_status kfe_i_row_sums_make(kfe_context *ctx, const kfe_data *data, const int64_t *rows, int64_t count,
                               kfe_i_row_sums *sums)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &data->views[0].table;

    if (is_made(sums, table, rows, count))
        return KFE_OK;
    kfe_i_row_sums_free(sums);
    if (!pays_off(ctx, data, count))
        return KFE_OK;
    sums->ctx = ctx;
    sums->table = table;
    KFE_ALLOC(ctx, sums->rows, count);
    KFE_ALLOC(ctx, sums->centre, table->cols);
    KFE_ALLOC_ZERO(ctx, sums->squares, table->cols * table->cols);
    memcpy(sums->rows, rows, (size_t)count * sizeof *rows);
    sums->count = count;
    find_centre(sums);
    KFE_TRY(add_rows(ctx, sums, rows, count, sums->squares, NULL));
cleanup:
    if (status != KFE_OK)
        kfe_i_row_sums_free(sums);
    return status;
}

/* Whether the training rows and the test rows are disjoint and together those of the sums, and the test rows no more than half.
 * All lists are increasing. */
static int covers(const kfe_i_row_sums *sums, const kfe_i_split *split)
{
    int64_t train = 0;
    int64_t test = 0;

    if (!sums || sums->count == 0 || split->train_count + split->test_count != sums->count ||
        split->test_count > split->train_count)
        return 0;
    for (int64_t i = 0; i < sums->count; i++) {
        int in_train = train < split->train_count && split->train[train] == sums->rows[i];
        int in_test = test < split->test_count && split->test[test] == sums->rows[i];
        if (in_train == in_test)
            return 0;
        train += in_train;
        test += in_test;
    }
    return 1;
}

static void subtract(const kfe_i_row_sums *sums, double rows, const double *linear, const double *factor,
                     double *squares)
{
    int64_t cols = sums->table->cols;

    for (int64_t i = 0; i < cols; i++)
        for (int64_t j = i; j < cols; j++) {
            double value = sums->squares[i * cols + j] - squares[i * cols + j] - linear[i] * linear[j] / rows;
            squares[i * cols + j] = factor ? value * factor[i] * factor[j] : value;
        }
}

static int keeps_digits(const kfe_i_row_sums *sums, const double *factor, const double *squares)
{
    int64_t cols = sums->table->cols;

    for (int64_t j = 0; j < cols; j++) {
        double f = factor ? factor[j] * factor[j] : 1;
        if (!(LARGEST_LOSS * squares[j * (cols + 1)] >= f * sums->squares[j * (cols + 1)]))
            return 0;
    }
    return 1;
}

kfe_status kfe_i_row_sums_train(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_split *split,
                                const kfe_i_scaler *scaler, double **out)
{
    kfe_status status = KFE_OK;
    double *squares = NULL;
    double *linear = NULL;

    *out = NULL;
    if (!covers(sums, split) || scaler->kind == KFE_SCALE_L2_ROWS || scaler->map.values)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, squares, sums->table->cols * sums->table->cols);
    KFE_ALLOC_ZERO(ctx, linear, sums->table->cols);
    KFE_TRY(add_rows(ctx, sums, split->test, split->test_count, squares, linear));
    subtract(sums, (double)split->train_count, linear, scaler->factor, squares);
    if (keeps_digits(sums, scaler->factor, squares)) {
        *out = squares;
        squares = NULL;
    }
cleanup:
    kfe_i_free(ctx, squares);
    kfe_i_free(ctx, linear);
    return status;
}
