/* SPDX-License-Identifier: Apache-2.0 */
/* Make specs from a command line: method, kernels and learner with their parameters. */
#ifndef KFE_CLI_SPEC_H
#define KFE_CLI_SPEC_H

#include "command.h"

/* `method` is NAME or NAME:KEY=VALUE,…, as --learner is. Flags of the method, the learner and fitting count
 * as well. */
kfe_status cli_make_spec(cli_session *session, const char *method, int with_kernels, kfe_spec **out);

/* Fails if a --grid has a mistake: none of the specs has the parameter, or a value is not valid. */
kfe_status cli_check_grids(cli_session *session, int count, kfe_spec *const *specs);

/* All values of a flag that may be repeated; the list is for free(). */
int cli_list_values(const cli_arguments *arguments, const char *name, const char ***out);

#endif
