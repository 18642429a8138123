/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that choose landmarks, by name; form/landmarks.c calls kfe_i_landmarks_choose. */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/rng.h"
#include "gram/landmark/rpcholesky.h"
#include "gram/landmark/rules.h"

static kfe_status choose_random(const kfe_i_gram *gram, int64_t most, int64_t *index, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t *order = NULL;
    kfe_i_rng rng;

    KFE_ALLOC(gram->ctx, order, gram->size);
    kfe_i_rng_init(&rng, kfe_context_seed(gram->ctx), KFE_STREAM_GRAM_LANDMARKS);
    kfe_i_rng_choose(&rng, gram->size, most, order);
    memcpy(index, order, (size_t)most * sizeof *index);
    *count = most;
cleanup:
    kfe_i_free(gram->ctx, order);
    return status;
}

int kfe_i_landmarks_are_sampled(int64_t rows, int64_t landmarks)
{
    return landmarks < rows / KFE_ROWS_PER_LANDMARK;
}

/* Works on a sample of the rows, so that the factor takes little time and memory. */
static kfe_status choose_by_pivots(const kfe_i_gram *gram, int64_t most, int64_t *index, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_i_landmarks_are_sampled(gram->size, most) ? most * KFE_ROWS_PER_LANDMARK : gram->size;
    int64_t *sample = NULL;
    kfe_i_rpcholesky made = {0};
    kfe_i_rng rng;

    KFE_ALLOC(gram->ctx, sample, gram->size);
    kfe_i_rng_init(&rng, kfe_context_seed(gram->ctx), KFE_STREAM_GRAM_LANDMARKS);
    kfe_i_rng_choose(&rng, gram->size, rows, sample);
    KFE_TRY(kfe_i_rpcholesky_run(gram, sample, rows, most, &made));
    memcpy(index, made.pivots, (size_t)made.rank * sizeof *index);
    *count = made.rank;
cleanup:
    kfe_i_rpcholesky_free(&made);
    kfe_i_free(gram->ctx, sample);
    return status;
}

kfe_status kfe_i_landmarks_choose(const kfe_i_gram *gram, const kfe_i_landmark_plan *plan, int64_t *index,
                                  int64_t *count)
{
    int64_t most = plan->count < gram->size ? plan->count : gram->size;

    assert(plan->count >= 1);
    *count = 0;
    if (plan->index) {
        memcpy(index, plan->index, (size_t)most * sizeof *index);
        *count = most;
        return KFE_OK;
    }
    switch (plan->rule) {
    case KFE_LANDMARKS_RANDOM:
        return choose_random(gram, most, index, count);
    case KFE_LANDMARKS_SMA:
        return kfe_i_landmarks_greedy(gram, most, index, count);
    case KFE_LANDMARKS_KMEANS:
        return kfe_i_landmarks_kmeans(gram, most, index, count);
    case KFE_LANDMARKS_RPCHOLESKY:
        break;
    }
    return choose_by_pivots(gram, most, index, count);
}
