/* SPDX-License-Identifier: Apache-2.0 */
/* Run small LAPACK problems on one thread: call kfe_i_enter_order before LAPACK and kfe_i_leave_order after it. */
#ifndef KFE_CORE_SERIAL_H
#define KFE_CORE_SERIAL_H

#include <omp.h>
#include <stdint.h>

/* Problems up to this order run on one thread: several threads would wait for each other longer than they work, and
 * far longer on a busy machine. */
enum { KFE_SERIAL_ORDER = 512 };

static inline int kfe_i_enter_order(int64_t n)
{
    int saved = omp_get_max_threads();
    if (n <= KFE_SERIAL_ORDER)
        omp_set_num_threads(1);
    return saved;
}

static inline void kfe_i_leave_order(int saved)
{
    omp_set_num_threads(saved);
}

#endif
