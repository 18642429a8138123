/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = ⟨x, y⟩ / (‖x‖‖y‖); 0 where a row is all zeros. */
#include "kernel/formula/formula.h"

/* Two square roots, because the product of the norms could overflow or underflow. Where a norm overflows the value is NaN, and where both
 * underflow it is infinite. */
KFE_KERNEL(cosine, 0, {
    for (int64_t j = 0; j < count; j++) {
        KFE_NUMBER length = KFE_F(sqrt)(row_norm) * KFE_F(sqrt)(col_norms[j]);
        values[j] = length > 0 || values[j] != 0 ? values[j] / length + length * 0 : 0;
    }
})

#ifdef KFE_KERNEL_FILE
const kfe_i_kernel_def kfe_i_kernel_cosine = {
    .name = "cosine",
    .summary = "cosine of the angle between two rows",
    .formula = "<x,y> / (|x| |y|)",
    .base = KFE_BASE_DOT,
    .map = KFE_KERNEL_cosine,
};
#endif
