/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the training rows of a random split over the classes; used by splits.c. */
#include "select/quotas.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

/* How many rows of one class are for training. */
typedef struct quota {
    int64_t group;
    int64_t order;     /* random: breaks ties */
    int64_t low, high; /* bounds of `taken` */
    int64_t taken;
    double missing; /* the exact share minus `taken` */
} quota;

static int compare_missing(const void *a, const void *b)
{
    const quota *first = a;
    const quota *second = b;

    if (first->missing != second->missing)
        return first->missing < second->missing ? 1 : -1;
    return (first->order > second->order) - (first->order < second->order);
}

/* Bounds are 1 … n_g − 1 for classes of at least two members if the total allows it, otherwise 0 … n_g. */
static void set_bounds(const int64_t *start, int64_t groups, int64_t train_count, quota *quotas)
{
    int64_t lowest = 0;
    int64_t highest = 0;

    for (int64_t g = 0; g < groups; g++) {
        int64_t spare = start[g + 1] - start[g] >= 2;
        lowest += quotas[g].low = spare;
        highest += quotas[g].high = start[g + 1] - start[g] - spare;
    }
    for (int64_t g = 0; g < groups && (train_count < lowest || train_count > highest); g++) {
        quotas[g].low = 0;
        quotas[g].high = start[g + 1] - start[g];
    }
}

/* Returns how many more rows to take (negative: how many to give back). */
static int64_t take_shares(const int64_t *start, int64_t groups, int64_t train_count, kfe_i_rng *rng,
                           quota *quotas)
{
    int64_t left = train_count;

    for (int64_t g = 0; g < groups; g++) {
        double share = (double)train_count * (double)(start[g + 1] - start[g]) / (double)start[groups];
        quotas[g].group = g;
        quotas[g].order = (int64_t)(kfe_i_rng_bits(rng) >> 1);
        quotas[g].taken = kfe_i_clamped((int64_t)floor(share), quotas[g].low, quotas[g].high);
        quotas[g].missing = share - (double)quotas[g].taken;
        left -= quotas[g].taken;
    }
    return left;
}

static int64_t room_for(const quota *one, int up)
{
    return up ? one->high - one->taken : one->taken - one->low;
}

/* One pass over the classes, in decreasing order of `missing` (increasing if rows are given back). Moves one row
 * per class if that is enough, otherwise rows in proportion to the room of each class. Returns how many rows are
 * still to be moved. */
static int64_t settle_once(quota *quotas, int64_t groups, int64_t left, int up)
{
    double room = 0;
    int64_t movable = 0;
    int64_t wanted = left;

    qsort(quotas, (size_t)groups, sizeof *quotas, compare_missing);
    for (int64_t k = 0; k < groups; k++) {
        room += (double)room_for(&quotas[k], up);
        movable += room_for(&quotas[k], up) > 0;
    }
    for (int64_t k = 0; k < groups && left > 0; k++) {
        quota *one = &quotas[up ? k : groups - 1 - k];
        int64_t most = room_for(one, up) < left ? room_for(one, up) : left;
        int64_t fair = wanted <= movable ? 1 : (int64_t)((double)wanted * (double)room_for(one, up) / room);
        int64_t moved = kfe_i_clamped(fair, most > 0, most);
        one->taken += up ? moved : -moved;
        one->missing -= up ? (double)moved : -(double)moved;
        left -= moved;
    }
    return left;
}

kfe_status kfe_i_split_quotas(kfe_context *ctx, const int64_t *start, int64_t groups, int64_t train_count,
                              kfe_i_rng *rng, int64_t *taken)
{
    kfe_status status = KFE_OK;
    quota *quotas = NULL;

    KFE_ALLOC(ctx, quotas, groups);
    set_bounds(start, groups, train_count, quotas);
    int64_t left = take_shares(start, groups, train_count, rng, quotas);
    int up = left > 0;
    /* The bounds leave room for the total, so every pass moves something. */
    for (left = up ? left : -left; left > 0;)
        left = settle_once(quotas, groups, left, up);
    for (int64_t k = 0; k < groups; k++)
        taken[quotas[k].group] = quotas[k].taken;
cleanup:
    kfe_i_free(ctx, quotas);
    return status;
}
