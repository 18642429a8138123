/* SPDX-License-Identifier: Apache-2.0 */
/* Refuse rows whose features or outputs are not finite, and name the view and the column whose value overflowed. */
#ifndef KFE_MODEL_OVERFLOW_H
#define KFE_MODEL_OVERFLOW_H

#include "model/model.h"

/* Fails with KFE_EINPUT if one of rows × cols numbers that were computed of the rows is not finite. */
kfe_status kfe_i_refuse_overflow(kfe_context *ctx, const kfe_i_ready *ready, const double *computed,
                                 int64_t rows, int64_t cols);
/* The same for rows of `view` that are scaled but not projected. */
kfe_status kfe_i_refuse_scaled(kfe_context *ctx, const char *view, int64_t first_row,
                               const kfe_i_table *scaled);

#endif
