/* SPDX-License-Identifier: Apache-2.0 */
/* Printing the tables of methods, kernels and generators. */
#ifndef KFE_CLI_LIST_H
#define KFE_CLI_LIST_H

#include "command.h"

/* Text that ends in exactly one newline. */
void cli_print_text(const char *text);
/* One entry with its parameters in full, by name; fails on an unknown name. */
kfe_status cli_print_entry(cli_session *session, const cli_family *family, const char *name);
/* Every entry: name and summary, or a JSON array. */
void cli_print_entries(const cli_session *session, const cli_family *family);

typedef kfe_status (*cli_list_fn)(kfe_context *ctx, kfe_style style, char **out);
/* The whole of a command that shows either the list or one entry. */
kfe_status cli_run_list(cli_session *session, const cli_family *family, cli_list_fn list);

#endif
