/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The held-out predictions of a search as a set of examples, which figures of quality are drawn from. Called by source.c. Of a comparison
 * they are those of the best method.
 */
#include <math.h>

#include "core/memory.h"
#include "core/text.h"
#include "data/target/classes.h"
#include "report/figure/source.h"
#include "select/assess.h"
#include "text/read.h"

typedef struct taking {
    kfe_context *ctx;
    kfe_i_source *source;
    const kfe_table *table;
    int64_t first, count; /* rows of the table */
    kfe_i_set *set;
} taking;

/* Column `name`, or "NAME/3" of several targets. */
static const kfe_column *column_of(const kfe_table *table, const char *name, int64_t target)
{
    const kfe_column *only = kfe_table_find(table, name);
    char path[48];

    if (only)
        return target == 0 ? only : NULL;
    kfe_i_snprintf(path, sizeof path, "%s/%lld", name, (long long)target + 1);
    return kfe_table_find(table, path);
}

/* The rows with a prediction, and their weights. */
static kfe_status take_rows(taking *t, const kfe_column *prediction)
{
    kfe_status status = KFE_OK;
    const kfe_column *weights = kfe_table_find(t->table, "weight");

    KFE_ALLOC(t->ctx, t->set->origin, t->count);
    for (int64_t i = t->first; i < t->first + t->count; i++)
        if (prediction->texts ? prediction->texts[i] != NULL : isfinite(prediction->numbers[i]))
            t->set->origin[t->set->rows++] = i;
    if (!weights || !weights->numbers)
        return KFE_OK;
    KFE_ALLOC(t->ctx, t->set->own_weights, t->set->rows);
    for (int64_t k = 0; k < t->set->rows; k++)
        t->set->own_weights[k] = weights->numbers[t->set->origin[k]];
    t->set->weights = t->set->own_weights;
cleanup:
    return status;
}

static int32_t code_of(kfe_i_class_list *list, const char *name)
{
    int64_t g = 0;

    while (g < list->count && !kfe_i_same_class(list->names[g], name))
        g++;
    if (g == list->count)
        list->names[list->count++] = name;
    return (int32_t)g;
}

/* Names of classes that the results have, beside those of a model. */
static kfe_status make_room(taking *t)
{
    kfe_status status = KFE_OK;
    kfe_i_class_list *list = &t->source->classes;
    const char **names = NULL;

    KFE_ALLOC(t->ctx, names, list->count + 2 * t->set->rows);
    for (int64_t g = 0; g < list->count; g++)
        names[g] = list->names[g];
    kfe_i_free(t->ctx, list->names);
    list->names = names;
cleanup:
    return status;
}

static kfe_status take_classes(taking *t, const kfe_column *truth, const kfe_column *prediction)
{
    kfe_status status = KFE_OK;
    kfe_i_set *set = t->set;
    kfe_i_class_list *list = &t->source->classes;

    KFE_TRY(make_room(t));
    KFE_ALLOC(t->ctx, set->truth, set->rows);
    KFE_ALLOC(t->ctx, set->predicted, set->rows);
    for (int64_t k = 0; k < set->rows; k++) {
        int64_t row = set->origin[k];
        set->truth[k] = code_of(list, truth->texts[row] ? truth->texts[row] : "");
        set->predicted[k] = code_of(list, prediction->texts[row]);
    }
    set->outcome = (kfe_i_outcome){.task = KFE_TASK_CLASSES,
                                   .rows = set->rows,
                                   .classes = list->count,
                                   .positive = -1,
                                   .truth = set->truth,
                                   .predicted = set->predicted,
                                   .weights = set->weights};
    KFE_TRY(kfe_i_find_positive(t->ctx, list->count, (char *const *)list->names, "", &set->outcome.positive));
cleanup:
    return status;
}

static kfe_status take_values(taking *t)
{
    kfe_status status = KFE_OK;
    kfe_i_set *set = t->set;
    int64_t cols = 0;

    while (column_of(t->table, "truth", cols) && column_of(t->table, "prediction", cols))
        cols++;
    KFE_ALLOC(t->ctx, set->values, set->rows * cols);
    KFE_ALLOC(t->ctx, set->own_truth, set->rows * cols);
    for (int64_t j = 0; j < cols; j++) {
        const kfe_column *truth = column_of(t->table, "truth", j);
        const kfe_column *prediction = column_of(t->table, "prediction", j);
        for (int64_t k = 0; k < set->rows; k++) {
            set->own_truth[k * cols + j] = truth->numbers ? truth->numbers[set->origin[k]] : NAN;
            set->values[k * cols + j] = prediction->numbers ? prediction->numbers[set->origin[k]] : NAN;
        }
    }
    set->outcome = (kfe_i_outcome){.task = KFE_TASK_REAL,
                                   .rows = set->rows,
                                   .positive = -1,
                                   .cols = cols,
                                   .truth_values = set->own_truth,
                                   .predicted_values = set->values,
                                   .weights = set->weights};
cleanup:
    return status;
}

kfe_status kfe_i_source_hold_out(kfe_context *ctx, kfe_i_source *source)
{
    kfe_status status = KFE_OK;
    taking t = {.ctx = ctx,
                .source = source,
                .table = kfe_result_find(source->results, "held_out"),
                .set = &source->held_out};
    const kfe_column *truth = t.table ? column_of(t.table, "truth", 0) : NULL;
    const kfe_column *prediction = t.table ? column_of(t.table, "prediction", 0) : NULL;

    source->held_out.name = "held-out";
    if (!truth || !prediction || (truth->texts != NULL) != (prediction->texts != NULL))
        return KFE_OK;
    t.first = kfe_i_result_first(t.table, kfe_i_best_assessment(source->results), &t.count);
    KFE_TRY(take_rows(&t, prediction));
    if (t.set->rows == 0)
        return KFE_OK;
    KFE_TRY(prediction->texts ? take_classes(&t, truth, prediction) : take_values(&t));
cleanup:
    return status;
}
