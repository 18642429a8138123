/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits a spec without some of its training rows, fold by fold, and answers the rows that were left out. Calibration (calibrate.c) and
 * intervals (conformal.c) learn from these answers.
 *
 * Folds go by the content of the rows: equal rows and rows of a group stay together, and neither the order of the rows nor that of the
 * classes matters. Classes have equal shares of every fold. Costs a fit per fold.
 */
#include "model/left_out.h"

#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "model/fit.h"

/* ---- folds ---- */

static int64_t smallest_class(const kfe_i_target *target, const int64_t *counts)
{
    int64_t least = target->rows;

    for (int64_t g = 0; g < target->class_count; g++)
        least = counts[g] < least ? counts[g] : least;
    return least;
}

/* Members of each class that differ; `order` has equal rows side by side. */
static void count_distinct(const kfe_i_target *target, const kfe_i_distinct *distinct, const int64_t *order,
                           int64_t *counts)
{
    for (int64_t g = 0; g < target->class_count; g++) {
        int64_t before = -1;
        for (int64_t i = 0; i < target->rows; i++) {
            if (target->codes[order[i]] != g)
                continue;
            counts[g] += distinct->of[order[i]] != before;
            before = distinct->of[order[i]];
        }
    }
}

/* Rare classes first, so that their rows lie in different folds; equal ones in the order in which they first come among the rows in
 * `order`, whatever their names. */
static void order_classes(const kfe_i_target *target, const int64_t *order, const int64_t *counts,
                          int64_t *classes)
{
    int64_t known = 0;

    for (int64_t i = 0; i < target->rows && known < target->class_count; i++) {
        int64_t code = target->codes[order[i]];
        int64_t at = 0;
        while (at < known && classes[at] != code)
            at++;
        if (at < known)
            continue;
        for (known++; at > 0 && counts[classes[at - 1]] > counts[code]; at--)
            classes[at] = classes[at - 1];
        classes[at] = code;
    }
    for (; known < target->class_count; known++)
        classes[known] = -1; /* has no members */
}

/* Deals the rows of each class out to the folds in `order`, equal rows together whatever their classes. Every class begins where the one
 * before it ended, so that the folds have equal sizes. `dealt`: room for the fold of each distinct row. */
static void deal_rows(const kfe_i_target *target, const kfe_i_distinct *distinct, const int64_t *order,
                      const int64_t *classes, int64_t folds, int64_t *dealt, int64_t *fold_of)
{
    int64_t next = 0;

    for (int64_t c = 0; c < distinct->count; c++)
        dealt[c] = -1;
    for (int64_t g = 0; g < target->class_count; g++)
        for (int64_t i = 0; i < target->rows; i++) {
            int64_t content = distinct->of[order[i]];
            if (target->codes[order[i]] != classes[g])
                continue;
            if (dealt[content] < 0)
                dealt[content] = next++ % folds;
            fold_of[order[i]] = dealt[content];
        }
}

/* Whether more than half of the weight lies on rows that occur with several classes. `order` has equal rows side by side. */
static int has_mixed_rows(const kfe_i_target *target, const kfe_i_distinct *distinct, const int64_t *order)
{
    double all = 0;
    double mixed = 0;

    for (int64_t i = 0, end = 0; i < target->rows; i = end) {
        double weight = 0;
        int several = 0;
        for (end = i; end < target->rows && distinct->of[order[end]] == distinct->of[order[i]]; end++) {
            weight += target->weights ? target->weights[order[end]] : 1;
            several |= target->codes[order[end]] != target->codes[order[i]];
        }
        all += weight;
        mixed += several ? weight : 0;
    }
    return mixed > all / 2;
}

/* The rows of a group go where its first row, in random order, was dealt. Returns the number of folds, of which there are no more than
 * groups. */
static int64_t deal_groups(const kfe_data *data, const int64_t *order, int64_t folds, int64_t *fold_of)
{
    int64_t rows = data->target.rows;
    int64_t next = 0;

    for (int64_t i = 0; i < rows; i++)
        fold_of[i] = -1;
    for (int64_t i = 0; i < rows; i++) {
        if (fold_of[order[i]] >= 0)
            continue;
        for (int64_t j = 0; j < rows; j++)
            if (data->groups[j] == data->groups[order[i]])
                fold_of[j] = next % folds;
        next++;
    }
    return next < folds ? next : folds;
}

/* Real targets are one class. */
static kfe_status as_classes(kfe_i_arena *memory, const kfe_i_target *target, kfe_i_target *out)
{
    kfe_status status = KFE_OK;

    *out = *target;
    if (target->task == KFE_TASK_CLASSES)
        return KFE_OK;
    out->class_count = 1;
    KFE_TAKE_ZERO(memory, out->codes, target->rows);
cleanup:
    return status;
}

static kfe_status deal(kfe_i_left_out *job, kfe_i_arena *memory, const kfe_i_distinct *distinct, int64_t most)
{
    kfe_status status = KFE_OK;
    kfe_i_target target;
    int64_t *counts = NULL;
    int64_t *order = NULL;
    int64_t *classes = NULL;
    int64_t *dealt = NULL;

    KFE_TRY(as_classes(memory, &job->train->target, &target));
    KFE_TAKE_ZERO(memory, counts, target.class_count);
    KFE_TAKE(memory, classes, target.class_count);
    KFE_TAKE(memory, order, target.rows);
    KFE_TAKE(memory, dealt, distinct->count);
    KFE_TRY(kfe_i_distinct_order(distinct, order));
    job->mixed = !job->train->groups && target.class_count > 1 && has_mixed_rows(&target, distinct, order);
    count_distinct(&target, distinct, order, counts);
    order_classes(&target, order, counts, classes);
    job->folds = smallest_class(&target, counts);
    if (job->folds < 2)
        return KFE_OK;
    if (most == INT64_MAX)
        job->folds = distinct->count;
    else if (most < job->folds)
        job->folds = most;
    if (job->train->groups)
        job->folds = deal_groups(job->train, order, job->folds, job->fold_of);
    else
        deal_rows(&target, distinct, order, classes, job->folds, dealt, job->fold_of);
cleanup:
    return status;
}

kfe_status kfe_i_left_out_begin(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, int64_t most,
                                uint64_t stream, kfe_i_left_out *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    kfe_i_row_key *keys = NULL;
    kfe_i_distinct distinct = {0};
    int64_t rows = train->target.rows;

    *out = (kfe_i_left_out){.ctx = ctx, .spec = spec, .train = train};
    KFE_ALLOC(ctx, out->fold_of, rows);
    KFE_ALLOC(ctx, out->kept, rows);
    KFE_ALLOC(ctx, out->left, rows);
    KFE_TRY(kfe_i_data_row_keys(ctx, train, &keys));
    KFE_TRY(kfe_i_distinct_make(ctx, rows, keys, stream, &distinct));
    KFE_TRY(deal(out, &memory, &distinct, most));
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_free(ctx, keys);
    kfe_i_arena_free(&memory);
    return status;
}

void kfe_i_left_out_free(kfe_i_left_out *job)
{
    if (!job->ctx)
        return;
    kfe_i_free(job->ctx, job->fold_of);
    kfe_i_free(job->ctx, job->kept);
    kfe_i_free(job->ctx, job->left);
}

/* ---- one fold ---- */

kfe_status kfe_i_gather_fold(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                             kfe_i_row_list rows, kfe_i_row_list columns, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;
    kfe_i_table picked = {0};

    kfe_i_kernel_list_init(ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(ctx, spec, data, &kernels));
    KFE_TRY(kfe_i_data_gather(ctx, data, rows.items, rows.count, out));
    for (int v = 0; v < data->view_count; v++)
        if (kfe_i_kernel_list_given(&kernels, v) > 0) {
            KFE_TRY(kfe_i_table_columns(ctx, &(*out)->views[v].table, columns.items, columns.count, &picked));
            kfe_i_table_free(&(*out)->views[v].table);
            (*out)->views[v].table = picked;
        }
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

static void divide(kfe_i_left_out *job, int64_t fold)
{
    job->kept_count = job->left_count = 0;
    for (int64_t i = 0; i < job->train->target.rows; i++)
        if (job->fold_of[i] == fold)
            job->left[job->left_count++] = i;
        else
            job->kept[job->kept_count++] = i;
}

kfe_status kfe_i_left_out_fit(kfe_i_left_out *job, int64_t fold, kfe_model **model, double **outputs)
{
    kfe_status status = KFE_OK;
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    kfe_log_fn log = job->ctx->log;

    job->ctx->log = NULL; /* the fit on all rows has said it */
    *model = NULL;
    *outputs = NULL;
    divide(job, fold);
    const kfe_i_row_list kept = {job->kept, job->kept_count};
    const kfe_i_row_list left = {job->left, job->left_count};
    KFE_TRY(kfe_i_gather_fold(job->ctx, job->spec, job->train, kept, kept, &train));
    KFE_TRY(kfe_i_gather_fold(job->ctx, job->spec, job->train, left, kept, &test));
    KFE_TRY(kfe_i_fit_model(job->ctx, job->spec, train, model));
    KFE_ALLOC(job->ctx, *outputs, left.count * (*model)->predictor.outputs);
    KFE_TRY(kfe_i_model_outputs(job->ctx, *model, test, *outputs));
cleanup:
    job->ctx->log = log;
    kfe_data_free(train);
    kfe_data_free(test);
    return status;
}
