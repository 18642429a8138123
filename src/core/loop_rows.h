/* SPDX-License-Identifier: Apache-2.0 */
/* Move the parts of a loop's state that are divided over processes (KFE_LOOP_DIVIDED) to process 0 and back, for resume.c. The file has the
 * bytes of one process after the other. Every process calls these functions. */
#ifndef KFE_CORE_LOOP_ROWS_H
#define KFE_CORE_LOOP_ROWS_H

#include "core/resume.h"

int kfe_i_loop_is_divided(const kfe_i_loop *loop);
/* Sets the sizes of divided parts to the sums over all processes. */
kfe_status kfe_i_loop_measure(kfe_i_loop *loop);
/* Process 0 is given the bytes of a divided part, piece by piece. Goes on after a failure of `take`, for the sake of the others, and
 * returns it at the end. */
kfe_status kfe_i_loop_collect(const kfe_i_loop *loop, const kfe_i_loop_part *part,
                              kfe_status (*take)(void *user, const void *bytes, int64_t size), void *user);
/* The reverse: process 0 provides the bytes; `give` returns 0 if it cannot, which is KFE_EINPUT at the end. */
kfe_status kfe_i_loop_spread(const kfe_i_loop *loop, const kfe_i_loop_part *part,
                             int (*give)(void *user, void *bytes, int64_t size), void *user);

#endif
