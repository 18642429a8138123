/* SPDX-License-Identifier: Apache-2.0 */
/* Tell whether two data sets are the same, by a number of 64 bits. */
#ifndef KFE_DATA_ROWS_FINGERPRINT_H
#define KFE_DATA_ROWS_FINGERPRINT_H

#include "data/data.h"

/* A number made of the values of all views and of the target. Equal data has equal numbers; other data almost surely not. Names of
 * files, views and columns do not count, nor does the number of threads. Never 0. */
uint64_t kfe_i_data_fingerprint(const kfe_context *ctx, const kfe_data *data);
/* A number made of these numbers, for the same purpose; NULL: 0. */
uint64_t kfe_i_numbers_fingerprint(const double *values, int64_t count);
/* kfe_i_data_fingerprint, and in the same pass whether all values are numbers of a magnitude of at most `largest`: *within is 1 if they are, 0 if
 * not, and 0 for other data than one dense table of doubles without gaps. */
uint64_t kfe_i_data_inspect(const kfe_context *ctx, const kfe_data *data, double largest, int *within);

#endif
