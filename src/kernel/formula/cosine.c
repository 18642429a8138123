/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = ⟨x, y⟩ / (‖x‖‖y‖); 0 where a row is all zeros. */
#include <math.h>

#include "kernel/kernel.h"

static void map(const void *settings, kfe_i_tile *tile)
{
    (void)settings;
    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++) {
            /* two square roots: the product of the norms could overflow or underflow */
            double length = sqrt(tile->row_norms[i]) * sqrt(tile->col_norms[j]);
            row[j] = length > 0 ? row[j] / length : 0;
        }
    }
}

const kfe_i_kernel_def kfe_i_kernel_cosine = {
    .name = "cosine",
    .summary = "cosine of the angle between two rows",
    .formula = "<x,y> / (|x| |y|)",
    .base = KFE_BASE_DOT,
    .map = map,
};
