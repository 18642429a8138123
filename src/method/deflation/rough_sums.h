/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with the scatter S of the columns of a table, for loops that need some tens of products, at less than the cost of S itself.
 * There are two forms.
 *
 *     rows     every product Xᵀ(Xv) reads the rows once; nothing is kept.
 *     matrix   S̃, which has the digits of single precision, and exact products with a few directions: with an orthonormal basis Q and
 *              Z = SQ in double precision,
 *
 *                  Sv = Zq + S(v − Qq) ≈ Zq + S̃(v − Qq),   q = Qᵀv.
 *
 *              The error is that of S̃, about 10⁻⁷‖S‖, times ‖v − Qq‖. So a loop runs on S̃ first, makes the products exact near
 *              its directions (kfe_i_rough_sharpen), and runs again with products that have the digits of double precision, since its directions lie
 *              near the basis; kfe_i_rough_distance says how near.
 */
#ifndef KFE_METHOD_DEFLATION_ROUGH_SUMS_H
#define KFE_METHOD_DEFLATION_ROUGH_SUMS_H

#include "data/sums/sums.h"

typedef enum kfe_i_rough_form { KFE_ROUGH_ROWS, KFE_ROUGH_MATRIX } kfe_i_rough_form;

typedef struct kfe_i_rough kfe_i_rough;

/* The scatter of a dense table of doubles, which must outlive it, and the other sums over all rows, without a scatter. *usable is 0 if
 * columns are too far from zero for their spread, or single precision does not have the range. Free both also then, and after a failure. */
kfe_status kfe_i_rough_new(kfe_context *ctx, const kfe_i_table *table, const kfe_i_target *target,
                           kfe_i_rough_form form, kfe_i_rough **out, kfe_i_sums *sums, int *usable);
void kfe_i_rough_free(kfe_i_rough *rough);
/* Bytes that the scatter and its making take. */
double kfe_i_rough_bytes(const kfe_context *ctx, int64_t cols, int64_t targets, kfe_i_rough_form form);
/* Makes products exact on the span of the directions w (count × cols), which replaces the one before. Reads the rows once. */
kfe_status kfe_i_rough_sharpen(kfe_i_rough *rough, const double *w, int64_t count);
/* out (cols) = Sv */
void kfe_i_rough_times(kfe_i_rough *rough, const double *v, double *out);
/* The largest ‖v − Qq‖ / ‖v‖ of the products since the basis was made; 0 for rows. */
double kfe_i_rough_distance(const kfe_i_rough *rough);
/* The diagonal of S. */
const double *kfe_i_rough_squares(const kfe_i_rough *rough);

#endif
