/* SPDX-License-Identifier: Apache-2.0 */
/* The progress bar: on standard error, only on a terminal, only for what takes more than a second. */
#ifndef KFE_CLI_PROGRESS_H
#define KFE_CLI_PROGRESS_H

#include <stdint.h>

/* The progress callback of the library. */
void cli_progress_show(void *user, const char *stage, int64_t done, int64_t total);
/* Takes the bar away, so that something else can be written. */
void cli_progress_erase(void);
/* Seconds on a clock that only moves forward. */
double cli_clock(void);

#endif
