/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process may still take: the machine's, or less where a control group limits it. */
#ifndef KFE_CORE_AVAILABLE_H
#define KFE_CORE_AVAILABLE_H

#include <stdint.h>

/* Bytes that can be taken without swapping and within the limits of the process's control groups (versions 1 and 2,
 * as containers and batch systems set them). The files of Linux are read below `root`: "" outside of tests. */
int64_t kfe_i_available_memory(const char *root);

#endif
