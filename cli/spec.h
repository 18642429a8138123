/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line asks to be fitted: method, kernels and learner with their parameters. */
#ifndef KFE_CLI_SPEC_H
#define KFE_CLI_SPEC_H

#include "command.h"

/* `method` is NAME or NAME:KEY=VALUE,…, as --learner is. Flags of the method, the learner and fitting count
 * as well. */
kfe_status cli_make_spec(cli_session *session, const char *method, int with_kernels, kfe_spec **out);

/* All values of a flag that may be repeated; the list is for free(). */
int cli_list_values(const cli_arguments *arguments, const char *name, const char ***out);

#endif
