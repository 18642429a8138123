/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule by which numbers are classes or real values, for readers (labels.c, target.c) and hosts (kfe_guess_task):
 *   - a fractional value among them           real values
 *   - whole, but of a floating-point type     real values, with a question
 *   - whole, more than 20 distinct values     real values, with a question
 *   - whole, at most 20 distinct values       classes
 * Text is always classes. Rows that come in parts are taken as the first part says, and refused once all numbers so far say otherwise.
 * A question is a warning that names the parameter to settle it with.
 */
#include "data/target/task.h"

#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"

static int is_whole(double value)
{
    return isfinite(value) && value == floor(value);
}

static void see_number(double value, kfe_i_seen_numbers *seen)
{
    int k = 0;

    while (k < seen->count && seen->distinct[k] != value)
        k++;
    if (k == seen->count && k <= KFE_MOST_NUMBER_CLASSES)
        seen->distinct[seen->count++] = value;
}

void kfe_i_see_numbers(int64_t count, const double *values, int floating, kfe_i_seen_numbers *seen)
{
    seen->floating = (seen->floating || !seen->any) && floating;
    seen->any = 1;
    for (int64_t i = 0; i < count && !seen->fractional; i++) {
        seen->fractional = !is_whole(values[i]);
        see_number(values[i], seen);
    }
}

static int is_many(const kfe_i_seen_numbers *seen)
{
    return seen->count > KFE_MOST_NUMBER_CLASSES;
}

/* The rule. */
static kfe_task task_of(const kfe_i_seen_numbers *seen)
{
    return seen->fractional || seen->floating || is_many(seen) ? KFE_TASK_REAL : KFE_TASK_CLASSES;
}

#define QUESTION                                                                                             \
    ", taken as real values; use {task=classify} if they are classes, or {task=regress} if they are not"

static void ask(kfe_context *ctx, const char *file, int floating)
{
    const char *name = file ? file : "";
    const char *colon = file ? ": " : "";

    if (floating)
        kfe_i_log(ctx, KFE_LOG_WARNING, "%s%sthe labels are whole numbers stored as real ones (1.0)" QUESTION,
                  name, colon);
    else
        kfe_i_log(ctx, KFE_LOG_WARNING, "%s%sthe labels are more than %d different whole numbers" QUESTION,
                  name, colon, KFE_MOST_NUMBER_CLASSES);
}

kfe_task kfe_i_guess_task(kfe_context *ctx, const char *file, int64_t count, const double *values,
                          int floating)
{
    kfe_i_seen_numbers seen = {0};
    kfe_task task;

    kfe_i_see_numbers(count, values, floating, &seen);
    task = task_of(&seen);
    if (task == KFE_TASK_REAL && !seen.fractional)
        ask(ctx, file, floating);
    return task;
}

kfe_task kfe_guess_task(kfe_context *ctx, int64_t count, const double *values, int floating)
{
    return kfe_i_guess_task(ctx, NULL, count, values, floating);
}

/* ---- labels that come in parts ---- */

static void merge(const kfe_i_seen_numbers *part, kfe_i_seen_numbers *seen)
{
    if (!part->any)
        return;
    kfe_i_see_numbers(part->count, part->distinct, part->floating, seen);
    seen->fractional |= part->fractional;
}

static kfe_status refuse(kfe_context *ctx, const char *file, const kfe_i_task_guess *guess)
{
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "%s%sthe labels of the first rows were taken as %s, but with those of later rows they are %s; use "
        "{task=classify} if the labels are classes, or {task=regress} if they are real values",
        file ? file : "", file ? ": " : "",
        guess->task == KFE_TASK_CLASSES ? "classes" : "real values, since they are whole numbers such as 1.0",
        guess->seen.fractional                   ? "real values, since one is not a whole number"
        : task_of(&guess->seen) == KFE_TASK_REAL ? "more than 20 different whole numbers, and so real values"
                                                 : "classes, since one is a whole number such as 1");
}

kfe_status kfe_i_task_guess_add(kfe_context *ctx, const char *file, const kfe_i_seen_numbers *part,
                                kfe_i_task_guess *guess)
{
    merge(part, &guess->seen);
    if (guess->task == KFE_TASK_NONE)
        guess->task = task_of(&guess->seen);
    return guess->text || task_of(&guess->seen) == guess->task ? KFE_OK : refuse(ctx, file, guess);
}

/* What a process tells the others. */
enum { TELL_ANY, TELL_TEXT, TELL_FRACTIONAL, TELL_FLOATING, TELL_COUNT, TELL_DISTINCT };
enum { TELL_WIDTH = TELL_DISTINCT + KFE_MOST_NUMBER_CLASSES + 1 };

static void tell(const kfe_i_task_guess *guess, double *out)
{
    out[TELL_ANY] = guess->seen.any;
    out[TELL_TEXT] = guess->text;
    out[TELL_FRACTIONAL] = guess->seen.fractional;
    out[TELL_FLOATING] = guess->seen.floating;
    out[TELL_COUNT] = guess->seen.count;
    memcpy(out + TELL_DISTINCT, guess->seen.distinct, sizeof guess->seen.distinct);
}

static void hear(const double *told, kfe_i_task_guess *guess)
{
    kfe_i_seen_numbers other = {.any = told[TELL_ANY] != 0,
                                .fractional = told[TELL_FRACTIONAL] != 0,
                                .floating = told[TELL_FLOATING] != 0,
                                .count = (int)told[TELL_COUNT]};

    memcpy(other.distinct, told + TELL_DISTINCT, sizeof other.distinct);
    guess->text |= told[TELL_TEXT] != 0;
    merge(&other, &guess->seen);
}

kfe_status kfe_i_task_guess_share(kfe_context *ctx, kfe_i_task_guess *guess)
{
    kfe_status status = KFE_OK;
    double *told = NULL;
    int processes = kfe_i_processes(ctx);

    if (processes == 1)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, told, (int64_t)processes * TELL_WIDTH);
    tell(guess, told + (size_t)kfe_i_process(ctx) * TELL_WIDTH);
    KFE_TRY(kfe_i_cluster_gather_rows(ctx, told, processes, TELL_WIDTH));
    for (int r = 0; r < processes; r++)
        hear(told + (size_t)r * TELL_WIDTH, guess);
    if (guess->task != KFE_TASK_NONE && !guess->text && task_of(&guess->seen) != guess->task)
        status = refuse(ctx, NULL, guess);
cleanup:
    kfe_i_free(ctx, told);
    return status;
}
