/* SPDX-License-Identifier: Apache-2.0 */
/* Adapt to the environment of the process: for kfe_let_threads_sleep and kfe_blas_advice. */
#ifndef KFE_CORE_ENVIRONMENT_H
#define KFE_CORE_ENVIRONMENT_H

/* Lets OpenMP's waiting threads sleep; called before work with several threads. Does nothing unless the program has called
 * kfe_let_threads_sleep. */
void kfe_i_make_threads_sleep(void);

/* Kernels of OpenBLAS that suit the processor better than those of `core`, for which OpenBLAS takes it. NULL: it cannot do better. */
const char *kfe_i_better_core(const char *core, int has_avx2, int has_avx512);

#endif
