/* SPDX-License-Identifier: Apache-2.0 */
/* Ask here before calling a library that allocates by itself and does not survive a failure. */
#ifndef KFE_CORE_RESERVE_H
#define KFE_CORE_RESERVE_H

#include "core/context.h"

/* Fails with KFE_ELIMIT if `bytes`, unless they are few, exceed what is left of the memory limit, and with KFE_ENOMEM if
 * the context's allocator does not have them now. Nothing stays allocated: what the library then takes is within what was there. `what` and `remedy` are for
 * the message (kfe_i_check_memory). Another thread that takes the memory in between is not noticed. */
kfe_status kfe_i_reserve(kfe_context *ctx, double bytes, const char *what, const char *remedy);

#endif
