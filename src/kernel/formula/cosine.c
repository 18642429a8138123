/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = ⟨x, y⟩ / (‖x‖‖y‖); 0 where a row is all zeros. */
#include "kernel/kernel.h"

static void map(const void *settings, kfe_i_tile *tile)
{
    (void)settings;
    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++)
            row[j] = kfe_i_map_cosine_f64(row[j], tile->row_norms[i], tile->col_norms[j], NULL);
    }
}

static void describe(const void *settings, kfe_i_formula *out)
{
    (void)settings;
    *out = (kfe_i_formula){.base = KFE_FORMULA_DOT, .map = KFE_MAP_COSINE};
}

const kfe_i_kernel_def kfe_i_kernel_cosine = {
    .name = "cosine",
    .summary = "cosine of the angle between two rows",
    .formula = "<x,y> / (|x| |y|)",
    .base = KFE_BASE_DOT,
    .map = map,
    .describe = describe,
};
