/* SPDX-License-Identifier: Apache-2.0 */
/* Call the inner loops over one row of a tile, compiled for each instruction set and chosen at run time. */
#ifndef KFE_KERNEL_TILE_ROWS_H
#define KFE_KERNEL_TILE_ROWS_H

#include <stdint.h>

/* values[j] = norm + norms[j] − 2·values[j]: squared distances from dot products. Returns nonzero if any of them is
 * below `share` times norm + norms[j], or NaN. */
int kfe_i_row_distances(double *values, int64_t count, double norm, const double *norms, double share);
/* The sum of the values. */
double kfe_i_row_sum(const double *values, int64_t count);

/* Σ (x[j] − y[j])² */
double kfe_i_row_distance(const double *x, const double *y, int64_t count);
/* ⟨x, y⟩, and *square = ⟨y, y⟩ in the same pass. */
double kfe_i_row_dot(const double *x, const double *y, int64_t count, double *square);
/* out[k] += Σ weights[j]·row j of `rows`, which has `count` rows of k numbers. */
void kfe_i_add_rows(const double *weights, int64_t count, const double *rows, int64_t k, double *out);

/* The first j from `from` on with values[j] − levels[j] ≥ threshold; `count` if there is none. */
int64_t kfe_i_row_find_reaching(const float *values, const float *levels, float threshold, int64_t from,
                                int64_t count);

/* to (cols × rows) = fromᵀ; rows lie from_stride and to_stride apart. */
void kfe_i_transpose(const double *from, int64_t from_stride, int64_t rows, int64_t cols, double *to,
                     int64_t to_stride);

/* The number of sparse rows that lie side by side in a panel. */
enum { KFE_LANES = 16 };
/* sums[KFE_LANES] += Σ values[p]·panel[place[columns[p]] − 1]; place 0 means a row of zeros. */
void kfe_i_row_times_panel(const int32_t *columns, const double *values, int64_t count, const int32_t *place,
                           const double *panel, double *sums);

#endif
