/* SPDX-License-Identifier: Apache-2.0 */
/* The SVMs of the learner svm by our own solver (blocks/blocks.h): all problems of two classes, or all target columns, at
 * once. Rows of the kernel are kept in the order of classes, so that the examples of a problem are side by side. */
#include "core/memory.h"
#include "learn/blocks/blocks.h"
#include "learn/svm_job.h"

/* All problems; the arrays of one are slices of `rows` and `numbers`. */
typedef struct problem_list {
    kfe_i_svm_job *job;
    kfe_i_svm_dual *problems;
    int64_t count;
    int64_t *rows;
    double *numbers; /* per example of a problem: target, β and value */
    int64_t used;
} problem_list;

static void list_free(kfe_context *ctx, problem_list *list)
{
    kfe_i_free(ctx, list->problems);
    kfe_i_free(ctx, list->rows);
    kfe_i_free(ctx, list->numbers);
}

static kfe_status add_count(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    (void)ctx;
    *(int64_t *)user += binary->count;
    return KFE_OK;
}

static kfe_status list_open(kfe_context *ctx, kfe_i_svm_job *job, problem_list *list)
{
    kfe_status status = KFE_OK;
    int64_t total = job->n * job->outputs;

    *list = (problem_list){.job = job};
    if (job->decision != KFE_DECIDE_VALUE) {
        total = 0;
        KFE_TRY(
            kfe_i_multiclass_each(ctx, job->target, job->decision, job->class_weights, add_count, &total));
    }
    KFE_ALLOC_ZERO(ctx, list->problems, job->outputs);
    KFE_ALLOC(ctx, list->rows, total);
    KFE_ALLOC_ZERO(ctx, list->numbers, 4 * total);
cleanup:
    return status;
}

/* Takes the next problem; the caller fills its targets, which are returned. */
static double *add_problem(problem_list *list, int64_t count, const int64_t *rows)
{
    kfe_i_svm_dual *dual = &list->problems[list->count++];
    const kfe_i_target *all = list->job->target;
    double *target = list->numbers + 4 * list->used;
    int64_t *own = list->rows + list->used;

    for (int64_t i = 0; i < count; i++)
        own[i] = rows ? rows[i] : i;
    for (int64_t i = 0; all->weights && i < count; i++)
        target[3 * count + i] = all->weights[own[i]];
    *dual = (kfe_i_svm_dual){
        .count = count, .rows = own, .target = target, .beta = target + count, .values = target + 2 * count};
    dual->weights = all->weights ? target + 3 * count : NULL;
    list->used += count;
    return target;
}

static kfe_status add_binary(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    problem_list *list = user;
    double *target = add_problem(list, binary->count, binary->rows);
    kfe_i_svm_dual *dual = &list->problems[list->count - 1];

    (void)ctx;
    dual->upper[0] = list->job->settings->c * binary->positive_weight;
    dual->upper[1] = list->job->settings->c * binary->negative_weight;
    for (int64_t i = 0; i < binary->count; i++)
        target[i] = binary->sign[i];
    return KFE_OK;
}

static void add_column(problem_list *list, int64_t column)
{
    const kfe_i_target *all = list->job->target;
    double *target = add_problem(list, all->rows, NULL);
    kfe_i_svm_dual *dual = &list->problems[list->count - 1];

    dual->real = 1;
    dual->tube = list->job->settings->epsilon;
    dual->upper[0] = dual->upper[1] = list->job->settings->c;
    for (int64_t i = 0; i < all->rows; i++)
        target[i] = all->values[i * all->cols + column];
}

/* Writes position[n]: examples in the order of their classes. */
static kfe_status sort_by_class(kfe_context *ctx, const kfe_i_target *target, int64_t *position)
{
    kfe_status status = KFE_OK;
    int64_t *next = NULL;

    KFE_ALLOC_ZERO(ctx, next, target->class_count + 1);
    for (int64_t i = 0; i < target->rows; i++)
        next[target->codes[i] + 1]++;
    for (int64_t g = 0; g < target->class_count; g++)
        next[g + 1] += next[g];
    for (int64_t i = 0; i < target->rows; i++)
        position[i] = next[target->codes[i]]++;
cleanup:
    kfe_i_free(ctx, next);
    return status;
}

/* Problems are listed in the order of outputs. */
static void copy_answers(const problem_list *list)
{
    kfe_i_svm_job *job = list->job;

    for (int64_t output = 0; output < list->count; output++) {
        const kfe_i_svm_dual *dual = &list->problems[output];
        job->offset[output] = dual->offset;
        for (int64_t i = 0; i < dual->count; i++) {
            job->coefficients[dual->rows[i] * job->outputs + output] = dual->beta[i];
            job->values[dual->rows[i] * job->outputs + output] = dual->values[i];
        }
    }
}

kfe_status kfe_i_svm_train_blocks(kfe_context *ctx, kfe_i_svm_job *job, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;
    kfe_i_blocks_options options = {.stop = job->settings->stop};
    problem_list list = {0};
    int64_t *position = NULL;

    KFE_TRY(list_open(ctx, job, &list));
    KFE_ALLOC_ZERO(ctx, job->values, job->n * job->outputs);
    if (job->decision == KFE_DECIDE_VALUE) {
        for (int64_t column = 0; column < job->outputs; column++)
            add_column(&list, column);
    } else {
        KFE_ALLOC(ctx, position, job->n);
        KFE_TRY(sort_by_class(ctx, job->target, position));
        options.position = position;
        KFE_TRY(
            kfe_i_multiclass_each(ctx, job->target, job->decision, job->class_weights, add_binary, &list));
    }
    KFE_TRY(kfe_i_blocks_solve(ctx, gram, list.problems, list.count, &options));
    copy_answers(&list);
cleanup:
    list_free(ctx, &list);
    kfe_i_free(ctx, position);
    return status;
}
