/* SPDX-License-Identifier: Apache-2.0 */
/* Inner loops over one row of a tile, compiled for each instruction set and chosen at run time. */
#ifndef KFE_KERNEL_ROWS_H
#define KFE_KERNEL_ROWS_H

#include <stdint.h>

/* values[j] = norm + norms[j] − 2·values[j]: squared distances from dot products. Nonzero if any of them is
 * below `share` of norm + norms[j], or no number. */
int kfe_i_row_distances(double *values, int64_t count, double norm, const double *norms, double share);
/* The sum of the values. */
double kfe_i_row_sum(const double *values, int64_t count);

/* Rows of a panel of sparse rows laid side by side. */
enum { KFE_LANES = 16 };
/* sums[KFE_LANES] += Σ values[p]·panel[place[columns[p]] − 1], a place of 0 standing for a row of zeros. */
void kfe_i_row_times_panel(const int32_t *columns, const double *values, int64_t count, const int32_t *place,
                           const double *panel, double *sums);

#endif
