/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the value behind a feature or output that is not finite. New data may hold larger values than training data,
 * which is checked when it is fitted. Used by project.c. */
#include "model/overflow.h"

#include <math.h>

/* The largest number of one row so far. */
typedef struct largest {
    const char *view; /* not owned; NULL: no number is above zero */
    int64_t col;
    double magnitude;
} largest;

/* The first row with a number that is not finite; -1 if all are finite. */
static int64_t find_overflow(const double *computed, int64_t rows, int64_t cols)
{
    for (int64_t p = 0; p < rows * cols; p++)
        if (!isfinite(computed[p]))
            return p / cols;
    return -1;
}

/* Compares the numbers of one row of a view, as scaled by `scaler`; NULL: the table is scaled already. */
static void compare(largest *found, const char *view, const kfe_i_table *table, const kfe_i_scaler *scaler,
                    int64_t row)
{
    if (table->kind == KFE_TABLE_TEXT)
        return;
    int sparse = table->kind == KFE_TABLE_CSR;
    int64_t begin = sparse ? table->row_start[row] : row * table->stride;
    int64_t end = sparse ? table->row_start[row + 1] : begin + table->cols;
    for (int64_t p = begin; p < end; p++) {
        int64_t col = sparse ? table->columns[p] : p - begin;
        double given = sparse ? table->values[p] : kfe_i_table_value(table, row, col);
        double value = given - (scaler && scaler->shift ? scaler->shift[col] : 0);
        double magnitude = fabs(value * (scaler && scaler->factor ? scaler->factor[col] : 1));
        if (magnitude > found->magnitude)
            *found = (largest){view, col, magnitude};
    }
}

static kfe_status refuse(kfe_context *ctx, const largest *found, const char *view, int64_t row)
{
    if (!found->view)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: row %lld has values too large to compute with; correct or remove it", view,
                          (long long)row + 1);
    return kfe_i_fail(
        ctx, KFE_EINPUT, "%s: row %lld, column %lld is too %s to compute with; correct or remove it",
        found->view, (long long)row + 1, (long long)found->col + 1, found->magnitude < 1 ? "small" : "large");
}

kfe_status kfe_i_refuse_overflow(kfe_context *ctx, const kfe_i_ready *ready, const double *computed,
                                 int64_t rows, int64_t cols)
{
    const kfe_model *model = ready->model;
    int64_t row = find_overflow(computed, rows, cols);
    largest found = {0};

    if (row < 0)
        return KFE_OK;
    for (int v = 0; v < model->view_count; v++) {
        if (model->views[v].scaler.chain.count > 0)
            continue; /* steps make other columns */
        if (ready->given)
            compare(&found, kfe_i_view_shown(&ready->given[v]), &ready->given[v].table,
                    &model->views[v].scaler, row);
        else if (!model->views[v].scaler.map.values) /* a map makes other columns */
            compare(&found, model->views[v].name, &ready->scaled[v], NULL, row);
    }
    return refuse(ctx, &found, ready->given ? kfe_i_view_shown(&ready->given[0]) : model->views[0].name,
                  ready->first_row + row);
}

kfe_status kfe_i_refuse_scaled(kfe_context *ctx, const char *view, int64_t first_row,
                               const kfe_i_table *scaled)
{
    largest found = {.view = view, .magnitude = (double)INFINITY};
    int64_t row = 0;

    if (!kfe_i_table_find_nonfinite(ctx, scaled, &row, &found.col))
        return KFE_OK;
    return refuse(ctx, &found, view, first_row + row);
}
