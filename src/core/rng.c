/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xoshiro256** (Blackman & Vigna, "Scrambled linear pseudorandom number generators", 2021), its state
 * filled by SplitMix64 from seed and stream. Generators, splits, k-means and randomised solvers draw from it.
 * Normals by Marsaglia's polar method, which discards its second value so that there is no other state.
 */
#include "core/rng.h"

#include <math.h>

#include "core/invariant.h"

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t split_mix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void kfe_i_rng_init(kfe_i_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t x = seed;
    uint64_t mixed = split_mix(&x) ^ (stream * 0xd1342543de82ef95u);
    for (int i = 0; i < 4; i++)
        rng->state[i] = split_mix(&mixed);
}

uint64_t kfe_i_rng_bits(kfe_i_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double kfe_i_rng_uniform(kfe_i_rng *rng)
{
    return (double)(kfe_i_rng_bits(rng) >> 11) * 0x1.0p-53;
}

double kfe_i_rng_normal(kfe_i_rng *rng)
{
    double u;
    double v;
    double s;

    do {
        u = 2 * kfe_i_rng_uniform(rng) - 1;
        v = 2 * kfe_i_rng_uniform(rng) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}

int64_t kfe_i_rng_below(kfe_i_rng *rng, int64_t bound)
{
    uint64_t range = (uint64_t)bound;
    uint64_t limit = UINT64_MAX - UINT64_MAX % range;
    uint64_t bits;

    assert(bound > 0);
    do
        bits = kfe_i_rng_bits(rng);
    while (bits >= limit);
    return (int64_t)(bits % range);
}

static void swap(int64_t *items, int64_t i, int64_t j)
{
    int64_t swapped = items[i];

    items[i] = items[j];
    items[j] = swapped;
}

void kfe_i_rng_choose(kfe_i_rng *rng, int64_t total, int64_t count, int64_t *index)
{
    assert(count >= 0 && count <= total);
    for (int64_t i = 0; i < total; i++)
        index[i] = i;
    for (int64_t i = 0; i < count; i++)
        swap(index, i, i + kfe_i_rng_below(rng, total - i));
}

void kfe_i_rng_shuffle(kfe_i_rng *rng, int64_t *items, int64_t count)
{
    for (int64_t i = count - 1; i > 0; i--)
        swap(items, i, kfe_i_rng_below(rng, i + 1));
}
