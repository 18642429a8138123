/* SPDX-License-Identifier: Apache-2.0 */
/* Draws rows by a hash of their values. */
#include "data/table/row_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/table/keys.h"

/* Equal rows have the same key. */
struct candidate {
    kfe_i_row_key key;
    int64_t row;
    double weight, priority;
};

static int compare_hashes(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;

    if (x->key.order != y->key.order)
        return x->key.order < y->key.order ? -1 : 1;
    if (x->key.same != y->key.same)
        return x->key.same < y->key.same ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int compare_priorities(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return compare_hashes(a, b);
}

/* Makes one candidate of equal rows; returns how many are left. */
static int64_t merge_equal(struct candidate *sorted, int64_t count)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < count; i++) {
        struct candidate *last = &sorted[kept - (kept > 0)];
        if (sorted[i].weight > 0 && kept > 0 && sorted[i].key.order == last->key.order &&
            sorted[i].key.same == last->key.same)
            last->weight += sorted[i].weight;
        else if (sorted[i].weight > 0)
            sorted[kept++] = sorted[i];
    }
    return kept;
}

/* Candidates of equal priority at the limit are drawn together or, as here, not at all. */
static void keep_first(const struct candidate *sorted, int64_t count, int64_t most, kfe_i_row_sample *out)
{
    double limit = count > most ? sorted[most].priority : 0;

    for (int64_t i = 0; i < most && i < count; i++)
        if (sorted[i].priority > limit) {
            out->index[out->count] = sorted[i].row;
            out->weights[out->count++] = fmax(sorted[i].weight, limit);
        }
}

static kfe_status draw(kfe_context *ctx, const kfe_i_table *table, int64_t most, uint64_t stream,
                       kfe_i_row_sample *out)
{
    kfe_status status = KFE_OK;
    struct candidate *candidates = NULL;
    kfe_i_row_key *keys = NULL;
    kfe_i_rng rng;

    kfe_i_rng_init(&rng, kfe_context_seed(ctx), stream);
    uint64_t salt = kfe_i_rng_bits(&rng);
    KFE_TRY(kfe_i_table_row_keys(ctx, table, &keys));
    KFE_ALLOC(ctx, candidates, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        candidates[i] = (struct candidate){.key = keys[i], .row = i, .weight = kfe_i_row_weight(table, i)};
    qsort(candidates, (size_t)table->rows, sizeof *candidates, compare_hashes);
    int64_t count = merge_equal(candidates, table->rows);
    for (int64_t i = 0; i < count; i++) {
        double u = ((double)(kfe_i_scramble(candidates[i].key.order ^ salt) >> 11) + 0.5) * 0x1p-53;
        candidates[i].priority = candidates[i].weight / u;
    }
    qsort(candidates, (size_t)count, sizeof *candidates, compare_priorities);
    keep_first(candidates, count, most, out);
cleanup:
    kfe_i_free(ctx, candidates);
    kfe_i_free(ctx, keys);
    return status;
}

static void take_all(const kfe_i_table *table, kfe_i_row_sample *out)
{
    for (int64_t i = 0; i < table->rows; i++)
        if (kfe_i_row_weight(table, i) > 0) {
            out->index[out->count] = i;
            out->weights[out->count++] = kfe_i_row_weight(table, i);
        }
}

kfe_status kfe_i_row_sample_draw(kfe_context *ctx, const kfe_i_table *table, int64_t most, uint64_t stream,
                                 kfe_i_row_sample *out)
{
    kfe_status status = KFE_OK;
    int64_t room = table->rows < most ? table->rows : most;

    *out = (kfe_i_row_sample){.ctx = ctx};
    KFE_ALLOC(ctx, out->index, room);
    KFE_ALLOC(ctx, out->weights, room);
    if (table->rows <= most)
        take_all(table, out);
    else
        KFE_TRY(draw(ctx, table, most, stream, out));
cleanup:
    return status;
}

/* ---- rows that differ ---- */

/* Puts a hash other than 0, which is a free place, into a table of size mask + 1 that is never full; 0: it was there. */
static int insert_hash(uint64_t *places, uint64_t mask, uint64_t hash)
{
    uint64_t place = kfe_i_scramble(hash) & mask;

    while (places[place] && places[place] != hash)
        place = (place + 1) & mask;
    if (places[place] == hash)
        return 0;
    places[place] = hash;
    return 1;
}

kfe_status kfe_i_count_different_rows(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows,
                                      int64_t count, int64_t most, int64_t *out)
{
    kfe_status status = KFE_OK;
    uint64_t *places = NULL;
    int64_t size = 4;

    *out = 0;
    while (size < 2 * (most < count ? most : count))
        size *= 2;
    KFE_ALLOC_ZERO(ctx, places, size);
    for (int64_t i = 0; *out < most && i < count; i++) {
        int64_t row = rows ? rows[i] : i;
        if (kfe_i_row_weight(table, row) > 0)
            *out += insert_hash(places, (uint64_t)size - 1, kfe_i_row_content(table, row) | 1);
    }
cleanup:
    kfe_i_free(ctx, places);
    return status;
}

void kfe_i_row_sample_free(kfe_i_row_sample *sample)
{
    if (sample->ctx) {
        kfe_i_free(sample->ctx, sample->index);
        kfe_i_free(sample->ctx, sample->weights);
    }
    memset(sample, 0, sizeof *sample);
}
