/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial least squares on a table in memory by products with XᵀX, in the form that is predicted to be fastest: the rows, which each product
 * reads once; XᵀX in double precision; or XᵀX in single precision, after which the features are found a second time (rough_sums.h).
 * pls_sums.c finds the features; where these sums lack digits, pls.c makes passes over the rows.
 */
#include <math.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/share.h"
#include "method/deflation/pls_sums.h"

/* Nanoseconds on two threads, fitted to times of pls with 10,000 × 1,000 and 100,000 × 500 numbers: reading a number once, with a
 * share for each target; and what XᵀX costs for it. */
#define KFE_PASS_COST(targets) (0.24 + 0.04 * (targets))
#define KFE_PRODUCT_COST(d) (1.5 + (d) / 100)
/* The same for one product of a vector with XᵀX. */
#define KFE_VECTOR_COST 0.5
/* The same for products that read the rows once each, and for the form with a matrix in single precision: its first pass, what the
 * matrix costs, and exact products with each feature. */
#define KFE_ROUGH_PASS_COST 0.3
#define KFE_ROUGH_MATRIX_COST(d, features) (0.6 + (d) / 190 + 0.05 * (features))
/* Nanoseconds to begin and merge the sums of threads. */
#define KFE_SUMS_COST 1e5
/* Tables of fewer numbers are not worth the choice. */
#define KFE_FEWEST_NUMBERS (1 << 18)
/* Rows that are added up between two questions whether to cancel. */
enum { ROWS_AT_A_TIME = 1 << 16 };
/* Sums may take this share of the memory that is left. */
#define SUMS_SHARE 0.25

typedef enum sums_form { FORM_NONE, FORM_SCATTER, FORM_ROUGH_ROWS, FORM_ROUGH_MATRIX } sums_form;

/* The form of the sums with which `most` features take the least time; FORM_NONE: passes are faster. */
static sums_form choose_form(const kfe_i_table *table, const kfe_i_target *target, int64_t targets,
                             int64_t most)
{
    double d = (double)table->cols;
    double k = (double)most;
    double numbers = (double)table->rows * d;
    double multiply = KFE_VECTOR_COST * k * d * d + KFE_SUMS_COST;
    double by_passes = 2 * k * numbers * KFE_PASS_COST((double)targets);
    double by_rows = numbers * (k + 1) * KFE_ROUGH_PASS_COST;
    double by_matrix = numbers * KFE_ROUGH_MATRIX_COST(d, k) + multiply;
    double by_scatter = numbers * KFE_PRODUCT_COST(d) + multiply;
    int takes_rough = table->values && !target->weights && numbers >= KFE_FEWEST_NUMBERS;

    if (targets < 1 || most > table->cols || most >= table->rows)
        return FORM_NONE;
    if (takes_rough && fmin(by_rows, by_matrix) < by_scatter)
        return by_rows < by_matrix ? FORM_ROUGH_ROWS : FORM_ROUGH_MATRIX;
    return table->rows >= 4 * (table->cols + targets) && by_scatter < by_passes ? FORM_SCATTER : FORM_NONE;
}

static kfe_status add_up(kfe_context *ctx, const kfe_i_table *table, const kfe_i_target *target,
                         kfe_i_sums *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_sums_begin_with(ctx, table->cols, target, out));
    for (int64_t first = 0; first < table->rows; first += ROWS_AT_A_TIME) {
        int64_t count = kfe_i_least(ROWS_AT_A_TIME, table->rows - first);
        const kfe_i_sum_rows some = {.table = table, .first = first, .count = count, .target = target};
        KFE_TRY(kfe_i_progress(ctx, "multiplying the columns", first, table->rows));
        KFE_TRY(kfe_i_sums_add(out, &some));
    }
cleanup:
    return status;
}

static kfe_status fit_exactly(kfe_context *ctx, const kfe_i_fit_source *source, int64_t dim,
                              kfe_i_solution *out, int *done)
{
    kfe_status status = KFE_OK;
    kfe_i_sums sums = {0};

    KFE_TRY(add_up(ctx, &source->views[0], source->target, &sums));
    const kfe_i_pls_sums from = {.sums = &sums, .moments = 1};
    KFE_TRY(kfe_i_pls_from_sums(ctx, &from, dim, out, done));
cleanup:
    kfe_i_sums_free(&sums);
    return status;
}

/* *usable is 0 if the columns do not suit single precision. */
static kfe_status fit_roughly(kfe_context *ctx, const kfe_i_fit_source *source, kfe_i_rough_form form,
                              int64_t dim, kfe_i_solution *out, int *usable, int *done)
{
    kfe_status status = KFE_OK;
    kfe_i_sums sums = {0};
    kfe_i_rough *rough = NULL;

    KFE_TRY(kfe_i_rough_new(ctx, &source->views[0], source->target, form, &rough, &sums, usable));
    const kfe_i_pls_sums from = {.sums = &sums, .rough = rough, .moments = 1};
    if (*usable)
        KFE_TRY(kfe_i_pls_from_sums(ctx, &from, dim, out, done));
cleanup:
    kfe_i_sums_free(&sums);
    kfe_i_rough_free(rough);
    return status;
}

static kfe_status fit_by(kfe_context *ctx, sums_form which, const kfe_i_fit_source *source, int64_t targets,
                         int64_t dim, kfe_i_solution *out, int *done)
{
    kfe_status status = KFE_OK;
    double d = (double)source->views[0].cols;
    double memory = SUMS_SHARE * (double)kfe_i_memory_left(ctx);
    kfe_i_rough_form rough = which == FORM_ROUGH_ROWS ? KFE_ROUGH_ROWS : KFE_ROUGH_MATRIX;
    int usable = 0;

    if (which != FORM_SCATTER && kfe_i_rough_bytes(ctx, source->views[0].cols, targets, rough) < memory)
        KFE_TRY(fit_roughly(ctx, source, rough, dim, out, &usable, done));
    if (!usable && which != FORM_ROUGH_ROWS && 16 * d * d < memory)
        KFE_TRY(fit_exactly(ctx, source, dim, out, done));
    kfe_i_log(ctx, KFE_LOG_DEBUG, "pls: %s",
              *done ? "sums over the rows replace the rows"
                    : "sums over the rows have too few digits, so the rows are used");
cleanup:
    return status;
}

kfe_status kfe_i_pls_from_rows(kfe_context *ctx, const kfe_i_fit_source *source, int64_t dim,
                               kfe_i_solution *out, int *done)
{
    const kfe_i_target *target = source->target;
    int64_t targets = target->task == KFE_TASK_CLASSES ? target->class_count : target->cols;

    *done = 0;
    if (source->view_count != 1 || !source->views || source->views[0].kind != KFE_TABLE_DENSE ||
        kfe_i_processes(ctx) > 1)
        return KFE_OK;
    sums_form which = choose_form(&source->views[0], target, targets, dim);
    return which == FORM_NONE ? KFE_OK : fit_by(ctx, which, source, targets, dim, out, done);
}
