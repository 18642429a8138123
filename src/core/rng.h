/* SPDX-License-Identifier: Apache-2.0 */
/* Draw random numbers: the same seed and stream give the same numbers on every machine. */
#ifndef KFE_CORE_RNG_H
#define KFE_CORE_RNG_H

#include <stdint.h>

typedef struct kfe_i_rng {
    uint64_t state[4];
} kfe_i_rng;

/* One stream for each purpose, so that drawing more numbers for one purpose does not change the others. */
enum {
    KFE_STREAM_GENERATE = 1,
    KFE_STREAM_MEDIAN = 3,
    KFE_STREAM_EIGEN,
    KFE_STREAM_PIVOT,
    KFE_STREAM_SPLITS,
    KFE_STREAM_COLUMNS,
    KFE_STREAM_SUPPORT,
    KFE_STREAM_SUBSPACE,
    KFE_STREAM_SLMC,
    KFE_STREAM_SAMPLE,
    KFE_STREAM_LOCAL,
    KFE_STREAM_STOPPING,
    KFE_STREAM_LOO,
    KFE_STREAM_GRAM_LANDMARKS,
    KFE_STREAM_FIGURES,
    KFE_STREAM_HELD_OUT,
    KFE_STREAM_CALIBRATION,
    KFE_STREAM_PERMUTE,
    KFE_STREAM_TREE,
    KFE_STREAM_DIM,
    KFE_STREAM_CONFORMAL,
    KFE_STREAM_STEPS,
    KFE_STREAM_SIGNS
};

void kfe_i_rng_init(kfe_i_rng *rng, uint64_t seed, uint64_t stream);
uint64_t kfe_i_rng_bits(kfe_i_rng *rng);
double kfe_i_rng_uniform(kfe_i_rng *rng);               /* in [0, 1) */
double kfe_i_rng_normal(kfe_i_rng *rng);                /* mean 0, variance 1 */
int64_t kfe_i_rng_below(kfe_i_rng *rng, int64_t bound); /* 0 … bound−1, unbiased */
/* Puts a random choice of `count` numbers from 0 … total−1, in random order, at the start of `index`, which has room
 * for `total`. */
void kfe_i_rng_choose(kfe_i_rng *rng, int64_t total, int64_t count, int64_t *index);
/* Puts all items in random order. */
void kfe_i_rng_shuffle(kfe_i_rng *rng, int64_t *items, int64_t count);

#endif
