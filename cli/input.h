/* SPDX-License-Identifier: Apache-2.0 */
/* Read the data that a command line names (operands and --view) with these functions. */
#ifndef KFE_CLI_INPUT_H
#define KFE_CLI_INPUT_H

#include "command.h"

/* Reads the operands from `first` on and every --view as views of the same examples. `model`, unless
 * NULL, is the model that the data is for (kfe_data_read_for_model). `options` are added by the command; flags
 * of the user win. */
kfe_status cli_read_data(cli_session *session, int first, const kfe_model *model, const char *options,
                         kfe_data **out);
/* For the help of commands that answer part by part. */
#define CLI_IN_PARTS                                                                                         \
    "Rows are answered in parts, so memory does not grow with their number: a line that arrives on "         \
    "standard "                                                                                              \
    "input (DATA '-') is answered at once, and what was answered stays if a later line is faulty. .npy and " \
    ".npz outputs, .npz inputs, several files and --missing drop wait for all rows."

/* The same data in parts (kfe_data_stream_open). */
kfe_status cli_open_data(cli_session *session, int first, const kfe_model *model, kfe_data_stream **out);

/* Computes the answers for some rows and writes them to `output`. */
typedef kfe_status (*cli_answer_fn)(cli_session *session, const kfe_model *model, const kfe_data *rows,
                                    kfe_output *output);
/* Reads the data after the model, part by part if the format of the output permits, and has every part answered. */
kfe_status cli_answer(cli_session *session, const kfe_model *model, const char *path, cli_answer_fn answer);

/* Loads the model that the first operand names; "-" is standard input, as 'kfe fit -o -' writes it. */
kfe_status cli_load_model(cli_session *session, kfe_model **out);
/* The same for operand `index`. */
kfe_status cli_load_model_at(cli_session *session, int index, kfe_model **out);
/* Reads the labels as the model's task says. Otherwise few distinct numbers would be taken for classes, and many
 * numeric classes for numbers. */
void cli_add_task(const kfe_model *model, cli_text *options);
/* Reads the files that a flag names, FILE or VIEW=FILE for each view of the model; *out is NULL if the flag was not given.
 * The flag FLAG-labels names their file of labels, in place of --label-file. */
kfe_status cli_read_flag_data(cli_session *session, const char *flag, const kfe_model *model, kfe_data **out);
/* Whether a file is the JSON of cv or compare: it begins with a brace. */
int cli_is_results(const char *path);
/* Reads such a file. */
kfe_status cli_read_results(cli_session *session, const char *path, kfe_result **out);
/* Tells the reader, by options, which views hold strings: those that a string kernel was given for. */
void cli_add_content(const cli_session *session, cli_text *options);
/* Prints "train.csv: 600 examples, 2 columns, 3 classes (1, 2, 3)" on standard error. */
void cli_print_data(const cli_session *session, int first, const kfe_data *data);

/* Fails if the command could not write `path` (NULL: no file) after all its work: the file is one that it reads, its
 * folder does not exist, or it may not be written. Call it before the work, for every file that a command writes. */
kfe_status cli_check_output(cli_session *session, const char *path);

#endif
