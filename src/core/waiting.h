/* SPDX-License-Identifier: Apache-2.0 */
/* Let OpenMP's waiting threads sleep in programs that could not set OMP_WAIT_POLICY in time (kfe_let_threads_sleep). */
#ifndef KFE_CORE_WAITING_H
#define KFE_CORE_WAITING_H

/* Called before work with several threads. Does nothing unless the program has called kfe_let_threads_sleep. */
void kfe_i_make_threads_sleep(void);

#endif
