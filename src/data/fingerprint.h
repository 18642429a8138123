/* SPDX-License-Identifier: Apache-2.0 */
/* Tell whether two data sets are the same, by a number of 64 bits. */
#ifndef KFE_DATA_FINGERPRINT_H
#define KFE_DATA_FINGERPRINT_H

#include "data/data.h"

/* A number made of the values of all views and of the target. Equal data has equal numbers; other data almost surely not. Names of
 * files, views and columns do not count, nor does the number of threads. Never 0. */
uint64_t kfe_i_data_fingerprint(const kfe_context *ctx, const kfe_data *data);

#endif
