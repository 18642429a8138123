/* SPDX-License-Identifier: Apache-2.0 */
/* xoshiro256** streams: the same (seed, stream) gives the same numbers on every machine. */
#ifndef KFE_CORE_RNG_H
#define KFE_CORE_RNG_H

#include <stdint.h>

typedef struct kfe_i_rng {
    uint64_t state[4];
} kfe_i_rng;

/* Every purpose that draws has a stream of its own, so that one more draw here changes nothing there. */
enum {
    KFE_STREAM_GENERATE = 1,
    KFE_STREAM_KMEANS,
    KFE_STREAM_MEDIAN,
    KFE_STREAM_EIGEN,
    KFE_STREAM_PIVOT,
    KFE_STREAM_SPLITS,
    KFE_STREAM_COLUMNS,
    KFE_STREAM_LANDMARKS,
    KFE_STREAM_SUBSPACE,
    KFE_STREAM_SLMC,
    KFE_STREAM_SAMPLE,
    KFE_STREAM_LOCAL,
    KFE_STREAM_STOPPING
};

void kfe_i_rng_init(kfe_i_rng *rng, uint64_t seed, uint64_t stream);
uint64_t kfe_i_rng_bits(kfe_i_rng *rng);
double kfe_i_rng_uniform(kfe_i_rng *rng);               /* in [0, 1) */
double kfe_i_rng_normal(kfe_i_rng *rng);                /* mean 0, variance 1 */
int64_t kfe_i_rng_below(kfe_i_rng *rng, int64_t bound); /* 0 … bound−1, unbiased */
/* The first `count` entries of index become a random choice of 0 … total−1 in random order;
 * index has room for `total`. */
void kfe_i_rng_choose(kfe_i_rng *rng, int64_t total, int64_t count, int64_t *index);

#endif
