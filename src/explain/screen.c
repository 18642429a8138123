/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the columns that may matter to a model without derivatives, such as neighbours on thousands of columns, for permutation.c.
 * Groups of neighbouring columns are permuted together. The group whose loss is largest is halved and both halves are measured, until the
 * budget is spent or no group loses anything. One column among d that matters is found with 2 log₂ d predictions.
 */
#include "core/memory.h"
#include "explain/permuting.h"

/* The table of a column of all views; *column becomes its place there. */
static kfe_i_table *table_of(const kfe_data *data, int64_t *column)
{
    int v = 0;

    while (*column >= data->views[v].table.cols)
        *column -= data->views[v++].table.cols;
    return &data->views[v].table;
}

/* Row i of the column gets the value of row order[i], or its own (NULL). */
static void fill_column(const kfe_i_permuting *p, int64_t column, const int64_t *order)
{
    int64_t place = column;
    const kfe_i_table *from = table_of(p->intact, &column);
    kfe_i_table *to = table_of(p->data, &place);

    for (int64_t i = 0; i < to->rows; i++)
        to->values[i * to->stride + place] = from->values[(order ? order[i] : i) * from->stride + column];
}

/* until: the sums of the weights so far. */
static void draw_by_weight(kfe_i_rng *rng, int64_t rows, const double *until, int64_t *order)
{
    for (int64_t i = 0; i < rows; i++) {
        double at = kfe_i_rng_uniform(rng) * until[rows - 1];
        int64_t low = 0;
        int64_t high = rows - 1;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (until[middle] > at)
                high = middle;
            else
                low = middle + 1;
        }
        order[i] = low;
    }
}

kfe_status kfe_i_exchange_rows(kfe_i_rng *rng, const kfe_i_target *target, int64_t rows, int64_t *order)
{
    kfe_status status = KFE_OK;
    double *until = NULL;
    double sum = 0;

    if (!target->weights) {
        kfe_i_rng_choose(rng, rows, rows, order);
        return KFE_OK;
    }
    KFE_ALLOC(target->ctx, until, rows);
    for (int64_t i = 0; i < rows; i++)
        until[i] = sum += target->weights[i];
    draw_by_weight(rng, rows, until, order);
cleanup:
    kfe_i_free(target->ctx, until);
    return status;
}

kfe_status kfe_i_permuted_loss(kfe_i_permuting *p, int64_t first, int64_t last, double *out)
{
    kfe_status status = KFE_OK;
    double value = 0;

    KFE_TRY(kfe_i_exchange_rows(&p->rng, &p->data->target, kfe_data_rows(p->data), p->order));
    for (int64_t j = first; j < last; j++)
        fill_column(p, j, p->order);
    KFE_TRY(kfe_i_judge(&p->judging, &value));
    *out = kfe_i_judge_loss(p->judging.metric, p->baseline, value);
cleanup:
    for (int64_t j = first; j < last; j++)
        fill_column(p, j, NULL);
    return status;
}

/* ---- groups ---- */

typedef struct group {
    int64_t first, last;
    double loss;
} group;

/* The group of several columns that loses most; -1: none loses anything. */
static int64_t next_to_halve(int64_t count, const group *groups)
{
    int64_t best = -1;

    for (int64_t k = 0; k < count; k++)
        if (groups[k].last - groups[k].first > 1 && groups[k].loss > (best < 0 ? 0 : groups[best].loss))
            best = k;
    return best;
}

static kfe_status halve(kfe_i_permuting *p, group *parent, group *second)
{
    kfe_status status = KFE_OK;

    *second = *parent;
    parent->last = second->first = parent->first + (parent->last - parent->first) / 2;
    KFE_TRY(kfe_i_permuted_loss(p, parent->first, parent->last, &parent->loss));
    KFE_TRY(kfe_i_permuted_loss(p, second->first, second->last, &second->loss));
cleanup:
    return status;
}

kfe_status kfe_i_screen_columns(kfe_i_permuting *p, int64_t budget, int64_t cols, kfe_i_sorted *out)
{
    kfe_status status = KFE_OK;
    int64_t steps = budget / 2 < cols ? budget / 2 : cols;
    int64_t count = 1;
    group *groups = NULL;

    KFE_ALLOC(p->job->ctx, groups, steps + 1);
    groups[0] = (group){0, cols, 1};
    for (; count <= steps; count++) {
        int64_t k = next_to_halve(count, groups);
        if (k < 0)
            break;
        KFE_TRY(kfe_i_progress(p->job->ctx, "screening columns", count, steps));
        KFE_TRY(halve(p, &groups[k], &groups[count]));
    }
    for (int64_t k = 0; k < count; k++)
        for (int64_t j = groups[k].first; j < groups[k].last; j++)
            out[j] = (kfe_i_sorted){groups[k].loss / (double)(groups[k].last - groups[k].first), j};
    kfe_i_sort_falling(out, cols);
cleanup:
    kfe_i_free(p->job->ctx, groups);
    return status;
}
