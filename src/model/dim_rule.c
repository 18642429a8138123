/* SPDX-License-Identifier: Apache-2.0 */
/* The randomisation test of losses. */
#include "model/dim_rule.h"

#include "core/rng.h"

enum { FLIPS = 999 };

double kfe_i_flip_probability(uint64_t seed, int64_t count, const double *differences)
{
    kfe_i_rng rng;
    int64_t as_large = 0;
    double observed = 0;

    for (int64_t k = 0; k < count; k++)
        observed += differences[k];
    kfe_i_rng_init(&rng, seed, KFE_STREAM_DIM);
    for (int flip = 0; flip < FLIPS; flip++) {
        double sum = 0;
        for (int64_t k = 0; k < count; k++)
            sum += kfe_i_rng_below(&rng, 2) ? differences[k] : -differences[k];
        as_large += sum >= observed;
    }
    return ((double)as_large + 0.5) / (FLIPS + 1);
}
