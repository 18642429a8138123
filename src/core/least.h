/* SPDX-License-Identifier: Apache-2.0 */
/* The smaller of two counts. */
#ifndef KFE_CORE_LEAST_H
#define KFE_CORE_LEAST_H

#include <stdint.h>

static inline int64_t kfe_i_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
