/* SPDX-License-Identifier: Apache-2.0 */
/* Prepare a data set as a row of a plan says: join classes, sample, cut, transform, scale. */
#ifndef REP_PREPARE_H
#define REP_PREPARE_H

#include "reproduce/src/plan.h"

/* Replaces *data, which the caller still frees, also after a failure. */
kfe_status rep_prepare(kfe_context *ctx, const json_t *row, kfe_data **data);

#endif
