/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder ask of each other. */
#ifndef KFE_SYSTEM_INSIDE_H
#define KFE_SYSTEM_INSIDE_H

#include "system/system.h"

/* The path of the running program; "" if it is unknown. */
void kfe_i_own_program(char out[KFE_PATH_SIZE]);

#endif
