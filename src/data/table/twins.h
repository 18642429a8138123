/* SPDX-License-Identifier: Apache-2.0 */
/* Find two columns of one name. */
#ifndef KFE_DATA_TABLE_TWINS_H
#define KFE_DATA_TABLE_TWINS_H

#include "core/context.h"

/* The first two columns with the same name, other than ""; *second is 0 if there are none. names may be NULL, and so may
 * each of them. */
kfe_status kfe_i_find_twins(kfe_context *ctx, int64_t count, const char *const *names, int64_t *first,
                            int64_t *second);

#endif
