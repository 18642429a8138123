/* SPDX-License-Identifier: Apache-2.0 */
/* Print words of the tables into a completion script, separated by blanks. */
#ifndef KFE_CLI_COMPLETION_H
#define KFE_CLI_COMPLETION_H

#include "command.h"

void cli_print_names(FILE *out, const cli_family *family);
void cli_print_command_names(FILE *out);
void cli_print_metrics(FILE *out);
/* "gamma= degree=", each after the prefix. */
void cli_print_kernel_params(FILE *out, int kernel, const char *prefix);
/* "a|b|c" as words. */
void cli_print_words(FILE *out, const char *words);
/* Each flag after a blank: " --scale -q". */
void cli_print_flag_names(FILE *out, const cli_command *command, cli_source source, int entry);

void cli_print_zsh(FILE *out);
void cli_print_fish(FILE *out);

#endif
