/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the data that a command line names: operands and --view, with the flags of reading. */
#ifndef KFE_CLI_INPUT_H
#define KFE_CLI_INPUT_H

#include "command.h"

/* Reads the operands from `first` on and every --view as views of the same examples. `options` are those
 * that the command adds; what the user gave wins over them. */
kfe_status cli_read_data(cli_session *session, int first, const char *options, kfe_data **out);
/* How many files that is. */
int cli_count_views(const cli_session *session, int first);
/* Appends content=strings if one of the kernels given with -k works on strings. */
void cli_add_content(const cli_session *session, cli_text *options);
/* What a model tells the reader of its data, the operands from `first` on: how many columns there are, which
 * shows whether one more is a label, and whether they are strings. */
void cli_add_model_reading(const cli_session *session, const kfe_model *model, int first, cli_text *options);
/* "train.csv: 600 examples × 2 columns, 3 classes" on standard error. */
void cli_print_data(const cli_session *session, int first, const kfe_data *data);

/* Fails if `path` is a file that the command reads: it would be gone. */
kfe_status cli_check_output(cli_session *session, const char *path);

#endif
