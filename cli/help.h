/* SPDX-License-Identifier: Apache-2.0 */
/* Print help, man pages and completion scripts from the tables of commands and parameters. */
#ifndef KFE_CLI_HELP_H
#define KFE_CLI_HELP_H

#include "command.h"

void cli_help_overview(FILE *out);
/* Includes the flags of the method and learner that `arguments` chose; NULL: none. */
void cli_help_command(FILE *out, const cli_command *command, const cli_arguments *arguments);
/* The parameters of one entry of a family, as in help. */
void cli_help_params(FILE *out, const cli_family *family, int entry);

/* The title of a group of flags. */
const char *cli_group_title(const cli_command *command, cli_source source);

/* In roff; NULL is the page of kfe itself. */
void cli_manual(FILE *out, const cli_command *command);
/* 0 if that shell is not known. */
int cli_completion(FILE *out, const char *shell);

#endif
