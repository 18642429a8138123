/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line asks to be fitted: method, kernels and learner with their parameters. */
#ifndef KFE_CLI_SPEC_H
#define KFE_CLI_SPEC_H

#include "command.h"

/* `method` is NAME or NAME:KEY=VALUE,…, as --learner is. Flags of the method, the learner and fitting count
 * as well. */
kfe_status cli_make_spec(cli_session *session, const char *method, int with_kernels, kfe_spec **out);

/* Whether the method (NAME or NAME:…) can be measured as the command line stands: there is a learner, or the
 * method predicts by itself. True for names that are not known, which others complain about. */
int cli_can_predict(const cli_session *session, const char *method);

/* All values of a flag that may be repeated; the list is for free(). */
int cli_list_values(const cli_arguments *arguments, const char *name, const char ***out);

#endif
