/* SPDX-License-Identifier: Apache-2.0 */
/* State what must be true inside the library, whatever a caller or a file says: assert, and tests of whole index lists.
 * Builds with sanitizers, for fuzzing or with KFE_ASSERT=ON check them; a release does not. */
#ifndef KFE_CORE_INVARIANT_H
#define KFE_CORE_INVARIANT_H

#include <assert.h>
#include <stdint.h>

/* All of index[count] are from 0 to bound − 1. */
static inline int kfe_i_all_below(const int64_t *index, int64_t count, int64_t bound)
{
    for (int64_t i = 0; i < count; i++)
        if (index[i] < 0 || index[i] >= bound)
            return 0;
    return 1;
}

/* The same for codes of classes or groups. */
static inline int kfe_i_codes_below(const int32_t *codes, int64_t count, int64_t bound)
{
    for (int64_t i = 0; i < count; i++)
        if (codes[i] < 0 || codes[i] >= bound)
            return 0;
    return 1;
}

/* first … first + count − 1 lie within 0 … size − 1. */
static inline int kfe_i_range_within(int64_t first, int64_t count, int64_t size)
{
    return first >= 0 && count >= 0 && first <= size - count;
}

#endif
