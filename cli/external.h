/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are programs of their own: `kfe NAME …` becomes kfe-NAME, which stands beside kfe or in PATH. */
#ifndef KFE_CLI_EXTERNAL_H
#define KFE_CLI_EXTERNAL_H

/* The names and what they do, for the help. Returns 0 past the end. */
int cli_external_at(int index, const char **name, const char **summary);
/* Becomes the program of that name; words[0] is replaced by the program's name. Returns 0 if there is no such command, and 1 if its program
 * is not installed, which it says on standard error. */
int cli_external_run(const char *name, char **words);

#endif
