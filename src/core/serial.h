/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run BLAS and LAPACK on one thread: call kfe_i_enter_order before and kfe_i_leave_order after.
 *
 * Small problems need it, and regions that may have a team of one thread where the context has more: OpenBLAS does not
 * recognise such a team as a parallel region, and OpenMP starts threads anew for every call inside it.
 */
#ifndef KFE_CORE_SERIAL_H
#define KFE_CORE_SERIAL_H

#include <omp.h>
#include <stdint.h>

/* Problems up to this order run on one thread: several threads would wait for each other longer than they work, and
 * far longer on a busy machine. */
enum { KFE_SERIAL_ORDER = 512 };

/* `n` is the order of the problem; 0: a region. */
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
