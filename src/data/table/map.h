/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiply the columns of a table by a matrix, z = Tᵀx. A kernel on z compares examples by the distance (x − y)ᵀM(x − y), M = TTᵀ:
 *
 *     ‖z − z'‖² = (x − x')ᵀ M (x − x'),   ⟨z, z'⟩ = xᵀ M x'
 *
 * Methods that learn a distance return such a map, and models apply it after scaling, before the kernel.
 */
#ifndef KFE_DATA_TABLE_MAP_H
#define KFE_DATA_TABLE_MAP_H

#include "data/table/table.h"

typedef struct kfe_i_map {
    kfe_context *ctx;
    int64_t rows, cols; /* columns of x and of z; equal for a diagonal map */
    double *values;     /* T, rows × cols, or the diagonal (rows); NULL: no map, z = x */
    int diagonal;
} kfe_i_map;

/* Uninitialised values. */
kfe_status kfe_i_map_new(kfe_context *ctx, int64_t rows, int64_t cols, int diagonal, kfe_i_map *out);
kfe_status kfe_i_map_copy(kfe_context *ctx, const kfe_i_map *map, kfe_i_map *out);
void kfe_i_map_free(kfe_i_map *map);
/* The number of values: rows · cols, or rows if diagonal. */
int64_t kfe_i_map_size(const kfe_i_map *map);
void kfe_i_map_scale(kfe_i_map *map, double factor);
/* out (cols) = the diagonal of M = TTᵀ: how much each column counts. Without a map ones. */
void kfe_i_map_diagonal(const kfe_i_map *map, int64_t cols, double *out);

/* An owned table of z; sparse rows stay sparse if the map is diagonal. Without a map a borrowed view of `table`. */
kfe_status kfe_i_map_apply(kfe_context *ctx, const kfe_i_map *map, const kfe_i_table *table,
                           kfe_i_table *out);
/* out (rows × map cols) = z for the rows of a dense table; does not allocate. */
void kfe_i_map_rows(const kfe_i_map *map, const kfe_i_table *table, double *out);
/* out = the map `first`, followed by `second`; either may be the identity. */
kfe_status kfe_i_map_compose(kfe_context *ctx, const kfe_i_map *first, const kfe_i_map *second,
                             kfe_i_map *out);

#endif
