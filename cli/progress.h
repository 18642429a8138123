/* SPDX-License-Identifier: Apache-2.0 */
/* Show a progress bar on standard error, if that is a terminal and the call takes more than a second. */
#ifndef KFE_CLI_PROGRESS_H
#define KFE_CLI_PROGRESS_H

#include <stdint.h>

/* The progress callback of the library. */
void cli_progress_show(void *user, const char *stage, int64_t done, int64_t total);
/* Erases the bar before something else is printed. */
void cli_progress_erase(void);

#endif
