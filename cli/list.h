/* SPDX-License-Identifier: Apache-2.0 */
/* Print the tables of methods, kernels, learners and generators. */
#ifndef KFE_CLI_LIST_H
#define KFE_CLI_LIST_H

#include "command.h"

/* Prints the text and, unless it ends in a newline, a newline. On a terminal, control characters are escaped. */
void cli_print_text(const char *text);
/* Prints a result as text or, with --json, as JSON. */
kfe_status cli_print_result(cli_session *session, const kfe_result *result);
/* One entry in full, or all of them briefly (name NULL); fails on an unknown name. */
kfe_status cli_print_list(cli_session *session, const cli_family *family, const char *name);
/* Runs a command that prints either the list or, if an operand names it, one entry. */
kfe_status cli_run_list(cli_session *session, const cli_family *family);

#endif
