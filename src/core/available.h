/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process may still take: the machine's, or less where a control group limits it. */
#ifndef KFE_CORE_AVAILABLE_H
#define KFE_CORE_AVAILABLE_H

#include <stdint.h>

/* Bytes that can be taken without swapping and within the limits of the process's control groups (versions 1 and 2,
 * as containers and batch systems set them). The files of Linux are read below `root`: "" outside of tests. */
int64_t kfe_i_available_memory(const char *root);

/* What was available lately. Reading it takes a tenth of a millisecond, and a fit of few examples asks for it many times. */
typedef struct kfe_i_memory_reading {
    double when; /* 0: never */
    int64_t available, in_use;
} kfe_i_memory_reading;

/* Reads it again after a tenth of a second, or if `in_use`, the bytes of the caller, has changed by 16 MB. */
int64_t kfe_i_available_lately(kfe_i_memory_reading *reading, double now, int64_t in_use);

#endif
