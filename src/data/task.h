/* SPDX-License-Identifier: Apache-2.0 */
/* Decide whether numbers are classes or real values when nobody says; the rule stands in task.c alone. */
#ifndef KFE_DATA_TASK_H
#define KFE_DATA_TASK_H

#include "core/context.h"

/* Whole numbers with more distinct values are taken as real values, with a warning. */
enum { KFE_MOST_NUMBER_CLASSES = 20 };

/* kfe_guess_task with the name of the file, for the warning; NULL: none. The values may be the distinct ones only. */
kfe_task kfe_i_guess_task(kfe_context *ctx, const char *file, int64_t count, const double *values,
                          int floating);

#endif
