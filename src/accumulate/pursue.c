/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fit on the rows of a stream that the processes keep, each its own: the method picks examples (kfe_i_fit_source.part), these become the support of
 * the accumulator's map, and the sums over the features of all rows train the learner. stream.c reads the rows.
 */
#include "accumulate/pursue.h"

#include <string.h>

#include "accumulate/weigh.h"
#include "core/cluster.h"
#include "core/memory.h"
#include "core/text.h"

int kfe_i_keeps_rows(const kfe_spec *spec)
{
    return kfe_i_method_use(spec->method, spec->settings, KFE_OFFER_PART, NULL) && spec->fit.landmarks == 0;
}

kfe_status kfe_i_kept_begin(kfe_accumulator *sums, int files, kfe_i_kept_rows *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_kept_rows){
        .sums = sums, .files = files, .target = {.ctx = sums->ctx}, .alone = kfe_i_processes(sums->ctx) == 1};
    kfe_i_row_store_begin(sums->ctx, NULL, &out->store);
    KFE_ALLOC_ZERO(sums->ctx, out->rows_of, files);
cleanup:
    return status;
}

void kfe_i_kept_free(kfe_i_kept_rows *kept)
{
    if (!kept->sums)
        return;
    kfe_i_free(kept->target.ctx, kept->rows_of);
    kfe_i_row_store_free(&kept->store);
    kfe_i_target_free(&kept->target);
}

/* ---- rows ---- */

static kfe_status add_values(kfe_i_kept_rows *k, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t size = target->rows * target->cols;
    int64_t before = k->target.rows * target->cols;

    KFE_GROW(k->target.ctx, k->target.values, k->value_capacity, before + size);
    memcpy(k->target.values + before, target->values, (size_t)size * sizeof *target->values);
    k->target.cols = target->cols;
cleanup:
    return status;
}

/* Codes are those of the accumulator's classes, which new classes move up. */
static kfe_status add_codes(kfe_i_kept_rows *k, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *a = k->sums;
    int32_t *code = NULL;

    KFE_ALLOC(a->ctx, code, target->class_count);
    KFE_GROW(a->ctx, k->target.codes, k->code_capacity, k->target.rows + target->rows);
    a->sample_target = k->target;
    status = kfe_i_accumulator_classes(a, target, code);
    memset(&a->sample_target, 0, sizeof a->sample_target);
    for (int64_t i = 0; status == KFE_OK && i < target->rows; i++)
        k->target.codes[k->target.rows + i] = code[target->codes[i]];
cleanup:
    kfe_i_free(a->ctx, code);
    return status;
}

/* Either all rows of a stream have weights, or none has. */
static kfe_status add_weights(kfe_i_kept_rows *k, const kfe_data *rows)
{
    kfe_status status = KFE_OK;
    int64_t count = kfe_data_rows(rows);

    KFE_GROW(k->target.ctx, k->target.weights, k->weight_capacity, k->target.rows + count);
    memcpy(k->target.weights + k->target.rows, rows->target.weights,
           (size_t)count * sizeof *k->target.weights);
cleanup:
    return status;
}

static kfe_status add_weighed(kfe_i_kept_rows *k, const kfe_data *rows, int file, int64_t before)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *a = k->sums;

    if (k->alone) { /* the order in which rows come is enough */
        file = 0;
        before = k->store.rows;
        k->rows_of[0] += (double)kfe_data_rows(rows);
    }
    k->store.map = a->map;
    KFE_TRY(kfe_i_model_check(a->ctx, a->map, rows));
    KFE_TRY(kfe_i_row_store_add(&k->store, rows, file, before));
    k->target.task = rows->target.task;
    if (rows->target.task == KFE_TASK_CLASSES)
        KFE_TRY(add_codes(k, &rows->target));
    if (rows->target.task == KFE_TASK_REAL)
        KFE_TRY(add_values(k, &rows->target));
    if (rows->target.weights)
        KFE_TRY(add_weights(k, rows));
    k->target.rows += kfe_data_rows(rows);
cleanup:
    return status;
}

kfe_status kfe_i_kept_add(kfe_i_kept_rows *k, const kfe_data *rows, int file, int64_t before)
{
    kfe_status status = KFE_OK;
    kfe_i_weighed_rows weighed = {0};

    KFE_TRY(kfe_i_accumulator_check_rows(k->sums, rows));
    KFE_TRY(kfe_i_accumulator_weigh(k->sums, rows, &weighed));
    if (weighed.rows)
        KFE_TRY(add_weighed(k, weighed.rows, file, before));
cleanup:
    kfe_i_weighed_rows_free(&weighed);
    return status;
}

/* ---- classes of all processes ---- */

/* The names of the classes of all processes, each with its NUL. */
static kfe_status gather_names(const kfe_accumulator *a, char **names, int64_t *size)
{
    kfe_status status = KFE_OK;
    kfe_i_text own;

    kfe_i_text_init(&own, a->ctx);
    for (int64_t g = 0; g < a->sums.classes; g++)
        kfe_i_text_add(&own, a->class_names[g], (int64_t)strlen(a->class_names[g]) + 1);
    KFE_TRY(own.status);
    KFE_TRY(kfe_i_cluster_gather_all(a->ctx, own.bytes, own.length, names, size));
cleanup:
    kfe_i_text_free(&own);
    return status;
}

/* Every process learns the classes of the others, so that all have the same. */
static kfe_status share_classes(kfe_i_kept_rows *k)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *a = k->sums;
    char *names = NULL;
    int64_t size = 0;

    if (a->sums.task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_TRY(gather_names(a, &names, &size));
    for (int64_t at = 0; at < size; at += (int64_t)strlen(names + at) + 1) {
        char *name = names + at;
        int32_t member = 0;
        int32_t code = 0;
        const kfe_i_target one = {.ctx = a->ctx,
                                  .task = KFE_TASK_CLASSES,
                                  .rows = 1,
                                  .codes = &member,
                                  .class_count = 1,
                                  .names = &name};
        a->sample_target = k->target;
        status = kfe_i_accumulator_classes(a, &one, &code);
        memset(&a->sample_target, 0, sizeof a->sample_target);
        if (status != KFE_OK)
            break;
    }
    k->target.class_count = a->sums.classes;
cleanup:
    kfe_i_free(a->ctx, names);
    return status;
}

/* ---- the fit ---- */

/* The sums over the features of the rows of this process. */
static kfe_status sum_features(kfe_i_kept_rows *k)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *a = k->sums;
    kfe_i_table features = {0};

    KFE_TRY(kfe_i_accumulator_sum_again(a));
    KFE_TRY(kfe_i_table_new_dense(a->ctx, k->store.rows, a->map->dim, &features));
    KFE_TRY(kfe_i_row_store_features(&k->store, &a->map->views[0].support, a->map->coefficients, a->map->dim,
                                     features.values));
    const kfe_i_sum_rows rows = {.table = &features, .count = k->store.rows, .target = &k->target};
    if (k->store.rows > 0)
        KFE_TRY(kfe_i_sums_add(&a->sums, &rows));
    a->count = (double)k->store.rows;
    a->weighted = k->target.weights != NULL;
cleanup:
    kfe_i_table_free(&features);
    return status;
}

/* The method's solution becomes the map. */
static kfe_status take_solution(kfe_i_kept_rows *k, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    kfe_i_table support = {0};

    KFE_TRY(kfe_i_row_store_fetch(&k->store, solution->index, solution->rows, &support));
    kfe_i_accumulator_replace_support(k->sums->map, &support, solution->rows, solution->coefficients,
                                      solution->dim);
    solution->coefficients = NULL;
cleanup:
    kfe_i_table_free(&support);
    return status;
}

static kfe_status check_rows_of_all(const kfe_i_kept_rows *k)
{
    if (!k->sums->map || k->store.part.total == 0)
        return kfe_i_fail(k->sums->ctx, KFE_EINPUT, "there are no examples to fit on: no rows were added");
    return kfe_i_accumulator_check_classes(k->sums);
}

kfe_status kfe_i_pursue(kfe_i_kept_rows *k, kfe_accumulator **sums, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = (*sums)->ctx;
    const kfe_i_method *method = (*sums)->spec->method;
    kfe_i_solution solution = {0};
    kfe_i_row_key *keys = NULL;
    const kfe_i_fit_source source = {.part = &k->store.part, .target = &k->target};
    kfe_i_thread_state saved = kfe_i_threads_enter(ctx);

    KFE_TRY(share_classes(k));
    k->store.map = (*sums)->map;
    k->store.weights = k->target.weights;
    KFE_TRY(kfe_i_row_store_number(&k->store, k->rows_of, k->files));
    KFE_TRY(check_rows_of_all(k));
    k->target.task = (*sums)->sums.task;
    KFE_TRY(kfe_i_row_store_keys(&k->store, &keys));
    k->store.part.keys = keys;
    KFE_TRY(method->fit(ctx, &source, (*sums)->spec->settings, &solution));
    KFE_TRY(take_solution(k, &solution));
    KFE_TRY(sum_features(k));
    kfe_i_row_store_free(&k->store); /* its map is that of the accumulator, which is replaced */
    KFE_TRY(kfe_i_accumulator_reduce(sums));
    k->sums = *sums;
    (*sums)->solved = &solution;
    KFE_TRY(kfe_accumulator_finish(ctx, *sums, out));
cleanup:
    (*sums)->solved = NULL;
    kfe_i_free(ctx, keys);
    kfe_i_solution_free(&solution);
    kfe_i_threads_leave(saved);
    return status;
}
