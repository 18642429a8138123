/* SPDX-License-Identifier: Apache-2.0 */
/* A least-recently-used cache of kernel columns. `slot_of` says in which slot a column is, `used` when a slot was
 * last used; a new column replaces the one unused for longest. There are few slots, so that searching them costs
 * little compared with evaluating a column. */
#include "gram/column_cache.h"

#include "core/invariant.h"
#include "core/memory.h"

enum { ABSENT = -1, LISTED = -2 };

struct kfe_i_column_cache {
    const kfe_i_gram *gram;
    int64_t slots;
    double *columns;  /* slots × n */
    double *fetched;  /* n × slots, as the operator gives them */
    int64_t *slot_of; /* per column of the operator: its slot, or ABSENT, or LISTED among the missing */
    int64_t *holds;   /* per slot: its column, or -1 */
    int64_t *used;    /* per slot */
    int64_t *missing; /* columns to evaluate */
    int64_t clock, evaluated;
};

kfe_status kfe_i_column_cache_new(const kfe_i_gram *gram, int64_t most, kfe_i_column_cache **out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    kfe_i_column_cache *cache = NULL;

    assert(most >= 0);
    *out = NULL;
    KFE_ALLOC_ZERO(ctx, cache, 1);
    cache->gram = gram;
    cache->slots = most < 1 ? 1 : most < gram->size ? most : gram->size;
    KFE_TRY(kfe_i_check_memory(ctx, 16.0 * (double)cache->slots * (double)gram->size,
                               "the cache of kernel columns", "raise {memory} or keep fewer columns"));
    KFE_ALLOC(ctx, cache->columns, cache->slots * gram->size);
    KFE_ALLOC(ctx, cache->fetched, cache->slots * gram->size);
    KFE_ALLOC(ctx, cache->slot_of, gram->size);
    KFE_ALLOC(ctx, cache->holds, cache->slots);
    KFE_ALLOC_ZERO(ctx, cache->used, cache->slots);
    KFE_ALLOC(ctx, cache->missing, cache->slots);
    for (int64_t i = 0; i < gram->size; i++)
        cache->slot_of[i] = ABSENT;
    for (int64_t s = 0; s < cache->slots; s++)
        cache->holds[s] = -1;
    *out = cache;
    cache = NULL;
cleanup:
    kfe_i_column_cache_free(cache);
    return status;
}

void kfe_i_column_cache_free(kfe_i_column_cache *cache)
{
    if (!cache)
        return;
    kfe_context *ctx = cache->gram->ctx;
    kfe_i_free(ctx, cache->columns);
    kfe_i_free(ctx, cache->fetched);
    kfe_i_free(ctx, cache->slot_of);
    kfe_i_free(ctx, cache->holds);
    kfe_i_free(ctx, cache->used);
    kfe_i_free(ctx, cache->missing);
    kfe_i_free(ctx, cache);
}

static int64_t oldest_slot(const kfe_i_column_cache *cache)
{
    int64_t oldest = 0;

    for (int64_t s = 1; s < cache->slots; s++)
        if (cache->used[s] < cache->used[oldest])
            oldest = s;
    return oldest;
}

/* Gives column j of the fetched block, of `count`, a slot. */
static void place(kfe_i_column_cache *cache, int64_t j, int64_t count)
{
    int64_t n = cache->gram->size;
    int64_t slot = oldest_slot(cache);

    if (cache->holds[slot] >= 0)
        cache->slot_of[cache->holds[slot]] = ABSENT;
    cache->holds[slot] = cache->missing[j];
    cache->slot_of[cache->missing[j]] = slot;
    cache->used[slot] = ++cache->clock;
    for (int64_t i = 0; i < n; i++)
        cache->columns[slot * n + i] = cache->fetched[i * count + j];
}

kfe_status kfe_i_column_cache_fetch(kfe_i_column_cache *cache, const int64_t *index, int64_t count)
{
    int64_t absent = 0;
    kfe_status status;

    assert(kfe_i_all_below(index, count, cache->gram->size));
    if (count > cache->slots)
        return kfe_i_fail(cache->gram->ctx, KFE_EINVAL, "%lld columns do not fit a cache of %lld",
                          (long long)count, (long long)cache->slots);
    for (int64_t j = 0; j < count; j++) {
        int64_t slot = cache->slot_of[index[j]];
        if (slot >= 0)
            cache->used[slot] = ++cache->clock; /* so that it is not replaced below */
        if (slot != ABSENT)
            continue;
        cache->slot_of[index[j]] = LISTED;
        cache->missing[absent++] = index[j];
    }
    if (absent == 0)
        return KFE_OK;
    status = kfe_i_gram_columns(cache->gram, cache->missing, absent, cache->fetched);
    for (int64_t j = 0; j < absent; j++)
        if (status == KFE_OK)
            place(cache, j, absent);
        else
            cache->slot_of[cache->missing[j]] = ABSENT;
    cache->evaluated += status == KFE_OK ? absent : 0;
    return status;
}

kfe_status kfe_i_column_cache_get(kfe_i_column_cache *cache, int64_t index, const double **out)
{
    kfe_status status = kfe_i_column_cache_fetch(cache, &index, 1);

    assert(index >= 0 && index < cache->gram->size);
    *out = status == KFE_OK ? cache->columns + cache->slot_of[index] * cache->gram->size : NULL;
    return status;
}

int64_t kfe_i_column_cache_evaluated(const kfe_i_column_cache *cache)
{
    return cache->evaluated;
}
