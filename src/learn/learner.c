/* SPDX-License-Identifier: Apache-2.0 */
/* The table of learners, its public calls, and the checks of targets and features that all learners need. */
#include "learn/learner.h"

#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"

#define KFE_LEARNER(name) extern const kfe_i_learner kfe_i_learner_##name;
#include "learn/learners.def"
#undef KFE_LEARNER

#define KFE_LEARNER(name) &kfe_i_learner_##name,
static const kfe_i_learner *const learners[] = {
#include "learn/learners.def"
};
#undef KFE_LEARNER

const kfe_i_learner *kfe_i_learner_at(int index)
{
    return index >= 0 && (size_t)index < sizeof learners / sizeof *learners ? learners[index] : NULL;
}

static const char *learner_name_at(const void *list, int index)
{
    const kfe_i_learner *learner = kfe_i_learner_at(index);
    (void)list;
    return learner ? learner->name : NULL;
}

kfe_status kfe_i_learner_find(kfe_context *ctx, const char *name, const kfe_i_learner **out)
{
    char suggestion[96];

    for (int i = 0; (*out = kfe_i_learner_at(i)); i++)
        if (strcmp((*out)->name, name) == 0)
            return KFE_OK;
    kfe_i_suggest(name, learner_name_at, NULL, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "there is no learner '%s'%s; {learners} lists them", name, suggestion);
}

const kfe_entry_info *kfe_learner(int index)
{
    const kfe_i_learner *row = kfe_i_learner_at(index);
    return row ? &row->entry : NULL;
}

const kfe_param_info *kfe_learner_param(int index, int param)
{
    const kfe_i_learner *learner = kfe_i_learner_at(index);
    return learner ? kfe_i_param_info(&learner->params, param) : NULL;
}

/* ---- checks of the data ---- */

static kfe_status check_classes(kfe_context *ctx, const char *name, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int64_t *counts = NULL;

    if (target->class_count < 2)
        KFE_FAIL(ctx, KFE_EINPUT, "learner %s needs at least two classes, but every example is of class '%s'",
                 name, target->class_count == 1 ? target->names[0] : "");
    KFE_ALLOC(ctx, counts, target->class_count);
    kfe_i_target_count(target, counts);
    for (int64_t g = 0; g < target->class_count; g++)
        if (counts[g] == 0)
            KFE_FAIL(
                ctx, KFE_EINPUT,
                "learner %s has no example of class '%s'; remove the class, or use fewer folds or stratified "
                "ones",
                name, target->names[g]);
cleanup:
    kfe_i_free(ctx, counts);
    return status;
}

kfe_status kfe_i_learner_check(kfe_context *ctx, const kfe_i_learner *learner, const kfe_i_target *target)
{
    switch (target->task) {
    case KFE_TASK_CLASSES:
        return check_classes(ctx, learner->name, target);
    case KFE_TASK_REAL:
        if (learner->flags & KFE_HAS_REGRESSION)
            return KFE_OK;
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "learner %s needs class labels, but the targets were read as real numbers; if they are "
            "classes, use {task=classify}",
            learner->name);
    case KFE_TASK_NONE:
        break;
    }
    return kfe_i_fail(ctx, KFE_EINPUT, "learner %s needs labels, but the data has none; give {labels}",
                      learner->name);
}

static int rows_differ(const kfe_i_table *table, int64_t i, int64_t j)
{
    if (table->kind == KFE_TABLE_DENSE)
        return memcmp(table->values + i * table->stride, table->values + j * table->stride,
                      (size_t)table->cols * sizeof *table->values) != 0;
    int64_t a = table->row_start[i];
    int64_t b = table->row_start[j];
    int64_t count = table->row_start[i + 1] - a;
    return count != table->row_start[j + 1] - b ||
           memcmp(table->values + a, table->values + b, (size_t)count * sizeof *table->values) != 0 ||
           memcmp(table->columns + a, table->columns + b, (size_t)count * sizeof *table->columns) != 0;
}

static int all_rows_equal(const kfe_i_table *table)
{
    for (int64_t i = 1; i < table->rows; i++)
        if (rows_differ(table, 0, i))
            return 0;
    return 1;
}

/* Learners square the features, so that larger ones would overflow. */
#define LARGEST_FEATURE 1e150

kfe_status kfe_i_learner_check_features(kfe_context *ctx, const kfe_i_table *features)
{
    int64_t row = 0;
    int64_t col = 0;

    if (features->rows < 1 || features->cols < 1)
        return kfe_i_fail(ctx, KFE_EINPUT, "there is nothing to learn from: %lld examples with %lld features",
                          (long long)features->rows, (long long)features->cols);
    if (kfe_i_table_find_beyond(ctx, features, LARGEST_FEATURE, &row, &col))
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "feature %lld of example %lld is beyond %g, too large to compute with; use {scale}, "
            "or another kernel width",
            (long long)col + 1, (long long)row + 1, LARGEST_FEATURE);
    if (features->rows > 1 && all_rows_equal(features))
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "all features are constant, so that every example gets the same answer; check the width of "
                  "the kernel, or use {scale}");
    return KFE_OK;
}
