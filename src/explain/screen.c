/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the columns that may matter to a model without derivatives, such as neighbours on thousands of columns, for permutation.c.
 * Groups of neighbouring columns are permuted together. The group whose loss is largest is halved and both halves are measured, until the
 * budget is spent or no group loses anything. One column among d that matters is found with 2 log₂ d predictions.
 */
#include "core/memory.h"
#include "explain/permuting.h"

/* The view of a column of all views, and its place there. */
static kfe_i_table *table_of(const kfe_i_permuting *p, int64_t *column)
{
    int v = 0;

    while (*column >= p->data->views[v].table.cols)
        *column -= p->data->views[v++].table.cols;
    return &p->data->views[v].table;
}

static void permute(kfe_i_permuting *p, int64_t column)
{
    kfe_i_table *table = table_of(p, &column);

    for (int64_t i = 0; i < table->rows; i++)
        p->held[i] = table->values[i * table->stride + column];
    for (int64_t i = 0; i < table->rows; i++)
        table->values[i * table->stride + column] = p->held[p->order[i]];
}

static void put_back(kfe_i_permuting *p, int64_t column)
{
    kfe_i_table *table = table_of(p, &column);

    for (int64_t i = 0; i < table->rows; i++)
        p->held[p->order[i]] = table->values[i * table->stride + column];
    for (int64_t i = 0; i < table->rows; i++)
        table->values[i * table->stride + column] = p->held[i];
}

kfe_status kfe_i_permuted_loss(kfe_i_permuting *p, int64_t first, int64_t last, double *out)
{
    int64_t rows = kfe_data_rows(p->data);
    double value = 0;

    kfe_i_rng_choose(&p->rng, rows, rows, p->order);
    for (int64_t j = first; j < last; j++)
        permute(p, j);
    kfe_status status = kfe_i_judge(&p->judging, &value);
    for (int64_t j = first; j < last; j++)
        put_back(p, j);
    *out = kfe_i_judge_loss(p->judging.metric, p->baseline, value);
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
