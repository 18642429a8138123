/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with the scatter S of the columns of a table, for loops that need some tens of them, at less than the price of S itself.
 * Make sums by kfe_i_rough_sums and multiply by kfe_i_sums_times. There are two forms.
 *
 *     rows     every product Xᵀ(Xv) reads the rows once; nothing is kept.
 *     matrix   S̃, which has the digits of single precision, and exact products with a few directions: with an orthonormal basis Q and
 *              Z = SQ in double precision,
 *
 *                  Sv = Zq + S(v − Qq) ≈ Zq + S̃(v − Qq),   q = Qᵀv.
 *
 *              The error is that of S̃, about 10⁻⁷‖S‖, times ‖v − Qq‖. So a loop runs on S̃ first, has its directions sharpened
 *              (kfe_i_rough_sharpen), and runs again with products that have the digits of double precision, since its directions lie
 *              near the basis; kfe_i_rough_distance says how near.
 */
#ifndef KFE_DATA_ROUGH_SUMS_H
#define KFE_DATA_ROUGH_SUMS_H

#include "data/sums.h"

typedef enum kfe_i_rough_form { KFE_ROUGH_ROWS, KFE_ROUGH_MATRIX } kfe_i_rough_form;

/* Sums over all rows of a dense table of doubles, which must outlive them. *usable is 0 if columns are too far from zero for their spread,
 * or single precision does not have the range. Free the sums also then, and after a failure. */
kfe_status kfe_i_rough_sums(kfe_context *ctx, const kfe_i_table *table, const kfe_i_target *target,
                            kfe_i_rough_form form, kfe_i_sums *out, int *usable);
/* Bytes that the sums and their making take. */
double kfe_i_rough_bytes(const kfe_context *ctx, int64_t cols, int64_t targets, kfe_i_rough_form form);
/* Makes products exact on the span of the directions w (count × cols), which replaces the one before. Reads the rows once. */
kfe_status kfe_i_rough_sharpen(kfe_i_rough *rough, const double *w, int64_t count);
/* Remembers image = Sw for w (cols × count): kfe_i_rough_times gives it for these directions together, and reads no rows. */
kfe_status kfe_i_rough_remember(kfe_i_rough *rough, const double *w, const double *image, int64_t count);
/* The largest ‖v − Qq‖ / ‖v‖ of the products since the basis was made; 0 for rows. */
double kfe_i_rough_distance(const kfe_i_sums *sums);

/* For sums.c. out (cols × k) = Sv for v (cols × k). */
void kfe_i_rough_times(kfe_i_rough *rough, const double *v, int64_t k, double *out);
/* Entry (j, j) of S. */
double kfe_i_rough_square(const kfe_i_rough *rough, int64_t j);
void kfe_i_rough_free(kfe_i_rough *rough);

#endif
