/* SPDX-License-Identifier: Apache-2.0 */
/* Decide whether numbers are classes or real values when nobody says; the rule stands in task.c alone. */
#ifndef KFE_DATA_TARGET_TASK_H
#define KFE_DATA_TARGET_TASK_H

#include "core/context.h"

/* Whole numbers with more distinct values are taken as real values, with a warning. */
enum { KFE_MOST_NUMBER_CLASSES = 20 };

/* What the rule asks of numbers, which may come in parts; of the distinct values, those that it needs. */
typedef struct kfe_i_seen_numbers {
    int any;        /* there were numbers */
    int fractional; /* one of them is not a whole number */
    int floating;   /* all are of a floating-point type, or written so */
    int count;      /* of distinct */
    double distinct[KFE_MOST_NUMBER_CLASSES + 1];
} kfe_i_seen_numbers;

/* The labels of rows that come in parts, in files or processes, and what they are taken as. */
typedef struct kfe_i_task_guess {
    kfe_task task; /* guessed from the numbers of the first part; KFE_TASK_NONE: there is nothing to guess */
    int text;      /* a later part has text: these are classes */
    kfe_i_seen_numbers seen;
} kfe_i_task_guess;

/* Adds the numbers of a part. The first part with numbers decides guess->task. Later ones fail if the rule says otherwise of all numbers
 * so far, as it would of one file that has them all. */
kfe_status kfe_i_task_guess_add(kfe_context *ctx, const char *file, const kfe_i_seen_numbers *part,
                                kfe_i_task_guess *guess);
/* In a cluster: adds what the other processes have seen. Every process calls it. */
kfe_status kfe_i_task_guess_share(kfe_context *ctx, kfe_i_task_guess *guess);
void kfe_i_see_numbers(int64_t count, const double *values, int floating, kfe_i_seen_numbers *seen);

/* kfe_guess_task with the name of the file, for the warning; NULL: none. The values may be the distinct ones only. */
kfe_task kfe_i_guess_task(kfe_context *ctx, const char *file, int64_t count, const double *values,
                          int floating);

#endif
