/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe methods`: lists the methods and says which one to use when. */
#include "command.h"
#include "list.h"

static kfe_status run(cli_session *session)
{
    return cli_run_list(session, &cli_methods);
}

static const cli_flag flags[] = {CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_methods = {
    .name = "methods",
    .summary = "list the methods, or show one in full",
    .operands = "[NAME] [--json]",
    .description = "Lists the methods that 'kfe fit -m' takes, each with its paper and the defaults of its "
                   "parameters; with a NAME, shows one of them in full.",
    .examples = "  kfe methods\n  kfe methods koc\n",
    .flags = flags,
    .run = run,
};
