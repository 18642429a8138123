/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over training rows from those over all rows, for fold.c (data/sums.h says how sums are subtracted).
 *
 * Rounding: entries of the scatters S of all rows and T of the test rows are off by about √n·ε·√(S_ii·S_jj). If every S_ii is at most ten
 * times that of the training rows, the difference has at most one digit less than a sum over the training rows. A test row that is an outlier breaks
 * this rule, and the training rows are then used themselves.
 *
 * Time: O(nd²) for the total and for all folds together. Memory: d² for the total and 2d² for each fold that is being fitted.
 */
#include "select/row_sums.h"

#include <string.h>

#include "core/memory.h"

/* Columns whose total exceeds that of the training rows by more than this factor lose digits. */
#define LARGEST_LOSS 10.0
/* Fewer rows than this for each column do not repay the sums. */
enum { ROWS_PER_COLUMN = 4 };
/* The sums of the total and of all folds at work may take this share of the memory that is left. */
#define MEMORY_SHARE 0.25

int kfe_i_row_sums_serve(const kfe_i_method *method)
{
    return method->uses_products || method->faster_from_sums;
}

void kfe_i_row_sums_free(kfe_i_row_sums *sums)
{
    if (!sums->ctx)
        return;
    kfe_i_free(sums->ctx, sums->rows);
    kfe_i_sums_free(&sums->total);
    memset(sums, 0, sizeof *sums);
}

static int is_made(const kfe_i_row_sums *sums, const kfe_data *data, const int64_t *rows, int64_t count)
{
    return sums->count == count && sums->data == data &&
           memcmp(sums->rows, rows, (size_t)count * sizeof *rows) == 0;
}

static int pays_off(kfe_context *ctx, const kfe_data *data, int64_t count)
{
    const kfe_i_table *table = &data->views[0].table;
    double bytes = 8.0 * (double)table->cols * (double)table->cols * (1 + 2 * kfe_context_threads(ctx));

    return data->view_count == 1 && table->kind == KFE_TABLE_DENSE && !table->singles &&
           data->views[0].gaps.fill == KFE_FILL_NONE && table->cols > 0 &&
           count >= ROWS_PER_COLUMN * table->cols && bytes < MEMORY_SHARE * (double)kfe_i_memory_left(ctx);
}

/* The sums of some rows of the data, with all of its classes. */
static kfe_status sum_rows(kfe_context *ctx, const kfe_data *data, const int64_t *rows, int64_t count,
                           kfe_i_sums *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &data->target;
    const kfe_i_sum_rows some = {
        .table = &data->views[0].table, .index = rows, .count = count, .target = target};

    KFE_TRY(kfe_i_sums_begin(ctx, some.table->cols, out));
    if (target->task == KFE_TASK_REAL)
        KFE_TRY(kfe_i_sums_begin_targets(out, target->cols));
    for (int64_t g = 0; target->task == KFE_TASK_CLASSES && g < target->class_count; g++)
        KFE_TRY(kfe_i_sums_insert_class(out, g));
    KFE_TRY(kfe_i_checkpoint(ctx, "multiplying the columns", 0, 0));
    KFE_TRY(kfe_i_sums_add(out, &some));
cleanup:
    return status;
}

kfe_status kfe_i_row_sums_make(kfe_context *ctx, const kfe_data *data, const int64_t *rows, int64_t count,
                               kfe_i_row_sums *sums)
{
    kfe_status status = KFE_OK;

    if (is_made(sums, data, rows, count))
        return KFE_OK;
    kfe_i_row_sums_free(sums);
    if (!pays_off(ctx, data, count))
        return KFE_OK;
    sums->ctx = ctx;
    sums->data = data;
    KFE_ALLOC(ctx, sums->rows, count);
    memcpy(sums->rows, rows, (size_t)count * sizeof *rows);
    sums->count = count;
    KFE_TRY(sum_rows(ctx, data, rows, count, &sums->total));
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

static int keeps_digits(const kfe_i_sums *total, const kfe_i_sums *train)
{
    for (int64_t j = 0; j < total->cols; j++) {
        int64_t diagonal = j * (total->cols + 1);
        if (!(LARGEST_LOSS * train->scatter[diagonal] >= total->scatter[diagonal]))
            return 0;
    }
    return 1;
}

/* Leaves out classes without members, as the training rows of a fold do. */
static void drop_empty_classes(kfe_i_sums *s)
{
    int64_t kept = 0;

    for (int64_t g = 0; g < s->classes; g++) {
        if (!(s->class_rows[g] > 0.5))
            continue;
        s->class_rows[kept] = s->class_rows[g];
        memmove(s->class_means + kept * s->cols, s->class_means + g * s->cols,
                (size_t)s->cols * sizeof *s->class_means);
        kept++;
    }
    s->classes = kept;
}

kfe_status kfe_i_row_sums_train(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_split *split,
                                const kfe_i_scaler *scaler, kfe_i_sums *out, int *known)
{
    kfe_status status = KFE_OK;
    kfe_i_sums test = {0};

    *known = 0;
    memset(out, 0, sizeof *out);
    if (!covers(sums, split) || scaler->kind == KFE_SCALE_L2_ROWS || scaler->map.values)
        return KFE_OK;
    KFE_TRY(sum_rows(ctx, sums->data, split->test, split->test_count, &test));
    KFE_TRY(kfe_i_sums_copy_with(ctx, &sums->total, out));
    kfe_i_sums_subtract(out, &test);
    *known = keeps_digits(&sums->total, out);
    drop_empty_classes(out);
    kfe_i_sums_scale(out, scaler->shift, scaler->factor);
cleanup:
    kfe_i_sums_free(&test);
    return status;
}
