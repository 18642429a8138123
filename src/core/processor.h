/* SPDX-License-Identifier: Apache-2.0 */
/* Name kernels of OpenBLAS that suit the processor better than its own choice (kfe_blas_advice). */
#ifndef KFE_CORE_PROCESSOR_H
#define KFE_CORE_PROCESSOR_H

/* `core`: what OpenBLAS takes the processor for. NULL: it cannot do better. */
const char *kfe_i_better_core(const char *core, int has_avx2, int has_avx512);

#endif
