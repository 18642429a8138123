/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that choose landmarks, by name; form/landmarks.c calls kfe_i_landmarks_choose. */
#include <string.h>

#include "core/invariant.h"
#include "core/share.h"
#include "gram/landmark/rpcholesky.h"
#include "gram/landmark/rules.h"

int kfe_i_landmarks_are_sampled(int64_t rows, int64_t landmarks)
{
    return landmarks < rows / KFE_ROWS_PER_LANDMARK;
}

/* Works on a sample of the rows, so that the factor takes little time and memory. */
static kfe_status choose_by_pivots(const kfe_i_gram *gram, const kfe_i_landmark_candidates *from,
                                   int64_t most, int64_t *index, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t sample =
        kfe_i_landmarks_are_sampled(from->count, most) ? most * KFE_ROWS_PER_LANDMARK : from->count;
    kfe_i_rpcholesky made = {0};

    KFE_TRY(kfe_i_rpcholesky_run(gram, from, sample, most, &made));
    memcpy(index, made.pivots, (size_t)made.rank * sizeof *index);
    *count = made.rank;
cleanup:
    kfe_i_rpcholesky_free(&made);
    return status;
}

static kfe_status choose_by_rule(const kfe_i_gram *gram, const kfe_i_landmark_candidates *from,
                                 kfe_i_landmark_rule rule, int64_t most, int64_t *index, int64_t *count)
{
    switch (rule) {
    case KFE_LANDMARKS_RANDOM:
        memcpy(index, from->index, (size_t)most * sizeof *index);
        *count = most;
        return KFE_OK;
    case KFE_LANDMARKS_SMA:
        return kfe_i_landmarks_greedy(gram, from, most, index, count);
    case KFE_LANDMARKS_KMEANS:
        return kfe_i_landmarks_kmeans(gram, from, most, index, count);
    case KFE_LANDMARKS_RPCHOLESKY:
        break;
    }
    return choose_by_pivots(gram, from, most, index, count);
}

kfe_status kfe_i_landmarks_choose(const kfe_i_gram *gram, const kfe_i_landmark_plan *plan, int64_t *index,
                                  int64_t *count)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_candidates from = {0};

    assert(plan->count >= 1);
    *count = 0;
    if (plan->index) {
        *count = kfe_i_least(plan->count, gram->size);
        memcpy(index, plan->index, (size_t)*count * sizeof *index);
        return KFE_OK;
    }
    KFE_TRY(kfe_i_landmark_candidates_make(gram->ctx, gram->size, plan, &from));
    KFE_TRY(choose_by_rule(gram, &from, plan->rule, kfe_i_least(plan->count, from.count), index, count));
cleanup:
    kfe_i_landmark_candidates_free(&from);
    return status;
}
