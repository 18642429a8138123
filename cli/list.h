/* SPDX-License-Identifier: Apache-2.0 */
/* Printing the tables of methods, kernels and generators. */
#ifndef KFE_CLI_LIST_H
#define KFE_CLI_LIST_H

#include "command.h"

/* Text that ends in exactly one newline. */
void cli_print_text(const char *text);
/* One entry in full, or all of them briefly (name NULL); fails on an unknown name. */
kfe_status cli_print_list(cli_session *session, const cli_family *family, const char *name);
/* The whole of a command that shows either the list or one entry. */
kfe_status cli_run_list(cli_session *session, const cli_family *family);

#endif
