/* SPDX-License-Identifier: Apache-2.0 */
/* The examples that may become landmarks (candidates.h), from the numbers of the distinct rows (data/rows/distinct.h). */
#include "gram/landmark/candidates.h"

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"

kfe_status kfe_i_landmark_candidates_make(kfe_context *ctx, int64_t rows, const kfe_i_landmark_plan *plan,
                                          kfe_i_landmark_candidates *out)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct distinct = {0};

    *out = (kfe_i_landmark_candidates){.ctx = ctx};
    KFE_TRY(kfe_i_distinct_make(ctx, rows, plan->keys, KFE_STREAM_GRAM_LANDMARKS, &distinct));
    KFE_ALLOC_ZERO(ctx, out->mass, distinct.count);
    for (int64_t i = 0; i < rows; i++)
        out->mass[distinct.of[i]] += plan->weights ? plan->weights[i] : 1;
    out->count = distinct.count;
    out->index = distinct.first;
    distinct.first = NULL;
cleanup:
    kfe_i_distinct_free(&distinct);
    return status;
}

void kfe_i_landmark_candidates_free(kfe_i_landmark_candidates *candidates)
{
    if (candidates->ctx) {
        kfe_i_free(candidates->ctx, candidates->index);
        kfe_i_free(candidates->ctx, candidates->mass);
    }
    *candidates = (kfe_i_landmark_candidates){0};
}
