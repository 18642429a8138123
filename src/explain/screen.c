/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the columns that may matter to a model without derivatives, such as neighbours on thousands of columns, for permutation.c.
 * Groups of neighbouring columns are permuted together. The group whose loss is largest is halved and both halves are measured, until the
 * budget is spent or no group loses anything. One column among d that matters is found with 2 log₂ d predictions.
 */
#include "core/memory.h"
#include "explain/permuting.h"

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
