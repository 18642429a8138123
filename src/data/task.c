/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule by which numbers are classes or real values, for readers (labels.c, target.c) and hosts (kfe_guess_task):
 *   - a fractional value among them           real values
 *   - whole, but of a floating-point type     real values, with a question
 *   - whole, more than 20 distinct values     real values, with a question
 *   - whole, at most 20 distinct values       classes
 * Text is always classes. A question is a warning that names the parameter to settle it with.
 */
#include "data/task.h"

#include <math.h>

/* Counts the distinct values up to KFE_MOST_NUMBER_CLASSES + 1. */
static int count_distinct(int64_t count, const double *values)
{
    double seen[KFE_MOST_NUMBER_CLASSES];
    int found = 0;

    for (int64_t i = 0; i < count; i++) {
        int k = 0;
        while (k < found && seen[k] != values[i])
            k++;
        if (k == KFE_MOST_NUMBER_CLASSES)
            return KFE_MOST_NUMBER_CLASSES + 1;
        if (k == found)
            seen[found++] = values[i];
    }
    return found;
}

static int all_whole(int64_t count, const double *values)
{
    for (int64_t i = 0; i < count; i++)
        if (!(isfinite(values[i]) && values[i] == floor(values[i])))
            return 0;
    return 1;
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
    if (!all_whole(count, values))
        return KFE_TASK_REAL;
    if (!floating && count_distinct(count, values) <= KFE_MOST_NUMBER_CLASSES)
        return KFE_TASK_CLASSES;
    ask(ctx, file, floating);
    return KFE_TASK_REAL;
}

kfe_task kfe_guess_task(kfe_context *ctx, int64_t count, const double *values, int floating)
{
    return kfe_i_guess_task(ctx, NULL, count, values, floating);
}
