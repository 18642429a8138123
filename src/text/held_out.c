/* SPDX-License-Identifier: Apache-2.0 */
/* The held-out predictions of an assessment as a table of its result. Called by scores.c. */
#include <math.h>

#include "core/memory.h"
#include "data/data.h"
#include "text/scores.h"

static void put_prediction(kfe_i_result_table *table, const char *name, const kfe_i_target *target,
                           const double *values)
{
    char number[32];

    if (target->task == KFE_TASK_CLASSES) {
        kfe_i_put_text(table, NULL, name, isnan(values[0]) ? NULL : target->names[(int64_t)values[0]]);
        return;
    }
    for (int64_t j = 0; j < target->cols; j++) {
        kfe_i_snprintf(number, sizeof number, "%lld", (long long)j + 1);
        kfe_i_put_real(table, target->cols > 1 ? name : NULL, target->cols > 1 ? number : name, values[j]);
        if (target->cols > 1)
            kfe_i_put_about(table, "the target of this number");
    }
}

static void put_id(kfe_i_result_table *table, const kfe_i_table *ids, int64_t row)
{
    char *name = kfe_i_strndup(table->result->ctx, ids->bytes + ids->row_start[row],
                               (size_t)(ids->row_start[row + 1] - ids->row_start[row]));

    if (name)
        kfe_i_put_text(table, NULL, "id", name);
    else
        table->result->status = kfe_i_lack(table->result->ctx);
    kfe_i_free(table->result->ctx, name);
}

/* One row of the data that a split tests; `predictions` are those of the chosen setting there. */
static void put_held_out_row(kfe_i_result_table *table, const kfe_i_assessment *a, int64_t s, int64_t row,
                             const double *predictions)
{
    const kfe_i_split *split = &a->splits.items[s];
    const kfe_i_target *target = &a->data->target;
    const kfe_i_table *ids = &a->data->ids;
    double code = target->task == KFE_TASK_CLASSES ? (double)target->codes[row] : 0;

    kfe_i_result_row(table);
    kfe_i_put_count(table, NULL, "row", row + 1);
    kfe_i_put_about(table, "the row of the data, from 1");
    if (ids->rows > 0)
        put_id(table, ids, row);
    kfe_i_put_count(table, NULL, "split", s + 1);
    kfe_i_put_count(table, NULL, "repeat", split->repeat + 1);
    kfe_i_put_count(table, NULL, "fold", split->fold + 1);
    if (target->weights)
        kfe_i_put_real(table, NULL, "weight", target->weights[row]);
    put_prediction(table, "truth", target,
                   target->task == KFE_TASK_CLASSES ? &code : target->values + row * target->cols);
    put_prediction(table, "prediction", target, predictions);
}

void kfe_i_add_held_out(kfe_i_result_table *table, const kfe_i_assessment *a)
{
    const kfe_i_cells *cells = &a->outer;
    kfe_i_result_table *rows = NULL;

    if (!a->data || cells->kept == 0)
        return;
    int64_t width = a->data->target.task == KFE_TASK_REAL ? a->data->target.cols : 1;
    rows = kfe_i_result_add(table, NULL, "held_out", 0);
    for (int64_t s = 0; s < a->splits.count; s++) {
        const double *predictions = cells->predictions + (s * cells->settings + a->chosen[s]) * cells->kept;
        for (int64_t i = 0; i < a->splits.items[s].test_count; i++)
            put_held_out_row(rows, a, s, a->splits.items[s].test[i], predictions + i * width);
    }
}
